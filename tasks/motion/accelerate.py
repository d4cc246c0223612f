"""Accelerations of any robot with joint friction from its actuator forces: forward dynamics at an instant."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from robots.criteria.elasticity import Elasticity
from robots.model import Robot
from robots.status import Status
from robots.types import LoadAxes
from tasks.arrays import inputs
from tasks.arrays.inputs import GRAVITY, Moving
from tasks.friction.given import Friction
from tasks.motion.cases import BaseMotion, Cases, begun, opened
from tasks.motion.system import MotionSystem


class Acceleration(NamedTuple):
    """Accelerations, friction and stuck (*batch, joint with friction), status (*batch).

    acceleration: of a platform (*batch, 6), the time derivative of its twist; of a chain (*batch, freedom), those of
    its independent joints. unique (*batch): whether friction at rest is determined. Where joints that hold depend on
    each other it is not, and is the least of all with these accelerations, which are unique. FRICTION_NOT_CONVERGED
    where none was found.
    """

    acceleration: np.ndarray
    friction: np.ndarray
    stuck: np.ndarray
    status: np.ndarray
    unique: np.ndarray


def accelerate(
    robot: Robot, *, force: ArrayLike, friction: Friction = None, memory: ArrayLike | None = None,
    position: ArrayLike | None = None, rotation: ArrayLike | None = None, twist: ArrayLike | None = None,
    q: ArrayLike | None = None, qd: ArrayLike | None = None,
    load: ArrayLike | None = None, load_axes: LoadAxes = "world", gravity: ArrayLike = GRAVITY,
    base_rotation: ArrayLike | None = None, base_twist: ArrayLike | None = None,
    base_acceleration: ArrayLike | None = None, elasticity: Elasticity | None = None,
    time: ArrayLike | None = None,
) -> Acceleration:  # fmt: skip
    """Accelerations of a robot under actuator forces (*batch, actuator) and joint friction of any law.

    The state, as in `tasks.inverse_dynamics`: position, rotation and twist of a platform, q and qd of a chain; load
    (*batch, 6) on a platform; motion of the base; time (*batch,) [s], where the robot's own loads change with it.
    friction: see `tasks.friction.given`; memory (*batch, joint): the state of its law; elasticity: by which reactions
    follow on which it depends, as in `tasks.inverse_dynamics`. Joints without velocity hold where they can. Samples
    without a motion hold NaN; their status says why. Raises ValueError, TypeError or ParameterError for input that does
    not fit.

        >>> robot = ls.robots.build("delta_3rr2rrr")
        >>> moving = ls.accelerate(robot, force=np.zeros(3), position=[0.0, 0.1, -0.9])
        >>> moving.acceleration.shape, ls.Status(int(moving.status)).name
        ((6,), 'OK')
    """
    base = BaseMotion(base_rotation, base_twist, base_acceleration)
    load = inputs.in_world(robot, load, rotation, load_axes)
    system = MotionSystem.of(robot, friction, gravity, base=base.moves, elasticity=elasticity)
    moving = Moving(position=position, rotation=rotation, twist=twist, q=q, qd=qd)
    cases = opened(
        robot, system, moving, force=force, memory=memory, load=load, base=base, gravity=gravity,
        signals=inputs.signals_at(robot, time),
    )  # fmt: skip
    return accelerations(system, cases)


def accelerations(system: MotionSystem, cases: Cases) -> Acceleration:
    """Those at the start of a batch of cases."""
    layout, batch = system.layout, cases.batch
    with np.errstate(all="ignore"):  # a failed sample holds NaN
        now = begun(system, cases, 1.0)
    rates, samples = now.rates, int(np.prod(batch, dtype=int))
    change = rates.rate[layout.at["qd"]]
    if layout.platform:
        change = np.zeros((6, change.shape[1]))
        change[system.instant.structure.positions] = rates.rate[layout.at["qd"]]
    padded = (change, rates.braking, (now.modes.rest > 0.5) & (rates.breaking == 0.0))
    found, braking, stuck = (values[:, :samples].T.reshape(*batch, len(values)) for values in padded)
    status = rates.status[:samples].astype(np.int8).reshape(batch)
    found[status != Status.OK], braking[status != Status.OK] = np.nan, np.nan
    return Acceleration(found, braking, stuck, status, (rates.dependent[:samples] < 0.5).reshape(batch))
