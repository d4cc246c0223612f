"""Number of blocks in flight, and of blocks in one task, for the threads and the memory of the workers."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable

from pipeline.execution.policy.workers import Worker, WorkerTable, workers_of

SPARE_BLOCKS = 1
"""Blocks in flight beyond the number that all threads compute at once: one begins while another is stored."""

LIMB_SPARE_BLOCKS = 2
"""The same for blocks of limb tasks on workers of several threads, where memory holds them.

The tasks of two blocks share two threads so evenly that both blocks end at one time, and nothing is left to begin.
"""

SPARE_SHARE = 4
"""Workers per additional spare block: on a large cluster several end between two looks of the client."""

LIMB_THREADS = 2.0
"""Threads that a block of limb tasks keeps busy: its limbs run side by side, its first and its last task alone."""

TASK_RATE = 200.0
"""Tasks a second that scheduler and client do with half of their time."""

TASK_SECONDS = 1.5
"""Time of a task of whole blocks [s]: one costs scheduler, connection and worker some milliseconds, however long."""

LAST_ROUNDS = 3
"""Tasks of full length for each thread from which on they are cut shorter: while the last of them end, threads wait."""

SHORTEST = 4
"""Number of parts into which a task of full length is cut, at most."""

SPARE_TASKS = 4
"""Threads per additional task of whole blocks in flight: a worker begins it without waiting for the client."""

REFRESH_SECONDS = 2.0
"""Seconds between two looks at the workers."""

MOST = 20_000
"""Largest number of blocks in flight of which the client keeps track."""


def window_size(workers: Iterable[Worker], parallel: float = 1.0, memory: int = 0, share: float = 1.0) -> int:
    """Return the number of blocks in flight, at least 1: each keeps `parallel` threads busy and takes `memory` bytes.

    A worker has at least one block, however few threads it has: its limb tasks then run one after another. `share`: of
    the cluster, where several runs use it.
    """
    workers = list(workers)
    wanted = math.ceil(sum(min(max(1.0, worker.threads / parallel), worker.holds(memory)) for worker in workers))
    # a task of a whole block that waits on a worker takes no memory yet; tasks of limbs would begin
    waits = parallel <= 1.0 and all(worker.holds(memory) >= worker.threads for worker in workers)
    more = max(len(workers) // SPARE_SHARE, wanted // SPARE_TASKS if waits else 0)
    is_shared = parallel > 1.0 and any(worker.threads > 1 for worker in workers)
    least = LIMB_SPARE_BLOCKS if is_shared else SPARE_BLOCKS
    spare = least + more if wanted and all(worker.running for worker in workers) else 0
    room = MOST if waits else min(MOST, sum(worker.holds(memory) for worker in workers))
    return max(1, round(share * min(wanted + spare, int(room))))


def batch(threads: int, seconds: float, left: int) -> int:
    """Return the number of one-task blocks to send as one; each takes `seconds`, and `left` remain.

    As many as a task of `TASK_SECONDS` has, on large clusters enough that the scheduler keeps up with their ends, and
    fewer at the end of the run, so that all threads end at nearly the same time.
    """
    if not threads:
        return 1
    seconds = max(seconds, 1e-3)
    enough = threads / (TASK_RATE * seconds)
    full = math.ceil(max(enough, TASK_SECONDS / seconds))
    return max(1, math.ceil(enough / SHORTEST), min(full, left // (threads * LAST_ROUNDS)))


class Window:
    """The number of blocks in flight for the workers that a cluster has now."""

    def __init__(
        self,
        table: Callable[[], WorkerTable],
        parallel: float = 1.0,
        memory: int = 0,
        base: int = 0,
        clock: Callable[[], float] = time.monotonic,
        share: Callable[[], float] = lambda: 1.0,
    ) -> None:
        """Set up the window. `table`: workers; `memory`: bytes of a block; `base`: a worker's bytes besides blocks.

        `share`: asked for the share of the run in the cluster as of now.
        """
        self.table, self.parallel, self.memory, self.base = table, parallel, memory, base
        self.share = 1.0
        """Share of the run in the cluster, as of the last look."""
        self._share = share
        self._clock = clock
        self._asked = float("-inf")
        self._size = 1
        self._threads = 0

    def __call__(self) -> int:
        """Return the size of the window as of a moment ago."""
        self._refresh()
        return self._size

    @property
    def threads(self) -> int:
        """Threads of all workers, as of a moment ago."""
        self._refresh()
        return self._threads

    def _refresh(self) -> None:
        if self._clock() - self._asked >= REFRESH_SECONDS:
            workers = workers_of(self.table(), self.base)
            self.share = self._share()
            self._size = window_size(workers, self.parallel, self.memory, self.share)
            self._threads = sum(worker.threads for worker in workers)
            self._asked = self._clock()
