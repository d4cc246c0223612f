"""The paths of a motion that is given over time: what is left of it where only its places count.

With V and A the rates of the motion and l the rate of its length, the path has by its length the derivatives V / l and
(A - V (V . A) / l^2) / l^2. A motion is cut into legs where it rests: there a path may turn back, or have a corner.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tasks.arrays.inputs import Moving
from tasks.motion.paths.path import PathSamples, RobotPath, pose_of

CELLS = 512
"""Cells of time over which lengths are summed, at least."""
PIECES = 8
"""Pieces of a leg on which it is taken for smooth, at least."""
REST = 1e-5
"""Share of the largest rate of the length up to which a motion rests."""
NEAR_REST = 1e-3
"""Share of a leg's time at its ends, at rest, in whose place the nearest time beyond it is taken."""
REFINED = 64
"""Parts of a cell that are looked at for a rest, again and again."""
HALVINGS = 60

MotionOverTime = Callable[[np.ndarray], Moving]
"""The motion of a robot at times (time,) [s]."""


@dataclass(frozen=True)
class TimedMotion:
    """A motion over time, with what rates of its coordinates count by in the length of its path."""

    at: MotionOverTime
    weights: np.ndarray
    chain: bool

    def rates(self, times: np.ndarray) -> tuple[Moving, np.ndarray, np.ndarray]:
        """The motion, its rates V and A (time, coordinate)."""
        moving = self.at(times)
        if self.chain:
            return moving, np.asarray(moving["qd"]), np.asarray(moving["qdd"])
        return moving, np.asarray(moving["twist"]), np.asarray(moving["acceleration"])

    def length_rates(self, times: np.ndarray) -> np.ndarray:
        """How fast the path grows longer (time,)."""
        return np.asarray(np.linalg.norm(self.rates(times)[1] * self.weights, axis=1))


def legs(motion: TimedMotion, start: float, stop: float, knots: Sequence[float] = ()) -> list[RobotPath]:
    """The paths of a motion from one rest to the next; none of a motion that rests.

    knots: times at which it is less smooth than between.
    """
    inside = [t for t in knots if start < t < stop]
    times = np.unique(np.concatenate([np.linspace(start, stop, CELLS + 1), inside]))
    rates = motion.length_rates(times)
    still = rates <= REST * rates.max()
    if still.all():
        return []
    between = motion.length_rates(0.5 * (times[:-1] + times[1:])) <= REST * rates.max()
    moving = ~(still[:-1] & still[1:] & between)
    ends = np.flatnonzero(np.diff(np.concatenate([[False], moving, [False]])))
    spans: list[tuple[float, float]] = []
    for first, last in ends.reshape(-1, 2):
        low = [k for k in range(first + 1, last) if rates[k] <= min(rates[k - 1], rates[k + 1])]
        stops = [_rest(motion, times[k - 1], times[k + 1], REST * rates.max()) for k in low]
        cuts = [times[first], *(t for t in stops if t is not None), times[last]]
        spans += [(a, b) for a, b in pairwise(cuts) if b - a > NEAR_REST * (stop - start) / CELLS]
    return [_leg(motion, span, inside, REST * rates.max()) for span in spans]


def _rest(motion: TimedMotion, low: float, high: float, small: float) -> float | None:
    """The time of a rest between two times, None where the motion goes on."""
    for _ in range(4):
        times = np.linspace(low, high, REFINED + 1)
        rates = motion.length_rates(times)
        k = int(np.argmin(rates))
        low, high = times[max(k - 1, 0)], times[min(k + 1, REFINED)]
    return float(times[k]) if rates[k] <= small else None


def _leg(motion: TimedMotion, span: tuple[float, float], knots: Sequence[float], small: float) -> RobotPath:
    """One leg as a path, with its share of the length as progress."""
    low, high = span
    times = np.unique(np.concatenate([np.linspace(low, high, CELLS + 1), [t for t in knots if low < t < high]]))
    nodes, weights = np.polynomial.legendre.leggauss(5)
    steps = np.diff(times)
    inner = times[:-1, None] + 0.5 * steps[:, None] * (1.0 + nodes)
    grown = 0.5 * steps * (motion.length_rates(inner.ravel()).reshape(inner.shape) @ weights)
    total = float(grown.sum())
    share = np.concatenate([[0.0], np.cumsum(grown)]) / total
    share[-1] = 1.0
    slope = motion.length_rates(times) / total
    margin = NEAR_REST * (high - low)
    first = low + (margin if slope[0] * total <= small else 0.0)
    last = high - (margin if slope[-1] * total <= small else 0.0)

    def at(progress: np.ndarray) -> PathSamples:
        t = np.clip(_times(progress, times, share, slope), first, last)
        moving, v, a = motion.rates(t)
        squared = ((v * motion.weights) ** 2).sum(axis=1)[:, None]
        along = (v * a * motion.weights**2).sum(axis=1)[:, None] / squared
        return PathSamples(
            pose_of(moving),
            v * (total / np.sqrt(squared)),
            (a - v * along) * (total**2 / squared),
            motion.chain,
        )

    breaks = np.interp([t for t in knots if low < t < high], times, share)
    return RobotPath(at, np.unique(np.concatenate([np.linspace(0.0, 1.0, PIECES + 1), breaks]).round(12)))


def _times(progress: np.ndarray, times: np.ndarray, share: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """The times at shares of the length, by cubic Hermite polynomials of each cell."""
    cell = np.clip(np.searchsorted(share, progress, side="right") - 1, 0, len(times) - 2)
    step = times[cell + 1] - times[cell]
    start, rise = share[cell], share[cell + 1] - share[cell]
    one, other = slope[cell] * step, slope[cell + 1] * step
    low, high = np.zeros(len(progress)), np.ones(len(progress))
    for _ in range(HALVINGS):
        x = 0.5 * (low + high)
        value = start + x * (one + x * (3.0 * rise - 2.0 * one - other + x * (one + other - 2.0 * rise)))
        low, high = np.where(value < progress, x, low), np.where(value < progress, high, x)
    return np.asarray(times[cell] + step * low)
