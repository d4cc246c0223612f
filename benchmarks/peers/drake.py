"""Jobs in Drake: one call for each sample; it batches nothing in Python."""

from __future__ import annotations

from typing import Any

import numpy as np
from pydrake.math import RigidTransform, RotationMatrix
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import (
    FixedOffsetFrame,
    MultibodyForces,
    PrismaticJoint,
    RevoluteJoint,
    RotationalInertia,
    SpatialInertia,
    UnitInertia,
)

from benchmarks.peers.bodies import Body, Skeleton
from robots.types import BASE

Array = np.ndarray
NAME = "Drake"
Z = np.array([0.0, 0.0, 1.0])


class Tree:
    """The spanning tree of a skeleton; functions take and give (sample, body), C order."""

    def __init__(self, skeleton: Skeleton, gravity: Any):
        self.gravity, self.plant = gravity, MultibodyPlant(time_step=0.0)
        made: list[Any] = []
        for k, body in enumerate(skeleton.bodies):
            made.append(self._add(k, body, self.plant.world_body() if body.parent == BASE else made[body.parent]))
        self.plant.mutable_gravity_field().set_gravity_vector(np.array(gravity, dtype=float))
        self.plant.Finalize()
        self.context = self.plant.CreateDefaultContext()
        self.forces = MultibodyForces(self.plant)
        joints = [self.plant.GetJointByName(f"joint_{k}") for k in range(skeleton.size)]
        self.order = [joint.velocity_start() for joint in joints]

    def _add(self, number: int, body: Body, parent: Any) -> Any:
        plant, name = self.plant, f"body_{number}"
        added = plant.AddRigidBody(name, _inertia(body))
        at = RigidTransform(RotationMatrix(body.at.rotation), body.at.position)
        frame = plant.AddFrame(FixedOffsetFrame(f"at_{number}", parent.body_frame(), at))
        kind = RevoluteJoint if body.kind == "revolute" else PrismaticJoint
        plant.AddJoint(kind(f"joint_{number}", frame, added.body_frame(), Z))
        return added

    def numbers(self, skeleton: Skeleton) -> Any:
        """Return the numbers of another design of the same mechanism, as `change` takes them."""
        return skeleton

    def change(self, numbers: Any) -> None:
        """Become another design: a new model."""
        self.__init__(numbers, self.gravity)  # type: ignore[misc]

    def inverse_dynamics(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the joint torques."""
        plant, context, forces = self.plant, self.context, self.forces
        state, change = self._inner(np.concatenate([q, qd], axis=1)), self._inner(qdd)
        result = np.empty(q.shape)
        for k in range(len(q)):
            plant.SetPositionsAndVelocities(context, state[k])
            plant.CalcForceElementsContribution(context, forces)  # gravity
            result[k] = plant.CalcInverseDynamics(context, change[k], forces)
        return result[:, self.order]

    def inertia_matrix(self, q: Array) -> Array:
        """Return the inertia matrices (sample, body, body)."""
        plant, context, place = self.plant, self.context, self._inner(q)
        result = np.empty((*q.shape, q.shape[1]))
        for k in range(len(q)):
            plant.SetPositions(context, place[k])
            result[k] = plant.CalcMassMatrix(context)
        return result[:, self.order][:, :, self.order]

    def _inner(self, values: Array) -> Array:
        """Reorder columns from bodies to Drake's order, in each group of as many columns as there are joints."""
        count = len(self.order)
        result = np.empty_like(values)
        for start in range(0, values.shape[1], count):
            result[:, [start + slot for slot in self.order]] = values[:, start : start + count]
        return result


def _inertia(body: Body) -> Any:
    i = body.tensor
    about_centre = RotationalInertia(i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2])
    if body.mass == 0.0:
        return SpatialInertia.Zero()
    arm = RotationalInertia(body.mass, body.centre)
    unit = (about_centre + arm) / body.mass
    return SpatialInertia(body.mass, body.centre, UnitInertia(unit), skip_validity_check=True)
