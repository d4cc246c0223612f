"""Inertias that a body can have, nearest to those of a file.

Principal moments of a body are at least zero, and none is above the sum of the others.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np

from robots.formats.poses import rows
from robots.types import Matrix

_FLAT = np.array([1.0, 1.0, -1.0])
"""A body is flat where this times its moments, its own axis last, is zero."""


def nearest_tensor(tensor: Matrix) -> Matrix:
    """Return the inertia that a body can have with the least sum of squares of changes; principal axes stay."""
    moments, axes = np.linalg.eigh(np.array(tensor, dtype=float))
    moments = nearest_moments(moments)
    result = axes @ np.diag(moments) @ axes.T
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
