"""Find stragglers: blocks in flight that take far longer than others.

Their worker swaps, is throttled, or has been stopped. Another worker is then given the same block, a backup; whichever
answers first counts, and the other has to agree. That costs a block computed twice; waiting would cost as long as the
slowest machine takes. A block that no worker can end is not slow but overdue (`pipeline.execution.policy.attempts`).
"""

from __future__ import annotations

from collections import deque
from statistics import median

FACTOR = 5.0
LEAST_SECONDS = 30.0
KNOWN = 10
"""Blocks that have to be done before anything is known of how long one takes."""

REMEMBERED = 100


class Pace:
    """How long blocks take from submission to result, recently."""

    def __init__(self) -> None:
        self._seconds: deque[float] = deque(maxlen=REMEMBERED)

    def done(self, seconds: float) -> None:
        """Takes note of a block."""
        self._seconds.append(seconds)

    @property
    def slow(self) -> float:
        """Seconds after which a block is slow: several times what is usual, and never a few seconds."""
        if len(self._seconds) < KNOWN:
            return float("inf")
        return max(LEAST_SECONDS, FACTOR * median(self._seconds))
