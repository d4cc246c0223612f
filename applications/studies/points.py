"""Points of a space of designs for search and sampling methods, a coordinate for each variable."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from applications.studies.factors import Choice, Continuous, Variable
from pipeline.sweep.axes.samples import Array
from robots.data_classes import dataclass


@dataclass(frozen=True, eq=False)
class PointSpace:
    """Space of the points that a method proposes: a point has a coordinate for each variable."""

    variables: tuple[Variable, ...]

    @property
    def is_continuous(self) -> bool:
        """Return whether all variables are continuous, so that no variable is a choice."""
        return all(isinstance(variable, Continuous) for variable in self.variables)

    @property
    def is_conditional(self) -> bool:
        """Return whether some variables count under values of others alone."""
        return False

    def active(self, points: Array) -> NDArray[np.bool_]:
        """Return a mask of the coordinates of points (n, variable) that the design depends on: here all."""
        return np.ones(np.shape(points), dtype=bool)

    def computable(self, points: Array) -> NDArray[np.bool_]:
        """Return a mask of the points (n, variable) whose derived parameters are within their bounds: here all."""
        return np.ones(len(points), dtype=bool)

    def parts(self, points: Array) -> tuple[tuple[NDArray[np.intp], Array], ...]:
        """Return each robot's indices (m,) among all points (n, variable), and these points in its own space."""
        return ((np.arange(len(points)), np.asarray(points, dtype=float)),)

    def random(self, generator: np.random.Generator, count: int) -> Array:
        """Return random points (n, variable), evenly over the space."""
        unit = generator.random((count, len(self.variables)))
        for k, variable in enumerate(self.variables):
            if isinstance(variable, Choice):
                unit[:, k] = np.minimum(np.floor(unit[:, k] * len(variable.rows)), len(variable.rows) - 1)
        return unit
