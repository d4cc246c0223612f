"""Results of simulations: motions of chains and platforms over time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tasks.kernels.expression import ABSENT


class ChainMotion(NamedTuple):
    """Times (kept,) [s]; q, qd (kept, *batch, freedom); status (*batch): of a case that ended why, see `Status`.

    Of joints with friction, in the order of the groups: friction (kept, *batch, joint) [N m or N]; stuck, whether they
    hold; memory of their law, bristles' deflection or the state of stiction; loss, work that friction has taken [J].
    work (kept, *batch, actuator): what actuators have done [J]. A case that has come to an end holds NaN
    from there on. joints (kept, *batch, joint): all joints of the tree, turns counted, of the method
    `spanning_tree` and of cases that went on beyond a singular point (NaN for others beside these), where q does not
    decide where joints are.

    Of stops, in their order and that of the joints that each means: contact (kept, *batch, stop), 1 and -1 where the
    joint rests at its high or low end, 2 and -2 where it is latched, 0 elsewhere; impact_loss, energy that impacts have
    taken [J]. through (*batch): the motion went on beyond a singular point, in the joints of the tree. current (kept,
    *batch, actuator): of motors with an inductance [A]. Empty without.
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
    contact: np.ndarray = ABSENT
    impact_loss: np.ndarray = ABSENT
    through: np.ndarray = ABSENT
    current: np.ndarray = ABSENT


class Simulation(NamedTuple):
    """Times (kept,), platform position (kept, *batch, 3), rotation (kept, *batch, 3, 3), twist (kept, *batch, 6).

    drift (kept, *batch): how far limbs have been open up to that time before they were closed again [m, or cosine];
    gap: how far they are open at that time. Both are zero in task space. status (*batch): SINGULAR, PLATFORM_SINGULAR
    or CONSTRAINT_SINGULAR for a case that came to an end at such a point, INTEGRATION_FAILED for one that was too quick
    for its steps, however they are cut; it holds NaN from there on. A case whose start has no solution has the status
    of the start, such as NOT_REACHABLE.

    Of joints with friction, in the order of the groups, there are friction, stuck, memory and loss (kept, *batch,
    joint) as in `ChainMotion`; work (kept, *batch, actuator) that actuators have done and load_work (kept, *batch) of
    the load on the platform [J]. contact, impact_loss, through and current as in `ChainMotion`.
    """

    time: np.ndarray
    position: np.ndarray
    rotation: np.ndarray
    twist: np.ndarray
    drift: np.ndarray
    gap: np.ndarray
    status: np.ndarray
    friction: np.ndarray = ABSENT
    stuck: np.ndarray = ABSENT
    memory: np.ndarray = ABSENT
    loss: np.ndarray = ABSENT
    work: np.ndarray = ABSENT
    load_work: np.ndarray = ABSENT
    contact: np.ndarray = ABSENT
    impact_loss: np.ndarray = ABSENT
    through: np.ndarray = ABSENT
    current: np.ndarray = ABSENT
