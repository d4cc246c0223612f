"""The programs of a robot family: one per representative limb, one for the platform, one for the assembly.

Inputs have the same names everywhere: `parameters` in the order of the family, `mount` (what differs between the
instances of a limb), `gravity` (3,) per case; `motion` (see `tasks.mechanics.platform`) per sample. A family is traced
once; its geometry is an input.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from robots.model import Family
from tasks.friction import joints as joint_friction
from tasks.friction.joints import NO_FRICTION, LimbFriction
from tasks.kernels.program import Program, trace
from tasks.mathematics.algebra import array
from tasks.mechanics import equations, limb
from tasks.mechanics import reactions as reactions
from tasks.mechanics.frames import mount_pose
from tasks.mechanics.structure import field_inputs, limb_inputs, solved_limb, structure_of, symbolic
from tasks.metrics.margins import NOTHING, LimbLimits

Array = Any


FIRST = ("wrench", "jacobian", "status")
"""Outputs whose bits do not depend on what else is asked for."""

LIMB_SERIES = ("joint_position", "joint_velocity", "joint_acceleration")
OWN_SERIES = ("actuator_position",)
"""Series of the limb's own actuators."""


@functools.cache
def limb_program(
    family: Family,
    limb_index: int,
    series: tuple[str, ...] = (),
    statics: bool = False,
    friction: LimbFriction = NO_FRICTION,
    moving_base: bool = False,
    mass: bool = False,
    limits: LimbLimits = NOTHING,
    reference: bool = False,
) -> Program:
    """Inverse kinematics and dynamics of a limb: its `wrench`, its rows `jacobian` of J_IK, its `status`.

    `series` adds any of LIMB_SERIES for all joints in the order of `Limb.joints`, or of OWN_SERIES; `statics` adds
    `reactions.SHARES`, `friction` what `joint_friction.share` gives, `mass` the limb's share of the mass matrix
    (freedom, freedom), `limits` its margins to them, from a case input of that name, `reference` the `home_jacobian`,
    its rows of J_IK at the reference pose; with `moving_base`, `gravity` is a sample input. Raises ValueError for
    statics or friction of a limb with `every_row`, as reactions rest on a choice of rows.
    """
    made = structure_of(family)
    statics = statics or friction.statics
    case, sample = field_inputs(limb_inputs(made, limb_index), {"motion": (made.motion_size,)}, moving_base)
    case |= {"limits": limits.shape} if limits != NOTHING else {}
    if (statics or friction != NO_FRICTION) and made.mechanism.limbs[limb_index].every_row:
        raise ValueError(
            f"every_row: reactions of {family.name} got limb {made.mechanism.limbs[limb_index].name} with every row of "
            "its tips; expected limbs with a choice of rows; leave every_row out, or call tasks.newton_euler.system"
        )

    def one_sample(parameters: Array, mount: Array, gravity: Array, motion: Array, **given: Array) -> dict[str, Any]:
        mounted, solved, pose, moving = solved_limb(made, limb_index, parameters, mount, motion)
        wrench, jacobian = limb.dynamics(mounted, solved, array(gravity))
        result: dict[str, Any] = {"wrench": wrench, "jacobian": jacobian, "status": [solved.status]}
        rates, accelerations = limb.joint_rates(mounted, solved, moving)
        available = {"joint_velocity": rates, "joint_acceleration": accelerations}
        if "joint_position" in series or limits.positions:
            available["joint_position"] = limb.joint_positions(mounted, solved, motion)
        if "actuator_position" in series:
            available["actuator_position"] = limb.actuator_positions(mounted, solved)
        if statics:
            result |= reactions.share(reactions.LimbStatics(mounted, solved), array(gravity))
        if friction != NO_FRICTION:
            result |= joint_friction.share(reactions.LimbStatics(mounted, solved), moving, array(gravity), friction)
        if mass:
            share = equations.limb_share(mounted, solved, (pose, moving), made.speed(motion), np.zeros(3))
            result["mass"] = share.mass
        if limits != NOTHING:
            result |= limits.shares(given["limits"], available.get("joint_position", ()), rates)
        if reference:
            result["home_jacobian"] = limb.home_jacobian(mounted, mount_pose(symbolic(made, parameters).platform.home))
        return result | {name: available[name] for name in series}

    name = f"{family.name}.{made.mechanism.limbs[limb_index].name}"
    return trace(name, one_sample, case=case, sample=sample, first=FIRST)
