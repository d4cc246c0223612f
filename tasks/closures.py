"""Closure constraints of cut joints, for one sample: residuals, Jacobian rows, and what velocity adds to acceleration.

Rows of a closure: the distance of the two joint origins along the root's axes (3), then the orientation conditions of
its kind. Source: hybrid-limb paper, section 3.3.1, Eqs. (16)-(42), with distances in the axes of the root.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from robots.model import ClosureKind, Frame
from tasks.algebra import array, cross
from tasks.kinematics import Motion, Pose

Scalar = Any
Array = Any

DISTANCES = 3

# pairs of axes, of frame a and of frame b, that stay perpendicular: Eq. (33)
PERPENDICULAR: dict[ClosureKind, tuple[tuple[int, int], ...]] = {
    "revolute": ((0, 2), (1, 2)),
    "universal": ((0, 1),),
    "spherical": (),
}


def row_count(kind: ClosureKind) -> int:
    """Number of rows of a closure before redundant ones are dropped."""
    return DISTANCES + len(PERPENDICULAR[kind])


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
class Joined:
    """Both ends of a cut joint; methods give chosen rows only."""

    kind: ClosureKind
    a: End
    b: End
    rows: tuple[int, ...]

    def _axes(self, row: int) -> tuple[Array, Array]:
        i, j = PERPENDICULAR[self.kind][row - DISTANCES]
        return self.a.axes[:, i], self.b.axes[:, j]

    def residual(self) -> list[Scalar]:
        """How far each row is from closed [m, or cosine]."""
        gap = self.a.origin - self.b.origin
        return [gap[row] if row < DISTANCES else _dot(*self._axes(row)) for row in self.rows]

    def rate(self, omega: Array, v: Array) -> list[Scalar]:
        """Change of each row when end a has this angular velocity, and velocity at the joint, relative to end b.

        Linear in its arguments, so it turns Jacobian columns into constraint columns.
        """
        return [v[row] if row < DISTANCES else _dot(omega, cross(*self._axes(row))) for row in self.rows]

    def wrench(self, row: int) -> tuple[Array, Array]:
        """The direction of a row: (moment, force at the joint) whose power is the row's rate."""
        if row < DISTANCES:
            return array([0.0] * 3), array([1.0 if k == row else 0.0 for k in range(3)])
        return cross(*self._axes(row)), array([0.0] * 3)

    def drift(self, a: Motion, b: Motion, offset_a: Array, offset_b: Array) -> list[Scalar]:
        """Second derivative of each row for motions of the two bodies, the joint at `offset` from their origins."""
        _, acceleration_a = a.at(offset_a)
        _, acceleration_b = b.at(offset_b)
        relative = acceleration_a - acceleration_b
        return [relative[row] if row < DISTANCES else self._turning(row, a, b) for row in self.rows]

    def _turning(self, row: int, a: Motion, b: Motion) -> Scalar:
        e_a, e_b = self._axes(row)
        normal = cross(e_a, e_b)
        change = cross(cross(a.omega, e_a), e_b) + cross(e_a, cross(b.omega, e_b))
        return _dot(a.alpha - b.alpha, normal) + _dot(a.omega - b.omega, change)


def _dot(a: Array, b: Array) -> Scalar:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
