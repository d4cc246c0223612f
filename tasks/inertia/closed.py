"""Programs of the inertia matrix of a closed chain by the methods for trees: the whole, or one element alone.

M = F^T (M_tree + spin) F, with the inertia matrix of the spanning tree at the configuration that closes the loops, what
spins in drives, and F, the rates of the tree's joints over those of the independent ones. An element of M needs the
elements of M_tree alone whose joints move with both of its own.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping

import numpy as np

from robots.model import Family
from tasks.inertia import explicit
from tasks.inertia.methods import method_named
from tasks.inertia.placed import Placed
from tasks.kernels.program import Program, trace
from tasks.kernels.types import Array, Numbers, Scalar
from tasks.mathematics.algebra import array, is_zero
from tasks.mechanics import drives, limb
from tasks.mechanics.structure import limb_inputs, solved_limb, structure_of

Sample = Mapping[str, Numbers | Scalar]


@functools.cache
def closed_matrix_program(family: Family, method: str) -> Program:
    """The `inertia` matrix (freedom, freedom), drives included, by one of `methods.METHODS`, and the `status`.

    Inputs as those of `tasks.programs.limb.limb_program`. Raises ValueError for an unknown method.
    """
    compute, structure = method_named(method), structure_of(family)

    def one_sample(parameters: Array, mount: Array, motion: Array, gravity: Array) -> Sample:
        mounted, solved, _, _ = solved_limb(structure, 0, parameters, mount, motion)
        through = mounted.unit_rates(solved.tips)
        whole = compute(mounted.limb.links, solved.states)
        if mounted.limb.drives:
            whole = whole + drives.spin_inertia(mounted.limb, solved.states, limb.transmission(mounted, solved))
        return {"inertia": through.T @ array(whole) @ through, "status": [solved.status]}

    return _traced(family, f"inertia.{method}", one_sample)


@functools.cache
def closed_element_program(family: Family, row: int, column: int) -> Program:
    """One `element` () of the same by explicit elements of the tree, and the `status`.

    Raises ValueError for a place that is not in the matrix.
    """
    structure = structure_of(family)
    count = structure.freedoms
    if not (0 <= row < count and 0 <= column < count):
        raise ValueError(
            f"row, column: got ({row}, {column}) for {family.name}, whose inertia matrix has {count} rows; expected "
            f"indices from 0 to {count - 1}"
        )

    def one_sample(parameters: Array, mount: Array, motion: Array, gravity: Array) -> Sample:
        mounted, solved, _, _ = solved_limb(structure, 0, parameters, mount, motion)
        through, links = mounted.unit_rates(solved.tips), mounted.limb.links
        placed = Placed.of(links, solved.states)
        element: Scalar = 0.0
        spin = np.zeros((len(links), len(links)))
        if mounted.limb.drives:
            spin = drives.spin_inertia(mounted.limb, solved.states, limb.transmission(mounted, solved))
        for a, left in enumerate(through[:, row]):
            for b, right in enumerate(through[:, column]):
                if not (is_zero(left) or is_zero(right)):
                    inertia = explicit.element_of(placed, a, b) + spin[a, b]
                    element = element + (inertia + (links[a].armature if a == b else 0.0)) * (left * right)
        return {"element": element, "status": [solved.status]}

    return _traced(family, f"inertia.{row}.{column}", one_sample)


def _traced(family: Family, name: str, one_sample: Callable[..., Sample]) -> Program:
    structure = structure_of(family)
    sample = {"motion": (structure.motion_size,)}
    return trace(f"{family.name}.{name}", one_sample, case=limb_inputs(structure, 0), sample=sample)
