"""Bearing loads of a robot's joints, for batches: constraint forces and torques across and along each axis.

The 3D force screw of a joint is its reaction, split along its axis and across it. The bearings of a revolute joint or a
screw carry a moment and a force across the axis, and a force along it. The bearings of a prismatic joint carry a moment
and a force across the axis, and a moment along it. The remaining component, with the drive and friction, is no
constraint. Kernels compute bearing loads for friction by `tasks.mechanics.reactions.bearing_components`. Source:
joint-friction paper, Eqs. (37) to (47).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple, Unpack

import numpy as np

from robots.arguments import check_arguments
from robots.friction.groups import LOADS
from robots.joint_kinds import JOINT_KINDS
from robots.model import Robot
from robots.parameters import complete
from robots.types import BASE
from tasks.dynamics.inverse import body_motion, joint_reactions
from tasks.dynamics.records import (
    NO_FORCES,
    STANDING,
    TIMELESS,
    Environment,
    Forces,
    MotionKeywords,
    Moving,
    State,
    long_form,
)
from tasks.features.friction.joints import normal_load


class ConstraintForces(NamedTuple):
    """Magnitudes (*batch, limb, joint) in the order of `Limb.joints`, and the status (*batch).

    moment_across [N m]: tau_r of a revolute joint, tau_p of a prismatic one; force_across [N]: f_r, f_p; along: f_m [N]
    of a revolute joint, tau_m [N m] of a prismatic one; normal: the equivalent normal torque tau_n [N m] of a revolute
    joint, the equivalent normal force f_n [N] of a prismatic one.
    """

    moment_across: np.ndarray
    force_across: np.ndarray
    along: np.ndarray
    normal: np.ndarray
    status: np.ndarray


@check_arguments
def constraint_forces(
    robot: Robot,
    motion: State | None = None,
    forces: Forces = NO_FORCES,
    environment: Environment = STANDING,
    *,
    arms: Mapping[str, float] | None = None,
    **short: Unpack[MotionKeywords],
) -> ConstraintForces:
    """Compute constraint forces and torques of all joints with one variable; arguments as of `joint_reactions`.

    `arms` are the dimensions of the joints in Eq. (47), R_n, R_p, R_b and a preload by the names of
    `robots.friction.groups.LOADS["reaction"]`, defaults for the others. NaN for joints with several variables, and
    where `joint_reactions` has it. Raises ParameterError for arms that are unknown or out of bounds, else as
    `joint_reactions`. Source: Eqs. (39), (44), (46), (47), with the dimensions of the last as `normal_load` has them.

        >>> robot = ls.robots.build("five_bar")
        >>> forces = ls.constraint_forces(robot, position=[0.05, 0.0, -0.6])
        >>> forces.normal.shape  # (limb, joint)
        (2, 3)
    """
    motion, environment = long_form(motion, environment, short, TIMELESS)
    parameters = complete(LOADS["reaction"], arms or {}, owner="arms of constraint_forces")
    wrenches, status = joint_reactions(robot, motion, forces, environment)
    parts = np.full((4, *wrenches.shape[:-1]), np.nan)
    for limb, joint, kind, axis in _axes(robot, motion.moving):
        wrench = wrenches[..., limb, joint, :]
        (turned, bending), (pushed, radial) = (_apart(axis, each) for each in (wrench[..., :3], wrench[..., 3:]))
        along = pushed if JOINT_KINDS[kind].turns else turned
        normal = normal_load(kind, bending, radial, along, parameters)
        for part, value in zip(parts, (bending, radial, along, normal), strict=True):
            part[..., limb, joint] = value
    return ConstraintForces(parts[0], parts[1], parts[2], parts[3], status)


def _apart(axis: np.ndarray, vector: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the magnitudes of a vector (*batch, 3) along an axis and across it. Eqs. (38), (43), (45)."""
    along = (axis * vector).sum(axis=-1, keepdims=True)
    return np.abs(along[..., 0]), np.linalg.norm(vector - along * axis, axis=-1)


def _axes(robot: Robot, moving: Moving) -> Iterator[tuple[int, int, str, np.ndarray]]:
    """Yield limb, number, kind and axis (*batch, 3) in the world of every joint with one variable."""
    motion, mechanism = body_motion(robot, **moving), robot.mechanism
    for k, instance in enumerate(mechanism.instances):
        limb, bodies = mechanism.limbs[instance.limb], motion.limbs[k]
        for i, link in enumerate(limb.links):
            yield k, i, link.kind, bodies[i].turned(link.axis)
        for i, cut in enumerate(limb.cuts, start=len(limb.links)):
            if limb.one_variable[i]:
                (freedom,) = cut.joint_kind.freedoms
                x, y, z = np.asarray(cut.frame_a.rotation, dtype=float)[:, freedom.axis]
                base = np.asarray(instance.base.rotation, dtype=float) @ (x, y, z)
                yield k, i, cut.kind, base if cut.a == BASE else bodies[cut.a].turned((x, y, z))
