"""Constraint singularities of a robot: constraints of its limbs on the platform, here and at the reference pose."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from robots.model import Family
from robots.types import ROTATION, TWIST
from tasks.kernels.expression import Array, Mask, Scalar
from tasks.kernels.keys import Shape, indexed
from tasks.kernels.program import Program, trace
from tasks.mathematics.algebra import array, where
from tasks.mechanics import assembly, limb_motion, platform_motion
from tasks.mechanics import reactions as reactions
from tasks.mechanics.kinematics import mount_pose
from tasks.mechanics.limb_motion import Mounted, Solved
from tasks.mechanics.platform_motion import held_directions
from tasks.mechanics.solving import solved_limb
from tasks.mechanics.structure import Structure, mount_values, structure_of, symbolic
from tasks.mechanics.topology import pivots

GENERIC = 3  # configurations at which ranks are found
_REACH = 0.05  # share of the robot's size by which the platform is moved to reach them


def limb_rows(
    structure: Structure, mounted: Mounted, solved: Solved, parameters: Array
) -> dict[str, Array | list[Any]]:
    """`constraint_rows` (row, held direction) of a limb, and `home_constraint_rows`; see `limb_motion.constraint_rows`.

    Nothing where no limb of the robot may lose its hold on the platform.
    """
    if not structure.may_lose_constraints:
        return {}
    home, none = mount_pose(symbolic(structure, parameters).platform.home), np.zeros((0, structure.held))
    return {
        "constraint_rows": limb_motion.constraint_rows(mounted, solved.tips) or none,
        "home_constraint_rows": limb_motion.home_constraint_rows(mounted, home) or none,
    }


def hold(family: Family, rows: Mapping[int, Array], home: Mapping[int, Array]) -> tuple[Scalar, Mask]:
    """Regularity of the constraints of limbs on the platform, and whether it is lost; rows of each limb by number.

    Directions that no limb holds, such as the turns of a point, do not count.
    """
    carrying = list(carried(family))
    if not carrying:
        return 1.0, False
    names = held_directions(family.reference.platform.mobility)
    now, first = (array(np.vstack([part[k] for k in sorted(part)])[:, carrying]) for part in (rows, home))
    reference = assembly.Reference(first, [names[k] in ROTATION for k in carrying])
    return assembly.regularity(now, reference), assembly.constraints_lost(now, reference)


@functools.cache
def hold_program(family: Family) -> Program:
    """`loose`, 1 where limbs do not hold the platform, from the `constraint_rows` of all of them."""
    structure = structure_of(family)

    def one_sample(
        constraint_rows: Mapping[int, Array], home_constraint_rows: Mapping[int, Array]
    ) -> dict[str, list[Scalar]]:
        return {"loose": [where(hold(family, constraint_rows, home_constraint_rows)[1], 1.0, 0.0)]}

    sample: dict[Any, Shape] = {}
    for k, instance in enumerate(structure.mechanism.instances):
        sample |= indexed(k, structure.constraint_shapes(instance.limb))
    return trace(f"{family.name}.hold", one_sample, case={}, sample=sample)


@functools.cache
def carried(family: Family) -> tuple[int, ...]:
    """Positions, among the held directions, of those along which limbs can hold the platform, by rank at its defaults.

    At poses near the reference pose, not there, which may be a constraint singularity.

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
    for _ in range(GENERIC):
        step = random.uniform(-_REACH, _REACH, 6) * free
        matrices.append(_held_rows(family, parameters, platform_motion.still(body, step[:3], step[3:] * size)))
    return pivots(matrices)


def _held_rows(family: Family, parameters: Array, motion: Array) -> np.ndarray:
    """Compute the wrenches of unit multipliers of all limbs along the held directions.

    The result (direction, multiplier) is in numbers.
    """
    made, blocks = structure_of(family), []
    mounts = mount_values(family, {p.name: value for p, value in zip(family.parameters, parameters, strict=True)})
    for each, mount in zip(made.mechanism.instances, mounts, strict=True):
        mounted, solved, _, _ = solved_limb(made, each.limb, parameters, mount[0], motion)
        statics = reactions.LimbStatics(mounted, solved)
        blocks += [statics.held(statics.multiplier(k)) for k in range(statics.redundant_count)]
    return np.stack(blocks, axis=1).astype(float) if blocks else np.zeros((made.held, 0))
