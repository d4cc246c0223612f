"""Small solvers for one sample, on floats and on traced expressions: factorisation L D L^T and least maximum of lines.

`Factors` of a symmetric positive matrix need no choice of pivots; elements that are known to vanish cost nothing.
Source: Golub and Van Loan, Matrix Computations, section 4.1.

`least_maximum` is a small linear programme, solved by trying all of its corners. The minimum over s of
max_i |a_i + G_i s| is at a corner, where as many of these sizes as unknowns, and one more, are equal, each with its
sign. All corners are tried, so that results do not depend on a choice of pivots. Of several equally good corners the
first is taken: the numbers are the same on every machine, in any batch. The number of corners grows fast, see
`robots.limits.corner_count`. Source: Cheney 1966, chapter 2.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

import numpy as np

from robots.data_classes import dataclass
from tasks.kernels.expression import Array, Mask, Scalar, Scalars
from tasks.mathematics.algebra import array, either, reciprocal, sqrt, where
from tasks.mathematics.systems import inverse

RANK_LOST = 1e-12
"""Pivot, relative to its element of the diagonal, up to which it is rounding."""


@dataclass(frozen=True)
class Factors:
    """Unit lower triangle L (n, n) and pivots D (n,) of a matrix, and the reciprocals of these."""

    lower: Array
    pivots: Sequence[Scalar]
    inverse_pivots: Sequence[Scalar]

    @classmethod
    def of(cls, matrix: Array) -> Factors:
        """Factorise a symmetric matrix, of which only the lower triangle is read."""
        n = len(matrix)
        lower: list[list[Scalar]] = [[] for _ in range(n)]
        pivots: list[Scalar] = []
        inverse: list[Scalar] = []
        for j in range(n):
            scaled: list[Scalar] = []
            pivot = matrix[j][j]
            for x, y in zip(lower[j], pivots, strict=True):
                scaled.append(x * y)
                pivot = pivot - x * scaled[-1]
            pivots.append(pivot)
            inverse.append(reciprocal(pivot))
            for i in range(j + 1, n):
                remainder = matrix[i][j]
                for x, y in zip(lower[i], scaled, strict=True):
                    remainder = remainder - x * y
                lower[i].append(remainder * inverse[j])
        whole = np.array(np.eye(n), dtype=object)
        for i, row in enumerate(lower):
            whole[i, :i] = row
        return cls(whole, pivots, inverse)

    def forward(self, b: Iterable[Scalar]) -> list[Scalar]:
        """Return L^-1 b."""
        result: list[Scalar] = []
        for row, value in zip(self.lower.tolist(), b, strict=True):
            for x, y in zip(row, result, strict=False):
                value = value - x * y
            result.append(value)
        return result

    def solve(self, b: Iterable[Scalar]) -> np.ndarray:
        """Return the inverse of the matrix times b (n,)."""
        result = [x * y for x, y in zip(self.forward(b), self.inverse_pivots, strict=True)]
        for i, column in reversed([*enumerate(self.lower.T.tolist())]):
            for x, y in zip(column[i + 1 :], result[i + 1 :], strict=True):
                result[i] = result[i] - x * y
        return array(result)

    def inverse_root(self) -> np.ndarray:
        """Return an upper triangle X (n, n) with X X^T the inverse of the matrix: L^-T D^-1/2."""
        columns = [self.forward(unit) for unit in np.eye(len(self.pivots))]  # L^-1, by columns
        return array([[x * sqrt(y) for x, y in zip(column, self.inverse_pivots, strict=True)] for column in columns])

    def rank_lost(self, diagonal: Scalars) -> Mask:
        """Return whether the matrix with this diagonal has lost rank, whatever the units of its rows."""
        result: Mask = False
        for pivot, whole in zip(self.pivots, diagonal, strict=True):
            result = either(result, pivot <= whole * RANK_LOST)
        return result

    def quadratic(self, b: Iterable[Scalar]) -> Scalar:
        """Return b^T times the inverse of the matrix times b."""
        return sum((x * x * y for x, y in zip(self.forward(b), self.inverse_pivots, strict=True)), start=0.0)


def least_maximum(offsets: Array, slopes: Array) -> list[Scalar]:
    """Return s (unknown,) with the least maximum of |offsets + slopes s|; offsets (row,), slopes (row, unknown)."""
    rows, unknowns = slopes.shape
    best: list[Scalar] = [0.0] * unknowns
    least = _maximum(offsets, slopes, best)
    for subset in itertools.combinations(range(rows), unknowns + 1):
        # the opposite of all signs is the same corner
        for signs in itertools.product((1.0, -1.0), repeat=unknowns):
            corner = np.array(np.zeros((unknowns + 1, unknowns + 1)), dtype=object)
            corner[:, :unknowns], corner[:, unknowns] = slopes[list(subset)], [-1.0, *(-sign for sign in signs)]
            corner_point = list((inverse(array(corner)) @ -offsets[list(subset)])[:unknowns])
            size = _maximum(offsets, slopes, corner_point)
            better = size < least  # false for a NaN corner, where planes do not meet in a point
            least = where(better, size, least)
            best = [where(better, x, y) for x, y in zip(corner_point, best, strict=True)]
    return best


def _maximum(offsets: Array, slopes: Array, s: Sequence[Scalar]) -> Scalar:
    first, *tail = [abs(value) for value in array(offsets + slopes @ array(s))]
    for next_value in tail:
        first = where(next_value > first, next_value, first)
    return first


def spanning_columns(projector: Array, count: int) -> Array:
    """Return orthonormal columns (row, count) that span the range of a projector (row, row); zero beyond its rank.

    Each step takes the longest column of the remaining projector.
    """
    residual, result = array(projector), []
    for _ in range(count):
        longest, direction = residual[0, 0], residual[:, 0]
        for k in range(1, len(residual)):
            larger = residual[k, k] > longest
            direction = array([where(larger, x, y) for x, y in zip(residual[:, k], direction, strict=True)])
            longest = where(larger, residual[k, k], longest)
        size = sqrt(sum(x * x for x in direction))
        spans = size > SPANS
        unit = array([where(spans, x / where(spans, size, 1.0), 0.0) for x in direction])
        result.append(unit)
        residual = residual - np.outer(unit, unit)
    return array(np.stack(result, axis=1))


SPANS = 1e-7
"""Length of a column of a projector up to which it is rounding; the longest one of rank r, n rows, has sqrt(r / n)."""
