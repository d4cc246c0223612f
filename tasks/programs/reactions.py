"""Programs of the reactions of a robot family: what the platform's balance decides, then the wrenches of all joints.

Both follow the programs of `tasks.programs.limb`, with `statics`, and name their inputs as those do.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from robots.model import Family
from robots.types import TWIST
from tasks.kernels.program import Program, trace
from tasks.mathematics.algebra import array, sqrt, total
from tasks.mechanics import platform
from tasks.mechanics import reactions as reactions
from tasks.mechanics.structure import field_inputs, limb_inputs, mount_values, solved_limb, structure_of
from tasks.mechanics.topology import pivots

Array = Any

GENERIC = 3  # configurations at which ranks are found
_REACH = 0.05  # share of the robot's size by which the platform is moved to reach them


@functools.cache
def carried(family: Family) -> tuple[int, ...]:
    """Positions, among the held directions, of those along which limbs can hold the platform, by rank at its defaults.

    All of them but where a platform can turn on its joints and nobody cares, such as the point of a five-bar robot.
    """
    if structure_of(family).mechanism.is_chain:
        return ()
    values = {p.name: p.default for p in family.parameters}
    body, parameters = family.assemble(values).platform, array(list(values.values()))
    random = np.random.default_rng(20240701)
    size = max(float(np.linalg.norm(body.home.position)), 1e-3)
    free = [1.0 if name in body.mobility else 0.0 for name in TWIST]
    matrices = []
    for sample in range(GENERIC):
        step = random.uniform(-_REACH, _REACH, 6) * free * (1.0 if sample else 0.0)
        matrices.append(_held_rows(family, parameters, platform.still(body, step[:3], step[3:] * size)))
    return pivots(matrices)


def _held_rows(family: Family, parameters: Array, motion: Array) -> np.ndarray:
    """What unit multipliers of all limbs do along the held directions (direction, multiplier), in numbers."""
    made, blocks = structure_of(family), []
    mounts = mount_values(family, {p.name: value for p, value in zip(family.parameters, parameters, strict=True)})
    for each, mount in zip(made.mechanism.instances, mounts, strict=True):
        mounted, solved, _, _ = solved_limb(made, each.limb, parameters, mount[0], motion)
        statics = reactions.LimbStatics(mounted, solved)
        blocks += [statics.held(statics.multiplier(k)) for k in range(statics.redundant_count)]
    return np.stack(blocks, axis=1).astype(float) if blocks else np.zeros((made.held, 0))


@functools.cache
def balance_program(family: Family, passive: tuple[int, ...] = ()) -> Program:
    """Multipliers `redundant_k` of the rows that limb k's kinematics has dropped, which the platform's balance decides.

    `missing` is the size of what no limb can hold: of loads along directions in which parts of the robot are loose.
    Sample inputs: `force` (actuator), `held` (the platform's wrench along held directions), and the share of each limb;
    with friction in so many `passive` joints of each limb that friction too, `rubbing_k`.
    """
    made = structure_of(family)
    instances, counts = made.mechanism.instances, passive or (0,) * len(made.mechanism.instances)

    def one_sample(force: Array, held: Array, **parts: Array) -> dict[str, Any]:
        names = (*reactions.SHARES, *reactions.FRICTION_SHARES)
        shares = [
            {name: parts[f"{name}_{k}"] for name in names if f"{name}_{k}" in parts} for k in range(len(instances))
        ]
        forces = [array(force[driven]) for driven in made.driven]
        rubbing = [parts.get(f"rubbing_{k}", np.zeros(0)) for k in range(len(instances))]
        multipliers, missing = reactions.redundant_multipliers(shares, forces, array(held), carried(family), rubbing)
        return {f"redundant_{k}": value for k, value in enumerate(multipliers)} | {"missing": [total(missing)]}

    sample: dict[str, tuple[int, ...]] = {"force": (len(made.mechanism.actuators),), "held": (made.held,)}
    for k, (each, count) in enumerate(zip(instances, counts, strict=True)):
        redundant = made.redundant(each.limb)
        shapes = reactions.share_shapes(made.held, len(made.mechanism.limbs[each.limb].actuators), redundant)
        if count:
            shapes |= {"rubbing": (count,), "held_friction": (made.held, count), "wish_friction": (redundant, count)}
        sample |= {f"{name}_{k}": shape for name, shape in shapes.items()}
    return trace(f"{family.name}.balance", one_sample, case={}, sample=sample)


OUTPUTS = ("joint_reaction", "peak_reaction")


@functools.cache
def reaction_program(
    family: Family,
    limb_index: int,
    outputs: tuple[str, ...] = OUTPUTS[:1],
    passive: tuple[int, ...] = (),
    moving_base: bool = False,
) -> Program:
    """Wrenches `joint_reaction` (joint, 6) of all joints of a limb, and the `peak_reaction` (joint) force of a case.

    Sample inputs: `motion`, `force` (the limb's actuators, less their own friction), `redundant` (from
    `balance_program`); `rubbing`, friction in the `passive` joints of these numbers in `Limb.joints`; with
    `moving_base`, `gravity`.
    """
    made = structure_of(family)

    def one_sample(parameters: Array, mount: Array, gravity: Array, motion: Array, **loads: Array) -> dict[str, Any]:
        mounted, solved, _, _ = solved_limb(made, limb_index, parameters, mount, motion)
        force, redundant = array(loads["force"]), array(loads["redundant"])
        statics = reactions.LimbStatics(mounted, solved)
        rubbing = dict(zip(passive, loads.get("rubbing", ()), strict=True))
        wrenches = reactions.joint_reactions(statics, array(gravity), force, redundant, rubbing)
        available = {"joint_reaction": wrenches, "peak_reaction": [sqrt(array(w[3:]) @ array(w[3:])) for w in wrenches]}
        return {name: available[name] for name in outputs}

    limb_ = made.mechanism.limbs[limb_index]
    own: dict[str, tuple[int, ...]] = {"motion": (made.motion_size,), "force": (len(limb_.actuators),)}
    own |= {"redundant": (made.redundant(limb_index),)} | ({"rubbing": (len(passive),)} if passive else {})
    name = f"{family.name}.{limb_.name}.reactions"
    reduced = {"peak_reaction": "max"} if "peak_reaction" in outputs else {}
    case, sample = field_inputs(limb_inputs(made, limb_index), own, moving_base)
    return trace(name, one_sample, case=case, sample=sample, reductions=reduced)
