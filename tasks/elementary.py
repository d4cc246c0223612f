"""Sine, cosine and arc tangent from +, -, *, / and fused multiply-add: the same bits on every processor.

Within 2 units in the last place of the exact value; sine and cosine for |x| <= 1e5. On floats the `math` library is
used.
"""

from __future__ import annotations

import math
from typing import Any

from tasks.algebra import where
from tasks.kernels.expression import Expression, fma

Scalar = Any

# pi/2 in parts of 35, 35 and 53 bits: products with a quarter-turn count below 2^17 are exact
_PARTS = (1.5707963267923333, 2.5633441515839558e-12, 1.0562999066987428e-23)
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
    result: Any = coefficients[-1]
    for coefficient in coefficients[-2::-1]:
        result = result * z + coefficient
    return result


def atan2(y: Scalar, x: Scalar) -> Scalar:
    """Angle of the vector (x, y) in [-pi, pi] [rad]."""
    if not isinstance(y, Expression) and not isinstance(x, Expression):
        return math.atan2(y, x)
    long = abs(x) if isinstance(x, Expression) else abs(y).graph.lift(abs(x))
    tall = abs(y) if isinstance(y, Expression) else long.graph.lift(abs(y))
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


Expression.functions |= {"sin": lambda x: sincos(x)[0], "cos": lambda x: sincos(x)[1]}
