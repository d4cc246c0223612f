"""Paths through waypoints, and what a motion along them asks of the actuators.

Along a path X(s) forces are linear in the acceleration a of s and in the square x of its speed: u = A a + B x + C.
Rates of the actuators are q'(s) times the speed of s; their derivatives q'', q''' follow from q' at Chebyshev points
of each piece of the path, on which it is smooth.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import ArrayLike
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation, RotationSpline

from robots.model import Robot
from robots.status import Status
from tasks.arrays.inputs import Moving
from tasks.arrays.inverse import inverse_dynamics, inverse_kinematics
from tasks.motion.paths.limits import PathLimits
from tasks.motion.paths.power import Curves

DEGREES = (12, 24, 48, 96)
"""Numbers of Chebyshev points of a piece that are tried, one after the other."""
LEAST = 1e-300
"""What sizes are compared with where all of them are zero."""
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
        """The motion at this rate of the progress and this acceleration of it."""
        twist, change = self.first * speed, self.first * push + self.second * speed * speed
        if self.chain:
            return Moving(q=self.pose["q"], qd=twist, qdd=change)
        return Moving(**self.pose, twist=twist, acceleration=change)


def pose_of(moving: Moving) -> Moving:
    """A motion without its rates: the robot at rest where it passes."""
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
        """The number of the piece that has each value of the progress, of two that meet there the later."""
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
    """What a motion along a path asks of the actuators, at values of the progress (point,), and how fast it may be."""
    samples = path.at(progress)
    still = inverse_dynamics(robot, **samples.moving(0.0, 0.0), gravity=gravity, full=True)
    pushed = inverse_dynamics(robot, **samples.moving(0.0, 1.0), gravity=gravity, full=True)
    swept = inverse_dynamics(robot, **samples.moving(1.0, 0.0), gravity=gravity, full=True)
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
class ActuatorRates:
    """Derivatives of the actuators' positions by the progress, as Chebyshev series (order, actuator) on each piece."""

    breaks: np.ndarray
    series: tuple[np.ndarray, ...]

    @classmethod
    def along(cls, robot: Robot, path: RobotPath) -> ActuatorRates | None:
        """The rates of a path; None where a robot fails on it, or they are not smooth between its breaks."""
        pieces = list(zip(path.breaks[:-1], path.breaks[1:], strict=True))
        series: dict[int, np.ndarray] = {}
        for degree in DEGREES:
            nodes = np.cos(np.pi * (np.arange(degree) + 0.5) / degree)
            waiting = [k for k in range(len(pieces)) if k not in series]
            progress = np.concatenate([_scaled(nodes, *pieces[k]) for k in waiting])
            result = inverse_dynamics(robot, **path.at(progress).moving(1.0, 0.0), full=True)
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
