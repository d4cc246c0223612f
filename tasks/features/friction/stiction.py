"""Stribeck friction with separate starting friction, for one sample of one joint: a curve out of rest, another into it.

The state is 1 from rest on until the joint has broken away, then 0:

- at rest, that is at or below the stick velocity (Karnopp 1985), the state is 1;
- a joint breaks away where the applied force exceeds static * load, and then follows the Stribeck curve that starts
  from `static`; beyond `BROKEN_AWAY` Stribeck velocities, where static friction has vanished, the state is 0;
- after that it follows the curve that ends at `kinetic` for zero speed, until it comes to rest or reverses. The
  difference of the two curves is the hysteresis.

Along a given motion friction at rest is not determined: any value up to static * load is possible. `force` gives zero
for zero velocity, like laws without a state; `balance` gives the friction that balances a known applied force.
Functions are the functions of `tasks.features.friction.laws.Law`; all take the law's parameters and options by name, on
floats or traced.
"""

from __future__ import annotations

from tasks.features.friction.sliding import ONSET, Sliding, scales, scaling, sign, stribeck_magnitude
from tasks.kernels.expression import Scalar
from tasks.mathematics.algebra import where

BROKEN_AWAY = 3.0
"""Number of Stribeck velocities after which a joint has broken away: exp(-9), or 0.0001, of the excess remains."""


def advance(stuck: Scalar, before: Sliding, after: Sliding, step: Scalar, **values: Scalar) -> Scalar:
    """Return the state after a step, whose length does not matter."""
    speed = abs(after.velocity)
    turned = where(before.velocity * after.velocity < 0.0, 1.0, stuck)
    fast = where(speed >= values["stribeck_velocity"] * BROKEN_AWAY, 0.0, turned)
    return where(speed <= values["stick_velocity"], 1.0, fast)


def force(stuck: Scalar, velocity: Scalar, load: Scalar, **values: Scalar) -> Scalar:
    """Return the force against positive motion; zero at zero velocity."""
    options, parameters = scaling(values)
    dry_scale, viscous_scale = scales(velocity, load, **options)
    start = where(stuck > 0.5, parameters["static"], parameters["kinetic"])
    magnitude = stribeck_magnitude(velocity, parameters["coulomb"], start, parameters["stribeck_velocity"])
    return sign(velocity)(magnitude) * dry_scale + parameters["viscous"] * viscous_scale * velocity


def breakaway(side: float, load: Scalar, **values: Scalar) -> Scalar:
    """Return the largest friction of a joint at rest against motion to a side, 1 or -1: static * load."""
    return force(1.0, side * ONSET, load, **values) * side


def switched(stuck: Scalar, velocity: Scalar, held: Scalar, **values: Scalar) -> Scalar:
    """Return the state in forward dynamics after a joint has reached a velocity: 1 if held, 0 past breaking away."""
    fast = values["stribeck_velocity"] * BROKEN_AWAY
    return where(held > 0.5, 1.0, where(abs(velocity) >= fast, 0.0, stuck))


def balance(stuck: Scalar, velocity: Scalar, applied: Scalar, load: Scalar, **values: Scalar) -> Scalar:
    """Return the friction under a known joint force: at rest equal to it, up to static * load; moving as `force`.

    A time integrator takes velocities up to the stick velocity as rest, as Karnopp does.
    """
    options, parameters = scaling(values)
    most = scales(applied, load, **options)[0] * parameters["static"]
    held = where(applied > most, most, where(applied < -most, -most, applied))
    return where(abs(velocity) <= parameters["stick_velocity"], held, force(stuck, velocity, load, **values))
