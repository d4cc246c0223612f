"""The inertia matrix of a tree by 4x4 transforms and pseudo-inertia matrices: sums of tr(U J U^T) over the bodies.

U is the derivative of a body's homogeneous transform by a joint variable, and J the pseudo-inertia matrix: second and
first moments of mass about the body's origin, and the mass. Source: Uicker 1965; Paul, Robot Manipulators, section
6.2, which writes U as a product of transforms up to the joint, a constant matrix and the transforms beyond it. Here
it is given by the screw of the joint, which is the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tasks.mathematics.algebra import array, cross, trace_of_product
from tasks.mechanics.inertia.placed import Body, Placed, by_elements
from tasks.mechanics.recursion import Massing


def matrix(placed: Placed) -> np.ndarray:
    """Return the inertia matrix (n, n) without drives."""
    bodies = placed.bodies
    derivatives = {(j, k): _derivative(body, bodies[k]) for j, body in bodies.items() for k in placed.chain(j)}
    weights = {j: _pseudo_inertia(body) for j, body in bodies.items()}
    weighted = {(j, k): each @ weights[j] for (j, k), each in derivatives.items()}

    def element(u: int, k: int) -> Any:
        return sum((trace_of_product(weighted[j, u], derivatives[j, k]) for j in placed.subtree(u)), start=0.0)

    return by_elements(placed, element)


def _derivative(body: Body, joint: Body) -> np.ndarray:
    """Return U (4, 4) of a body beyond a joint."""
    result = np.array(np.zeros((4, 4)), dtype=object)
    if joint.turns:
        for k in range(3):
            result[:3, k] = cross(joint.axis, body.rotation[:, k])
    result[:3, 3] = joint.column(body.origin)[1]
    return array(result)


def _pseudo_inertia(body: Body) -> np.ndarray:
    """Return J (4, 4) in the axes of the body."""
    mass = Massing.of(body.inertia)
    first = mass.first.reshape(3, 1)
    return array(np.block([[array(mass.second), first], [first.T, array([[mass.mass]])]]))
