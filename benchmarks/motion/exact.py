"""Inverse dynamics in many digits, from positions alone: the truth at poses near singularities.

Closures are solved by Newton's method with numbers of mpmath; velocities, accelerations and virtual displacements are
differences of positions over steps so small that their error is far below that of doubles; forces follow from virtual
work. Shares no code with the packages but the description of a robot, and starts from joints that these have found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import mpmath
import numpy as np
from mpmath import mpf
from scipy.linalg import qr

from robots.model import PLATFORM, Closure, Instance, Mechanism
from robots.types import BASE, TWIST

DIGITS = 90
"""Digits of the numbers; results have 50 and more."""

APART = mpf(10) ** -25
"""Step of differences, whose error is its square."""

ROUNDS = 60
"""Rounds of Newton's method after which a limb has no solution."""

Array = Any
Pose = tuple[Array, Array]
"""Rotation (3, 3) and position (3,)."""


def exact(values: Any) -> Array:
    """Return an array of numbers of mpmath."""
    return np.vectorize(lambda x: mpf(float(x)), otypes=[object])(np.asarray(values, dtype=float))


def turned(axis: Array, angle: Any) -> Array:
    """Return the rotation (3, 3) about a unit axis."""
    x, y, z = axis
    skew = np.array([[mpf(0), -z, y], [z, mpf(0), -x], [-y, x, mpf(0)]])
    return exact(np.eye(3)) + mpmath.sin(angle) * skew + (1 - mpmath.cos(angle)) * (skew @ skew)


def turned_by(vector: Array) -> Array:
    """Return the rotation (3, 3) by a vector of rotation."""
    angle = mpmath.sqrt(sum(x * x for x in vector))
    return exact(np.eye(3)) if angle == 0 else turned(vector / angle, angle)


def solve(matrix: Array, right: Array) -> Array:
    """Return the solution of linear equations (n, n), (n, k), by elimination with pivots."""
    m, n = np.concatenate([matrix, right.reshape(len(matrix), -1)], axis=1), len(matrix)
    for k in range(n):
        pivot = k + max(range(n - k), key=lambda i: abs(m[k + i, k]))
        m[[k, pivot]] = m[[pivot, k]]
        m[k] = m[k] / m[k, k]
        for i in range(n):
            if i != k and m[i, k] != 0:
                m[i] = m[i] - m[i, k] * m[k]
    return m[:, n:].reshape(right.shape)


@dataclass(frozen=True)
class _Frame:
    rotation: Array
    position: Array

    @classmethod
    def of(cls, frame: Any) -> _Frame:
        return cls(exact(frame.rotation), exact(frame.position))

    def within(self, pose: Pose) -> Pose:
        return pose[0] @ self.rotation, pose[1] + pose[0] @ self.position


