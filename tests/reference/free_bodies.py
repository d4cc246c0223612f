"""Any mechanism as free bodies with constraint forces: accelerations and joint reactions under forces in its joints.

Newton and Euler's six equations for each body, and for each joint the rows that keep its two bodies together, with as
many unknown reactions; nothing is eliminated, and tree joints are as cut ones. Unknown are all accelerations and all
reactions at once; where reactions are not determined, those of least norm are taken, by singular values. What drives
and friction do in a joint is known, and everything is affine in it. Poses of bodies come from angles that are given:
joints have to be closed there, or it says so.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

Array = NDArray[np.float64]

BASE, PLATFORM = -1, -2
TWIST = ("wx", "wy", "wz", "vx", "vy", "vz")

OPEN = 1e-8
"""Largest gap of joints in m and rad, and of their rates, relative to the largest."""

RANK = 1e-11
"""Singular values of the whole system below which a combination is not determined, relative to the largest."""


class FreeBody(NamedTuple):
    """Pose, motion and inertia of a body in world axes; `point` is the origin of its frame."""

    rotation: Array
    point: Array
    omega: Array
    speed: Array
    mass: float
    centre: Array
    tensor: Array


class FreeJoint(NamedTuple):
    """A joint between bodies `first` and `second`, of a kind, with its frames on both (axes as columns) and its point.

    `axis` is the unit vector of the freedom of one that has a single one; `armature` acts along it.
    """

    name: str
    kind: str
    first: int
    second: int
    axes: tuple[Array, Array]
    points: tuple[Array, Array]
    axis: Array
    armature: float


class FreeDrive(NamedTuple):
    """A motor: what its rate is of the rates of joints, by number, and its rotors on bodies.

    A rotor (body, axis in world axes, inertia, share, coupling) has the energy I w^2 / 2 + coupling I w (axis . omega)
    of its spin w, a share of the motor's rate, beside what it has as a part of its body.
    """

    name: str
    ratios: tuple[tuple[int, float], ...]
    rotors: tuple[tuple[int, Array, float, float, float], ...]


class Affine(NamedTuple):
    """start + slope @ x, for x (joint,)."""

    start: Array
    slope: Array

    def __call__(self, x: Array) -> Array:
        """Return the value at x."""
        return np.asarray(self.start + self.slope @ x)


class Response(NamedTuple):
    """Response to forces x (joint,) along axes of joints: accelerations of these joints, and their loads.

    carried (joint, 5): moment across the axis, force across it, and along it the force, of one that slides the moment;
    platform: angular and linear acceleration of its point (6,).
    """

    acceleration: Affine
    carried: Affine
    platform: Affine


def cross(vector: Array) -> Array:
    """The matrix of a cross product."""
    x, y, z = vector
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def _frame(frame: Any) -> tuple[Array, Array]:
    return np.array(frame.rotation, dtype=float), np.array(frame.position, dtype=float)


def _body(rotation: Array, point: Array, omega: Array, speed: Array, inertia: Any) -> FreeBody:
    tensor = rotation @ np.array(inertia.tensor, dtype=float) @ rotation.T
    centre = rotation @ np.array(inertia.centre, dtype=float)
    return FreeBody(rotation, point, omega, speed, float(inertia.mass), centre, tensor)


class FreeBodies:
    """A mechanism at one state: q and qd of the tree joints of each limb, pose and twist of the platform."""

    def __init__(
        self, mechanism: Any, q: list[Array], qd: list[Array], gravity: Array,
        pose: tuple[Array, Array] | None = None, twist: Array | None = None,
    ) -> None:  # fmt: skip
        self.gravity, self.bodies, self.joints = np.asarray(gravity, dtype=float), list[FreeBody](), list[FreeJoint]()
        self.platform, self.drives = -1, list[FreeDrive]()
        starts = []
        for k, instance in enumerate(mechanism.instances):
            starts.append(len(self.bodies))
            self._links(
                instance, mechanism.limbs[instance.limb], q[k], qd[k], "" if pose is None else f"{instance.name}."
            )
        if pose is not None and twist is not None:
            position, rotation = pose
            self.platform = len(self.bodies)
            self.bodies.append(_body(rotation, position, twist[:3], twist[3:], mechanism.platform.inertia))
        for instance, start in zip(mechanism.instances, starts, strict=True):
            prefix = "" if pose is None else f"{instance.name}."
            for cut in (*mechanism.limbs[instance.limb].tips, *mechanism.limbs[instance.limb].loops):
                self._cut(cut, start, instance, prefix)
        self.names = [joint.name for joint in self.joints]
        for instance, start in zip(mechanism.instances, starts, strict=True):
            self._drives(mechanism.limbs[instance.limb], instance, start, "" if pose is None else f"{instance.name}.")
        self.guides = self._guides(mechanism.platform.mobility)
        self._check()

    def _guides(self, mobility: tuple[str, ...]) -> Array:
        """Rows over velocities of bodies that hold what a platform is said not to do, and limbs would let it."""
        result = np.zeros((0, 6 * len(self.bodies)))
        if self.platform < 0:
            return result
        rows = np.vstack([self._spread(joint, self._rows(joint)[0]) for joint in self.joints])
        _, sizes, right = np.linalg.svd(rows)
        loose = right[int((sizes > 1e-9 * sizes[0]).sum()) :]
        seat = 6 * self.platform
        for k, name in enumerate(TWIST):
            if name not in mobility and np.abs(loose[:, seat + k]).max(initial=0.0) > 1e-9:
                result = np.vstack([result, np.eye(len(right))[seat + k]])
        return result

    def _drives(self, limb: Any, instance: Any, start: int, prefix: str) -> None:
        for drive in limb.drives:
            if drive.position is not None:
                raise ValueError(f"{drive.name}: got a function of positions; expected ratios")
            ratios = tuple((self.names.index(prefix + joint), float(ratio)) for joint, ratio in drive.ratios)
            rotors = []
            for spin in drive.spins:
                body = BASE if spin.carrier == BASE else start + spin.carrier
                turned = _frame(instance.base)[0] if body == BASE else self.bodies[body].rotation
                axis = turned @ np.array(spin.axis, dtype=float)
                rotors.append((body, axis, float(spin.inertia), float(spin.share), float(spin.coupling)))
            self.drives.append(FreeDrive(prefix + drive.name, ratios, tuple(rotors)))

    def _links(self, instance: Any, limb: Any, q: Array, qd: Array, prefix: str) -> None:
        start = len(self.bodies)
        for link, angle, rate in zip(limb.links, q, qd, strict=True):
            if link.parent == BASE:
                first, (outer, origin), omega, speed = BASE, _frame(instance.base), np.zeros(3), np.zeros(3)
            else:
                first = start + link.parent
                outer, origin, omega, speed = self.bodies[first][:4]
            rotation, position = _frame(link.placement)
            axes, point = outer @ rotation, origin + outer @ position
            axis = axes @ np.array(link.axis, dtype=float)
            speed = speed + np.cross(omega, point - origin)
            if link.kind == "revolute":
                turned, along = axes @ Rotation.from_rotvec(np.array(link.axis, dtype=float) * angle).as_matrix(), point
                body = _body(turned, along, omega + axis * rate, speed, link.inertia)
            elif link.kind == "prismatic":
                along = point + axis * angle
                body = _body(axes, along, omega, speed + np.cross(omega, axis * angle) + axis * rate, link.inertia)
            else:
                raise ValueError(f"{link.joint}: got a joint of kind {link.kind}; expected revolute or prismatic")
            across = np.eye(3)[[k for k in range(3) if not link.axis[k]]].T
            own = np.column_stack([axes @ across, axis])
            self.joints.append(
                FreeJoint(prefix + link.joint, link.kind, first, len(self.bodies), (own, own), (along, along), axis,
                          float(link.armature))
            )  # fmt: skip
            self.bodies.append(body)

    def _cut(self, cut: Any, start: int, instance: Any, prefix: str) -> None:
        first = start + cut.a
        turn, shift = _frame(cut.frame_b)
        if cut.b == PLATFORM:
            second, (mount, seat) = self.platform, _frame(instance.platform)
            turn, shift = mount @ turn, seat + mount @ shift
        else:
            second = start + cut.b
        frames = []
        for body, (rotation, position) in ((first, _frame(cut.frame_a)), (second, (turn, shift))):
            at = self.bodies[body]
            frames.append((at.rotation @ rotation, at.point + at.rotation @ position))
        (axes_a, point_a), (axes_b, point_b) = frames
        joint = FreeJoint(
            prefix + cut.joint, cut.kind, first, second, (axes_a, axes_b), (point_a, point_b), axes_a[:, 2], 0.0
        )
        self.joints.append(joint)

    def _motion(self, body: int) -> tuple[Array, Array, Array]:
        """Point, angular and linear velocity; zero of the base."""
        if body == BASE:
            return np.zeros(3), np.zeros(3), np.zeros(3)
        at = self.bodies[body]
        return at.point, at.omega, at.speed

    def _rows(self, joint: FreeJoint) -> tuple[Array, Array, Array]:
        """Directions (row, 6; moment, force) in which a joint holds, how these change, and its relative velocity."""
        (_, omega_a, _), (_, omega_b, _) = self._motion(joint.first), self._motion(joint.second)
        a, b = joint.axes
        none = np.zeros(3)
        if joint.kind == "prismatic":
            turns, slides = list(np.eye(3)), [a[:, 0], a[:, 1]]
            moving = [none] * 3
        else:
            slides = list(np.eye(3))
            if joint.kind == "revolute":
                turns = [a[:, 0], a[:, 1]]
                moving = [np.cross(omega_a, x) for x in turns]
            elif joint.kind == "universal":
                x, y = a[:, 0], b[:, 1]
                turns = [np.cross(x, y)]
                moving = [np.cross(np.cross(omega_a, x), y) + np.cross(x, np.cross(omega_b, y))]
            elif joint.kind == "spherical":
                turns, moving = [], []
            else:
                raise ValueError(f"{joint.name}: got a joint of kind {joint.kind}; expected one of four")
        sliding = [np.cross(omega_a, x) if joint.kind == "prismatic" else none for x in slides]
        rows = [np.concatenate([x, none]) for x in turns] + [np.concatenate([none, x]) for x in slides]
        change = [np.concatenate([x, none]) for x in moving] + [np.concatenate([none, x]) for x in sliding]
        return np.array(rows), np.array(change), self._relative(joint)

    def _relative(self, joint: FreeJoint) -> Array:
        """Velocity of the second body relative to the first (6,), at the joint's point."""
        rates = []
        for body in (joint.first, joint.second):
            point, omega, speed = self._motion(body)
            rates.append(np.concatenate([omega, speed + np.cross(omega, joint.points[0] - point)]))
        return np.asarray(rates[1] - rates[0])

    def _check(self) -> None:
        fastest = max(1.0, *(float(np.abs([*body.omega, *body.speed]).max()) for body in self.bodies))
        for joint in self.joints:
            rows, _, rates = self._rows(joint)
            gap = np.abs(joint.points[0] - joint.points[1])
            if joint.kind == "prismatic":
                gap = np.abs(joint.axes[0][:, :2].T @ (joint.points[0] - joint.points[1]))
            crooked = 0.0
            if joint.kind == "revolute":
                crooked = float(np.abs(joint.axes[0][:, 2] - joint.axes[1][:, 2]).max())
            if max(float(gap.max()), crooked) > OPEN or np.abs(rows @ rates).max() > OPEN * fastest:
                raise ValueError(
                    f"{joint.name}: open by {gap.max():.1e} m, {crooked:.1e}, {np.abs(rows @ rates).max():.1e}"
                )

    def _spread(self, joint: FreeJoint, directions: Array) -> Array:
        """Directions (row, 6) at a joint's point as rows over the velocities of all bodies (row, 6 * body)."""
        result = np.zeros((len(directions), 6 * len(self.bodies)))
        for body, sign in ((joint.first, -1.0), (joint.second, 1.0)):
            if body == BASE:
                continue
            arm = joint.points[0] - self.bodies[body].point
            turning = directions[:, :3] - directions[:, 3:] @ cross(arm)
            result[:, 6 * body : 6 * body + 6] += sign * np.hstack([turning, directions[:, 3:]])
        return result

    def _drift(self, joint: FreeJoint) -> Array:
        """Relative acceleration at the joint's point (6,) without accelerations of the bodies."""
        parts = []
        for body in (joint.first, joint.second):
            point, omega, _ = self._motion(body)
            arm = joint.points[0] - point
            parts.append(np.concatenate([np.zeros(3), np.cross(omega, np.cross(omega, arm))]))
        result = np.asarray(parts[1] - parts[0])
        if joint.kind == "prismatic":  # its point on the second body moves along the first
            result[3:] += np.cross(self._motion(joint.first)[1], self._relative(joint)[3:])
        return result

    def axis(self, joint: FreeJoint) -> Array:
        """The direction (6,) of the freedom of a joint that has one."""
        none = np.zeros(3)
        return np.concatenate([none, joint.axis] if joint.kind == "prismatic" else [joint.axis, none])

    def response(self, names: list[str], driven: list[str], force: Array) -> Response:
        """Return the response to forces along the axes of the joints `names`, beside the `force` of `driven` joints."""
        size = 6 * len(self.bodies)
        held = [self._rows(joint) for joint in self.joints]
        rows = np.vstack([self._spread(joint, own[0]) for joint, own in zip(self.joints, held, strict=True)])
        drift = np.concatenate(
            [
                own @ self._drift(joint) + change @ rates
                for joint, (own, change, rates) in zip(self.joints, held, strict=True)
            ]
        )
        rows, drift = np.vstack([rows, self.guides]), np.concatenate([drift, np.zeros(len(self.guides))])
        mass, push = self._bodies()
        for joint in self.joints:
            if joint.armature:
                along = self._spread(joint, self.axis(joint)[None])[0]
                mass = mass + joint.armature * np.outer(along, along)
                push = push - along * joint.armature * self._along(joint)
        motors = {drive.name: self._driven(drive) for drive in self.drives}
        for drive in self.drives:
            mass, push = self._spun(drive, mass, push)
        for name, value in zip(driven, force, strict=True):
            if name in motors:
                push = push + motors[name][0] * value
                continue
            joint = self.joints[self.names.index(name)]
            push = push + self._spread(joint, self.axis(joint)[None])[0] * value
        chosen = [self.joints[self.names.index(name)] for name in names]
        directions = np.vstack([self._spread(joint, self.axis(joint)[None]) for joint in chosen])
        whole = np.block([[mass, -rows.T], [rows, np.zeros((len(rows), len(rows)))]])
        right = np.hstack(
            [np.concatenate([push, -drift])[:, None], np.vstack([directions.T, np.zeros((len(rows), len(chosen)))])]
        )
        solution = np.linalg.lstsq(whole, right, rcond=RANK)[0]
        missing = np.abs(whole @ solution - right).max(axis=0) / np.abs(right).max(axis=0)
        if missing.max() > 1e-7:
            raise ValueError(f"forces and accelerations: {missing.max():.1e} of the balance is missing")
        acceleration = directions @ solution[:size]
        acceleration[:, 0] += [self._along(joint) for joint in chosen]
        ends = np.cumsum([0, *(len(own[0]) for own in held)])
        carried = [
            self._carried(joint, held[k][0], solution[size + ends[k] : size + ends[k + 1]])
            for joint in chosen
            for k in [self.joints.index(joint)]
        ]
        seat = (
            solution[6 * self.platform : 6 * self.platform + 6]
            if self.platform >= 0
            else np.zeros((6, solution.shape[1]))
        )
        parts = (acceleration, np.stack(carried), seat)
        return Response(*(Affine(part[..., 0], part[..., 1:]) for part in parts))

    def _driven(self, drive: FreeDrive) -> tuple[Array, float, float]:
        """Rate of a motor as a row over velocities of bodies, that rate, and its acceleration due to velocity."""
        row, rate, drift = np.zeros(6 * len(self.bodies)), 0.0, 0.0
        for number, ratio in drive.ratios:
            joint = self.joints[number]
            row = row + ratio * self._spread(joint, self.axis(joint)[None])[0]
            rate += ratio * float(self.axis(joint) @ self._relative(joint))
            drift += ratio * self._along(joint)
        return row, rate, drift

    def _spun(self, drive: FreeDrive, mass: Array, push: Array) -> tuple[Array, Array]:
        """Mass and force with what the rotors of a motor take to spin up, and do to the bodies that carry them."""
        row, rate, drift = self._driven(drive)
        for body, axis, inertia, share, coupling in drive.rotors:
            carrier, swing = np.zeros(len(push)), np.zeros(len(push))
            if body != BASE:
                carrier[6 * body : 6 * body + 3] = axis
                swing[6 * body : 6 * body + 3] = np.cross(self.bodies[body].omega, axis) * share * rate
            spin = share * row
            both = np.outer(spin, carrier) + np.outer(carrier, spin)
            mass = mass + inertia * (np.outer(spin, spin) + coupling * both)
            push = push - inertia * (share * drift * (spin + coupling * carrier) + coupling * swing)
        return mass, push

    def _along(self, joint: FreeJoint) -> float:
        """Return the velocity-dependent acceleration of a joint along its axis."""
        omega = self._motion(joint.first)[1]
        turning = np.cross(omega, joint.axis)
        change = np.concatenate([np.zeros(3), turning] if joint.kind == "prismatic" else [turning, np.zeros(3)])
        return float(self.axis(joint) @ self._drift(joint) + change @ self._relative(joint))

    def _bodies(self) -> tuple[Array, Array]:
        """Mass matrix of all bodies and the force on them, gyroscopic terms included, at their points."""
        size = 6 * len(self.bodies)
        mass, push = np.zeros((size, size)), np.zeros(size)
        for k, body in enumerate(self.bodies):
            own, arm = slice(6 * k, 6 * k + 6), cross(body.centre)
            tensor = body.tensor - body.mass * arm @ arm
            mass[own, own] = np.block([[tensor, body.mass * arm], [-body.mass * arm, body.mass * np.eye(3)]])
            swing = np.cross(body.omega, np.cross(body.omega, body.centre))
            push[own] = np.concatenate(
                [
                    -np.cross(body.omega, tensor @ body.omega) + body.mass * np.cross(body.centre, self.gravity),
                    body.mass * (self.gravity - swing),
                ]
            )
        return mass, push

    def _carried(self, joint: FreeJoint, rows: Array, multipliers: Array) -> Array:
        """(5, columns) from reactions (row, columns)."""
        wrench = rows.T @ multipliers
        axes = joint.axes[0]
        if abs(abs(axes[:, 2] @ joint.axis) - 1.0) > 1e-9:
            raise ValueError(f"{joint.name}: got an axis that is none of its frame")
        moment, push = axes.T @ wrench[:3], axes.T @ wrench[3:]
        return np.vstack([moment[:2], push[:2], (moment if joint.kind == "prismatic" else push)[2:]])
