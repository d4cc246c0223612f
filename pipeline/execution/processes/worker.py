"""Setup of a worker before its first task. The modules that tasks need are loaded with this one."""

from __future__ import annotations

from typing import Any

from distributed import WorkerPlugin

import pipeline.execution.work  # noqa: F401
import storage.writer  # noqa: F401
from pipeline.execution.processes.garbage import collect_rarely, keep_all


class WorkerSetup(WorkerPlugin):
    """Python looks for garbage rarely, and never among modules."""

    name = "limbsweep"

    def setup(self, worker: Any) -> None:
        """Called by Dask in each worker, also in one that comes later."""
        keep_all()
        collect_rarely()
