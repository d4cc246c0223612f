"""Levels of optimisation that a user may choose by a variable of the environment."""

from __future__ import annotations

import os

COMPILE = "LIMBSWEEP_COMPILE"
"""Variable of the environment: `best`, or `quick` for bytecode, then code that compiles in a seventh of the time.

Quick code is several times slower, twice as long, and computes the same bits: only the choice of registers and of
instructions depends on it. Without the variable, a kernel has both for its first samples, see `tasks.kernels.kernel`.
"""
LEVELS = ("best", "quick")


def requested_level() -> str | None:
    """Return the level in the environment; None without one. Raises ValueError for an unknown one."""
    level = os.environ.get(COMPILE) or None
    if level is not None and level not in LEVELS:
        raise ValueError(f"{COMPILE}: got {level!r}; expected {' or '.join(LEVELS)}")
    return level
