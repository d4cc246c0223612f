"""The fastest motion along a path of a robot with limits of jerk: grid, limits, solution, and a look between points."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from robots.model import Robot
from robots.status import Status
from tasks.motion.paths.limits import PathLimits
from tasks.motion.paths.path import ActuatorRates, PathForces, RobotPath, path_forces
from tasks.motion.paths.result import FastestMotion
from tasks.motion.paths.smooth import (
    FINE,
    NODES,
    LimitRows,
    NotSettledError,
    ParameterGrid,
    SplineMotion,
    fastest,
    inside,
    progress_of,
    slow,
)

ROUNDS = 8
"""How often limits are tightened where the motion exceeds them between the points at which they are kept."""
KEPT = 1e-9
"""Share by which limits may be exceeded by rounding."""


def smooth_motion(robot: Robot, path: RobotPath, limits: PathLimits, points: int, gravity: ArrayLike) -> FastestMotion:
    """The motion at the knots of a grid; limits hold at nodes of its intervals and at all points of `FINE`."""
    grid, count = ParameterGrid.over(path.breaks, points), len(limits.force)
    progress = progress_of(grid.knots)[0]
    forces = path_forces(robot, path, progress, gravity, limits)
    if (forces.status != Status.OK).any():
        return FastestMotion.none(np.inf, progress, forces.status, count)
    failed = FastestMotion.none(np.nan, progress, np.full_like(forces.status, Status.NOT_CONVERGED), count)
    rates = ActuatorRates.along(robot, path)
    if rates is None:
        return failed
    rows, between = (_rows(robot, path, rates, grid, limits, nodes, gravity) for nodes in (NODES, FINE))
    if rows is None or between is None:
        return failed
    try:
        motion = _within(grid, rows, between)
    except NotSettledError:
        return failed
    if motion is None:
        return FastestMotion.none(np.inf, progress, forces.status, count)
    return _told(motion, progress, forces, rates)


def _rows(
    robot: Robot, path: RobotPath, rates: ActuatorRates, grid: ParameterGrid, limits: PathLimits, nodes: np.ndarray,
    gravity: ArrayLike,
) -> LimitRows | None:  # fmt: skip
    """Limits at places of each interval; None where the robot fails at one."""
    r = grid.at(nodes)
    progress = progress_of(r)[0].ravel()
    forces = path_forces(robot, path, progress, gravity, limits)
    if (forces.status != Status.OK).any():
        return None
    return LimitRows.of(r, forces, rates.at(progress, np.repeat(grid.piece, len(nodes))), limits)


def _within(grid: ParameterGrid, rows: LimitRows, between: LimitRows) -> SplineMotion | None:
    """The fastest motion within limits at nodes and between them; None where there is none. Raises NotSettledError."""
    for _ in range(ROUNDS):
        start = inside(grid, rows, slow(grid, rows))
        if start is None:
            return None
        motion = SplineMotion(grid, fastest(grid, rows, start))
        used = between.used(motion.at(FINE)).max(axis=1)
        if used.max() <= 1.0 + KEPT:
            return motion
        rows = rows.tightened(used)
    raise NotSettledError("limits are exceeded between points")


def _told(motion: SplineMotion, progress: np.ndarray, forces: PathForces, rates: ActuatorRates) -> FastestMotion:
    """The motion at the knots, each seen from the interval that follows it."""
    grid = motion.grid
    ahead, behind = motion.at(np.array([-1.0]))[:, 0], motion.at(np.array([1.0]))[-1:, 0]
    x, a, slope = np.concatenate([ahead, behind]).T
    _, w1, w2, w3 = progress_of(grid.knots)
    rate = w1 * np.sqrt(x)
    push = w1 * a + w2 * x
    change = np.sqrt(x) * (w3 * x + 3.0 * w2 * a + w1 * slope)
    force = forces.push * push[:, None] + forces.sweep * (rate**2)[:, None] + forces.hold
    velocity, time = forces.rate * rate[:, None], motion.times()
    first, second, third = rates.at(progress, np.append(grid.piece, grid.piece[-1]))
    jerk = third * (rate**3)[:, None] + 3.0 * second * (rate * push)[:, None] + first * change[:, None]
    power = force * velocity
    return FastestMotion(float(time[-1]), progress, time, rate, force, velocity, forces.status, power, jerk)
