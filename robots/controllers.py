"""Controllers as data: kinds with their gains, limits of drives, and one controller of a robot.

A kind is a row of `CONTROLLERS` here, and a row with its mathematics, under the same name, in
`tasks.dynamics.control.LAWS`. A controller is sampled: it reads its coordinates every `sample_time` and holds its force
in between.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, get_args

from robots.data_classes import dataclass, field, replace
from robots.joint_kinds import JOINT_KINDS
from robots.model import Mechanism
from robots.parameter_errors import ParameterError, nearest
from robots.parameters import LARGEST, Parameter, unit_of
from robots.types import TWIST

Space = Literal["actuator", "joint", "task"]
"""Coordinates of a controller: positions of actuators, independent joints of a chain, freedoms of a platform."""

ALONG = dict(zip(TWIST, ("rx", "ry", "rz", "x", "y", "z"), strict=True))
"""Controller names of the platform freedoms: translations along, and rotations about, axes of the world."""

_PER_POSITION, _PER_RATE, _PER_SUM = "N m/rad or N/m", "N m s/rad or N s/m", "N m/(rad s) or N/(m s)"


@dataclass(frozen=True)
class ControllerKind:
    """A kind of controller: its gains, the spaces that it works in, its source.

    `sums`: whether it integrates an error: the error of the position, or with `cascade` the error of the rate, whose
    reference the error of the position sets. `model`: the forces that it computes from a model of the robot. `gravity`
    are the forces that hold the robot at rest; `dynamics` are the forces for a commanded acceleration, and gains are
    then per mass.
    """

    name: str
    gains: tuple[Parameter, ...]
    text: str
    source: str
    spaces: tuple[Space, ...] = get_args(Space)
    sums: bool = False
    cascade: bool = False
    model: Literal["", "gravity", "dynamics"] = ""


def _gain(name: str, unit: str, text: str) -> Parameter:
    return Parameter(name, unit, 0.0, 0.0, LARGEST, text)


_P = _gain("kp", _PER_POSITION, "force per error of position")
_I = _gain("ki", _PER_SUM, "force per integral of the error")
_D = _gain("kd", _PER_RATE, "force per error of rate")
_SICILIANO = "Siciliano et al. 2009, Robotics: Modelling, Planning and Control, sections 6.3, 6.5, 8.5 and 8.6"

_GROSS = "Gross, Hamann and Wiegaertner 2001, Electrical Feed Drives in Automation, sections 4 and 5"

CONTROLLERS: Mapping[str, ControllerKind] = {
    kind.name: kind
    for kind in (
        ControllerKind("pd", (_P, _D), "proportional to the errors of position and rate", _SICILIANO),
        ControllerKind("pd_gravity", (_P, _D), "`pd`, and the forces that hold the robot", _SICILIANO, model="gravity"),
        ControllerKind(
            "pid", (_P, _I, _D), "`pd`, and the integral of the error, which waits while a drive is at its limit",
            _SICILIANO, sums=True,
        ),
        ControllerKind(
            "p_pi",
            (
                _gain("kp", "1/s", "rate per error of position"),
                _gain("kv", _PER_RATE, "force per error of rate"),
                _gain("ki", "1/s", "share of the integral in the error of rate, 1 over the reset time"),
                Parameter("kf", "1", 1.0, 0.0, 10.0, "share of the reference's rate that is fed forward"),
            ),
            "cascade of drives: a loop of position sets the rate that a PI loop keeps", _GROSS, sums=True, cascade=True,
        ),
        ControllerKind(
            "computed_torque",
            (
                _gain("kp", "1/s^2", "acceleration per error of position"),
                _gain("kd", "1/s", "acceleration per error of rate"),
            ),
            "the forces of the reference's acceleration plus feedback, by inverse dynamics without friction",
            _SICILIANO, spaces=("joint", "task"), model="dynamics",
        ),
    )
}  # fmt: skip
"""Kinds by name."""

DRIVE = (
    Parameter("force_limit", "N m or N", LARGEST, 0.0, LARGEST, "largest size of the force of an actuator"),
    Parameter("rate_limit", "N m/s or N/s", LARGEST, 1e-9, LARGEST, "largest change of the force of an actuator"),
    Parameter("resolution", "rad or m", 0.0, 0.0, 1e3, "step of the encoders; rates are differences of their readings"),
)
"""Limits of a drive and of its encoders. The default values limit nothing."""

TIMES = (
    Parameter("sample_time", "s", 0.0, 0.0, 1e3, "time between two samples; 0: every step of the simulation"),
    Parameter("delay", "s", 0.0, 0.0, 1e3, "time from a sample until its force acts"),
)
"""Times of a controller, whole numbers of steps of the simulation."""


@dataclass(frozen=True)
class Controller:
    """A kind in a space, and the names of its `parameters` with a value, in order; see `controller_parameters`."""

    kind: str
    space: Space
    parameters: tuple[str, ...] = field(default=())

    @property
    def row(self) -> ControllerKind:
        """Its kind."""
        return CONTROLLERS[self.kind]


def coordinate_turns(mechanism: Mechanism, space: Space) -> dict[str, bool]:
    """Return for each coordinate of a space, by name, whether it is an angle."""
    if space == "actuator":
        kinds = zip(mechanism.actuators, mechanism.actuator_kinds, strict=True)
        return {name: JOINT_KINDS[kind].turns for name, kind in kinds}
    if mechanism.is_chain:
        (limb,) = mechanism.limbs
        joints = dict(zip(limb.joints, limb.joint_kinds, strict=True))
        return {name: joints[name].turns for name in mechanism.freedoms}
    return {name: name.startswith("r") for name in coordinates(mechanism, space)}


def coordinates(mechanism: Mechanism, space: Space) -> tuple[str, ...]:
    """Return the names of the coordinates of a space: actuators, joints, or (platform) some of x, y, z, rx, ry, rz."""
    if space == "actuator":
        return mechanism.actuators
    return mechanism.freedoms if mechanism.is_chain else tuple(ALONG[name] for name in mechanism.freedoms)


def check_space(mechanism: Mechanism, kind: str, space: str) -> Space:
    """Return the space of that name. Raises ParameterError for a kind or space that the robot lacks."""
    if kind not in CONTROLLERS:
        raise ParameterError(f"kind: got {kind!r}; {nearest(kind, CONTROLLERS)}")
    if mechanism.underactuated and (CONTROLLERS[kind].model or space != "actuator"):
        few = f"{len(mechanism.actuators)} actuators for {len(mechanism.freedoms)} freedoms"
        rule = f"expected pd, pid or p_pi of actuators for a robot with {few}"
        raise ParameterError(f"space: got {kind} in {space}; {rule}")
    allowed: list[Space] = [
        name for name in CONTROLLERS[kind].spaces if name != ("task" if mechanism.is_chain else "joint")
    ]
    allowed_space = next((name for name in allowed if name == space), None)
    if allowed_space is None:
        what = "a chain" if mechanism.is_chain else "a robot with a platform"
        raise ParameterError(f"space: got {space!r}; expected {' or '.join(allowed)} for {kind} of {what}")
    return allowed_space


def controller_parameters(mechanism: Mechanism, kind: str, space: Space) -> dict[str, Parameter]:
    """Return the parameters that a controller of a robot takes, by name.

    A gain or limit without a coordinate's name is for all coordinates. `kp_NAME` replaces `kp` for one coordinate, and
    `force_limit_NAME` replaces `force_limit` for one actuator. The task space has no `resolution`, as it has no
    encoders. Units are for angles, for lengths, or for both.
    """
    drive = [p for p in DRIVE if not (p.name == "resolution" and space == "task")]
    along, actuators = coordinate_turns(mechanism, space), coordinate_turns(mechanism, "actuator")
    named: dict[str, Parameter] = {}
    for parameter, turns in (
        *((gain, along) for gain in CONTROLLERS[kind].gains),
        *((limit, actuators if "limit" in limit.name else along) for limit in drive),
    ):
        units: dict[str, Iterable[bool]] = {parameter.name: turns.values()}
        units |= {f"{parameter.name}_{name}": (angle,) for name, angle in turns.items()}
        named |= {name: replace(parameter, unit=unit_of(parameter.unit, angles)) for name, angles in units.items()}
    return named | {p.name: p for p in TIMES}


def parameter_of(names: Sequence[str], parameter: str, coordinate: str) -> str:
    """Return the name in `names` that sets a parameter of a coordinate; empty where the default holds."""
    single = f"{parameter}_{coordinate}"
    return single if single in names else parameter if parameter in names else ""
