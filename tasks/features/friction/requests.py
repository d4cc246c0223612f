"""Request of friction to the limbs of a robot: joints with friction, and joints whose normal load is a reaction."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

from robots import limits
from robots.data_classes import dataclass
from robots.friction.groups import FrictionGroup
from robots.limits import MOTOR, JointPlace
from robots.model import Family

COMPONENTS = 5
"""Names of the parts of the load of the bearings of a joint, see `bearing_load`."""


@dataclass(frozen=True)
class LimbFriction:
    """The joints of one limb, by number in `Limb.joints`: passive ones with friction, ones whose load is a reaction.

    `statics`: some load in the robot is a reaction, which the friction of this limb affects.
    """

    passive: tuple[int, ...] = ()
    loaded: tuple[int, ...] = ()
    statics: bool = False

    def shapes(self, free: int, driven: int, redundant: int, held: int) -> dict[str, tuple[int, ...]]:
        """Return the names and shapes of the outputs of `share`."""
        count, rows = len(self.passive), COMPONENTS * len(self.loaded)
        result: dict[str, tuple[int, ...]] = {"through": (count, free), "passive_rate": (count,)} if count else {}
        if rows:
            result |= {"load_own": (rows,), "load_driven": (rows, driven), "load_redundant": (rows, redundant)}
        if self.statics and count:
            result |= {"held_friction": (held, count), "wish_friction": (redundant, count)}
        return result | ({"load_friction": (rows, count)} if rows and count else {})


@functools.cache
def joint_kinds(family: Family) -> Mapping[JointPlace, str]:
    """Return the kind of motion, turn or slide, of each joint with one variable."""
    mechanism = family.reference
    result: dict[JointPlace, str] = {}
    for place, simple in limits.places(mechanism).values():
        limb = mechanism.limbs[mechanism.instances[place.limb].limb]
        if place.joint == MOTOR:
            result[place] = mechanism.actuator_kinds[place.actuator]
        elif simple:
            result[place] = (*(link.kind for link in limb.links), *(cut.kind for cut in limb.cuts))[place.joint]
    return result


NO_FRICTION = LimbFriction()


def of_limb(groups: Sequence[FrictionGroup], number: int, statics: bool = False) -> LimbFriction:
    """Return the request of friction to limb `number` of the robot; with `statics` reactions are asked for too."""
    mine = [(place, group) for group in groups for place in group.places if place.limb == number]
    passive = tuple(sorted(place.joint for place, _ in mine if place.actuator < 0))
    loaded = tuple(sorted(place.joint for place, group in mine if group.load == "reaction"))
    reacting = any(group.load == "reaction" for group in groups)
    return LimbFriction(passive, loaded, reacting or (statics and bool(groups)))


def wanted(family: Family, groups: Sequence[FrictionGroup], statics: bool = False) -> tuple[LimbFriction, ...]:
    """Return the request of friction to each limb of the robot; `statics` if reactions are asked for."""
    limbs = range(len(family.reference.instances))
    return tuple(of_limb(groups, limb, statics) for limb in limbs)


def statics(limbs: Sequence[LimbFriction]) -> bool:
    """Return whether friction needs reactions."""
    return any(limb.statics for limb in limbs)
