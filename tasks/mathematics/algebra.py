"""Functions for one sample that run on floats and on traced expressions: choices, rotations, small linear systems.

Vectors are arrays of shape (3,), rotations (3, 3). No function here branches on data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, overload

import numpy as np

from tasks.kernels import expression
from tasks.kernels.expression import Expression
from tasks.kernels.types import Array, Mask, Scalar, Scalars


def array(values: Any) -> np.ndarray:
    """An array of floats, or of objects where a value is traced."""
    flat = np.asarray(values, dtype=object)
    traced = any(isinstance(x, Expression) for x in flat.ravel())
    return flat if traced else flat.astype(float)


@overload
def where(mask: Expression, x: Scalar, y: Scalar) -> Expression: ...
@overload
def where(mask: Mask, x: Scalar, y: Scalar) -> Scalar: ...
def where(mask: Mask, x: Scalar, y: Scalar) -> Scalar:
    """x where the mask holds, else y."""
    if isinstance(mask, Expression):
        return expression.select(mask, mask.graph.lift(x), mask.graph.lift(y))
    return x if mask else y


def opposite(mask: Mask) -> Mask:
    """Whether the mask does not hold."""
    return ~mask if isinstance(mask, Expression) else not mask


def every(masks: Iterable[Mask]) -> Mask:
    """Whether all masks hold."""
    result: Mask = True
    for mask in masks:
        if isinstance(mask, Expression):
            result = mask & result if isinstance(result, Expression) else mask if result else False
        else:
            result = result if mask else False
    return result


def either(first: Mask, second: Mask) -> Mask:
    """Whether one of two masks holds."""
    return opposite(every([opposite(first), opposite(second)]))


def total(values: Scalars) -> Scalar:
    """Sum of magnitudes; NaN if any is."""
    result: Scalar = 0.0
    for value in values:
        result = result + abs(value)
    return result


def sqrt(x: Scalar) -> Scalar:
    """Square root, NaN below zero."""
    if isinstance(x, Expression):
        return x.sqrt()
    return math.sqrt(x) if x >= 0 else math.nan


def reciprocal(x: Scalar) -> Scalar:
    """1 / x, infinite at zero."""
    if isinstance(x, Expression) or x != 0.0:
        return 1.0 / x
    return math.copysign(math.inf, x)


def dot(a: Array, b: Array) -> Scalar:
    """Scalar product."""
    product: Any = a @ b
    return product


def cross(a: Array, b: Array) -> np.ndarray:
    """Vector product."""
    return array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def plus_cross(start: Array, a: Array, b: Array) -> np.ndarray:
    """The vector `start` plus the vector product, with two fused operations for each element."""
    return array([start[i] + a[j] * b[k] - a[k] * b[j] for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1))])


def from_columns(columns: Sequence[Array] | Sequence[Scalars], rows: int) -> np.ndarray:
    """A matrix (rows, columns) from its columns (rows,) each; `rows` is its height where there is no column."""
    return array(np.stack([array(column) for column in columns], axis=1)) if columns else np.zeros((rows, 0))


def trace_of_product(a: Array, b: Array) -> Scalar:
    """tr(a b^T), without the elements of the product beside its diagonal."""
    return np.sum(a * b)


def rotation(axis: Sequence[float], cos: Scalar, sin: Scalar) -> np.ndarray:
    """Rotation about a coordinate axis given with sign, e.g. (0, -1, 0)."""
    k = int(np.flatnonzero(axis)[0])
    i, j = (k + 1) % 3, (k + 2) % 3
    signed = sin * float(axis[k])
    result = np.array(np.eye(3), dtype=object)
    result[i, i] = result[j, j] = cos
    result[i, j], result[j, i] = -signed, signed
    return array(result)


def turned(cos: Scalar, sin: Scalar, angle: Scalar) -> tuple[Scalar, Scalar]:
    """Turn the unit vector (cos, sin) by an angle that is small or of uncertain size.

    The Cayley map turns by 2 atan(angle / 2): exact to second order, never more than half a turn, and free of sines.
    """
    u = angle * 0.5
    scale = 1.0 / (u * u + 1.0)
    c, s = (1.0 - u * u) * scale, angle * scale
    return cos * c - sin * s, sin * c + cos * s


def inverse(a: Array) -> np.ndarray:
    """Inverse of a square matrix by cofactors up to size 4, above by Householder reflections; no pivoting on data.

    Infinities or NaN where the matrix is singular.
    """
    with np.errstate(invalid="ignore", over="ignore"):  # on floats
        if len(a) > 4:
            return _inverse_by_reflections(array(a))
        cofactors, determinant = adjugate(a)
        return array(cofactors) * reciprocal(determinant)


def adjugate(a: Array) -> tuple[np.ndarray, Scalar]:
    """Adjugate and determinant of a matrix of size 1 to 4, so that inverse = adjugate / determinant."""
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


def is_zero(x: Scalar) -> bool:
    """Whether a number, or a traced constant, is zero; a traced value that is not known yet is not."""
    return (x.value if isinstance(x, Expression) else x) == 0.0


def _minor(a: Array, rows: tuple[int, ...], columns: tuple[int, ...]) -> Scalar:
    if len(rows) == 1:
        return a[rows[0]][columns[0]]
    first, rest = rows[0], rows[1:]
    total: Scalar = 0.0
    for k, column in enumerate(columns):
        term = a[first][column] * _minor(a, rest, columns[:k] + columns[k + 1 :])
        total = total + term if k % 2 == 0 else total - term
    return total


def determinant(a: Array) -> Scalar:
    """Determinant of a square matrix, by the way of `inverse`, with which it shares its operations when traced."""
    if len(a) <= 4:
        return adjugate(a)[1]
    sign = -1.0 if len(a) % 2 == 0 else 1.0  # each of the n - 1 reflections changes it
    return sign * _diagonal_product(_reflected(array(a))[0])


def pseudo_inverse(a: Array) -> np.ndarray:
    """Left inverse (n, m) of a matrix (m, n), m >= n, by Householder reflections, for any m as accurate as `inverse`.

    Infinities or NaN where the matrix lacks rank.
    """
    with np.errstate(invalid="ignore", over="ignore"):  # on floats
        return _inverse_by_reflections(array(a))


def volume(a: Array) -> Scalar:
    """Volume that the columns of a matrix (m, n), m >= n, span, by the way of `pseudo_inverse`."""
    return abs(_diagonal_product(_reflected(array(a))[0]))


def _diagonal_product(a: np.ndarray) -> Scalar:
    result: Scalar = 1.0
    for x in np.diagonal(a):
        result = result * x
    return result


def _reflected(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """R and Q^T of Householder's factorisation; below its diagonal R holds what rounding leaves."""
    m, n = a.shape
    r, qt = np.array(a, dtype=object), np.array(np.eye(m), dtype=object)
    for k in range(min(m - 1, n)):
        x = r[k:, k]
        length = sqrt(sum(v * v for v in x))
        signed = where(x[0] < 0.0, -length, length)
        v = np.array([x[0] + signed, *x[1:]], dtype=object)
        beta = reciprocal(signed * v[0])
        for part in (r, qt):
            part[k:, :] = part[k:, :] - np.outer(v * beta, v @ part[k:, :])
    return r, qt


