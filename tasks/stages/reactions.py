"""Programs of the reactions of a robot family: multipliers from the platform's balance, then wrenches of all joints.

Both follow the programs of `tasks.stages.limb`, with `statics`, and name their inputs as those do.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from robots.dims import SPACE
from robots.model import Family
from robots.quantities import QUANTITIES, reduction
from tasks.kernels.expression import ABSENT, Array, Numbers, Scalar
from tasks.kernels.keys import Indexed, Shape, indexed
from tasks.kernels.program import Program, require_shapes, trace
from tasks.mathematics.algebra import array, sqrt, total
from tasks.mechanics import reactions as reactions
from tasks.mechanics.families import structure_of
from tasks.mechanics.solving import carried, solved_limb
from tasks.mechanics.structure import Structure, field_inputs, limb_inputs, signal_inputs


@functools.cache
def balance_program(family: Family, passive: tuple[int, ...] = ()) -> Program:
    """Return the program of `redundant` multipliers of each limb's dropped rows, by the balance of the platform.

    `missing` is the size of loads that no limb can hold, along directions in which parts of the robot are loose. Sample
    inputs: `force` (actuator), `held` (the platform's wrench along held directions), and the share of each limb. With
    friction in passive joints, their number in each limb is `passive`, and their friction the input `passive_friction`.
    """
    structure = structure_of(family)
    instances = structure.mechanism.instances

    def one_sample(force: Array, held: Array, **limbs: Mapping[int, Array]) -> dict[Any, Numbers]:
        names = (*reactions.SHARES, *reactions.FRICTION_SHARES)
        shares = [{name: limbs[name][k] for name in names if k in limbs.get(name, ())} for k in range(len(instances))]
        forces = [array(force[driven]) for driven in structure.driven]
        friction = limbs.get("passive_friction", {})
        multipliers, missing = reactions.redundant_multipliers(
            shares, forces, array(held), carried(family), [friction.get(k, np.zeros(0)) for k in range(len(instances))]
        )
        result: dict[Any, Numbers] = {Indexed("redundant", k): values for k, values in enumerate(multipliers)}
        return result | {"missing": [total(missing)]}

    sample: dict[Any, Shape] = {"force": (len(structure.mechanism.actuators),), "held": (structure.held,)}
    for k, (instance, count) in enumerate(zip(instances, passive or (0,) * len(instances), strict=True)):
        redundant = structure.redundant(instance.limb)
        driven = len(structure.mechanism.limbs[instance.limb].actuators)
        shapes = reactions.share_shapes(structure.held, driven, redundant)
        if count:
            shapes |= {"passive_friction": (count,)}
            shapes |= {"held_friction": (structure.held, count), "wish_friction": (redundant, count)}
        sample |= indexed(k, shapes)
    program = trace(f"{family.name}.balance", one_sample, case={}, sample=sample)
    require_shapes(program, balance_shapes(structure))
    return program


def balance_shapes(structure: Structure) -> dict[Any, Shape]:
    """Return the keys and shapes of the outputs of `balance_program`."""
    instances = enumerate(structure.mechanism.instances)
    return {Indexed("redundant", k): (structure.redundant(each.limb),) for k, each in instances} | {"missing": (1,)}


@functools.cache
def reaction_program(
    family: Family,
    limb_index: int,
    outputs: tuple[str, ...] = ("joint_reaction",),
    passive: tuple[int, ...] = (),
    moving_base: bool = False,
) -> Program:
    """Return the wrenches `joint_reaction` (joint, 6) of a limb, and the `peak_reaction` (joint) force of a case.

    Also `bearing_load` (joint, 3), NaN for joints of several variables.

    Sample inputs: `motion`, and `joint_state` from the program of the limb where that has closed loops, `force` (the
    limb's actuators, less their own friction), `redundant` (from `balance_program`); `passive_friction` in the
    `passive` joints of these numbers in `Limb.joints`; with `moving_base`, `gravity`.
    """
    made = structure_of(family)

    def one_sample(**inputs: Array) -> dict[str, Any]:
        names = ("parameters", "mount", "motion", "signals", "joint_state")
        mounted, solved, _, _ = solved_limb(made, limb_index, *(inputs.get(name, ABSENT) for name in names))
        gravity, force, redundant = (array(inputs[name]) for name in ("gravity", "force", "redundant"))
        statics = reactions.LimbStatics(mounted, solved)
        friction = dict(zip(passive, inputs.get("passive_friction", ABSENT), strict=True))
        wrenches = reactions.joint_reactions(statics, gravity, force, redundant, friction)
        available: dict[str, Any] = {
            "joint_reaction": wrenches,
            "peak_reaction": [sqrt(array(w[3:]) @ array(w[3:])) for w in wrenches],
        }
        if "bearing_load" in outputs:
            available["bearing_load"] = [_bearing(statics, joint, wrench) for joint, wrench in enumerate(wrenches)]
        return {name: available[name] for name in outputs}

    limb_ = made.mechanism.limbs[limb_index]
    input_shapes: dict[str, tuple[int, ...]] = {"motion": (made.motion_size,), "force": (len(limb_.actuators),)}
    input_shapes |= {"redundant": (made.redundant(limb_index),)} | (
        {"passive_friction": (len(passive),)} if passive else {}
    )
    size = made.joint_state_size(limb_index)
    input_shapes |= signal_inputs(family) | ({"joint_state": (size,)} if size else {})
    name = f"{family.name}.{limb_.name}.reactions"
    reduced = {name: reduction(name) for name in outputs if QUANTITIES[name].kind == "metric"}
    case, sample = field_inputs(limb_inputs(made, limb_index), input_shapes, moving_base)
    return trace(name, one_sample, case=case, sample=sample, reductions=reduced)


def _bearing(statics: reactions.LimbStatics, joint: int, wrench: Sequence[Scalar]) -> list[Scalar]:
    """Return the magnitudes of moment and force across a joint's axis, and of its load along it, from its reaction."""
    if not statics.mounted.limb.one_variable[joint]:
        return [np.nan] * SPACE["bearing"]
    inward = statics.mounted.base.rotation.T
    parts = reactions.bearing_components(statics, joint, (inward @ array(wrench[:3]), inward @ array(wrench[3:])))
    return [
        sqrt(parts[0] * parts[0] + parts[1] * parts[1]),
        sqrt(parts[2] * parts[2] + parts[3] * parts[3]),
        abs(parts[4]),
    ]
