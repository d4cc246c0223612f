"""The LuGre law for one sample of one joint: bristles of mean deflection z that bend and slip.

Canudas de Wit, Olsson, Astrom and Lischinsky 1995:

    z' = v - sigma0 |v| / g(v) z,    g(v) = load (coulomb + (static - coulomb) exp(-(v / v_s)^2)),
    force = sigma0 z + sigma1 z' + sigma2 v,    in steady motion g(v) sgn(v) + sigma2 v.

Functions are those of `tasks.features.friction.laws.Law`; all take the law's parameters and options by name, on floats
or traced. Asymmetry and temperature scale g and sigma2, so that the force stays continuous where the velocity changes
its sign. Unlike laws without a state, this law may return power, as bristles are springs.
"""

from __future__ import annotations

from tasks.features.friction.sliding import Sliding, scales, scaling, stribeck_magnitude
from tasks.kernels.expression import Scalar
from tasks.mathematics.algebra import expm1, reciprocal, where

INSTANT = 1e12
"""Rate [1/s] above which bristles follow at once; a joint without load has g = 0 and an infinite rate."""


def advance(z: Scalar, before: Sliding, after: Sliding, step: Scalar, **values: Scalar) -> Scalar:
    """Return the deflection [rad or m] after a step [s] with velocity and load linear in time; second order.

    The equation is linear in z, and its linear solution is used. So any step is stable, and z stays between its old
    value and the value of steady motion. A step in which the velocity changes its sign is made in two parts.
    """
    turns = before.velocity * after.velocity < 0.0
    share = where(turns, before.velocity / where(turns, before.velocity - after.velocity, 1.0), 1.0)
    load = where(turns, before.load + (after.load - before.load) * share, after.load)
    between = Sliding(where(turns, 0.0, after.velocity), load)
    z = _advance_one_way(z, before, between, step * share, values)
    return _advance_one_way(z, between, after, step * (1.0 - share), values)


def _advance_one_way(z: Scalar, before: Sliding, after: Sliding, step: Scalar, values: dict[str, Scalar]) -> Scalar:
    """Integrate z' = a (z_s - z), z_s linear in time, a at its mean: weights of z, old z_s, new z_s sum to one."""
    direction = before.velocity + after.velocity
    rates, steady = [], []
    for sliding in (before, after):
        yielding = _yield_force(direction, sliding, values)
        rates.append(_relaxation(sliding, yielding, values["sigma0"]))
        steady.append(where(direction < 0.0, -yielding, yielding) / values["sigma0"])
    way = step * ((rates[0] + rates[1]) * 0.5)
    less = expm1(-way)
    moving = way > 0.0
    mean = where(moving, -less / where(moving, way, 1.0), 1.0)  # of exp(-a t) over the step
    return steady[1] * (1.0 - mean) + steady[0] * (mean - (less + 1.0)) + z * (less + 1.0)


def force(z: Scalar, velocity: Scalar, load: Scalar, **values: Scalar) -> Scalar:
    """Return the force against positive motion."""
    options, _ = scaling(values)
    _, viscous_scale = scales(velocity, load, **options)
    bristles = values["sigma0"] * z + values["sigma1"] * rate(z, velocity, load, **values)
    return bristles + values["sigma2"] * viscous_scale * velocity


def rate(z: Scalar, velocity: Scalar, load: Scalar, **values: Scalar) -> Scalar:
    """Return z', for integrators in time. Stiff: its own rate is sigma0 |v| / g, up to `INSTANT`."""
    sliding = Sliding(velocity, load)
    return velocity - _relaxation(sliding, _yield_force(velocity, sliding, values), values["sigma0"]) * z


def _yield_force(direction: Scalar, sliding: Sliding, values: dict[str, Scalar]) -> Scalar:
    """Return g, for motion in a direction."""
    options, parameters = scaling(values)
    dry_scale, _ = scales(direction, sliding.load, **options)
    return dry_scale * stribeck_magnitude(
        sliding.velocity, parameters["coulomb"], parameters["static"], parameters["stribeck_velocity"]
    )


def _relaxation(sliding: Sliding, yielding: Scalar, sigma0: Scalar) -> Scalar:
    quick = sigma0 * abs(sliding.velocity) * reciprocal(yielding)
    return where(quick < INSTANT, quick, INSTANT)
