"""Progress of a run for the person who waits: samples, samples per second, time left, link to the dashboard.

A bar on a terminal, plain lines everywhere else. Both are listeners of `pipeline.monitor.log` and count with a
`Tally`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pipeline.errors import size
from pipeline.monitor.log import (
    BlockDone,
    BlockFailed,
    BlockRetried,
    BlocksAdvanced,
    BlocksDone,
    BlocksRecalled,
    CaseFailed,
    ClusterRestarted,
    Event,
    Finished,
    Listener,
    MetricFailed,
    ResultsSent,
    Started,
    Stopped,
    Waiting,
    WorkerPaused,
    WorkerRefused,
    WorkersJoined,
    WorkersLeft,
)
from robots.data_classes import dataclass, replace

if TYPE_CHECKING:
    from rich.console import Console

    from pipeline.monitor.samples import FailedSamples

LINE_EVERY = 10.0
"""Least time between two plain lines of progress [s]."""


FAILURES = (BlockFailed, CaseFailed, MetricFailed)
"""Events that mean that something is missing in the end."""


@dataclass(frozen=True)
class Tally:
    """Samples of a run: in total, stored before it, computed in it, in blocks in flight; when it started [s].

    The total counts every block as full, so it is an upper bound where the last blocks are smaller.
    """

    total: int = 0
    before: int = 0
    computed: int = 0
    start: float = 0.0
    in_flight: int = 0

    @classmethod
    def of(cls, event: Started, now: float) -> Tally:
        """Return the tally at the start of a run."""
        samples = event.samples_per_block
        return cls(total=event.total_blocks * samples, before=event.done_blocks * samples, start=now)

    def plus(self, samples: int) -> Tally:
        """Return the tally after these samples."""
        return replace(self, computed=self.computed + samples, in_flight=max(self.in_flight - samples, 0))

    def with_in_flight(self, samples: int) -> Tally:
        """Return the tally with a number of completed samples in incomplete blocks."""
        return replace(self, in_flight=samples)

    @property
    def done(self) -> int:
        """Samples that are computed now, those of blocks in flight too."""
        return min(self.total, self.before + self.computed + self.in_flight)

    def rate(self, now: float) -> float:
        """Return the samples per second of this run, without the samples of earlier runs."""
        return (self.computed + self.in_flight) / (now - self.start) if now > self.start else 0.0

    def left(self, now: float) -> float | None:
        """Return the time left [s], or None while no rate is known."""
        rate = self.rate(now)
        return (self.total - self.done) / rate if rate else None

    def line(self, now: float) -> str:
        """Format the progress of the run in one line."""
        percent = 100 * self.done // max(1, self.total)
        return f"{percent} %  {count(self.done)} of {count(self.total)} samples, {self.speed(now)}"

    def speed(self, now: float) -> str:
        """Format the rate and the time left in words."""
        left = self.left(now)
        return f"{count(self.rate(now))} samples/s, " + ("time left unknown" if left is None else f"{clock(left)} left")


def count(number: float) -> str:
    """Format a count for people: three digits and a prefix."""
    for scale, prefix in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if number >= 0.9995 * scale:
            return f"{number / scale:.3g}{prefix}"
    return f"{number:.3g}"


def counted(number: int, thing: str) -> str:
    """Return a number of things, in words."""
    return f"{number:,} {thing}" + ("" if number == 1 else "s")


def clock(seconds: float) -> str:
    """Format a time span as h:mm:ss."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def headline(event: Started) -> str:
    """Describe the work of a run that starts: blocks, samples, blocks done before, dashboard."""
    samples = count(event.total_blocks * event.samples_per_block)
    resumed = f", {event.done_blocks} done before" if event.done_blocks else ""
    dashboard = f"; dashboard {event.dashboard}" if event.dashboard else ""
    whole = ", a task for each" if event.granularity == "block" else ""
    whole += f", computed in {event.parts} parts for lack of memory" if event.parts > 1 else ""
    return f"{counted(event.total_blocks, 'block')}{whole}, {samples} samples{resumed}{dashboard}"


def summary(event: Finished) -> str:
    """Summarize a finished run: samples, time, rate, failures."""
    rate = count(event.samples / event.seconds) if event.seconds > 0 else "-"
    failed = f"; {counted(event.failed_blocks, 'block')} given up" if event.failed_blocks else ""
    failed += f"; {event.failed_cases} cases hold NaN" if event.failed_cases else ""
    return f"{count(event.samples)} samples in {clock(event.seconds)}, {rate} samples/s{failed}"


PAUSED = {
    "trim": "it is told to give free memory back",
    "move": "its blocks go to other workers",
    "restart": "it is started anew",
}
"""Steps for workers that are paused and idle, in words."""


