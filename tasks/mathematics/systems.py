"""Small systems of linear equations, inverses and determinants, for one sample, on floats and on traced expressions.

No pivot is chosen by the data, so that results are the same in any batch. Source: Golub and Van Loan, Matrix
Computations, sections 5.1 and 8.6.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from tasks.kernels.expression import Array, Scalar, Scalars, once
from tasks.mathematics.algebra import array, is_zero, reciprocal, sqrt, where


def inverse(a: Array) -> np.ndarray:
    """Return a square matrix's inverse by cofactors up to size 4, else by Householder reflections; no pivoting on data.

    Infinities or NaN where the matrix is singular.
    """
    with np.errstate(invalid="ignore", over="ignore"):  # on floats
        if len(a) > 4:
            return _by_reflections(array(a), np.eye(len(a)))
        return divided(*adjugate(a))


def solution(a: Array, b: Array) -> tuple[np.ndarray, Scalar]:
    """Return x and d where x / d solves A x = b, or has the least squares of A x - b where there are more rows.

    It takes fewer operations than a product with `inverse`, if that has no other use. Up to size 5, by cofactors and
    minors, d is the determinant, so that a caller who divides anyway can do it once; otherwise it is 1.
    """
    with np.errstate(invalid="ignore", over="ignore"):  # on floats
        if len(a) == len(a[0]) == FIVE:
            *ends, determinant = _minors_of_five([[*row, end] for row, end in zip(a, b, strict=True)])
            return array([x if k % 2 == 0 else -x for k, x in enumerate(ends)]), determinant
        if len(a) > 4 or len(a) > len(a[0]):
            return _by_reflections(array(a), b)[:, 0], 1.0
        cofactors, determinant = adjugate(a)
        return array(cofactors @ b), determinant


def divided(numerators: Array, divisor: Scalar) -> np.ndarray:
    """Return the quotients of numbers and a divisor, by one division."""
    return array(numerators * reciprocal(divisor))


FIVE = 5
"""Size of the systems that are solved by minors, without a root and with one division; larger ones take longer so."""


def _minors_of_five(rows: Sequence[Sequence[Scalar]] | Array) -> list[Scalar]:
    """Return the determinants of five rows of five or six numbers without the first column, the second, and so on.

    Five columns have one. By Laplace's expansion along the first two rows, the next two, and the last.
    """

    def of_two(upper: Scalars, lower: Scalars) -> dict[tuple[int, ...], Scalar]:
        return {(i, j): upper[i] * lower[j] - upper[j] * lower[i] for i, j in combinations(range(len(upper)), 2)}

    def of_four(columns: tuple[int, ...]) -> Scalar:
        result: Scalar = 0.0
        for i, j in combinations(range(4), 2):
            others = tuple(columns[k] for k in range(4) if k not in (i, j))
            term = first[columns[i], columns[j]] * second[others]
            result = result + term if (i + j) % 2 else result - term
        return result

    def of_five(columns: tuple[int, ...]) -> Scalar:
        terms = [rows[4][column] * four[columns[:k] + columns[k + 1 :]] for k, column in enumerate(columns)]
        return terms[0] - terms[1] + terms[2] - terms[3] + terms[4]

    first, second = of_two(rows[0], rows[1]), of_two(rows[2], rows[3])
    four: dict[tuple[int, ...], Scalar] = {
        columns: of_four(columns) for columns in combinations(range(len(rows[0])), 4)
    }
    return [of_five(columns) for columns in reversed([*combinations(range(len(rows[0])), FIVE)])]


def adjugate(a: Array) -> tuple[np.ndarray, Scalar]:
    """Return the adjugate and determinant of a matrix of size 1 to 4, so that inverse = adjugate / determinant."""
    n = len(a)
    if n == 1:
        return array([[1.0]]), a[0][0]
    rows = tuple(range(n))
    result = np.empty((n, n), dtype=object)
    for i in rows:
        for j in rows:
            minor = _minor(a, tuple(r for r in rows if r != i), tuple(c for c in rows if c != j))
            result[j, i] = minor if (i + j) % 2 == 0 else -minor
    # along the row with the fewest terms that are not known to vanish
    best = min(rows, key=lambda i: sum(not is_zero(a[i][j]) for j in rows))
    determinant = sum((a[best][j] * result[j, best] for j in rows), start=0.0)
    return array(result), determinant


def _minor(a: Array, rows: tuple[int, ...], columns: tuple[int, ...]) -> Scalar:
    if len(rows) == 1:
        return a[rows[0]][columns[0]]
    first, others_rows = rows[0], rows[1:]
    total: Scalar = 0.0
    for k, column in enumerate(columns):
        term = a[first][column] * _minor(a, others_rows, columns[:k] + columns[k + 1 :])
        total = total + term if k % 2 == 0 else total - term
    return total


def determinant(a: Array) -> Scalar:
    """Return a square matrix's determinant by the method of `solution`, and share its operations when traced."""
    if len(a) <= 4:
        return adjugate(a)[1]
    if len(a) == FIVE:
        return _minors_of_five(a)[0]
    sign = -1.0 if len(a) % 2 == 0 else 1.0  # each of the n - 1 reflections changes it
    return sign * _diagonal_product(_reflected(array(a))[0])


def pseudo_inverse(a: Array) -> np.ndarray:
    """Return the left inverse (n, m) of a matrix (m, n), m >= n, by Householder reflections, as accurate as `inverse`.

    Infinities or NaN where the matrix lacks rank.
    """
    with np.errstate(invalid="ignore", over="ignore"):  # on floats
        return _by_reflections(array(a), np.eye(len(a)))


