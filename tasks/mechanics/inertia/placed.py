"""A tree at one configuration: the input of every method for its inertia matrix, for one sample.

All vectors are in the axes of one `root`, the base or a link, as in `tasks.mechanics.kinematics`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from robots.data_classes import dataclass
from robots.joint_kinds import JOINT_KINDS
from robots.model import Inertia, Link
from robots.types import BASE, JointKind
from tasks.kernels.expression import Array, Scalar
from tasks.mathematics.algebra import array, cross, dot
from tasks.mechanics.kinematics import ZERO, JointState, bend, poses, slope


@dataclass(frozen=True)
class Body:
    """A link and its joint: `axis`, `origin`, `centre` (3,), `rotation` and `tensor` about the centre (3, 3).

    These are in the axes of the root; `inertia` is in the axes of the link. `slope` is the displacement of the joint
    per unit of its variable, and `bend` the derivative of `slope`.
    """

    parent: int
    kind: JointKind
    axis: Array
    origin: Array
    centre: Array
    rotation: Array
    tensor: Array
    inertia: Inertia
    slope: Any = 0.0
    bend: Any = 0.0

    @property
    def turns(self) -> bool:
        """Return whether the joint turns."""
        return JOINT_KINDS[self.kind].turns

    @property
    def slides(self) -> bool:
        """Return whether the joint slides."""
        return JOINT_KINDS[self.kind].slides

    @property
    def mass(self) -> Scalar:
        """Mass [kg]."""
        return self.inertia.mass

    def column(self, point: Array) -> tuple[Array, Array]:
        """Return the angular velocity, and the velocity of a point beyond the joint, for unit rate of the joint."""
        if not self.turns:
            return ZERO, self.axis * self.slope
        v = cross(self.axis, point - self.origin)
        return self.axis, v + self.axis * self.slope if self.slides else v

    def along(self, moment: Array, force: Array) -> Scalar:
        """Compute the generalised force of a wrench at the origin along the joint's variable."""
        if not self.slides:
            return dot(self.axis, moment)
        pushed = dot(self.axis, force) * self.slope
        return dot(self.axis, moment) + pushed if self.turns else pushed


@dataclass(frozen=True)
class Placed:
    """The bodies beyond a root, by the index of their link, parents first. Nothing moves relative to the root."""

    bodies: Mapping[int, Body]

    @classmethod
    def of(cls, links: Sequence[Link], states: Sequence[JointState], root: int = BASE) -> Placed:
        """Place the links, or the link `root` (its joint not moved) and the links that it carries."""
        result = {}
        for i, pose in poses(links, states, root).items():
            if i == BASE:
                continue
            link = links[i]
            tensor = turned_tensor(pose.rotation, array(link.inertia.tensor))
            axis = pose.rotation @ array(link.axis)
            centre = pose.at(link.inertia.centre)
            steepness = slope(link, pose.joint), bend(link, pose.joint)
            result[i] = Body(
                link.parent, link.kind, axis, pose.position, centre, pose.rotation, tensor, link.inertia, *steepness
            )
        return cls(result)

    def chain(self, i: int) -> tuple[int, ...]:
        """Return the joints from the root to a link, outermost last."""
        return self._chains[i]

    def subtree(self, i: int) -> tuple[int, ...]:
        """Return a link and all that it carries, parents first."""
        return self._subtrees[i]

    @cached_property
    def _chains(self) -> dict[int, tuple[int, ...]]:
        result: dict[int, tuple[int, ...]] = {}
        for i, body in self.bodies.items():
            result[i] = (*result.get(body.parent, ()), i)
        return result

    @cached_property
    def _subtrees(self) -> dict[int, tuple[int, ...]]:
        result: dict[int, list[int]] = {i: [] for i in self.bodies}
        for i in self.bodies:
            for carrier in self._chains[i]:
                result[carrier].append(i)
        return {i: tuple(each) for i, each in result.items()}


def turned_tensor(rotation: Array, tensor: Array) -> np.ndarray:
    """Return R T R^T of a symmetric tensor, symmetric to the last bit."""
    half = rotation @ tensor
    return symmetric(3, {(i, j): half[i] @ rotation[j] for i in range(3) for j in range(i + 1)})


def symmetric(size: int, values: Mapping[tuple[int, int], Scalar]) -> np.ndarray:
    """Return the symmetric matrix with these elements of one triangle; zero elsewhere."""
    result = np.array(np.zeros((size, size)), dtype=object)
    for (i, j), value in values.items():
        result[i, j] = result[j, i] = value
    return array(result)


def by_elements(placed: Placed, element: Callable[[int, int], Scalar]) -> np.ndarray:
    """Return the matrix (n, n) of a tree from `element(row, column)`, called for each pair of joints on one chain."""
    pairs = ((u, k) for u in placed.bodies for k in placed.chain(u))
    return symmetric(len(placed.bodies), {(u, k): element(u, k) for u, k in pairs})