def _inverse_by_reflections(a: np.ndarray) -> np.ndarray:
    m, n = a.shape
    r, qt = _reflected(a)
    result = np.array(np.zeros((n, m)), dtype=object)
    for i in reversed(range(n)):
        pivot = reciprocal(r[i, i])
        for j in range(m):
            result[i, j] = (qt[i, j] - sum((r[i, k] * result[k, j] for k in range(i + 1, n)), start=0.0)) * pivot
    return array(result)


def singular_values(a: Array, sweeps: int = 6) -> list[Scalar]:
    """Singular values of a matrix (m, n), m >= n, in no order, by one-sided Jacobi rotations."""
    columns = [array(column) for column in np.asarray(a, dtype=object).T]
    for _ in range(sweeps):
        for p in range(len(columns)):
            for q in range(p + 1, len(columns)):
                columns[p], columns[q] = _rotated(columns[p], columns[q])
    return [sqrt(column @ column) for column in columns]


def _rotated(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two columns turned in their plane until they are perpendicular. Golub and Van Loan, section 8.6.3."""
    overlap = x @ y
    skewed = where(abs(overlap) <= 0.0, 1.0, overlap)
    zeta = (y @ y - x @ x) / (2.0 * skewed)
    size = 1.0 / (abs(zeta) + sqrt(1.0 + zeta * zeta))
    tangent = where(abs(overlap) <= 0.0, 0.0, where(zeta < 0.0, -size, size))
    cos = 1.0 / sqrt(1.0 + tangent * tangent)
    sin = cos * tangent
    return x * cos - y * sin, x * sin + y * cos


def iterate(
    step: Callable[[Sequence[Scalar]], tuple[Sequence[Scalar], Mask]],
    initial: Sequence[Scalar],
    limit: int,
    skip: Mask = False,
    newton: bool = True,
) -> Sequence[Scalar]:
    """The state after repeating `step(state) -> (next state, done)` until done, or `limit` times; not at all on `skip`.

    A traced `skip` spares the loop where all samples of a vector have nothing to do in it. `newton`: see
    `tasks.kernels.expression.Loop`; derivatives alone ask for it.
    """
    traced = next((x for x in initial if isinstance(x, Expression)), None)
    if traced is not None:
        passed = skip if isinstance(skip, Expression) else None
        return expression.loop(step, [traced.graph.lift(x) for x in initial], limit, passed, newton)
    state = list(initial)
    for _ in range(0 if skip else limit):
        following, done = step(state)
        state = list(following)
        if done:
            break
    return state
