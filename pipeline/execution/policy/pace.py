"""Usual time of a block, and the times after which one is slow or overdue.

A slow block is one of a worker that swaps, is throttled, or has been stopped. An idle worker is then given the same
block, a backup; the first answer counts, and the other has to agree. A backup never takes the place of a new block:
those come first. Waiting at the end would cost as long as the slowest machine takes. A block that no worker can end is
not slow but overdue.
"""

from __future__ import annotations

import math
from collections import deque
from statistics import median

FACTOR = 5.0
"""Time of a slow block relative to the median."""

LEAST_SECONDS = 30.0
"""Shortest time of a slow block [s]."""

KNOWN = 10
"""Completed blocks from which on the usual time of a block is known."""

REMEMBERED = 100
"""Blocks whose times count."""

UNKNOWN = 20.0
"""Time over the planned one after which a block is slow while few are done: plans are good to a factor of three."""

LEAST_OVERDUE, OVERDUE = 120.0, 60.0
"""Shortest time limit of an attempt that follows from measured times [s], and the limit relative to their median."""


class Pace:
    """Recent times of blocks from submission to result; `planned`: seconds that the plan says."""

    def __init__(self, planned: float = math.inf) -> None:
        self._seconds: deque[float] = deque(maxlen=REMEMBERED)
        self._planned = planned

    def done(self, seconds: float) -> None:
        """Record the time of a block."""
        self._seconds.append(seconds)

    @property
    def slow(self) -> float:
        """Return the seconds after which a block is slow: several times the usual time, at least some seconds."""
        if len(self._seconds) < KNOWN:
            return max(2.0 * LEAST_SECONDS, UNKNOWN * self._planned)
        return max(LEAST_SECONDS, FACTOR * median(self._seconds))

    def limit(self, most: float) -> float:
        """Return the time limit of an attempt [s], by measured times, never longer than `most`."""
        if len(self._seconds) < KNOWN:
            return most
        return min(most, max(LEAST_OVERDUE, OVERDUE * median(self._seconds)))
