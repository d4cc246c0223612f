"""Paths of a robot through waypoints or along a motion over time.

A motion that is given over time also has paths, in which only its places count. With V and A the rates of the motion
and l the rate of its length, the path has by its length the derivatives V / l and (A - V (V . A) / l^2) / l^2. A motion
is cut into legs where it rests: there a path may turn back, or have a corner.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation, RotationSpline

from robots.data_classes import dataclass
from robots.geometry import AXES
from robots.labels import in_order_of
from robots.model import Robot
from tasks.dynamics.records import Moving


@dataclass(frozen=True)
class PathSamples:
    """Points of a path and its first two derivatives by the progress, under the names that inverse dynamics has."""

    pose: Moving
    first: np.ndarray
    second: np.ndarray
    chain: bool

    def moving(self, speed: float, push: float) -> Moving:
        """Return the motion at this rate of the progress and this acceleration of it."""
        twist, change = self.first * speed, self.first * push + self.second * speed * speed
        if self.chain:
            return Moving(q=self.pose["q"], qd=twist, qdd=change)
        return Moving(**self.pose, twist=twist, acceleration=change)


def pose_of(moving: Moving) -> Moving:
    """Return a motion without its rates: the robot at rest at the poses of the motion."""
    if "q" in moving:
        return Moving(q=moving["q"])
    pose = Moving(position=moving["position"])
    if "rotation" in moving:
        pose["rotation"] = moving["rotation"]
    return pose


@dataclass(frozen=True)
class RobotPath:
    """A path of a robot: its samples at values of the progress, and the ends of the pieces on which it is smooth."""

    at: Callable[[np.ndarray], PathSamples]
    breaks: np.ndarray

    def piece_of(self, progress: np.ndarray) -> np.ndarray:
        """Return the number of the piece that has each value of the progress, of two that meet there the later."""
        return np.clip(np.searchsorted(self.breaks, progress, side="right") - 1, 0, len(self.breaks) - 2)

    @classmethod
    def through(
        cls, robot: Robot, position: ArrayLike | None, rotation: ArrayLike | None, q: ArrayLike | None
    ) -> RobotPath:
        """Return splines through waypoints at equal steps of the progress."""
        if robot.mechanism.is_chain:
            if q is None or position is not None or rotation is not None:
                raise ValueError(f"q: {robot.name} is a chain; expected q alone, (waypoint, joint)")
            line = _spline("q", q, robot.mechanism.freedoms)
            return cls(lambda s: PathSamples(Moving(q=line(s)), line(s, 1), line(s, 2), True), line.x)
        if position is None or q is not None:
            raise ValueError(f"position: {robot.name} has a platform; expected position (waypoint, 3), and no q")
        line = _spline("position", position, AXES)
        turns = None if rotation is None else _turns(rotation, len(np.asarray(position)))

        def at(progress: np.ndarray) -> PathSamples:
            turning = np.zeros((2, len(progress), 3))
            pose = Moving(position=line(progress))
            if turns is not None:
                matrices = turns(progress).as_matrix()
                pose["rotation"] = matrices
                # rates of the spline are in the axes of the body
                turning = np.stack([np.einsum("nij,nj->ni", matrices, turns(progress, order)) for order in (1, 2)])
            first, second = (np.concatenate([turning[k], line(progress, k + 1)], axis=1) for k in range(2))
            return PathSamples(pose, first, second, False)

        return cls(at, line.x)


def _turns(rotation: ArrayLike, count: int) -> RotationSpline:
    turns = np.asarray(rotation, dtype=float)
    if turns.shape != (count, 3, 3):
        raise ValueError(f"rotation: got an array of shape {turns.shape}; expected one for each position")
    return RotationSpline(np.linspace(0.0, 1.0, count), Rotation.from_matrix(turns))


def _spline(name: str, values: ArrayLike, labels: Sequence[str]) -> CubicSpline:
    waypoints, width = np.asarray(in_order_of(labels, name, values), dtype=float), len(labels)
    if waypoints.ndim != 2 or waypoints.shape[1] != width or len(waypoints) < 2 or not np.isfinite(waypoints).all():
        expected = f"two or more waypoints of {width} finite numbers each"
        raise ValueError(f"{name}: got an array of shape {waypoints.shape}; expected {expected}")
    return CubicSpline(np.linspace(0.0, 1.0, len(waypoints)), waypoints, bc_type="natural")


CELLS = 512
"""Cells of time over which lengths are summed, at least."""
PIECES = 8
"""Pieces of a leg on which it is taken for smooth, at least."""
REST = 1e-5
"""Share of the largest rate of the length up to which a motion rests."""
NEAR_REST = 1e-3
"""Share of a leg's time at its ends, at rest, within which times are replaced by the nearest time beyond it."""
REFINED = 64
"""Number of parts of a cell in each round of the search for a rest."""
HALVINGS = 60

MotionOverTime = Callable[[np.ndarray], Moving]
"""The motion of a robot at times (time,) [s]."""


@dataclass(frozen=True)
class TimedMotion:
    """A motion over time, with the scale of each coordinate in the length of its path."""

    at: MotionOverTime
    weights: np.ndarray
    chain: bool

    def rates(self, times: np.ndarray) -> tuple[Moving, np.ndarray, np.ndarray]:
        """Return the motion, its rates V and A (time, coordinate)."""
        moving = self.at(times)
        if self.chain:
            return moving, np.asarray(moving["qd"]), np.asarray(moving["qdd"])
        return moving, np.asarray(moving["twist"]), np.asarray(moving["acceleration"])

    def length_rates(self, times: np.ndarray) -> np.ndarray:
        """Return the rate at which the path length grows (time,)."""
        return np.asarray(np.linalg.norm(self.rates(times)[1] * self.weights, axis=1))


def legs(motion: TimedMotion, start: float, stop: float, knots: Sequence[float] = ()) -> list[RobotPath]:
    """Return the paths of a motion from one rest to the next; none of a motion that rests.

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
    """Return the time of a rest between two times, None if the motion does not stop."""
    for _ in range(4):
        times = np.linspace(low, high, REFINED + 1)
        rates = motion.length_rates(times)
        k = int(np.argmin(rates))
        low, high = times[max(k - 1, 0)], times[min(k + 1, REFINED)]
    return float(times[k]) if rates[k] <= small else None


def _leg(motion: TimedMotion, span: tuple[float, float], knots: Sequence[float], small: float) -> RobotPath:
    """Return one leg as a path, with its share of the length as progress."""
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
    """Return the times at shares of the length, by cubic Hermite polynomials of each cell."""
    cell = np.clip(np.searchsorted(share, progress, side="right") - 1, 0, len(times) - 2)
    step = times[cell + 1] - times[cell]
    start, rise = share[cell], share[cell + 1] - share[cell]
    start_slope, end_slope = slope[cell] * step, slope[cell + 1] * step
    low, high = np.zeros(len(progress)), np.ones(len(progress))
    for _ in range(HALVINGS):
        x = 0.5 * (low + high)
        value = start + x * (
            start_slope + x * (3.0 * rise - 2.0 * start_slope - end_slope + x * (start_slope + end_slope - 2.0 * rise))
        )
        low, high = np.where(value < progress, x, low), np.where(value < progress, high, x)
    return np.asarray(times[cell] + step * low)
