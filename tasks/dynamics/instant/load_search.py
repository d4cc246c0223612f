"""Motions under friction whose normal loads are reactions, from many starts: for samples that one loop leaves open.

Loads N belong to a motion where N = G(N): friction under these loads, with joints at rest solved for, accelerations,
reactions, loads. G is continuous and smooth in pieces, so Newton's method with differences for derivatives finds its
fixed points also where a round enlarges differences and repeated rounds diverge. It starts from several places;
solutions are distinguished by their accelerations. Kernels compute G, and all other operations are element by element,
so that no bit depends on the batch. Source: Qi and Sun 1993, A nonsmooth version of Newton's method.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robots.data_classes import dataclass
from tasks.dynamics.instant.elimination import TINY, solved, spread_starts, sum_of_rows
from tasks.kernels.keys import Arrays

Numbers = NDArray[np.float64]

STARTS = 10
"""Number of starts."""

STEPS, PATIENCE = 40, 6
"""Largest number of steps from a start, and number of steps in which the residual has to halve."""

ENOUGH = 2
"""Motions of a sample after which no others are looked for."""

SHARES = (1.0, 0.5, 0.25, 0.0625)
"""Shares of a step; the share with the least residual is taken."""

SOLVED = 1e-12
"""Largest relative difference, at a solution, between assumed loads and the loads that result from the motion."""

DIFFERENCE = 1e-6
"""Change of a load, relative, for derivatives."""

ANOTHER = 1e-6
"""Relative difference of accelerations above which two solutions are different motions."""

LARGE, ROUNDS = 1e9, 8
"""Loads beside which all else vanishes, and rounds after which their direction is that which grows."""


Round = Callable[[Numbers, NDArray[np.int64]], Arrays]
"""Outputs of motions under loads (loaded joint, columns), of samples by their numbers (columns,)."""


@dataclass(frozen=True)
class LoadSearch:
    """The search in `count` samples; `accelerations`: rows of `rate` with the accelerations of freedoms.

    enough: number of motions of a sample after which the search ends.
    """

    round: Round
    count: int
    joints: int
    accelerations: slice
    enough: float = ENOUGH

    @cached_property
    def _free(self) -> tuple[Numbers, Numbers]:
        """Loads without friction (loaded joint, samples), and the size of accelerations (samples,)."""
        out, width = self.round(np.zeros((self.joints, self.count)), np.arange(self.count)), self.count
        return out["following"][0, :, :width], sum_of_rows(np.abs(out["rate"][0, self.accelerations, :width]))

    @cached_property
    def _scale(self) -> Numbers:
        """Sizes of loads (loaded joint, samples): loads without friction, plus a small share of their mean."""
        free = self._free[0]
        return np.asarray(free + 1e-3 * sum_of_rows(free) / len(free) + TINY)

    def spread(self) -> FoundMotions:
        """Return the motions to which Newton's method converges from many starts."""
        motions = FoundMotions.none(self.joints, self.count, self._free[1])
        for place in spread_starts(self.joints, STARTS).T:
            self.follow(self._scale * place[:, None], motions)
        return motions

    def mark_others(self, motions: FoundMotions) -> None:
        """Count two motions where one was found and indices prove that there are more."""
        alone = np.flatnonzero(motions.count == 1.0)
        if len(alone):
            unique = self._unique(motions.loads[:, alone], self._scale[:, alone], alone)
            motions.count[alone[~unique]] = 2.0

    def _unique(self, loads: Numbers, scale: Numbers, samples: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return where a solution may be the only one: its index is 1, and large loads become smaller.

        Indices of all solutions add up to the degree of the map at infinity, which is 1 where large loads shrink.
        """
        sign = solved(-self._slope(loads, self._evaluated(loads, samples).missing, scale, samples), loads)[1]
        far, growth = scale * LARGE, [np.ones(len(samples))] * 2
        for _ in range(ROUNDS):
            after = np.maximum(far + self._evaluated(far, samples).missing, 0.0)
            ratio = sum_of_rows(after) / sum_of_rows(far)
            growth, far = (
                [growth[1], ratio],
                after * (sum_of_rows(scale) * LARGE / np.maximum(sum_of_rows(after), TINY)),
            )
        return np.asarray((sign > 0.0) & (growth[0] * growth[1] < 1.0))

    def follow(self, start: Numbers, motions: FoundMotions) -> None:
        """Follow Newton's method from loads (loaded joint, samples) and add its ends; NaN: none."""
        samples = np.flatnonzero(motions.count < self.enough)
        loads, scale = start[:, samples], self._scale[:, samples]
        least, waited = np.full(len(samples), np.inf), np.zeros(len(samples))
        for _ in range(STEPS):
            if not len(samples):
                return
            now = self._evaluated(loads, samples)
            fallen = now.relative < 0.5 * least
            least, waited = np.where(fallen, now.relative, least), np.where(fallen, 0, waited + 1)
            motions.residual[samples] = np.fmin(motions.residual[samples], now.relative)
            finite = np.isfinite(now.missing).all(axis=0)
            done = finite & (now.relative <= SOLVED) & now.good
            motions.add(samples[done], loads[:, done], now.acceleration[:, done])
            going = finite & ~done & (waited < PATIENCE)
            loads, samples, scale = loads[:, going], samples[going], scale[:, going]
            least, waited = least[going], waited[going]
            if len(samples):
                missing = now.missing[:, going]
                step, _ = solved(-self._slope(loads, missing, scale, samples), missing)
                loads = self._best(loads, step, scale, samples)

    def _evaluated(self, loads: Numbers, samples: NDArray[np.int64]) -> _Evaluated:
        out = self.round(loads, samples)
        count = len(samples)
        following, rate = out["following"][0, :, :count], out["rate"][0, self.accelerations, :count]
        missing = following - loads
        relative = sum_of_rows(np.abs(missing)) / np.maximum(sum_of_rows(np.abs(following)), TINY)
        return _Evaluated(missing, relative, out["status"][0, 0, :count] < 0.5, rate)

    def _slope(self, loads: Numbers, missing: Numbers, scale: Numbers, samples: NDArray[np.int64]) -> Numbers:
        """Return the derivative of missing loads by loads (loaded joint, loaded joint, samples)."""
        joints, count = self.joints, len(samples)
        change = DIFFERENCE * (loads + scale)
        wide = np.repeat(loads[:, None], joints, axis=1)
        wide[np.arange(joints), np.arange(joints)] += change
        there = self._evaluated(wide.reshape(joints, -1), np.tile(samples, joints)).missing
        return (there.reshape(joints, joints, count) - missing[:, None]) / change[None]

    def _best(self, loads: Numbers, step: Numbers, scale: Numbers, samples: NDArray[np.int64]) -> Numbers:
        """Return the loads after the share of a step that leaves the least residual."""
        joints, count = self.joints, len(samples)
        shares = np.array(SHARES)[None, :, None]
        wide = np.maximum(loads[:, None] + shares * step[:, None], 0.0)
        missing = self._evaluated(wide.reshape(joints, -1), np.tile(samples, len(SHARES))).missing
        sizes = sum_of_rows(np.abs(missing) / np.tile(scale, len(SHARES))).reshape(len(SHARES), count)
        best = np.where(np.isfinite(sizes), sizes, np.inf).argmin(axis=0)
        return wide[:, best, np.arange(count)]


class _Evaluated(NamedTuple):
    """A round: missing loads (loaded joint, samples), their relative size, mask of motions, accelerations."""

    missing: Numbers
    relative: Numbers
    good: NDArray[np.bool_]
    acceleration: Numbers


@dataclass(frozen=True)
class FoundMotions:
    """Motions found so far: their number, loads of the first, accelerations of all, and the size of these.

    count, size (samples,), loads (loaded joint, samples); residual (samples,): least relative difference between
    assumed loads and the loads that result from the motion under them.
    """

    count: Numbers
    loads: Numbers
    accelerations: list[list[Numbers]]
    size: Numbers
    residual: Numbers

    @classmethod
    def none(cls, joints: int, count: int, size: Numbers) -> FoundMotions:
        """Return the record before the search: no motions found."""
        residual = np.full(count, np.inf)
        return cls(np.zeros(count), np.full((joints, count), np.nan), [[] for _ in range(count)], size, residual)

    def add(self, samples: NDArray[np.int64], loads: Numbers, accelerations: Numbers) -> None:
        """Add motions that differ from known motions."""
        for k, sample in enumerate(samples):
            motion, earlier = accelerations[:, k], self.accelerations[sample]
            size = self.size[sample] + np.abs(motion).sum()
            if any(np.abs(motion - before).sum() <= ANOTHER * size for before in earlier):
                continue
            earlier.append(motion)
            self.count[sample] += 1.0
            if len(earlier) == 1:
                self.loads[:, sample] = loads[:, k]