def note(event: Event) -> str | None:
    """Return the message about an event that is out of the ordinary; None for others."""
    match event:
        case BlockRetried(block, "isolate", reason):
            return f"block {block} is isolated: {reason}"
        case BlockRetried(block, "help", reason):
            return f"block {block} is given to another worker too: {reason}"
        case BlockRetried(block, _, reason):
            return f"block {block} is tried again: {reason}"
        case CaseFailed(block, design, friction, trajectory, reason):
            place = f"design {design}, friction {friction}, trajectory {trajectory}"
            return f"block {block}, {place} cannot be computed and holds NaN: {reason}"
        case MetricFailed(block, metric, cases, design, friction, trajectory, reason):
            place = f"the first in design {design}, friction {friction}, trajectory {trajectory}"
            return f"block {block}, metric {metric} is NaN in {cases} cases, {place}: {reason}"
        case BlockFailed(block, reason):
            return f"block {block} given up: {reason}"
        case Waiting(seconds, what):
            return f"nothing came back for {clock(seconds)}: {what}"
        case WorkerPaused(worker, used, limit, step):
            return f"worker {worker} is paused, its memory is full ({size(used)} of {size(limit)}): {PAUSED[step]}"
        case WorkersJoined(workers, threads, names):
            return f"{counted(workers, 'worker')} admitted with {counted(threads, 'thread')}: {names}"
        case ResultsSent(workers, names, reason):
            told = f"the run writes the results of {counted(workers, 'worker')}, which come over the network"
            return f"{told} ({reason}): {names}"
        case WorkerRefused(worker, reason):
            return f"worker {worker} is refused and gets no blocks: {reason}"
        case WorkersLeft(workers, names):
            return f"{counted(workers, 'worker')} left: {names}"
        case BlocksRecalled(blocks, reason):
            return f"{counted(blocks, 'block')} sent again: {reason}"
        case ClusterRestarted(reason):
            return f"the cluster was lost ({reason}) and has been started again"
        case Stopped(reason):
            return f"stopped: {reason}"
    return None


class LineProgress:
    """Progress as lines of text, at most one in `LINE_EVERY` seconds."""

    def __init__(self, write: Callable[[str], None], now: Callable[[], float] = time.monotonic) -> None:
        self._write, self._now = write, now
        self._tally, self._next = Tally(), 0.0

    def __call__(self, event: Event) -> None:
        """Update the progress by one event."""
        now = self._now()
        match event:
            case Started():
                self._tally, self._next = Tally.of(event, now), now + LINE_EVERY
                self._write(headline(event))
            case BlockDone(samples=samples) | BlocksDone(samples=samples):
                self._tally = self._tally.plus(samples)
                self._tell(now)
            case BlocksAdvanced(samples):
                self._tally = self._tally.with_in_flight(samples)
                self._tell(now)
            case Finished():
                self._write(summary(event))
            case Stopped():
                pass  # the error itself says why there are no results
            case _ if text := note(event):
                self._write(text)

    def _tell(self, now: float) -> None:
        """Write the progress of the run, unless it was written just before."""
        if now >= self._next:
            self._next = now + LINE_EVERY
            self._write(self._tally.line(now))

    def results(self, failed: FailedSamples) -> None:
        """Show the failures among the results."""
        for line in failed.lines():
            self._write(line)

    def stopped(self, error: BaseException) -> None:
        """Print nothing: the error itself says why there are no results."""


@contextmanager
def progress(console: Console | None = None) -> Iterator[Listener]:
    """A listener for one run: a bar where the console (default: standard error) is a terminal, lines elsewhere."""
    from rich.console import Console

    console = console or Console(stderr=True)
    if console.is_terminal:
        with _bar(console) as listener:
            yield listener
    else:
        yield LineProgress(lambda text: console.print(text, markup=False, highlight=False, soft_wrap=True))


@contextmanager
def _bar(console: Console) -> Iterator[Listener]:
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    bar = Progress(BarColumn(), TaskProgressColumn(), TextColumn("{task.fields[speed]}"), console=console)
    tally = Tally()

    def listen(event: Event) -> None:
        nonlocal tally
        now = time.monotonic()
        match event:
            case Started():
                tally = Tally.of(event, now)
                console.print(headline(event), markup=False, soft_wrap=True)
                bar.add_task("", total=tally.total, completed=tally.done, speed="")
            case BlockDone(samples=samples) | BlocksDone(samples=samples):
                tally = tally.plus(samples)
                bar.update(bar.task_ids[-1], completed=tally.done, speed=tally.speed(now))
            case BlocksAdvanced(samples):
                tally = tally.with_in_flight(samples)
                bar.update(bar.task_ids[-1], completed=tally.done, speed=tally.speed(now))
            case Finished():
                bar.update(bar.task_ids[-1], completed=tally.total, speed="")
                console.print(summary(event), markup=False)
            case Stopped():
                pass  # as with lines
            case _ if text := note(event):
                console.print(
                    text, markup=False, soft_wrap=True, style="red" if isinstance(event, FAILURES) else "yellow"
                )

    with bar:
        yield listen
