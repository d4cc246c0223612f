"""Benchmarks of limbsweep beside other programs; a time is printed only for a result that is right.

`limbsweep bench` runs the table of `benchmarks.cases`. No other package may import this one.
"""

from __future__ import annotations

import os

COMPILE = "LIMBSWEEP_COMPILE"

IS_CHOSEN = COMPILE in os.environ
"""True if the user has chosen the code that is made; otherwise kernels that are timed have the best from the start."""

os.environ.setdefault(COMPILE, "best")
