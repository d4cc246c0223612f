"""Commands that read a store, on all hostile ones: nothing outside is written, nothing is run, nothing hangs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.hostile.commands import COMMANDS, NAME, prepared
from tests.hostile.stores import STORES

ROOT = Path(__file__).parent.parent.parent
MIB = 400
"""Memory that a refusal may take beyond what was there [MiB]."""
SECONDS = 20.0
"""Far more than a refusal takes, because tests share their machine."""
EVERY = tuple(STORES)
QUICK = EVERY[::14]
"""Some of the stores; all of them are behind the marker `slow`."""


class Watched:
    """A process that runs commands and says what they did."""

    def __init__(self, folder: Path, module: str = "tests.hostile.commands") -> None:
        command = [sys.executable, "-m", "tests.hostile.watch", str(folder), module]
        self.process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self._line() == "ready\n", self.process.stderr and self.process.stderr.read()

    def _line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def run(self, folder: Path, arguments: tuple[str, ...], allowed: tuple[str, ...]) -> dict[str, Any]:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([str(folder), arguments, allowed]) + "\n")
        self.process.stdin.flush()
        return dict(json.loads(self._line()))


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    watched = Watched(tmp_path_factory.mktemp("watch"))
    yield watched
    watched.process.terminate()
    watched.process.communicate()


def tree(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Contents of a folder: mode, time and content of each file, links not followed."""
    found = {}
    for directory, folders, files in os.walk(folder):
        for name in (*folders, *files):
            file = Path(directory, name)
            stat = file.lstat()
            regular = file.is_file() and not file.is_symlink()
            found[str(file)] = (stat.st_mode, stat.st_mtime_ns, file.read_bytes() if regular else b"")
    return found


def watch_all(watched: Watched, folder: Path, name: str) -> None:
    problems = []
    for command, (arguments, allowed) in COMMANDS.items():
        here = folder / command
        store = prepared(here)
        STORES[name](store, here / "victim")
        before = tree(here / "victim")
        beside = sorted(os.listdir(here))
        done = watched.run(here, arguments, allowed)
        said = f"{name}, {command}: {done['status']} {done['err'].strip()[:300]!r} {done['calls']}"
        text = done["out"] + done["err"]
        if type(done["status"]) is not int or "Traceback" in text:
            problems.append(f"no answer: {said}")
        if done["status"] == 2 and not done["err"].strip():
            problems.append(f"no word: {said}")
        if tree(here / "victim") != before or (here / "victim/run").exists():
            problems.append(f"outside: {said}")
        new = [file for file in os.listdir(here) if file not in beside and not file.startswith(allowed or "\0")]
        if new:
            problems.append(f"beside: {new} {said}")
        if done["calls"]:
            problems.append(f"calls: {said}")
        if any(letter in text for letter in "\x1b\x07\x9b‮"):
            problems.append(f"escapes: {said}")
        if done["grown"] > MIB or done["seconds"] > SECONDS:
            problems.append(f"{done['grown']} MiB, {done['seconds']:.1f} s: {said}")
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("name", QUICK)
def test_a_hostile_store_does_nothing(name: str, watched: Watched, tmp_path: Path) -> None:
    watch_all(watched, tmp_path, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in EVERY if name not in QUICK])
def test_another_hostile_store_does_nothing(name: str, watched: Watched, tmp_path: Path) -> None:
    watch_all(watched, tmp_path, name)


def test_a_sound_store_is_read_by_all_commands(watched: Watched, tmp_path: Path) -> None:
    """Else nothing would be seen above."""
    for command, (arguments, allowed) in COMMANDS.items():
        prepared(tmp_path / command)
        done = watched.run(tmp_path / command, arguments, allowed)
        assert done["status"] == (2 if command == "drop" else 0), (command, done)
        assert done["calls"] == [], (command, done)


def test_the_watch_sees_what_it_should(watched: Watched, tmp_path: Path) -> None:
    prepared(tmp_path)
    done = watched.run(tmp_path, COMMANDS["export"][0], (NAME,))
    assert any(call.startswith("os.mkdir") for call in done["calls"])
