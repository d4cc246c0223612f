"""A load on the platform along a trajectory as plain data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robots.types import LoadAxes

WRENCH = ("mx", "my", "mz", "fx", "fy", "fz")
"""Components of a wrench, moment [N m] before force [N], as files name them."""


@dataclass(frozen=True, eq=False)
class PlatformLoad:
    """What acts on the platform at its reference point, in the axes of the world or of the platform.

    `points` is (points, 7): t [s], then moment and force as in WRENCH, linear in between; of a constant load one row.
    """

    points: NDArray[np.float64]
    axes: LoadAxes = "world"
