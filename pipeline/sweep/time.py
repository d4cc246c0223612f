"""The time grid of a sweep."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pipeline.sweep.axes.kinds import Array


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
    def values(self) -> Array:
        """The times, (samples,), each computed by one product, so that no error grows along the grid."""
        return np.asarray(np.arange(self.samples) * self.step, np.float64)
