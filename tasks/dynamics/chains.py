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
from tasks.dynamics.forces_over_step import Acting
from tasks.dynamics.forward import STILL, BaseMotion, opened, over_time, series
from tasks.dynamics.integration import Moment, MotionSystem
from tasks.dynamics.records import GRAVITY, Moving
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
    motion in the world. elasticity: as in `tasks.dynamics.forward`. method: one of
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
