"""Proof that no motion fits friction whose normal loads are reactions, by linear programmes.

Normal loads N(x) are lengths of vectors that are affine in x (`tasks.dynamics.instant.affine_loads`), so they are
convex: each lies above all its tangents. A joint that slides has x = N(x), so x has to lie above the tangents too.
If no x does, there is no motion; multipliers of the tangents that add up to a contradiction are the proof (Farkas).
Tangents are added at the best x so far (Kelley 1960, The cutting-plane method). A joint at rest sticks, or begins to
slide in one of two directions; all combinations are refuted one by one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robots.data_classes import dataclass
from tasks.dynamics.instant.affine_loads import RESTING, AffineLoads

Numbers = NDArray[np.float64]

CUTS = 60
"""Rounds of tangents."""

MARGIN = 1e-6
"""Least residual of some load for all x, as a share of the loads without friction, for a proof."""

WIDE = 1e6
"""Bound of the loads in the search for the least residual, relative to the loads without friction."""

CERTAIN = 1e-10
"""Share of a sum that is rounding."""


def is_refuted(loads: AffineLoads) -> bool:
    """Return whether it is proven that no motion exists."""
    if loads.resting.sum() > RESTING:
        return False
    return all(_Combination(loads, side).refuted() for side in loads.combinations())


@dataclass(frozen=True)
class _Combination:
    """Joints that hold (0) or slide to a side; `loads` of the sample."""

    loads: AffineLoads
    side: Numbers

    @property
    def _bounds(self) -> tuple[Numbers, Numbers]:
        return np.where(self.side > 0.0, 0.0, -WIDE), np.where(self.side < 0.0, 0.0, WIDE)

    def refuted(self) -> bool:
        """Return whether no motion exists."""
        from scipy.optimize import linprog  # takes as long as a small run, which needs no proof

        count, (lower, upper), z = len(self.side), self._bounds, self.side.copy()
        a, b = self._rest_rows()
        bounds = [*zip(lower, upper, strict=True), (None, None)]
        for _ in range(CUTS):
            more, limits = self._cuts(z)
            a, b = np.concatenate([a, more]), np.concatenate([b, limits])
            wide = np.hstack([a, -np.ones((len(a), 1))])
            best = linprog([*np.zeros(count), 1.0], A_ub=wide, b_ub=b, bounds=bounds, method="highs")
            if best.status != 0:
                return False
            if best.fun > MARGIN and self._contradicts(np.maximum(-best.ineqlin.marginals, 0.0), a, b):
                return True
            z = best.x[:count]
            if self._missing(z) <= max(best.fun, 0.0) + MARGIN:
                return False
        return False

    def _missing(self, z: Numbers) -> float:
        """Return the largest deficit of a sliding joint's load at x = z * scale, in scales."""
        at = self.loads
        lengths = at.lengths(at.parts(z[:, None]))[:, 0]
        above = (lengths + at.fixed) / at.scale - self.side * z
        return float(np.where(self.side != 0.0, above, -np.inf).max())

    def _cuts(self, z: Numbers) -> tuple[Numbers, Numbers]:
        """Return conditions a z <= b on z = x / scale of sliding joints, from tangents at z."""
        at, sliding = self.loads, self.side != 0.0
        unit = at.units(at.parts(z[:, None]))[..., 0]
        start = ((unit * at.vectors).sum(axis=1) + at.fixed) / at.scale
        slope = np.einsum("jc,jck->jk", unit, at.slopes) * at.scale / at.scale[:, None]
        return (slope - np.diag(self.side))[sliding], -start[sliding]

    def _rest_rows(self) -> tuple[Numbers, Numbers]:
        """Return the same for accelerations: none of joints that hold, against friction where sliding begins."""
        (start, slope), side = self.loads.accelerations, self.side
        held, begun = side == 0.0, self.loads.resting & (side != 0.0)
        a = [slope[held], -slope[held], -(side[:, None] * slope)[begun]]
        return np.concatenate(a), np.concatenate([-start[held], start[held], (side * start)[begun]])

    def _contradicts(self, weights: Numbers, a: Numbers, b: Numbers) -> bool:
        """Return whether conditions of these weights exclude all x within their signs, however large."""
        whole, missing, side = weights @ a, -(weights @ b), self.side
        least = CERTAIN * np.abs(weights[:, None] * a).sum(axis=0)
        good = np.where(side == 0.0, np.abs(whole) <= least, side * whole >= -least)
        return bool(good.all() and missing > MARGIN * weights.sum() and weights.sum() > 0.0)
