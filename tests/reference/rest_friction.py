"""Friction at rest from plain numbers, by bounded least squares: for tests of accelerations under dry friction.

A machine with the mass matrix M and the force Q without friction, M a = Q - W^T tau, has joints at rest that accelerate
with W a + drift. Their friction holds up to its limits, beyond which it is at the limit and opposes the acceleration.
With M = L L^T that is the minimum of |L^-1 W^T tau - L^T (a_0 + d)|^2 over the box of the limits, where a_0 = M^-1 Q
and W d = drift: solved by Stark and Parker's algorithm BVLS in SciPy. How far that is from the minimum is told without
it: the gap between this problem and the primal one, of least constraint and dissipation, bounds the error in a.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, cholesky, solve_triangular
from scipy.optimize import lsq_linear

Array = NDArray[np.float64]


class Rest(NamedTuple):
    """Acceleration (freedom,), friction (joint,), and a bound for the error in the norm of M^(1/2), relative."""

    acceleration: Array
    friction: Array
    bound: float


def solve(mass: Array, force: Array, rows: Array, drift: Array, above: Array, below: Array) -> Rest:
    """The motion of joints at rest, rows (joint, freedom), with limits `above` and `below` zero (joint,)."""
    factor, root = cho_factor(mass), cholesky(mass, lower=True)
    free = np.asarray(cho_solve(factor, force))
    if not len(rows):
        return Rest(free, np.zeros(0), 0.0)
    start = free + np.linalg.lstsq(rows, drift, rcond=1e-9)[0]
    matrix = solve_triangular(root, rows.T, lower=True)
    wide = np.maximum(above + below, 1e-300)  # BVLS asks for bounds apart
    friction = lsq_linear(matrix, root.T @ start, (-below, -below + wide), method="bvls", tol=1e-15, max_iter=500).x
    acceleration = free - np.asarray(cho_solve(factor, rows.T @ friction))
    return Rest(acceleration, friction, _bound(mass, free, rows, drift, above, below, friction, acceleration))


def _bound(
    mass: Array, free: Array, rows: Array, drift: Array, above: Array, below: Array, friction: Array, found: Array
) -> float:
    """|a - a*| <= (2 gap)^(1/2), as the primal problem is strongly convex in the norm of M."""
    change, off = rows @ found + drift, found - free
    primal = 0.5 * off @ mass @ off + np.maximum(above * change, -below * change).sum()
    dual = friction @ (rows @ free + drift) - 0.5 * off @ mass @ off
    return float(np.sqrt(2.0 * max(primal - dual, 0.0) / max(free @ mass @ free, 1e-300)))
