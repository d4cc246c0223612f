"""The inertia matrix of a tree by generalised momentum: the Jacobians of all centres of mass, weighted by inertia.

Source: Siciliano, Sciavicco, Villani, Oriolo, Robotics, section 7.1: M is the sum of m J_P^T J_P + J_O^T I J_O. Only
the columns of joints that move a body are formed, and one triangle of each product.
"""

from __future__ import annotations

import numpy as np

from tasks.kernels.expression import Scalar
from tasks.mechanics.inertia.placed import Placed, symmetric


def matrix(placed: Placed) -> np.ndarray:
    """Return the inertia matrix (n, n) without drives."""
    values: dict[tuple[int, int], Scalar] = {}
    for i, body in placed.bodies.items():
        chain = placed.chain(i)
        angular, linear = zip(*(placed.bodies[j].column(body.centre) for j in chain), strict=True)
        spun, moved = [body.tensor @ each for each in angular], [each * body.mass for each in linear]
        for a, u in enumerate(chain):
            for b, k in enumerate(chain[: a + 1]):
                share = linear[b] @ moved[a] + angular[b] @ spun[a]
                values[u, k] = values.get((u, k), 0.0) + share
    return symmetric(len(placed.bodies), values)
