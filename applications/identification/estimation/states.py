"""Random motions that a robot can make, for computations at generic states: ranks, tests, first guesses.

Spread around the reference pose over as much of the workspace as solves easily; samples that cannot be solved are left
out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from robots.model import Robot
from robots.status import Status
from robots.types import TWIST
from tasks.dynamics.inertial_parameters import Column
from tasks.dynamics.inputs import present
from tasks.dynamics.inverse import inverse_dynamics, inverse_kinematics
from tasks.dynamics.records import Moving
from tasks.mathematics.rotations import roll_pitch_yaw

SPREAD = 0.5
"""First try of the distance from the reference pose, relative to the robot's size; platforms turn by as many rad."""
ENOUGH = 0.3
"""Share of samples that must be solvable for a spread to be taken; else it is halved."""
TRIES = 12
WAY, BEYOND, JUMP = 33, 1.15, 0.4
"""Points on the way to a state, how far it goes, and the largest relative change of rates that is no jump."""
SPEED, ACCELERATION = 2.0, 10.0
STATES = 4
"""Rows of the regressor for each column."""
SLOWEST = 1e-9
"""Least factor of the velocities of slow states: joints behind gears are slow where actuators hardly move."""
FADING = "static"
"""Parameter of friction that is in forces at small velocities alone."""


def random_motion(robot: Robot, count: int, seed: int = 0) -> Moving:
    """Return `count` random states that the robot can take, as keywords: see `tasks.dynamics.records.Moving`.

    Raises ValueError for a robot that hardly any pose solves.
    """
    generator, spread = np.random.default_rng(seed), SPREAD
    for _ in range(TRIES):
        drawn = _drawn(robot, 4 * count, spread, generator)
        good = np.flatnonzero(solvable(robot, drawn))
        if len(good) >= ENOUGH * 4 * count:
            good = good[in_assembly(robot, taken(drawn, good))]
        if len(good) >= ENOUGH * 4 * count:
            return taken(drawn, good[:count])
        spread *= 0.5
    raise ValueError(
        f"{robot.name}: fewer than a third of the random poses near the reference pose can be solved; expected a robot "
        "that can move; check its parameters with tasks.inverse_kinematics"
    )


def motion_for(robot: Robot, columns: Sequence[Column], rows: int, seed: int = 0) -> Moving:
    """Return random states that tell all columns, of which each state has `rows` rows.

    Where a column is of friction that fades with velocity, as many states again are slower by some factor each.
    """
    count = -(-STATES * len(columns) // rows)
    if not any(column.parameter == FADING for column in columns):
        return random_motion(robot, count, seed)
    series = present(random_motion(robot, 2 * count, seed))
    factors = SLOWEST ** np.random.default_rng([seed, count]).uniform(size=(2 * count, 1))
    factors[:count] = 1.0
    slowed = {name: np.asarray(series[name]) * factors for name in ("qd", "twist") if name in series}
    return cast(Moving, series | slowed)


def solvable(robot: Robot, moving: Moving) -> np.ndarray:
    """Return whether states (count,) have actuator forces; False for platforms at or beyond singularities."""
    if robot.mechanism.is_chain and not robot.mechanism.limbs[0].coordinates:
        return np.asarray(inverse_kinematics(robot, **moving).status == Status.OK)
    return np.asarray(inverse_dynamics(robot, **moving).status == Status.OK)


def in_assembly(robot: Robot, moving: Moving) -> np.ndarray:
    """Return whether states (count,) are in the assembly of the reference pose; True without closed loops.

    On the straight path from the reference pose, the rates of joints must not jump for the same generic rates of
    the independent joints. A parallelogram that becomes flat may leave as a crossed one, which has other base
    parameters. The path continues a bit beyond the state, because rounding looks like a motion where loops are
    nearly singular.
    """
    free = len(robot.mechanism.freedoms)
    if not robot.mechanism.is_chain or not robot.mechanism.limbs[0].loops:
        return np.ones(len(np.asarray(next(iter(present(moving).values())))), dtype=bool)
    way = np.linspace(0.0, BEYOND, WAY)[:, None, None] * np.asarray(moving["q"])
    rates = inverse_kinematics(robot, q=way, qd=np.cos(np.arange(1.0, free + 1.0))).velocity
    rates = rates[..., list(robot.mechanism.limbs[0].one_variable)]  # the others have no rate
    slopes = np.nan_to_num(rates, nan=np.inf).reshape(WAY, way.shape[1], -1)
    with np.errstate(invalid="ignore"):
        jumps = np.abs(np.diff(slopes, axis=0)).max(axis=2) / np.abs(slopes[1:]).max(axis=2)
    return np.asarray((jumps < JUMP).all(axis=0))


def taken(moving: Moving, samples: np.ndarray) -> Moving:
    """Return some samples of a motion whose arrays have one batch dim."""
    return cast(Moving, {name: np.asarray(value)[samples] for name, value in present(moving).items()})


def size(robot: Robot) -> float:
    """Return a length of the robot: mean distance of its limbs' base mounts from the platform at reference [m]."""
    home = np.array(robot.mechanism.platform.home.position, dtype=float)
    mounts = [np.array(instance.base.position, dtype=float) for instance in robot.mechanism.instances]
    return float(np.mean([np.linalg.norm(home - mount) for mount in mounts]))


def _drawn(robot: Robot, count: int, spread: float, generator: np.random.Generator) -> Moving:
    if robot.mechanism.is_chain:
        free = len(robot.mechanism.freedoms)
        scales = (2.0 * np.pi * spread, SPEED, ACCELERATION)
        q, qd, qdd = (generator.uniform(-x, x, (count, free)) for x in scales)
        return {"q": q, "qd": qd, "qdd": qdd}
    platform, length = robot.mechanism.platform, size(robot)
    free6 = np.array([name in platform.mobility for name in TWIST])
    units = np.array([1.0] * 3 + [length] * 3) * free6
    away = generator.uniform(-spread, spread, (count, 6)) * units
    rates, changes = generator.normal(size=(2, count, 6)) * np.array([SPEED, ACCELERATION])[:, None, None] * units
    turn = roll_pitch_yaw(away[:, :3], rates[:, :3], changes[:, :3])
    return {
        "position": np.array(platform.home.position) + away[:, 3:],
        "rotation": turn.rotation @ np.array(platform.home.rotation),
        "twist": np.concatenate([turn.omega, rates[:, 3:]], axis=1),
        "acceleration": np.concatenate([turn.alpha, changes[:, 3:]], axis=1),
    }
