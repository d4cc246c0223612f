"""Sweep -> plan -> graph -> cluster -> run, and the command line.

`Sweep` and `run` are loaded on first use, so that a command which computes nothing starts at once.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pipeline.appending import append
    from pipeline.coordinator import run
    from pipeline.own_metrics import UserMetric
    from pipeline.sweep import Sweep
    from pipeline.verification import verify

__all__ = ["Sweep", "UserMetric", "append", "run", "verify"]

_HOMES = {
    "Sweep": "pipeline.sweep",
    "UserMetric": "pipeline.own_metrics",
    "append": "pipeline.appending",
    "run": "pipeline.coordinator",
    "verify": "pipeline.verification",
}


def __getattr__(name: str) -> Any:
    """Loads what the package offers from the module that has it."""
    if name in _HOMES:
        from importlib import import_module

        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
