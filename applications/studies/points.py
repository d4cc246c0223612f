"""Points of a space of designs for search and sampling methods, a coordinate for each variable."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from applications.studies.columns import Array
from pipeline.sweep.axes.samples import between


@dataclass(frozen=True)
class Continuous:
    """A parameter between two bounds; as a coordinate of a point from 0 to 1, with `log` evenly by its logarithm."""

    name: str
    low: float
    high: float
    log: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Parameters that it sets."""
        return (self.name,)

    def values(self, coordinate: Array) -> dict[str, Array]:
        """Return the parameter at coordinates (n,)."""
        return {self.name: np.clip(between(self.low, self.high, coordinate, log=self.log), self.low, self.high)}

    def coordinate(self, values: Array) -> Array:
        """Return the coordinates (n,) of values, to rounding."""
        low, high, x = (np.log(v) if self.log else np.asarray(v) for v in (self.low, self.high, values))
        return np.asarray((x - low) / (high - low))


@dataclass(frozen=True, eq=False)
class Choice:
    """Rows of a table (row, parameter), one of which a design has; a coordinate of a point is the number of the row.

    `ordered`: neighbouring rows are alike, as of a grid. Else rows are points in the space of their numbers; rows
    without numbers are bare names. `texts`: columns whose numbers are places of texts.
    """

    names: tuple[str, ...]
    rows: Array
    ordered: bool
    texts: frozenset[str] = frozenset()

    @cached_property
    def features(self) -> Array:
        """Numbers of the rows (row, feature), each from 0 to 1, by their logarithm where that is spread more evenly.

        Columns that are constant, or that order the rows as another one does at the same distances, are left out.
        """
        kept: list[Array] = []
        for name, column in zip(self.names, self.rows.T, strict=True):
            if name not in self.texts and np.ptp(column) > 0.0:
                unit = 0.5 + 0.5 * even(column)
                if not any(np.allclose(unit, other) or np.allclose(1.0 - unit, other) for other in kept):
                    kept.append(unit)
        return np.stack(kept, axis=1) if kept else np.zeros((len(self.rows), 0))

    def values(self, coordinate: Array) -> dict[str, Array]:
        """Return the parameters at numbers of rows (n,)."""
        rows = self.rows[np.asarray(coordinate, dtype=int)]
        return {name: rows[:, k] for k, name in enumerate(self.names)}

    def coordinate(self, columns: Array) -> Array:
        """Return the numbers of the rows that are those of a table (n, parameter). Raises ValueError for other rows."""
        number = {row.tobytes(): k for k, row in reversed(list(enumerate(self.rows + 0.0)))}
        if unknown := [row for row in columns + 0.0 if row.tobytes() not in number]:
            raise ValueError(f"columns: got the row {unknown[0].tolist()}; expected rows of {', '.join(self.names)}")
        return np.array([number[row.tobytes()] for row in columns + 0.0], dtype=float)


def even(x: Array) -> Array:
    """Return values on [-1, 1], by their logarithm where that is spread more evenly."""
    forms = [x, np.log(x)] if (x > 0.0).all() else [x]
    spread = []
    for form in forms:
        low, high = form.min(), form.max()
        unit = np.sort((form - low) / ((high - low) or 1.0))
        spread.append((float(np.abs(unit - np.linspace(0.0, 1.0, len(x))).max()), form))
    form = min(spread, key=lambda pair: pair[0])[1]
    return np.asarray(2.0 * (form - form.min()) / (np.ptp(form) or 1.0) - 1.0)


Variable = Continuous | Choice


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
        """For each robot the places (m,) of its points among all (n, variable), and these points in its own space."""
        return ((np.arange(len(points)), np.asarray(points, dtype=float)),)

    def random(self, generator: np.random.Generator, count: int) -> Array:
        """Points (n, variable), evenly over the space."""
        unit = generator.random((count, len(self.variables)))
        for k, variable in enumerate(self.variables):
            if isinstance(variable, Choice):
                unit[:, k] = np.minimum(np.floor(unit[:, k] * len(variable.rows)), len(variable.rows) - 1)
        return unit
