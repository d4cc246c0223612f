"""The fastest motion along a path within limits of power beside those of forces: two passes with sets of speeds.

With z the speed of the progress, a limit of power is |A a + B z^2 + C| |q'| z <= P. All limits of a, times z, are
polynomials c0 + c1 z + c3 z^3, so that the speeds from which a next set can be reached are where differences of upper
and lower ones are not negative: intervals between roots. Sets need not be single intervals, as the plane of x and a has
no convex limits here. Of two motions that keep their limits the faster one at each point does so too, so the highest
forward pass through these sets is the fastest motion, as without power (`tasks.motion.paths.passes`).
"""

from __future__ import annotations

import numpy as np

from tasks.motion.paths.passes import FLAT, HALVINGS, LARGEST, Plane

Polynomials = np.ndarray
"""Coefficients c0, c1, c3 (polynomial, 3)."""
Intervals = list[tuple[float, float]]
"""Squares of speeds, in order."""

ROUNDING = 1e-9
"""Share of a bound by which the forward pass may miss a set by rounding."""


def power_passes(
    plane: Plane, rate: np.ndarray, power: np.ndarray, top: np.ndarray, step: float
) -> tuple[np.ndarray, np.ndarray] | None:
    """x and a of all points within the plane's limits and those of power (row,) at rates (point, row); None for no way.

    top (point,): largest x; step: of the progress.
    """
    points, double = len(top), 2.0 * step
    with np.errstate(divide="ignore"):
        push = np.where(rate == 0.0, np.inf, power / np.abs(rate))
    limits = [_PointLimits.of(plane, k, push[k], top[k]) for k in range(points)]
    reach: list[Intervals] = [[(0.0, 0.0)]] * points
    for point in reversed(range(points - 1)):
        reach[point] = _merged([hit for goal in reach[point + 1] for hit in limits[point].leading_to(goal, double)])
        if not reach[point]:
            return None
    if reach[0][0][0] > 0.0:
        return None
    x, a = np.zeros(points), np.zeros(points)
    for point in range(points - 1):
        low, high = limits[point].range(x[point])
        least, most = x[point] + double * low, x[point] + double * high
        slack = ROUNDING * max(abs(least), x[point])
        ends = [min(goal[1], most) for goal in reach[point + 1] if goal[0] <= most + slack and goal[1] >= least - slack]
        if not ends:
            return None
        x[point + 1] = max(max(ends), 0.0)
        a[point] = (x[point + 1] - x[point]) / double
    return x, a


class _PointLimits:
    """Limits of a at one point, times z: upper and lower polynomials, and those of forces that do not depend on a."""

    def __init__(self, upper: Polynomials, lower: Polynomials, flat: Polynomials, top: float) -> None:
        self.upper, self.lower, self.flat, self.top = upper, lower, flat, top

    @classmethod
    def of(cls, plane: Plane, point: int, power: np.ndarray, top: float) -> _PointLimits:
        """Those of a point of a plane, with power over the rate of each row (row,)."""
        push, sweep, hold = plane.push[point], plane.sweep[point], plane.hold[point]
        flat = np.abs(push) <= FLAT * np.abs(plane.push).max()
        rows = []
        for sign in (1.0, -1.0):
            for constant, linear in ((np.zeros_like(push), plane.most), (power, np.zeros_like(push))):
                known = np.isfinite(constant) & np.isfinite(linear)
                row = np.stack([sign * constant, sign * linear - hold, -sweep], axis=1)
                rows.append((sign, known, row))
        upper, lower, free = [], [], []
        for sign, known, row in rows:
            steep = known & ~flat
            bound = row[steep] / push[steep, None]
            above = sign * push[steep] > 0.0
            upper.append(bound[above])
            lower.append(bound[~above])
            free.append(sign * row[known & flat])
        return cls(np.concatenate(upper), np.concatenate(lower), np.concatenate(free), min(top, LARGEST))

    def range(self, x: float) -> tuple[float, float]:
        """Least and largest a at a square of the speed."""
        z = np.sqrt(x)
        if z > 0.0:
            low, high = _values(self.lower, z) / z, _values(self.upper, z) / z
        else:  # power limits nothing at rest
            low, high = self.lower[self.lower[:, 0] == 0.0, 1], self.upper[self.upper[:, 0] == 0.0, 1]
        return float(low.max(initial=-np.inf)), float(high.min(initial=np.inf))

    def leading_to(self, goal: tuple[float, float], double: float) -> Intervals:
        """The x from which some a leads into an interval of the next point."""
        low, high = goal
        upper = np.concatenate([self.upper, [[0.0, high / double, -1.0 / double]]])
        lower = np.concatenate([self.lower, [[0.0, low / double, -1.0 / double]]])
        pairs = (upper[:, None] - lower[None]).reshape(-1, 3)[:-1]  # the last is that of the goal with itself
        return _where_positive(np.concatenate([pairs, self.flat]), self.top)


