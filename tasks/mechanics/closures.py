"""Closure constraints of cut joints, for one sample: residuals, Jacobian rows, and what velocity adds to acceleration.

Rows of a closure: distances of the two joint origins, then the orientation conditions of its kind. Joints that cannot
slide keep all three distances, in the axes of the root; joints that slide along z keep those along x and y of frame a,
which moves. Source: hybrid-limb paper, section 3.3.1, Eqs. (16)-(42), distances of the former kind in the axes of the
root.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from robots.model import Frame
from robots.types import ClosureKind
from tasks.kernels.types import Array, Scalar
from tasks.mathematics.algebra import array, cross
from tasks.mechanics.kinematics import Motion, Pose

NOTHING = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class End:
    """One side of a cut joint: origin and axes (3, 3) of its frame, in root axes."""

    origin: Array
    axes: Array

    @classmethod
    def of(cls, pose: Pose, frame: Frame) -> End:
        """The end that `frame` makes on a body."""
        return cls(pose.at(frame.position), pose.rotation @ array(frame.rotation))


@dataclass(frozen=True)
class Relative:
    """Motions of both bodies of a joint, and (velocity, acceleration) of the joint's point on each."""

    a: Motion
    b: Motion
    point_a: tuple[Array, Array]
    point_b: tuple[Array, Array]


class Row(Protocol):
    """One scalar constraint between the ends of a joint."""

    def residual(self, a: End, b: End) -> Scalar:
        """How far the row is from closed [m, or cosine]."""

    def wrench(self, a: End, b: End) -> tuple[Array, Array]:
        """(moment, force at the joint) whose power is the row's rate."""

    def drift(self, a: End, b: End, moving: Relative) -> Scalar:
        """Second derivative of the residual."""


@dataclass(frozen=True)
class Distance:
    """The origins coincide along an axis of the root."""

    axis: int

    def residual(self, a: End, b: End) -> Scalar:
        """Distance of the origins [m]."""
        return (a.origin - b.origin)[self.axis]

    def wrench(self, a: End, b: End) -> tuple[Array, Array]:
        """A force along the axis."""
        return array(NOTHING), array([1.0 if k == self.axis else 0.0 for k in range(3)])

    def drift(self, a: End, b: End, moving: Relative) -> Scalar:
        """Difference of the accelerations of the origins."""
        return (moving.point_a[1] - moving.point_b[1])[self.axis]


@dataclass(frozen=True)
class Offset:
    """The origins coincide along an axis of frame a; velocities are those of the point at the origin of frame b."""

    axis: int

    def residual(self, a: End, b: End) -> Scalar:
        """Distance of the origins [m]."""
        return _dot(a.axes[:, self.axis], a.origin - b.origin)

    def wrench(self, a: End, b: End) -> tuple[Array, Array]:
        """A force along the axis, at the origin of frame b."""
        return array(NOTHING), array(a.axes[:, self.axis])

    def drift(self, a: End, b: End, moving: Relative) -> Scalar:
        """Acceleration of b's origin seen from the turning frame a, Coriolis part included."""
        (v_a, a_a), (v_b, a_b) = moving.point_a, moving.point_b
        return _dot(a.axes[:, self.axis], a_a - a_b + 2.0 * cross(moving.a.omega, v_b - v_a))


@dataclass(frozen=True)
class Perpendicular:
    """An axis of frame a stays perpendicular to one of frame b: Eq. (33)."""

    of_a: int
    of_b: int

    def _axes(self, a: End, b: End) -> tuple[Array, Array]:
        return a.axes[:, self.of_a], b.axes[:, self.of_b]

    def residual(self, a: End, b: End) -> Scalar:
        """Cosine between the axes."""
        return _dot(*self._axes(a, b))

    def wrench(self, a: End, b: End) -> tuple[Array, Array]:
        """A moment about the common normal of the axes."""
        return cross(*self._axes(a, b)), array(NOTHING)

    def drift(self, a: End, b: End, moving: Relative) -> Scalar:
        """Second derivative of the cosine."""
        e_a, e_b = self._axes(a, b)
        normal, omega_a, omega_b = cross(e_a, e_b), moving.a.omega, moving.b.omega
        change = cross(cross(omega_a, e_a), e_b) + cross(e_a, cross(omega_b, e_b))
        return _dot(moving.a.alpha - moving.b.alpha, normal) + _dot(omega_a - omega_b, change)


X, Y, Z = range(3)
_COINCIDE = (Distance(X), Distance(Y), Distance(Z))
_ON_LINE = (Offset(X), Offset(Y))
_ALIGNED = (Perpendicular(X, Z), Perpendicular(Y, Z))

ROWS: Mapping[ClosureKind, tuple[Row, ...]] = {
    "revolute": (*_COINCIDE, *_ALIGNED),
    "universal": (*_COINCIDE, Perpendicular(X, Y)),
    "spherical": _COINCIDE,
    "prismatic": (*_ON_LINE, *_ALIGNED, Perpendicular(X, Y)),
    "cylindrical": (*_ON_LINE, *_ALIGNED),
}
"""What each kind of joint holds."""


def row_count(kind: ClosureKind) -> int:
    """Number of rows of a closure before redundant ones are dropped."""
    return len(ROWS[kind])


@dataclass(frozen=True)
class Joined:
    """Both ends of a cut joint; methods give chosen rows only."""

    kind: ClosureKind
    a: End
    b: End
    rows: tuple[int, ...]

    @property
    def point(self) -> Array:
        """Where the velocity of body a counts: the origin of its frame, or for a joint that slides that of frame b."""
        return self.b.origin if ROWS[self.kind][0] in _ON_LINE else self.a.origin

    def residual(self) -> list[Scalar]:
        """How far each row is from closed [m, or cosine]."""
        return [ROWS[self.kind][row].residual(self.a, self.b) for row in self.rows]

    def rate(self, omega: Array, v: Array) -> list[Scalar]:
        """Change of each row when body a has this angular velocity, and velocity at `point`, relative to body b.

        Linear in its arguments, so it turns Jacobian columns into constraint columns.
        """
        wrenches = (self.wrench(row) for row in self.rows)
        return [_dot(omega, moment) + _dot(v, force) for moment, force in wrenches]

    def wrench(self, row: int) -> tuple[Array, Array]:
        """The direction of a row: (moment, force at the joint) whose power is the row's rate."""
        return ROWS[self.kind][row].wrench(self.a, self.b)

    def drift(self, a: Motion, b: Motion, offset_a: Array, offset_b: Array) -> list[Scalar]:
        """Second derivative of each row for motions of the two bodies.

        offset_a: from body a's origin to `point`; offset_b: from body b's origin to that of frame b.
        """
        moving = Relative(a, b, a.at(offset_a), b.at(offset_b))
        return [ROWS[self.kind][row].drift(self.a, self.b, moving) for row in self.rows]


def _dot(a: Array, b: Array) -> Scalar:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
