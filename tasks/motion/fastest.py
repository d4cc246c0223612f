"""The shortest time along a path within limits of the actuators: time-optimal path parameterisation, batch by batch.

Along a path X(s) forces are linear in the acceleration a of s and in the square x of its speed: u = A a + B x + C, and
x changes by 2 a for a unit of s. So limits of forces and speeds are straight lines in the plane of x and a at each
point, and two passes over the points find the fastest motion: backwards the largest x from which the rest of the path
can be done, forwards the largest a that leads no higher. Source: Pham and Pham, A new approach to time-optimal path
parameterization based on reachability analysis (2018), sections III, IV; limits are kept at the points of the grid.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation, RotationSpline

from robots.model import Robot
from robots.status import Status
from tasks.arrays.inputs import GRAVITY, Moving
from tasks.arrays.inverse import inverse_dynamics

HALVINGS = 60
"""Steps of bisection for the largest x at a point: to the last bit but a few."""
FLAT = 1e-12
"""Size of an entry of A relative to the largest, up to which a force does not depend on a."""
LARGEST = 1e30
"""Square of a speed beyond which no limit is looked for."""


class FastestMotion(NamedTuple):
    """The fastest motion along a path: `duration` [s], infinite where it cannot be done.

    At each of the points: `progress` from 0 to 1, `time` [s], `rate` of the progress [1/s], and `force` (point,
    actuator) and `velocity` (point, actuator) of the actuators, with the acceleration that leads to the next point.
    status (point,): of the inverse dynamics of the path.
    """

    duration: float
    progress: np.ndarray
    time: np.ndarray
    rate: np.ndarray
    force: np.ndarray
    velocity: np.ndarray
    status: np.ndarray


def fastest_motion(
    robot: Robot,
    *,
    force: ArrayLike,
    velocity: ArrayLike | None = None,
    position: ArrayLike | None = None,
    rotation: ArrayLike | None = None,
    q: ArrayLike | None = None,
    points: int = 201,
    gravity: ArrayLike = GRAVITY,
) -> FastestMotion:
    """Move along a path from rest to rest in the shortest time that actuators allow.

    force (actuator,) [N m or N] and velocity (actuator,) [rad/s or m/s]: largest sizes, or one number for all. The path
    goes through position (waypoint, 3) [m] and rotation (waypoint, 3, 3) of the platform, or the positions q (waypoint,
    freedom) of the joints of a chain, by natural cubic splines, along which its bends decide how fast it can be: give
    enough waypoints. points: of the grid at which limits are kept. Without friction. The duration is infinite where
    no motion from rest to rest keeps the limits, or inverse dynamics fails; see the status. Raises ValueError.

        >>> robot = ls.robots.build("delta_3rr2rrr")
        >>> path = [[0.0, 0.0, -0.9], [0.1, 0.0, -0.85], [0.2, 0.0, -0.9]]
        >>> ls.fastest_motion(robot, force=5.0, position=path, points=51).duration < 1.0  # [s]
        True
    """
    if points < 3:
        raise ValueError(f"points: got {points!r}; expected 3 or more")
    count = len(robot.mechanism.actuators)
    most = _limits("force", force, count)
    quickest = np.full(count, np.inf) if velocity is None else _limits("velocity", velocity, count)
    progress = np.linspace(0.0, 1.0, points)
    path = _Path.through(robot, progress, position, rotation, q)
    still = inverse_dynamics(robot, **path.moving(0.0, 0.0), gravity=gravity, full=True)
    pushed = inverse_dynamics(robot, **path.moving(0.0, 1.0), gravity=gravity, full=True)
    swept = inverse_dynamics(robot, **path.moving(1.0, 0.0), gravity=gravity, full=True)
    status = np.maximum(np.maximum(still.status, pushed.status), swept.status)
    plane = _Plane(pushed.force - still.force, swept.force - still.force, still.force, most)
    rate = swept.velocity
    with np.errstate(divide="ignore", invalid="ignore"):
        top = ((quickest / np.abs(rate)) ** 2).min(axis=1)
    passes = _passes(plane, top, 1.0 / (points - 1)) if (status == Status.OK).all() else None
    if passes is None:
        nothing = np.full(points, np.nan)
        empty = np.full((points, count), np.nan)
        return FastestMotion(np.inf, progress, nothing, nothing.copy(), empty, empty.copy(), status)
    x, a = passes
    speed = np.sqrt(x)
    steps = 2.0 / (points - 1) / (speed[1:] + speed[:-1])
    time = np.concatenate([[0.0], np.cumsum(steps)])
    return FastestMotion(float(time[-1]), progress, time, speed, plane.force(x, a), rate * speed[:, None], status)


def _limits(name: str, values: ArrayLike, count: int) -> np.ndarray:
    result = np.broadcast_to(np.asarray(values, dtype=float), (count,)) if np.size(values) in (1, count) else None
    if result is None or not (result > 0.0).all():
        raise ValueError(f"{name}: got {values!r}; expected {count} numbers above zero, or one for all actuators")
    return result


@dataclass(frozen=True)
class _Path:
    """A path and its first two derivatives by the progress, under the names that inverse dynamics has for them."""

    pose: Moving
    first: np.ndarray
    second: np.ndarray
    chain: bool

    @classmethod
    def through(
        cls,
        robot: Robot,
        progress: np.ndarray,
        position: ArrayLike | None,
        rotation: ArrayLike | None,
        q: ArrayLike | None,
    ) -> _Path:
        """Splines through waypoints at equal steps of the progress."""
        if robot.mechanism.is_chain:
            if q is None or position is not None or rotation is not None:
                raise ValueError(f"q: {robot.name} is a chain; expected q alone, (waypoint, joint)")
            line = _spline("q", q, len(robot.mechanism.freedoms))
            return cls(Moving(q=line(progress)), line(progress, 1), line(progress, 2), True)
        if position is None or q is not None:
            raise ValueError(f"position: {robot.name} has a platform; expected position (waypoint, 3), and no q")
        line = _spline("position", position, 3)
        turning = np.zeros((2, len(progress), 3))
        pose = Moving(position=line(progress))
        if rotation is not None:
            turns = np.asarray(rotation, dtype=float)
            if turns.shape != (len(np.asarray(position)), 3, 3):
                raise ValueError(f"rotation: got an array of shape {turns.shape}; expected one for each position")
            spline = RotationSpline(np.linspace(0.0, 1.0, len(turns)), Rotation.from_matrix(turns))
            matrices = spline(progress).as_matrix()
            pose["rotation"] = matrices
            # rates of the spline are in the axes of the body
            turning = np.stack([np.einsum("nij,nj->ni", matrices, spline(progress, order)) for order in (1, 2)])
        first, second = (np.concatenate([turning[k], line(progress, k + 1)], axis=1) for k in range(2))
        return cls(pose, first, second, False)

    def moving(self, speed: float, push: float) -> Moving:
        """The motion at this rate of the progress and this acceleration of it."""
        twist, change = self.first * speed, self.first * push + self.second * speed * speed
        if self.chain:
            return Moving(q=self.pose["q"], qd=twist, qdd=change)
        return Moving(**self.pose, twist=twist, acceleration=change)


def _spline(name: str, values: ArrayLike, width: int) -> CubicSpline:
    waypoints = np.asarray(values, dtype=float)
    if waypoints.ndim != 2 or waypoints.shape[1] != width or len(waypoints) < 2 or not np.isfinite(waypoints).all():
        expected = f"two or more waypoints of {width} finite numbers each"
        raise ValueError(f"{name}: got an array of shape {waypoints.shape}; expected {expected}")
    return CubicSpline(np.linspace(0.0, 1.0, len(waypoints)), waypoints, bc_type="natural")


@dataclass(frozen=True)
class _Plane:
    """Limits in the plane of x and a at every point: |A a + B x + C| <= most, all (point, actuator)."""

    push: np.ndarray
    sweep: np.ndarray
    hold: np.ndarray
    most: np.ndarray

    def force(self, x: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Forces of all points (point, actuator)."""
        return self.push * a[:, None] + self.sweep * x[:, None] + self.hold

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


def _passes(plane: _Plane, top: np.ndarray, step: float) -> tuple[np.ndarray, np.ndarray] | None:
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


def _controllable(plane: _Plane, point: int, top: float, following: Interval, step: float) -> Interval | None:
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
