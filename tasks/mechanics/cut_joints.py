"""Closures of cut joints, for one sample: residuals, Jacobian rows, and the acceleration that velocity adds.

Rows follow from the freedoms of a kind: distances of the two joint origins, then orientation. Joints that cannot slide
keep all three distances, in the axes of the root; joints that slide keep those along other axes of frame a, which
moves; joints that slide as they turn have a last row for that. Source: hybrid-limb paper, section 3.3.1, Eqs.
(16)-(42), distances of joints that cannot slide in the axes of the root.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

import numpy as np

from robots.data_classes import dataclass
from robots.joint_kinds import JOINT_KINDS, X, Y, Z
from robots.model import Closure, Frame
from robots.types import JointKind
from tasks.kernels.expression import Array, Mask, Scalar, Scalars
from tasks.mathematics.algebra import array, atan2, cross, dot
from tasks.mechanics.kinematics import Pose, SpatialMotion
from tasks.mechanics.leads import LEADS, variable

NOTHING = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class End:
    """One side of a cut joint: origin and axes (3, 3) of its frame, in root axes."""

    origin: Array
    axes: Array

    @classmethod
    def of(cls, pose: Pose, frame: Frame) -> End:
        """Return the end formed by `frame` on a body."""
        return cls(pose.at(frame.position), pose.rotation @ array(frame.rotation))


@dataclass(frozen=True)
class Relative:
    """Motions of both bodies of a joint, and (velocity, acceleration) of the joint's point on each."""

    a: SpatialMotion
    b: SpatialMotion
    point_a: tuple[Array, Array]
    point_b: tuple[Array, Array]


class ConstraintRow(Protocol):
    """One scalar constraint between the ends of a joint."""

    def residual(self, a: End, b: End) -> Scalar:
        """Compute the closure residual of the row [m, or cosine]."""

    def wrench(self, a: End, b: End) -> tuple[Array, Array]:
        """Return (moment, force at the joint) with the row's rate as its power."""

    def drift(self, a: End, b: End, moving: Relative) -> Scalar:
        """Return the second derivative of the residual."""


@dataclass(frozen=True)
class Distance:
    """The origins coincide along an axis of the root."""

    axis: int

    def residual(self, a: End, b: End) -> Scalar:
        """Return the distance of the origins [m]."""
        return (a.origin - b.origin)[self.axis]

    def wrench(self, a: End, b: End) -> tuple[Array, Array]:
        """Return a force along the axis."""
        return array(NOTHING), array([1.0 if k == self.axis else 0.0 for k in range(3)])

    def drift(self, a: End, b: End, moving: Relative) -> Scalar:
        """Return the difference between the accelerations of the origins."""
        return (moving.point_a[1] - moving.point_b[1])[self.axis]


@dataclass(frozen=True)
class Offset:
    """Condition that the origins coincide along an axis of frame a; velocities at the origin of frame b."""

    axis: int

    def residual(self, a: End, b: End) -> Scalar:
        """Return the distance of the origins [m]."""
        return dot(a.axes[:, self.axis], a.origin - b.origin)

    def wrench(self, a: End, b: End) -> tuple[Array, Array]:
        """Return a force along the axis, at the origin of frame b."""
        return array(NOTHING), array(a.axes[:, self.axis])

    def drift(self, a: End, b: End, moving: Relative) -> Scalar:
        """Return the acceleration of b's origin seen from the turning frame a, with the Coriolis part."""
        (v_a, a_a), (v_b, a_b) = moving.point_a, moving.point_b
        return dot(a.axes[:, self.axis], a_a - a_b + 2.0 * cross(moving.a.omega, v_b - v_a))


@dataclass(frozen=True)
class Perpendicular:
    """An axis of frame a stays perpendicular to one of frame b: Eq. (33)."""

    of_a: int
    of_b: int

    def _axes(self, a: End, b: End) -> tuple[Array, Array]:
        return a.axes[:, self.of_a], b.axes[:, self.of_b]

    def residual(self, a: End, b: End) -> Scalar:
        """Return the cosine of the angle between the axes."""
        return dot(*self._axes(a, b))

    def wrench(self, a: End, b: End) -> tuple[Array, Array]:
        """Return a moment about the common normal of the axes."""
        return cross(*self._axes(a, b)), array(NOTHING)

    def drift(self, a: End, b: End, moving: Relative) -> Scalar:
        """Return the second derivative of the cosine."""
        e_a, e_b = self._axes(a, b)
        normal, omega_a, omega_b = cross(e_a, e_b), moving.a.omega, moving.b.omega
        change = cross(cross(omega_a, e_a), e_b) + cross(e_a, cross(omega_b, e_b))
        return dot(moving.a.alpha - moving.b.alpha, normal) + dot(omega_a - omega_b, change)


