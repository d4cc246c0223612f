"""A disk that fills up in the middle: a run, a run on workers, a submitted one, an append, a search, files of results.

A program: `python -m benchmarks.campaigns.full_disk [--work NAME ...] [--room BYTES ...]`. The store lies in a file
system of its own in memory; once the ledger is there, somebody else takes all space but `room`. The command has to end
with one sentence that names the file and the cause, without a traceback, and the stored data have to be sound. When
there is space again, the same command goes on, and results have the digest of an undisturbed store. Linux only, and
only for users who may mount: the program starts itself again in a mount namespace of its own (`unshare -m`).
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from benchmarks.campaigns.crashes import SEARCHED
from benchmarks.campaigns.lines import print_lines
from benchmarks.processes import COMMAND, environment

SWEEP = """\
limbsweep: 1
robot: five_bar
design:
  grid: {{proximal_length: {{values: {lengths}}}, distal_length: {{start: 0.72, stop: 0.80, num: 10}}}}
trajectories: {{circle: {{kind: circle, radius: 0.05, normal: [0, 1, 0], period: 1.0}}}}
time: {{stop: 1.0, samples: 2001}}
outputs: [actuator_force]
metrics: [peak_force]
"""
SEARCH = f"{SEARCHED}time: {{stop: 1.0, samples: 4001}}\noutputs: [actuator_force]\n"
CLUSTERS: Mapping[str, str] = {
    "threads": "limbsweep: {cluster: {kind: threads}}\n",
    "workers": "limbsweep: {cluster: {kind: local, n-workers: 2, threads-per-worker: 1}}\n",
}
RUN = ("run", "sweep.yaml", "--store", "disk/s.zarr", "--cluster")
WORKS: Mapping[str, Sequence[str]] = {
    "run": (*RUN, "threads.yaml"),
    "run on workers": (*RUN, "workers.yaml"),
    "submit": ("submit", *RUN[1:], "threads.yaml"),
    "append": ("append", "disk/s.zarr", "larger.yaml", "--cluster", "threads.yaml"),
    "search": (
        *("study", "search", "search.yaml", "--store", "disk/s.zarr", "--objective", "peak_force"),
        *("--generations", "12", "--population", "8", "--cluster", "threads.yaml"),
    ),
}
FILES: Mapping[str, Sequence[str]] = {
    "export": ("export", "disk/s.zarr", "--format", "parquet", "--output", "disk/tables"),
    "report": ("report", "disk/s.zarr", "--output", "disk/report.html"),
}
"""Commands that write files beside a finished store."""

ROOMS = (4 << 20, 1 << 18, 0)
"""Bytes that are left."""

SECONDS = 300.0
CAUSE = "No space left on device"
INSIDE = "LIMBSWEEP_FULL_DISK"
"""Variable of the environment: the folder of the file system, in the namespace that has it."""


class Disk:
    """A folder with a small file system, a command in it, and somebody who fills it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.disk = folder, folder / "disk"
        self.filler = self.disk / "filler"

    def clear(self) -> None:
        """Remove all files."""
        for path in self.disk.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def fill(self, room: int) -> None:
        """Take all space but so many bytes."""
        free = shutil.disk_usage(self.disk).free
        with suppress(OSError), self.filler.open("wb", buffering=0) as file:  # the running command takes space too
            for size in (1 << 20, 1 << 12):
                while free - room >= size:
                    file.write(bytes(size))
                    free -= size

    def start(self, words: Sequence[str]) -> subprocess.Popen[str]:
        """Start a command of limbsweep in the folder."""
        root = str(Path(__file__).parents[2])
        names = {"PYTHONPATH": root, "XDG_STATE_HOME": str(self.folder / "state"), "COLUMNS": "1000"}
        return subprocess.Popen(
            [*COMMAND, *words], cwd=self.folder, env=environment(**names), text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip

    def command(self, words: Sequence[str]) -> tuple[int, str]:
        """Return exit status and text of a command."""
        process = self.start(words)
        text = process.communicate(timeout=SECONDS)[0]
        return process.returncode, text

    def digest(self) -> str:
        """Return the digest of the store. Raises AssertionError where it is not sound, or not finished."""
        self.require_sound()
        status, text = self.command(("info", "disk/s.zarr", "--digest"))
        digests = [line.split()[1] for line in text.splitlines() if line.startswith("digest")]
        assert len(digests) == 1, f"info, exit status {status}: {text}"
        return digests[0]

    def require_sound(self) -> None:
        """Raise AssertionError where the store is damaged."""
        status, text = self.command(("verify", "disk/s.zarr"))
        assert status == 0, f"verify: {text}"

    def finish(self, words: Sequence[str]) -> str:
        """Give the command, wait for a run that was submitted, and return the digest. Raises AssertionError."""
        status, text = self.command(words)
        assert status == 0, text
        if words[0] == "submit":
            self.wait()
        return self.digest()

    def wait(self) -> str:
        """Wait until no run writes to the store, and return the last status."""
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            text = self.command(("status", "disk/s.zarr"))[1]
            if "no process now" in text:
                return text
            time.sleep(0.5)
        raise AssertionError(f"a submitted run has not ended after {SECONDS:g} s")


def cut_short(disk: Disk, words: Sequence[str], room: int) -> str:
    """Give a command, fill the disk once the ledger changes, and return the output."""

    def ledgers() -> dict[str, int]:
        return {path.name: path.stat().st_size for path in (disk.disk / "s.zarr").glob("ledger*")}

    before, process = ledgers(), disk.start(words)
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline and process.poll() is None and ledgers() == before:
        time.sleep(0.01)
    disk.fill(room)
    text = process.communicate(timeout=SECONDS)[0]
    if words[0] == "submit":
        return disk.wait()
    assert process.returncode == 2, f"exit status {process.returncode}: {text}"
    return text


def told(text: str) -> str:
    """Return the sentence about the disk. Raises AssertionError without one, and with a traceback."""
    assert "Traceback" not in text, text
    sentences = [line for line in text.splitlines() if CAUSE in line]
    assert sentences, text
    return sentences[-1].strip()


def of_store(disk: Disk, name: str, room: int) -> Iterator[str]:
    """Fill the disk while a store is written, and go on; yields a line. Raises AssertionError."""
    words = WORKS[name]
    for undisturbed in (True, False):
        disk.clear()
        if name == "append":
            disk.finish(WORKS["run"])
        if undisturbed:
            expected = disk.finish(words)
            continue
        sentence = told(cut_short(disk, words, room))
        disk.require_sound()
        disk.filler.unlink()
        resumed = disk.finish(words)
        assert resumed == expected, f"{name}, {room} bytes: another digest"
    yield f"{name}, {room:,} bytes left: resumed with an equal digest; it said: {sentence}"


def of_file(disk: Disk, name: str) -> Iterator[str]:
    """Write files of results to a full disk; yields a line. Raises AssertionError."""
    disk.clear()
    disk.finish(WORKS["run"])
    disk.fill(1 << 12)
    status, text = disk.command(FILES[name])
    assert status == 2, f"exit status {status}: {text}"
    left = sorted(path.name for path in disk.disk.iterdir() if path.name not in ("s.zarr", "filler"))
    assert not left, f"{name}: {left} are left"
    yield f"{name}: nothing is left; it said: {told(text)}"


def campaign(works: Sequence[str], rooms: Sequence[int]) -> Iterator[str]:
    """Fill the disk in each work, with each room; yields lines. Raises AssertionError."""
    disk = Disk(Path(os.environ[INSIDE]))
    lengths = [round(0.5 + 0.0005 * k, 4) for k in range(80)]
    files = {"sweep.yaml": SWEEP.format(lengths=lengths[:40]), "larger.yaml": SWEEP.format(lengths=lengths)}
    files["search.yaml"] = SEARCH
    for name, text in {**files, **{f"{name}.yaml": text for name, text in CLUSTERS.items()}}.items():
        (disk.folder / name).write_text(text, encoding="utf-8")
    for name in works:
        if name in FILES:
            yield from of_file(disk, name)
            continue
        for room in rooms:
            yield from of_store(disk, name, room)


def main(words: list[str] | None = None) -> int:
    """Run the campaign; 1 where it fails."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.campaigns.full_disk", description=__doc__)
    names = [*WORKS, *FILES]
    parser.add_argument("--work", nargs="+", choices=names, default=names)
    parser.add_argument("--room", nargs="+", type=int, default=list(ROOMS))
    options = parser.parse_args(words)
    if INSIDE in os.environ:
        return print_lines(campaign(options.work, options.room))
    with tempfile.TemporaryDirectory(prefix="limbsweep-disk-") as folder:
        (Path(folder) / "disk").mkdir()
        mount = 'mount -t tmpfs -o size=64m none "$0" && exec "$@"'
        program = [sys.executable, "-m", "benchmarks.campaigns.full_disk", *(sys.argv[1:] if words is None else words)]
        within = ["unshare", "-m", "sh", "-c", mount, f"{folder}/disk", *program]
        return subprocess.run(within, env=os.environ | {INSIDE: folder}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
