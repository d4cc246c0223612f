"""Names of the singularities at which simulated motions end.

A motion that ends has the status INTEGRATION_FAILED, or that of a pose that it could not reach. Its last kept state is
moved on by its velocity and acceleration, to where it would have been a little after its end: the first pose on that
way which is singular, or beyond a singularity, says at which it ended. One that ends before its second kept state was
too quick to tell.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from robots.model import Robot
from robots.status import Status
from robots.types import TWIST
from tasks.dynamics.inverse import inverse_dynamics
from tasks.dynamics.motions import ChainMotion, Simulation

BEYOND, PLACES = 2.0, 200
"""Length of the way after the last kept state, in kept intervals, and places that are looked at."""

NAMES: Mapping[Status, Status] = {
    **dict.fromkeys((Status.NOT_REACHABLE, Status.WRONG_BRANCH, Status.SINGULAR), Status.SINGULAR),
    **dict.fromkeys(
        (Status.ILL_CONDITIONED, Status.PLATFORM_SINGULAR, Status.SINGULARITY_CROSSED), Status.PLATFORM_SINGULAR
    ),
    Status.CONSTRAINT_SINGULAR: Status.CONSTRAINT_SINGULAR,
}
"""Singularity that a pose of each status tells of."""


NAMELESS = (Status.INTEGRATION_FAILED, Status.NOT_REACHABLE, Status.WRONG_BRANCH)
"""Statuses of motions that ended without the name of a singularity."""


def with_singularities(robot: Robot, motion: ChainMotion | Simulation) -> ChainMotion | Simulation:
    """Return a motion whose cases that ended at a singularity have its status."""
    status = motion.status.copy()
    speed = motion.qd if isinstance(motion, ChainMotion) else motion.twist
    begun = np.isfinite(speed[:2]).all(axis=(0, -1))
    for case in map(tuple, np.argwhere(np.isin(status, NAMELESS) & begun)):
        for code in inverse_dynamics(robot, **_way(robot, motion, case)).status:
            if code != Status.OK:
                status[case] = NAMES.get(Status(int(code)), status[case])
                break
    return motion._replace(status=status)


def _way(robot: Robot, motion: ChainMotion | Simulation, case: tuple[int, ...]) -> dict[str, Any]:
    """Return states of the way on from the last kept state of a case."""
    here: Any = (slice(None), *case)
    speed = np.asarray(motion.qd if isinstance(motion, ChainMotion) else motion.twist)[here]
    last = int(np.isfinite(speed).all(axis=1).sum()) - 1
    apart = motion.time[last] - motion.time[last - 1]
    change = (speed[last] - speed[last - 1]) / apart
    time = np.linspace(0.0, BEYOND * apart, PLACES)[:, None]
    moved = speed[last] * time + change * (0.5 * time * time)
    if isinstance(motion, ChainMotion):
        return {"q": motion.q[here][last] + moved}
    position = motion.position[here][last] + moved[:, 3:]
    if not {*TWIST[:3]} & {*robot.mechanism.platform.mobility}:
        return {"position": position}
    rotation = Rotation.from_rotvec(moved[:, :3]).as_matrix() @ motion.rotation[here][last]
    return {"position": position, "rotation": rotation}