@dataclass(frozen=True)
class Coupled:
    """Condition of a screw: displacement along an axis of frame a minus the lead law of the angle about it."""

    kind: JointKind
    axis: int
    pitch: Scalar

    def residual(self, a: End, b: End) -> Scalar:
        """Return the displacement that the angle demands, less the actual one [m]."""
        angle, shift = angle_about(self.axis, a, b), way_along(self.axis, a, b)
        return LEADS[self.kind].way(self.pitch, variable(self.kind, self.pitch, angle, shift)) - shift

    def _law(self, a: End, b: End) -> tuple[Scalar, Scalar]:
        """Return the slope of the law, and how it changes over the angle."""
        lead = LEADS[self.kind]
        angle = variable(self.kind, self.pitch, angle_about(self.axis, a, b), way_along(self.axis, a, b))
        return lead.slope(self.pitch, angle), 0.0 if lead.bend is None else lead.bend(self.pitch, angle)

    def wrench(self, a: End, b: End) -> tuple[Array, Array]:
        """Return a force along the axis, and the moment that it makes with the slope of the thread."""
        axis = array(a.axes[:, self.axis])
        return axis * -self._law(a, b)[0], axis

    def drift(self, a: End, b: End, moving: Relative) -> Scalar:
        """Return the second derivative of the residual, with the axes of both frames on one line."""
        slope, bend = self._law(a, b)
        rate, change = turning(self.axis, a, moving.a, moving.b)
        return Offset(self.axis).drift(a, b, moving) + slope * change + bend * rate * rate


def way_along(axis: int, a: End, b: End) -> Scalar:
    """Compute the coordinate of the origin of frame b along an axis of frame a [m]."""
    return dot(a.axes[:, axis], b.origin - a.origin)


def angle_about(axis: int, a: End, b: End) -> Scalar:
    """Compute the angle of frame b about an axis that it shares with frame a [rad], within half a turn."""
    first, second = (axis + 1) % 3, (axis + 2) % 3
    return atan2(dot(a.axes[:, second], b.axes[:, first]), dot(a.axes[:, first], b.axes[:, first]))


def turning(axis: int, a: End, of_a: SpatialMotion, of_b: SpatialMotion) -> tuple[Scalar, Scalar]:
    """Return rate and acceleration of the angle about an axis of frame a [rad/s, rad/s^2]."""
    along, relative = a.axes[:, axis], of_b.omega - of_a.omega
    return along @ relative, along @ (of_b.alpha - of_a.alpha) + cross(of_a.omega, along) @ relative


def conditions(kind: JointKind, pitch: Scalar | None = None) -> tuple[ConstraintRow, ...]:
    """Return the constraint rows of a kind of joint: everything but its freedoms."""
    row = JOINT_KINDS[kind]
    coupled = () if pitch is None else tuple(Coupled(kind, f.axis, pitch) for f in row.freedoms if f.turns and f.slides)
    return (*_places(row.sliding), *_directions(row.turning), *coupled)


def _places(sliding: tuple[int, ...]) -> tuple[ConstraintRow, ...]:
    """Return the rows of the origins, which are apart along some axes of frame a."""
    if not sliding:
        return Distance(X), Distance(Y), Distance(Z)
    return tuple(Offset(axis) for axis in (X, Y, Z) if axis not in sliding)


def _directions(turning: tuple[int, ...]) -> tuple[ConstraintRow, ...]:
    """Return rows of the axes for rotations about no axis, a shared axis, an axis of each frame, or all axes."""
    if len(turning) == 3:
        return ()
    if len(turning) == 2:
        return (Perpendicular(*turning),)
    shared = turning[0] if turning else Z
    across = [axis for axis in (X, Y, Z) if axis != shared]
    aligned = tuple(Perpendicular(axis, shared) for axis in across)
    return aligned if turning else (*aligned, Perpendicular(*across))


def row_count(kind: JointKind) -> int:
    """Return the number of rows of a closure, redundant ones included."""
    return 6 - len(JOINT_KINDS[kind].freedoms)


