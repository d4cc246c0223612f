"""Size of the window of blocks in flight: what the threads can work on and the memory of the workers can hold.

The rule is a function of plain data. `Window` asks the cluster for the data now and then, because workers come and go.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from distributed import Client

SPARE_BLOCKS = 1
"""Blocks in flight beyond those that all threads can work on at once: one begins while another is stored."""

SPARE_SHARE = 4
"""One more spare block for so many workers: on a large cluster several end between two looks of the client."""

LIMB_THREADS = 2.0
"""Threads that a block of limb tasks keeps busy: its limbs run side by side, its first and its last task alone."""

FULL = 0.75
"""Share of its memory limit beyond which a worker gets no further blocks; Dask would pause it at 0.8."""

BASE_MEMORY = 256 << 20
"""Bytes that a worker takes before its first block: Python, its libraries, the kernels."""
TASK_RATE = 200.0
"""Tasks a second that scheduler and client do with half of their time."""

LAST_ROUNDS = 3
"""Tasks of full length for each thread from which on they are cut shorter: while the last of them end, threads wait."""

SHORTEST = 4
"""Into how many parts a task of full length is cut at most."""

SPARE_TASKS = 4
"""One more task of whole blocks in flight for so many threads: a worker begins it without waiting for the client."""

REFRESH_SECONDS = 2.0
MOST = 20_000
"""Blocks in flight on the largest cluster: what the client can keep track of."""


@dataclass(frozen=True)
class Worker:
    """What a worker has: threads, memory limit (0: none) and memory in use [bytes], and whether it takes tasks."""

    threads: int
    limit: int = 0
    used: int = 0
    running: bool = True

    def holds(self, memory: int) -> float:
        """Blocks that fit into its memory, when each takes so many bytes."""
        if not self.running or (self.limit and self.used > FULL * self.limit):
            return 0.0
        return max(0.0, FULL * self.limit - BASE_MEMORY) / memory if self.limit and memory else float("inf")


def size(workers: Iterable[Worker], parallel: float = 1.0, memory: int = 0) -> int:
    """Blocks in flight: each keeps `parallel` threads of one worker busy and takes `memory` bytes. At least one.

    A worker has at least one block, however few threads it has: its limb tasks then run one after another.
    """
    workers = list(workers)
    wanted = math.ceil(sum(min(max(1.0, worker.threads / parallel), worker.holds(memory)) for worker in workers))
    # a task of a whole block that waits on a worker takes no memory yet; tasks of limbs would begin
    waits = parallel <= 1.0 and all(worker.holds(memory) >= worker.threads for worker in workers)
    share = max(len(workers) // SPARE_SHARE, wanted // SPARE_TASKS if waits else 0)
    spare = SPARE_BLOCKS + share if wanted and all(worker.running for worker in workers) else 0
    room = min(MOST, sum(worker.holds(memory) for worker in workers))
    return max(1, min(wanted + spare, int(room)))


def batch(threads: int, seconds: float, left: int) -> int:
    """Blocks of one task each that are sent as one, where each takes so many `seconds` and so many are `left`.

    One on clusters of usual size. On large ones so many that the scheduler keeps up with their ends, and fewer for the
    last of them, so that all threads end at nearly the same time.
    """
    full = math.ceil(threads / (TASK_RATE * max(seconds, 1e-3)))
    return max(1, math.ceil(full / SHORTEST), min(full, left // (threads * LAST_ROUNDS))) if threads else 1


def workers_of(information: Mapping[str, Any]) -> list[Worker]:
    """The workers in what a scheduler says of itself."""
    return [
        Worker(
            worker["nthreads"],
            int(worker.get("memory_limit") or 0),
            int(worker.get("metrics", {}).get("memory") or 0),
            worker.get("status", "running") == "running",
        )
        for worker in information["workers"].values()
    ]


class Window:
    """The number of blocks in flight for the workers that a cluster has now."""

    def __init__(
        self, client: Client, parallel: float = 1.0, memory: int = 0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.client, self.parallel, self.memory = client, parallel, memory
        self._clock = clock
        self._asked = float("-inf")
        self._size = 1
        self._threads = 0

    def __call__(self) -> int:
        """The size as of a moment ago."""
        self._refresh()
        return self._size

    @property
    def threads(self) -> int:
        """Threads of all workers, as of a moment ago."""
        self._refresh()
        return self._threads

    def _refresh(self) -> None:
        if self._clock() - self._asked >= REFRESH_SECONDS:
            workers = workers_of(self.client.scheduler_info(n_workers=-1))
            self._size = size(workers, self.parallel, self.memory)
            self._threads = sum(worker.threads for worker in workers)
            self._asked = self._clock()
