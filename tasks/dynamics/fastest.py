"""The shortest time along a path within limits of the actuators: time-optimal path parameterisation.

Along a path X(s) forces are linear in the acceleration a of s and in the square x of its speed: u = A a + B x + C.
Limits of forces, speeds and accelerations are straight lines in the plane of x and a at each point, limits of power are
curves in it (both: `tasks.dynamics.paths.power`), and limits of jerk couple neighbouring points
(`tasks.dynamics.paths.smooth`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from robots.arguments import check_arguments
from robots.model import Robot
from robots.status import Status
from tasks.dynamics.paths.path import ActuatorDerivatives, RobotPath, path_forces
from tasks.dynamics.paths.power import Curves, FastestMotion, PathLimits, Plane, beyond_limits, curved_passes, passes
from tasks.dynamics.paths.smooth import smooth_motion
from tasks.dynamics.records import GRAVITY

MOST_POINTS = 100_001
"""Points of a grid, at most: more show nothing new and take minutes and gigabytes."""


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
    position: ArrayLike | None = None,
    rotation: ArrayLike | None = None,
    q: ArrayLike | None = None,
    points: int = 201,
    gravity: ArrayLike = GRAVITY,
) -> FastestMotion:
    """Move along a path from rest to rest in the shortest time that actuators allow.

    Largest sizes of each actuator (actuator,), or one number for all: force [N m or N], velocity [rad/s or m/s],
    acceleration [rad/s^2 or m/s^2], mechanical power [W], jerk [rad/s^3 or m/s^3]; speed [m/s] of the platform's
    reference point. The path goes through position (waypoint, 3) [m] and rotation (waypoint, 3, 3) of the platform, or
    the positions q (waypoint, freedom) of the joints of a chain, by natural cubic splines, along which its bends decide
    how fast it can be: give enough waypoints. points: of the grid at which limits are kept. Without friction. What
    amplifiers give at most (`limbsweep.robots.with_motor_conditions`) are limits as well.

    With limits of power, voltage or jerk points are closer at the ends of the path, where speeds change fast. With one
    of jerk the motion starts and ends without acceleration, limits are kept between points too, and no small change
    makes it faster: limits of jerk are not convex, so another motion might be. The duration is infinite where no motion
    from rest to rest keeps the limits (with jerk: none was found), or inverse dynamics fails, see the status; NaN where
    steps did not converge, with that status. Raises ValueError.

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
    limits = PathLimits.of(len(robot.mechanism.actuators), force=force, speed=speed, **sizes)
    limits = limits.supplied(robot.mechanism.motors)
    path = RobotPath.through(robot, position, rotation, q)
    return fastest_along(robot, path, limits, points, gravity)


def fastest_along(
    robot: Robot, path: RobotPath, limits: PathLimits, points: int, gravity: ArrayLike = GRAVITY
) -> FastestMotion:
    """Return the same along any path of a robot, within limits that are known to fit it."""
    if np.isfinite(limits.jerk).any():
        return smooth_motion(robot, path, limits, points, gravity)
    return _without_jerk(robot, path, limits, points, gravity)


def _without_jerk(robot: Robot, path: RobotPath, limits: PathLimits, points: int, gravity: ArrayLike) -> FastestMotion:
    progress, count = np.linspace(0.0, 1.0, points), len(limits.force)
    curved = bool(np.isfinite(limits.power).any()) or limits.voltage is not None
    if curved:  # such limits change with the speed itself, which grows by its root at rest
        progress = progress**2 * (3.0 - 2.0 * progress)
    forces = path_forces(robot, path, progress, gravity, limits)
    status, rate = forces.status, forces.rate
    if (status != Status.OK).any():
        return FastestMotion.none(np.inf, progress, status, count)
    plane = Plane(forces.push, forces.sweep, forces.hold, limits.force)
    solution: tuple[np.ndarray, np.ndarray] | None
    if np.isfinite(limits.acceleration).any():
        rates = ActuatorDerivatives.along(robot, path)
        if rates is None:
            return FastestMotion.none(np.nan, progress, np.full_like(status, Status.NOT_CONVERGED), count)
        first, second, _ = rates.at(progress, path.piece_of(progress))
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
