"""Progress inside blocks: shares that tasks tell while they compute, and the samples of a run that they stand for.

A task in the process of its run calls the run; one on a worker sends an event to the clients of the scheduler, which
only the client of the run follows. Neither gets an event for blocks that are done within `EVERY` seconds.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress

from pipeline.monitor.log import BlocksAdvanced, Listener
from robots.data_classes import dataclass
from tasks.kernels.advance import listening

TOPIC = "limbsweep-progress"
EVERY = 3.0
"""Seconds between two shares of a block, and between two events of a run."""

SharePut = Callable[[int, float], None]
"""Takes a block and its share that is done."""

HERE: dict[str, SharePut] = {}
"""Runs of this process, by the name that their tasks have."""


def topic(run: str) -> str:
    """Return the name of the events of a run."""
    return f"{TOPIC}-{run}"


@dataclass(frozen=True)
class BlockTeller:
    """Teller of how much of a block of a run is done; small to send."""

    run: str
    block: int

    def listening(self) -> AbstractContextManager[None]:
        """Return the context in which shares are reported."""
        latest = time.monotonic()

        def take(share: float) -> None:
            nonlocal latest
            if (now := time.monotonic()) - latest >= EVERY:
                latest = now
                self._send(share)

        return listening(take)

    def _send(self, share: float) -> None:
        if (put := HERE.get(self.run)) is not None:
            put(self.block, share)
        elif "distributed" in sys.modules:  # on a worker
            from distributed import get_worker

            with suppress(ValueError):
                get_worker().log_event(topic(self.run), [self.block, share])


class RunningShares:
    """Shares of blocks in flight, and events of the samples that they stand for."""

    def __init__(self, samples_of: Callable[[int], int], notify: Listener) -> None:
        self._samples_of, self._notify = samples_of, notify
        self._shares: dict[int, float] = {}
        self._lock = threading.Lock()
        self._changed, self._latest = False, time.monotonic()

    def put(self, block: int, share: float) -> None:
        """Note a share, from any thread; a larger earlier share stays."""
        with self._lock:
            if share > self._shares.get(block, 0.0):
                self._shares[block], self._changed = share, True

    def done(self, block: int) -> None:
        """Forget a block."""
        with self._lock:
            self._shares.pop(block, None)

    def tell(self) -> None:
        """Notify of the samples, where shares have changed, at most once in `EVERY` seconds."""
        with self._lock:
            now = time.monotonic()
            if not self._changed or now - self._latest < EVERY:
                return
            self._changed, self._latest = False, now
            samples = sum(int(share * self._samples_of(block)) for block, share in self._shares.items())
        with suppress(OSError):  # of a terminal that has gone
            self._notify(BlocksAdvanced(samples))

    def put_and_tell(self, block: int, share: float) -> None:
        """Note a share and notify, from the thread that computes."""
        self.put(block, share)
        self.tell()
