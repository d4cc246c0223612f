"""Clearances of joints: how far what is in a bearing can be from where it should be, at most. Plain data, all in SI."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from robots.criteria.elasticity import once
from robots.criteria.selection import joint_names, select
from robots.joint_kinds import JOINT_KINDS
from robots.limits import Place, select_actuators
from robots.model import Limb, Mechanism
from robots.parameters import ParameterError

TURNS, SHIFTS = (0, 1, 2), (3, 4, 5)


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
        """From clearances, and widths of backlash of actuators [rad or m], under names and patterns.

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
    """Which axis of its frame a joint turns about or slides along."""
    if joint < len(limb.links):
        return int(np.flatnonzero(limb.links[joint].axis)[0])
    return JOINT_KINDS[limb.cuts[joint - len(limb.links)].kind].freedoms[0].axis
