"""Closed loops in Kamino, Newton's solver for mechanisms with loops, on the processor.

Single precision and Euler steps are all that it has. Every joint of a mechanism is one of its joints, none is cut. Of
its solvers LOX is taken, which needs a quarter of the time of DVI and 3 % of that of PADMM per step of a Delta, with
equal errors.
"""

from __future__ import annotations

from typing import Any

import newton
import numpy as np
import warp as wp
from newton.solvers import SolverKamino
from scipy.spatial.transform import Rotation

from benchmarks.peers.bodies import Pose, Skeleton
from robots.types import BASE

Array = np.ndarray


class ClosedLoops:
    """A mechanism with all its joints; samples are worlds of one model."""

    def __init__(self, skeleton: Skeleton, gravity: Any):
        wp.config.quiet = True
        wp.set_device("cpu")
        self.skeleton, self.gravity = skeleton, tuple(gravity)

    def rollout(self, q: Array, force: Array, step: float, steps: int) -> Array:
        """Return platform positions (sample, 3) after steps [s] from rest at q (body,); forces (sample, actuator)."""
        model = self._model(q, len(force))
        solver = SolverKamino(model=model, config=SolverKamino.Config(dynamics_solver="lox"))
        before, after, control = model.state(), model.state(), model.control()
        applied = np.zeros((len(force), self.skeleton.size + len(self.skeleton.cuts)), dtype=np.float32)
        applied[:, list(self.skeleton.motors)] = force
        control.joint_f.assign(applied.ravel())
        for _ in range(steps):
            solver.step(before, after, control, None, step)
            before, after = after, before
        poses = before.body_q.numpy().reshape(len(force), -1, 7)[:, self.skeleton.platform].astype(float)
        return np.asarray(poses[:, :3] + Rotation.from_quat(poses[:, 3:]).apply(self.skeleton.seat.position))

    def _model(self, q: Array, count: int) -> Any:
        """Return `count` equal worlds at q."""
        world, poses = newton.ModelBuilder(gravity=self.gravity), list[Pose]()
        SolverKamino.register_custom_attributes(world)
        joints = []
        for k, body in enumerate(self.skeleton.bodies):
            turns = body.kind == "revolute"
            here = body.at @ _moved(q[k], turns=turns)
            poses.append(here if body.parent == BASE else poses[body.parent] @ here)
            solid = {"mass": body.mass, "com": body.centre, "inertia": body.tensor.ravel().tolist()}
            link = world.add_link(xform=_transform(poses[-1]), **solid)
            add = world.add_joint_revolute if turns else world.add_joint_prismatic
            mode = newton.JointTargetMode.EFFORT if k in self.skeleton.motors else None
            parent = -1 if body.parent == BASE else body.parent
            joints.append(add(parent, link, parent_xform=_transform(body.at), axis=newton.Axis.Z, actuator_mode=mode))
        world.add_articulation(joints)
        for cut in self.skeleton.cuts:
            frames = {"parent_xform": _transform(cut.at_a), "child_xform": _transform(cut.at_b)}
            world.add_joint_revolute(cut.a, cut.b, axis=newton.Axis.Z, **frames)
        every = newton.ModelBuilder(gravity=self.gravity)
        every.replicate(world, count)
        return every.finalize()


def _moved(q: float, *, turns: bool) -> Pose:
    """Return the pose of a joint's frame behind it: turned about z, or moved along it."""
    along = np.array([0.0, 0.0, q])
    if turns:
        return Pose(Rotation.from_rotvec(along).as_matrix(), np.zeros(3))
    return Pose(np.eye(3), along)


def _transform(pose: Pose) -> Any:
    return wp.transform(pose.position.tolist(), Rotation.from_matrix(pose.rotation).as_quat().tolist())
