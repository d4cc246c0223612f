"""The inertia matrix of a tree by composite rigid bodies: inertia summed inwards, wrenches carried along the chains.

Each composite inertia is about the origin of its link, so that no digits are lost far from the base. All are in the
axes of the root, so that no rotations are needed. Source: Walker, Orin 1982, method 3; Featherstone, Rigid Body
Dynamics Algorithms, section 6.2.
"""

from __future__ import annotations

import numpy as np

from robots.data_classes import dataclass
from tasks.kernels.expression import Array, Scalar
from tasks.mathematics.algebra import plus_cross
from tasks.mechanics.inertia.placed import Body, Placed, symmetric, turned_tensor
from tasks.mechanics.recursion import Massing


@dataclass(frozen=True)
class Composite:
    """Mass, first moment (3,) and inertia tensor (3, 3) about an origin of a link and all that it carries."""

    mass: Scalar
    first: Array
    tensor: Array

    @classmethod
    def of(cls, body: Body) -> Composite:
        """Return a single body, about its origin: constant in its own axes."""
        massing = Massing.of(body.inertia)
        return cls(massing.mass, body.rotation @ massing.first, turned_tensor(body.rotation, massing.tensor()))

    def seen_from(self, shift: Array) -> Composite:
        """Return the inertia about an origin that is moved by `shift`."""
        middle = self.first - shift * (0.5 * self.mass)
        outer, less = np.outer(shift, middle), 2.0 * (shift @ middle)
        values = {(i, j): self.tensor[i, j] + outer[i, j] + outer[j, i] for i in range(3) for j in range(i)}
        values |= {(i, i): self.tensor[i, i] + 2.0 * outer[i, i] - less for i in range(3)}
        return Composite(self.mass, self.first - shift * self.mass, symmetric(3, values))

    def __add__(self, second: Composite) -> Composite:
        return Composite(self.mass + second.mass, self.first + second.first, self.tensor + second.tensor)

    def wrench(self, omega: Array, v: Array) -> tuple[Array, Array]:
        """Return moment about the origin and force that accelerate the body from rest by this twist of the origin."""
        return plus_cross(self.tensor @ omega, self.first, v), plus_cross(v * self.mass, omega, self.first)


def matrix(placed: Placed) -> np.ndarray:
    """Return the inertia matrix (n, n) without drives."""
    values: dict[tuple[int, int], Scalar] = {}
    for u, composite in _composites(placed).items():
        moment, force = composite.wrench(*placed.bodies[u].column(placed.bodies[u].origin))
        at = placed.bodies[u].origin
        for k in reversed(placed.chain(u)):
            joint = placed.bodies[k]
            if k != u:
                moment, at = plus_cross(moment, at - joint.origin, force), joint.origin
            values[u, k] = joint.along(moment, force)
    return symmetric(len(placed.bodies), values)


def _composites(placed: Placed) -> dict[int, Composite]:
    result = {i: Composite.of(body) for i, body in placed.bodies.items()}
    for i in reversed(list(placed.bodies)):
        body = placed.bodies[i]
        if body.parent in placed.bodies:
            shift = placed.bodies[body.parent].origin - body.origin
            result[body.parent] = result[body.parent] + result[i].seen_from(shift)
    return result
