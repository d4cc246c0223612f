"""Setup of a worker of a run's own cluster before its first task."""

from __future__ import annotations

from typing import Any

from distributed import WorkerPlugin

from pipeline.execution.processes.garbage import collect_rarely, keep_all


class WorkerSetup(WorkerPlugin):
    """Imports what tasks need; then Python looks for garbage rarely, and never among that."""

    name = "limbsweep"

    def setup(self, worker: Any) -> None:
        """Called by Dask in each worker, also in one that comes later."""
        import pipeline.execution.graph  # noqa: F401
        import storage.writer  # noqa: F401

        keep_all()
        collect_rarely()
