"""Setup of a worker before its first task. The modules that tasks need are loaded with this one."""

from __future__ import annotations

import logging
from typing import Any

from distributed import WorkerPlugin

import pipeline.execution.work  # noqa: F401
import storage.writer  # noqa: F401
from pipeline.execution.processes.garbage import collect_rarely, keep_all


def is_told(record: logging.LogRecord) -> bool:
    """Return whether a record of a worker's log is shown: failed blocks, and heartbeats at a cluster's end, are not.

    The coordinator tells of both in one sentence; Dask writes tracebacks of them from each worker.
    """
    message = record.getMessage()
    return not message.startswith("Compute Failed") and not (
        record.exc_info and isinstance(record.exc_info[1], OSError) and "heartbeat" in message
    )


class WorkerSetup(WorkerPlugin):
    """Setup of a worker: rare garbage collection, never of modules, and no messages about failed heartbeats."""

    name = "limbsweep"

    def setup(self, worker: Any) -> None:
        """Set up a worker; Dask calls this in each worker, also in one that comes later."""
        logging.getLogger("distributed.worker").addFilter(is_told)
        keep_all()
        collect_rarely()
