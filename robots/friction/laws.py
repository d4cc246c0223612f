"""Friction laws as data: parameters with units, optional ones, sticking.

A law is one row of `LAWS` here and one of mathematics, under the same name, in `tasks.features.friction.laws.LAWS`.
No other module knows the names of laws.

Forces of a law are torques in revolute joints and forces in prismatic ones. Where the normal load of a joint is 1, the
dry parameters are such forces; where it is the joint's normal torque or force, they are coefficients of friction.
"""

from __future__ import annotations

from collections.abc import Iterable

from robots.data_classes import dataclass
from robots.parameters import LARGEST, Parameter

FORCE, VISCOUS, SPEED = "N m or N", "N m s/rad or N s/m", "rad/s or m/s"
"""Units of parameters. Parameters with the unit FORCE are dry friction, which the normal load multiplies."""
_SLOWEST = 1e-9


@dataclass(frozen=True)
class FrictionLaw:
    """A friction law: its name, the parameters of one joint, where it comes from.

    `options` are optional parameters: without an option, a program has no operation for it, and the law behaves as with
    its default. `sticks`: friction jumps where the velocity changes its sign, so that a joint sticks at rest, unless a
    `width` smooths the jump. `state`: number of states of the law for a joint, zero or one; without a state, the force
    is a curve over velocity.
    """

    name: str
    parameters: tuple[Parameter, ...]
    text: str
    source: str
    options: tuple[Parameter, ...] = ()
    sticks: bool = False
    state: int = 0

    @property
    def dry(self) -> bool:
        """Return whether the law has dry friction, which the normal load multiplies."""
        return any(parameter.unit == FORCE for parameter in self.parameters)

    @property
    def linear(self) -> tuple[Parameter, ...]:
        """Parameters in which the force is linear, the others held."""
        return () if self.state else tuple(p for p in self.parameters if p.unit in (FORCE, VISCOUS))

    def inputs(self, names: Iterable[str]) -> tuple[Parameter, ...]:
        """Return the parameters of a program: parameters of the law, then its options that are among the `names`."""
        options = set(names)
        return self.parameters + tuple(option for option in self.options if option.name in options)


def _force(name: str, text: str) -> Parameter:
    return Parameter(name, FORCE, 0.0, 0.0, LARGEST, text)


def _speed(name: str, default: float, text: str) -> Parameter:
    return Parameter(name, SPEED, default, _SLOWEST, LARGEST, text)


_COULOMB = _force("coulomb", "magnitude that opposes motion; zero at rest")
_FULL = _force("coulomb", "magnitude that is left at high speed")
_STATIC = _force("static", "magnitude at the start of motion")
_FLUID = Parameter("viscous", VISCOUS, 0.0, 0.0, LARGEST, "proportional to speed")
_STRIBECK = _speed("stribeck_velocity", 0.01, "speed in which the excess at low speed fades to 1/e")
_SHAPE = Parameter("shape", "1", 2.0, 0.25, 10.0, "exponent of the speed in the fading")
_WIDTH = Parameter(
    "width", SPEED, 0.0, 0.0, LARGEST, "speed v that smooths the sign of velocity to tanh(velocity / v); 0: sharp"
)
_STARTING = _force("starting", "magnitude that holds a joint at rest, where it is above `coulomb`")
_NEGATIVE = Parameter("negative", "1", 1.0, 0.0, 100.0, "factor of all friction at negative velocity")
_TEMPERATURE = Parameter("temperature", "K", 0.0, -300.0, 1000.0, "difference to the temperature of the coefficients")
_DRY_RATE = Parameter(
    "coulomb_temperature",
    "1/K",
    0.0,
    -1.0,
    1.0,
    "dry friction changes by the factor 1 + rate * temperature, never below 0",
)
_VISCOUS_RATE = Parameter(
    "viscous_temperature", "1/K", 0.0, -0.1, 0.1, "viscous friction changes by the factor exp(rate * temperature)"
)
_TRANSITION = Parameter(
    "transition_load", FORCE, 0.0, 0.0, LARGEST,
    "load L that brings viscous friction in by the factor tanh(4 load / L); 0: always in full",
)  # fmt: skip
_WET = (_NEGATIVE, _TEMPERATURE, _VISCOUS_RATE)
_DRY = (*_WET, _DRY_RATE)

LAWS: dict[str, FrictionLaw] = {
    law.name: law
    for law in (
        FrictionLaw("none", (), "no friction", "-"),
        FrictionLaw("viscous", (_FLUID,), "proportional to speed", "joint friction paper, Eq. (41)", _WET),
        FrictionLaw(
            "coulomb_viscous",
            (_COULOMB, _FLUID),
            "constant magnitude against the motion, plus a part proportional to speed",
            "joint friction paper, Eq. (42); starting friction: industrial manipulators paper, Eq. (17)",
            (_WIDTH, _STARTING, *_DRY),
            sticks=True,
        ),
        FrictionLaw(
            "stribeck",
            (_FULL, _STATIC, _FLUID, _STRIBECK),
            "falls from static to Coulomb friction with speed, plus a part proportional to speed",
            "Bo and Pavelescu 1982; joint friction paper, Eq. (52)",
            (_SHAPE, _WIDTH, *_DRY),
            sticks=True,
        ),
        FrictionLaw(
            "brown_mcphee",
            (
                _force("dynamic", "magnitude that is left at high speed"),
                _force("static", "magnitude at the transition velocity; at least the dynamic one"),
                _FLUID,
                _speed("transition_velocity", 0.01, "speed of the greatest dry friction"),
            ),
            "smooth through zero, greatest at the transition velocity, then falling to dynamic friction",
            "Brown and McPhee 2016, doi 10.1115/1.4033658",
            (_TRANSITION, *_DRY),
        ),
        FrictionLaw(
            "stiction",
            (
                _FULL,
                _force("kinetic", "magnitude when a motion slows down to rest"),
                _STATIC,
                _FLUID,
                _STRIBECK,
                _speed("stick_velocity", 1e-6, "speed at and below which the joint sticks"),
            ),
            "Stribeck curve from static friction after rest, from kinetic friction back to rest",
            "Stribeck curve as above; rest as in Karnopp 1985; the switch between the curves is declared here",
            _DRY,
            sticks=True,
            state=1,
        ),
        FrictionLaw(
            "lugre",
            (
                Parameter("sigma0", "N m/rad or N/m", 1e5, _SLOWEST, LARGEST, "stiffness of the bristles"),
                Parameter("sigma1", VISCOUS, 0.0, 0.0, LARGEST, "damping of the bristles"),
                Parameter("sigma2", VISCOUS, 0.0, 0.0, LARGEST, "viscous friction, proportional to speed"),
                _FULL,
                _STATIC,
                _STRIBECK,
            ),
            "bristles that bend and slip: stiff at rest, a Stribeck curve in steady motion, hysteresis between",
            "Canudas de Wit, Olsson, Astrom and Lischinsky 1995",
            _DRY,
            state=1,
        ),
    )
}

CURVES: dict[str, FrictionLaw] = {name: law for name, law in LAWS.items() if not law.state}
"""Laws whose force follows from the velocity of the moment alone."""
