"""The program of the moving platform."""

from __future__ import annotations

import functools

from robots.model import Family
from robots.types import TWIST
from tasks.kernels.expression import ABSENT, Array, Numbers
from tasks.kernels.keys import Indexed, Key, Shapes
from tasks.kernels.program import Program, require_shapes, trace
from tasks.mechanics import recursion
from tasks.mechanics.recursion import held_directions
from tasks.mechanics.structure import GRAVITY, Structure, field_inputs, signal_inputs, structure_of, symbolic
from tasks.stages import terms


def platform_shapes(structure: Structure, held: bool = False, asked: tuple[str, ...] = ()) -> Shapes:
    """Names and shapes of the outputs of `platform_program`."""
    held_shape = {"held": (structure.held,)} if held else {}
    return {"platform_wrench": (structure.freedoms,), **held_shape, **terms.platform_shapes(structure, asked)}


@functools.cache
def platform_program(
    family: Family,
    held: bool = False,
    moving_base: bool = False,
    asked: tuple[str, ...] = (),
    loaded: bool = False,
) -> Program:
    """The `platform_wrench` that the platform's own motion takes along its free twists.

    On request along those `held`, and the terms of the equations of motion that are `asked`. If it is `loaded`, a
    sample input `load` (6), a wrench at its reference point in world axes, is taken from it.
    """
    made = structure_of(family)

    def one_sample(
        parameters: Array, gravity: Array, motion: Array, load: Array = ABSENT, signals: Array = ABSENT
    ) -> dict[Key, Numbers]:
        body = symbolic(made, parameters, signals).platform
        pose, moving = recursion.unpack(motion, body)
        own = recursion.platform_wrench(body, pose, moving, gravity)
        wrench = [x - y for x, y in zip(own, load, strict=True)] if loaded else own
        if body.forces:
            applied = recursion.applied_wrench(body, pose, moving)
            wrench = [x - y for x, y in zip(wrench, applied, strict=True)]
        result: dict[Key, Numbers] = {"platform_wrench": [wrench[TWIST.index(name)] for name in body.mobility]}
        if held:
            result["held"] = [wrench[TWIST.index(name)] for name in held_directions(body.mobility)]
        result |= terms.of_platform(body, pose, moving, gravity, asked)
        key = Indexed("load_force", terms.PLATFORM)
        if loaded and key in result:
            result[key] = [x + load[TWIST.index(name)] for x, name in zip(result[key], body.mobility, strict=True)]
        return result

    sizes = {"parameters": (len(family.parameters),), "gravity": (GRAVITY,)}
    samples = {"motion": (made.motion_size,)} | ({"load": (len(TWIST),)} if loaded else {}) | signal_inputs(family)
    case, sample = field_inputs(sizes, samples, moving_base)
    program = trace(f"{family.name}.platform", one_sample, case=case, sample=sample, first=("platform_wrench",))
    require_shapes(program, platform_shapes(made, held, asked))
    return program
