"""Resolution of redundant chains on a batch: the motion of all freedoms from the motion of the given freedoms."""

from __future__ import annotations

from typing import NamedTuple, Unpack

import numpy as np

from robots.arguments import check_arguments
from robots.model import Robot
from robots.status import Status
from tasks.dynamics.inputs import (
    JOINTS,
    check_names,
    gravity_input,
    mounts,
    parameters,
    present,
)
from tasks.dynamics.records import (
    STANDING,
    TIMELESS,
    MotionKeywords,
    Moving,
    State,
    long_form,
)
from tasks.features.redundancy.resolved import Redundancy
from tasks.features.table import request
from tasks.kernels.kernel import checked, common_batch, kernel, rows
from tasks.kernels.keys import Indexed
from tasks.stages.stages import limb


class ResolvedMotion(NamedTuple):
    """Positions, rates and accelerations of all freedoms (*batch, freedom) [rad or m], status (*batch)."""

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    status: np.ndarray


@check_arguments
def resolve_redundancy(robot: Robot, motion: State | None = None, **short: Unpack[MotionKeywords]) -> ResolvedMotion:
    """Compute the motion of all freedoms of a redundant robot with a posture or tasks from its given freedoms.

    q, and rates qd and accelerations qdd (absent: zero), (*batch, given) in the order of `Mechanism.given` [rad or m]:
    freedoms, then tasks without a value. The other freedoms fulfil the tasks and minimize the weighted sum of squared
    distances from the posture. They are found on a path from the reference pose, for each sample by itself. The result
    is an input of other functions: `ls.inverse_dynamics(robot, q=motion.q, qd=motion.qd, qdd=motion.qdd)`. Samples that
    are not OK hold NaN: NOT_CONVERGED where no solution was reached, SINGULAR where the distance has no minimum or
    tasks do not determine the freedoms, WRONG_BRANCH where a singularity is on the path. Raises ValueError for a robot
    without posture and tasks, and for shapes that do not fit.

        >>> arm = ls.robots.read("arm_platform.yaml")
        >>> motion = ls.resolve_redundancy(arm, q=[0.0, 0.1, 0.0, 0.0, 0.0, 0.0], qd=[0.0, 0.5, 0.0, 0.0, 0.0, 0.0])
        >>> motion.q.shape, arm.mechanism.freedoms[-1]
        ((7,), 'arm.3')
    """
    mechanism = robot.mechanism
    size = len(mechanism.given)
    if not mechanism.resolved:
        raise ValueError(
            f"robot: {robot.name} has no posture or task that decides freedoms; expected a robot file with one under "
            "platform, redundancy; give the motion of all freedoms to the other functions"
        )
    named = long_form(motion, STANDING, short, TIMELESS)[0].moving
    check_names(robot, named)
    try:
        arrays = {name: checked(name, values, (size,), mechanism.given) for name, values in present(named).items()}
    except ValueError as error:
        raise ValueError(f"{error}; given freedoms: {', '.join(mechanism.given)}") from None
    batch = common_batch({name: values.shape[:-1] for name, values in arrays.items()})
    still = np.zeros((*batch, size))
    columns = np.concatenate([rows(arrays.get(name, still), batch) for name in JOINTS])[None]
    samples = int(np.prod(batch, dtype=int))
    stage = limb(request(robot.family, (), Redundancy(resolved=True)), 0)
    values = {
        "parameters": parameters(robot, timed=True),
        "gravity": gravity_input(np.zeros(3)),
        "motion": columns,
        Indexed("mount", 0): mounts(robot)[0],
    }
    values |= {"signals": np.zeros((1, len(robot.family.signals), columns.shape[-1]))} if robot.family.signals else {}
    results = stage.run(kernel, values, samples)
    status = results[Indexed("status", 0)][0, 0, :samples]
    whole = results[Indexed("resolved_motion", 0)][0, :, :samples].T.copy()
    whole[status != Status.OK] = np.nan
    q, qd, qdd = (np.ascontiguousarray(part).reshape(*batch, -1) for part in np.split(whole, 3, axis=1))
    return ResolvedMotion(q, qd, qdd, status.astype(np.int8).reshape(batch))


def resolved_rows(robot: Robot, rows: np.ndarray) -> np.ndarray:
    """Return a motion input (3 given, samples) in all freedoms, (3 freedoms, samples); NaN where it is not OK."""
    q, qd, qdd = np.split(rows.T, 3, axis=1)
    return np.concatenate(resolve_redundancy(robot, q=q, qd=qd, qdd=qdd)[:3], axis=1).T


def resolved_motion(robot: Robot, moving: Moving) -> Moving:
    """Return the motion in all freedoms of a robot from the given freedoms; unchanged without redundancy."""
    if not robot.mechanism.resolved:
        return moving
    parts = present(moving)
    motion = resolve_redundancy(robot, q=parts["q"], qd=parts.get("qd"), qdd=parts.get("qdd"))
    return Moving(q=motion.q, qd=motion.qd, qdd=motion.qdd)
