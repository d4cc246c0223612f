"""Limits of the joints of a robot and of its actuators: plain data, the same for all designs.

Joints are selected by name and number, as for friction. Positions of joints count as in results: zero at the reference
pose. The mathematics is in `tasks.stages.metrics.margins`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import NamedTuple, TypeVar

from robots.data_classes import dataclass, field
from robots.model import Mechanism
from robots.parameter_errors import ParameterError, nearest
from robots.types import JointKind

Part = TypeVar("Part")

MOTOR = -1


@dataclass(frozen=True)
class JointPlace:
    """A joint of a robot: number of its limb, its number in `Limb.joints`, and among the actuators (-1: passive).

    A drive has a place too, for its motor; its joint number is MOTOR.
    """

    limb: int
    joint: int
    actuator: int


def places(mechanism: Mechanism) -> dict[str, tuple[JointPlace, bool]]:
    """Return every joint and drive by name, `limb.joint` or in a chain `joint`, and whether it has one variable.

    Coordinates of a platform count as joints without a variable, as they are no physical joints.
    """
    result: dict[str, tuple[JointPlace, bool]] = {}
    actuators = actuator_numbers(mechanism)
    for k, instance in enumerate(mechanism.instances):
        limb = mechanism.limbs[instance.limb]
        prefix = "" if mechanism.is_chain else f"{instance.name}."
        for i, (joint, simple) in enumerate(zip(limb.joints, limb.one_variable, strict=True)):
            bare = simple and joint not in limb.coordinates
            result[prefix + joint] = JointPlace(k, i, actuators.get(prefix + joint, -1)), bare
        for drive in limb.drives:
            result[prefix + drive.name] = JointPlace(k, MOTOR, actuators[prefix + drive.name]), True
    return result


def matches(name: str, pattern: str) -> bool:
    """Return whether a pattern means a joint or actuator; one without limb means that of every limb.

    Raises ParameterError for stars side by side.
    """
    if "**" in pattern:
        raise ParameterError(f"{pattern!r} has stars side by side; one stands for any letters")
    return fnmatchcase(name, pattern) or ("." not in pattern and fnmatchcase(name.split(".", 1)[-1], pattern))


Place = tuple[int, int]
"""Number of a limb of the robot, and of a joint in `Limb.joints`."""

DRIVEN = {"actuated": True, "passive": False}
EVERY = "all"


@dataclass(frozen=True)
class JointLimit:
    """Range of a joint's position [rad or m] and the largest size of its rate; infinite where unlimited."""

    low: float = -math.inf
    high: float = math.inf
    velocity: float = math.inf

    def __post_init__(self) -> None:
        _check_numbers(self)

    @property
    def ends(self) -> bool:
        """Return whether the position has a range."""
        return math.isfinite(self.high)


@dataclass(frozen=True)
class Capacity:
    """Capacity of an actuator: sizes of force [N m or N], velocity and power [W]; infinite where unlimited.

    current [A] and voltage [V] are limits of its motor and amplifier, rated_current [A] is the current that it may
    draw all the time; acceleration and jerk are limits for the fastest motions along a path.
    """

    force: float = math.inf
    velocity: float = math.inf
    power: float = math.inf
    current: float = math.inf
    voltage: float = math.inf
    rated_current: float = math.inf
    acceleration: float = math.inf
    jerk: float = math.inf

    def __post_init__(self) -> None:
        _check_numbers(self)


def _check_numbers(limit: JointLimit | Capacity) -> None:
    """Refuse limits that are NaN, as no value would be beyond them. Raises ParameterError."""
    for name, value in vars(limit).items():
        if isinstance(value, float) and math.isnan(value):  # not while it is traced
            raise ParameterError(f"{name}: got nan; expected a number, infinite where there is no limit")


@dataclass(frozen=True)
class Limits:
    """Limits by limb and number in `Limb.joints`, and by number of the actuator."""

    joints: Mapping[Place, JointLimit] = field(default_factory=dict)
    actuators: Mapping[int, Capacity] = field(default_factory=dict)

    def of_limb(self, limb: int) -> dict[int, JointLimit]:
        """Return the limits of a limb's joints by joint number, in that order."""
        return {joint: self.joints[k, joint] for k, joint in sorted(self.joints) if k == limb}


NO_LIMITS = Limits()


@dataclass(frozen=True)
class LimitedJoint:
    """A joint that can have limits: its place, whether an actuator moves it, whether it turns or slides."""

    place: Place
    driven: bool
    kind: JointKind


