"""Retry policy: what follows a failed attempt at a block. Decisions on plain data, without effects.

A block that raises is tried again; one that raises twice, that keeps killing workers or that takes too long is
isolated: computed in a process of its own and cut in halves there, until the single cases that fail are known
(`pipeline.execution.processes.isolation`). Only what fails there too is given up. Other blocks never pay for it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

AttemptStep = Literal["compute", "isolate"]
FailureKind = Literal["raised", "died", "overdue"]
"""How an attempt failed: with an exception, with its worker, or not within the time limit."""


@dataclass(frozen=True)
class Timeouts:
    """How patient a run is.

    compute, isolate: attempts of a block in each way before the next step; hopeless: blocks given up before any was
    done, after which the run stops; block: time limit of an attempt [s]; part: of a part of a block that is isolated;
    isolation: of all parts of a block together; quiet: time without news before the run says what it waits for;
    patience: before it gives up.
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
        """Time limit of an attempt."""
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
    """Why an attempt failed: how, and the reason in words."""

    kind: FailureKind
    reason: str


def following(attempt: Attempt, failure: Failure, timeouts: Timeouts) -> Attempt | None:
    """The attempt after a failed one, or None where the block is given up."""
    if attempt.step == "isolate":
        return Attempt(attempt.block, "isolate", attempt.number + 1) if attempt.number < timeouts.isolate else None
    # Dask has tried several workers before it says that one died, and nothing stops a loop that has no end.
    if failure.kind == "raised" and attempt.number < timeouts.compute:
        return Attempt(attempt.block, "compute", attempt.number + 1)
    return Attempt(attempt.block, "isolate")


class Agenda:
    """Attempts that a run still has to make, in order: blocks that failed wait behind none that is new."""

    def __init__(self, blocks: Iterator[int], timeouts: Timeouts) -> None:
        self.timeouts = timeouts
        self.done = 0
        self.given_up = 0
        self._blocks = blocks
        self._again: deque[Attempt] = deque()

    def next(self) -> Attempt | None:
        """The attempt to make now; None where nothing is left but what is in flight."""
        if self._again:
            return self._again.popleft()
        block = next(self._blocks, None)
        return None if block is None else Attempt(block)

    def succeeded(self) -> None:
        """Counts a block that is done."""
        self.done += 1

    def failed(self, attempt: Attempt, failure: Failure) -> Attempt | None:
        """What follows a failed attempt; None where the block is given up."""
        again = following(attempt, failure, self.timeouts)
        if again:
            self._again.append(again)
        else:
            self.given_up += 1
        return again

    @property
    def hopeless(self) -> bool:
        """Whether nothing but failures has come of the run."""
        return not self.done and self.given_up >= self.timeouts.hopeless
