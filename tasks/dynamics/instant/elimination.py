"""Arithmetic of many small systems side by side, element by element: no bit depends on the batch or the machine."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

TINY = float(np.finfo(float).tiny)

GOLDEN, SILVER = 0.7548776662466927, 0.5698402909980532
"""Steps of a sequence that fills a square evenly (Roberts 2018)."""

SIZES = (1.0, 0.1, 10.0, 0.3, 3.0, 30.0)


def sum_of_rows(values: Numbers) -> Numbers:
    """Return the sum of rows, added in their order."""
    result = values[0].copy()
    for row in values[1:]:
        result += row
    return np.asarray(result)


def spread_starts(rows: int, count: int) -> Numbers:
    """Return positive numbers (rows, count) of all sizes around one; the first column is one."""
    columns = np.arange(count)
    share = np.mod((np.arange(rows)[:, None] + 1.0) * GOLDEN + columns * SILVER, 1.0)
    result = share / (1.0 - share) * np.array(SIZES)[columns % len(SIZES)]
    result[:, 0] = 1.0
    return np.asarray(result)


def solved(matrix: Numbers, right: Numbers) -> tuple[Numbers, Numbers]:
    """Solve linear equations (n, n, samples) by elimination with pivots: (n, samples), and the determinant's sign.

    Element by element, so that bits do not depend on the batch or the machine.
    """
    n, count = right.shape
    work, result, lanes, sign = matrix.copy(), right.copy(), np.arange(count), np.ones(count)
    for j in range(n):
        pivot = np.abs(work[j:, j]).argmax(axis=0) + j
        top, best = work[j].copy(), work[pivot, :, lanes].T
        work[pivot, :, lanes], work[j] = top.T, best
        first, other = result[j].copy(), result[pivot, lanes]
        result[pivot, lanes], result[j] = first, other
        sign *= np.where(pivot == j, 1.0, -1.0) * np.sign(work[j, j])
        divisor = np.where(np.abs(work[j, j]) > 0.0, work[j, j], TINY)
        factors = work[j + 1 :, j] / divisor
        work[j + 1 :] -= factors[:, None] * work[j][None]
        result[j + 1 :] -= factors * result[j]
    for j in reversed(range(n)):
        for k in range(j + 1, n):
            result[j] -= work[j, k] * result[k]
        result[j] /= np.where(np.abs(work[j, j]) > 0.0, work[j, j], TINY)
    return result, sign
