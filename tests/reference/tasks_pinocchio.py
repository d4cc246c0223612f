"""Redundant chains with tasks and postures: positions of all joints at once, by SciPy, from Pinocchio's kinematics.

Closures, what is given, and conditions are rows over all joints of the tree, of which none is chosen; where a posture
decides what they leave, its distance has no slope along their null space. Rates and accelerations are differences of
positions along a motion.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
from scipy.optimize import least_squares

from .chain_pinocchio import ClosedChain
from .delta_bodies import Array
from .mechanism_pinocchio import _null_space

STEP, TURN = 2e-3, 1e-6
FIRST = np.array([1, -8, 0, 8, -1]) / 12
SECOND = np.array([-1, 16, -30, 16, -1]) / 12


class ConditionedChain:
    """A closed chain with `conditions` (q) of all its joints, in place of those that are redundant."""

    def __init__(self, mechanism: Any) -> None:
        self.chain = ClosedChain(mechanism)
        self.names = [link.joint for link in self.chain.limb.links]
        self.given = [self.names.index(name) for name in mechanism.given if name in self.names]
        self.freedoms = [self.names.index(name) for name in mechanism.freedoms]
        self.conditions: Callable[[Array], Array] = lambda q: np.zeros(0)
        self.posture: tuple[Array, Array] | None = None

    def place(self, joint: str, q: Array) -> Array:
        """Return the origin of the body that a joint moves."""
        tree = self.chain.tree
        pin.forwardKinematics(tree.model, tree.data, tree.inner(q))
        return np.array(tree.data.oMi[tree.joint[self.names.index(joint)]].translation)

    def linear(self, coefficients: dict[str, float]) -> Array:
        """A row over all joints."""
        return np.array([coefficients.get(name, 0.0) for name in self.names])

    def open_by(self, q: Array, x: Array, b: Array) -> Array:
        """Return residuals of closures, given coordinates, conditions, and of a posture for joints that stay free.

        A posture is (weights, positions).
        """
        matrix, closing, _ = self.chain._rows(q, np.zeros(self.chain.size))
        rows = [closing, q[self.given] - x, self.conditions(q) - b]
        if self.posture is not None:
            weights, wanted = self.posture
            sides = [[self.conditions(q + side) for side in np.eye(self.chain.size) * s] for s in (TURN, -TURN)]
            tasks = np.subtract(*sides).T / (2 * TURN)
            free = _null_space(np.vstack([matrix, np.eye(self.chain.size)[self.given], tasks]))
            rows.append(free @ (free.T @ (weights * (q - wanted))))
        return np.concatenate(rows)

    def positions(self, x: Array, b: Array, near: Array | None = None) -> Array:
        """All joints, near others or followed from the reference pose."""
        q = np.zeros(self.chain.size) if near is None else near
        start = self.conditions(q)
        for share in (0.5, 1.0) if near is None else (1.0,):
            aims = share * x, start + share * (b - start)
            q = least_squares(self.open_by, q, "2-point", args=aims, xtol=1e-15, ftol=1e-15, gtol=1e-15).x
        return q

    def motion(self, given: Callable[[float], tuple[Array, Array]]) -> tuple[Array, Array, Array]:
        """Positions, rates and accelerations of the freedoms at the time zero, of what is given and of values."""
        middle = self.positions(*given(0.0))
        q = np.stack([self.positions(*given(k * STEP), middle)[self.freedoms] for k in range(-2, 3)])
        return q[2], FIRST @ q / STEP, SECOND @ q / STEP**2
