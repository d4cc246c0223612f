"""Fastest motion along a path within limits of each actuator, by two passes: straight limits, and limits of power.

x is the square of the speed of the progress s, a its acceleration, and x changes by 2 a for a unit of s. Straight
limits are lines in the plane of x and a. The backward pass finds the largest x from which the remaining path can be
completed; the forward pass finds the largest a that does not exceed this x. Source: Pham and Pham, A new approach to
time-optimal path parameterization based on reachability analysis (2018), sections III, IV.

Limits of power and voltage are curved. With z the speed of the progress, forces and accelerations are A a + B z^2 + C.
A limit of power bounds their size by P / |q'| / z; a limit of voltage shifts its bound by the back-EMF, K q' z. All
limits of a, times z, are cubic polynomials of z. A next set can be reached from speeds at which no difference of an
upper and a lower polynomial is negative: intervals between roots. Sets may have several intervals, as limits are not
convex in the plane of x and a here. If two motions keep their limits, so does the motion that takes the faster one at
each point. So the highest forward pass through these sets is the fastest motion.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from robots.arguments import real_numbers, shown
from robots.data_classes import dataclass, replace
from robots.drives import Motor
from robots.labels import in_order_of
from robots.status import Status


@dataclass(frozen=True)
class PathLimits:
    """Limits of each actuator (actuator,) in SI units, infinite where unlimited.

    `speed` [m/s] is the limit of the platform's reference point, `joints` [rad/s or m/s] the limits of all joints
    (limb, joint).
    """

    force: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    power: np.ndarray
    jerk: np.ndarray
    speed: float = np.inf
    joints: np.ndarray | None = None
    drop: np.ndarray | None = None
    """R / K of the motors (actuator,) [V / (N m) or V / N], beside their `voltage` [V] and `rotation` K; or None."""
    voltage: np.ndarray | None = None
    rotation: np.ndarray | None = None

    def supplied(self, motors: Sequence[Motor]) -> PathLimits:
        """Return the limits with those of the motors' amplifiers, where these have any."""
        table = [(m.torque_constant, m.resistance, m.voltage, m.current) for m in motors]
        if not table:
            return self
        constant, resistance, voltage, current = (np.array(column, dtype=float) for column in zip(*table, strict=True))
        limits = replace(self, force=np.minimum(self.force, constant * current))
        if not np.isfinite(voltage).any():
            return limits
        if any(motor.inductance is not None for motor in motors):
            got = "got a largest voltage of motors with an inductance, whose L di/dt takes the jerk of a path"
            raise ValueError(f"voltage: {got}; expected motors without one, or largest currents alone")
        # without resistance, voltage is a limit of the speed alone
        free = np.where(resistance == 0.0, voltage / constant, np.inf)
        velocity = np.minimum(self.velocity, free)
        voltage = np.where(resistance == 0.0, np.inf, voltage)
        return replace(limits, velocity=velocity, drop=resistance / constant, voltage=voltage, rotation=constant)

    @classmethod
    def of(
        cls, actuators: Sequence[str], *, force: ArrayLike, speed: float | None, **sizes: ArrayLike | None
    ) -> PathLimits:
        """Return limits from one number for all actuators, one for each, or None for no limit. Raises ValueError."""
        unlimited = np.full(len(actuators), np.inf)
        arrays = {name: unlimited if size is None else _sizes(name, size, actuators) for name, size in sizes.items()}
        if speed is not None and not speed > 0.0:
            raise ValueError(f"speed: got {speed!r}; expected a number above zero [m/s]")
        return cls(_sizes("force", force, actuators), **arrays, speed=np.inf if speed is None else float(speed))


def _sizes(name: str, values: ArrayLike, actuators: Sequence[str]) -> np.ndarray:
    sizes, count = real_numbers(in_order_of(actuators, name, values)), len(actuators)
    result = np.broadcast_to(sizes.reshape(-1), (count,)) if sizes.size in (1, count) and sizes.ndim < 2 else None
    if result is None or not (result > 0.0).all():
        raise ValueError(f"{name}: got {shown(values)}; expected {count} numbers above zero, or one for all actuators")
    return result


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
        """Return the forces of all points (point, actuator)."""
        return self.push * a[:, None] + self.sweep * x[:, None] + self.hold

    def beside(self, first: np.ndarray, second: np.ndarray, most: np.ndarray) -> Plane:
        """Return the plane with limits of the actuators' accelerations q' a + q'' x as further rows."""
        push, sweep = np.concatenate([self.push, first], axis=1), np.concatenate([self.sweep, second], axis=1)
        hold = np.concatenate([self.hold, np.zeros_like(first)], axis=1)
        return Plane(push, sweep, hold, np.concatenate([self.most, most]))

    def range(self, point: int, x: float) -> tuple[float, float, float]:
        """Return the least and largest a at a point, and the margin of the forces that do not depend on a."""
        push, offset = self.push[point], self.sweep[point] * x + self.hold[point]
        flat = np.abs(push) <= FLAT * np.abs(self.push).max()
        room = float((self.most[flat] - np.abs(offset[flat])).min()) if flat.any() else np.inf
        if flat.all():
            return -np.inf, np.inf, room
        ends = np.stack([-self.most - offset, self.most - offset])[:, ~flat] / push[~flat]
        return float(ends.min(axis=0).max()), float(ends.max(axis=0).min()), room