def least_norm(a: Array, b: Array) -> np.ndarray:
    """Return the x (m,) of least norm with A^T x = b, of a matrix A (m, n), m >= n, by Householder reflections.

    A product with the inverse of A^T A would lose twice as many digits. Infinities or NaN where A lacks rank.
    """
    with np.errstate(invalid="ignore", over="ignore"):  # on floats
        matrix = array(a)
        unit = np.eye(len(matrix))
        r, pivots, q = once(("reflections", matrix.shape), [*matrix.ravel()], lambda: _reflected(matrix, unit))
        found: list[Scalar] = []
        for k, pivot in enumerate(pivots):
            found.append((b[k] - sum((r[i, k] * x for i, x in enumerate(found)), start=0.0)) * pivot)
        return array(q[: len(found)].T @ array(found))


def inverse_root(a: Array) -> np.ndarray:
    """Return R^-1 (n, n) of Householder's factorisation A = Q R of a matrix (m, n), m >= n.

    R^-1 R^-T is the inverse of A^T A, which itself would lose twice as many digits. Infinities or NaN where A lacks
    rank.
    """
    with np.errstate(invalid="ignore", over="ignore"):  # on floats
        r, pivots, _ = _reflected(array(a))
        return _substituted(r, pivots, np.eye(len(pivots)))


def complement(a: Array) -> np.ndarray:
    """Return orthonormal columns (m, m - n) at right angles to the columns of a matrix (m, n), m > n.

    By Householder reflections; NaN where the matrix lacks rank.
    """
    with np.errstate(invalid="ignore", over="ignore"):  # on floats
        return array(_reflected(array(a), np.eye(len(a)))[2][a.shape[1] :].T)


def squared_box(matrix: Array) -> Scalar:
    """Return the square of the volume of a box whose sides are as long as the columns of a matrix."""
    box: Scalar = 1.0
    for column in matrix.T:
        box = box * sum(x * x for x in column)
    return box


def volume(a: Array) -> Scalar:
    """Return the volume that the columns of a matrix (m, n), m >= n, span, by the method of `pseudo_inverse`."""
    return abs(_diagonal_product(_reflected(array(a))[0]))


def _diagonal_product(a: np.ndarray) -> Scalar:
    result: Scalar = 1.0
    for x in np.diagonal(a):
        result = result * x
    return result


def _reflected(a: np.ndarray, right: Array | None = None) -> tuple[np.ndarray, list[Scalar], np.ndarray]:
    """Return R of Householder's factorisation, the reciprocals of its diagonal, and Q^T times `right`.

    One division for each column gives both the factor of its reflection and the reciprocal.
    """
    m, n = a.shape
    r = np.array(a, dtype=object)
    q = np.array(np.zeros((m, 0)) if right is None else np.reshape(right, (m, -1)), dtype=object)
    pivots: list[Scalar] = []
    for k in range(n):
        if k == m - 1:
            pivots.append(reciprocal(r[k, k]))
            continue
        x = r[k:, k]
        square = sum(v * v for v in x)
        length = sqrt(square)
        signed = where(x[0] < 0.0, -length, length)
        v = np.array([x[0] + signed, *x[1:]], dtype=object)
        beta = signed * reciprocal(square * v[0])  # 1 / (signed v0)
        pivots.append(-(v[0] * beta))
        for part in (r[:, k + 1 :], q):
            part[k:, :] = part[k:, :] - np.outer(v * beta, v @ part[k:, :])
        r[k:, k] = [-signed, *[0.0] * len(x[1:])]
    return r, pivots, q


def _by_reflections(a: np.ndarray, right: Array) -> np.ndarray:
    """Return X with the least squares of A X - `right`, by reflections."""
    r, pivots, q = _reflected(a, right)
    return _substituted(r, pivots, q)


def _substituted(r: np.ndarray, pivots: Sequence[Scalar], q: np.ndarray) -> np.ndarray:
    """Return R^-1 times the first rows of q, from R and the reciprocals of its diagonal."""
    n, width = len(pivots), q.shape[1]
    result = np.array(np.zeros((n, width)), dtype=object)
    for i in reversed(range(n)):
        for j in range(width):
            result[i, j] = (q[i, j] - sum((r[i, k] * result[k, j] for k in range(i + 1, n)), start=0.0)) * pivots[i]
    return array(result)


def singular_values(a: Array, sweeps: int = 6) -> list[Scalar]:
    """Return the singular values of a matrix (m, n), m >= n, in no order, by one-sided Jacobi rotations."""
    columns = [array(column) for column in np.asarray(a, dtype=object).T]
    for _ in range(sweeps):
        for p in range(len(columns)):
            for q in range(p + 1, len(columns)):
                columns[p], columns[q] = _rotated(columns[p], columns[q])
    return [sqrt(column @ column) for column in columns]


def _rotated(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return two columns rotated in their plane until they are perpendicular. Golub and Van Loan, section 8.6.3."""
    overlap = x @ y
    skewed = where(abs(overlap) <= 0.0, 1.0, overlap)
    zeta = (y @ y - x @ x) / (2.0 * skewed)
    size = 1.0 / (abs(zeta) + sqrt(1.0 + zeta * zeta))
    tangent = where(abs(overlap) <= 0.0, 0.0, where(zeta < 0.0, -size, size))
    cos = 1.0 / sqrt(1.0 + tangent * tangent)
    sin = cos * tangent
    return x * cos - y * sin, x * sin + y * cos
