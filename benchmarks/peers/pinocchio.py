"""Jobs in Pinocchio: batched in C++ where it has that (`rnea`, `aba` of a tree), else one call for each sample."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from benchmarks.peers.bodies import Body, Pose, Skeleton
from robots.model import BASE

Array = np.ndarray
NAME = "Pinocchio"


class Tree:
    """The spanning tree of a skeleton; functions take and give (sample, body), C order, and use their buffers again."""

    def __init__(self, skeleton: Skeleton, gravity: Any):
        self.skeleton, self.model = skeleton, pin.Model()
        self.model.gravity = pin.Motion(np.array(gravity, dtype=float), np.zeros(3))
        for k, body in enumerate(skeleton.bodies):
            self._add(k, body)
        self.data, self.pool = self.model.createData(), pin.ModelPool(self.model, 1)
        self._torque = np.zeros((0, skeleton.size))

    def _add(self, number: int, body: Body) -> None:
        kind = pin.JointModelRZ() if body.kind == "revolute" else pin.JointModelPZ()
        # bodies come depth first, so that joint k + 1 of Pinocchio is that of body k
        parent = 0 if body.parent == BASE else body.parent + 1
        joint = self.model.addJoint(parent, kind, se3(body.at), str(number))
        self.model.appendBodyToJoint(joint, inertia(body), pin.SE3.Identity())

    def inverse_dynamics(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Joint torques; in Fortran order, as the transposes have it, nothing is copied on the way."""
        torque = self._buffer(q)
        pin.rneaInParallel(1, self.pool, q.T, qd.T, qdd.T, torque.T)
        return torque

    def forward_dynamics(self, q: Array, qd: Array, torque: Array) -> Array:
        """Joint accelerations by the articulated-body algorithm."""
        found = self._buffer(q)
        pin.abaInParallel(1, self.pool, q.T, qd.T, torque.T, found.T)
        return found

    def inertia_matrix(self, q: Array) -> Array:
        """Upper triangles of the inertia matrices (sample, body, body) by composite rigid bodies."""
        result, model, data = np.empty((*q.shape, q.shape[1])), self.model, self.data
        for k, row in enumerate(q):
            result[k] = pin.crba(model, data, row)
        return result

    def reactions(self, q: Array, qd: Array, qdd: Array) -> Array:
        """(force, moment) on every body by its parent (sample, body, 6), at its joint, in the axes of the body."""
        result, model, data = np.empty((*q.shape, 6)), self.model, self.data
        for k, (place, speed, change) in enumerate(zip(q, qd, qdd, strict=True)):
            pin.rnea(model, data, place, speed, change)
            result[k] = [force.vector for force in data.f.tolist()[1:]]
        return result

    def _buffer(self, like: Array) -> Array:
        if self._torque.shape != like.shape:
            self._torque = np.empty(like.shape)
        return self._torque


def se3(pose: Pose) -> Any:
    """A pose as Pinocchio has it."""
    return pin.SE3(pose.rotation, pose.position)


def inertia(body: Body) -> Any:
    """Mass, centre and tensor of a body."""
    return pin.Inertia(body.mass, body.centre, body.tensor)
