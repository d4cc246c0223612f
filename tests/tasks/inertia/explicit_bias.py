"""The bias vector of a tree by explicit elements, a second formulation beside the recursion on bodies.

Source: Eqs. (21), (22) of the paper on explicit dynamics with joint friction (docs/theory/inertia_matrix.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robots.model import Link
from tasks.inertia.explicit import R, coupling
from tasks.inertia.placed import Placed
from tasks.mathematics.algebra import array, cross
from tasks.mechanics.kinematics import ZERO, JointState

Scalar = Any
Array = Any


def bias(links: Sequence[Link], states: Sequence[JointState], rates: Sequence[Scalar], gravity: Array) -> np.ndarray:
    """The bias vector h (n,) [N m or N]: forces of the joints that leave them without acceleration.

    `gravity` (3,) in the axes of the base.
    """
    flow = _Flow.of(Placed.of(links, states), rates, array(gravity))
    return array([_bias_element(flow, u) for u in range(len(links))])


@dataclass(frozen=True)
class _Flow:
    """A tree in motion: by link its angular velocity `omega`, `drift` of the joint's axis, and `pull` at its centre.

    `drift` is the angular acceleration that a revolute joint adds at constant rates. `pull` is the acceleration of the
    centre of mass that all joints cause besides that, less gravity.
    """

    placed: Placed
    omega: Mapping[int, Array]
    drift: Mapping[int, Array]
    pull: Mapping[int, Array]

    @classmethod
    def of(cls, placed: Placed, rates: Sequence[Scalar], gravity: Array) -> _Flow:
        omega: dict[int, Array] = {}
        drift: dict[int, Array] = {}
        swirl: dict[int, Array] = {}  # of the origins
        pull: dict[int, Array] = {}
        for i, body in placed.bodies.items():
            before = omega.get(body.parent, ZERO)
            rate, turning = body.axis * rates[i], body.kind == R
            behind = placed.bodies[body.parent].origin if body.parent in placed.bodies else body.origin
            omega[i] = before + rate if turning else before
            drift[i] = cross(before, rate) if turning else ZERO
            slide = ZERO if turning else cross(before, rate) * 2.0
            swirl[i] = swirl.get(body.parent, ZERO) + _twice(before, body.origin - behind) + slide
            pull[i] = swirl[i] + _twice(omega[i], body.centre - body.origin) - gravity
        return cls(placed, omega, drift, pull)


def _twice(omega: Array, arm: Array) -> np.ndarray:
    return cross(omega, cross(omega, arm))


def _bias_element(flow: _Flow, u: int) -> Scalar:
    """Eq. (21) of a revolute joint, Eq. (22) of a prismatic one."""
    placed, joint = flow.placed, flow.placed.bodies[u]
    turning = [k for k in (*placed.chain(u)[:-1], *placed.subtree(u)) if placed.bodies[k].kind == R]
    total = sum((coupling(placed, u, k) @ flow.drift[k] for k in turning), start=ZERO)
    for j in placed.subtree(u):
        body, force = placed.bodies[j], flow.pull[j] * placed.bodies[j].mass
        if joint.kind == R:
            gyroscopic = cross(flow.omega[j], body.tensor @ flow.omega[j])
            total = total + cross(body.centre - joint.origin, force) + gyroscopic
        else:
            total = total + force
    return joint.axis @ total
