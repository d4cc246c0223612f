"""Runs of sweeps; their datasets have `Dataset.limbsweep`, which is registered here."""

import applications.report.registered  # noqa: F401 - registers it
from pipeline.execution.preparation import lazy
from pipeline.execution.run import compute, run, submit

__all__ = ["compute", "lazy", "run", "submit"]
