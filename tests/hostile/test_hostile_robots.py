"""Commands that read a robot file, on hostile ones: nothing runs, nothing outside is read or written, all end."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hostile.robot_commands import COMMANDS, prepared
from tests.hostile.robots import ROBOTS, XML, YAML
from tests.hostile.test_hostile_stores import Watched, tree

MIB = 1024
"""Memory that a refusal may take beyond what was there [MiB]."""
SECONDS = 20.0
"""Twice what a refusal may take, because tests share their machine."""
EVERY = tuple(ROBOTS)
QUICK = EVERY[::9]
"""Some of the files; all of them are behind the marker `slow`."""
MODELS = tuple(name for name in EVERY if name.startswith("a model"))
HARMLESS = ("a mesh elsewhere",)
"""What is imported, as nobody reads meshes."""


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    watched = Watched(tmp_path_factory.mktemp("watch"), "tests.hostile.robot_commands")
    yield watched
    watched.process.terminate()
    watched.process.communicate()


def watch_all(watched: Watched, folder: Path, name: str) -> None:
    problems = []
    kind = YAML if name.startswith(("YAML", "an expression", "a deep expression")) else XML
    for command, (arguments, allowed) in COMMANDS.items():
        place = prepared(folder / command, kind)
        here, victim = place.parent, place.parent.parent / "victim"
        place.unlink(missing_ok=True)
        ROBOTS[name](here, victim)
        before, beside = tree(victim), sorted(os.listdir(here))
        done = watched.run(here, tuple(kind if word == "FILE" else word for word in arguments), allowed)
        said = f"{name}, {command}: {done['status']} {done['err'].strip()[:300]!r} {done['calls']}"
        text = done["out"] + done["err"]
        wanted = (0, 2) if name in HARMLESS else (2,)
        if done["status"] not in wanted or "Traceback" in text:
            problems.append(f"no answer: {said}")
        if done["status"] == 2 and not done["err"].strip():
            problems.append(f"no word: {said}")
        if tree(victim) != before or list(place.parent.parent.rglob("run")):
            problems.append(f"outside: {said}")
        new = [file for file in os.listdir(here) if file not in beside]
        if done["status"] == 2 and new:
            problems.append(f"written: {new} {said}")
        if done["calls"]:
            problems.append(f"calls: {said}")
        if "of somebody" in text or "secret" in text:
            problems.append(f"told: {said}")
        if any(letter in text for letter in "\x1b\x07\x9b‮"):
            problems.append(f"escapes: {said}")
        if done["grown"] > MIB or done["seconds"] > SECONDS:
            problems.append(f"{done['grown']} MiB, {done['seconds']:.1f} s: {said}")
        shutil.rmtree(place.parent.parent)
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
    """Else nothing would be seen above."""
    place = prepared(tmp_path)
    done = watched.run(place.parent, ("import", XML, "--output", "out.yaml"), COMMANDS["import"][1])
    assert (done["status"], done["calls"]) == (0, [])
    assert (place.parent / "out.yaml").exists()


def test_the_watch_sees_reads_of_somebody_elses_files(watched: Watched, tmp_path: Path) -> None:
    place = prepared(tmp_path)
    done = watched.run(place.parent, ("import", "../victim/robot.xml", "--output", "out.yaml"), ())
    assert any("victim/robot.xml" in call for call in done["calls"])
    assert any("out.yaml" in call for call in done["calls"]) or done["status"] == 2
