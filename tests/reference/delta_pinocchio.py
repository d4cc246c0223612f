"""The Delta in Pinocchio: a second opinion that shares only lengths and masses with the first.

It is a spanning tree of 16 joints with the platform on limb 1; joint 7 of every limb and joint 6 of limbs 2 and 3 are
cut, and the Jacobians of frames on both sides of a cut close them. Angles come from Newton steps on those closures,
rates from their derivatives, torques from the tree's recursive Newton-Euler algorithm and the closures' multipliers.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from .delta_bodies import AZIMUTHS, Array, Delta, parse_delta
from .tree_pinocchio import BASE, TreeBody, tree_pinocchio

PLATFORM = 15
MOTORS = [0, 5, 10]


class Cut(NamedTuple):
    """A revolute joint left out of the tree: frames on both bodies, whose x axes are its axis."""

    first: int
    second: int


class ClosedDelta:
    """A Delta as a tree with closures. Order of q (16,): joints 1 to 5 of each limb, then joint 6 of limb 1."""

    def __init__(self, parameters: Delta | Mapping[str, Any]) -> None:
        self.delta = parse_delta(parameters)
        self.tree = tree_pinocchio(_delta_bodies(self.delta), self.delta.gravity)
        self.platform = self._frame("platform", PLATFORM, np.eye(3), _platform_centre(self.delta))
        self.cuts = self._cuts()
        self.data = self.tree.model.createData()

    def inverse_dynamics(self, position: Any, velocity: Any, acceleration: Any) -> dict[str, Any]:
        """Motor torques (3,) and motion of the tree (16,) of one sample, with what proves it.

        `tip_force` (2, 3): force of limbs 2 and 3 on the platform, world axes; `closure` (3,): how far the loops are
        open, and how fast and with what acceleration they open. Raises ValueError for a position out of reach.
        """
        q = self.solve(np.asarray(position))
        jacobian, value, _ = self._closure(q, np.zeros(16))
        qd = _solve(jacobian, self._target(velocity))
        drift = self._closure(q, qd)[2]
        qdd = _solve(jacobian, self._target(acceleration) - drift)
        motors = np.eye(16)[:, MOTORS]
        forces = _solve(np.hstack([motors, jacobian[:-3].T]), self.tree.rnea(q, qd, qdd))
        return {
            "torque": forces[:3] + self.delta.armature * qdd[MOTORS],
            "tip_force": -forces[3:].reshape(5, 5)[[2, 4], :3],
            "q": q,
            "qd": qd,
            "qdd": qdd,
            "closure": np.abs([value[:-3], (jacobian @ qd)[:-3], (jacobian @ qdd + drift)[:-3]]).max(axis=1),
        }

    def solve(self, position: Array) -> Array:
        """Angles (16,) at a platform position, followed from the reference pose in short steps so that no limb flips.

        Raises ValueError where the position is out of reach.
        """
        q, home = np.zeros(16), np.array([0.0, 0.0, -self.delta.height])
        for share in np.linspace(0.2, 1.0, 5):
            q = self._newton(q, self._target(home + share * (position - home)))
        return q

    def _newton(self, q: Array, target: Array) -> Array:
        for _ in range(8):
            jacobian, value, _ = self._closure(q, np.zeros(16))
            if np.abs(target - value).max() < 1e-14:
                return q
            q = q + _solve(jacobian, target - value)
        _, value, _ = self._closure(q, np.zeros(16))
        if not (miss := np.abs(target - value).max()) < 1e-12:
            raise ValueError(f"no angles for {target[-3:]}: loops stay open by {miss:.1e}, choose one nearer home")
        return q

    def energy(self, q: Any, qd: Any) -> tuple[float, float]:
        """Kinetic (drives included) and potential energy [J] of a state of the tree."""
        model, inner = self.tree.model, self.tree.inner(q)
        drives = 0.5 * self.delta.armature * float(np.sum(np.asarray(qd)[MOTORS] ** 2))
        kinetic = pin.computeKineticEnergy(model, self.data, inner, self.tree.inner(qd))
        return float(kinetic) + drives, float(pin.computePotentialEnergy(model, self.data, inner))

    @staticmethod
    def _target(platform: Any) -> Array:
        return np.concatenate([np.zeros(25), platform])

    def _frame(self, name: str, body: int, rotation: Any, position: Any) -> int:
        joint, placement = self.tree.joint[body], pin.SE3(np.asarray(rotation), np.asarray(position, dtype=float))
        return int(self.tree.model.addFrame(pin.Frame(name, joint, 0, placement, pin.FrameType.OP_FRAME)))

    def _cuts(self) -> list[Cut]:
        b, cuts = self.delta.link_length, []
        upright, tilted = np.eye(3), _tilt(self.delta).T @ _MINUS_Y_AS_X
        for limb in range(3):
            rod, wrist = 5 * limb + 4, 5 * limb + 3
            first = self._frame(f"rod{limb}", rod, upright, [0.0, 0.0, -self.delta.rod_length])
            cuts.append(Cut(first, self._frame(f"wrist{limb}", wrist, upright, [0.0, b, 0.0])))
            if limb > 0:
                first = self._frame(f"tip{limb}", wrist, tilted, [0.0, b / 2.0, 0.0])
                turn = _around_z(AZIMUTHS[limb])
                seat = _platform_centre(self.delta) - turn @ _platform_centre(self.delta)
                cuts.append(Cut(first, self._frame(f"seat{limb}", PLATFORM, turn @ _MINUS_Y_AS_X, seat)))
        return cuts

    def _closure(self, q: Array, qd: Array) -> tuple[Array, Array, Array]:
        """Jacobian (28, 16), value (28,) and acceleration (28,) due to velocity, of closures, then platform."""
        model, data, slots = self.tree.model, self.data, list(self.tree.slot)
        pin.forwardKinematics(model, data, self.tree.inner(q), self.tree.inner(qd), np.zeros(16))
        pin.computeJointJacobians(model, data)
        pin.updateFramePlacements(model, data)
        parts = [_cut_rows(partial(_frame_state, model, data), cut) for cut in self.cuts]
        jacobian, pose, _, drift = _frame_state(model, data, self.platform)
        parts.append((jacobian[:3], pose.translation, drift[:3]))
        rows, value, acceleration = (np.concatenate(each) for each in zip(*parts, strict=True))
        return rows[:, slots], value, acceleration


_MINUS_Y_AS_X = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])


def _frame_state(model: Any, data: Any, frame: int) -> tuple[Array, Any, Array, Array]:
    """Jacobian (6, 16; linear first, as Pinocchio has it), pose, angular velocity and acceleration (6,) of a frame."""
    reference = pin.LOCAL_WORLD_ALIGNED
    jacobian = pin.getFrameJacobian(model, data, frame, reference)
    omega = pin.getFrameVelocity(model, data, frame, reference).angular
    drift = pin.getFrameClassicalAcceleration(model, data, frame, reference).vector
    return jacobian, data.oMf[frame], omega, drift


def _cut_rows(state: Any, cut: Cut) -> tuple[Array, Array, Array]:
    """Five rows of a revolute closure: points coincide, y and z of the first frame stay across x of the second."""
    (jacobian_a, pose_a, omega_a, drift_a), (jacobian_b, pose_b, omega_b, drift_b) = state(cut.first), state(cut.second)
    jacobian, drift, x = jacobian_a - jacobian_b, drift_a - drift_b, pose_b.rotation[:, 0]
    rows, value, acceleration = [jacobian[:3]], [pose_a.translation - pose_b.translation], [drift[:3]]
    for across in (pose_a.rotation[:, 1], pose_a.rotation[:, 2]):
        normal = np.cross(across, x)
        change = np.cross(np.cross(omega_a, across), x) + np.cross(across, np.cross(omega_b, x))
        rows.append(normal[None, :] @ jacobian[3:])
        value.append(np.array([across @ x]))
        acceleration.append(np.array([normal @ drift[3:] + change @ (omega_a - omega_b)]))
    return np.concatenate(rows), np.concatenate(value), np.concatenate(acceleration)


def _solve(matrix: Array, right: Array) -> Array:
    return np.asarray(np.linalg.lstsq(matrix, right, rcond=1e-10)[0])


def _tilt(delta: Delta) -> Array:
    cos, sin = delta.height / delta.rod_length, delta.reach / delta.rod_length
    return np.array([[cos, 0.0, -sin], [0.0, 1.0, 0.0], [sin, 0.0, cos]])


def _around_z(angle: float) -> Array:
    return np.asarray(pin.AngleAxis(angle, np.array([0.0, 0.0, 1.0])).toRotationMatrix())


def _delta_bodies(delta: Delta) -> list[TreeBody]:
    """The tree: five bodies of each limb, then the platform on the wrist link of limb 1."""
    a, b, c = delta.upper_arm, delta.link_length, delta.rod_length
    upright, tilt, x, minus_y = np.eye(3), _tilt(delta), (1.0, 0.0, 0.0), (0.0, -1.0, 0.0)
    bodies: list[TreeBody] = []
    for limb, azimuth in enumerate(AZIMUTHS):
        turn, arm = _around_z(azimuth), 5 * limb
        shoulder = turn @ np.array([-delta.base_radius, 0.0, 0.0])
        bodies += [
            _moved(delta, "arm", BASE, turn, shoulder, minus_y),
            _moved(delta, "elbow", arm, tilt, (-a, 0.0, 0.0), minus_y),
            _moved(delta, "rod", arm + 1, upright, (0.0, -b / 2.0, 0.0), x),
            _moved(delta, "wrist", arm + 2, upright, (0.0, 0.0, -c), x, (0.0, b / 2.0, 0.0)),
            _moved(delta, "rod", arm + 1, upright, (0.0, b / 2.0, 0.0), x),
        ]
    bodies.append(_moved(delta, "platform", 3, tilt.T, (0.0, b / 2.0, 0.0), minus_y, _platform_centre(delta)))
    return bodies


def _platform_centre(delta: Delta) -> Array:
    """The platform's reference point from its joint with limb 1, where the tree has the frame of that body."""
    return np.array([delta.platform_radius, 0.0, 0.0])


def _moved(
    delta: Delta, name: str, parent: int, rotation: Any, position: Any, axis: Any, origin: Any = (0.0, 0.0, 0.0)
) -> TreeBody:
    """A body of the Delta on its joint; `origin` is where the frame of its solid sits from that joint."""
    solid = delta.solids[name]
    centre = solid.centre + np.asarray(origin)
    return TreeBody(parent, rotation, position, axis, "revolute", solid.mass, centre, solid.tensor)
