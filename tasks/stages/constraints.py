"""Constraint singularities of a robot: what its limbs hold the platform by, here and at the reference pose."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from robots.model import Family
from robots.types import ROTATION
from tasks.kernels.expression import Array, Mask, Scalar
from tasks.kernels.keys import Shape, indexed
from tasks.kernels.program import Program, trace
from tasks.mathematics.algebra import array, where
from tasks.mechanics import assembly, limb
from tasks.mechanics.kinematics import mount_pose
from tasks.mechanics.recursion import held_directions
from tasks.mechanics.structure import Structure, structure_of, symbolic
from tasks.stages.reactions import carried


def limb_rows(
    structure: Structure, mounted: limb.Mounted, solved: limb.Solved, parameters: Array
) -> dict[str, Array | list[Any]]:
    """`constraint_rows` (row, held direction) of a limb, and `home_constraint_rows`; see `limb.constraint_rows`.

    Nothing where no limb of the robot may lose its hold on the platform.
    """
    if not structure.may_lose_constraints:
        return {}
    home, none = mount_pose(symbolic(structure, parameters).platform.home), np.zeros((0, structure.held))
    return {
        "constraint_rows": limb.constraint_rows(mounted, solved.tips) or none,
        "home_constraint_rows": limb.home_constraint_rows(mounted, home) or none,
    }


def hold(family: Family, rows: Mapping[int, Array], home: Mapping[int, Array]) -> tuple[Scalar, Mask]:
    """Regularity of what limbs hold the platform by, and whether they have lost it; rows of each limb by number.

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
