"""Symmetric positive matrices, for one sample: the factorisation L D L^T, which needs no choice of pivots.

Works on floats and on traced expressions; elements that are known to vanish cost nothing. Source: Golub and Van Loan,
Matrix Computations, section 4.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from tasks.kernels.types import Array, Scalar
from tasks.mathematics.algebra import array, reciprocal


@dataclass(frozen=True)
class Factors:
    """Unit lower triangle L (n, n) and pivots D (n,) of a matrix, and the reciprocals of these."""

    lower: Array
    pivots: Sequence[Scalar]
    inverse_pivots: Sequence[Scalar]

    @classmethod
    def of(cls, matrix: Array) -> Factors:
        """Factors of a symmetric matrix, of which only the lower triangle is looked at."""
        n = len(matrix)
        lower = np.array(np.eye(n), dtype=object)
        pivots: list[Scalar] = []
        inverse: list[Scalar] = []
        for j in range(n):
            for i in range(j, n):
                rest = matrix[i][j]
                for k in range(j):
                    rest = rest - lower[i, k] * (lower[j, k] * pivots[k])
                if i == j:
                    pivots.append(rest)
                    inverse.append(reciprocal(rest))
                else:
                    lower[i, j] = rest * inverse[j]
        return cls(lower, pivots, inverse)

    def forward(self, b: Iterable[Scalar]) -> list[Scalar]:
        """L^-1 b."""
        result: list[Scalar] = []
        for i, value in enumerate(b):
            for k in range(i):
                value = value - self.lower[i, k] * result[k]
            result.append(value)
        return result

    def solve(self, b: Iterable[Scalar]) -> np.ndarray:
        """The inverse of the matrix times b (n,)."""
        result = [x * y for x, y in zip(self.forward(b), self.inverse_pivots, strict=True)]
        for i in reversed(range(len(result))):
            for k in range(i + 1, len(result)):
                result[i] = result[i] - self.lower[k, i] * result[k]
        return array(result)

    def quadratic(self, b: Iterable[Scalar]) -> Scalar:
        """B^T times the inverse of the matrix times b."""
        return sum((x * x * y for x, y in zip(self.forward(b), self.inverse_pivots, strict=True)), start=0.0)
