"""Derivatives by extrapolated differences, with estimates of their errors.

A function is computed at SCALES distances on both sides of a point. Richardson's extrapolation gives a table of
approximations of the derivative, from both sides together and from each side. The approximation with the nearest
neighbours in the table is taken, and the distance of these is its error. Source: Ridders 1982; for the extrapolation
Press et al. 2007, Numerical Recipes, section 5.7.
"""

from __future__ import annotations

import numpy as np

from robots.data_classes import dataclass

Array = np.ndarray

FACTOR, SCALES = 6.0, 4
"""Factor between neighbouring distances, and their number to each side."""

POINTS = 2 * SCALES
"""Number of points of a derivative: first points below, then points above, both from the farthest on."""

FARTHEST = 1e-2
"""Largest distance, in units of the length of the moved input."""

DISTANCES = FARTHEST * FACTOR ** -np.arange(SCALES)
"""Distances on each side, the largest first."""

OFFSETS = np.concatenate([-DISTANCES, DISTANCES])
"""Distances of all points (point,)."""

ROUNDING = 1e-11
"""Change of a function over the length of the moved input, relative to the function, that may be rounding."""


@dataclass(frozen=True)
class Extrapolated:
    """Derivatives and estimates of their errors; infinite where there is no derivative."""

    values: Array
    errors: Array

    @classmethod
    def of(cls, quotients: Array, order: int) -> Extrapolated:
        """Extrapolate difference quotients (scale, ...), largest distance first, with errors in powers of h^order."""
        with np.errstate(invalid="ignore"):
            best, row = quotients[-1], quotients
            error = _errors(quotients[-1] - quotients[-2])
            for k in range(1, len(quotients)):
                weight = FACTOR ** (order * k)
                following = (weight * row[1:] - row[:-1]) / (weight - 1.0)
                missing = np.maximum(_errors(following - row[1:]), _errors(following - row[:-1]))
                for value, missed in zip(following, missing, strict=True):
                    better = missed < error
                    best, error = np.where(better, value, best), np.where(better, missed, error)
                row = following
        return cls(best, error)

    def replaced(self, where: Array, other: Extrapolated) -> Extrapolated:
        """Return the derivatives, taken from `other` where a mask is true."""
        return Extrapolated(np.where(where, other.values, self.values), np.where(where, other.errors, self.errors))


@dataclass(frozen=True)
class Slopes:
    """Derivatives from below, from above, and from both sides at once."""

    below: Extrapolated
    above: Extrapolated
    both: Extrapolated

    @classmethod
    def of(cls, middle: Array, ends: Array, lengths: Array | float, outside: Array | None = None) -> Slopes:
        """Estimate from values at a point, and at OFFSETS times `lengths` from it (point, ...).

        outside (point, ...): true where a point is beyond a bound; if the nearest point is, only the other side counts.
        """
        if outside is not None:
            ends = np.where(outside, np.nan, ends)
        distances = DISTANCES.reshape(-1, *(1,) * np.ndim(middle)) * lengths
        down, up = (ends[:SCALES] - middle) / -distances, (ends[SCALES:] - middle) / distances
        below, above, both = Extrapolated.of(down, 1), Extrapolated.of(up, 1), Extrapolated.of(0.5 * (down + up), 2)
        if outside is None:
            return cls(below, above, both)
        at_lowest, at_highest = outside[SCALES - 1], outside[-1]
        below, both = below.replaced(at_lowest, above), both.replaced(at_lowest, above)
        above, both = above.replaced(at_highest, below), both.replaced(at_highest, below)
        return cls(below, above, both)

    @property
    def sides(self) -> tuple[Extrapolated, Extrapolated]:
        """Derivatives from below and from above."""
        return self.below, self.above


def _errors(differences: Array) -> Array:
    sizes = np.abs(differences)
    return np.where(np.isnan(sizes), np.inf, sizes)
