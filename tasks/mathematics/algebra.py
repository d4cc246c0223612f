"""Functions for one sample that run on floats and on traced expressions: choices, rotations, small linear systems.

Vectors are arrays of shape (3,), rotations (3, 3). No function here branches on data.

Elementary functions are made of +, -, *, /, fused multiply-add and powers of two: the same bits on every processor.
They are within 2 units in the last place of the exact value, the hyperbolic tangent within 3; sine and cosine for
|x| <= 1e5, the others for all doubles. NaN stays NaN. On floats the `math` library is used.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import Any, cast, overload

import numpy as np

from tasks.kernels import expression
from tasks.kernels.expression import Array, Dual, Expression, Mask, Scalar, Scalars, fma, size_in_odd


def array(values: Any) -> np.ndarray:
    """Return an array of floats, or of objects where a value is traced."""
    flat = np.asarray(values, dtype=object)
    traced = Expression in map(type, flat.ravel().tolist())
    return flat if traced else flat.astype(float)


@overload
def where(mask: Expression, x: Scalar, y: Scalar) -> Expression: ...
@overload
def where(mask: Mask, x: Scalar, y: Scalar) -> Scalar: ...
def where(mask: Mask, x: Scalar, y: Scalar) -> Scalar:
    """Return x where the mask is true, else y."""
    mask = _folded(mask)
    if isinstance(mask, Expression):
        return expression.select(mask, mask.graph.lift(x), mask.graph.lift(y))
    return x if mask else y


def _folded(mask: Mask) -> Mask:
    """Return the truth value of a comparison of constants with the same result in single precision, else the mask."""
    if not isinstance(mask, Expression) or mask.op not in ("lt", "le"):
        return mask
    first, second = (argument.value for argument in mask.args)
    if first is None or second is None or isinstance(first, Dual) or isinstance(second, Dual):
        return mask
    compared = operator.lt if mask.op == "lt" else operator.le
    truth = compared(first, second)
    return truth if truth == bool(compared(np.float32(first), np.float32(second))) else mask


def opposite(mask: Mask) -> Mask:
    """Return whether the mask does not hold."""
    return ~mask if isinstance(mask, Expression) else not mask


def every(masks: Iterable[Mask]) -> Mask:
    """Return whether all masks hold."""
    result: Mask = True
    for mask in map(_folded, masks):
        if isinstance(mask, Expression):
            result = mask & result if isinstance(result, Expression) else mask if result else False
        else:
            result = result if mask else False
    return result


def either(first: Mask, second: Mask) -> Mask:
    """Return whether at least one of two masks holds."""
    first, second = _folded(first), _folded(second)
    if isinstance(first, Expression) and isinstance(second, Expression):
        return first | second
    return opposite(every([opposite(first), opposite(second)]))


def total(values: Scalars) -> Scalar:
    """Return the sum of magnitudes; NaN if any is."""
    result: Scalar = 0.0
    for value in values:
        result = result + abs(value)
    return result


def largest(values: Iterable[Scalar]) -> Scalar:
    """Return the largest magnitude; zero of none."""
    return greatest([abs(value) for value in values] or [0.0])


def greatest(values: Sequence[Scalar]) -> Scalar:
    """Return the greatest of some numbers."""
    result = values[0]
    for value in values[1:]:
        result = where(value > result, value, result)
    return result


def sqrt(x: Scalar) -> Scalar:
    """Return the square root, NaN for negative numbers."""
    if isinstance(x, Expression):
        return x.sqrt()
    return math.sqrt(x) if x >= 0 else math.nan


def reciprocal(x: Scalar) -> Scalar:
    """Return 1 / x, infinite at zero."""
    if isinstance(x, Expression) or x != 0.0:
        return 1.0 / x
    return math.copysign(math.inf, x)


def dot(a: Array, b: Array) -> Scalar:
    """Return the scalar product."""
    product: Any = a @ b
    return product


def cross(a: Array, b: Array) -> np.ndarray:
    """Return the vector product."""
    return array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def plus_cross(start: Array, a: Array, b: Array) -> np.ndarray:
    """Return `start` plus the vector product, with two fused operations for each element."""
    return array([start[i] + a[j] * b[k] - a[k] * b[j] for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1))])


def from_columns(columns: Sequence[Array] | Sequence[Scalars], rows: int) -> np.ndarray:
    """Return a matrix (rows, columns) from its columns (rows,) each; `rows` is its height where there is no column."""
    return array(np.stack([array(column) for column in columns], axis=1)) if columns else np.zeros((rows, 0))


def trace_of_product(a: Array, b: Array) -> Scalar:
    """Return tr(a b^T), without computing the off-diagonal elements of the product."""
    return np.sum(a * b)


def rotation(axis: Sequence[float], cos: Scalar, sin: Scalar) -> np.ndarray:
    """Return the rotation about a signed coordinate axis, e.g. (0, -1, 0)."""
    k = int(np.flatnonzero(axis)[0])
    i, j = (k + 1) % 3, (k + 2) % 3
    signed = sin * float(axis[k])
    result = np.array(np.eye(3), dtype=object)
    result[i, i] = result[j, j] = cos
    result[i, j], result[j, i] = -signed, signed
    return array(result)


_SHORT = (2.0, -2.0, 2.0, -1.89)
"""Polynomial in x within 2.4e-6 of 2 / (1 + x) for x up to 1/16, exact at zero."""


def turned(cos: Scalar, sin: Scalar, angle: Scalar, *, short: bool = False) -> tuple[Scalar, Scalar]:
    """Turn the unit vector (cos, sin) by an angle that is small or of uncertain size.

    The Cayley map turns by 2 atan(angle / 2): exact to second order, never more than half a turn, and free of sines. A
    `short` turn, of half a radian at most, needs no division, which would keep a processor as long as thirty products.
    """
    twice: Scalar
    u = angle * 0.5
    square = u * u
    if short and isinstance(square, Expression):
        guess = _horner(_SHORT, square)
        left = 1.0 - (square * 0.5 + 0.5) * guess
        twice = guess + guess * (left + left * left)  # a step of third order
    else:
        twice = 2.0 / (square + 1.0)
    return twice * (cos - u * sin) - cos, twice * (sin + u * cos) - sin


def inverse(a: Array) -> np.ndarray:
    """Return a square matrix's inverse by cofactors up to size 4, else by Householder reflections; no pivoting on data.

    Infinities or NaN where the matrix is singular.
    """
    with np.errstate(invalid="ignore", over="ignore"):  # on floats
        if len(a) > 4:
            return _by_reflections(array(a), np.eye(len(a)))
        cofactors, determinant = adjugate(a)
        return array(cofactors) * reciprocal(determinant)


def solution(a: Array, b: Array) -> tuple[np.ndarray, Scalar]:
    """Return x and d where x / d solves A x = b, or has the least squares of A x - b where there are more rows.

    It takes fewer operations than a product with `inverse`, if that has no other use. By cofactors, d is the
    determinant, so that a caller who divides anyway can do it once; otherwise it is 1.
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


