"""Types of the mathematics: numbers and arrays of numbers, or of symbols while a program is traced."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from tasks.kernels.expression import Expression

Scalar = float | Expression
"""A number of one sample, or its symbol."""

Array = NDArray[Any]
"""Numbers, or symbols in an array of objects."""
