"""Attempts of blocks: which comes next after a failure, and when only failures are left.

A block that raises is tried again. One that raises twice, keeps killing workers or takes too long is isolated: computed
in a separate process and cut in halves there, until the single failing cases are known
(`pipeline.execution.processes.isolation`). Only cases that fail there too are given up. Other blocks never pay for it.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator
from typing import Literal

from robots.data_classes import dataclass

AttemptStep = Literal["compute", "isolate"]
FailureKind = Literal["raised", "died", "overdue"]
"""Kind of failure of an attempt: an exception, the death of its worker, or the time limit exceeded."""


@dataclass(frozen=True)
class Timeouts:
    """Limits of attempts and of waiting times in a run.

    compute, isolate: attempts of a block in each way before the next step; hopeless: blocks given up before any was
    done, after which the run stops; block: time limit of an attempt [s]; part: time limit of a part of a block that is
    isolated [s]; isolation: time limit of all parts of a block together [s]; quiet: time without news before the run
    reports the reason of its waiting [s]; patience: time without news before the run gives up [s].
    """

    compute: int = 2
    isolate: int = 2
    hopeless: int = 8
    block: float = 900.0
    part: float = 120.0
    isolation: float = 3600.0
    quiet: float = 60.0
    patience: float = 5400.0

    def seconds(self, step: AttemptStep) -> float:
        """Return the time limit of an attempt."""
        return self.block if step == "compute" else self.isolation + self.block


DEFAULTS = Timeouts()


@dataclass(frozen=True)
class Attempt:
    """One try at a block; `number` counts from 1 within its step."""

    block: int
    step: AttemptStep = "compute"
    number: int = 1


@dataclass(frozen=True)
class Failure:
    """Failure of an attempt: its kind, and the reason in words."""

    kind: FailureKind
    reason: str


def following(attempt: Attempt, failure: Failure, timeouts: Timeouts) -> Attempt | None:
    """Return the attempt after a failed one, or None if the block is given up."""
    if attempt.step == "isolate":
        return Attempt(attempt.block, "isolate", attempt.number + 1) if attempt.number < timeouts.isolate else None
    # Dask has tried several workers before it says that one died, and nothing stops a loop that has no end.
    if failure.kind == "raised" and attempt.number < timeouts.compute:
        return Attempt(attempt.block, "compute", attempt.number + 1)
    return Attempt(attempt.block, "isolate")


class Agenda:
    """Attempts that a run still has to make, in order: a block that failed does not wait behind new blocks."""

    def __init__(self, blocks: Iterator[int], timeouts: Timeouts) -> None:
        self.timeouts = timeouts
        self.done = 0
        self.given_up = 0
        self._blocks = blocks
        self._again: deque[Attempt] = deque()

    def next(self) -> Attempt | None:
        """Return the attempt to make now; None if only attempts in flight are left."""
        if self._again:
            return self._again.popleft()
        block = next(self._blocks, None)
        return None if block is None else Attempt(block)

    @property
    def is_empty(self) -> bool:
        """Return whether no attempt is left to make."""
        if not self._again:
            self._again.extend(map(Attempt, itertools.islice(self._blocks, 1)))
        return not self._again

    def again(self, attempt: Attempt) -> None:
        """Add an attempt that was cut short and did not fail."""
        self._again.append(attempt)

    def succeeded(self) -> None:
        """Count a completed block."""
        self.done += 1

    def failed(self, attempt: Attempt, failure: Failure) -> Attempt | None:
        """Add the attempt that follows a failed one and return it; None where the block is given up."""
        again = following(attempt, failure, self.timeouts)
        if again:
            self._again.append(again)
        else:
            self.given_up += 1
        return again

    @property
    def hopeless(self) -> bool:
        """Return whether the run has only failures: no block done, and too many given up (`Timeouts.hopeless`)."""
        return not self.done and self.given_up >= self.timeouts.hopeless
