"""Jobs in Pinocchio: batched in C++ where it has that (`rnea`, `aba` of a tree), else one call for each sample."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from benchmarks.peers.bodies import Body, Pose, Skeleton
from benchmarks.peers.closure import Closure
from robots.types import BASE

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
        """Return the joint torques; in Fortran order, as in the transposes, nothing is copied on the way."""
        torque = self._buffer(q)
        pin.rneaInParallel(1, self.pool, q.T, qd.T, qdd.T, torque.T)
        return torque

    def forward_dynamics(self, q: Array, qd: Array, torque: Array) -> Array:
        """Return the joint accelerations by the articulated-body algorithm."""
        found = self._buffer(q)
        pin.abaInParallel(1, self.pool, q.T, qd.T, torque.T, found.T)
        return found

    def inertia_matrix(self, q: Array) -> Array:
        """Return the upper triangles of the inertia matrices (sample, body, body) by composite rigid bodies."""
        result, model, data = np.empty((*q.shape, q.shape[1])), self.model, self.data
        for k, row in enumerate(q):
            result[k] = pin.crba(model, data, row)
        return result

    def reactions(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return (force, moment) on each body by its parent (sample, body, 6), at its joint, in the body's axes."""
        result, model, data = np.empty((*q.shape, 6)), self.model, self.data
        for k, (place, speed, change) in enumerate(zip(q, qd, qdd, strict=True)):
            pin.rnea(model, data, place, speed, change)
            result[k] = [force.vector for force in data.f.tolist()[1:]]
        return result

    def numbers(self, skeleton: Skeleton) -> Any:
        """Return the numbers of another design of the same mechanism, as `change` takes them."""
        return [(se3(body.at), inertia(body)) for body in skeleton.bodies]

    def change(self, numbers: Any) -> None:
        """Become another design."""
        placements, inertias = self.model.jointPlacements, self.model.inertias
        for k, (place, body) in enumerate(numbers, start=1):
            placements[k], inertias[k] = place, body
        self.pool = pin.ModelPool(self.model, 1)

    def closed_loops(self, closure: Closure) -> Any:
        """Return a function of q, qd (sample, body), forces (sample, actuator) for accelerations of the freedoms."""
        constraints, data = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
        for cut in self.skeleton.cuts:
            for along in (0.1, -0.1):  # two points of the axis: one row too many, which the proximal steps can take
                at_a, at_b = (pose @ Pose(np.eye(3), np.array([0.0, 0.0, along])) for pose in (cut.at_a, cut.at_b))
                point = pin.ContactType.CONTACT_3D
                constraints.append(
                    pin.RigidConstraintModel(point, self.model, cut.a + 1, se3(at_a), cut.b + 1, se3(at_b))
                )
        for each in constraints:
            data.append(each.createData())
        pin.initConstraintDynamics(self.model, self.data, constraints, data)
        settings, motors = pin.ProximalSettings(1e-12, 1e-12, 1e-10, 20), list(self.skeleton.motors)

        def run(q: Array, qd: Array, force: Array) -> Array:
            torque, found, model, own = np.zeros(q.shape), np.empty(q.shape), self.model, self.data
            torque[:, motors] = force
            for k in range(len(q)):
                found[k] = pin.constraintDynamics(model, own, q[k], qd[k], torque[k], constraints, data, settings)
            return closure.platform(q.T, qd, found)

        return run

    def _buffer(self, like: Array) -> Array:
        if self._torque.shape != like.shape:
            self._torque = np.empty(like.shape)
        return self._torque


def se3(pose: Pose) -> Any:
    """Return a pose as Pinocchio has it."""
    return pin.SE3(pose.rotation, pose.position)


def inertia(body: Body) -> Any:
    """Return mass, centre and tensor of a body."""
    return pin.Inertia(body.mass, body.centre, body.tensor)