def is_zero(x: Scalar) -> bool:
    """Return whether a number, or a traced constant, is zero. False for a traced value that is not known yet."""
    return (x.value if isinstance(x, Expression) else x) == 0.0


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


def iterate(
    step: Callable[[Sequence[Scalar]], tuple[Sequence[Scalar], Mask]],
    initial: Sequence[Scalar],
    limit: int,
    skip: Mask = False,
    newton: bool = True,
) -> Sequence[Scalar]:
    """Repeat `step(state) -> (next state, done)` until done, or `limit` times; not at all if `skip`. Return the state.

    With a traced `skip`, the loop is left out where all samples of a vector skip it. `newton`: see
    `tasks.kernels.expression.Loop`; only derivatives use it.
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


# pi/2 in parts of 35, 35 and 53 bits: products with a quarter-turn count below 2^17 are exact; in single precision of
# 9, 11 and 24 bits
_PARTS = (
    Dual(1.5707963267923333, 1.5703125),
    Dual(2.5633441515839558e-12, 4.837512969970703125e-4),
    Dual(1.0562999066987428e-23, 7.5497899548918821575e-8),
)
# minimax on [-pi/4, pi/4]; coefficients of Sun's fdlibm, k_sin.c and k_cos.c
_SIN = (-1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
        2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10)  # fmt: skip
_COS = (4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
        -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11)  # fmt: skip
# rational approximation of (atan(x) - x) / x^3 on |x| <= tan(pi/8); coefficients of Moshier's Cephes, atan.c
_ATAN_P = (-8.750608600031904122785e-1, -1.615753718733365076637e1, -7.500855792314704667340e1,
           -1.228866684490136173410e2, -6.485021904942025371773e1)  # fmt: skip
_ATAN_Q = (1.0, 2.485846490142306297962e1, 1.650270098316988542046e2, 4.328810604912902668951e2,
           4.853903996359136964868e2, 1.945506571482613964425e2)  # fmt: skip
# rational approximation of the exponential on |x| <= ln(2)/2, and of the logarithm of (1 + s)/(1 - s); coefficients of
# Sun's fdlibm, e_exp.c and e_log.c
_EXP = (1.66666666666666019037e-01, -2.77777777770155933842e-03, 6.61375632143793436117e-05,
        -1.65339022054652515390e-06, 4.13813679705723846039e-08)  # fmt: skip
_LOG = (6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01,
        1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01)  # fmt: skip
_LN2, _LN2_TAIL = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # the first has 21 zeros at its end
_UNDERFLOW, _OVERFLOW = Dual(-746.0, -104.0), Dual(710.0, 89.0)  # beyond them the exponential is 0 and infinite
_SMALL, _LARGEST = Dual(2.0**-900, 2.0**-100), Dual(1.7976931348623157e308, 3.4028234663852886e38)
_HALF_PI_TAIL = 6.123233995736765886130e-17
_TAN_EIGHTH = math.sqrt(2.0) - 1.0


def sincos(x: Scalar) -> tuple[Scalar, Scalar]:
    """Return the sine and cosine of an angle [rad]."""
    if not isinstance(x, Expression):
        return math.sin(x), math.cos(x)
    lift = x.graph.lift
    turns = (x * (2.0 / math.pi)).rint()
    r = x
    for part in _PARTS:
        r = fma(-turns, lift(part), r)
    z = r * r
    sine = r + (r * z) * _horner(_SIN, z)
    half = z * 0.5
    w = 1.0 - half
    cosine = w + (((1.0 - w) - half) + (z * z) * _horner(_COS, z))
    quarter = turns - (turns * 0.25).floor() * 4.0
    odd = (quarter - (quarter * 0.5).floor() * 2.0) > 0.5
    s, c = where(odd, cosine, sine), where(odd, sine, cosine)
    return where(quarter > 1.5, -s, s), where((quarter > 0.5) & (quarter < 2.5), -c, c)


def _horner(coefficients: tuple[float, ...], z: Expression) -> Expression:
    """Return the value of a polynomial, with the lowest power first."""
    result: Scalar = coefficients[-1]
    for coefficient in coefficients[-2::-1]:
        result = result * z + coefficient
    return z.graph.lift(result)


def atan2(y: Scalar, x: Scalar) -> Scalar:
    """Return the angle of the vector (x, y) in [-pi, pi] [rad]."""
    long: Expression
    tall: Expression
    if isinstance(x, Expression):
        long, tall = size_in_odd(x), size_in_odd(y) if isinstance(y, Expression) else x.graph.lift(abs(y))
    elif isinstance(y, Expression):
        tall, long = size_in_odd(y), y.graph.lift(abs(x))
    else:
        return math.atan2(y, x)
    steep = tall > long
    a, b = where(steep, long, tall), where(steep, tall, long)  # 0 <= a <= b
    wide = a > b * _TAN_EIGHTH  # atan(a/b) = pi/4 + atan((a - b)/(a + b))
    t = where(wide, a - b, a) / where(wide, a + b, b)
    z = t * t
    tail = (z * _horner(_ATAN_P[::-1], z)) / _horner(_ATAN_Q[::-1], z)
    base = t + t * tail
    small = where(wide, math.pi / 4 + (base + _HALF_PI_TAIL * 0.5), base)
    first = where(steep, math.pi / 2 - (small - _HALF_PI_TAIL), small)
    second = where(x < 0.0, math.pi - (first - 2.0 * _HALF_PI_TAIL), first)
    angle = where(b <= 0.0, 0.0, second)
    return where(y < 0.0, -angle, angle)


def exp(x: Scalar) -> Scalar:
    """Return the exponential; 0 below -745.2, infinite above 709.8."""
    if not isinstance(x, Expression):
        return math.inf if x > math.log(_LARGEST) else math.exp(x)
    if x.value == 0.0:
        return x.graph.constant(1.0)
    more, first, second = _exponential(x)
    return ((more + 1.0) * first) * second


def expm1(x: Scalar) -> Scalar:
    """Return exp(x) - 1, accurate near zero too; infinite above 709.4."""
    if not isinstance(x, Expression):
        return math.inf if x > math.log(_LARGEST) else math.expm1(x)
    more, first, second = _exponential(x)
    return fma(more * first, second, first * second - 1.0)


def _exponential(x: Expression) -> tuple[Expression, Expression, Expression]:
    """Return `more`, `first`, `second`, exp(x) = (1 + more) * first * second; one power of two alone may not exist."""
    x = where(x > _OVERFLOW, _OVERFLOW, where(x < _UNDERFLOW, _UNDERFLOW, x))
    turns = (x * (1.0 / math.log(2.0))).rint()
    high, low = fma(-turns, x.graph.lift(_LN2), x), turns * _LN2_TAIL
    r = high - low
    z = r * r
    c = r - z * _horner(_EXP, z)
    more = high - (low - (r * c) / (2.0 - c))
    half = (turns * 0.5).floor()
    return more, half.power_of_two(), (turns - half).power_of_two()


def log(x: Scalar) -> Scalar:
    """Return the natural logarithm; minus infinity at zero, NaN for negative numbers."""
    if not isinstance(x, Expression):
        return math.log(x) if x > 0.0 else -math.inf if x == 0.0 else math.nan
    small = x < _SMALL  # some have no exponent of their own, and a factor may have none
    y = where(small, x * 2.0**54, x)
    power = y.exponent()
    m = (y * 0.5) * (1.0 - power).power_of_two()
    high = m > math.sqrt(2.0)
    m, power = where(high, m * 0.5, m), where(high, power + 1.0, power) - where(small, 54.0, 0.0)
    f = m - 1.0
    s = f / (f + 2.0)
    half = f * f * 0.5
    z = s * s
    value = power * _LN2 - ((half - (s * (half + z * _horner(_LOG, z)) + power * _LN2_TAIL)) - f)
    return where(x <= 0.0, where(x < 0.0, math.nan, -math.inf), where(x <= _LARGEST, value, x))


def power(x: Scalar, y: Scalar) -> Scalar:
    """Return x^y for x >= 0, y > 0, within 2 + 3 |y log(x)| units in the last place; a product for y = 1 or 2."""
    if not isinstance(y, Expression) and y in (1.0, 2.0):
        return x if y == 1.0 else x * x
    if not isinstance(x, Expression):
        if not isinstance(y, Expression):
            return math.pow(x, y)
        x = y.graph.lift(x)
    return exp(y * log(x))


def tanh(x: Scalar) -> Scalar:
    """Return the hyperbolic tangent."""
    if not isinstance(x, Expression):
        return math.tanh(x)
    less = expm1(size_in_odd(x) * -2.0)
    size = -less / (less + 2.0)
    return where(x < 0.0, -size, size)


_OF_SYMBOLS: dict[str, Callable[[Expression], Scalar]] = {
    "sin": lambda x: sincos(x)[0],
    "cos": lambda x: sincos(x)[1],
    "exp": exp,
    "expm1": expm1,
    "log": log,
    "tanh": tanh,
}
Expression.functions |= cast(dict[str, Callable[[Expression], Expression]], _OF_SYMBOLS)  # a symbol gives a symbol
Expression.of_two["arctan2"] = cast(Callable[[Expression, float | Expression], Expression], atan2)


def skew(v: Array) -> np.ndarray:
    """Return the matrix (3, 3) whose product with a vector is the vector product with it."""
    return array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
