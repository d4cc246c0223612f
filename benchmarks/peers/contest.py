"""One job, several ways to do it: results are compared, then all ways are timed in turn, so that they share a load."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy as np

from benchmarks.figures import Figure, Size, processor_seconds, require
from tasks.kernels.kernel import Kernel, empty_rows
from tasks.kernels.keys import Arrays

Array = np.ndarray
OURS = "limbsweep"
TOLERANCE = 1e-9
NUMBERS = 32768
"""A call costs some microseconds, and more numbers than these do not stay in the cache."""
SECONDS = 0.6
"""Approximate limit of the time of one way with all its repeats [s]."""


@dataclass(frozen=True)
class Entry:
    """A way to do a job: `run` does it for `count` units; `result` turns its output into an array to compare."""

    run: Callable[[], Any]
    count: int
    way: str
    result: Callable[[Any], Array] = np.asarray


@dataclass(frozen=True)
class Contest:
    """A job on a mechanism: ours, others by name, and up to which share of the largest value they have to agree."""

    name: str
    ours: Entry
    others: Mapping[str, Entry]
    unit: str = "us/sample"
    tolerance: float = TOLERANCE

    def figures(self, size: Size) -> Iterator[Figure]:
        """Measure the times of all ways and their ratios to limbsweep's. Raises CheckError if results differ."""
        errors = self.differences()
        for name, error in errors.items():
            require(
                error < self.tolerance,  # NaN is not
                f"{self.name}: {name} and {OURS} differ by {error:.1e}, relative; expected below {self.tolerance:.0e}",
            )
        seconds = times({OURS: self.ours, **self.others}, size)
        yield Figure(f"{self.name}: {OURS}", seconds[OURS] * 1e6, self.unit, self.ours.way)
        for name, other in self.others.items():
            remark = f"{other.way}; differs by {errors[name]:.0e}"
            yield Figure(f"{self.name}: {name}", seconds[name] * 1e6, self.unit, remark)
            yield Figure(f"{self.name}: {name}, over {OURS}", seconds[name] / seconds[OURS], "x")

    def differences(self) -> dict[str, float]:
        """Return the largest difference of each other result from limbsweep's, relative to the largest value."""
        mine = self.ours.result(self.ours.run())
        largest = np.abs(mine).max()
        theirs = {name: other.result(other.run()) for name, other in self.others.items()}
        return {name: float(np.abs(found - mine).max() / largest) for name, found in theirs.items()}


def repeated(values: Array, size: int) -> Array:
    """Return samples (..., sample), repeated until a call of limbsweep's kernels at `size` numbers each is long."""
    times = max(1, NUMBERS // (size * values.shape[-1]))
    result = empty_rows((*values.shape[:-1], times * values.shape[-1]))
    return np.concatenate([values] * times, axis=-1, out=result)


def in_place(work: Callable[[], Any]) -> Callable[[], list[Arrays]]:
    """Return a function that repeats the calls of kernels that `work` makes, into the arrays of the first time."""
    calls: list[tuple[Kernel, Arrays, int, Arrays]] = []
    call = Kernel.__call__

    def noted(self: Kernel, inputs: Arrays, samples: int, out: Arrays | None = None, *, filled: bool = False) -> Arrays:
        made = call(self, inputs, samples, out, filled=filled)
        calls.append((self, inputs, samples, made))
        return made

    with mock.patch.object(Kernel, "__call__", noted):
        work()

    prepared = [each.call(inputs, samples, out, filled=True) for each, inputs, samples, out in calls]

    def again() -> list[Arrays]:
        for each in prepared:
            each.make()
        return [out for *_, out in calls]  # keeps the arrays of all calls alive

    return again


def times(entries: Mapping[str, Entry], size: Size) -> dict[str, float]:
    """Return the best CPU seconds of one unit of each; every round has all of them, until each has had its time."""
    best, spent, rounds = dict.fromkeys(entries, np.inf), dict.fromkeys(entries, 0.0), 0
    left = set(entries)
    while left:
        for name, entry in entries.items():
            if name in left:
                taken = processor_seconds(entry.run)
                best[name], spent[name] = min(best[name], taken), spent[name] + taken
        rounds += 1
        left = {name for name in left if size.full and spent[name] < SECONDS and rounds < 10 * size.repeats}
    return {name: best[name] / entry.count for name, entry in entries.items()}
