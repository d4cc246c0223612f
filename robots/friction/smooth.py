"""Friction that depends on the velocity of a joint alone, as the integration in all joints of a tree needs it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from robots.friction.groups import FrictionGroup
from robots.limits import MOTOR
from robots.model import Mechanism


def obstacles(mechanism: Mechanism, groups: Sequence[FrictionGroup]) -> Iterator[str]:
    """Yield the properties of friction that a spanning tree is not integrated with."""
    limbs = [mechanism.limbs[instance.limb] for instance in mechanism.instances]
    for group in groups:
        if group.sticks:
            yield f"friction of law {group.law} that sticks (a width makes it smooth)"
        if group.remembers:
            yield f"friction of law {group.law}, which has a state"
        if group.load in ("reaction", "gear"):
            yield f"friction of load {group.load}"
        if any(place.joint == MOTOR or place.joint >= len(limbs[place.limb].links) for place in group.places):
            yield "friction of a motor or of a joint that closes a loop"
