"""Workers of a cluster, by the report of its scheduler: threads, memory, and blocks that fit into it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pipeline.errors import ClusterLostError
from robots.data_classes import dataclass

if TYPE_CHECKING:
    from distributed import Client

FULL = 0.75
"""Share of its memory limit beyond which a worker gets no further blocks; Dask would pause it at 0.8."""


@dataclass(frozen=True)
class Worker:
    """State of a worker: threads, memory limit (0: none) and memory in use [bytes], and whether it takes tasks.

    `base`: bytes that it takes beside its blocks.
    """

    threads: int
    limit: int = 0
    used: int = 0
    running: bool = True
    base: int = 0

    def holds(self, memory: int) -> float:
        """Return the number of blocks of a size that fit into the worker's memory: at least one if it runs."""
        if not self.running or (self.limit and self.used > FULL * self.limit):
            return 0.0
        if not (self.limit and memory):
            return float("inf")
        return max(1.0, (FULL * self.limit - self.base) // memory)


WorkerTable = Mapping[str, Mapping[str, Any]]
"""Report of a scheduler on each worker, by address."""


def worker_table(client: Client) -> WorkerTable:
    """Return the report of a scheduler on each worker, by address. Raises ClusterLostError where it has gone.

    The scheduler itself is asked, because the method of the client may return information that the client fetched for
    its own use, which has no workers.
    """
    information = client.sync(client.scheduler.identity, n_workers=-1) if client.scheduler else {}
    if "workers" not in information:
        raise ClusterLostError("the scheduler has gone")
    return dict(information["workers"])


def workers_of(table: WorkerTable, base: int = 0) -> list[Worker]:
    """Return the workers of a table, each of which takes `base` bytes beside its blocks if the table has no number."""
    return [
        Worker(
            worker["nthreads"],
            int(worker.get("memory_limit") or 0),
            int(worker.get("metrics", {}).get("memory") or 0),
            worker.get("status", "running") == "running",
            int(worker.get("base", base)),
        )
        for worker in table.values()
    ]
