"""Mount frames of all limbs as functions of the parameters of a robot, as a stage that can be differentiated."""

from __future__ import annotations

import functools

from robots.formulas import value_of
from robots.loads.wrapped import moved_values
from robots.model import Family
from tasks.kernels.expression import Array, Numbers
from tasks.kernels.keys import Indexed, Key
from tasks.kernels.program import Program, trace
from tasks.mechanics.families import structure_of
from tasks.mechanics.structure import flat_mount, symbolic
from tasks.stages.stage import Stage

PARAMETERS = "parameters"


@functools.cache
def mount_program(family: Family) -> Program:
    """Return the `mount` inputs of all limbs of the robot, from sample input `parameters`."""
    structure = structure_of(family)

    def one_sample(parameters: Array) -> dict[Key, Numbers]:
        mounts: dict[Key, Numbers] = {}
        for k, instance in enumerate(symbolic(structure, parameters).instances):
            flat = flat_mount(instance)
            mounts[Indexed("mount", k)] = [flat[i] for i in structure.differing[instance.limb]]
        return mounts

    return trace(f"{family.name}.mounts", one_sample, case={}, sample={PARAMETERS: (len(family.parameters),)})


@functools.lru_cache(maxsize=64)
def formula_program(family: Family, rows: tuple[tuple[Key, tuple[float, ...]], ...]) -> Program:
    """Return case inputs whose numbers are formulas, by key, from sample input `parameters`."""

    def one_sample(parameters: Array) -> dict[Key, Numbers]:
        values = dict(zip((p.name for p in family.parameters), parameters, strict=True))
        moved = moved_values(family, values)
        return {key: [value_of(number, moved) for number in numbers] for key, numbers in rows}

    return trace(f"{family.name}.formulas", one_sample, case={}, sample={PARAMETERS: (len(family.parameters),)})


def mount_stage(family: Family) -> Stage:
    """Return the stage that gives the mount frames of all limbs where parameters differ from sample to sample."""
    return Stage("mounts", {}, functools.partial(mount_program, family), {})
