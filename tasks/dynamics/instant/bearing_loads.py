"""Normal loads of joints that follow from a motion of the robot: of the reactions that their bearings carry.

These are for one sample. `tasks.dynamics.instant.reaction_loads` searches for loads that belong to the motion that they
cause.
"""

from __future__ import annotations

import numpy as np

from robots.data_classes import dataclass
from robots.friction.groups import FrictionGroup
from robots.model import Family
from tasks.dynamics.instant.pushed import Moved, Pushed
from tasks.features.friction import requests
from tasks.features.friction.joints import load_vectors
from tasks.kernels.expression import Array, Scalar
from tasks.mathematics.algebra import array


@dataclass(frozen=True)
class BearingLoads:
    """Loads of the joints of a pushed robot whose friction depends on their reactions."""

    family: Family
    groups: tuple[FrictionGroup, ...]
    pushed: Pushed

    @property
    def joints(self) -> list[int]:
        """Numbers of the loaded joints among all joints with friction."""
        joints = self.pushed.joints
        return [k for k, each in enumerate(joints) if each.joint.group.load == "reaction"]

    def vectors(self, moved: Moved) -> list[Scalar]:
        """Return the bearing loads of loaded joints, see `load_vectors`, one joint after the other."""
        joints = [self.pushed.joints[k].joint for k in self.joints]
        pairs = zip(joints, self._wrenches(moved), strict=True)
        return [x for joint, carried in pairs for x in load_vectors(joint.kind, carried, joint.values)]

    def following(self, moved: Moved) -> list[Scalar]:
        """Return the normal loads that follow from a motion."""
        joints = [self.pushed.joints[k].joint for k in self.joints]
        return [joint.load(carried) for joint, carried in zip(joints, self._wrenches(moved), strict=True)]

    def _wrenches(self, moved: Moved) -> list[Array]:
        """Return the wrenches that bearings of loaded joints carry."""
        joints = [each.joint for each in self.pushed.joints]
        friction = {joint.place: tau for joint, tau in zip(joints, moved.friction, strict=True)}
        net = np.array(array(self.pushed.push), dtype=object)
        for place, tau in friction.items():
            if place.actuator >= 0:
                net[place.actuator] = net[place.actuator] - tau
        wanted, places = requests.wanted(self.family, self.groups), [joints[k].place for k in self.joints]
        return self.pushed.bearing_loads(self.family, wanted, moved.acceleration, array(net), friction, places)
