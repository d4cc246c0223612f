"""Inverse dynamics where the motion of all joints is given: no loop is closed, but residuals are checked."""

from __future__ import annotations

from typing import NamedTuple, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robots.arguments import check_arguments
from robots.criteria.parts import NO_CRITERIA
from robots.model import Robot
from robots.status import Status
from tasks.dynamics.criteria_inputs import reaction_criteria
from tasks.dynamics.given_tree import GivenTree, JointMotion
from tasks.dynamics.inputs import field_input, load_input, present, refuse_actuator
from tasks.dynamics.inverse import Dynamics, Influences
from tasks.dynamics.records import (
    NO_FORCES,
    STANDING,
    Environment,
    Forces,
    MotionKeywords,
    State,
    check_record,
    long_form,
)
from tasks.features.friction.inputs import friction_input
from tasks.features.tree_motion import FORCE, GAP, ORDERS, tree_stage
from tasks.kernels.keys import Indexed
from tasks.stages.stages import stages

Array = NDArray[np.float64]

TOLERANCE = (1e-6, 1e-5, 1e-4)
"""Residuals of loops [m or 1], of rates [1/s] and accelerations [1/s^2] up to which given joints are closed."""


class SpanningTreeDynamics(NamedTuple):
    """Actuator forces (*batch, actuator), generalised forces of the tree (*batch, limb, joint), residuals, status.

    tree_force: forces along all joints of the limbs with their loops cut, and cut from the platform. gap (*batch, 3):
    residuals of all cut joints, of their rates and accelerations, sums of magnitudes of the worst limb; NaN where no
    closure was asked for.
    """

    force: np.ndarray
    tree_force: np.ndarray
    gap: np.ndarray
    status: np.ndarray


@check_arguments
def spanning_tree_dynamics(
    robot: Robot,
    joints: JointMotion,
    motion: State | None = None,
    forces: Forces = NO_FORCES,
    environment: Environment = STANDING,
    *,
    tolerance: ArrayLike | None = TOLERANCE,
    projected: bool = True,
    **short: Unpack[MotionKeywords],
) -> SpanningTreeDynamics:
    """Compute actuator forces and generalised forces of the spanning tree for a given motion of all joints.

    It is meant for motions that were recorded, or computed by another program: no loop is closed. joints: see
    `limbsweep.JointMotion`. motion: motion of the platform, see `inverse_dynamics`; for a chain it follows from
    `joints` and has only a time and a memory. Forces are computed from the given joints, so their accuracy depends on
    the closure of the loops: a sample whose `gap` is beyond the `tolerance` (position, rate, acceleration) has the
    status LOOP_OPEN and holds NaN. An error of 1 m/s^2 in an acceleration changes a force as much as a tenth of
    gravity; for measured motions choose the tolerance by their noise. projected: false leaves actuator forces out
    (NaN), so that singular poses are OK as well, and takes a fraction of the time; then the tolerance may be None,
    which leaves the residuals out as well: nothing has to be closed. Other arguments as in
    `inverse_dynamics`; tree_force contains no friction, no load on the platform and no inertia of the platform. Raises
    ValueError as there.

        >>> robot = ls.robots.build("delta_3rr2rrr")
        >>> motion = ls.Motion(position=[0.0, 0.1, -0.9], acceleration=[0, 0, 0, 0, 0, 2.0])
        >>> known = ls.inverse_kinematics(robot, motion)
        >>> joints = ls.JointMotion(
        ...     position=known.position, velocity=known.velocity, acceleration=known.acceleration
        ... )
        >>> result = ls.spanning_tree_dynamics(robot, joints, motion)
        >>> result.force.round(2), ls.inverse_dynamics(robot, motion).force.round(2)
        (array([-3.78, -2.59, -5.  ]), array([-3.78, -2.59, -5.  ]))
        >>> result.tree_force.shape, result.status  # (limb, joint)
        ((3, 5), array(0, dtype=int8))
    """
    motion, environment = long_form(motion, environment, short, ("memory",))
    check_record("joints", joints, JointMotion)
    refuse_actuator(forces)
    if projected and tolerance is None:
        raise ValueError("tolerance: got None with projected=True; expected three numbers, or projected=False")
    tree, moving = GivenTree.of(robot, joints, tolerance), motion.moving
    if robot.mechanism.is_chain:
        if parts := present(moving):
            raise ValueError(f"{next(iter(parts))}: got it beside all joints of a chain; leave it out, it follows")
        moving = tree.of_chain(robot)
    groups, shared = friction_input(robot, forces.friction), reaction_criteria(robot, forces.elasticity)
    load, field = load_input(robot, forces, motion.rotation), field_input(environment)
    quantities = ("actuator_force", "status") if groups.groups else ()
    acting = Influences(field, load, forces.weights, groups, motion.time, forced=True, tree=tree)
    shared = shared if groups.statics else NO_CRITERIA
    dynamics = Dynamics(robot, moving, quantities, acting, criteria=shared)
    limbs, force = range(len(robot.mechanism.instances)), None
    if projected:
        dynamics.run(stages(dynamics.request))
        force, status = dynamics.sample_rows("actuator_force" if groups.groups else "force").T, dynamics.status
    else:
        dynamics.run(tree_stage(dynamics.request, k, closed=tolerance is not None) for k in limbs)
        status = np.max([dynamics.status_of(k) for k in limbs], axis=0)
    return _result(dynamics, force, status, closed=tolerance is not None)


def _result(dynamics: Dynamics, force: Array | None, status: Array, *, closed: bool) -> SpanningTreeDynamics:
    """Return the result of stages that have run; `force` (samples, actuator), or none; `closed`: with residuals."""
    mechanism, batch = dynamics.robot.mechanism, dynamics.batch
    limbs = range(len(mechanism.instances))
    rows = [dynamics.sample_rows(Indexed(FORCE, k)) for k in limbs]
    tree_force = np.full((dynamics.samples, len(rows), max(map(len, rows))), np.nan)
    for k, values in enumerate(rows):
        tree_force[:, k, : len(values)] = values.T
    forces = np.full((dynamics.samples, len(mechanism.actuators)), np.nan) if force is None else force.copy()
    for result in (forces, tree_force):
        result[status != Status.OK] = np.nan
    gaps = (
        [dynamics.sample_rows(Indexed(GAP, k)) for k in limbs] if closed else [np.full((ORDERS, len(forces)), np.nan)]
    )
    gap = np.max(gaps, axis=0)
    return SpanningTreeDynamics(
        forces.reshape(*batch, -1), tree_force.reshape(*batch, *tree_force.shape[1:]),
        np.ascontiguousarray(gap.T).reshape(*batch, ORDERS), dynamics.statuses(status),
    )  # fmt: skip
