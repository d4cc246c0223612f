"""Errors, clearances and capsules of the parts of a robot, and all data of its criteria. Plain data, all in SI.

Errors move the platform although actuators stand at their positions. They are independent of each other, in each limb
by itself; growth with temperature is certain. Clearances of joints are the largest offsets between the parts of a
bearing. Capsules around links, platform and base are lines with a radius [m], for distances between them. A sweep has
the data in its section `criteria`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from robots.arguments import check_arguments
from robots.criteria.elasticity import Elasticity
from robots.criteria.selection import joint_names, link_names, of_parts
from robots.data_classes import dataclass, field
from robots.joint_kinds import JOINT_KINDS
from robots.limits import Place, actuator_numbers
from robots.model import Limb, Mechanism
from robots.parameter_errors import ParameterError

FLANKS = 0.5
"""Standard deviation of a play of width 1, of which one flank or the other touches."""
STEP = 1.0 / math.sqrt(12.0)
"""Standard deviation of a value that is rounded to steps of 1."""


@check_arguments
@dataclass(frozen=True)
class Errors:
    """Variances, by number of actuators, and by number of the limb and in `Limb.joints` or `Limb.links`.

    joints and links (6,): variances of turns [rad^2] and shifts [m^2]. Variances of a joint are in the axes of the
    frame that moves with its child, for a cut joint in the axes of its frame a. Variances of a link are from the hub of
    an arm to its end, in the axes of the link. lengths: variances of the lengths of arms [m^2]; growth: strain of links
    with temperature.

        >>> robot = ls.robots.build("five_bar")
        >>> play = ls.robots.Errors.of(robot.mechanism, backlash={"all": 1e-4}, lengths={"all": 2e-5})
    """

    actuators: Mapping[int, float] = field(default_factory=dict)
    joints: Mapping[Place, tuple[float, ...]] = field(default_factory=dict)
    links: Mapping[Place, tuple[float, ...]] = field(default_factory=dict)
    lengths: Mapping[Place, float] = field(default_factory=dict)
    growth: Mapping[Place, float] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        mechanism: Mechanism,
        *,
        resolution: Mapping[str, float] | None = None,
        backlash: Mapping[str, float] | None = None,
        joints: Mapping[str, Sequence[float]] | None = None,
        links: Mapping[str, Sequence[float]] | None = None,
        lengths: Mapping[str, float] | None = None,
        expansion: Mapping[str, float] | None = None,
        warming: float = 0.0,
    ) -> Errors:
        """Return the errors from standard deviations under names and patterns, such as `all`, `arm`, `limb1.arm`.

        resolution: step of the actuators' encoders, and backlash: width of their play, both [rad or m], of which the
        standard deviations are 1 / sqrt(12) and a half; joints and links: three turns [rad], three shifts [m]; lengths
        [m]; expansion [1/K] of links that are `warming` [K] hotter than where they were measured. A tolerance of +- t
        that three standard deviations fill is t / 3. Each is selected once for its kind. Raises ParameterError.
        """
        driven: dict[int, float] = {}
        for name, steps, share in (("resolution", resolution, STEP), ("backlash", backlash, FLANKS)):
            widths = of_parts(name, steps, actuator_numbers(mechanism), "actuator", _check)
            for actuator, width in widths.items():
                driven[actuator] = driven.get(actuator, 0.0) + (share * width) ** 2
        if not math.isfinite(warming):
            raise ParameterError(f"warming: got {warming!r}; expected a finite difference of temperature")
        bodies = link_names(mechanism)
        return cls(
            driven,
            _squares(of_parts("joints", joints, joint_names(mechanism), "joint", _check_six)),
            _squares(of_parts("links", links, bodies, "link", _check_six)),
            {place: x * x for place, x in of_parts("lengths", lengths, bodies, "link", _check).items()},
            {place: x * warming for place, x in of_parts("expansion", expansion, bodies, "link", _check).items()},
        )

    def alone(self, kind: str, key: int | Place) -> Errors:
        """Return errors with a single entry of a single field."""
        table: dict[str, Any] = {kind: {key: getattr(self, kind)[key]}}
        return Errors(**table)


def _squares(table: Mapping[Place, Sequence[float]]) -> dict[Place, tuple[float, ...]]:
    return {place: tuple(x * x for x in six) for place, six in table.items()}


def _check(name: str, value: float) -> None:
    if not 0.0 <= value < math.inf:
        raise ParameterError(f"{name}: got {value!r}; expected a finite number, zero or more")


def _check_six(name: str, six: Sequence[float]) -> None:
    if len(six) != 6 or not all(0.0 <= x < math.inf for x in six):
        raise ParameterError(f"{name}: got {list(six)!r}; expected 6 finite numbers, zero or more")


TURNS, SHIFTS = (0, 1, 2), (3, 4, 5)


@check_arguments
@dataclass(frozen=True)
class JointClearance:
    """Largest offsets in a joint: shift across its axis [m], either way along it [m], tilt of its axis [rad].

    radial is half of a bearing's diametral clearance, axial half of its end float. For a guide that slides, `tilt` is
    the tilt about any axis, and axial does not apply. For joints that turn about several axes only `radial` counts, in
    any direction.

        >>> ls.robots.JointClearance(radial=1e-5, axial=2e-5).tilt
        0.0
    """

    radial: float = 0.0
    axial: float = 0.0
    tilt: float = 0.0


@dataclass(frozen=True)
class OffsetBound:
    """Components of an offset (turns, then shifts, of a joint's frame) whose size is at most `bound`, in one ball."""

    components: tuple[int, ...]
    bound: float


@check_arguments
@dataclass(frozen=True)
class Clearances:
    """Bounds of joints by number of the limb and in `Limb.joints`; of actuators half of their backlash.

    >>> robot = ls.robots.build("five_bar")
    >>> loose = ls.robots.Clearances.of(robot.mechanism, {"all": ls.robots.JointClearance(radial=1e-5)})
    """

    joints: Mapping[Place, tuple[OffsetBound, ...]] = field(default_factory=dict)
    actuators: Mapping[int, float] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        mechanism: Mechanism,
        joints: Mapping[str, JointClearance] | None = None,
        backlash: Mapping[str, float] | None = None,
    ) -> Clearances:
        """Return the clearances from clearances of joints and backlash widths of actuators [rad or m], by name pattern.

        Each joint and actuator is selected once. Raises ParameterError.
        """
        loose = of_parts("joints", joints, joint_names(mechanism), "joint")
        play = of_parts("backlash", backlash, actuator_numbers(mechanism), "actuator", _check)
        if not loose and not play:
            raise ParameterError("clearances: got none; expected some of joints, or backlash of actuators")
        bounds = {place: _bounds(mechanism, place, clearance) for place, clearance in loose.items()}
        return cls(bounds, {number: 0.5 * width for number, width in play.items()})


