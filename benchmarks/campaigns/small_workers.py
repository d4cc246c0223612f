"""Three small workers that are started by hand: blocks are cut where necessary, and no worker is idle.

A program: `python -m benchmarks.campaigns.small_workers [--memory MB ...] [--designs N]`. The sweep has a Delta whose
friction in all joints follows from their reactions: a block needs 380 MiB, more than a worker of 600 MB has. For each
memory limit scheduler and three workers of one thread are processes of Dask's own commands. A line tells into how many
parts blocks were cut, the longest silence, and the busy share of the workers: the share of looks, from the first block
to the last one, at which a worker has a thread that computes or waits for a processor. Workers that wait for blocks,
memory or the disk have none; other load of the machine is no part of it. The processor time of the workers stands
beside that of the same blocks in threads of one process. Exit status 1 where the share is below 80 %, a store has
another digest than that of the run in threads, a block of the smallest workers is not cut, or a run is silent for a
minute. Linux only.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from benchmarks.campaigns.clusters import SILENCE, WAIT, Watched
from benchmarks.campaigns.hand_started import HandStarted
from benchmarks.campaigns.lines import print_lines
from pipeline.cluster.connection import ClusterConfig
from pipeline.execution.digest import results_digest
from pipeline.execution.run import run
from pipeline.monitor.log import BlockFailed, CaseFailed, Event, Finished, Started
from pipeline.sweep.model import Sweep
from storage import open_results

TEXT = """\
limbsweep: 1
robot: delta_3rr2rrr
design: {{grid: {{upper_arm: {{start: 0.24, stop: 0.26, num: {designs}}}}}}}
friction: {{law: coulomb_viscous, joints: all, load: reaction, grid: {{coulomb: {{start: 0, stop: 0.05, num: 20}}}}}}
trajectories: {{circle: {{kind: circle, radius: 0.05}}}}
time: {{stop: 1.0, samples: {samples}}}
metrics: [peak_force, rms_force]
"""
WORKERS = 3
SAMPLES = 201
MEMORY = (900, 600)
"""Limits of a worker [MB]."""

LOOK_SECONDS = 0.1
SHARE = 0.8
"""Least busy share of the workers."""


class Looks(threading.Thread):
    """Looks at the threads of processes, again and again while a run computes."""

    def __init__(self, roots: Sequence[int]) -> None:
        super().__init__(daemon=True)
        self.roots, self.looks, self.runnable = roots, 0, 0
        self.over = threading.Event()

    def run(self) -> None:
        """Count looks, and the looks that find a thread that computes or waits for a processor."""
        while not self.over.wait(LOOK_SECONDS):
            for root in self.roots:
                self.looks += 1
                with suppress(psutil.NoSuchProcess):  # it has ended, and does not work
                    below = psutil.Process(root).children(recursive=True)
                    self.runnable += any(_is_runnable(each.pid) for each in below)

    @property
    def share(self) -> float:
        """The share of looks that find a process at work."""
        return self.runnable / max(1, self.looks)


def _is_runnable(process: int) -> bool:
    for file in Path(f"/proc/{process}/task").glob("*/stat"):
        with suppress(OSError):  # the thread has ended
            if file.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[0] == "R":
                return True
    return False


@dataclass
class Timed:
    """Events of a run, and the processor time of its processes from its first block to its last one [s]."""

    roots: Sequence[int]
    looks: Looks
    watched: Watched = field(default_factory=Watched)
    begin: Started | None = None
    computed: float = 0.0

    @classmethod
    def of(cls, roots: Sequence[int]) -> Timed:
        """Return a timer that follows these processes and their children."""
        return cls(roots, Looks(roots))

    def __call__(self, event: Event) -> None:
        """Note an event."""
        self.watched(event)
        if isinstance(event, Started):
            self.begin, self.computed = event, -processor_time(self.roots)
            self.looks.start()
        if isinstance(event, Finished):
            self.looks.over.set()
            self.computed += processor_time(self.roots)

    @property
    def seconds(self) -> float:
        """Seconds from the first block to the last one."""
        return self.watched.times(Finished)[-1] - self.watched.times(Started)[0]

    @property
    def parts(self) -> int:
        """Number of parts into which blocks were cut."""
        return self.begin.parts if self.begin else 0


def processor_time(roots: Sequence[int]) -> float:
    """Return the processor time of processes and all their children, with the ended ones [s]."""
    total = 0.0
    for root in roots:
        process = psutil.Process(root)
        for each in (process, *process.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):  # it has ended since it was listed; its parent has its time
                total += sum(each.cpu_times()[:4])  # its own and that of children that have ended
    return total


def _on_workers(text: str, memory: int, folder: Path) -> tuple[Timed, str]:
    """Run on workers of a memory limit [MB]; return the observations, and the digest."""
    with HandStarted(folder) as hand:
        hand.scheduler()
        workers = [hand.worker("--memory-limit", f"{memory}MB").pid for _ in range(WORKERS)]
        with hand.client() as client:
            client.wait_for_workers(WORKERS, timeout=WAIT)
        timed = Timed.of(workers)
        run(Sweep.from_text(text), folder / "run.zarr", hand.config, [timed])
        timed.watched.finish = time.monotonic()
    return timed, results_digest(open_results(folder / "run.zarr"))


def lines(designs: int, limits: Sequence[int]) -> Iterator[str]:
    """Yield a line of the run in threads, and one for each limit [MB]. Raises AssertionError."""
    text, alone = TEXT.format(designs=designs, samples=SAMPLES), Timed.of([os.getpid()])
    with tempfile.TemporaryDirectory(prefix="limbsweep-small-") as name:
        folder = Path(name)
        threads = ClusterConfig.of("threads", threads_per_worker=2)
        run(Sweep.from_text(text), folder / "alone.zarr", threads, [alone], granularity="block")
        expected = results_digest(open_results(folder / "alone.zarr"))
        shutil.rmtree(folder / "alone.zarr")
        yield f"in threads: {alone.computed:.0f} s of processor time; digest {expected}"
        for memory in limits:
            place = folder / str(memory)
            place.mkdir()
            timed, digest = _on_workers(text, memory, place)
            shutil.rmtree(place)
            assert digest == expected, f"{memory} MB: another digest, {digest}"
            assert timed.looks.share >= SHARE, f"{memory} MB: busy for {timed.looks.share:.1%} only"
            assert timed.watched.silence() < SILENCE, f"{memory} MB: silent for {timed.watched.silence():.0f} s"
            lost = timed.watched.count(BlockFailed) + timed.watched.count(CaseFailed)
            assert not lost, f"{memory} MB: {lost} blocks or cases given up"
            assert timed.parts > 1 or memory > min(MEMORY), f"{memory} MB: blocks are not cut"
            yield _line(memory, timed, alone.computed)


def _line(memory: int, timed: Timed, alone: float) -> str:
    counts = Counter(type(event).__name__ for _, event in timed.watched.events)
    cut = f"cut into {timed.parts} parts" if timed.parts > 1 else "whole"
    counted = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
    seconds, silence = timed.seconds, timed.watched.silence()
    return (
        f"{WORKERS} workers of {memory} MB: blocks {cut}; busy for {timed.looks.share:.1%} of the time, by"
        f" {timed.looks.looks} looks in {seconds:.0f} s; {timed.computed:.0f} s of processor time, {alone:.0f} s in"
        f" threads; silent for {silence:.1f} s at most; {counted}; identical"
    )


def main(words: list[str] | None = None) -> int:
    """Run the campaign; 1 where it fails."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.campaigns.small_workers", description=__doc__)
    parser.add_argument("--memory", nargs="+", type=int, default=list(MEMORY))
    parser.add_argument("--designs", type=int, default=6600)
    options = parser.parse_args(words)
    return print_lines(lines(options.designs, options.memory))


if __name__ == "__main__":
    sys.exit(main())