Interval = tuple[float, float]


def passes(plane: Plane, top: np.ndarray, step: float) -> tuple[np.ndarray, np.ndarray] | None:
    """Return x and a of all points: a backward pass for stopping, a forward pass at top speed; None for no way."""
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
    """Return the interval of x at a point from which some a leads into that of the next point; None if empty."""
    low, high = following

    def slack(x: float) -> float:
        """Return the width of the range of a at x, concave in x; negative for an empty range."""
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
    """Return the place between zero and `above` at which a concave function is highest.

    A place at which the function is not below zero is returned as soon as it is found.
    """
    below = 0.0
    for _ in range(2 * HALVINGS):
        low, high = below + (above - below) / 3.0, above - (above - below) / 3.0
        slack_low, slack_high = slack(low), slack(high)
        if max(slack_low, slack_high) >= 0.0:
            return low if slack_low >= slack_high else high
        below, above = (low, above) if slack_low < slack_high else (below, high)
    return 0.5 * (below + above)


def _edge(slack: Callable[[float], float], inside: float, outside: float) -> float:
    """Return the last place on the way from one that is good to one that may not be."""
    if slack(outside) >= 0.0:
        return outside
    for _ in range(HALVINGS):
        middle = 0.5 * (inside + outside)
        inside, outside = (middle, outside) if slack(middle) >= 0.0 else (inside, middle)
    return inside


Polynomials = np.ndarray
"""Coefficients c0, c1, c2, c3 (polynomial, 4)."""
Intervals = list[tuple[float, float]]
"""Squares of speeds, in order."""

ROUNDING = 1e-9
"""Share of a bound by which the forward pass may miss a set by rounding."""
DEGREE = 3


@dataclass(frozen=True)
class Curves:
    """Limits |A a + B z^2 + C - shift z| <= falling / z + most, all (point, row); infinite where unlimited.

    `push`, `sweep`, `hold` are A, B, C.
    """

    push: np.ndarray
    sweep: np.ndarray
    hold: np.ndarray
    falling: np.ndarray
    most: np.ndarray
    shift: np.ndarray

    @classmethod
    def of(
        cls,
        push: np.ndarray,
        sweep: np.ndarray,
        hold: np.ndarray,
        *,
        falling: np.ndarray | float = 0.0,
        most: np.ndarray | float = 0.0,
        shift: np.ndarray | float = 0.0,
    ) -> Curves:
        """Make the record from arrays (point, row), or from values common to several points."""
        return cls(push, sweep, hold, *(np.broadcast_to(part, push.shape) for part in (falling, most, shift)))

    @classmethod
    def joined(cls, parts: Sequence[Curves]) -> Curves:
        """Return the rows of several, one after the other."""
        return cls(*(np.concatenate([getattr(part, name) for part in parts], axis=1) for name in cls.__annotations__))

    def bounds(self, point: int) -> tuple[np.ndarray, np.ndarray, Polynomials]:
        """Return the limiting rows: A, a bound's sign, z (bound - B z^2 - C) as polynomials, all for both signs."""
        is_finite = np.isfinite(self.falling[point]) & np.isfinite(self.most[point])
        push, sweep, hold, falling, most, shift = (
            getattr(self, name)[point, is_finite] for name in self.__annotations__
        )
        sign = np.repeat([1.0, -1.0], len(push))
        rows = [np.tile(part, 2) for part in (falling, most, hold, shift, sweep)]
        falling, most, hold, shift, sweep = rows
        return np.tile(push, 2), sign, np.stack([sign * falling, sign * most - hold, shift, -sweep], axis=1)


