"""Setup of a worker before its first task, and its memory. The modules that tasks need are loaded with this one."""

from __future__ import annotations

from typing import Any

import psutil
from distributed import WorkerPlugin

import storage.writer  # noqa: F401
import tasks.blocks.compute  # noqa: F401
from pipeline.execution.processes.garbage import collect_rarely, keep_all
from tasks.blocks.pool import trim


def held_memory() -> int:
    """Resident size of this worker with the modules that tasks need, without memory that nothing uses [bytes]."""
    trim()
    return int(psutil.Process().memory_info().rss)


class WorkerSetup(WorkerPlugin):
    """Python looks for garbage rarely, and never among modules."""

    name = "limbsweep"

    def setup(self, worker: Any) -> None:
        """Called by Dask in each worker, also in one that comes later."""
        keep_all()
        collect_rarely()
