"""Normal loads of a robot at one state, affine in friction but for the lengths of vectors, and the motions they allow.

Friction of joints is measured by the normal loads x that would cause it. A sliding joint has x = N(x); a sticking joint
has no acceleration. Newton's method needs no kernels between its steps here, so it is cheap and can begin at many
places. Its solutions are starts for `tasks.dynamics.instant.load_search`, which decides.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from robots.data_classes import dataclass
from robots.friction.groups import FrictionGroup
from robots.friction.laws import LAWS
from tasks.dynamics.instant.elimination import TINY, solved, spread_starts, sum_of_rows

Numbers = NDArray[np.float64]

RESTING = 3
"""Largest number of joints at rest for which all combinations of sticking and sliding are examined."""

STARTS, STEPS = 100, 30

SHARES = (1.0, 0.5, 0.2, 0.05)
"""Shares of a step, of which the one with the least residual is taken."""

SOLVED = 1e-9
"""Residual of a solution, relative to loads without friction and its own."""

ALIKE = 1e-5
"""Relative difference of loads up to which two solutions are the same."""

LENGTHS = (slice(0, 2), slice(2, 4), slice(4, 5))
"""Places of the vectors whose lengths make the load of a joint."""


def is_convex(groups: Sequence[FrictionGroup], resting: bool) -> bool:
    """Return whether friction is linear in loads that are all reactions; at rest in both directions alike."""
    bent = {"transition_load"} | ({"negative"} if resting else set())
    plain = (LAWS[group.law].state == 0 and not bent & set(group.parameters) for group in groups)
    return all(plain) and (not resting or all(group.load == "reaction" for group in groups if group.sticks))


@dataclass(frozen=True)
class AffineLoads:
    """Normal loads and accelerations of the joints of one sample, with a mask of joints at rest (`resting`).

    vectors (joint, 5) and slopes (joint, 5, joint): see `tasks.features.friction.joints.load_vectors`; loads without x
    (joint,); changes (joint,) and change_slopes (joint, joint): accelerations.
    """

    vectors: Numbers
    slopes: Numbers
    loads: Numbers
    changes: Numbers
    change_slopes: Numbers
    resting: NDArray[np.bool_]

    @classmethod
    def of(
        cls, vectors: Numbers, loads: Numbers, changes: Numbers, scale: Numbers, resting: NDArray[np.bool_]
    ) -> AffineLoads:
        """Return affine loads from values without x and with each x as large as its scale: (1 + joint, ...)."""
        joints = len(scale)
        cut = vectors.reshape(joints + 1, joints, 5)
        by_x = np.moveaxis((cut[1:] - cut[0]) / scale[:, None, None], 0, -1)
        return cls(cut[0], by_x, loads[0], changes[0], ((changes[1:] - changes[0]) / scale[:, None]).T, resting)

    @cached_property
    def scale(self) -> Numbers:
        """Sizes of loads (joint,)."""
        return self.loads + 1e-3 * self.loads.mean() + TINY

    @cached_property
    def fixed(self) -> Numbers:
        """Parts of loads (joint,) that do not depend on x."""
        return self.loads - self.lengths(self.vectors[..., None])[:, 0]

    def parts(self, z: Numbers) -> Numbers:
        """Return the vectors (joint, 5, columns) at x = z * scale, (joint, columns)."""
        result = np.repeat(self.vectors[:, :, None], z.shape[1], axis=2)
        for k, size in enumerate(self.scale):
            result += (self.slopes[:, :, k] * size)[..., None] * z[k]
        return result

    def lengths(self, parts: Numbers) -> Numbers:
        """Return the sums of the lengths of vectors (joint, columns)."""
        squares = parts * parts
        across = np.sqrt(squares[:, 0] + squares[:, 1]) + np.sqrt(squares[:, 2] + squares[:, 3])
        return np.asarray(across + abs(parts[:, 4]))

    def units(self, parts: Numbers) -> Numbers:
        """Return the vectors scaled to length one; zero vectors stay zero."""
        result = np.empty_like(parts)
        for rows in LENGTHS:
            length = np.sqrt(sum_of_rows(np.moveaxis(parts[:, rows] ** 2, 1, 0)))
            result[:, rows] = parts[:, rows] / np.maximum(length, TINY)[:, None]
        return result

    def combinations(self) -> Iterator[Numbers]:
        """Yield sides (joint,): 1 in motion; at rest 1 or -1 for a joint that begins to slide, 0 for a sticking one."""
        still = np.flatnonzero(self.resting)
        if len(still) <= RESTING:
            for sides in itertools.product((1.0, -1.0, 0.0), repeat=len(still)):
                side = np.ones(len(self.loads))
                side[still] = sides
                yield side

    @cached_property
    def accelerations(self) -> tuple[Numbers, Numbers]:
        """Accelerations of joints, relative to their sizes: without z (joint,), and slopes (joint, joint)."""
        slope = self.change_slopes * self.scale
        size = np.abs(slope).sum(axis=1) + np.abs(self.changes) + TINY
        return self.changes / size, slope / size[:, None]

    def solutions(self) -> list[Numbers]:
        """Return loads (joint,) of motions to which Newton's method converges."""
        solutions: list[Numbers] = []
        for side in self.combinations():
            for loads in self._newton(side).T:
                if not any(np.abs(loads - before).max() <= ALIKE * np.abs(before).max() for before in solutions):
                    solutions.append(loads)
        return solutions

    def _missing(self, z: Numbers, side: Numbers) -> tuple[Numbers, Numbers]:
        """Return joints' excess over their loads (joint, columns), accelerations of sticking ones; and the vectors."""
        parts = self.parts(z)
        sliding = side[:, None] * z - (self.lengths(parts) + self.fixed[:, None]) / self.scale[:, None]
        start, slope = self.accelerations
        held = start[:, None] + sum_of_rows(slope.T[:, :, None] * z[:, None])
        return np.where(side[:, None] == 0.0, held, sliding), parts

    def _slope(self, parts: Numbers, side: Numbers) -> Numbers:
        """Return derivatives of the residuals of `_missing` by the loads (joint, joint, columns)."""
        unit = self.units(parts)
        by_z = sum_of_rows(np.moveaxis(unit[:, :, None] * self.slopes[..., None], 1, 0)) * self.scale[None, :, None]
        sliding = np.diag(side)[..., None] - by_z / self.scale[:, None, None]
        return np.where(side[:, None, None] == 0.0, self.accelerations[1][..., None], sliding)

    def _newton(self, side: Numbers) -> Numbers:
        """Return loads (joint, found) of solutions from many starts."""
        z = np.where(side[:, None] == 0.0, 1.0, side[:, None]) * spread_starts(len(side), STARTS)
        best: Numbers = np.full(z.shape[1], np.inf)
        for _ in range(STEPS):
            missing, parts = self._missing(z, side)
            best = sum_of_rows(np.abs(missing)) / (1.0 + sum_of_rows(np.abs(z)))
            step, _ = solved(self._slope(parts, side), -missing)
            going = (best > SOLVED) & np.isfinite(step).all(axis=0)
            if not going.any():
                break
            trials = np.concatenate([z[:, going] + share * step[:, going] for share in SHARES], axis=1)
            sizes = sum_of_rows(np.abs(self._missing(trials, side)[0])).reshape(len(SHARES), -1)
            least = np.where(np.isfinite(sizes), sizes, np.inf).argmin(axis=0)
            z[:, going] = trials.reshape(len(z), len(SHARES), -1)[:, least, np.arange(len(least))]
        good = z[:, best <= SOLVED]
        return (self.lengths(self.parts(good)) + self.fixed[:, None])[:, self._allowed(good, side)]

    def _allowed(self, z: Numbers, side: Numbers) -> NDArray[np.bool_]:
        """Return a mask (columns,): sticking joints are within their limits, others slide against their friction."""
        loads = (self.lengths(self.parts(z)) + self.fixed[:, None]) / self.scale[:, None]
        start, slope = self.accelerations
        change = start[:, None] + sum_of_rows(slope.T[:, :, None] * z[:, None])
        near = 1e-6 * (1.0 + np.abs(z))
        held = (side[:, None] != 0.0) | (np.abs(z) <= loads + near)
        begun = (~self.resting | (side == 0.0))[:, None] | (side[:, None] * change >= -1e-6)
        return np.asarray((held & begun & (loads > -near)).all(axis=0))
