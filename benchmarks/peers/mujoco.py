"""Jobs in MuJoCo: one call for each sample, but for accelerations of a tree, which its `rollout` gives in C++.

Contacts, limits, springs, actuators and constraints are switched off; gravity alone acts. MuJoCo refuses moving bodies
without mass or inertia, so it raises both to at least `TINY`.
"""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from mujoco.rollout import Rollout
from scipy.spatial.transform import Rotation

from benchmarks.peers.bodies import Body, Skeleton
from benchmarks.peers.closure import Closure
from robots.types import BASE

Array = np.ndarray
NAME = "MuJoCo"
TINY = 2e-15
IDLE = "CONSTRAINT EQUALITY FRICTIONLOSS LIMIT CONTACT SPRING DAMPER CLAMPCTRL WARMSTART FILTERPARENT ACTUATION SENSOR"


OF_DESIGN = ("body_pos", "body_quat", "body_mass", "body_ipos", "body_iquat", "body_inertia")
"""Arrays of a model that follow from its geometry."""


class Tree:
    """The spanning tree of a skeleton; functions take and give (sample, body), C order."""

    def __init__(self, skeleton: Skeleton, gravity: Any):
        self.skeleton, self.model = skeleton, _spec(skeleton, gravity).compile()
        for name in IDLE.split():
            self.model.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}", 0))
        self.model.opt.timestep = 1.0  # a step of 1 s adds the acceleration to the velocity
        self.data = mujoco.MjData(self.model)

    def inverse_dynamics(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the joint torques."""
        result, model, data = np.empty(q.shape), self.model, self.data
        place, speed, change, torque = data.qpos, data.qvel, data.qacc, data.qfrc_inverse
        for k in range(len(q)):
            place[:], speed[:], change[:] = q[k], qd[k], qdd[k]
            mujoco.mj_inverse(model, data)
            result[k] = torque
        return result

    def inertia_matrix(self, q: Array) -> Array:
        """Return the inertia matrices (sample, body, body)."""
        result, model, data = np.zeros((*q.shape, q.shape[1])), self.model, self.data
        place = data.qpos
        for k in range(len(q)):
            place[:] = q[k]
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            mujoco.mj_crb(model, data)
            mujoco.mj_fullM(model, data, result[k])
        return result

    def forward_dynamics(self, q: Array, qd: Array, torque: Array) -> Array:
        """Return the joint accelerations: one step of `rollout` for each sample."""
        count, size = q.shape
        state = np.concatenate([np.zeros((count, 1)), q, qd], axis=1)
        applied = torque[:, None, :]
        spec = int(mujoco.mjtState.mjSTATE_QFRC_APPLIED)
        with Rollout(nthread=0) as rollout:
            after, _ = rollout.rollout(self.model, self.data, state, applied, control_spec=spec, skip_checks=False)
        return np.asarray(after[:, 0, 1 + size : 1 + 2 * size] - qd)

    def numbers(self, skeleton: Skeleton) -> Any:
        """Return the numbers of another design of the same mechanism, as `change` takes them: arrays of its model."""
        made = _spec(skeleton, self.model.opt.gravity).compile()
        return {name: getattr(made, name).copy() for name in OF_DESIGN}

    def change(self, numbers: Any) -> None:
        """Become another design."""
        for name, values in numbers.items():
            getattr(self.model, name)[:] = values
        mujoco.mj_setConst(self.model, self.data)

    def closed_loops(self, closure: Closure) -> Any:
        """Return a function of q, qd (sample, body), forces (sample, actuator) for accelerations of the freedoms.

        MuJoCo's equality constraints are springs, so closures are not left to it.
        """

        def run(q: Array, qd: Array, force: Array) -> Array:
            return closure.accelerations(np.ascontiguousarray(q.T), qd, *self.terms(q, qd), force)

        return run

    def terms(self, q: Array, qd: Array) -> tuple[Array, Array]:
        """Return the inertia matrices (sample, body, body) and bias (sample, body) of the tree."""
        model, data, matrices, bias = self.model, self.data, np.zeros((*q.shape, q.shape[1])), np.empty(q.shape)
        for k in range(len(q)):
            data.qpos[:], data.qvel[:] = q[k], qd[k]
            mujoco.mj_fwdPosition(model, data)
            mujoco.mj_fwdVelocity(model, data)
            mujoco.mj_fullM(model, data, matrices[k])
            bias[k] = data.qfrc_bias
        return matrices, bias

    def rollout(self, q: Array, qd: Array, step: float, steps: int) -> Array:
        """Return positions (sample, body) after steps [s] of the Runge-Kutta method of order four, without forces."""
        count, size = q.shape
        before = self.model.opt.timestep, self.model.opt.integrator
        self.model.opt.timestep, self.model.opt.integrator = step, mujoco.mjtIntegrator.mjINT_RK4
        state = np.concatenate([np.zeros((count, 1)), q, qd], axis=1)
        with Rollout(nthread=0) as rollout:
            after, _ = rollout.rollout(self.model, self.data, state, nstep=steps, skip_checks=False)
        self.model.opt.timestep, self.model.opt.integrator = before
        return np.asarray(after[:, -1, 1 : 1 + size])

    def reactions(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return (moment, force) on each body by its parent (sample, body, 6), at its joint, world axes."""
        model, data, roots = self.model, self.data, 1 + _roots(self.skeleton)
        place, speed, change = data.qpos, data.qvel, data.qacc
        loads, anchors, centres = np.empty((*q.shape, 6)), np.empty((*q.shape, 3)), np.empty((*q.shape, 3))
        carried, anchor, centre = data.cfrc_int[1:], data.xpos[1:], data.subtree_com
        for k in range(len(q)):
            place[:], speed[:], change[:] = q[k], qd[k], qdd[k]
            mujoco.mj_inverse(model, data)
            mujoco.mj_rnePostConstraint(model, data)
            loads[k], anchors[k], centres[k] = carried, anchor, centre[roots]
        # results of MuJoCo are about the centre of mass of the whole tree
        loads[..., :3] -= np.cross(anchors - centres, loads[..., 3:])
        return loads


class ClosedLoops:
    """A mechanism with its cut joints as equality constraints: two points on the axis of each coincide.

    Constraints of MuJoCo are springs and dampers; their time constant is four steps here, and regularisation 1e-4, with
    which positions come nearest to the motion of rigid closures (2, 4 and 10 steps were tried).
    """

    APART = 0.05
    STIFF, RIGID = 4.0, 0.9999

    def __init__(self, skeleton: Skeleton, gravity: Any):
        self.skeleton, spec = skeleton, _spec(skeleton, gravity)
        bodies = [spec.body(f"body {k}") for k in range(skeleton.size)]
        for k, cut in enumerate(skeleton.cuts):
            for along in (-self.APART, self.APART):
                names = []
                for body, pose in ((cut.a, cut.at_a), (cut.b, cut.at_b)):
                    names.append(f"cut {k} of {body} at {along}")
                    bodies[body].add_site(name=names[-1], pos=pose.position + pose.rotation[:, 2] * along)
                kinds = {"type": mujoco.mjtEq.mjEQ_CONNECT, "objtype": mujoco.mjtObj.mjOBJ_SITE}
                spec.add_equality(**kinds, name1=names[0], name2=names[1])
        bodies[skeleton.platform].add_site(name="platform", pos=skeleton.seat.position)
        self.model = spec.compile()
        for name in ("CONTACT", "LIMIT", "FRICTIONLOSS"):
            self.model.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}"))
        self.model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
        self.model.opt.tolerance = 1e-12
        self.model.eq_solimp[:] = [self.RIGID, self.RIGID, 0.001, 0.5, 2.0]
        self.data = mujoco.MjData(self.model)

    def rollout(self, q: Array, force: Array, step: float, steps: int) -> Array:
        """Return platform positions (sample, 3) after steps [s] from rest at q (body,); forces (sample, actuator)."""
        model, count = self.model, len(force)
        model.opt.timestep = step
        model.eq_solref[:] = [self.STIFF * step, 1.0]
        state = np.zeros((count, 1 + 2 * model.nv))
        state[:, 1 : 1 + model.nq] = q
        applied = np.zeros((count, 1, model.nv))
        applied[:, 0, list(self.skeleton.motors)] = force
        spec = int(mujoco.mjtState.mjSTATE_QFRC_APPLIED)
        control = np.repeat(applied, steps, axis=1)
        with Rollout(nthread=0) as rollout:
            after, _ = rollout.rollout(model, self.data, state, control, control_spec=spec, skip_checks=False)
        result = np.empty((count, 3))
        for k in range(count):
            self.data.qpos[:] = after[k, -1, 1 : 1 + model.nq]
            mujoco.mj_kinematics(model, self.data)
            result[k] = self.data.site("platform").xpos
        return result


def _roots(skeleton: Skeleton) -> Array:
    roots: list[int] = []
    for k, body in enumerate(skeleton.bodies):
        roots.append(k if body.parent == BASE else roots[body.parent])
    return np.array(roots)


def _spec(skeleton: Skeleton, gravity: Any) -> Any:
    spec = mujoco.MjSpec()
    spec.option.gravity = gravity
    spec.compiler.boundmass = spec.compiler.boundinertia = TINY
    made: list[Any] = []
    for k, body in enumerate(skeleton.bodies):
        made.append(_add(spec.worldbody if body.parent == BASE else made[body.parent], body, f"body {k}"))
    return spec


def _add(parent: Any, body: Body, name: str) -> Any:
    turn = Rotation.from_matrix(body.at.rotation).as_quat(scalar_first=True)
    added = parent.add_body(name=name, pos=body.at.position, quat=turn)
    added.mass, added.ipos, added.explicitinertial = body.mass, body.centre, True
    added.fullinertia = body.tensor[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    kind = mujoco.mjtJoint.mjJNT_HINGE if body.kind == "revolute" else mujoco.mjtJoint.mjJNT_SLIDE
    added.add_joint(type=kind, axis=[0.0, 0.0, 1.0])
    return added
