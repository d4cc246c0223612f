"""Errors, clearances and capsules of the parts of a robot, and all data of its criteria. Plain data, all in SI.

Errors move the platform although actuators stand at their positions. They are independent of each other, in each limb
by itself; growth with temperature is certain. Clearances of joints are the largest offsets between the parts of a
bearing. Capsules around links, platform and base are lines with a radius [m], for distances between them. A sweep has
the data in its section `criteria`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from robots.arguments import check_arguments
from robots.criteria.elasticity import Elasticity, once
from robots.criteria.selection import joint_names, link_names, select
from robots.joint_kinds import JOINT_KINDS
from robots.limits import Place, select_actuators
from robots.model import Limb, Mechanism
from robots.parameters import ParameterError

FLANKS = 0.5
"""Standard deviation of a play of width 1, of which one flank or the other touches."""
STEP = 1.0 / math.sqrt(12.0)
"""That of a value that is rounded to steps of 1."""


@check_arguments
@dataclass(frozen=True)
class Errors:
    """Variances, by number of actuators, and by number of the limb and in `Limb.joints` or `Limb.links`.

    joints and links (6,): of turns [rad^2] and shifts [m^2]. Those of a joint are in the axes of the frame that moves
    with its child, of a cut joint in its frame a; those of a link are from the hub of an arm to its end, in the axes of
    the link. lengths: of arms along themselves [m^2]; growth: strain of links with temperature.

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
        for name, table, share in (("resolution", resolution, STEP), ("backlash", backlash, FLANKS)):
            limb_values: dict[int, float] = {}
            for pattern, value in (table or {}).items():
                _check(f"{name} {pattern}", (value,))
                hits = select_actuators(mechanism, pattern)
                once(limb_values, name, pattern, dict.fromkeys(hits, (share * value) ** 2))
            for actuator, variance in limb_values.items():
                driven[actuator] = driven.get(actuator, 0.0) + variance
        bearings: dict[Place, tuple[float, ...]] = {}
        bodies: dict[Place, tuple[float, ...]] = {}
        for kind, sixes, names, into in (
            ("joint", joints, joint_names(mechanism), bearings),
            ("link", links, link_names(mechanism), bodies),
        ):
            for pattern, six in (sixes or {}).items():
                _check(f"{kind}s {pattern}", six, 6)
                places = select(names, pattern, kind)
                once(into, f"{kind}s", pattern, dict.fromkeys(places, tuple(x * x for x in six)))
        long: dict[Place, float] = {}
        for pattern, value in (lengths or {}).items():
            _check(f"lengths {pattern}", (value,))
            places = select(link_names(mechanism), pattern, "link")
            once(long, "lengths", pattern, dict.fromkeys(places, value * value))
        if not math.isfinite(warming):
            raise ParameterError(f"warming: got {warming!r}; expected a finite difference of temperature")
        strains: dict[Place, float] = {}
        for pattern, value in (expansion or {}).items():
            _check(f"expansion {pattern}", (value,))
            places = select(link_names(mechanism), pattern, "link")
            once(strains, "expansion", pattern, dict.fromkeys(places, value * warming))
        return cls(driven, bearings, bodies, long, strains)

    def alone(self, kind: str, key: int | Place) -> Errors:
        """Return errors with a single entry of a single field."""
        table: dict[str, Any] = {kind: {key: getattr(self, kind)[key]}}
        return Errors(**table)


def _check(name: str, values: Sequence[float], count: int = 1) -> None:
    if len(values) != count or not all(0.0 <= x < math.inf for x in values):
        expected = "a finite number, zero or more" if count == 1 else f"{count} finite numbers, zero or more"
        raise ParameterError(f"{name}: got {list(values)!r}; expected {expected}")


TURNS, SHIFTS = (0, 1, 2), (3, 4, 5)


@check_arguments
@dataclass(frozen=True)
class JointClearance:
    """Largest offsets in a joint: shift across its axis [m], either way along it [m], tilt of its axis [rad].

    radial is half of a bearing's diametral clearance, axial half of its end float. Of a guide that slides, `tilt` is
    that about any axis, and nothing is axial; of joints that turn about several axes `radial` alone counts, in any
    direction.

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
        """Return the clearances from those of joints, and actuators' backlash widths [rad or m], by names and patterns.

        Each joint and actuator is selected once. Raises ParameterError.
        """
        bounds: dict[Place, tuple[OffsetBound, ...]] = {}
        for pattern, clearance in (joints or {}).items():
            places = select(joint_names(mechanism), pattern, "joint")
            once(bounds, "joints", pattern, {place: _bounds(mechanism, place, clearance) for place in places})
        play: dict[int, float] = {}
        for pattern, width in (backlash or {}).items():
            if not 0.0 <= width < math.inf:
                raise ParameterError(f"backlash {pattern}: got {width!r}; expected a finite number, zero or more")
            once(play, "backlash", pattern, dict.fromkeys(select_actuators(mechanism, pattern), 0.5 * width))
        if not bounds and not play:
            raise ParameterError("clearances: got none; expected some of joints, or backlash of actuators")
        return cls(bounds, play)


def _bounds(mechanism: Mechanism, place: Place, clearance: JointClearance) -> tuple[OffsetBound, ...]:
    limb = mechanism.limbs[mechanism.instances[place[0]].limb]
    name, kind = limb.joints[place[1]], limb.joint_kinds[place[1]]
    for part, value in vars(clearance).items():
        if not 0.0 <= value < math.inf:
            raise ParameterError(f"{part} of joint {name}: got {value!r}; expected a finite number, zero or more")
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

    Those of the platform are in its frame, those of the base in that of the robot. Links that are not named do not
    count.

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
        radii: dict[Place, float] = {}
        for name, radius in links.items():
            _check_radius(f"links {name}", radius)
            more = dict.fromkeys(select(link_names(mechanism), name, "link"), radius)
            if radii.keys() & more.keys():
                raise ParameterError(f"links {name}: another key selects some of them, too; expected each once")
            radii |= more
        return cls(radii, tuple(platform), tuple(base))


@dataclass(frozen=True)
class CriteriaParameters:
    """Elasticity of the parts, a load (moment, force) on the platform in world axes [N m, N], capsules.

    And errors of the parts, and clearances. What is None was not given. `reactions`: whether elasticity shares among
    the joints what statics leaves open.
    """

    elasticity: Elasticity | None = None
    load: tuple[float, ...] | None = None
    capsules: Capsules | None = None
    errors: Errors | None = None
    reactions: bool = False
    clearances: Clearances | None = None


NO_CRITERIA = CriteriaParameters()
