"""A Pinocchio model of any tree from plain lists, for comparing tree dynamics with an engine that others wrote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import pinocchio as pin

from .delta_bodies import GRAVITY, Array

BASE = -1


class TreeBody(NamedTuple):
    """A body and its joint: index of the parent body (-1: base), frame of the joint in the parent, axis in that frame.

    Mass, centre (3,) and inertia (3, 3) about the centre are in the frame of the body, which is the joint's at zero;
    pitch [m/rad] of a screw.
    """

    parent: int
    rotation: Any
    position: Any
    axis: Any
    kind: Literal["revolute", "prismatic", "screw"]
    mass: float
    centre: Any
    tensor: Any
    pitch: float = 0.0


@dataclass(frozen=True)
class Tree:
    """A Pinocchio model; `joint[i]` is its number of the joint of body i in the list, `slot[i]` that of its q."""

    model: Any
    data: Any
    joint: tuple[int, ...]
    slot: tuple[int, ...]

    def inner(self, values: Any) -> Array:
        """Return values in Pinocchio's order, given in that of the list."""
        result = np.empty(len(self.slot))
        result[list(self.slot)] = values
        return result

    def rnea(self, q: Any, qd: Any, qdd: Any) -> Array:
        """Inverse dynamics of the tree in the order of the list (n,): N m or N."""
        torque = pin.rnea(self.model, self.data, self.inner(q), self.inner(qd), self.inner(qdd))
        return np.asarray(torque[list(self.slot)])

    def wrenches(self, q: Any, qd: Any, qdd: Any) -> Array:
        """(moment, force) on every body by its parent, at its joint, world axes (n, 6), in the order of the list.

        rnea leaves them in the axes of the joints, and the placements of joints out of date.
        """
        where = self.inner(q)
        pin.rnea(self.model, self.data, where, self.inner(qd), self.inner(qdd))
        pin.forwardKinematics(self.model, self.data, where)
        rows = []
        for joint in self.joint:
            turn, force = self.data.oMi[joint].rotation, self.data.f[joint]
            rows.append(np.concatenate([turn @ force.angular, turn @ force.linear]))
        return np.array(rows)

    def inertia_matrix(self, q: Any) -> Array:
        """Joint-space inertia matrix by composite rigid bodies (n, n), in the order of the list."""
        upper = np.triu(pin.crba(self.model, self.data, self.inner(q)))
        return np.asarray((upper + np.triu(upper, 1).T)[np.ix_(self.slot, self.slot)])


def tree_pinocchio(bodies: Sequence[TreeBody], gravity: Any = GRAVITY) -> Tree:
    """A model of any tree whose parents come first in the list.

    Joints are added depth-first, whatever the order of the list: in another order some of Pinocchio's algorithms go
    wrong without a word. Raises ValueError for a parent that comes later.
    """
    for index, body in enumerate(bodies):
        if not BASE <= body.parent < index:
            raise ValueError(
                f"body {index} has parent {body.parent}, expected {BASE} (base) or an earlier body: sort them"
            )
    model = pin.Model()
    model.gravity = pin.Motion(np.asarray(gravity, dtype=float), np.zeros(3))
    joint = [0] * len(bodies)
    for index in _depth_first(bodies):
        joint[index] = _add(model, joint, bodies[index], str(index))
    return Tree(model, model.createData(), tuple(joint), tuple(model.joints[each].idx_v for each in joint))


def _depth_first(bodies: Sequence[TreeBody], parent: int = BASE) -> list[int]:
    children = [index for index, body in enumerate(bodies) if body.parent == parent]
    return [each for child in children for each in (child, *_depth_first(bodies, child))]


def _add(model: Any, joint: Sequence[int], body: TreeBody, name: str) -> int:
    axis = np.asarray(body.axis, dtype=float)
    joint_model = {
        "revolute": pin.JointModelRevoluteUnaligned,
        "prismatic": pin.JointModelPrismaticUnaligned,
        "screw": lambda axis: pin.JointModelHelicalUnaligned(axis, float(body.pitch)),
    }[body.kind]
    parent = 0 if body.parent == BASE else joint[body.parent]
    placement = pin.SE3(np.asarray(body.rotation, dtype=float), np.asarray(body.position, dtype=float))
    number = model.addJoint(parent, joint_model(axis), placement, name)
    inertia = pin.Inertia(body.mass, np.asarray(body.centre, dtype=float), np.asarray(body.tensor, dtype=float))
    model.appendBodyToJoint(number, inertia, pin.SE3.Identity())
    return int(number)
