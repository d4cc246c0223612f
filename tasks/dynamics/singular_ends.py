"""Names of the singularities at which simulated motions end.

A motion that ends has the status INTEGRATION_FAILED, or the status of a pose that it could not reach. Its last kept
state is extrapolated with its velocity and acceleration to a time shortly after its end. The first pose on this path
that is singular, or beyond a singularity, names the singularity. A motion that ends before its second kept state keeps
its status.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from robots.model import Robot
from robots.status import Status
from robots.types import TWIST
from tasks.dynamics.inverse import inverse_dynamics
from tasks.dynamics.motions import ChainMotion, Simulation
from tasks.kernels.expression import ABSENT

Numbers = NDArray[np.float64]

BEYOND, PLACES = 2.0, 200
"""Length of the path after the last kept state, in kept intervals, and number of its examined places."""

NAMES: Mapping[Status, Status] = {
    **dict.fromkeys((Status.NOT_REACHABLE, Status.WRONG_BRANCH, Status.SINGULAR), Status.SINGULAR),
    **dict.fromkeys(
        (Status.ILL_CONDITIONED, Status.PLATFORM_SINGULAR, Status.SINGULARITY_CROSSED), Status.PLATFORM_SINGULAR
    ),
    Status.CONSTRAINT_SINGULAR: Status.CONSTRAINT_SINGULAR,
}
"""Status of the singularity, by the status of the pose."""


NAMELESS = (Status.INTEGRATION_FAILED, Status.NOT_REACHABLE, Status.WRONG_BRANCH)
"""Statuses of motions that ended without the name of a singularity."""


class LastStates(NamedTuple):
    """Last states of cases, and their velocity some time before.

    time, apart: of the last states, and between the two [s]; speed, before (case, size): velocities of the freedoms
    of a chain, or twists; q (case, freedom) of a chain; position (case, 3) and rotation (case, 3, 3) of a platform.
    """

    time: float
    apart: float
    speed: Numbers
    before: Numbers
    q: Numbers = ABSENT
    position: Numbers = ABSENT
    rotation: Numbers = ABSENT

    @classmethod
    def of(cls, robot: Robot, motions: Numbers, times: Numbers) -> LastStates:
        """Return states from motion inputs (2, size, case) at two times (2,): the last one and the one before."""
        before, last = np.moveaxis(motions, 2, 1)
        time, apart = float(times[1]), float(times[1] - times[0])
        free, small = len(robot.mechanism.freedoms), motions.shape[1] == 9
        if robot.mechanism.is_chain:
            return cls(time, apart, last[:, free : 2 * free], before[:, free : 2 * free], q=last[:, :free])
        if small:
            still = np.zeros_like(last[:, :3])
            speed, earlier = (np.concatenate([still, rows[:, 3:6]], axis=1) for rows in (last, before))
            return cls(time, apart, speed, earlier, position=last[:, :3])
        return cls(
            time,
            apart,
            last[:, 12:18],
            before[:, 12:18],
            position=last[:, :3],
            rotation=last[:, 3:12].reshape(-1, 3, 3),
        )


def with_singularities(robot: Robot, motion: ChainMotion | Simulation) -> ChainMotion | Simulation:
    """Return a motion whose cases that ended at a singularity have its status."""
    status = motion.status.reshape(-1).copy()
    of_chain = isinstance(motion, ChainMotion)
    fields = ("qd", "q") if of_chain else ("twist", "position", "rotation")
    dims = motion.status.ndim
    speed, *where = (_one_batch(getattr(motion, name), dims) for name in fields)
    lasting = np.isfinite(speed).all(axis=-1).sum(axis=0)
    for last in np.unique(lasting[np.isin(status, NAMELESS)]) - 1:
        if last < 1:
            continue
        cases = np.flatnonzero(np.isin(status, NAMELESS) & (lasting == last + 1))
        time = float(motion.time[last])
        places = [values[last, cases] for values in where]
        states = LastStates(time, time - float(motion.time[last - 1]), speed[last, cases], speed[last - 1, cases])
        states = states._replace(**dict(zip(fields[1:], places, strict=True)))
        status[cases] = named(robot, states, status[cases])
    return motion._replace(status=status.reshape(motion.status.shape))


def _one_batch(values: Numbers, dims: int) -> Numbers:
    """Return values (kept, *batch, ...) as (kept, case, ...)."""
    return values.reshape(len(values), -1, *values.shape[1 + dims :])


def named(robot: Robot, states: LastStates, status: NDArray[np.int8]) -> NDArray[np.int8]:
    """Return the status (case,) of the singularity ahead of each case; its present status if none is ahead."""
    codes = inverse_dynamics(robot, **_way(robot, states)).status
    result = status.copy()
    for k, along in enumerate(codes):
        ahead = along[along != Status.OK][:1]
        if len(ahead):
            result[k] = NAMES.get(Status(int(ahead[0])), status[k])
    return result


def _way(robot: Robot, states: LastStates) -> dict[str, Any]:
    """Return states on the path after the last states (case, place, ...), with their times if loads need them."""
    change = (states.speed - states.before) / states.apart
    time = np.linspace(0.0, BEYOND * states.apart, PLACES)[:, None]
    moved = states.speed[:, None] * time + change[:, None] * (0.5 * time * time)
    way = {"time": np.broadcast_to(states.time + time[:, 0], moved.shape[:2])} if robot.family.signals else {}
    if states.q.size:
        return way | {"q": states.q[:, None] + moved}
    way["position"] = states.position[:, None] + moved[..., 3:]
    if {*TWIST[:3]} & {*robot.mechanism.platform.mobility}:
        turned = Rotation.from_rotvec(moved[..., :3].reshape(-1, 3)).as_matrix().reshape(*moved.shape[:2], 3, 3)
        way["rotation"] = turned @ states.rotation[:, None]
    return way
