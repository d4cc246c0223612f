"""First calls: a line for each robot, those that are refused, and the longest; both jobs and features."""

from __future__ import annotations

import pytest

from benchmarks import first_calls


@pytest.mark.parametrize(
    ("title", "robot", "refused"),
    [
        ("friction from reactions", "planar_3r", False),
        ("friction from reactions", "scara", True),
        ("motion: controller, friction: lugre", "five_bar", False),
        ("motion: controller, motors: inductance", "five_bar", True),
    ],
)
def test_a_first_call_has_a_line(title: str, robot: str, refused: bool) -> None:
    first, *above, longest = [*first_calls.table([robot], [title], None), "none"][:4]
    assert first.split() == [*title.split(), robot, first_calls.FAILED] if refused else first.endswith(" s")
    assert [line.split(":")[0] for line in above] == ["above 1 s", "above 3 s"]
    assert longest.startswith("longest: ") is not refused


def test_jobs_and_features_have_a_function() -> None:
    for features in (False, True):
        for title in first_calls.titles(features=features):
            assert callable(first_calls.job_of(title))
