"""Friction of the joints of a spanning tree that follows from their velocity alone: smooth, under constant loads.

Joints that stick have modes, and loads from reactions need multipliers that singular points leave open: both are
refused.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from robots.data_classes import dataclass
from robots.friction.groups import FrictionGroup
from robots.friction.laws import LAWS
from robots.friction.smooth import obstacles
from robots.model import Family, Robot
from tasks.features.friction import requests
from tasks.features.friction.inputs import Friction, friction_input, without_zero_width
from tasks.features.friction.joints import of_groups
from tasks.kernels.expression import Array
from tasks.kernels.kernel import rows
from tasks.kernels.lanes import BoundKernel
from tasks.kernels.program import Program, trace

Numbers = NDArray[np.float64]


def obstacle(robot: Robot, friction: Friction) -> str | None:
    """Return the property of friction that a spanning tree is not integrated with, if there is one.

    Raises ParameterError for friction that does not fit the robot.
    """
    return next(obstacles(robot.mechanism, without_zero_width(friction_input(robot, friction, LAWS)).groups), None)


@dataclass(frozen=True)
class TreeFriction:
    """Friction of some joints of a tree: their numbers among its joints, and the parameters of their laws."""

    family: Family
    groups: tuple[FrictionGroup, ...]
    values: Numbers
    joints: tuple[int, ...]

    @classmethod
    def of(cls, family: Family, groups: tuple[FrictionGroup, ...], values: Numbers, first: int) -> TreeFriction:
        """Return the friction of robots; `first`: number of the joints of the tree before those of the limbs.

        values (cases or 1, parameter): those of all groups.
        """
        mechanism = family.reference
        sizes = [len(mechanism.limbs[instance.limb].links) for instance in mechanism.instances]
        begins = np.cumsum([first, *sizes])
        joints = [int(begins[place.limb]) + place.joint for group in groups for place in group.places]
        return cls(family, groups, values, tuple(joints))

    @functools.cached_property
    def _kernel(self) -> BoundKernel:
        return BoundKernel(friction_program(self.family, self.groups), {"friction": self.values})

    def forces(self, rates: Numbers) -> Numbers:
        """Return the friction (samples, joint with friction) against positive rates (samples, joint of the tree)."""
        if not self.joints:
            return np.zeros((len(rates), 0))
        wide = rows(rates[:, list(self.joints)], (len(rates),))
        return np.ascontiguousarray(self._kernel({"rates": wide[None]}, wide.shape[1])["force"][0, :, : len(rates)].T)


@functools.cache
def friction_program(family: Family, groups: tuple[FrictionGroup, ...]) -> Program:
    """Trace the friction of joints over their rates."""
    kinds = requests.joint_kinds(family)

    def one_sample(friction: Array, rates: Array) -> dict[str, list[object]]:
        joints = of_groups(groups, kinds, friction)
        return {"force": [joint.force(rate, joint.load(None)) for joint, rate in zip(joints, rates, strict=True)]}

    count = sum(len(group.places) for group in groups)
    case = {"friction": (sum(len(group.parameters) for group in groups),)}
    laws = "-".join(group.law for group in groups)
    return trace(f"{family.name}.tree_friction.{laws}", one_sample, case=case, sample={"rates": (count,)})
