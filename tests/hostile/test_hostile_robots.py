"""Commands that read a robot file, on hostile ones: nothing runs, nothing outside is read or written, all end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hostile import robot_commands
from tests.hostile.answers import Watched, robot_answers
from tests.hostile.robot_commands import COMMANDS, prepared
from tests.hostile.robots import ROBOTS, XML

EVERY = tuple(ROBOTS)
QUICK = EVERY[::9]
"""Sample of the files; all of them are behind the marker `slow`."""
MODELS = tuple(name for name in EVERY if name.startswith("a model"))


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    watched = Watched(tmp_path_factory.mktemp("watch"), robot_commands.__name__)
    yield watched
    watched.end()


def watch_all(watched: Watched, folder: Path, name: str) -> None:
    problems = [problem for answer in robot_answers(watched, folder, name) for problem in answer.problems]
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("name", QUICK)
def test_a_hostile_robot_does_nothing(name: str, watched: Watched, tmp_path: Path) -> None:
    if name in MODELS:
        pytest.importorskip("mujoco", reason="MuJoCo is missing")
    watch_all(watched, tmp_path, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in EVERY if name not in QUICK])
def test_another_hostile_robot_does_nothing(name: str, watched: Watched, tmp_path: Path) -> None:
    if name in MODELS:
        pytest.importorskip("mujoco", reason="MuJoCo is missing")
    watch_all(watched, tmp_path, name)


def test_a_sound_robot_is_imported(watched: Watched, tmp_path: Path) -> None:
    """Check the sound robot: if it were refused too, the tests above would prove nothing."""
    place = prepared(tmp_path)
    done = watched.run(place.parent, ("import", XML, "--output", "out.yaml"), COMMANDS["import"][1])
    assert (done["status"], done["calls"]) == (0, [])
    assert (place.parent / "out.yaml").exists()


def test_the_watch_sees_reads_of_somebody_elses_files(watched: Watched, tmp_path: Path) -> None:
    place = prepared(tmp_path)
    done = watched.run(place.parent, ("import", "../victim/robot.xml", "--output", "out.yaml"), ())
    assert any("victim/robot.xml" in call for call in done["calls"])
    assert any("out.yaml" in call for call in done["calls"]) or done["status"] == 2
