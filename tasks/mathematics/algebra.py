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
from typing import Any, cast, overload

import numpy as np

from tasks.kernels import expression
from tasks.kernels.expression import Array, Dual, Expression, Mask, Scalar, Scalars, fma, size_in_odd


def array(values: Any) -> np.ndarray:
    """Return an array of floats, or of objects where a value is traced."""
    flat = np.asarray(values)
    if flat.dtype != object:
        return flat.astype(float)
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


def product(matrix: Array, vector: Array) -> Array:
    """Return a matrix times a vector, without the terms that zeros of the vector leave out."""
    places = [k for k, x in enumerate(vector) if not is_zero(x)]
    return matrix[:, places] @ vector[places] if places else np.zeros(len(matrix))


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


def turned(cos: Scalar, sin: Scalar, half: Scalar, *, short: bool = False) -> tuple[Scalar, Scalar]:
    """Turn the unit vector (cos, sin) by twice `half`, an angle that is small or of uncertain size.

    The Cayley map turns by 2 atan(half): exact to second order, never more than half a turn, and free of sines. A
    `short` turn, of half a radian at most, needs no division, which would keep a processor as long as thirty products.
    A change is added to the vector, so that small turns have small rounding errors, and many turns keep its length.
    """
    chord: Scalar
    square = half * half
    if short and isinstance(square, Expression):
        guess = _horner(_SHORT, square)
        left = 1.0 - (square * 0.5 + 0.5) * guess
        first = half * guess
        chord = first + first * (left + left * left)  # a step of third order
    else:
        chord = (half * 2.0) / (square + 1.0)
    return cos - chord * (sin + half * cos), sin + chord * (cos - half * sin)


def is_zero(x: Scalar) -> bool:
    """Return whether a number, or a traced constant, is zero. False for a traced value that is not known yet."""
    return (x.value if isinstance(x, Expression) else x) == 0.0


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
