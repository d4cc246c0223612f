"""Stops at the ends of joints: plain data. A joint that reaches one bounces back, rests there, or latches.

The mathematics is in `tasks.dynamics.tree_stops`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from robots.data_classes import dataclass
from robots.limits import MOTOR, JointPlace, matches, places
from robots.model import Mechanism
from robots.parameter_errors import ParameterError, nearest


@dataclass(frozen=True)
class JointStop:
    """Stops of a joint: the least and largest position [rad or m], zero at the reference pose; infinite without a stop.

    restitution: share of its speed with which the joint rebounds, 0 to 1 (Newton's law of impact). latch: the joint
    stays at the stop that it reaches. Raises ParameterError for numbers out of range.

        >>> ls.JointStop(low=-0.5, high=0.5, restitution=0.6)
        JointStop(low=-0.5, high=0.5, restitution=0.6, latch=False)
    """

    low: float = -math.inf
    high: float = math.inf
    restitution: float = 0.0
    latch: bool = False

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise ParameterError(f"low, high: got {self.low!r} and {self.high!r}; expected low below high")
        if not math.isfinite(self.low) and not math.isfinite(self.high):
            raise ParameterError("low, high: got neither; expected at least one, where the joint stops")
        if not 0.0 <= self.restitution <= 1.0:
            raise ParameterError(f"restitution: got {self.restitution!r}; expected 0 to 1")
        if self.latch and self.restitution != 0.0:
            raise ParameterError("latch: got it with a restitution; expected one of the two")


Stops = Mapping[str, JointStop]
"""Stops by name of a joint, `limb.joint` or in a chain `joint`; `joint` alone means this joint of every limb."""


def stopped_joints(mechanism: Mechanism, stops: Stops) -> dict[JointPlace, JointStop]:
    """Return the stops by joint. Raises ParameterError for a joint that is not there or is no joint of the tree."""
    result: dict[JointPlace, JointStop] = {}
    known = places(mechanism)
    for pattern, stop in stops.items():
        found = [(name, place) for name, (place, _) in known.items() if matches(name, pattern)]
        if not found:
            raise ParameterError(f"stops: {pattern!r} is no joint; {nearest(pattern, known)}")
        for name, place in found:
            limb = mechanism.limbs[mechanism.instances[place.limb].limb]
            if place.joint == MOTOR or place.joint >= len(limb.links):
                what = "a motor" if place.joint == MOTOR else "a joint that closes a loop"
                raise ParameterError(f"stops: {name!r} is {what}; expected a joint of the tree; choose another")
            if place in result:
                raise ParameterError(f"stops: {name!r} has two stops; expected one entry with both ends")
            result[place] = stop
    return result
