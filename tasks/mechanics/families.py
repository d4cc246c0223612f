"""Structure of a robot family, worked out once, and mounts of its limbs for many designs."""

from __future__ import annotations

import functools
from collections.abc import Mapping

import numpy as np

from robots.model import Family
from tasks.kernels.expression import Array, Graph
from tasks.mechanics.structure import Structure, flat_mount
from tasks.mechanics.topology import choose

PART = 1 << 12
"""Cases whose mechanisms are assembled at once."""


@functools.cache
def structure_of(family: Family) -> Structure:
    """Analyse a family at its default parameters. Raises tasks.mechanics.topology.TopologyError."""
    mechanism = family.reference
    indices = range(len(mechanism.limbs))
    choices = tuple(choose(mechanism, k) for k in indices)
    return Structure(family, mechanism, choices, tuple(_differing(family, k) for k in indices))


def _differing(family: Family, limb_index: int) -> tuple[int, ...]:
    graph = Graph()
    symbols = {p.name: graph.node("case", data=("parameters", i)) for i, p in enumerate(family.parameters)}
    mounts = [flat_mount(each) for each in family.assemble(symbols).instances if each.limb == limb_index]
    numbers = [[graph.lift(x).number for x in mount] for mount in mounts]
    return tuple(k for k in range(24) if len({row[k] for row in numbers}) > 1)


def mount_values(family: Family, values: Mapping[str, float | Array]) -> list[np.ndarray]:
    """Return the `mount` input of each instance for parameters of shape (cases,): arrays (cases, varying numbers).

    Cases are computed in parts, as a whole mechanism is assembled for each case, several times as large as its mounts.
    """
    cases = max((np.size(v) for v in values.values()), default=1)
    columns = {name: np.asarray(value, dtype=float) for name, value in values.items()}
    structure = structure_of(family)
    counts = [len(structure.differing[instance.limb]) for instance in structure.mechanism.instances]
    result = [np.empty((cases, count)) for count in counts]
    for start in range(0, cases, PART):
        part = slice(start, min(start + PART, cases))
        columns_of_part = {
            name: column[part] if np.size(column) == cases > 1 else column for name, column in columns.items()
        }
        for whole, rows in zip(result, _mounts(family, columns_of_part, part.stop - part.start), strict=True):
            whole[part] = rows
    return result


def _mounts(family: Family, values: Mapping[str, np.ndarray], cases: int) -> list[np.ndarray]:
    structure, result = structure_of(family), []
    mechanism = family.assemble(values)
    for instance in mechanism.instances:
        flat = flat_mount(instance)
        values_of_limb = [np.broadcast_to(flat[k], (cases,)) for k in structure.differing[instance.limb]]
        result.append(
            np.ascontiguousarray(np.stack(values_of_limb, axis=1)) if values_of_limb else np.zeros((cases, 0))
        )
    return result


def even_weights(family: Family) -> dict[str, np.ndarray]:
    """Return the input `weights` (1, actuator) of actuators that count alike; none of a robot without a choice."""
    structure = structure_of(family)
    return {"weights": np.ones((1, len(structure.mechanism.actuators)))} if structure.has_choice else {}