def curved_passes(curves: Curves, top: np.ndarray, steps: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return x and a of all points within limits; None if there is no way.

    top (point,): largest x; steps (point - 1,): of the progress.
    """
    points, doubled = len(top), 2.0 * steps
    largest = float(np.abs(curves.push).max())
    limits = [_PointLimits.of(curves, k, FLAT * largest, top[k]) for k in range(points)]
    reach: list[Intervals] = [[(0.0, 0.0)]] * points
    for point in reversed(range(points - 1)):
        leading = [limits[point].leading_to(goal, doubled[point]) for goal in reach[point + 1]]
        reach[point] = _merged([interval for part in leading for interval in part])
        if not reach[point]:
            return None
    if reach[0][0][0] > 0.0:
        return None
    x, a = np.zeros(points), np.zeros(points)
    for point in range(points - 1):
        (low, high), double = limits[point].range(x[point]), doubled[point]
        least, most = x[point] + double * low, x[point] + double * high
        slack = ROUNDING * max(abs(least), x[point])
        ends = [min(goal[1], most) for goal in reach[point + 1] if goal[0] <= most + slack and goal[1] >= least - slack]
        if not ends:
            return None
        x[point + 1] = max(max(ends), 0.0)
        a[point] = (x[point + 1] - x[point]) / double
    return x, a


@dataclass(frozen=True)
class _PointLimits:
    """Limits of a at one point, times z: upper and lower polynomials, and those of rows that do not depend on a."""

    upper: Polynomials
    lower: Polynomials
    flat: Polynomials
    top: float

    @classmethod
    def of(cls, curves: Curves, point: int, small: float, top: float) -> _PointLimits:
        """Return the limits of a point; rows with A up to a small size do not depend on a."""
        push, sign, rows = curves.bounds(point)
        steep = np.abs(push) > small
        bounds, above = rows[steep] / push[steep, None], sign[steep] * push[steep] > 0.0
        return cls(bounds[above], bounds[~above], sign[~steep, None] * rows[~steep], min(float(top), LARGEST))

    def range(self, x: float) -> tuple[float, float]:
        """Return the least and largest a at a square of the speed."""
        z = float(np.sqrt(x))
        if z > 0.0:
            low, high = _values(self.lower, z) / z, _values(self.upper, z) / z
        else:  # power limits nothing at rest
            low, high = self.lower[self.lower[:, 0] == 0.0, 1], self.upper[self.upper[:, 0] == 0.0, 1]
        return float(low.max(initial=-np.inf)), float(high.min(initial=np.inf))

    def leading_to(self, goal: tuple[float, float], double: float) -> Intervals:
        """Return the x from which some a leads into an interval of the next point."""
        low, high = goal
        upper = np.concatenate([self.upper, [[0.0, high / double, 0.0, -1.0 / double]]])
        lower = np.concatenate([self.lower, [[0.0, low / double, 0.0, -1.0 / double]]])
        pairs = (upper[:, None] - lower[None]).reshape(-1, DEGREE + 1)[:-1]  # the last pairs the goal with itself
        return _where_positive(np.concatenate([pairs, self.flat]), self.top)


def kept_speeds(curves: Curves, point: int, top: float) -> Intervals:
    """Return the speeds z up to `top` at which B z^2 + C keeps its limits at a point, without any a."""
    _, sign, rows = curves.bounds(point)
    end = min(top, float(np.sqrt(LARGEST)))
    kept = _where_positive(sign[:, None] * rows, end * end)
    return [(float(np.sqrt(low)), top if high >= end * end else float(np.sqrt(high))) for low, high in kept]


def intersected(one: Intervals, other: Intervals) -> Intervals:
    """Return the intersection of two sets of intervals."""
    pairs = [(max(a, c), min(b, d)) for a, b in one for c, d in other]
    return _merged([pair for pair in pairs if pair[0] <= pair[1]])


def _values(polynomials: Polynomials, z: np.ndarray | float) -> np.ndarray:
    """Return the values of polynomials at one z (polynomial,), or at many (polynomial, z)."""
    c0, c1, c2, c3 = (polynomials[:, k, None] if np.ndim(z) else polynomials[:, k] for k in range(DEGREE + 1))
    return np.asarray(c0 + (c1 + (c2 + c3 * z) * z) * z)


def _where_positive(polynomials: Polynomials, top: float) -> Intervals:
    """Return the squares of all z up to that of `top` at which no polynomial is negative."""
    if not len(polynomials):
        return [(0.0, top)]
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
    """Return the roots of polynomials between zero and `end`, by bisection between the extrema of each."""
    turns = [np.zeros(len(polynomials)), *_turns(polynomials, end), _furthest(polynomials, end)]
    edges = np.sort(np.stack(turns), axis=0)
    below, above = edges[:-1].ravel(), edges[1:].ravel()
    rows = np.tile(polynomials, (len(edges) - 1, 1))
    # a polynomial without constant has a root at zero; beyond the root its first coefficient decides the sign
    places = np.argmax(rows != 0.0, axis=1)
    starting = rows[np.arange(len(rows)), places]
    first = np.where(below == 0.0, starting, _value_at(rows, below))
    changes = (first >= 0.0) != (_value_at(rows, above) >= 0.0)
    rows, below, above, positive = rows[changes], below[changes], above[changes], first[changes] >= 0.0
    for _ in range(HALVINGS):
        middle = 0.5 * (below + above)
        before = (_value_at(rows, middle) >= 0.0) == positive
        below, above = np.where(before, middle, below), np.where(before, above, middle)
    return np.where(positive, below, above)


def _turns(polynomials: Polynomials, end: float) -> list[np.ndarray]:
    """Return the two places where each polynomial turns, cut to zero and `end`; zero where it does not."""
    c1, c2, c3 = polynomials[:, 1], 2.0 * polynomials[:, 2], 3.0 * polynomials[:, 3]
    with np.errstate(divide="ignore", invalid="ignore"):
        # without cancellation: one root by the sum of equal signs, the other by their product
        half = -0.5 * (c2 + np.where(c2 < 0.0, -1.0, 1.0) * np.sqrt(np.maximum(c2 * c2 - 4.0 * c1 * c3, 0.0)))
        return [np.clip(np.nan_to_num(x, nan=0.0, posinf=0.0, neginf=0.0), 0.0, end) for x in (half / c3, c1 / half)]


def _furthest(polynomials: Polynomials, end: float) -> np.ndarray:
    """Return a place beyond all roots of each polynomial (Fujiwara), or `end`."""
    result = np.full(len(polynomials), end)
    degree = DEGREE - np.argmax(polynomials[:, ::-1] != 0.0, axis=1)
    for d in range(1, DEGREE + 1):
        rows = polynomials[degree == d]
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = [np.abs(rows[:, k] / rows[:, d]) ** (1.0 / (d - k)) for k in range(d)]
        result[degree == d] = np.fmin(2.0 * np.max(parts, axis=0), end)
    return result


def _value_at(polynomials: Polynomials, z: np.ndarray) -> np.ndarray:
    """Return the value of each polynomial at its own z."""
    c0, c1, c2, c3 = polynomials.T
    return np.asarray(c0 + (c1 + (c2 + c3 * z) * z) * z)


def _merged(intervals: Intervals) -> Intervals:
    """Return the intervals in order, with adjacent ones merged."""
    result: Intervals = []
    for low, high in sorted(intervals):
        if result and low <= result[-1][1] * (1.0 + ROUNDING):
            result[-1] = (result[-1][0], max(result[-1][1], high))
        else:
            result.append((low, high))
    return result


def beyond_limits(hold: np.ndarray, limits: PathLimits) -> np.ndarray:
    """Return the status (point,) of a path that cannot be followed, by the forces that hold the robot at rest on it."""
    too_weak = (np.abs(hold) > limits.force).any(axis=1)
    return np.where(too_weak | ~too_weak.any(), np.int8(Status.ACTUATOR_LIMIT), np.int8(Status.OK))


class FastestMotion(NamedTuple):
    """The fastest motion along a path: `duration` [s], infinite if no motion keeps the limits.

    At each of the points: `progress` from 0 to 1, `time` [s], `rate` of the progress [1/s], and `force`, `velocity`,
    `power` and `jerk` (point, actuator) of the actuators, with the acceleration that leads to the next point; NaN for
    the jerk where it has no limit. status (point,): status of the inverse dynamics of the path, NOT_CONVERGED, or
    ACTUATOR_LIMIT if limits cannot be kept: at points where actuators cannot hold the robot at rest, else at all
    points.
    """

    duration: float
    progress: np.ndarray
    time: np.ndarray
    rate: np.ndarray
    force: np.ndarray
    velocity: np.ndarray
    status: np.ndarray
    power: np.ndarray
    jerk: np.ndarray

    @classmethod
    def none(cls, duration: float, progress: np.ndarray, status: np.ndarray, actuators: int) -> FastestMotion:
        """Return no motion, with a duration for the reason: infinite if none exists, NaN if none was computed."""
        line, table = np.full(len(progress), np.nan), np.full((len(progress), actuators), np.nan)
        return cls(duration, progress, line, line.copy(), table, table.copy(), status, table.copy(), table.copy())
