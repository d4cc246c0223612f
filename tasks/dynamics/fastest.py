"""The shortest time along a path within limits of the actuators: time-optimal path parameterisation.

Along a path X(s) forces are linear in the acceleration a of s and in the square x of its speed: u = A a + B x + C.
Limits of forces, speeds and accelerations are straight lines in the plane of x and a at each point, limits of power are
curves in it (both: `tasks.dynamics.paths.power`), and limits of jerk couple neighbouring points
(`tasks.dynamics.paths.smooth`).
"""

from __future__ import annotations

from typing import TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from robots.arguments import check_arguments
from robots.data_classes import dataclass
from robots.model import Robot
from robots.status import Status
from tasks.dynamics.inverse import inverse_dynamics, inverse_kinematics
from tasks.dynamics.paths.forces import ActuatorDerivatives, PathForces
from tasks.dynamics.paths.path import RobotPath
from tasks.dynamics.paths.power import Curves, FastestMotion, PathLimits, Plane, beyond_limits, curved_passes, passes
from tasks.dynamics.paths.smooth import smooth_motion
from tasks.dynamics.records import GRAVITY

MOST_POINTS = 100_001
"""Largest number of points of a grid; more points give the same result and take minutes and gigabytes."""


@dataclass(frozen=True)
class RobotOnPath:
    """A robot on a path, within limits: forces and rates of its actuators, as `DrivenPath` has them."""

    robot: Robot
    path: RobotPath
    limits: PathLimits
    gravity: ArrayLike = GRAVITY

    @property
    def breaks(self) -> np.ndarray:
        """Values of the progress between which the path is smooth."""
        return self.path.breaks

    def forces(self, progress: np.ndarray) -> PathForces:
        """Compute actuator forces and speed limit of a motion along the path, at values of the progress (point,)."""
        samples, limits = self.path.at(progress), self.limits
        still, pushed, swept = (
            inverse_dynamics(self.robot, gravity=self.gravity, **samples.moving(*rates))
            for rates in ((0.0, 0.0), (0.0, 1.0), (1.0, 0.0))
        )
        status = np.maximum(np.maximum(still.status, pushed.status), swept.status)
        with np.errstate(divide="ignore", invalid="ignore"):
            top = ((limits.velocity / np.abs(swept.velocity)) ** 2).min(axis=1)
            if np.isfinite(limits.speed):
                top = np.minimum(top, (limits.speed / np.linalg.norm(samples.first[:, 3:], axis=1)) ** 2)
            if limits.joints is not None:
                joints = inverse_kinematics(self.robot, **samples.moving(1.0, 0.0)).velocity
                top = np.fmin(top, np.nanmin((limits.joints / np.abs(joints)) ** 2, axis=(1, 2)))
        push, sweep = pushed.force - still.force, swept.force - still.force
        return PathForces(push, sweep, still.force, swept.velocity, top, status)

    def derivatives(self) -> ActuatorDerivatives | None:
        """Return the derivatives of the actuators; None where the robot fails, or they are not smooth."""
        return ActuatorDerivatives.of(self.breaks, self._rates)

    def _rates(self, progress: np.ndarray) -> np.ndarray | None:
        result = inverse_dynamics(self.robot, **self.path.at(progress).moving(1.0, 0.0))
        return None if (result.status != Status.OK).any() else result.velocity


class PathKeywords(TypedDict, total=False):
    """Waypoints of a path of `fastest_motion`, and gravity."""

    position: ArrayLike | None
    rotation: ArrayLike | None
    q: ArrayLike | None
    gravity: ArrayLike


