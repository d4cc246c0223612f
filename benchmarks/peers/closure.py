"""Closed loops of a batch in NumPy, around an engine for trees: code that its user would have to write.

Everything is done for all samples at once, on arrays (..., sample). Of the rows that close the cut joints as many are
kept as are independent; which, is found once, before any time is taken. A cut joint is revolute: its points coincide
and its z axes are parallel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import qr

from benchmarks.peers.bodies import Body, Cut, Pose, Skeleton
from robots.types import BASE

Array = np.ndarray
Rnea = Callable[[Array, Array, Array], Array]
"""Joint torques (sample, body) of the tree from positions, rates and accelerations."""

Column = tuple[Array, Callable[[Array], Array]]
"""Motion by a joint of unit rate: angular velocity (3, sample), and velocity as a function of the point."""

CLOSED = 1e-13
STEPS = 30


@dataclass(frozen=True)
class Target:
    """Motion of the platform: position (3, sample), rotation (3, 3, sample), twist and its change (6, sample)."""

    position: Array
    rotation: Array
    twist: Array
    change: Array

    @classmethod
    def of(cls, states: dict[str, Array]) -> Target:
        """Return the target from states in the form that functions of `tasks` take."""
        names = ("position", "rotation", "twist", "acceleration")
        return cls(*(np.ascontiguousarray(np.moveaxis(states[name], 0, -1)) for name in names))


@dataclass
class Placed:
    """Rotation (3, 3, sample) and origin (3, sample) of each body; with rates also the bias accelerations."""

    rotation: list[Array]
    origin: list[Array]
    omega: list[Array]
    alpha: list[Array]
    acceleration: list[Array]


def placed(skeleton: Skeleton, q: Array, qd: Array | None = None) -> Placed:
    """Return the bodies at q (body, sample), with rates also their velocities and bias accelerations."""
    made = Placed([], [], [], [], [])
    base, zero = np.broadcast_to(np.eye(3)[..., None], (3, 3, q.shape[1])), np.zeros((3, q.shape[1]))
    for k, body in enumerate(skeleton.bodies):
        up = body.parent
        turn, origin = (base, zero) if up == BASE else (made.rotation[up], made.origin[up])
        arm, turn = _arm(turn, body.at.position), np.matmul(body.at.rotation.T, turn)
        axis = turn[:, 2]
        if body.kind == "revolute":
            c, s = np.cos(q[k]), np.sin(q[k])
            turn = np.stack([c * turn[:, 0] + s * turn[:, 1], c * turn[:, 1] - s * turn[:, 0], axis], axis=1)
        if body.kind == "prismatic":
            arm = arm + axis * q[k]
        made.rotation.append(turn)
        made.origin.append(origin + arm)
        if qd is not None:
            _move(made, body, arm, axis * qd[k], zero)
    return made


def _move(made: Placed, body: Body, arm: Array, rate: Array, zero: Array) -> None:
    above = (made.omega, made.alpha, made.acceleration)
    omega, alpha, a = (zero if body.parent == BASE else each[body.parent] for each in above)
    a = a + _cross(alpha, arm) + _cross(omega, _cross(omega, arm))
    if body.kind == "revolute":
        alpha, omega = alpha + _cross(omega, rate), omega + rate
    else:
        a = a + 2.0 * _cross(omega, rate)
    for values, value in zip(above, (omega, alpha, a), strict=True):
        values.append(value)


class Closure:
    """The cut joints of a skeleton, and the platform's motion, as equations for the joints of the tree."""

    def __init__(self, skeleton: Skeleton, q: Array, *, held: bool = True):
        """Choose independent rows at closed positions (sample, body); with `held` of a platform that is held as well.

        That makes better equations; but only cut joints carry something. Raises ValueError where there are too few.
        """
        self.skeleton = skeleton
        self.up = [self._chain(k) for k in range(skeleton.size)]
        last = 5 * len(skeleton.cuts)
        self.free = [last + k for k in skeleton.freedoms]
        rows = [row for row in range(last + 6 if held else last) if row not in self.free]
        every = self.matrix(placed(skeleton, q.T), range(last + 6))
        self.chosen = self._independent(every, rows) + self.free

    def forces(self, target: Target, q: Array | None, rnea: Rnea) -> Array:
        """Return actuator forces (sample, actuator): the whole job, or the rest at joint positions q (body, sample)."""
        if q is None:
            q = self.close(target)
        qd, qdd, unit = self.motion(target, q)
        return self.projected(rnea(np.ascontiguousarray(q.T), qd, qdd), unit)

    def projected(self, torque: Array, unit: Array, other: Array | float = 0.0) -> Array:
        """Return actuator forces (sample, actuator) from tree torques and unit rates (sample, body, freedom).

        other: a wrench on the freedoms (sample, freedom) that is not among the torques.
        """
        wrench = np.matmul(unit.swapaxes(1, 2), torque[..., None]) + np.asarray(other)[..., None]
        jacobian = unit[:, list(self.skeleton.motors)]
        return np.asarray(np.linalg.solve(jacobian.swapaxes(1, 2), wrench)[..., 0])

    def close(self, target: Target) -> Array:
        """Return joint positions (body, sample) by Newton from the reference pose. Raises ValueError on failure."""
        q = np.zeros((self.skeleton.size, target.position.shape[1]))
        for _ in range(STEPS):
            at = placed(self.skeleton, q)
            residual = self.residual(at, target)[self.chosen]
            if np.abs(residual).max() < CLOSED:
                return q
            q = q - np.linalg.solve(self.matrix(at, self.chosen), residual.T[..., None])[..., 0].T
        raise ValueError(f"loops: open by {np.abs(residual).max():.1e} after {STEPS} Newton steps; expected {CLOSED:g}")

    def motion(self, target: Target, q: Array) -> tuple[Array, Array, Array]:
        """Return the rates and accelerations (sample, body), and rates for unit twists (sample, body, freedom)."""
        inverse = np.linalg.inv(self.matrix(placed(self.skeleton, q), self.chosen))
        free = list(self.skeleton.freedoms)
        unit = np.ascontiguousarray(inverse[:, :, -len(free) :])
        qd = np.matmul(unit, target.twist[free].T[..., None])[..., 0]
        wanted = -self.drift(placed(self.skeleton, q, qd.T))[self.chosen]
        wanted[-len(free) :] += target.change[free]
        return qd, np.matmul(inverse, wanted.T[..., None])[..., 0], unit

    def platform(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the accelerations of the freedoms (sample, freedom) from those of the joints (sample, body)."""
        at = placed(self.skeleton, q, qd.T)
        rows = self.matrix(at, self.free)
        return np.asarray(np.matmul(rows, qdd[..., None])[..., 0] + self.drift(at)[self.free].T)

    def accelerations(self, q: Array, qd: Array, mass: Array, bias: Array, force: Array) -> Array:
        """Return the same from forces of actuators, and inertia matrices and bias of the tree (sample, body[, body]).

        `idle` are the accelerations of joints while the freedoms of the platform do not accelerate.
        """
        at = placed(self.skeleton, q, qd.T)
        inverse = np.linalg.inv(self.matrix(at, self.chosen))
        unit, idle = inverse[:, :, -len(self.free) :], np.matmul(inverse, -self.drift(at)[self.chosen].T[..., None])
        torque = -bias
        torque[:, list(self.skeleton.motors)] += force
        along = np.matmul(unit.swapaxes(1, 2), torque[..., None] - np.matmul(mass, idle))
        inertia = np.matmul(unit.swapaxes(1, 2), np.matmul(mass, unit))
        return np.asarray(np.linalg.solve(inertia, along)[..., 0])

    def reactions(self, q: Array, torn: Array) -> Array:
        """Return the wrenches of the joints of the tree (sample, body, 6), at positions q (body, sample).

        torn: those of the tree without the cut joints and the forces of actuators (sample, body, 6), (moment, force) on
        a body by its parent at its joint. For a closure without rows of a platform that is held.
        """
        at = placed(self.skeleton, q)
        axes = np.stack([turn[:, 2] for turn in at.rotation]).transpose(2, 0, 1)
        parts = (slice(0, 3) if body.kind == "revolute" else slice(3, 6) for body in self.skeleton.bodies)
        torque = np.stack([(torn[:, k, part] * axes[:, k]).sum(axis=1) for k, part in enumerate(parts)], axis=1)
        closing = self.chosen[: -len(self.free)]
        driven = np.zeros((self.skeleton.size, len(self.skeleton.motors)))
        driven[list(self.skeleton.motors), range(len(self.skeleton.motors))] = 1.0
        rows = self.matrix(at, closing).swapaxes(1, 2)
        known = np.concatenate([rows, np.broadcast_to(driven, (len(torque), *driven.shape))], axis=2)
        found = np.linalg.solve(known, torque[..., None])[..., 0].T
        result = torn.copy()
        for row, value in zip(closing, found, strict=False):
            self._carry(at, result, row, value)
        return result

    def _carry(self, at: Placed, result: Array, row: int, value: Array) -> None:
        """Subtract the reaction of a row of a cut joint from the joints that would have to bear it without the cut."""
        number, kind = divmod(row, 5)
        cut = self.skeleton.cuts[number]
        (point, axes_a), (_, axes_b) = _end(at, cut.a, cut.at_a), _end(at, cut.b, cut.at_b)
        zero = np.zeros_like(point)
        moment = _cross(axes_a[:, kind - 3], axes_b[:, 2]) * value if kind >= 3 else zero
        force = zero if kind >= 3 else np.eye(3)[kind][:, None] * value
        for joint, sign in self._sides(cut.a, cut.b):
            whole = moment + _cross(point - at.origin[joint], force)
            result[:, joint] -= sign * np.concatenate([whole, force]).T

    def residual(self, at: Placed, target: Target) -> Array:
        """Compute the residual of all cut joints and of the pose of the platform (row, sample)."""
        parts = []
        for cut in self.skeleton.cuts:
            (p_a, axes_a), (p_b, axes_b) = _end(at, cut.a, cut.at_a), _end(at, cut.b, cut.at_b)
            parts += [p_a - p_b, (axes_a[:, :2] * axes_b[:, None, 2]).sum(axis=0)]
        position, axes = _end(at, self.skeleton.platform, self.skeleton.seat)
        off = np.einsum("ijs,kjs->iks", axes, target.rotation)
        turn = 0.5 * np.stack([off[2, 1] - off[1, 2], off[0, 2] - off[2, 0], off[1, 0] - off[0, 1]])
        return np.concatenate([*parts, turn, position - target.position])

    def matrix(self, at: Placed, rows: Sequence[int]) -> Array:
        """Return the rates of some of these for unit rates of the joints (sample, row, body)."""
        columns = [_column(body.kind, at, k) for k, body in enumerate(self.skeleton.bodies)]
        found = np.zeros((len(rows), self.skeleton.size, at.origin[0].shape[1]))
        for k, cut in enumerate(self.skeleton.cuts):
            own = {row - 5 * k: found[slot] for slot, row in enumerate(rows) if row // 5 == k}
            if own:
                self._cut_rows(at, cut, columns, own)
        last, (place, _) = 5 * len(self.skeleton.cuts), _end(at, self.skeleton.platform, self.skeleton.seat)
        platform = {row - last: found[slot] for slot, row in enumerate(rows) if row >= last}
        for joint in self.up[self.skeleton.platform]:
            spin, point = columns[joint]
            both = np.concatenate([spin, point(place)])
            for kind, row in platform.items():
                row[joint] = both[kind]
        return np.ascontiguousarray(found.transpose(2, 0, 1))

    def _cut_rows(self, at: Placed, cut: Cut, columns: Sequence[Column], own: Mapping[int, Array]) -> None:
        """Fill rows (body, sample) of a cut joint by their kind: 0 to 2 distances, 3 and 4 cosines."""
        (point_a, axes_a), (_, axes_b) = _end(at, cut.a, cut.at_a), _end(at, cut.b, cut.at_b)
        normals = {kind: _cross(axes_a[:, kind - 3], axes_b[:, 2]) for kind in own if kind >= 3}
        for joint, sign in self._sides(cut.a, cut.b):
            spin, point = columns[joint]
            moved = point(point_a)
            for kind, row in own.items():
                row[joint] = sign * (moved[kind] if kind < 3 else (normals[kind] * spin).sum(axis=0))

    def drift(self, at: Placed) -> Array:
        """Return the second derivatives (row, sample) of the rows at constant rates."""
        parts = []
        for cut in self.skeleton.cuts:
            (_, axes_a), (_, axes_b) = _end(at, cut.a, cut.at_a), _end(at, cut.b, cut.at_b)
            parts.append(_pulled(at, cut.a, cut.at_a) - _pulled(at, cut.b, cut.at_b))
            parts.append(np.stack([_tilt(at, cut.a, cut.b, axes_a[:, i], axes_b[:, 2]) for i in range(2)]))
        top = self.skeleton.platform
        return np.concatenate([*parts, at.alpha[top], _pulled(at, top, self.skeleton.seat)])

    def _chain(self, body: int) -> list[int]:
        found: list[int] = []
        while body != BASE:
            found.append(body)
            body = self.skeleton.bodies[body].parent
        return found

    def _sides(self, a: int, b: int) -> Iterator[tuple[int, float]]:
        """Yield the joints that move only one side of a cut; a joint that moves both does not change it."""
        yield from ((k, 1.0) for k in self.up[a] if k not in self.up[b])
        yield from ((k, -1.0) for k in self.up[b] if k not in self.up[a])

    def _independent(self, matrix: Array, rows: list[int]) -> list[int]:
        wanted = self.skeleton.size - len(self.free)
        _, triangle, order = qr(matrix[len(matrix) // 2][rows].T, mode="economic", pivoting=True)
        sizes = np.abs(np.diag(triangle))
        found = int((sizes > 1e-9 * sizes.max(initial=0.0)).sum())
        if found != wanted:
            raise ValueError(f"cut joints: got {found} independent rows at these positions; expected {wanted}")
        return sorted(rows[k] for k in order[:wanted])


def _column(kind: str, at: Placed, joint: int) -> Column:
    """Return the twist that a unit rate of a joint gives to the bodies beyond it."""
    axis, origin = at.rotation[joint][:, 2], at.origin[joint]
    if kind == "revolute":
        return axis, lambda point: _cross(axis, point - origin)
    return np.zeros_like(axis), lambda point: axis


def _arm(rotation: Array, position: Array) -> Array:
    return np.asarray(np.tensordot(rotation, position, (1, 0)))


def _end(at: Placed, body: int, frame: Pose) -> tuple[Array, Array]:
    """Return the origin (3, sample) and axes (3, 3, sample) of a frame on a body."""
    rotation = at.rotation[body]
    return at.origin[body] + _arm(rotation, frame.position), np.matmul(frame.rotation.T, rotation)


def _pulled(at: Placed, body: int, frame: Pose) -> Array:
    """Return the acceleration of the origin of a frame on a body."""
    arm, omega = _arm(at.rotation[body], frame.position), at.omega[body]
    return at.acceleration[body] + _cross(at.alpha[body], arm) + _cross(omega, _cross(omega, arm))


def _tilt(at: Placed, a: int, b: int, e_a: Array, e_b: Array) -> Array:
    """Return the second derivative of the cosine between an axis on one body and an axis on another."""
    omega_a, omega_b = at.omega[a], at.omega[b]
    change = _cross(_cross(omega_a, e_a), e_b) + _cross(e_a, _cross(omega_b, e_b))
    turn = (at.alpha[a] - at.alpha[b]) * _cross(e_a, e_b) + (omega_a - omega_b) * change
    return np.asarray(turn.sum(axis=0))


def _cross(a: Array, b: Array) -> Array:
    # np.cross takes twice as long on this layout
    return np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])
