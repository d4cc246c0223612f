"""The fastest motion along a path within limits that are straight lines in the plane of x and a: two passes.

x is the square of the speed of the progress s, a its acceleration, and x changes by 2 a for a unit of s. Backwards the
largest x from which the rest of the path can be done, forwards the largest a that leads no higher. Source: Pham and
Pham, A new approach to time-optimal path parameterization based on reachability analysis (2018), sections III, IV.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

HALVINGS = 60
"""Steps of bisection for the largest x at a point: to the last bit but a few."""
FLAT = 1e-12
"""Size of an entry of A relative to the largest, up to which a force does not depend on a."""
LARGEST = 1e30
"""Square of a speed beyond which no limit is looked for."""


@dataclass(frozen=True)
class Plane:
    """Limits in the plane of x and a at every point: |A a + B x + C| <= most, all (point, actuator)."""

    push: np.ndarray
    sweep: np.ndarray
    hold: np.ndarray
    most: np.ndarray

    def force(self, x: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Forces of all points (point, actuator)."""
        return self.push * a[:, None] + self.sweep * x[:, None] + self.hold

    def beside(self, first: np.ndarray, second: np.ndarray, most: np.ndarray) -> Plane:
        """With limits of the actuators' accelerations q' a + q'' x as further rows."""
        push, sweep = np.concatenate([self.push, first], axis=1), np.concatenate([self.sweep, second], axis=1)
        hold = np.concatenate([self.hold, np.zeros_like(first)], axis=1)
        return Plane(push, sweep, hold, np.concatenate([self.most, most]))

    def range(self, point: int, x: float) -> tuple[float, float, float]:
        """Least and largest a at a point, and by how much forces that do not depend on a keep their limits."""
        push, rest = self.push[point], self.sweep[point] * x + self.hold[point]
        flat = np.abs(push) <= FLAT * np.abs(self.push).max()
        room = float((self.most[flat] - np.abs(rest[flat])).min()) if flat.any() else np.inf
        if flat.all():
            return -np.inf, np.inf, room
        ends = np.stack([-self.most - rest, self.most - rest])[:, ~flat] / push[~flat]
        return float(ends.min(axis=0).max()), float(ends.max(axis=0).min()), room


Interval = tuple[float, float]


def passes(plane: Plane, top: np.ndarray, step: float) -> tuple[np.ndarray, np.ndarray] | None:
    """x and a of all points: backwards what can still be stopped, forwards as fast as that allows; None for no way."""
    points = len(top)
    reach: list[Interval] = [(0.0, 0.0)] * points
    for point in reversed(range(points - 1)):
        interval = _controllable(plane, point, top[point], reach[point + 1], 2.0 * step)
        if interval is None:
            return None
        reach[point] = interval
    if reach[0][0] > 0.0:
        return None
    x, a = np.zeros(points), np.zeros(points)
    for point in range(points - 1):
        low, high = reach[point + 1]
        x[point + 1] = min(max(x[point] + 2.0 * step * plane.range(point, x[point])[1], low), high)
        a[point] = (x[point + 1] - x[point]) / (2.0 * step)
    return x, a


def _controllable(plane: Plane, point: int, top: float, following: Interval, step: float) -> Interval | None:
    """The interval of x at a point from which some a leads into that of the next point; None where it is empty."""
    low, high = following

    def slack(x: float) -> float:
        """Concave in x: how much room is left for a, below zero where there is none."""
        least, most, room = plane.range(point, x)
        return min(min(most, (high - x) / step) - max(least, (low - x) / step), room)

    above = min(top, 1.0 + high)
    while above < top and slack(2.0 * above) > slack(above) and above < LARGEST:
        above = min(2.0 * above, top)
    above = min(2.0 * above, top)
    best = 0.0 if slack(0.0) >= 0.0 else _highest(slack, above)
    if slack(best) < 0.0:
        return None
    while above < top and slack(above) >= 0.0 and above < LARGEST:
        above = min(2.0 * above, top)
    return (0.0 if best == 0.0 else _edge(slack, best, 0.0)), _edge(slack, best, above)


def _highest(slack: Callable[[float], float], above: float) -> float:
    """Where a concave function is highest between zero and `above`, or a place where it is not below zero."""
    below = 0.0
    for _ in range(2 * HALVINGS):
        left, right = below + (above - below) / 3.0, above - (above - below) / 3.0
        one, other = slack(left), slack(right)
        if max(one, other) >= 0.0:
            return left if one >= other else right
        below, above = (left, above) if one < other else (below, right)
    return 0.5 * (below + above)


def _edge(slack: Callable[[float], float], inside: float, outside: float) -> float:
    """The last place on the way from one that is good to one that may not be."""
    if slack(outside) >= 0.0:
        return outside
    for _ in range(HALVINGS):
        middle = 0.5 * (inside + outside)
        inside, outside = (middle, outside) if slack(middle) >= 0.0 else (inside, middle)
    return inside
