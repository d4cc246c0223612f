"""When to stop a run whose workers are ended for their memory again and again. Decisions on plain data.

Dask ends a worker at a share of its memory limit (`distributed.worker.memory.terminate`) and starts it anew. A block
that needs more than a worker has would be tried on one after another, and the next block as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pipeline.documents.units import size

MOST = 12
"""Restarts without a block between: those of three blocks, each of which Dask tries on four workers."""

LISTED = 4
"""Blocks in flight that are named."""


@dataclass(frozen=True)
class MemoryRestart:
    """A worker that was ended for its memory: its address, and the bytes that it had then."""

    worker: str
    memory: int


class MemoryRestarts:
    """Counts restarts since the last block that was computed on a worker."""

    def __init__(self, most: int = MOST) -> None:
        self.most, self.count = most, 0
        self._last: MemoryRestart | None = None

    def add(self, restarts: Iterable[MemoryRestart]) -> None:
        """Count restarts."""
        for restart in restarts:
            self.count, self._last = self.count + 1, restart

    def succeeded(self) -> None:
        """A block was computed: its worker has enough."""
        self.count = 0

    def stop(self, blocks: Sequence[int], planned: int) -> str:
        """Why the run has to stop, in words: blocks in flight, bytes planned for one; "" where it can go on."""
        if self._last is None or self.count < self.most:
            return ""
        names = ", ".join(map(str, sorted(blocks)[:LISTED])) + (", ..." if len(blocks) > LISTED else "")
        return (
            f"workers were ended {self.count} times because their memory was full, and no block was computed between; "
            f"the last, {self._last.worker}, held {size(self._last.memory)} while blocks {names} were in flight, for "
            f"each of which {size(planned)} are planned; give workers more memory (memory-limit) or fewer threads, or "
            "ask for fewer outputs; what has been stored stays"
        )
