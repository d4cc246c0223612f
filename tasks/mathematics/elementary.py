"""Elementary functions from +, -, *, /, fused multiply-add and powers of two: the same bits on every processor.

Within 2 units in the last place of the exact value, the hyperbolic tangent within 3; sine and cosine for |x| <= 1e5,
the others for all doubles. NaN stays NaN. On floats the `math` library is used.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import cast

from tasks.kernels.expression import Dual, Expression, fma
from tasks.kernels.types import Scalar
from tasks.mathematics.algebra import where

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
    """Sine and cosine of an angle [rad]."""
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
    """Polynomial with the lowest power first."""
    result: Scalar = coefficients[-1]
    for coefficient in coefficients[-2::-1]:
        result = result * z + coefficient
    return z.graph.lift(result)


def atan2(y: Scalar, x: Scalar) -> Scalar:
    """Angle of the vector (x, y) in [-pi, pi] [rad]."""
    long: Expression
    tall: Expression
    if isinstance(x, Expression):
        long, tall = abs(x), abs(y) if isinstance(y, Expression) else x.graph.lift(abs(y))
    elif isinstance(y, Expression):
        tall, long = abs(y), y.graph.lift(abs(x))
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
    """Exponential; 0 below -745.2, infinite above 709.8."""
    if not isinstance(x, Expression):
        return math.inf if x > math.log(_LARGEST) else math.exp(x)
    if x.value == 0.0:
        return x.graph.constant(1.0)
    more, first, second = _exponential(x)
    return ((more + 1.0) * first) * second


def expm1(x: Scalar) -> Scalar:
    """exp(x) - 1, as accurate near zero; infinite above 709.4."""
    if not isinstance(x, Expression):
        return math.inf if x > math.log(_LARGEST) else math.expm1(x)
    more, first, second = _exponential(x)
    return fma(more * first, second, first * second - 1.0)


def _exponential(x: Expression) -> tuple[Expression, Expression, Expression]:
    """`more`, `first`, `second` with exp(x) = (1 + more) * first * second; one power of two alone might not exist."""
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
    """Natural logarithm; minus infinity at zero, NaN below."""
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
    """x^y for x >= 0 and y > 0, within 2 + 3 |y log(x)| units in the last place; a product for constant y = 1 or 2."""
    if not isinstance(y, Expression) and y in (1.0, 2.0):
        return x if y == 1.0 else x * x
    if not isinstance(x, Expression):
        if not isinstance(y, Expression):
            return math.pow(x, y)
        x = y.graph.lift(x)
    return exp(y * log(x))


def tanh(x: Scalar) -> Scalar:
    """Hyperbolic tangent."""
    if not isinstance(x, Expression):
        return math.tanh(x)
    less = expm1(abs(x) * -2.0)
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
