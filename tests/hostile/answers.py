"""Commands on hostile files, each watched: what was wrong with its answer, its processor time and its memory."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.hostile import commands, path_commands, robot_commands
from tests.hostile.robots import ROBOTS, XML, YAML
from tests.hostile.stores import STORES

ROOT = Path(__file__).parent.parent.parent
SECONDS = 10.0
"""Processor time that an answer may take."""
HARMLESS = ("a mesh elsewhere",)
"""Robot files that are imported, as nobody reads meshes."""


@dataclass(frozen=True)
class Answer:
    """Answer of a command to a hostile file: processor time [s], memory beyond what was there [MiB], and faults."""

    command: str
    seconds: float
    memory: int
    problems: tuple[str, ...]


class Watched:
    """Process that runs commands and reports what they did."""

    def __init__(self, folder: Path, module: str = commands.__name__) -> None:
        command = [sys.executable, "-m", "tests.hostile.watch", str(folder), module]
        self.process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self._line() == "ready\n", self.process.stderr and self.process.stderr.read()

    def _line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def run(self, folder: Path, arguments: tuple[str, ...], allowed: tuple[str, ...]) -> dict[str, Any]:
        """Run a command in a folder, where it may write what begins with one of some names."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([str(folder), arguments, allowed]) + "\n")
        self.process.stdin.flush()
        return dict(json.loads(self._line()))

    def end(self) -> None:
        """End the process."""
        self.process.terminate()
        self.process.communicate()


def tree(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Return the contents of a folder: mode, time and content of each file, links not followed."""
    found = {}
    for directory, folders, files in os.walk(folder):
        for name in (*folders, *files):
            file = Path(directory, name)
            stat = file.lstat()
            regular = file.is_file() and not file.is_symlink()
            found[str(file)] = (stat.st_mode, stat.st_mtime_ns, file.read_bytes() if regular else b"")
    return found


def robot_answers(watched: Watched, folder: Path, name: str) -> Iterator[Answer]:
    """Give the answers of all commands that read a robot file to a hostile one."""
    kind = YAML if name.startswith(("YAML", "an expression", "a deep expression")) else XML
    for command, (arguments, allowed) in robot_commands.COMMANDS.items():
        root = folder / command
        place = robot_commands.prepared(root, kind)
        place.unlink(missing_ok=True)
        ROBOTS[name](place.parent, root / "victim")
        words = tuple(kind if word == "FILE" else word for word in arguments)
        yield _answer(watched, root, place.parent, words, allowed, (), 1024, (0, 2) if name in HARMLESS else (2,))


def store_answers(watched: Watched, folder: Path, name: str) -> Iterator[Answer]:
    """Give the answers of all commands that read a store to a hostile one."""
    for command, (arguments, allowed) in commands.COMMANDS.items():
        root = folder / command
        STORES[name](commands.prepared(root), root / "victim")
        yield _answer(watched, root, root, arguments, allowed, allowed, 400, range(256))


def path_answers(watched: Watched, folder: Path, name: str) -> Iterator[Answer]:
    """Give the answers of all commands to something at FILE that is no file of theirs."""
    for line in path_commands.COMMANDS:
        yield path_answer(watched, folder, name, line)


def path_answer(watched: Watched, folder: Path, name: str, line: str) -> Answer:
    """Return the answer of one command to something at FILE."""
    root, (arguments, allowed) = folder / "here", path_commands.COMMANDS[line]
    path_commands.FILES[name](path_commands.prepared(root))
    statuses = (0, 2) if line in path_commands.FOLDERS else (2,)
    return replace(_answer(watched, root, root, arguments, allowed, (), 600, statuses), command=line)


def _answer(
    watched: Watched, root: Path, here: Path, words: tuple[str, ...], allowed: tuple[str, ...],
    kept: tuple[str, ...], most: int, statuses: Collection[int],
) -> Answer:  # fmt: skip
    """Run a command in the folder `here` of `root`, where `victim` is, and remove all of it.

    allowed, kept: beginnings of names that may be new, where the command ends well and where it refuses. most: memory
    [MiB]. statuses: those of an answer.
    """
    before, beside = tree(root / "victim"), set(os.listdir(here))
    done = watched.run(here, words, allowed)
    status, text = done["status"], done["out"] + done["err"]
    new = {name for name in os.listdir(here) if not name.startswith(kept if status == 2 else allowed)} - beside
    faults = {
        "no answer": type(status) is not int or status not in statuses or "Traceback" in text,
        "no word": status == 2 and not done["err"].strip(),
        "outside": tree(root / "victim") != before or any(root.rglob("run")),
        f"written {new}": bool(new),
        f"calls {done['calls']}": bool(done["calls"]),
        "told": "of somebody" in text or "secret" in text,
        "escapes": any(letter in text for letter in "\x1b\x07\x9b\u202e"),
        f"{done['grown']} MiB, {done['seconds']:.1f} s": done["grown"] > most or done["seconds"] > SECONDS,
    }
    said = f"{root.name}: {status} {done['err'].strip()[:300]!r}"
    shutil.rmtree(root)
    problems = tuple(f"{fault}: {said}" for fault, is_so in faults.items() if is_so)
    return Answer(root.name, done["seconds"], done["grown"], problems)