class ExactLimb:
    """One limb of a robot, with its mounts; targets are poses of the platform, of a chain positions of freedoms."""

    def __init__(self, mechanism: Mechanism, instance: Instance):
        self.limb, self.chain = mechanism.limbs[instance.limb], mechanism.is_chain
        self.names = [link.joint for link in self.limb.links]
        self.given = [self.names.index(name) for name in mechanism.freedoms] if self.chain else []
        self.base, self.mount = _Frame.of(instance.base), _Frame.of(instance.platform)
        self.places = [(_Frame.of(link.placement), exact(link.axis)) for link in self.limb.links]
        self.ends = [(_Frame.of(cut.frame_a), _Frame.of(cut.frame_b)) for cut in self.limb.cuts]
        self.rows: list[int] = []
        self.jacobian: Array = None

    def bodies(self, joints: Array) -> list[Pose]:
        """Return the poses of all links in the world."""
        base = exact(np.eye(3)) @ self.base.rotation, self.base.position
        poses: list[Pose] = []
        for link, (place, axis), x in zip(self.limb.links, self.places, joints, strict=True):
            own, at = place.within(base if link.parent == BASE else poses[link.parent])
            along = x if link.kind == "prismatic" else mpf(float(link.pitch or 0.0)) * x
            if along != 0:
                at = at + along * (own @ axis)
            poses.append((own if link.kind == "prismatic" else own @ turned(axis, x), at))
        return poses

    def gaps(self, joints: Array, target: Any) -> Array:
        """Return the residuals of all rows."""
        poses, result = self.bodies(joints), []
        for index, place in enumerate(self.given):
            result.append(joints[place] - target[index])
        for entry in self.limb.couplings:
            ratio = mpf(float(entry.ratio))
            result.append(joints[self.names.index(entry.joint)] - ratio * joints[self.names.index(entry.of)])
        base = self.base.rotation, self.base.position
        for cut, (a, b) in zip(self.limb.cuts, self.ends, strict=True):
            one = a.within(base if cut.a == BASE else poses[cut.a])
            if cut.b == PLATFORM:
                other = b.within(self.mount.within(target))
            else:
                other = b.within(base if cut.b == BASE else poses[cut.b])
            result += _closed(cut, one, other)
        return np.array(result, dtype=object)

    def start(self, joints: Sequence[float], target: Any) -> Array:
        """Return the joints at a target, from near ones; keeps rows and slopes for targets close to it."""
        x = exact(joints)
        slopes = np.array(self._slopes(x, target), dtype=float)
        self.rows = sorted(qr(slopes.T, pivoting=True, mode="r")[1][: len(x)])
        for _ in range(ROUNDS):
            self.jacobian = self._slopes(x, target)[self.rows]
            step = solve(self.jacobian, self.gaps(x, target)[self.rows])
            x = x - step
            if max(abs(value) for value in step) < mpf(10) ** -(DIGITS // 2 + 25):
                return x
        raise ArithmeticError("no solution near")

    def near(self, joints: Array, target: Any) -> Array:
        """Return the joints at a target close to that of the start."""
        x = joints
        for _ in range(ROUNDS):
            step = solve(self.jacobian, self.gaps(x, target)[self.rows])
            x = x - step
            if max(abs(value) for value in step) < mpf(10) ** -(DIGITS - 12):
                return x
        raise ArithmeticError("no solution near")

    def _slopes(self, joints: Array, target: Any) -> Array:
        first, columns = self.gaps(joints, target), []
        small = mpf(10) ** -(DIGITS // 2)
        for k in range(len(joints)):
            moved = joints.copy()
            moved[k] = moved[k] + small
            columns.append((self.gaps(moved, target) - first) / small)
        return np.stack(columns, axis=1)


def _cross(a: Array, b: Array) -> list[Any]:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def _closed(cut: Closure, a: Pose, b: Pose) -> list[Any]:
    """Return the residuals of a closure between two frames."""
    gap = a[1] - b[1]
    axes_a, axes_b = a[0].T, b[0].T
    if cut.kind == "spherical":
        return [*gap]
    if cut.kind == "universal":
        return [*gap, axes_a[0] @ axes_b[1]]
    if cut.kind == "revolute":
        return [*gap, axes_a[0] @ axes_b[2], axes_a[1] @ axes_b[2]]
    if cut.kind in ("cylindrical", "prismatic"):
        rows = [axes_a[0] @ gap, axes_a[1] @ gap, axes_a[0] @ axes_b[2], axes_a[1] @ axes_b[2]]
        return rows if cut.kind == "cylindrical" else [*rows, axes_a[0] @ axes_b[1]]
    if cut.kind == "fixed":
        return [*gap, *(x for k in range(3) for x in _cross(axes_a[k], axes_b[k]))]
    raise NotImplementedError(cut.kind)


def can_be_exact(mechanism: Mechanism) -> bool:
    """Return whether forces can be computed: no drives, springs or postures, as many actuators as freedoms."""
    plain = not mechanism.has_forces and len(mechanism.actuators) == len(mechanism.freedoms)
    return plain and not any(limb.drives or limb.posture for limb in mechanism.limbs)


class ExactRobot:
    """Inverse dynamics of a robot, see `can_be_exact`."""

    def __init__(self, mechanism: Mechanism):
        self.mechanism = mechanism
        self.limbs = [ExactLimb(mechanism, instance) for instance in mechanism.instances]
        self.freedoms = [TWIST.index(name) for name in mechanism.freedoms if not mechanism.is_chain]

    def target(self, state: dict[str, Any], time: Any, shift: int | None = None, by: Any = 0) -> Any:
        """Return the target of the limbs some time from a state, or displaced along a freedom."""
        if self.mechanism.is_chain:
            moved = [exact(state[name]) for name in ("q", "qd", "qdd")]
            place = moved[0] + moved[1] * time + moved[2] * (time * time / 2)
            if shift is not None:
                place[shift] = place[shift] + by
            return place
        twist, change = exact(state["twist"]), exact(state["acceleration"])
        way = twist * time + change * (time * time / 2)
        if shift is not None:
            way[self.freedoms[shift]] = way[self.freedoms[shift]] + by
        return turned_by(way[:3]) @ exact(state["rotation"]), exact(state["position"]) + way[3:]

    def forces(self, state: dict[str, Any], joints: Array, gravity: Sequence[float] = (0.0, 0.0, -9.81)) -> Array:
        """Return the forces of the actuators (actuator,) at a state; joints (limb, joint) near by."""
        with mpmath.workdps(DIGITS):
            return self._forces(state, joints, exact(gravity))

    def _forces(self, state: dict[str, Any], joints: Array, gravity: Array) -> Array:
        here = self.target(state, mpf(0))
        starts = [limb.start(x[: len(limb.names)], here) for limb, x in zip(self.limbs, joints, strict=True)]

        def at(target: Any) -> _Places:
            found = [limb.near(x, target) for limb, x in zip(self.limbs, starts, strict=True)]
            bodies = [pose for limb, x in zip(self.limbs, found, strict=True) for pose in limb.bodies(x)]
            if not self.mechanism.is_chain:
                bodies.append(target)
            return _Places(bodies, [value for x in found for value in x])

        count, inertias = len(self.mechanism.freedoms), self._inertias
        before, now, after = (at(self.target(state, t)) for t in (-APART, mpf(0), APART))
        change = [(p + r - 2 * q) / APART**2 for p, q, r in zip(before.flat, now.flat, after.flat, strict=True)]
        work, rates = [], []
        for k in range(count):
            ends = [at(self.target(state, mpf(0), k, by)) for by in (APART, -APART)]
            moved = [(p - q) / (2 * APART) for p, q in zip(ends[0].flat, ends[1].flat, strict=True)]
            work.append(_work(inertias, now, change, moved, gravity))
            rates.append([moved[-len(now.joints) + index] for index in self._driven])
        return solve(np.array(rates, dtype=object), np.array(work, dtype=object))

    @cached_property
    def _inertias(self) -> list[Any]:
        links = [link for limb in self.limbs for link in limb.limb.links]
        inertias: list[Any] = [link.inertia for link in links]
        if not self.mechanism.is_chain:
            inertias.append(self.mechanism.platform.inertia)
        second = []
        for each in inertias:
            tensor = exact(each.tensor)
            spread = exact(np.eye(3)) * (np.trace(tensor) / 2) - tensor
            second.append((mpf(float(each.mass)), exact(each.centre), spread))
        return [second, [mpf(float(link.armature)) for link in links]]

    @cached_property
    def _driven(self) -> list[int]:
        result, first = [], 0
        for limb in self.limbs:
            result += [first + limb.names.index(name) for name in limb.limb.actuated]
            first += len(limb.names)
        return result


@dataclass(frozen=True)
class _Places:
    bodies: list[Pose]
    joints: list[Any]

    @property
    def flat(self) -> list[Any]:
        """Rotation and position of each body, then joints."""
        return [x for pose in self.bodies for x in pose] + list(self.joints)


def _work(inertias: list[Any], now: _Places, change: list[Any], moved: list[Any], gravity: Array) -> Any:
    """Return the work of inertia and weight over a virtual displacement: of points x of a body, of (x'' - g) dm."""
    (bodies, armatures), result = inertias, mpf(0)
    for k, (mass, centre, spread) in enumerate(bodies):
        turning, moving, turn, move = change[2 * k], change[2 * k + 1], moved[2 * k], moved[2 * k + 1]
        acceleration = moving + turning @ centre - gravity
        result += mass * (acceleration @ (move + turn @ centre)) + np.sum((turning @ spread) * turn)
    first = 2 * len(now.bodies)
    for k, armature in enumerate(armatures):
        result += armature * change[first + k] * moved[first + k]
    return result
