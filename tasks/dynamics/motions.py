"""Results of simulations: motions of chains and platforms over time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tasks.kernels.expression import ABSENT


class ChainMotion(NamedTuple):
    """Times (kept,) [s]; q, qd (kept, *batch, freedom); status (*batch): reason for the end of a case, see `Status`.

    For joints with friction, in the order of the groups: friction (kept, *batch, joint) [N m or N]; stuck, whether they
    stick; memory of their law, the deflection of bristles or the state of stiction; loss, work that friction has taken
    [J]. work (kept, *batch, actuator): work of the actuators [J]. A case that has ended holds NaN from there on. joints
    (kept, *batch, joint): positions of all joints of the tree, with full turns, for the method `spanning_tree` and for
    cases that continued beyond a singular point, where q does not determine them (NaN for the other cases of the
    batch).

    For stops, in their order, and for each in the order of its joints: contact (kept, *batch, stop), 1 and -1 where the
    joint rests at its high or low end, 2 and -2 where it is latched, 0 elsewhere; impact_loss, energy that impacts have
    taken [J]. through (*batch): the motion continued beyond a singular point, in the joints of the tree. current (kept,
    *batch, actuator): currents of motors with an inductance [A]. Arrays are empty where they do not apply.
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

    drift (kept, *batch): largest closure residual of the limbs up to that time, before corrections [m, or cosine]; gap:
    closure residual at that time. Both are zero in task space. status (*batch): SINGULAR, PLATFORM_SINGULAR or
    CONSTRAINT_SINGULAR for a case that ended at such a point, INTEGRATION_FAILED for a case that was too fast even for
    divided steps; a case that has ended holds NaN from there on. A case whose start has no solution has the status of
    the start, such as NOT_REACHABLE.

    Results of joints with friction, in the order of the groups, are friction, stuck, memory and loss (kept, *batch,
    joint) as in `ChainMotion`. work (kept, *batch, actuator) is the work of the actuators, and load_work (kept, *batch)
    the work of the load on the platform [J]. contact, impact_loss, through and current as in `ChainMotion`.
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
