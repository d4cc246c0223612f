"""Friction laws without a state, for one sample of one joint: force against the motion from velocity and normal load.

Every law of `LAWS` is `law(velocity, load, **parameters)`, on floats or traced; names, units and options of parameters
are in `robots.friction`. Positive results oppose positive velocity: an actuator has to add them, and force * velocity,
the power that is lost, is never negative. `load` multiplies dry friction, not viscous friction: 1 where the parameters
are forces, else the joint's normal torque or force. At rest, motion does not determine the friction of a law with a
sharp sign; it is given as zero, its value for sgn(0) = 0. Laws with a state are in `tasks.friction.states`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import NamedTuple

from robots import friction as data
from robots.parameters import nearest
from tasks.kernels.types import Scalar
from tasks.mathematics.algebra import is_zero, where
from tasks.mathematics.elementary import exp, power, tanh

Directed = Callable[[Scalar], Scalar]
"""A magnitude with the sign of the velocity."""
Parts = tuple[Scalar, Scalar]
"""Dry friction at load 1, viscous friction."""


class Sliding(NamedTuple):
    """How a joint slides at one instant: velocity [rad/s or m/s] and normal load."""

    velocity: Scalar
    load: Scalar


def none(velocity: Scalar, directed: Directed) -> Parts:
    """No friction."""
    return velocity * 0.0, 0.0


def viscous(velocity: Scalar, directed: Directed, viscous: Scalar) -> Parts:
    """Eq. (41) of the joint friction paper."""
    return 0.0, viscous * velocity


def coulomb_viscous(
    velocity: Scalar, directed: Directed, coulomb: Scalar, viscous: Scalar, starting: Scalar = 0.0
) -> Parts:
    """Eq. (42) of the joint friction paper; `starting` is about rest, see `tasks.friction.forward`."""
    return directed(coulomb), viscous * velocity


def stribeck(
    velocity: Scalar,
    directed: Directed,
    coulomb: Scalar,
    static: Scalar,
    viscous: Scalar,
    stribeck_velocity: Scalar,
    shape: Scalar = 2.0,
) -> Parts:
    """Eq. (52) of the joint friction paper, there with shape 2."""
    return directed(stribeck_magnitude(velocity, coulomb, static, stribeck_velocity, shape)), viscous * velocity


def stribeck_magnitude(
    velocity: Scalar, coulomb: Scalar, static: Scalar, stribeck_velocity: Scalar, shape: Scalar = 2.0
) -> Scalar:
    """Dry friction of Bo and Pavelescu without its sign: from static at rest to coulomb."""
    return coulomb + (static - coulomb) * exp(-power(abs(velocity) / stribeck_velocity, shape))


def brown_mcphee(
    velocity: Scalar, directed: Directed, dynamic: Scalar, static: Scalar, viscous: Scalar, transition_velocity: Scalar
) -> Parts:
    """Brown and McPhee 2016; their viscous factor for small loads is the option `transition_load`."""
    v = velocity / transition_velocity
    bump = v * v * 0.25 + 0.75  # v / bump^2 has its maximum, 1, at v = 1
    return dynamic * tanh(v * 4.0) + (static - dynamic) * (v / (bump * bump)), viscous * velocity


def sign(velocity: Scalar, width: Scalar = 0.0) -> Directed:
    """What gives a magnitude the sign of the velocity: sgn with sgn(0) = 0, or tanh(velocity / width)."""

    def sharp(magnitude: Scalar) -> Scalar:
        return where(velocity > 0.0, magnitude, where(velocity < 0.0, -magnitude, 0.0))

    return sharp if is_zero(width) else lambda magnitude: magnitude * _saturated(velocity, width, sharp(1.0))


def scales(
    velocity: Scalar,
    load: Scalar,
    *,
    negative: Scalar = 1.0,
    temperature: Scalar = 0.0,
    coulomb_temperature: Scalar = 0.0,
    viscous_temperature: Scalar = 0.0,
    transition_load: Scalar = 0.0,
) -> Parts:
    """Factors of dry and of viscous friction: load, direction, temperature. Declared here, but for `transition_load`.

    Dry friction is linear in temperature, and never negative; viscous friction exponential, as the viscosity of oil is
    over some ten kelvin.
    """
    side = where(velocity < 0.0, negative, 1.0)
    linear = coulomb_temperature * temperature + 1.0
    dry = (linear + abs(linear)) * 0.5
    arriving = _saturated(load * 4.0, transition_load, 1.0)
    return side * (load * dry), side * (exp(viscous_temperature * temperature) * arriving)


def _saturated(x: Scalar, scale: Scalar, sharp: Scalar) -> Scalar:
    """tanh(x / scale), or `sharp` where the scale is zero."""
    if is_zero(scale):
        return sharp
    smooth = scale > 0.0
    return where(smooth, tanh(x / where(smooth, scale, 1.0)), sharp)


_SCALES = frozenset(("negative", "temperature", "coulomb_temperature", "viscous_temperature", "transition_load"))


def scaling(values: Mapping[str, Scalar]) -> tuple[dict[str, Scalar], dict[str, Scalar]]:
    """The `values` that `scales` takes, and the others."""
    return {k: v for k, v in values.items() if k in _SCALES}, {k: v for k, v in values.items() if k not in _SCALES}


def _evaluate(
    parts: Callable[..., Parts], velocity: Scalar, load: Scalar, *, width: Scalar = 0.0, **values: Scalar
) -> Scalar:
    options, own = scaling(values)
    dry, viscous = parts(velocity, sign(velocity, width), **own)
    dry_scale, viscous_scale = scales(velocity, load, **options)
    return dry * dry_scale + viscous * viscous_scale


LAWS: Mapping[str, Callable[..., Scalar]] = {
    parts.__name__: functools.partial(_evaluate, parts)
    for parts in (none, viscous, coulomb_viscous, stribeck, brown_mcphee)
}


def force(law: str, velocity: Scalar, load: Scalar, values: Mapping[str, Scalar]) -> Scalar:
    """Force of the law of that name with the `values` of its parameters, and of those options that are wanted.

    Raises ValueError for a name that is not in `LAWS`.
    """
    if law not in LAWS:
        told = "has a state: see tasks.friction.states" if law in data.LAWS else nearest(law, LAWS)
        raise ValueError(f"friction law: got {law!r}; expected a law without a state; {told}")
    return LAWS[law](velocity, load, **values)


def columns(law: str, velocity: Scalar, load: Scalar, values: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """What each parameter in which a law is linear (`FrictionLaw.linear`) has as its factor in the force.

    `values` of the others count, such as the velocity of the Stribeck effect. Raises ValueError as `force`.
    """
    linear = [each.name for each in data.LAWS[law].linear]
    off = {**values, **dict.fromkeys(linear, 0.0)}
    return {name: force(law, velocity, load, {**off, name: 1.0}) for name in linear}