def _values(polynomials: Polynomials, z: np.ndarray | float) -> np.ndarray:
    """Values of polynomials at one z (polynomial,), or at many (polynomial, z)."""
    c0, c1, c3 = (polynomials[:, k, None] if np.ndim(z) else polynomials[:, k] for k in range(3))
    return np.asarray(c0 + (c1 + c3 * z * z) * z)


def _where_positive(polynomials: Polynomials, top: float) -> Intervals:
    """The squares of all z up to that of `top` at which no polynomial is negative."""
    end = float(np.sqrt(top))
    roots = _roots(polynomials, end)
    ends = np.unique(np.concatenate([[0.0], roots[(roots > 0.0) & (roots < end)], [end]]))
    middles = 0.5 * (ends[:-1] + ends[1:])
    good = _values(polynomials, middles).min(axis=0) >= 0.0
    result = [(float(ends[k]) ** 2, min(float(ends[k + 1]) ** 2, top)) for k in np.flatnonzero(good)]
    resting = polynomials[polynomials[:, 0] == 0.0, 1]
    if not (good.size and good[0]) and (polynomials[:, 0] >= 0.0).all() and (resting >= 0.0).all():
        result.insert(0, (0.0, 0.0))
    return _merged(result)


def _roots(polynomials: Polynomials, end: float) -> np.ndarray:
    """Roots of polynomials between zero and `end`: on each side of where they turn, by bisection."""
    c0, c1, c3 = polynomials.T
    with np.errstate(divide="ignore", invalid="ignore"):
        turn = np.sqrt(np.where(c1 * c3 < 0.0, -c1 / (3.0 * c3), 0.0))
        # no root is larger than this (Fujiwara)
        furthest = 2.0 * np.where(
            c3 == 0.0, np.abs(c0 / c1), np.maximum(np.sqrt(np.abs(c1 / c3)), np.cbrt(np.abs(c0 / c3)))
        )
    turn = np.clip(turn, 0.0, end)
    last = np.clip(np.where(np.isfinite(furthest), furthest, end), turn, end)
    # a polynomial without constant has a root at zero; beyond it the sign is that of its slope
    below = np.concatenate([np.zeros_like(turn), turn])
    above = np.concatenate([turn, last])
    twice = np.concatenate([polynomials, polynomials])
    at_zero = np.where(twice[:, 0] != 0.0, twice[:, 0], twice[:, 1])
    first = np.where(below == 0.0, np.where(at_zero != 0.0, at_zero, twice[:, 2]), _value_at(twice, below))
    changes = (first >= 0.0) != (_value_at(twice, above) >= 0.0)
    twice, below, above, positive = twice[changes], below[changes], above[changes], first[changes] >= 0.0
    for _ in range(HALVINGS):
        middle = 0.5 * (below + above)
        before = (_value_at(twice, middle) >= 0.0) == positive
        below, above = np.where(before, middle, below), np.where(before, above, middle)
    return np.where(positive, below, above)


def _value_at(polynomials: Polynomials, z: np.ndarray) -> np.ndarray:
    """The value of each polynomial at its own z."""
    c0, c1, c3 = polynomials.T
    return np.asarray(c0 + (c1 + c3 * z * z) * z)


def _merged(intervals: Intervals) -> Intervals:
    """Intervals in order, those that touch as one."""
    result: Intervals = []
    for low, high in sorted(intervals):
        if result and low <= result[-1][1] * (1.0 + ROUNDING):
            result[-1] = (result[-1][0], max(result[-1][1], high))
        else:
            result.append((low, high))
    return result


def kept_speeds(sweep: np.ndarray, hold: np.ndarray, most: np.ndarray, push: np.ndarray, top: float) -> Intervals:
    """The speeds z up to `top` at which |B z^2 + C| <= most and |B z^2 + C| z <= push, all (actuator,)."""
    rows = []
    for sign in (1.0, -1.0):
        for constant, linear in ((np.zeros_like(hold), most), (push, np.zeros_like(hold))):
            known = np.isfinite(constant) & np.isfinite(linear)
            rows.append(np.stack([constant, linear - sign * hold, -sign * sweep], axis=1)[known])
    end = min(top, float(np.sqrt(LARGEST)))
    kept = _where_positive(np.concatenate(rows), end * end)
    return [(float(np.sqrt(low)), top if high >= end * end else float(np.sqrt(high))) for low, high in kept]


def intersected(one: Intervals, other: Intervals) -> Intervals:
    """What two sets of intervals have in common."""
    pairs = [(max(a, c), min(b, d)) for a, b in one for c, d in other]
    return _merged([pair for pair in pairs if pair[0] <= pair[1]])
