"""Adaptive scaling: the workers that a run could use now, from the blocks that it has left and their speed.

Dask's own rule looks at the tasks that the scheduler holds. A run gives it few at a time, whatever it has left, so that
rule would keep a sweep of days on one worker.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from pipeline.monitor.events import BlockDone, BlockFailed, Event, Finished, Started, Stopped


class Demand:
    """A listener that counts blocks, and the time that workers have had for them."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.left = self.done = 0
        self._worker_seconds = 0.0
        self._looked: float | None = None

    def __call__(self, event: Event) -> None:
        """Take note of what is done."""
        match event:
            case Started(total_blocks=total, done_blocks=done):
                self.left, self.done, self._worker_seconds, self._looked = total - done, 0, 0.0, None
            case BlockDone():
                self.left, self.done = self.left - 1, self.done + 1
            case BlockFailed():
                self.left -= 1
            case Finished() | Stopped():
                self.left = 0

    def workers(self, present: int, seconds: float) -> int:
        """Workers that would do what is left within some seconds; to be asked now and then, with how many there are.

        At least one while blocks are left, and never so few that one has to stop at a block: a worker leaves when there
        are fewer blocks than workers. Until the first block is done nobody knows how fast they are, and all stay.
        """
        now = self._clock()
        self._worker_seconds += present * (now - self._looked) if self._looked is not None else 0.0
        self._looked = now
        stay = min(present, self.left)
        if not self.done or not self._worker_seconds:
            return max(stay, min(1, self.left))
        return max(stay, math.ceil(self.left * self._worker_seconds / (self.done * seconds)))
