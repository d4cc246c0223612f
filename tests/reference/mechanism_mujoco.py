"""Any parallel robot in MuJoCo, from its description as plain numbers: closure, rates and inverse dynamics.

All limbs and the platform, a free body, make one tree without any constraint of MuJoCo's: its equality constraints are
springs, good to a fraction of a millimetre. From MuJoCo come poses, Jacobians and their rates, mass matrix and forces
of the tree; every joint that is not in the tree is closed here, by rows over the Jacobians of sites on both its sides.

MuJoCo refuses moving bodies without mass or inertia, such as the fork of a universal joint. It raises both to at least
`TINY` here. What that does to forces is in proportion to it: of irsbot2, the worst, 1e-7 of the force for 1e-9.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

from .delta_bodies import GRAVITY, Array

BASE = -1
TINY = 2e-15
"""Least mass [kg] and principal moment of inertia [kg m^2] of a body, twice what MuJoCo insists on."""

TWIST = ("wx", "wy", "wz", "vx", "vy", "vz")

AXES = {"revolute": ((0, 2),), "universal": ((0, 0), (1, 1))}
"""Axes about which a cut joint turns: side of the joint (0 is a, 1 is b), axis of the frame there."""


class Spring(NamedTuple):
    """A spring from a point of a body to one of the world: stiffness [N/m], rest length [m], damping [N s/m]."""

    body: str
    point: Any
    anchor: Any
    stiffness: float
    rest_length: float
    damping: float


class Push(NamedTuple):
    """A force and a moment at a point of a body, in the axes of the world or, `turning`, of the body."""

    body: str
    point: Any
    force: Any
    moment: Any
    turning: bool


class Equations(NamedTuple):
    """Equations in the free components V of the platform's twist; qd = G V. M is the tree's mass matrix.

    mass G^T M G, bias G^T (M G' V + bias of the tree), jacobian the rows of G that belong to motors.
    """

    mass: Array
    bias: Array
    jacobian: Array


class Solution(NamedTuple):
    """One state: actuator forces (of least norm), rates of the tree joints (instance, link), equations of motion.

    `freedoms` is the dimension of all motions that the closures allow.
    """

    force: Array
    qd: Array
    qdd: Array
    equations: Equations
    freedoms: int


class ClosedMechanism:
    """A mechanism as a MuJoCo tree with closures. Order of joints: links of each limb, then the free platform.

    Bodies are called `k.joint`, k counting limbs from 0, and `platform`. With `afloat` the base has six joints, x, y
    and z, then yaw, pitch and roll; poses and twists of the platform are those in the world.
    """

    def __init__(
        self, mechanism: Any, gravity: Any = GRAVITY, springs: Sequence[Spring] = (), afloat: bool = False
    ) -> None:
        self.mechanism, self.afloat = mechanism, afloat
        self.limbs = [mechanism.limbs[each.limb] for each in mechanism.instances]
        self.kinds = [cut.kind for limb in self.limbs for cut in (*limb.loops, *limb.tips)]
        self.model = _spec(mechanism, gravity, springs, afloat).compile()
        self.data = mujoco.MjData(self.model)
        names = [f"{k}.{link.joint}" for k, limb in enumerate(self.limbs) for link in limb.links]
        self.count = len(self.limbs[0].links)
        joints = [self.model.joint(name).id for name in names]
        self.places, self.slots = self.model.jnt_qposadr[joints], self.model.jnt_dofadr[joints]
        self.seat = self.model.jnt_qposadr[self.model.joint("platform").id]
        self.motors = np.array(
            [self.slots[names.index(f"{k}.{joint}")] for k, limb in enumerate(self.limbs) for joint in limb.actuated]
        )

    def sail(self, q: Array, qd: Array, qdd: Array) -> tuple[Array, Array, Array, Array]:
        """Move the base; its position, rotation, twist and the rate of that, angular part first, in the world."""
        place, slot = self.model.jnt_qposadr[0], self.model.jnt_dofadr[0]
        self.base_rates = qd, qdd
        self.data.qpos[place : place + 6], self.data.qvel[:] = q, 0.0
        self.data.qvel[slot : slot + 6] = qd
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)
        mujoco.mj_comVel(self.model, self.data)
        jacobian, drift = self._motion("base")
        site, along = self.data.site("base"), jacobian[:, slot : slot + 6]
        return site.xpos.copy(), site.xmat.reshape(3, 3).copy(), along @ qd, along @ qdd + drift

    def place(self, joints: Array, position: Array, rotation: Array) -> float:
        """Set joints (instance, link) and platform; how far the worst cut joint is open then [m or rad]."""
        self.data.qpos[self.places] = joints.ravel()
        self.data.qpos[self.seat :][:7] = [*position, *_quaternion(rotation)]
        self.data.qvel[:] = 0.0
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)
        return max(self._opening(k, kind) for k, kind in enumerate(self.kinds))

    def solve(self, twist: Array, acceleration: Array, pushes: Sequence[Push] = ()) -> Solution:
        """Inverse dynamics where the mechanism was placed; twist and derivative (6,) angular part first, world axes."""
        data, closed = self.data, np.zeros(6 * len(self.kinds))
        rates, changes = self.base_rates if self.afloat else (np.zeros(0), np.zeros(0))
        data.qvel[:] = _least(self._rows()[0], np.concatenate([closed, rates, twist]))
        rows, drift = self._rows()
        data.qacc[:] = _least(rows, np.concatenate([closed, changes, acceleration]) - drift)
        mujoco.mj_inverse(self.model, data)
        for push in pushes:
            data.qfrc_inverse[:] -= self._pushed(push)
        free = _null_space(rows[:-6])
        force = _least(free[self.motors].T, free.T @ data.qfrc_inverse)
        qd, qdd = (each[self.slots].reshape(-1, self.count) for each in (data.qvel, data.qacc))
        return Solution(force, qd, qdd, self._equations(rows, drift), free.shape[1])

    def _pushed(self, push: Push) -> Array:
        """Forces of all joints that a wrench on a body makes."""
        body, forces = self.data.body(push.body), np.zeros(self.model.nv)
        turn = body.xmat.reshape(3, 3)
        force, moment = (turn @ np.array(v) if push.turning else np.array(v) for v in (push.force, push.moment))
        point = body.xpos + turn @ np.array(push.point)
        mujoco.mj_applyFT(self.model, self.data, force, moment, point, body.id, forces)
        return forces

    def _equations(self, rows: Array, drift: Array) -> Equations:
        """MuJoCo's mass matrix and bias of the tree on the motions that the closures leave to the platform."""
        mobile = [TWIST.index(name) - 6 for name in self.mechanism.platform.mobility]
        along, idle = _least(rows, np.eye(len(rows))[:, mobile]), _least(rows, -drift)
        tree = np.zeros((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, self.data, tree)
        return Equations(along.T @ tree @ along, along.T @ (tree @ idle + self.data.qfrc_bias), along[self.motors])

    def _opening(self, cut: int, kind: str) -> float:
        a, b = (self.data.site(f"{cut}.{side}") for side in "ab")
        gap = np.abs(a.xpos - b.xpos).max()
        x, y = a.xmat.reshape(3, 3), b.xmat.reshape(3, 3)
        tilt = {"revolute": np.cross(x[:, 2], y[:, 2]), "universal": x[:, 0] @ y[:, 1], "spherical": 0.0}[kind]
        return float(max(gap, np.abs(tilt).max()))

    def _rows(self) -> tuple[Array, Array]:
        """Jacobian of all closures, then of the platform (angular, linear), and accelerations due to velocity."""
        mujoco.mj_comVel(self.model, self.data)
        parts = [self._closure(k, kind) for k, kind in enumerate(self.kinds)]
        if self.afloat:
            parts.append((np.eye(6, self.model.nv, self.model.jnt_dofadr[0]), np.zeros(6)))
        parts.append(self._motion("platform"))
        rows, drift = (np.concatenate(each) for each in zip(*parts, strict=True))
        return rows, drift

    def _closure(self, cut: int, kind: str) -> tuple[Array, Array]:
        """Six rows of one joint: points move together, and the turn of b against a is about the joint's axes.

        That turn is w = A r, axes in the columns of A; with P across all axes P w = 0, and P w' = P A' r.
        """
        (jacobian_a, drift_a), (jacobian_b, drift_b) = (self._motion(f"{cut}.{side}") for side in "ab")
        jacobian, drift = jacobian_b - jacobian_a, drift_b - drift_a
        if kind == "spherical":
            across = np.zeros((3, 3))
        else:
            axes, change = self._axes(cut, kind, (jacobian_a, jacobian_b))
            inverse = np.linalg.pinv(axes)
            across = np.eye(3) - axes @ inverse
            drift[:3] -= change @ inverse @ jacobian[:3] @ self.data.qvel
        return np.concatenate([across @ jacobian[:3], jacobian[3:]]), np.concatenate([across @ drift[:3], drift[3:]])

    def _axes(self, cut: int, kind: str, jacobians: tuple[Array, Array]) -> tuple[Array, Array]:
        """Axes of a joint and their rates, one per column; each is fixed to one side."""
        axes, rates = [], []
        for side, number in AXES[kind]:
            axis = self.data.site(f"{cut}.{'ab'[side]}").xmat.reshape(3, 3)[:, number]
            axes.append(axis)
            rates.append(np.cross(jacobians[side][:3] @ self.data.qvel, axis))
        return np.stack(axes, axis=-1), np.stack(rates, axis=-1)

    def _motion(self, name: str) -> tuple[Array, Array]:
        """Jacobian (6, n; angular, linear) of a site and its rate times the velocities (6,)."""
        site = self.data.site(name)
        jacobian, rate = np.zeros((2, 6, self.model.nv))
        mujoco.mj_jacSite(self.model, self.data, jacobian[3:], jacobian[:3], site.id)
        mujoco.mj_jacDot(self.model, self.data, rate[3:], rate[:3], site.xpos, self.model.site_bodyid[site.id])
        return jacobian, rate @ self.data.qvel


def _spec(mechanism: Any, gravity: Any, springs: Sequence[Spring] = (), afloat: bool = False) -> Any:
    """The tree, with sites `k.a` and `k.b` at both sides of cut joint k and `platform`; springs are its tendons."""
    spec = mujoco.MjSpec()
    spec.option.gravity = gravity
    spec.compiler.boundmass = spec.compiler.boundinertia = TINY
    base = _base(spec) if afloat else spec.worldbody
    top = _add(spec.worldbody, mechanism.platform.home, mechanism.platform.inertia)
    top.name = "platform"
    top.add_freejoint(name="platform")
    top.add_site(name="platform")
    cut = 0
    for k, instance in enumerate(mechanism.instances):
        limb, mount = mechanism.limbs[instance.limb], _add(base, instance.base)
        bodies = {BASE: mount}
        for number, link in enumerate(limb.links):
            bodies[number] = _add_link(bodies[link.parent], link, f"{k}.{link.joint}")
        for closure in (*limb.loops, *limb.tips):
            _add_site(bodies[closure.a], f"{cut}.a", closure.frame_a)
            if closure in limb.tips:
                _add_site(top, f"{cut}.b", instance.platform, closure.frame_b)
            else:
                _add_site(bodies[closure.b], f"{cut}.b", closure.frame_b)
            cut += 1
    for number, spring in enumerate(springs):
        spec.body(spring.body).add_site(name=f"spring {number}", pos=np.array(spring.point, dtype=float))
        spec.worldbody.add_site(name=f"anchor {number}", pos=np.array(spring.anchor, dtype=float))
        tendon = spec.add_tendon(name=f"spring {number}", stiffness=spring.stiffness, damping=spring.damping)
        tendon.springlength = [spring.rest_length, spring.rest_length]
        tendon.wrap_site(f"spring {number}")
        tendon.wrap_site(f"anchor {number}")
    return spec


def _base(spec: Any) -> Any:
    """A base with slides along x, y, z, then hinges about z, y, x."""
    body = spec.worldbody.add_body(name="base")
    for axis in range(3):
        body.add_joint(name=f"base {axis}", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=np.eye(3)[axis])
    for axis in (2, 1, 0):
        body.add_joint(name=f"base {3 + axis}", type=mujoco.mjtJoint.mjJNT_HINGE, axis=np.eye(3)[axis])
    body.add_site(name="base")
    return body


def _add(parent: Any, frame: Any, inertia: Any = None) -> Any:
    """A body at a frame of its parent; without an inertia, part of the base."""
    body = parent.add_body(pos=np.asarray(frame.position, dtype=float), quat=_quaternion(frame.rotation))
    if inertia is not None:
        body.mass, body.ipos, body.explicitinertial = float(inertia.mass), np.asarray(inertia.centre, dtype=float), True
        body.fullinertia = np.asarray(inertia.tensor, dtype=float)[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    return body


def _add_link(parent: Any, link: Any, name: str) -> Any:
    kind = {"revolute": mujoco.mjtJoint.mjJNT_HINGE, "prismatic": mujoco.mjtJoint.mjJNT_SLIDE}[link.kind]
    body = _add(parent, link.placement, link.inertia)
    body.name = name
    body.add_joint(name=name, type=kind, axis=np.asarray(link.axis, dtype=float), armature=float(link.armature))
    return body


def _add_site(body: Any, name: str, *frames: Any) -> None:
    """A site at frames within frames of a body."""
    position, rotation = np.zeros(3), np.eye(3)
    for frame in frames:
        position = position + rotation @ np.asarray(frame.position, dtype=float)
        rotation = rotation @ np.asarray(frame.rotation, dtype=float)
    body.add_site(name=name, pos=position, quat=_quaternion(rotation))


def _quaternion(rotation: Any) -> Array:
    return np.asarray(Rotation.from_matrix(np.asarray(rotation, dtype=float)).as_quat(scalar_first=True))


def _least(matrix: Array, right: Array) -> Array:
    return np.asarray(np.linalg.lstsq(matrix, right, rcond=1e-10)[0])


def _null_space(matrix: Array) -> Array:
    _, values, rows = np.linalg.svd(matrix)
    rank = int((values > 1e-9 * values[0]).sum())
    return np.asarray(rows[rank:].T)
