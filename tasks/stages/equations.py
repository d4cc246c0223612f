"""Programs of the equations of motion of a robot family: shares of limbs and platform, their sum, and a linearisation.

Inputs are named as in `tasks.stages.limb`. The linearisation gives the accelerations caused by forces along the
freedoms.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from robots.model import Family
from robots.types import TWIST
from tasks.kernels.expression import ZERO, Array, Scalar
from tasks.kernels.keys import Shape, indexed
from tasks.kernels.program import Program, trace
from tasks.mathematics.algebra import array, total, where
from tasks.mathematics.solvers import Factors
from tasks.mechanics import chain, elements, equations, limb, limb_motion, platform_motion, recursion
from tasks.mechanics.assembly import singularity
from tasks.mechanics.equations import EquationShare
from tasks.mechanics.families import structure_of
from tasks.mechanics.solving import carried, mounted_limb, solved_limb
from tasks.mechanics.structure import GRAVITY, Structure, field_inputs, limb_inputs, symbolic
from tasks.stages import constraints
from tasks.stages.terms import PLATFORM

SHARES = ("mass", "coriolis", "gravity_force", "jacobian", "jacobian_rate")
FIRST = (*SHARES, "status", "potential")
"""Outputs whose bits do not depend on others."""


def _named(share: EquationShare) -> dict[str, Array]:
    values = (share.mass, share.coriolis, share.gravity, share.jacobian, share.jacobian_rate)
    return dict(zip(SHARES, values, strict=True))


@functools.cache
def limb_share_program(family: Family, limb_index: int, moving_base: bool = False) -> Program:
    """Trace a limb's `EquationShare` (`tasks.mechanics.equations`), its `potential` energy and `status`.

    Where limbs may lose their hold on the platform also their `constraint_rows`, here and at the reference pose.

    With `moving_base`, `gravity` is a sample input, see `tasks.mechanics.recursion`. The share's gravity then includes
    all inertial forces of the moving base, for a `motion` without acceleration, and there is no potential.
    """
    structure = structure_of(family)
    holding = functools.partial(constraints.limb_rows, structure)

    def one_sample(parameters: Array, mount: Array, gravity: Array, motion: Array) -> dict[str, Any]:
        mounted, solved, pose, moving = solved_limb(structure, limb_index, parameters, mount, motion)
        speed = structure.speed(motion)
        if moving_base:
            share = equations.limb_share(mounted, solved, (pose, moving), speed, np.zeros(3))
            felt = limb_motion.wrench(mounted, solved, array(gravity), limb_motion.transmission(mounted, solved))
            share = replace(share, gravity=array(felt) - share.coriolis @ speed)
            return _named(share) | {"status": [solved.status]} | holding(mounted, solved, parameters)
        share = equations.limb_share(mounted, solved, (pose, moving), speed, array(gravity))
        share = equations.with_forces(share, mounted, solved)
        energy = equations.potential_energy(mounted, solved, array(gravity))
        outputs = {"status": [solved.status], "potential": [energy]}
        return _named(share) | outputs | holding(mounted, solved, parameters)

    name = f"{family.name}.{structure.mechanism.limbs[limb_index].name}.equations"
    inputs = limb_inputs(structure, limb_index)
    case, sample = field_inputs(inputs, {"motion": (structure.motion_size,)}, moving_base)
    first = FIRST[:-1] if moving_base else FIRST
    return trace(name, one_sample, case=case, sample=sample, first=first)


@functools.cache
def limb_state_program(family: Family, limb_index: int) -> Program:
    """Return the same as `limb_share_program` at given joint `angles` (joint of the tree), closed or not.

    Also `rates` of the joints (joint), `correction`, the Newton step that closes the limb, and its closure residual
    `open`.
    """
    structure = structure_of(family)

    def one_sample(parameters: Array, mount: Array, gravity: Array, motion: Array, angles: Array) -> dict[str, Any]:
        mounted, home, pose, moving = mounted_limb(structure, limb_index, parameters, mount, motion)
        solved = (
            chain.at_angles(mounted, angles, structure.speed(motion))
            if isinstance(mounted, chain.Chain)
            else limb.at_angles(mounted, angles, home, pose, moving)
        )
        share = equations.limb_share(mounted, solved, (pose, moving), structure.speed(motion), array(gravity))
        share = equations.with_forces(share, mounted, solved)
        energy = equations.potential_energy(mounted, solved, array(gravity))
        return _named(share) | {
            "status": [solved.status],
            "potential": [energy],
            "rates": solved.rates,
            "correction": solved.tips.newton_step(),
            "open": [total(solved.tips.residuals())],
            **constraints.limb_rows(structure, mounted, solved, parameters),
        }

    limb_ = structure.mechanism.limbs[limb_index]
    sample = {"motion": (structure.motion_size,), "angles": (len(limb_.links),)}
    return trace(
        f"{family.name}.{limb_.name}.states",
        one_sample,
        case=limb_inputs(structure, limb_index),
        sample=sample,
        first=(*FIRST, "rates", "correction", "open"),
    )


@functools.cache
def platform_share_program(family: Family, moving_base: bool = False) -> Program:
    """Return the platform's share of the motion equations and its `potential` energy; `moving_base` as for a limb."""
    structure = structure_of(family)

    def one_sample(parameters: Array, gravity: Array, motion: Array) -> dict[str, Any]:
        body = symbolic(structure, parameters).platform
        if structure.mechanism.is_chain:
            count = structure.freedoms
            none = EquationShare(
                np.zeros((count, count)), np.zeros((count, count)), np.zeros(count), *np.zeros((2, 0, count))
            )
            return _named(none) | ({} if moving_base else {"potential": [0.0]})
        pose, moving = platform_motion.unpack(motion, body)
        free = [TWIST.index(name) for name in body.mobility]
        share = equations.platform_share(body, pose, moving, np.zeros(3) if moving_base else array(gravity))
        if moving_base:
            felt = array(recursion.platform_wrench(body, pose, moving, array(gravity)))[free]
            share = replace(share, gravity=felt - share.coriolis @ structure.speed(motion))
        if body.forces:
            along = array(elements.applied_wrench(body, pose, moving))[free]
            share = replace(share, gravity=share.gravity - along)
        if moving_base:
            return _named(share)
        return _named(share) | {"potential": [equations.platform_energy(body, pose, array(gravity))]}

    case: dict[str, tuple[int, ...]] = {"parameters": (len(family.parameters),), "gravity": (GRAVITY,)}
    case, sample = field_inputs(case, {"motion": (structure.motion_size,)}, moving_base)
    return trace(f"{family.name}.platform.equations", one_sample, case=case, sample=sample)


