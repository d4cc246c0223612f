"""Paths through waypoints or along a motion over time, and the actuator forces of a motion along them.

Along a path X(s) forces are linear in the acceleration a of s and in the square x of its speed: u = A a + B x + C.
Rates of the actuators are q'(s) times the speed of s; their derivatives q'', q''' follow from q' at Chebyshev points
of each piece of the path, on which it is smooth.

A motion that is given over time also has paths, in which only its places count. With V and A the rates of the motion
and l the rate of its length, the path has by its length the derivatives V / l and (A - V (V . A) / l^2) / l^2. A motion
is cut into legs where it rests: there a path may turn back, or have a corner.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import ArrayLike
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation, RotationSpline

from robots.model import Robot
from robots.status import Status
from tasks.dynamics.inverse import inverse_dynamics, inverse_kinematics
from tasks.dynamics.paths.power import Curves, PathLimits
from tasks.dynamics.records import Moving

DEGREES = (12, 24, 48, 96)
"""Numbers of Chebyshev points of a piece that are tried, one after the other."""
LEAST = 1e-300
"""Reference size of a comparison where all sizes are zero."""
SMOOTH = 1e-8
"""Size of the last coefficients relative to the largest, up to which a series is the function."""


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
    """Return a motion without its rates: the robot at rest where it passes."""
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
        """Splines through waypoints at equal steps of the progress."""
        if robot.mechanism.is_chain:
            if q is None or position is not None or rotation is not None:
                raise ValueError(f"q: {robot.name} is a chain; expected q alone, (waypoint, joint)")
            line = _spline("q", q, len(robot.mechanism.freedoms))
            return cls(lambda s: PathSamples(Moving(q=line(s)), line(s, 1), line(s, 2), True), line.x)
        if position is None or q is not None:
            raise ValueError(f"position: {robot.name} has a platform; expected position (waypoint, 3), and no q")
        line = _spline("position", position, 3)
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


def _spline(name: str, values: ArrayLike, width: int) -> CubicSpline:
    waypoints = np.asarray(values, dtype=float)
    if waypoints.ndim != 2 or waypoints.shape[1] != width or len(waypoints) < 2 or not np.isfinite(waypoints).all():
        expected = f"two or more waypoints of {width} finite numbers each"
        raise ValueError(f"{name}: got an array of shape {waypoints.shape}; expected {expected}")
    return CubicSpline(np.linspace(0.0, 1.0, len(waypoints)), waypoints, bc_type="natural")


class PathForces(NamedTuple):
    """A, B, C (point, actuator) of u = A a + B x + C, rates q' (point, actuator) by the progress, status (point,).

    top (point,): the largest x by limits of speeds.
    """

    push: np.ndarray
    sweep: np.ndarray
    hold: np.ndarray
    rate: np.ndarray
    top: np.ndarray
    status: np.ndarray

    def curves(self, limits: PathLimits) -> list[Curves]:
        """Limits of power, and of voltage where there are any."""
        line = self.push, self.sweep, self.hold
        with np.errstate(divide="ignore"):
            parts = [Curves.of(*line, falling=np.where(self.rate == 0.0, np.inf, limits.power / np.abs(self.rate)))]
        if limits.voltage is not None and limits.drop is not None and limits.rotation is not None:
            drop = np.where(limits.drop == 0.0, 1.0, limits.drop)
            most, shift = limits.voltage / drop, -limits.rotation * self.rate / drop
            parts.append(Curves.of(*line, most=most, shift=shift))
        return parts


def path_forces(
    robot: Robot, path: RobotPath, progress: np.ndarray, gravity: ArrayLike, limits: PathLimits
) -> PathForces:
    """Compute actuator forces and speed limit of a motion along a path, at values of the progress (point,)."""
    samples = path.at(progress)
    still = inverse_dynamics(robot, gravity=gravity, **samples.moving(0.0, 0.0))
    pushed = inverse_dynamics(robot, gravity=gravity, **samples.moving(0.0, 1.0))
    swept = inverse_dynamics(robot, gravity=gravity, **samples.moving(1.0, 0.0))
    status = np.maximum(np.maximum(still.status, pushed.status), swept.status)
    with np.errstate(divide="ignore", invalid="ignore"):
        top = ((limits.velocity / np.abs(swept.velocity)) ** 2).min(axis=1)
        if np.isfinite(limits.speed):
            top = np.minimum(top, (limits.speed / np.linalg.norm(samples.first[:, 3:], axis=1)) ** 2)
        if limits.joints is not None:
            rates = inverse_kinematics(robot, **samples.moving(1.0, 0.0)).velocity
            top = np.fmin(top, np.nanmin((limits.joints / np.abs(rates)) ** 2, axis=(1, 2)))
    return PathForces(pushed.force - still.force, swept.force - still.force, still.force, swept.velocity, top, status)


@dataclass(frozen=True)
class ActuatorDerivatives:
    """Derivatives of the actuators' positions by the progress, as Chebyshev series (order, actuator) on each piece."""

    breaks: np.ndarray
    series: tuple[np.ndarray, ...]

    @classmethod
    def along(cls, robot: Robot, path: RobotPath) -> ActuatorDerivatives | None:
        """Return the rates of a path; None where a robot fails on it, or they are not smooth between its breaks."""
        pieces = list(zip(path.breaks[:-1], path.breaks[1:], strict=True))
        series: dict[int, np.ndarray] = {}
        for degree in DEGREES:
            nodes = np.cos(np.pi * (np.arange(degree) + 0.5) / degree)
            waiting = [k for k in range(len(pieces)) if k not in series]
            progress = np.concatenate([_scaled(nodes, *pieces[k]) for k in waiting])
            result = inverse_dynamics(robot, **path.at(progress).moving(1.0, 0.0))
            if (result.status != Status.OK).any():
                return None
            values = result.velocity.reshape(len(waiting), degree, -1)
            transform = chebyshev.chebvander(nodes, degree - 1).T * (2.0 / degree)
            transform[0] *= 0.5
            coefficients = np.einsum("cn,kna->kca", transform, values)
            largest = np.abs(coefficients).max(axis=(1, 2))
            smooth = np.abs(coefficients[:, -2:]).max(axis=(1, 2)) <= SMOOTH * np.maximum(largest, LEAST)
            series |= {k: coefficients[i] for i, k in enumerate(waiting) if smooth[i]}
            if len(series) == len(pieces):
                return cls(path.breaks, tuple(series[k] for k in range(len(pieces))))
        return None

    def at(self, progress: np.ndarray, piece: np.ndarray) -> np.ndarray:
        """q', q'', q''' (3, point, actuator) at points, each seen from within the piece that it is said to be in."""
        result = np.empty((3, len(progress), self.series[0].shape[1]))
        for k in np.unique(piece):
            low, high = self.breaks[k], self.breaks[k + 1]
            here, factor = piece == k, 2.0 / (high - low)
            x = (progress[here] - low) * factor - 1.0
            for order in range(3):
                derivative = chebyshev.chebder(self.series[k], order) * factor**order
                result[order, here] = chebyshev.chebval(x, derivative).T
        return result


def _scaled(nodes: np.ndarray, low: float, high: float) -> np.ndarray:
    return 0.5 * (low + high) + 0.5 * (high - low) * nodes


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
    """Return the time of a rest between two times, None where the motion goes on."""
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
