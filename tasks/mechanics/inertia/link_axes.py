"""The inertia matrix of a tree by composite rigid bodies, each in axes of its own link.

The axes are chosen so that few operations take a composite inwards: z is the axis of the link's joint, and x is
perpendicular to the axis of a joint that the link carries. So a carried body reaches the axes of its carrier by a
turn about z and a turn about x, and only the first one is different for each sample. Further joints on a link need one
more turn about z. Source: Denavit, Hartenberg 1955, for the directions, while origins stay at the joints; Walker, Orin
1982, method 3, for composites.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from robots.data_classes import dataclass
from robots.model import Link
from robots.types import BASE, Vector
from tasks.kernels.expression import Array, Scalar
from tasks.mathematics.algebra import array, is_zero, plus_cross, sqrt, where
from tasks.mechanics.inertia.crba import Composite
from tasks.mechanics.inertia.placed import symmetric
from tasks.mechanics.kinematics import JointState, slope, way
from tasks.mechanics.recursion import Massing

PARALLEL = 1e-15
"""Sine between axes up to which they are parallel: such directions are those of rounding."""

X, Z = 0, 2


@dataclass(frozen=True)
class PlaneTurn:
    """A rotation about the x or the z axis, from the axes after it to the axes before it."""

    about: int
    cos: Scalar = 1.0
    sin: Scalar = 0.0

    def vector(self, v: Array) -> Array:
        """Return a vector (3,) in the axes before the turn."""
        i, j = self._plane
        result = np.array(v, dtype=object)
        result[i], result[j] = self.cos * v[i] - self.sin * v[j], self.sin * v[i] + self.cos * v[j]
        return array(result)

    def tensor(self, t: Array) -> Array:
        """Return a symmetric tensor (3, 3) in the axes before the turn."""
        (i, j), k = self._plane, self.about
        (ii, ij, jj), side = self._block(t[i, i], t[i, j], t[j, j]), self.vector(t[k])
        return symmetric(3, {(i, i): ii, (i, j): ij, (j, j): jj, (k, i): side[i], (k, j): side[j], (k, k): t[k, k]})

    def after(self, first: PlaneTurn) -> PlaneTurn:
        """Return the turn about the same axis by the sum of both angles."""
        cos, sin = self.cos * first.cos - self.sin * first.sin, self.sin * first.cos + self.cos * first.sin
        return PlaneTurn(self.about, cos, sin)

    @property
    def back(self) -> PlaneTurn:
        """The turn by the opposite angle."""
        return PlaneTurn(self.about, self.cos, -self.sin)

    @property
    def matrix(self) -> Array:
        """The rotation matrix (3, 3)."""
        return array(np.stack([self.vector(row) for row in np.eye(3)], axis=1))

    @property
    def _plane(self) -> tuple[int, int]:
        return (self.about + 1) % 3, (self.about + 2) % 3

    def _block(self, ii: Scalar, ij: Scalar, jj: Scalar) -> tuple[Scalar, Scalar, Scalar]:
        """Return the elements of a symmetric matrix of the plane."""
        if is_zero(self.sin):
            return ii, ij, jj
        if is_zero(self.cos):
            return jj, -ij, ii
        change = self.sin * (ii - jj) + self.cos * (ij + ij)
        return ii - self.sin * change, self.cos * change - ij, jj + self.sin * change


@dataclass(frozen=True)
class EulerTurns:
    """Constant rotation (3, 3) of a link's z axis, as turns: about z and x of the carrier's axes, and about its own z.

    Source: the angles of Euler, z x z.
    """

    leading: PlaneTurn
    tilt: PlaneTurn
    last: PlaneTurn

    @classmethod
    def of(cls, rotation: Array) -> EulerTurns:
        """Return the turns that make a rotation. Where both z axes are parallel, there is no turn about z first."""
        reach = sqrt(rotation[0, 2] * rotation[0, 2] + rotation[1, 2] * rotation[1, 2])
        is_oblique = reach > PARALLEL
        unit = 1.0 / where(is_oblique, reach, 1.0)
        leading = PlaneTurn(
            Z, where(is_oblique, -rotation[1, 2] * unit, 1.0), where(is_oblique, rotation[0, 2] * unit, 0.0)
        )
        inner = leading.back.matrix @ rotation
        return cls(leading, PlaneTurn(X, inner[2, 2], -inner[1, 2]), PlaneTurn(Z, inner[0, 0], -inner[0, 1]))


@dataclass(frozen=True)
class Carried:
    """A link with its joint at one position: turns to the axes of its carrier, outermost first, and its own inertia.

    shift: from the carrier's origin, in the carrier's axes; slope: displacement per unit of the joint's variable.
    """

    link: Link
    turns: tuple[PlaneTurn, ...]
    shift: Array
    slope: Scalar
    composite: Composite

    def vector(self, v: Array) -> Array:
        """Return a vector (3,) in the axes of the carrier."""
        for turn in self.turns:
            v = turn.vector(v)
        return v

    def inwards(self, composite: Composite) -> Composite:
        """Return a composite of this link in the axes of the carrier, and about its origin."""
        tensor = composite.tensor
        for turn in self.turns:
            tensor = turn.tensor(tensor)
        return Composite(composite.mass, self.vector(composite.first), tensor).seen_from(-self.shift)

    def column(self) -> tuple[Array, Array]:
        """Return the angular velocity of the link and the velocity of its origin for unit rate of the joint."""
        z = np.eye(3)[Z]
        return z * float(self.link.joint_kind.turns), z * self.slope

    def along(self, moment: Array, force: Array) -> Scalar:
        """Compute the generalised force of a wrench at the origin along the joint's variable."""
        turning = moment[Z] if self.link.joint_kind.turns else 0.0
        return turning + force[Z] * self.slope if self.link.joint_kind.slides else turning