@check_arguments
def fastest_motion(
    robot: Robot,
    *,
    force: ArrayLike,
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
    power: ArrayLike | None = None,
    jerk: ArrayLike | None = None,
    speed: float | None = None,
    points: int = 201,
    **short: Unpack[PathKeywords],
) -> FastestMotion:
    """Move along a path from rest to rest in the shortest time that actuators allow.

    Largest sizes of each actuator (actuator,), or one number for all: force [N m or N], velocity [rad/s or m/s],
    acceleration [rad/s^2 or m/s^2], mechanical power [W], jerk [rad/s^3 or m/s^3]; speed [m/s] of the platform's
    reference point. The path goes through position (waypoint, 3) [m] and rotation (waypoint, 3, 3) of the platform, or
    the positions q (waypoint, freedom) of the joints of a chain, by natural cubic splines. The curvature of the splines
    limits the speed: give enough waypoints. points: number of grid points at which limits are kept. Without friction.
    Limits of amplifiers (`limbsweep.robots.with_motor_conditions`) count as well.

    With limits of power, voltage or jerk, points are closer at the ends of the path, where speeds change fast. With a
    limit of jerk, the motion starts and ends without acceleration, limits are kept between points too, and the result
    is a local minimum: limits of jerk are not convex, so another motion may be faster. The duration is infinite where
    no motion from rest to rest keeps the limits (with jerk: no motion was found), or inverse dynamics fails, see the
    status. It is NaN with the status NOT_CONVERGED where steps did not converge. Raises ValueError.

        >>> robot = ls.robots.build("delta_3rr2rrr")
        >>> path = [[0.0, 0.0, -0.9], [0.1, 0.0, -0.85], [0.2, 0.0, -0.9]]
        >>> ls.fastest_motion(robot, force=5.0, position=path, points=51).duration < 1.0  # [s]
        True
    """
    if not 3 <= points <= MOST_POINTS:
        raise ValueError(f"points: got {points!r}; expected 3 to {MOST_POINTS}")
    if speed is not None and robot.mechanism.is_chain:
        raise ValueError(f"speed: {robot.name} is a chain without platform; expected velocity of its actuators")
    sizes = {"velocity": velocity, "acceleration": acceleration, "power": power, "jerk": jerk}
    limits = PathLimits.of(robot.mechanism.actuators, force=force, speed=speed, **sizes)
    limits = limits.supplied(robot.mechanism.motors)
    path = RobotPath.through(robot, short.get("position"), short.get("rotation"), short.get("q"))
    return fastest_along(robot, path, limits, points, short.get("gravity", GRAVITY))


def fastest_along(
    robot: Robot, path: RobotPath, limits: PathLimits, points: int, gravity: ArrayLike = GRAVITY
) -> FastestMotion:
    """Return the fastest motion along any path of a robot, within limits that are known to fit it."""
    if np.isfinite(limits.jerk).any():
        return smooth_motion(RobotOnPath(robot, path, limits, gravity), points)
    return _without_jerk(RobotOnPath(robot, path, limits, gravity), points)


def _without_jerk(driven: RobotOnPath, points: int) -> FastestMotion:
    limits = driven.limits
    progress, count = np.linspace(0.0, 1.0, points), len(limits.force)
    curved = bool(np.isfinite(limits.power).any()) or limits.voltage is not None
    if curved:  # such limits change with the speed itself, which grows by its root at rest
        progress = progress**2 * (3.0 - 2.0 * progress)
    forces = driven.forces(progress)
    status, rate = forces.status, forces.rate
    if (status != Status.OK).any():
        return FastestMotion.none(np.inf, progress, status, count)
    plane = Plane(forces.push, forces.sweep, forces.hold, limits.force)
    solution: tuple[np.ndarray, np.ndarray] | None
    if np.isfinite(limits.acceleration).any():
        rates = driven.derivatives()
        if rates is None:
            return FastestMotion.none(np.nan, progress, np.full_like(status, Status.NOT_CONVERGED), count)
        first, second, _ = rates.at(progress, driven.path.piece_of(progress))
        plane = plane.beside(first, second, limits.acceleration)
    if curved:
        straight = Curves.of(plane.push, plane.sweep, plane.hold, most=plane.most)
        solution = curved_passes(Curves.joined([straight, *forces.curves(limits)]), forces.top, np.diff(progress))
    else:
        solution = passes(plane, forces.top, 1.0 / (points - 1))
    if solution is None:
        return FastestMotion.none(np.inf, progress, beyond_limits(forces.hold, limits), count)
    x, a = solution
    speed = np.sqrt(x)
    steps = (2.0 * np.diff(progress) if curved else 2.0 / (points - 1)) / (speed[1:] + speed[:-1])
    time = np.concatenate([[0.0], np.cumsum(steps)])
    force, velocity = plane.force(x, a)[:, :count], rate * speed[:, None]
    power, jerk = force * velocity, np.full_like(force, np.nan)
    return FastestMotion(float(time[-1]), progress, time, speed, force, velocity, status, power, jerk)