@dataclass(frozen=True)
class Joined:
    """Both ends of a cut joint; methods give chosen rows only."""

    kind: JointKind
    a: End
    b: End
    rows: tuple[int, ...]
    pitch: Scalar | None = None

    @classmethod
    def of(cls, closure: Closure, a: Pose, b: Pose, rows: tuple[int, ...]) -> Joined:
        """Return a cut joint between bodies at these poses, with these rows."""
        return cls(closure.kind, End.of(a, closure.frame_a), End.of(b, closure.frame_b), rows, closure.pitch)

    @cached_property
    def conditions(self) -> tuple[ConstraintRow, ...]:
        """Conditions that the joint holds."""
        return conditions(self.kind, self.pitch)

    @property
    def lengths(self) -> tuple[bool, ...]:
        """True for each row that is a length, False for one that is a cosine."""
        return tuple(not isinstance(self.conditions[row], Perpendicular) for row in self.rows)

    @property
    def point(self) -> Array:
        """Reference point of the velocity of body a: the origin of its frame, or of frame b for a joint that slides."""
        return self.b.origin if JOINT_KINDS[self.kind].slides else self.a.origin

    def facing(self) -> list[Mask]:
        """Return for each axis that both ends share whether it points the same way.

        The closure rows, cosines of zero across the axes, leave this open.
        """
        turning = JOINT_KINDS[self.kind].turning
        if len(turning) > 1:
            return []
        shared = turning or (Z, X)
        return [dot(self.a.axes[:, axis], self.b.axes[:, axis]) > 0.0 for axis in shared]

    def residual(self, unit: Scalar = 1.0) -> list[Scalar]:
        """Compute the closure residual of each row [m]; cosines are in a unit of length."""
        found = (self.conditions[row].residual(self.a, self.b) for row in self.rows)
        return [x if is_length else x * unit for x, is_length in zip(found, self.lengths, strict=True)]

    def rate(self, omega: Array, v: Array) -> list[Scalar]:
        """Change of each row when body a has this angular velocity, and velocity at `point`, relative to body b.

        Linear in its arguments, so it turns Jacobian columns into constraint columns.
        """
        wrenches = (self.wrench(row) for row in self.rows)
        return [dot(omega, moment) + dot(v, force) for moment, force in wrenches]

    def wrench(self, row: int) -> tuple[Array, Array]:
        """Return the direction of a row: (moment, force at the joint) whose power is the row's rate."""
        if row not in self._wrenches:
            self._wrenches[row] = self.conditions[row].wrench(self.a, self.b)
        return self._wrenches[row]

    @cached_property
    def _wrenches(self) -> dict[int, tuple[Array, Array]]:
        """Directions of rows, each computed on first use: every joint of the loop asks for them."""
        return {}

    def drift(self, a: SpatialMotion, b: SpatialMotion, offset_a: Array, offset_b: Array) -> list[Scalar]:
        """Return the second derivative of each row for motions of the two bodies.

        offset_a: from body a's origin to `point`; offset_b: from body b's origin to that of frame b.
        """
        moving = Relative(a, b, a.at(offset_a), b.at(offset_b))
        return [self.conditions[row].drift(self.a, self.b, moving) for row in self.rows]

    def position(self) -> Scalar:
        """Return the joint's variable [rad or m], zero where both frames coincide; NaN where it has several."""
        kind = JOINT_KINDS[self.kind]
        if not kind.one_variable:
            return np.nan
        ((_, axis, turns, slides),) = kind.freedoms
        angle = angle_about(axis, self.a, self.b) if turns else 0.0
        return variable(self.kind, self.pitch, angle, way_along(axis, self.a, self.b)) if slides else angle

    def motion(self, a: tuple[SpatialMotion, Array], b: tuple[SpatialMotion, Array]) -> tuple[Scalar, Scalar]:
        """Return rate and acceleration of the variable from motions and origins of the bodies; NaN for several ones."""
        kind = JOINT_KINDS[self.kind]
        if not kind.one_variable:
            return np.nan, np.nan
        (freedom,) = kind.freedoms
        if freedom.turns:
            return turning(freedom.axis, self.a, a[0], b[0])
        row = Offset(freedom.axis)
        moving = Relative(a[0], b[0], *(motion.at(self.b.origin - origin) for motion, origin in (a, b)))
        along = row.wrench(self.a, self.b)[1]
        return dot(along, moving.point_b[0] - moving.point_a[0]), -row.drift(self.a, self.b, moving)


def dropped_rows(closure: Closure, rows: Sequence[int]) -> tuple[int, ...]:
    """Return the rows of a closure without these."""
    return tuple(row for row in range(row_count(closure.kind)) if row not in rows)


def total_wrench(joined: Joined, multipliers: Scalars) -> tuple[Array, Array]:
    """Return (moment, force) on end a, at the joint, of the multipliers of a cut joint's rows."""
    moment, force = np.zeros(3), np.zeros(3)
    for row, value in zip(joined.rows, multipliers, strict=True):
        m, f = joined.wrench(row)
        moment, force = moment + m * value, force + f * value
    return moment, force
