"""Types of the mathematics: numbers and arrays of numbers, or of symbols while a program is traced."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tasks.kernels.expression import Expression

Scalar = float | Expression
"""A number of one sample, or its symbol."""

Mask = bool | Expression
"""A truth value of one sample, or its symbol."""

Array = NDArray[Any]
"""Numbers, or symbols in an array of objects."""

Scalars = Sequence[Scalar] | Array
"""Numbers or symbols in a row."""

Numbers = Scalars | Sequence[Scalars]
"""What a function of one sample gives under a name: a row of numbers or symbols, or rows of them."""

ABSENT: Array = np.zeros(0)
"""An input that a program does without."""

ZERO: Array = np.zeros(())
"""What sums of arrays start with."""
