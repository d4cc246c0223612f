"""Factors of a diagonal matrix plus a product of few columns, for one sample, on floats and on traced expressions.

S = A + B C B^T with A and C diagonal, where B (n, f) has more rows than columns, has the factors L D L^T of any
symmetric positive matrix, and each row of L below its diagonal is a combination of f vectors. So they take n f^2
operations in place of n^3, and solutions n f. They are those of a Kalman filter that takes one measurement B_k x after
the other, with the variances A_k, of a state x with the covariance C: the pivots are the variances of what it
did not expect. Rounding is that of the elimination of S.

Source: Golub and Van Loan, Matrix Computations, section 12.1 (methods for structured systems), and Kalman 1960.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from robots.data_classes import dataclass
from tasks.kernels.expression import Array, Scalar, Scalars
from tasks.mathematics.algebra import array, dot, reciprocal


@dataclass(frozen=True)
class LowRankFactors:
    """Rows B (n, f), gains G (n, f) and pivots D (n,) of S = L D L^T, where L_ij = B_i G_j for i > j.

    covariance (f, f) of x after all measurements: C - C B^T S^-1 B C.
    """

    rows: Array
    gains: Array
    pivots: Sequence[Scalar]
    inverse_pivots: Sequence[Scalar]
    covariance: Array

    @classmethod
    def of(cls, variances: Scalars, rows: Array, inner: Scalars) -> LowRankFactors:
        """Factorise S, given the diagonals A (n,) and C (f,)."""
        covariance = np.array(np.diag(array(inner)), dtype=object)
        below = np.tril_indices(len(covariance))
        gains: list[Array] = []
        pivots: list[Scalar] = []
        inverse: list[Scalar] = []
        for row, variance in zip(rows, variances, strict=True):
            through = array(covariance @ row)
            pivots.append(dot(row, through) + variance)
            inverse.append(reciprocal(pivots[-1]))
            gains.append(array(through * inverse[-1]))
            for i, j in zip(*below, strict=True):
                covariance[i, j] = covariance[j, i] = covariance[i, j] - through[i] * gains[-1][j]
        return cls(rows, array(gains), pivots, inverse, array(covariance))

    def forward(self, b: Iterable[Scalar]) -> list[Scalar]:
        """Return L^-1 b."""
        expected: Array = np.zeros(len(self.covariance))
        result: list[Scalar] = []
        for row, gain, value in zip(self.rows, self.gains, b, strict=True):
            result.append(value - dot(row, expected))
            expected = expected + gain * result[-1]
        return result

    def solve(self, b: Iterable[Scalar]) -> np.ndarray:
        """Return the inverse of S times b (n,)."""
        result = [x * y for x, y in zip(self.forward(b), self.inverse_pivots, strict=True)]
        later: Array = np.zeros(len(self.covariance))
        for i, (row, gain) in reversed([*enumerate(zip(self.rows, self.gains, strict=True))]):
            result[i] = result[i] - dot(gain, later)
            later = later + row * result[i]
        return array(result)
