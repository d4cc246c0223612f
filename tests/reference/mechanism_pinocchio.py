"""Any parallel robot in Pinocchio, from its description as plain numbers: kinematics, mobility and inverse dynamics.

All limbs and the platform make one spanning tree: the platform rides on six joints of its own, and every joint between
a limb and the platform, and every joint that is cut in a loop, is closed by rows over the Jacobians of frames on both
of its sides. Nothing is separated into limbs and no row is dropped: redundant rows are left to least squares.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
import pinocchio as pin
from scipy.spatial.transform import Rotation

from .delta_bodies import GRAVITY, Array
from .tree_pinocchio import BASE, TreeBody, tree_pinocchio

PERPENDICULAR = {
    "revolute": ((0, 2), (1, 2)),
    "universal": ((0, 1),),
    "spherical": (),
    "weld": ((0, 1), (0, 2), (1, 2)),
}
"""Axes of the two frames of a closed joint that stay at right angles."""


class Cut(NamedTuple):
    """Frames on both sides of a joint that is not in the tree, and its kind."""

    kind: str
    first: int
    second: int


class Solution(NamedTuple):
    """One state: actuator forces (of least norm) and rates, tree joints (instance, link), proof.

    `freedoms` is the dimension of all motions that the closures allow; `closure` (3,) how far joints are open, how fast
    and with what acceleration they open.
    """

    force: Array
    velocity: Array
    q: Array
    qd: Array
    qdd: Array
    freedoms: int
    closure: Array


class ClosedMechanism:
    """A mechanism as a tree with closures. Order of q: links of each limb, then the platform (x, y, z, three turns)."""

    def __init__(self, mechanism: Any, gravity: Any = GRAVITY) -> None:
        self.mechanism = mechanism
        bodies = [body for each in mechanism.instances for body in self._limb_bodies(each)]
        self.first = np.cumsum([0, *(len(self._limb(each).links) for each in mechanism.instances)])
        bodies += _platform_bodies(mechanism.platform, len(bodies))
        self.size, self.platform = len(bodies), len(bodies) - 1
        for instance, start in zip(mechanism.instances, self.first, strict=False):
            for k, link in enumerate(self._limb(instance).links):
                if link.parent != BASE:
                    bodies[start + k] = bodies[start + k]._replace(parent=start + link.parent)
        self.bodies = tuple(bodies)
        self.tree = tree_pinocchio(bodies, gravity)
        self.cuts, self.couplings = self._cuts(), self._couplings()
        self.seat = self._frame("platform", self.platform, np.eye(3), np.zeros(3))
        self.data = self.tree.model.createData()
        self.motors = [
            start + [link.joint for link in self._limb(each).links].index(name)
            for each, start in zip(mechanism.instances, self.first, strict=False)
            for name in self._limb(each).actuated
        ]
        links = [link for each in mechanism.instances for link in self._limb(each).links]
        self.armature = np.array([links[motor].armature for motor in self.motors])

    def solve(self, position: Any, rotation: Any, twist: Any, acceleration: Any) -> Solution:
        """Inverse dynamics of a state of the platform; twist and its derivative (6,) angular part first, world axes."""
        q = self._positions(np.asarray(position), np.asarray(rotation))
        jacobian, value, _ = self._rows(q, np.zeros(self.size))
        closing, closed = jacobian[:-6], value[:-6]
        zero = np.zeros(len(closing))
        qd = _least(jacobian, np.concatenate([zero, twist]))
        drift = self._rows(q, qd)[2]
        qdd = _least(jacobian, np.concatenate([zero, acceleration]) - drift)
        free = _null_space(closing)
        motors = np.eye(self.size)[:, self.motors]
        force = _least(free.T @ motors, free.T @ self.tree.rnea(q, qd, qdd)) + self.armature * qdd[self.motors]
        openings = (closed, closing @ qd, closing @ qdd + drift[:-6])
        closure = np.array([np.abs(each).max() for each in openings])
        place, rate, change = (x[:-6].reshape(len(self.mechanism.instances), -1) for x in (q, qd, qdd))
        return Solution(force, qd[self.motors], place, rate, change, free.shape[1], closure)

    def _positions(self, position: Array, rotation: Array) -> Array:
        """Joints of a pose, followed from the reference pose in short steps so that no limb flips."""
        home, q = self.mechanism.platform.home, np.zeros(self.size)
        start, seat = np.asarray(home.position, dtype=float), np.asarray(home.rotation, dtype=float)
        turn = pin.log3(seat.T @ rotation)
        for share in np.linspace(0.25, 1.0, 4):
            q[-6:-3] = seat.T @ (share * (position - start))
            q[-3:] = Rotation.from_matrix(pin.exp3(share * turn)).as_euler("XYZ")
            q = self._newton(q)
        return q

    def _newton(self, q: Array) -> Array:
        """Close all joints by steps of the limbs alone. Raises ValueError where that fails."""
        for _ in range(20):
            jacobian, value, _ = self._rows(q, np.zeros(self.size))
            if np.abs(value[:-6]).max() < 1e-14:
                return q
            q = q.copy()
            q[:-6] -= _least(jacobian[:-6, :-6], value[:-6])
        if not (miss := np.abs(self._rows(q, np.zeros(self.size))[1][:-6]).max()) < 1e-12:
            raise ValueError(f"joints stay open by {miss:.1e}: choose a pose nearer to the reference")
        return q

    def _rows(self, q: Array, qd: Array) -> tuple[Array, Array, Array]:
        """Jacobian, value and acceleration due to velocity of all closures, then of the platform (angular, linear)."""
        model, data, slots = self.tree.model, self.data, list(self.tree.slot)
        pin.forwardKinematics(model, data, self.tree.inner(q), self.tree.inner(qd), np.zeros(self.size))
        pin.computeJointJacobians(model, data)
        pin.updateFramePlacements(model, data)
        parts = [self._outer(_closure(model, data, cut)) for cut in self.cuts]
        parts += [(row[None, :], np.array([row @ q]), np.zeros(1)) for row in self.couplings]
        jacobian, _, _, drift = _state(model, data, self.seat)
        parts.append((jacobian[[3, 4, 5, 0, 1, 2]][:, slots], np.zeros(6), drift[[3, 4, 5, 0, 1, 2]]))
        rows, value, acceleration = (np.concatenate(each) for each in zip(*parts, strict=True))
        return rows, value, acceleration

    def _outer(self, rows: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        """Rows over the joints in the order of q."""
        return rows[0][:, list(self.tree.slot)], *rows[1:]

    def _couplings(self) -> list[Array]:
        """Rows of joints that follow others."""
        rows = []
        for each, start in zip(self.mechanism.instances, self.first, strict=False):
            limb = self._limb(each)
            for entry in limb.couplings:
                row = np.zeros(self.size)
                row[start + limb.index(entry.joint)], row[start + limb.index(entry.of)] = -1.0, float(entry.ratio)
                rows.append(row)
        return rows

    def _limb(self, instance: Any) -> Any:
        return self.mechanism.limbs[instance.limb]

    def _limb_bodies(self, instance: Any) -> list[TreeBody]:
        return [_body(link, instance.base) for link in self._limb(instance).links]

    def _frame(self, name: str, body: int, rotation: Any, position: Any) -> int:
        placement = pin.SE3(np.asarray(rotation, dtype=float), np.asarray(position, dtype=float))
        kind = pin.FrameType.OP_FRAME
        return int(self.tree.model.addFrame(pin.Frame(name, self.tree.joint[body], 0, placement, kind)))

    def _cuts(self) -> list[Cut]:
        cuts = []
        for instance, start in zip(self.mechanism.instances, self.first, strict=False):
            mount = _placement(instance.platform)
            limb = self._limb(instance)
            for closure in (*limb.loops, *limb.tips):
                name = f"{instance.name}.{closure.joint}"
                first = self._frame(f"{name}.a", start + closure.a, closure.frame_a.rotation, closure.frame_a.position)
                at = _placement(closure.frame_b)
                seat = mount * at if closure in limb.tips else at
                body = self.platform if closure in limb.tips else start + closure.b
                cuts.append(Cut(closure.kind, first, self._frame(f"{name}.b", body, seat.rotation, seat.translation)))
        return cuts


def _placement(frame: Any) -> Any:
    return pin.SE3(np.asarray(frame.rotation, dtype=float), np.asarray(frame.position, dtype=float))


def _body(link: Any, base: Any) -> TreeBody:
    placement = _placement(link.placement)
    if link.parent == BASE:
        placement = _placement(base) * placement
    solid = link.inertia
    where = (link.parent, placement.rotation, placement.translation, link.axis, link.kind)
    return TreeBody(*where, float(solid.mass), solid.centre, solid.tensor, float(link.pitch or 0.0))


def _platform_bodies(platform: Any, start: int) -> list[TreeBody]:
    """Three slides and three turns, the body on the last."""
    seat, bodies, inertia = _placement(platform.home), [], platform.inertia
    kinds: tuple[Literal["prismatic", "revolute"], ...] = ("prismatic", "revolute")
    for k, kind in enumerate(kinds):
        for axis in range(3):
            number = 3 * k + axis
            last = number == 5
            at = seat if number == 0 else pin.SE3.Identity()
            parent = BASE if number == 0 else start + number - 1
            mass = float(inertia.mass) if last else 0.0
            tensor = inertia.tensor if last else np.zeros((3, 3))
            centre = inertia.centre if last else np.zeros(3)
            bodies.append(TreeBody(parent, at.rotation, at.translation, np.eye(3)[axis], kind, mass, centre, tensor))
    return bodies


def _state(model: Any, data: Any, frame: int) -> tuple[Array, Any, Array, Array]:
    """Jacobian (6, n; linear first, as Pinocchio has it), pose, angular velocity and acceleration (6,) of a frame."""
    reference = pin.LOCAL_WORLD_ALIGNED
    jacobian = pin.getFrameJacobian(model, data, frame, reference)
    omega = pin.getFrameVelocity(model, data, frame, reference).angular
    return jacobian, data.oMf[frame], omega, pin.getFrameClassicalAcceleration(model, data, frame, reference).vector


def _closure(model: Any, data: Any, cut: Cut) -> tuple[Array, Array, Array]:
    """Rows of one joint: its points coincide, and pairs of axes stay at right angles."""
    jacobian_a, pose_a, omega_a, drift_a = _state(model, data, cut.first)
    jacobian_b, pose_b, omega_b, drift_b = _state(model, data, cut.second)
    jacobian, drift = jacobian_a - jacobian_b, drift_a - drift_b
    rows, value, acceleration = [jacobian[:3]], [pose_a.translation - pose_b.translation], [drift[:3]]
    for i, j in PERPENDICULAR[cut.kind]:
        x, y = pose_a.rotation[:, i], pose_b.rotation[:, j]
        normal = np.cross(x, y)
        change = np.cross(np.cross(omega_a, x), y) + np.cross(x, np.cross(omega_b, y))
        rows.append(normal[None, :] @ jacobian[3:])
        value.append(np.array([x @ y]))
        acceleration.append(np.array([normal @ drift[3:] + change @ (omega_a - omega_b)]))
    return np.concatenate(rows), np.concatenate(value), np.concatenate(acceleration)


def _least(matrix: Array, right: Array) -> Array:
    return np.asarray(np.linalg.lstsq(matrix, right, rcond=1e-10)[0])


def _null_space(matrix: Array) -> Array:
    _, values, rows = np.linalg.svd(matrix)
    rank = int((values > 1e-9 * values[0]).sum())
    return np.asarray(rows[rank:].T)
