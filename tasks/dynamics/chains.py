"""Motion of chains over time: trees and closed chains with joint friction, from actuator forces, in batches.

Fixed steps that are cut, for each sample by itself, where a joint comes to rest or breaks away: what is at rest stays
at rest to the last bit, and what slides stops where it should. Joints are those of `tasks.features.friction.inputs`,
with any law of `robots.friction.laws.LAWS`; see `tasks.features.friction.forward` for how they come to rest. Parallel
robots: `tasks.dynamics.free_motion`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from robots.model import Robot
from tasks.dynamics.forward import opened, over_time, series
from tasks.dynamics.integration import Moment, MotionSystem
from tasks.dynamics.records import Environment, FixedSteps, Forces, State
from tasks.kernels.kernel import Batch


class ChainMotion(NamedTuple):
    """Times (kept,) [s]; q, qd (kept, *batch, freedom); status (*batch): of a case that ended why, see `Status`.

    Of joints with friction, in the order of the groups: friction (kept, *batch, joint) [N m or N]; stuck, whether they
    hold; memory of their law, bristles' deflection or the state of stiction; loss, work that friction has taken [J].
    work (kept, *batch, actuator): what actuators have done [J]. A case that has come to an end holds NaN
    from there on. joints (kept, *batch, joint): of the method `spanning_tree` alone, all joints of the tree, turns
    counted; q does not decide where they are beyond singular points.
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
    joints: np.ndarray


def simulate_chain(
    robot: Robot, state: State, forces: Forces, environment: Environment, clock: FixedSteps
) -> ChainMotion:
    """Integrate the motion of a batch of cases in constant steps.

    state: q, qd (*batch, freedom), the start (qd absent: at rest), and memory (*batch, joint) of friction laws with a
    state (absent: relaxed bristles, stiction at rest). forces: actuator (*batch, actuator): constant, a function of
    time, or of time (*batch,), q and qd, or a servo; friction, see `tasks.features.friction.inputs`; elasticity as in
    `tasks.dynamics.forward`. Raises ValueError, TypeError or ParameterError for input that does not fit.
    """
    system = MotionSystem.of(
        robot,
        forces.friction,
        environment.gravity,
        base=bool(environment.base_parts),
        elasticity=forces.elasticity,
    )
    cases = opened(robot, system, state, forces, environment, clock.start)
    return collected(system, list(over_time(system, cases, clock)), cases.batch)


def collected(system: MotionSystem, history: Sequence[tuple[float, Moment]], batch: Batch) -> ChainMotion:
    """The result, from moments and when they were."""
    times, values = series(system, history, batch)
    return ChainMotion(times, **values, joints=np.zeros((*values["q"].shape[:-1], 0)))