def _bounds(mechanism: Mechanism, place: Place, clearance: JointClearance) -> tuple[OffsetBound, ...]:
    limb = mechanism.limbs[mechanism.instances[place[0]].limb]
    name, kind = limb.joints[place[1]], limb.joint_kinds[place[1]]
    for part, value in vars(clearance).items():
        _check(f"{part} of joint {name}", value)
    if not kind.one_variable:
        if clearance.axial or clearance.tilt:
            raise ParameterError(f"joint {name}: got axial or tilt of a {kind.name} joint; expected radial alone")
        return (OffsetBound(SHIFTS, clearance.radial),)
    axis = _axis(limb, place[1])
    across = tuple(k for k in SHIFTS if k != axis + 3)
    if not kind.turns:
        if clearance.axial:
            raise ParameterError(f"joint {name}: got axial of a joint that slides; expected radial and tilt")
        return OffsetBound(across, clearance.radial), OffsetBound(TURNS, clearance.tilt)
    tilts = tuple(k for k in TURNS if k != axis)
    return (
        OffsetBound(across, clearance.radial), OffsetBound((axis + 3,), clearance.axial),
        OffsetBound(tilts, clearance.tilt),
    )  # fmt: skip


def _axis(limb: Limb, joint: int) -> int:
    """Return the index of the axis of its frame that a joint turns about or slides along."""
    if joint < len(limb.links):
        return int(np.flatnonzero(limb.links[joint].axis)[0])
    return JOINT_KINDS[limb.cuts[joint - len(limb.links)].kind].freedoms[0].axis


@check_arguments
@dataclass(frozen=True)
class Capsule:
    """Capsule: the points within `radius` [m] of the line from `start` to `end` (3,) [m]. Raises ParameterError.

    >>> ls.robots.Capsule((0.0, 0.0, 0.0), (0.0, 0.0, 0.1), radius=0.02).radius
    0.02
    """

    start: tuple[float, float, float]
    end: tuple[float, float, float]
    radius: float

    def __post_init__(self) -> None:
        if not all(map(math.isfinite, (*self.start, *self.end))):
            raise ParameterError(f"start, end: got {self.start!r}, {self.end!r}; expected three finite numbers each")
        _check_radius("radius", self.radius)

    @property
    def numbers(self) -> tuple[float, ...]:
        """Both ends."""
        return (*self.start, *self.end)


def _check_radius(name: str, radius: float) -> None:
    if not 0.0 < radius < math.inf:
        raise ParameterError(f"{name}: got {radius!r}; expected a finite radius above zero")


@check_arguments
@dataclass(frozen=True)
class Capsules:
    """Radii of the arms of links, by number of the limb and in `Limb.links`; capsules of platform and base.

    Capsules of the platform are in its frame, capsules of the base in the frame of the robot. Links that are not named
    do not count.

        >>> robot = ls.robots.build("five_bar")
        >>> rods = ls.robots.Capsules.of(robot.mechanism, {"all": 0.01})
    """

    links: Mapping[Place, float] = field(default_factory=dict)
    platform: tuple[Capsule, ...] = ()
    base: tuple[Capsule, ...] = ()

    @classmethod
    def of(
        cls,
        mechanism: Mechanism,
        links: Mapping[str, float],
        *,
        platform: Sequence[Capsule] = (),
        base: Sequence[Capsule] = (),
    ) -> Capsules:
        """Return the capsules from radii [m] of links by names and patterns, each link once. Raises ParameterError."""
        radii = of_parts("links", links, link_names(mechanism), "link", _check_radius)
        return cls(radii, tuple(platform), tuple(base))


@dataclass(frozen=True)
class CriteriaParameters:
    """Elasticity of the parts, a load (moment, force) on the platform in world axes [N m, N], capsules.

    Also errors of the parts, and clearances. None: not given. `reactions`: whether elasticity determines the reactions
    that statics leaves open.
    """

    elasticity: Elasticity | None = None
    load: tuple[float, ...] | None = None
    capsules: Capsules | None = None
    errors: Errors | None = None
    reactions: bool = False
    clearances: Clearances | None = None


NO_CRITERIA = CriteriaParameters()
