"""Physically possible inertias that are nearest to the inertias of a file.

Principal moments of a body are at least zero, and none is above the sum of the others.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np

from robots.formats.poses import rows
from robots.types import Matrix

_FLAT = np.array([1.0, 1.0, -1.0])
"""A body is flat where this times its moments, its own axis last, is zero."""

EVEN = 1e-9
"""Share of a moment by which others are above the least ones that a body can have, since these are rounded."""


def nearest_tensor(tensor: Matrix) -> Matrix:
    """Return the inertia that a body can have with the least sum of squares of changes; principal axes stay."""
    moments, axes = np.linalg.eigh(np.array(tensor, dtype=float))
    moments = nearest_moments(moments)
    result = axes @ np.diag(moments) @ axes.T
    return rows(0.5 * (result + result.T))


def kept_about(tensor: Matrix, axis: np.ndarray) -> Matrix:
    """Return the inertia that a body can have with the same moment and products about an axis, of direction (3,)."""
    whole = np.array(tensor, dtype=float)
    turn = np.linalg.svd(axis[None])[2][[1, 2, 0]].T
    second = turn.T @ (0.5 * np.trace(whole) * np.eye(3) - whole) @ turn  # integrals of x x over the mass
    across, products = second[:2, :2], second[:2, 2]
    moment = float(np.trace(across))
    if moment <= 0.0:
        return nearest_tensor(tensor)
    if np.linalg.eigvalsh(across)[0] <= EVEN * moment:
        across[:] = 0.5 * moment * np.eye(2)
    least = float(products @ np.linalg.solve(across, products)) + EVEN * moment
    second[2, 2] = max(float(second[2, 2]), least)
    result = turn @ (np.trace(second) * np.eye(3) - second) @ turn.T
    return rows(0.5 * (result + result.T))


def nearest_moments(moments: np.ndarray) -> np.ndarray:
    """Return the moments (3,) of a body that are nearest to others: inside, on a face, an edge or the tip of a cone."""
    candidates = [moments, np.zeros(3)]
    for order in permutations(range(3)):
        inverse, sorted_moments = np.argsort(order), moments[list(order)]
        face = sorted_moments - _FLAT * (_FLAT @ sorted_moments) / 3.0
        rod = np.array([1.0, 1.0, 0.0]) * max(0.0, 0.5 * float(sorted_moments[0] + sorted_moments[1]))
        candidates += [face[inverse], rod[inverse]]
    slack = 1e-12 * float(np.abs(moments).max())
    sound = [each for each in candidates if each.sum() - 2.0 * each.max() >= -slack]
    nearest: np.ndarray = min(sound, key=lambda each: float(np.square(each - moments).sum()))
    return nearest
