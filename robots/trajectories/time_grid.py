"""Time grid of a sweep, or of one of its trajectories."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from robots.data_classes import dataclass


@dataclass(frozen=True)
class TimeGrid:
    """Times k * step for k = 0 ... samples - 1 [s]."""

    step: float
    samples: int

    @property
    def duration(self) -> float:
        """The last time [s]."""
        return (self.samples - 1) * self.step

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """The times, (samples,), each computed by one product, so that no error grows along the grid."""
        return np.asarray(np.arange(self.samples) * self.step, np.float64)


def longest(grids: Iterable[TimeGrid]) -> TimeGrid:
    """Return the first of the grids with the most samples.

    >>> longest([TimeGrid(0.1, 3), TimeGrid(0.01, 5)])
    TimeGrid(step=0.01, samples=5)
    """
    return max(grids, key=lambda grid: grid.samples)
