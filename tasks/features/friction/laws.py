"""Friction laws for one sample of one joint: a row of mathematics for each in `robots.friction.laws.LAWS`.

A row has functions on floats or traced, called with the law's parameters and options by name. Positive forces oppose
positive velocity: an actuator has to add them, and force * velocity, the power that is lost, is never negative in a law
without a state. `load` multiplies dry friction, not viscous friction: 1 where the parameters are forces, else the
joint's normal torque or force. At rest, motion does not determine the friction of a law with a sharp sign; it is
returned as zero, its value for sgn(0) = 0. The largest friction at rest is `Law.breakaway`. All other functions derive
from the rows: along given motions `tasks.features.friction.history`, in forward dynamics
`tasks.features.friction.joints`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping

from robots.data_classes import dataclass
from robots.friction import laws as data
from robots.parameter_errors import nearest
from tasks.features.friction import lugre, stiction
from tasks.features.friction.sliding import ONSET, Directed, Parts, scales, scaling, sign, stribeck_magnitude
from tasks.kernels.expression import Scalar
from tasks.mathematics.algebra import tanh, where


@dataclass(frozen=True)
class Law:
    """The mathematics of a friction law; its functions take the values of parameters by name.

    `force(state, velocity, load)`: force against positive motion; laws without a state ignore `state`.

    `breakaway(side, load)`: the largest magnitude of friction at rest against motion to a `side`, 1 or -1; absent: the
    force at the onset of that motion. Only joints of a law that `sticks` have friction at rest.

    `advance(state, before, after, step)`: the state after a step [s] between two instants, each a `Sliding`, along a
    given motion. Forward dynamics uses one of two other functions: `rate(state, velocity, load)`, the time derivative
    of a state that is integrated; `switched(state, velocity, stuck)`, the new value of a state that only events change,
    at this velocity, `stuck` (1) or not (0).
    """

    force: Callable[..., Scalar]
    breakaway: Callable[..., Scalar] | None = None
    advance: Callable[..., Scalar] | None = None
    rate: Callable[..., Scalar] | None = None
    switched: Callable[..., Scalar] | None = None


# --- laws without a state: dry friction at load 1, and viscous friction ---------------------------------------------


def none(velocity: Scalar, directed: Directed) -> Parts:
    """Return zero friction."""
    return velocity * 0.0, 0.0


def viscous(velocity: Scalar, directed: Directed, viscous: Scalar) -> Parts:
    """Return viscous friction, Eq. (41) of the joint friction paper."""
    return 0.0, viscous * velocity


def coulomb_viscous(
    velocity: Scalar, directed: Directed, coulomb: Scalar, viscous: Scalar, starting: Scalar = 0.0
) -> Parts:
    """Return Coulomb and viscous friction, Eq. (42) of the joint friction paper; `starting`: `coulomb_breakaway`."""
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
    """Return Stribeck friction, Eq. (52) of the joint friction paper, there with shape 2."""
    return directed(stribeck_magnitude(velocity, coulomb, static, stribeck_velocity, shape)), viscous * velocity


def brown_mcphee(
    velocity: Scalar, directed: Directed, dynamic: Scalar, static: Scalar, viscous: Scalar, transition_velocity: Scalar
) -> Parts:
    """Return friction by Brown and McPhee 2016; their viscous factor for small loads: option `transition_load`."""
    v = velocity / transition_velocity
    bump = v * v * 0.25 + 0.75  # v / bump^2 has its maximum, 1, at v = 1
    return dynamic * tanh(v * 4.0) + (static - dynamic) * (v / (bump * bump)), viscous * velocity


def curve(parts: Callable[..., Parts], breakaway: Callable[..., Scalar] | None = None) -> Law:
    """Return the law whose force follows from the present velocity: its parts, with the effects of all options."""

    def force(_: Scalar, velocity: Scalar, load: Scalar, *, width: Scalar = 0.0, **values: Scalar) -> Scalar:
        options, parameters = scaling(values)
        dry, fluid = parts(velocity, sign(velocity, width), **parameters)
        dry_scale, fluid_scale = scales(velocity, load, **options)
        return dry * dry_scale + fluid * fluid_scale

    return Law(force, breakaway)


def coulomb_breakaway(side: float, load: Scalar, **values: Scalar) -> Scalar:
    """Return Coulomb friction, or `starting` if that is larger; industrial manipulators paper, Eq. (17)."""
    force = functools.partial(curve(coulomb_viscous).force, 0.0, side * ONSET, load)
    sliding = force(**values) * side
    if "starting" not in values:
        return sliding
    starting = force(**values | {"coulomb": values["starting"]}) * side
    return where(starting > sliding, starting, sliding)


# --- all laws ---------------------------------------------------------------------------------------------------------

LAWS: Mapping[str, Law] = {
    "none": curve(none),
    "viscous": curve(viscous),
    "coulomb_viscous": curve(coulomb_viscous, coulomb_breakaway),
    "stribeck": curve(stribeck),
    "brown_mcphee": curve(brown_mcphee),
    "stiction": Law(stiction.force, stiction.breakaway, stiction.advance, switched=stiction.switched),
    "lugre": Law(lugre.force, advance=lugre.advance, rate=lugre.rate),
}


def force(law: str, velocity: Scalar, load: Scalar, values: Mapping[str, Scalar]) -> Scalar:
    """Return the force of the law of this name, which has no state, with the `values` of parameters and options.

    Raises ValueError for any other name.
    """
    if law not in data.CURVES:
        hint = "has a state: see tasks.features.friction.history" if law in data.LAWS else nearest(law, data.CURVES)
        raise ValueError(f"friction law: got {law!r}; expected a law without a state; {hint}")
    return LAWS[law].force(0.0, velocity, load, **values)


def breakaway(law: str, side: float, load: Scalar, values: Mapping[str, Scalar]) -> Scalar:
    """Return the largest magnitude with which a joint at rest holds against motion to a `side`, 1 or -1."""
    row = LAWS[law]
    if row.breakaway is not None:
        return row.breakaway(side, load, **values)
    return row.force(0.0, side * ONSET, load, **values) * side


def columns(law: str, velocity: Scalar, load: Scalar, values: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """Return the factor in the force of each parameter in which a law is linear (`FrictionLaw.linear`).

    `values` of the other parameters are used, such as the velocity of the Stribeck effect. Raises ValueError as
    `force`.
    """
    linear = [parameter.name for parameter in data.LAWS[law].linear]
    off = {**values, **dict.fromkeys(linear, 0.0)}
    return {name: force(law, velocity, load, {**off, name: 1.0}) for name in linear}
