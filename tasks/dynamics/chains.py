"""Motion of chains over time: trees and closed chains with joint friction, from actuator forces, in batches.

Fixed steps that are cut, for each sample by itself, where a joint comes to rest or breaks away: what is at rest stays
at rest to the last bit, and what slides stops where it should. Joints are those of `tasks.features.friction.history`,
with any law of `robots.friction.laws.LAWS`; see `tasks.features.friction.forward` for how they come to rest. Parallel
robots: `tasks.dynamics.free_motion`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from robots.criteria.elasticity import Elasticity
from robots.model import Robot
from tasks.dynamics import inputs
from tasks.dynamics.forces_over_step import Acting
from tasks.dynamics.forward import STILL, BaseMotion, accelerations, opened, over_time, series
from tasks.dynamics.inputs import GRAVITY, Moving
from tasks.dynamics.integration import Moment, MotionSystem
from tasks.dynamics.servo import Servo
from tasks.features.friction.history import Friction
from tasks.kernels.kernel import Batch


class ChainMotion(NamedTuple):
    """Times (kept,) [s]; q, qd (kept, *batch, freedom); status (*batch): of a case that ended why, see `Status`.

    Of joints with friction, in the order of the groups: friction (kept, *batch, joint) [N m or N]; stuck, whether they
    hold; memory of their law, bristles' deflection or the state of stiction; loss, work that friction has taken [J].
    work (kept, *batch, actuator): what actuators have done [J]. A case that has come to an end holds NaN from there on.
    """

    time: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    friction: np.ndarray
    stuck: np.ndarray
    memory: np.ndarray
    loss: np.ndarray
    work: np.ndarray
    status: np.ndarray


class ChainAcceleration(NamedTuple):
    """Accelerations qdd (*batch, freedom), friction and stuck (*batch, joint with friction), status (*batch).

    unique (*batch): whether friction at rest is determined. Where joints that hold depend on each other it is not, and
    is the least of all with these accelerations, which are unique. FRICTION_NOT_CONVERGED where none was found.
    """

    qdd: np.ndarray
    friction: np.ndarray
    stuck: np.ndarray
    status: np.ndarray
    unique: np.ndarray


def accelerate_chain(
    robot: Robot, *, force: ArrayLike, q: ArrayLike, qd: ArrayLike | None = None,
    friction: Friction = None, memory: ArrayLike | None = None, gravity: ArrayLike = GRAVITY,
    elasticity: Elasticity | None = None, time: ArrayLike | None = None,
) -> ChainAcceleration:  # fmt: skip
    """Accelerations of a chain with friction; arguments and errors as in `simulate_chain`.

    time (*batch,) [s]: for a robot whose own loads change with it. Joints without velocity hold where they can. Samples
    without a motion hold NaN; their status says why.

        >>> robot = ls.robots.build("planar_3r")
        >>> ls.accelerate_chain(robot, force=np.zeros((5, 3)), q=np.zeros((5, 3))).qdd.shape
        (5, 3)
    """
    system = MotionSystem.of(robot, friction, gravity, elasticity=elasticity)
    signals = inputs.signals_at(robot, time)
    cases = opened(robot, system, Moving(q=q, qd=qd), force=force, memory=memory, signals=signals)
    found = accelerations(system, cases)
    return ChainAcceleration(found.acceleration, *found[1:])


def simulate_chain(
    robot: Robot, *, force: Acting | Servo, step: float, steps: int,
    q: ArrayLike | None = None, qd: ArrayLike | None = None, friction: Friction = None,
    memory: ArrayLike | None = None, gravity: ArrayLike = GRAVITY,
    method: str | None = None, every: int = 1, start: float = 0.0, base: BaseMotion = STILL,
    elasticity: Elasticity | None = None,
) -> ChainMotion:  # fmt: skip
    """Integrate the motion of a batch of cases with steps of `step` [s] from the time `start`.

    q, qd (*batch, freedom): the start (qd absent: at rest). force (*batch, actuator): constant, a function of time, or
    of time (*batch,), q and qd, or a servo. friction: see `tasks.features.friction.history`, laws with a state among
    them; memory (*batch, joint): their state at the start (absent: relaxed bristles, stiction at rest). base: its
    motion in the world. elasticity: as in `tasks.dynamics.forward.accelerate`. method: one of
    `tasks.dynamics.integration.METHODS`; absent: `rosenbrock` where there are bristles, else `rk4`. Every n-th step is
    kept, the start included. Raises ValueError, TypeError or ParameterError for input that does not fit.
    """
    system = MotionSystem.of(robot, friction, gravity, base=base.moves, elasticity=elasticity)
    cases = opened(
        robot, system, Moving(q=q, qd=qd), force=force, memory=memory, start=start, base=base, gravity=gravity
    )
    history = list(over_time(system, cases, step=step, steps=steps, method=method, every=every))
    return collected(system, history, cases.batch)


def collected(system: MotionSystem, history: Sequence[tuple[float, Moment]], batch: Batch) -> ChainMotion:
    """The result, from moments and when they were."""
    times, values = series(system, history, batch)
    return ChainMotion(times, **values)