def share_shapes(structure: Structure, limb_index: int | None) -> dict[str, Shape]:
    """Return the shapes of a limb's share, or of the platform's."""
    free = structure.freedoms
    driven = 0 if limb_index is None else len(structure.mechanism.limbs[limb_index].actuators)
    return dict(zip(SHARES, ((free, free), (free, free), (free,), (driven, free), (driven, free)), strict=True))


def _inputs(structure: Structure) -> dict[Any, Shape]:
    shapes: dict[Any, Shape] = {"motion": (structure.motion_size,)} | indexed(PLATFORM, share_shapes(structure, None))
    for k, instance in enumerate(structure.mechanism.instances):
        shapes |= indexed(k, share_shapes(structure, instance.limb))
    return shapes


def _total(shares: Mapping[str, Mapping[int, Array]]) -> EquationShare:
    """Return the sum of the shares of platform and limbs; rows of J_IK below each other."""
    sums = [sum((array(share) for share in shares[name].values()), start=ZERO) for name in SHARES[:3]]
    stacks = [array(np.vstack(list(shares[name].values()))) for name in SHARES[3:]]
    return EquationShare(*sums, *stacks)


@functools.cache
def acceleration_program(family: Family) -> Program:
    """Return `acceleration` of the freedoms from actuator `force` and `load` along them; `massless` if rank is lost."""
    structure = structure_of(family)

    def one_sample(motion: Array, force: Array, load: Array, **shares: Mapping[int, Array]) -> dict[str, Any]:
        summed = _total(shares)
        found = equations.acceleration(summed, structure.speed(motion), array(force), array(load))
        return {"acceleration": found, "massless": [_rank_lost(summed.mass)]}

    sample = _inputs(structure) | {"force": (len(structure.mechanism.actuators),), "load": (structure.freedoms,)}
    return trace(f"{family.name}.acceleration", one_sample, case={}, sample=sample)


