"""Workers that are ended because their memory is full, and the end of a run in which nothing else happens.

Dask ends a worker at a share of its memory limit (`distributed.worker.memory.terminate`) and starts it anew. A block
that needs more memory than a worker has would be tried on one after another, and the next block as well; so a run stops
after repeated restarts without a computed block.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pipeline.errors import size
from robots.data_classes import dataclass

if TYPE_CHECKING:
    from distributed import Client

MOST_RESTARTS = 12
"""Restarts without a block between: those of three blocks, each of which Dask tries on four workers."""

LISTED = 4
"""Blocks in flight that are named."""


@dataclass(frozen=True)
class MemoryRestart:
    """A worker that was ended for its memory: its address, and the bytes that it had then."""

    worker: str
    memory: int


MEMORY_EVENTS = "worker-restart-memory"
"""Topic of the scheduler under which nannies say that they end a worker for its memory."""


def memory_restarts(client: Client, since: float | None) -> tuple[list[MemoryRestart], float]:
    """Return the workers that nannies have ended for their memory, and the time of the last by the scheduler's clock.

    `since`: the time of the last that is known; None: all that were before are those of another run, and left out.
    """
    events = client.get_events(MEMORY_EVENTS)
    last = max((at for at, _ in events), default=0.0)
    new = [] if since is None else [event for at, event in events if at > since]
    return [MemoryRestart(str(event["worker"]), int(event["rss"])) for event in new], last


class MemoryRestarts:
    """Count of restarts since the last block that was computed on a worker."""

    def __init__(self, most: int = MOST_RESTARTS) -> None:
        self.most, self.count = most, 0
        self._last: MemoryRestart | None = None

    def add(self, restarts: Iterable[MemoryRestart]) -> None:
        """Count restarts for memory."""
        for restart in restarts:
            self.count, self._last = self.count + 1, restart

    def succeeded(self) -> None:
        """Reset the count after a block was computed: its worker has enough memory."""
        self.count = 0

    def stop(self, blocks: Sequence[int], planned: int) -> str:
        """Return the reason to stop the run: blocks in flight, bytes planned for one; "" if it can continue."""
        if self._last is None or self.count < self.most:
            return ""
        names = ", ".join(map(str, sorted(blocks)[:LISTED])) + (", ..." if len(blocks) > LISTED else "")
        flight = f" while blocks {names} were in flight, for each of which {size(planned)} are planned"
        held = f"held {size(self._last.memory)}{flight if blocks else ' before it was given a block'}"
        return (
            f"workers were ended {self.count} times because their memory was full, and no block was computed between; "
            f"the last, {self._last.worker}, {held}; give workers more memory (memory-limit) or fewer threads, or "
            "ask for fewer outputs; stored results are kept"
        )
