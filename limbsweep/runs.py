"""Runs of sweeps; their datasets have `Dataset.limbsweep`, which is registered here."""

import pipeline.report.accessor  # noqa: F401 - registers it
from pipeline.execution.run import compute, run, submit
from pipeline.execution.without_store import lazy

__all__ = ["compute", "lazy", "run", "submit"]
