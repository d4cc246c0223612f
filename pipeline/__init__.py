"""Sweep -> plan -> graph -> cluster -> run, and the command line.

`Sweep` and `run` are loaded on first use, so that a command which computes nothing starts at once.
"""

from typing import TYPE_CHECKING

from robots.loading import on_first_use

if TYPE_CHECKING:
    from pipeline.execution.preparation import lazy
    from pipeline.execution.run import compute, run, submit
    from pipeline.stores.append import append
    from pipeline.stores.verify import verify
    from pipeline.sweep.model import Sweep
    from pipeline.sweep.user_metrics import UserMetric

__all__ = ["Sweep", "UserMetric", "append", "compute", "lazy", "run", "submit", "verify"]

_HOMES = {
    "Sweep": "pipeline.sweep.model",
    "UserMetric": "pipeline.sweep.user_metrics",
    "append": "pipeline.stores.append",
    "compute": "pipeline.execution.run",
    "lazy": "pipeline.execution.preparation",
    "run": "pipeline.execution.run",
    "submit": "pipeline.execution.run",
    "verify": "pipeline.stores.verify",
}

if not TYPE_CHECKING:  # for which there are no other names
    __getattr__, __dir__ = on_first_use(__name__, _HOMES)