def joints(mechanism: Mechanism) -> dict[str, LimitedJoint]:
    """Return the joints whose position is a single number, by name: `limb.joint`, of a chain `joint`."""
    result: dict[str, LimitedJoint] = {}
    for k, instance in enumerate(mechanism.instances):
        limb = mechanism.limbs[instance.limb]
        before = "" if mechanism.is_chain else f"{instance.name}."
        for i, (name, kind) in enumerate(zip(limb.joints, limb.joint_kinds, strict=True)):
            if kind.one_variable:
                result[before + name] = LimitedJoint((k, i), name in limb.actuated, kind.name)
    return result


def select_joints(mechanism: Mechanism, pattern: str) -> tuple[LimitedJoint, ...]:
    """Return the selected joints: `actuated`, `passive`, `all`, or a name or pattern as in friction groups.

    Raises ParameterError for a selection without a joint that can have limits.
    """
    joint_names = joints(mechanism)
    if pattern == EVERY:
        return tuple(joint_names.values())
    if pattern in DRIVEN:
        hits = [joint for joint in joint_names.values() if joint.driven == DRIVEN[pattern]]
    else:
        hits = [joint for name, joint in joint_names.items() if matches(name, pattern)]
    if not hits and pattern in DRIVEN:
        raise ParameterError(f"no joint of one variable is {pattern}; leave it out")
    if not hits:
        names = nearest(pattern, (*DRIVEN, EVERY, *joint_names))
        raise ParameterError(f"no joint of one variable is called {pattern!r}; {names}")
    return tuple(hits)


MOST_CORNERS = 1000
"""Corners of a least maximum that a program may try: some seconds of compilation."""


def corner_count(actuators: int, spare: int) -> int:
    """Return the number of corners searched for a least maximum: choices of one more than spare ones, with signs."""
    return math.comb(actuators, spare + 1) * 2**spare


LEAST_SQUARES, LEAST_MAXIMUM = "least_squares", "least_maximum"


class SharingForm(NamedTuple):
    """Structure of a force sharing: its rule, whether it has a preload, whether actuators are off for a time.

    Programs depend on this structure, and not on the numbers.
    """

    rule: str = LEAST_SQUARES
    preload: bool = False
    switched: bool = False


class OffTime(NamedTuple):
    """An actuator that gives no force from `start` until before `stop` [s]."""

    actuator: int
    start: float
    stop: float


@dataclass(frozen=True)
class ActuatorSharing:
    """Distribution of forces over the actuators of a robot with more actuators than freedoms.

    The motion does not determine these forces uniquely. Rules: the least sum of weight times the square of the
    difference of a force from its preload, or the least maximum of weight times the size of a force, without
    preload. weights (actuator,): above zero, empty for one each; preload (actuator,) [N m or N]: empty for none.
    Actuators that are off give no force and no preload; the rule applies to the other actuators.
    """

    rule: str = LEAST_SQUARES
    weights: tuple[float, ...] = ()
    preload: tuple[float, ...] = ()
    off: tuple[OffTime, ...] = ()

    @property
    def form(self) -> SharingForm:
        """Structure of the sharing, on which programs depend."""
        return SharingForm(self.rule, bool(self.preload), bool(self.off))

    def most_off(self) -> int:
        """Return the largest number of actuators that are off at the same time."""
        return max((len(self.off_at(time.start)) for time in self.off), default=0)

    def off_at(self, time: float) -> frozenset[int]:
        """Return the actuators that are off at a time."""
        return frozenset(k for k, start, stop in self.off if start <= time < stop)


EVEN_SHARING = ActuatorSharing()


def select(names: Mapping[str, Part], pattern: str, what: str) -> tuple[Part, ...]:
    """Return the selected parts: `all`, a name or a pattern. Raises ParameterError for no match."""
    hits = tuple(part for name, part in names.items() if pattern == EVERY or matches(name, pattern))
    if not hits:
        raise ParameterError(f"no {what} is called {pattern!r}; {nearest(pattern, (EVERY, *names))}")
    return hits


def actuator_numbers(mechanism: Mechanism) -> dict[str, int]:
    """Return the number of each actuator by name."""
    return {name: number for number, name in enumerate(mechanism.actuators)}


def select_actuators(mechanism: Mechanism, pattern: str) -> tuple[int, ...]:
    """Return the numbers of the selected actuators: `all`, a name or a pattern. Raises ParameterError for no match."""
    return select(actuator_numbers(mechanism), pattern, "actuator")
