"""Processes that a benchmark starts and times: the command, and their environment, which is that of a user."""

from __future__ import annotations

import os
import sys

from benchmarks import COMPILE, IS_CHOSEN

COMMAND = (sys.executable, "-c", "from applications.commands.cli import main; main()")
"""The program `limbsweep` of this checkout."""


def environment(**variables: str) -> dict[str, str]:
    """Return the variables of a process: those of this one and `variables`; it keeps the bytecode of modules.

    Installed packages have theirs. A machine for tests may forbid Python to write any; there each process would compile
    every module of a checkout again, and the benchmark would time that.
    """
    ours = {"PYTHONDONTWRITEBYTECODE"} | (set() if IS_CHOSEN else {COMPILE})
    return {name: value for name, value in os.environ.items() if name not in ours} | variables
