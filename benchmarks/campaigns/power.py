"""Losses of power at every step of a coordinator: data that were not synced are dropped, torn, or kept by chance.

While a coordinator works on a store, its system calls are recorded: the content of each file when it was synced to the
disk, and the names in each folder. Before every call that can change a file system the power fails: the folder is
rebuilt as a disk could hold it then, the work is resumed, and every file has to be that of an undisturbed store. Three
disks: one that has kept only synced data, one that has kept all names but only half of the bytes, and one that has kept
each by chance: `python -m benchmarks.campaigns.power [--scenario NAME] [--every N] [--seed N]`.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from benchmarks.campaigns.crashes import Scenario, _require_same, for_scenarios, results

CALLS = ("mkdir", "rename", "replace", "unlink", "rmdir", "pwrite", "ftruncate", "fsync")
Disk = Literal["dropped", "torn", "chance"]
DISKS: tuple[Disk, ...] = ("dropped", "torn", "chance")
Names = dict[str, int]


@dataclass
class State:
    """Content of a folder: bytes of files and names in folders, by inode; `root` is that of the folder."""

    root: int
    files: dict[int, bytes] = field(default_factory=dict)
    folders: dict[int, Names] = field(default_factory=dict)

    @classmethod
    def of(cls, folder: Path) -> State:
        """Return the present content."""
        state = cls(folder.stat().st_ino)
        for directory, _, _ in os.walk(folder):
            names = state.folders.setdefault(os.stat(directory).st_ino, {})
            with os.scandir(directory) as entries:
                for entry in entries:
                    names[entry.name] = entry.inode()
                    if entry.is_file():
                        state.files[entry.inode()] = Path(entry.path).read_bytes()
        return state


@dataclass
class Moment:
    """The next call, the files as a reader sees them before it, and the data that are surely on the disk."""

    call: str
    now: State
    forced: State


class Recorder:
    """Recorder of every moment of work below a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.moments = folder, list[Moment]()
        self._forced = State.of(folder)
        self._lock = threading.Lock()

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Watch the calls meanwhile."""
        real = {name: getattr(os, name) for name in CALLS}
        for name, call in real.items():
            setattr(os, name, self._watched(name, call))
        try:
            yield
        finally:
            for name, call in real.items():
                setattr(os, name, call)
        self._keep("the end")

    def _watched(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*arguments: Any, **options: Any) -> Any:
            with self._lock:
                if name != "fsync":
                    self._keep(name)
                    return call(*arguments, **options)
                self._force(arguments[0])

        return watched

    def _keep(self, name: str) -> None:
        forced = State(self._forced.root, dict(self._forced.files), dict(self._forced.folders))
        self.moments.append(Moment(name, State.of(self.folder), forced))

    def _force(self, descriptor: int) -> None:
        """Apply an fsync to the disk."""
        place, number = Path(os.readlink(f"/proc/self/fd/{descriptor}")), os.fstat(descriptor).st_ino
        if place.is_dir():
            with os.scandir(place) as entries:
                self._forced.folders[number] = {entry.name: entry.inode() for entry in entries}
        elif place.is_file():
            self._forced.files[number] = place.read_bytes()


def after(moment: Moment, disk: Disk, chance: random.Random) -> dict[str, bytes | None]:
    """Return the content of a disk after the power has failed: bytes by path, None for a folder."""
    now, forced, held = moment.now, moment.forced, dict[str, bytes | None]()

    def keep() -> bool:
        return disk == "torn" or (disk == "chance" and chance.random() < 0.5)

    def names(number: int) -> Names:
        old, new = forced.folders.get(number, {}), now.folders.get(number, {})
        chosen = {}
        for name in {*old, *new}:
            source = new if old.get(name) != new.get(name) and keep() else old
            if name in source:
                chosen[name] = source[name]
        return chosen

    def content(number: int) -> bytes:
        old, new = forced.files.get(number, b""), now.files.get(number, forced.files.get(number, b""))
        if old == new or disk == "dropped":
            return old
        return new[: len(new) // 2] if not new.startswith(old) else new[: (len(old) + len(new)) // 2]

    def walk(number: int, path: str) -> None:
        for name, child in names(number).items():
            place = os.path.join(path, name)
            if child in now.folders or child in forced.folders:
                held[place] = None
                walk(child, place)
            else:
                held[place] = content(child)

    walk(now.root, "")
    return held


def rebuild(folder: Path, held: dict[str, bytes | None]) -> None:
    """Make a folder that holds this."""
    folder.mkdir()
    for place, data in held.items():
        if data is None:
            (folder / place).mkdir(parents=True, exist_ok=True)
        else:
            (folder / place).parent.mkdir(parents=True, exist_ok=True)
            (folder / place).write_bytes(data)


def campaign(scenario: Scenario, folder: Path, every: int = 1, seed: int = 0) -> Iterator[str]:
    """Fail at every `every`th moment; yields lines of figures. Raises AssertionError where one ends otherwise."""
    recorded, chance = folder / "recorded", random.Random(seed)
    recorded.mkdir()
    scenario.before(recorded / "s.zarr")
    recorder = Recorder(recorded)
    with recorder.recording():
        scenario.act(recorded / "s.zarr")
    expected, images = results(recorded / "s.zarr"), 0
    points = range(chance.randrange(every), len(recorder.moments), every)
    for number in points:
        moment = recorder.moments[number]
        seen: list[dict[str, bytes | None]] = []
        for disk in DISKS:
            if (held := after(moment, disk, chance)) in seen:
                continue
            seen.append(held)
            place = folder / f"{number}-{disk}"
            rebuild(place, held)
            if any(name.startswith("s.zarr") for name in held) or scenario.name == "run":
                what = f"{scenario.name}, {disk}, before step {number} ({moment.call})"
                _require_same(scenario, place / "s.zarr", expected, what)
                images += 1
            shutil.rmtree(place)
    yield f"{scenario.name}: {len(recorder.moments)} points, {len(points)} tried, {images} disks"
    yield "  every store is bit-identical to an undisturbed one, and sound"


def main(words: list[str] | None = None) -> int:
    """Run the campaigns that the command line asks for; 1 where one fails."""
    return for_scenarios(campaign, "power", __doc__, words)


if __name__ == "__main__":
    sys.exit(main())