def matrix(links: Sequence[Link], states: Sequence[JointState]) -> np.ndarray:
    """Return the inertia matrix (n, n) without drives."""
    tree = list(_carried(links, states))
    composites = [body.composite for body in tree]
    for i, body in reversed(list(enumerate(tree))):
        if body.link.parent != BASE:
            composites[body.link.parent] += body.inwards(composites[i])
    values: dict[tuple[int, int], Scalar] = {}
    for u, composite in enumerate(composites):
        moment, force = composite.wrench(*tree[u].column())
        k = u
        while k != BASE:
            body = tree[k]
            values[u, k] = body.along(moment, force)
            if body.link.parent != BASE:
                force = body.vector(force)
                moment = plus_cross(body.vector(moment), body.shift, force)
            k = body.link.parent
    return symmetric(len(links), values)


def _carried(links: Sequence[Link], states: Sequence[JointState]) -> Iterator[Carried]:
    """Yield the links at joint positions."""
    rotations = [_to_z(link.axis) for link in links]
    eulers = [
        EulerTurns.of(_of_carrier(rotations, link) @ array(link.placement.rotation) @ rotation.T)
        for link, rotation in zip(links, rotations, strict=True)
    ]
    leads = _leading(links, eulers)
    for i, (link, state, euler) in enumerate(zip(links, states, eulers, strict=True)):
        ahead, carrier = leads.get(i, PlaneTurn(Z)), leads.get(link.parent, PlaneTurn(Z))
        turned = PlaneTurn(Z, state.cos, state.sin) if link.joint_kind.turns else PlaneTurn(Z)
        joint, leading = turned.after(euler.last.after(ahead)), carrier.back.after(euler.leading)
        turns = (joint, euler.tilt) if leads.get(link.parent) is euler.leading else (joint, euler.tilt, leading)
        offset = carrier.back.vector(_of_carrier(rotations, link) @ array(link.placement.position))
        slid = leading.vector(euler.tilt.vector(np.eye(3)[Z])) * way(link, state)
        composite = _turned(Massing.of(link.inertia), ahead.back.matrix @ rotations[i])
        yield Carried(link, turns, array(offset + slid), slope(link, state), composite)


def _leading(links: Iterable[Link], eulers: Iterable[EulerTurns]) -> Mapping[int, PlaneTurn]:
    """Return the turn about z of each carrier that makes the one before the tilt of its first joint needless."""
    result: dict[int, PlaneTurn] = {}
    for link, euler in zip(links, eulers, strict=True):
        if link.parent != BASE:
            result.setdefault(link.parent, euler.leading)
    return result


def _of_carrier(rotations: Sequence[Array], link: Link) -> Array:
    return np.eye(3) if link.parent == BASE else rotations[link.parent]


def _to_z(axis: Vector) -> Array:
    """Return a rotation (3, 3) that takes a coordinate axis, with its sign, to z."""
    k = int(np.argmax(np.abs(axis)))
    rotation = np.roll(np.eye(3), k + 1, axis=1)
    return rotation if axis[k] > 0.0 else np.diag([1.0, -1.0, -1.0]) @ rotation


def _turned(massing: Massing, rotation: Array) -> Composite:
    """Return a body's inertia about its origin in other axes."""
    tensor = rotation @ massing.tensor() @ rotation.T
    values = {(i, j): tensor[i, j] for i in range(3) for j in range(i + 1)}
    return Composite(massing.mass, rotation @ massing.first, symmetric(3, values))
