"""A sweep of 1e8 designs in parts: a run that is interrupted in regular intervals and goes on, with time and memory.

A program: `python -m benchmarks.runs.parts [--designs 100000000] [--seconds 60] [--parts N] [--store FOLDER]`. Each
part is a process of `limbsweep run`, which computes in threads, with the memory of its blocks, and is interrupted as by
Ctrl-C; a store that is named goes on with the parts of an earlier call. The last lines are those of `verify` and of
`open`. Linux only.
"""

from __future__ import annotations

import argparse
import itertools
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.campaigns.lines import print_lines
from benchmarks.processes import COMMAND, environment
from benchmarks.runs.scale import SCRIPTS, THREADS, Cost, cost, sweep_of
from storage.ledger import Ledger
from storage.manifest import Manifest

ENDS = (0, 130, -signal.SIGINT)
"""Exit statuses of a run that is done, or interrupted and can go on; the last of one that was about to end."""


@dataclass(frozen=True)
class Part:
    """One process of a run: its cost, and the blocks that were done after it, of so many."""

    cost: Cost
    done: int
    blocks: int

    @property
    def is_last(self) -> bool:
        """Return whether the sweep is done."""
        return self.done == self.blocks

    def __str__(self) -> str:
        return f"{self.cost}, {self.done} of {self.blocks} blocks done"


def part(folder: Path, seconds: float) -> Part:
    """Run for some seconds at most, and return the cost. Raises AssertionError where the run fails."""
    words = [*COMMAND, "run", "sweep.yaml", "--store", "run.zarr", "--cluster", "threads.yaml"]
    root = str(Path(__file__).parents[2])
    with (folder / "out").open("w+b") as out:
        process = subprocess.Popen(words, cwd=folder, env=environment(PYTHONPATH=root), stdout=out, stderr=out)
        timer = threading.Timer(seconds, process.send_signal, [signal.SIGINT])
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read().decode(errors="replace")
    assert process.returncode in ENDS, f"exit status {process.returncode}\n{text[-2000:]}"
    assert (folder / "run.zarr").is_dir(), f"{seconds:g} s are too short to begin; give more --seconds"
    blocks = Manifest.load(folder / "run.zarr").layout.blocks
    done = Ledger.read(folder / "run.zarr", blocks).count
    return Part(Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024), done, blocks)


def parts(designs: int, seconds: float, most: int, folder: Path) -> Iterator[str]:
    """Yield a line for each part, at most `most`, and for commands on the whole store. Raises AssertionError."""
    (folder / "sweep.yaml").write_text(sweep_of(designs), encoding="utf-8")
    (folder / "threads.yaml").write_text(THREADS, encoding="utf-8")
    yield f"{designs:,} designs"
    for number in itertools.count(1):
        if number > most:
            return
        each = part(folder, seconds)
        yield f"  part {number}  {each}"
        if each.is_last:
            break
    yield f"  verify  {cost((*COMMAND, 'verify', 'run.zarr'), folder)}"
    for name, script in SCRIPTS.items():
        yield f"  {name}  {cost((sys.executable, '-c', script), folder)}"


def main(words: list[str] | None = None) -> int:
    """Print the lines; 1 where a part fails."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.runs.parts", description=__doc__)
    parser.add_argument("--designs", type=int, default=100_000_000)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--parts", type=int, default=sys.maxsize, help="Parts of this call; default: to the end.")
    parser.add_argument("--store", type=Path, help="Folder that keeps the store; default: one that is removed.")
    options = parser.parse_args(words)
    if options.store is not None:
        options.store.mkdir(parents=True, exist_ok=True)
        return print_lines(parts(options.designs, options.seconds, options.parts, options.store))
    with tempfile.TemporaryDirectory(prefix="limbsweep-parts-") as folder:
        return print_lines(parts(options.designs, options.seconds, options.parts, Path(folder)))


if __name__ == "__main__":
    sys.exit(main())
