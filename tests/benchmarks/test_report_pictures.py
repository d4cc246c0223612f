"""Pictures of reports: pages side by side, commits without a study; times and pages need a browser."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("PIL")

from PIL import Image

from benchmarks import report_pictures
from benchmarks.report_pictures import PageTimes, beside


def test_two_pages_stand_side_by_side_from_their_tops() -> None:
    both = beside(Image.new("RGB", (30, 50), "red"), Image.new("RGB", (20, 80), "blue"), ("before", "now"))
    assert both.size == (30 + 16 + 20, 24 + 80)
    assert [both.getpixel(at) for at in ((5, 30), (50, 30), (5, 90), (40, 30))] == [
        (255, 0, 0), (0, 0, 255), (255, 255, 255), (255, 255, 255)
    ]  # fmt: skip


def test_a_study_that_a_commit_does_not_have_is_said(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"there is no examples/pick_and_place\.yaml"):
        report_pictures.report(tmp_path, "pick_and_place", tmp_path)


def test_times_say_where_nothing_can_be_dragged() -> None:
    assert str(PageTimes(7.61, 92.4, 95.0, None, 0.0)) == (
        "7.6 MB, first paint 92 ms, done after 95 ms, no axes that a drag changes"
    )
    assert str(PageTimes(7.61, 92.4, 95.0, 16.0, 3.0)).endswith("release of a drag 16 ms, long tasks after it 3 ms")


@pytest.mark.slow
def test_a_report_is_measured_and_has_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from tests.applications.report.browser import programs

    programs()
    report_pictures.main(["--folder", str(tmp_path), "--studies", "friction_share"])
    assert "release of a drag" in capsys.readouterr().out
    sizes = {}
    for path in tmp_path.glob("*.png"):
        with Image.open(path) as picture:
            sizes[path.stem] = picture.size
    assert {name: width for name, (width, _) in sizes.items()} == {
        f"friction_share_{name}_{theme}": width
        for name, (width, _) in report_pictures.WIDTHS.items()
        for theme in report_pictures.THEMES
    }
    assert min(height for _, height in sizes.values()) > 3000