def _rank_lost(mass: Array) -> Scalar:
    """Return 1 where a mass matrix has lost rank, else 0, also for a matrix that is not finite."""
    lost = Factors.of(mass).rank_lost(np.diagonal(mass))
    return where(total([x for row in mass for x in row]) <= sys.float_info.max, equations.flag(lost), 0.0)


@functools.cache
def total_program(family: Family) -> Program:
    """Return the summed task-space equations; with as many actuators as freedoms also the form in actuator coordinates.

    Outputs SHARES and, where it exists, `actuator_mass, actuator_coriolis, actuator_gravity, forward, forward_rate`;
    `singular` is 1 where J_IK has lost rank.
    """
    structure = structure_of(family)

    def one_sample(motion: Array, **shares: Mapping[int, Array]) -> dict[str, Any]:
        summed = _total(shares)
        result: dict[str, Any] = _named(summed)
        result["singular"] = [equations.flag(singularity(summed.jacobian))]
        if summed.jacobian.shape[0] == summed.jacobian.shape[1]:
            form = equations.actuator_form(summed)
            result |= {
                "actuator_mass": form.mass,
                "actuator_coriolis": form.coriolis,
                "actuator_gravity": form.gravity,
                "forward": form.forward,
                "forward_rate": form.forward_rate,
            }
        return result

    return trace(f"{family.name}.equations", one_sample, case={}, sample=_inputs(structure))


@functools.cache
def actuator_acceleration_program(family: Family) -> Program:
    """Return actuators' `acceleration`, Eq. (135), from the outputs of `total_program`, `rate`, `force` and `load`."""
    structure = structure_of(family)
    free, driven = structure.freedoms, len(structure.mechanism.actuators)

    def one_sample(
        mass: Array, coriolis: Array, gravity: Array, forward: Array, rate: Array, force: Array, load: Array
    ) -> dict[str, Any]:
        effective_force = force + forward.T @ load - coriolis @ rate - gravity
        return {"acceleration": Factors.of(mass).solve(effective_force)}

    square, row = (driven, driven), (driven,)
    sample = {"mass": square, "coriolis": square, "gravity": row, "forward": (free, driven), "rate": row}
    sample |= {"force": row, "load": (free,)}
    return trace(f"{family.name}.actuator_acceleration", one_sample, case={}, sample=sample)


@functools.cache
def answer_program(freedoms: int) -> Program:
    """Return `answer` (freedom,): accelerations for `forces` (freedom,) along the freedoms, from the `mass` matrix.

    Not finite where the mass matrix has lost rank.
    """

    def one_sample(mass: Array, forces: Array) -> dict[str, Array]:
        return {"answer": Factors.of(mass).solve(forces)}

    return trace(
        f"answer.{freedoms}", one_sample, case={}, sample={"mass": (freedoms, freedoms), "forces": (freedoms,)}
    )


@functools.cache
def hold_program(family: Family) -> Program:
    """Return `loose`, 1 where limbs do not hold the platform, from the `constraint_rows` of all limbs."""
    structure, carrying = structure_of(family), carried(family)

    def one_sample(
        constraint_rows: Mapping[int, Array], home_constraint_rows: Mapping[int, Array]
    ) -> dict[str, list[Scalar]]:
        return {
            "loose": [where(constraints.hold(structure, carrying, constraint_rows, home_constraint_rows)[1], 1.0, 0.0)]
        }

    sample: dict[Any, Shape] = {}
    for k, instance in enumerate(structure.mechanism.instances):
        sample |= indexed(k, structure.constraint_shapes(instance.limb))
    return trace(f"{family.name}.hold", one_sample, case={}, sample=sample)
