"""The program of the moving platform."""

from __future__ import annotations

import functools

from robots.model import Family
from robots.types import TWIST
from tasks.kernels.expression import ABSENT, Array, Numbers
from tasks.kernels.keys import Key
from tasks.kernels.program import Program, require_shapes, trace
from tasks.mechanics import platform_motion, recursion
from tasks.mechanics.families import structure_of
from tasks.mechanics.platform_motion import held_directions
from tasks.mechanics.structure import GRAVITY, field_inputs, signal_inputs, symbolic
from tasks.stages import terms
from tasks.stages.parts import PlatformPart, PlatformSample, added, inputs_of


@functools.cache
def platform_program(
    family: Family,
    held: bool = False,
    moving_base: bool = False,
    term_names: tuple[str, ...] = (),
    parts: tuple[PlatformPart, ...] = (),
) -> Program:
    """Trace the `platform_wrench` of the platform's own motion along its free twists, less the loads on it.

    On request also along the twists `held`, and terms of the equations of motion. `parts` are features.
    """
    made = structure_of(family)

    def one_sample(**values: Array) -> dict[Key, Numbers]:
        gravity = values["gravity"]
        body = symbolic(made, values["parameters"], values.get("signals", ABSENT)).platform
        pose, moving = platform_motion.unpack(values["motion"], body)
        own_wrench = recursion.platform_wrench(body, pose, moving, gravity)
        moved = added(parts, PlatformSample(body, pose, moving, values, own_wrench))
        result: dict[Key, Numbers] = {"platform_wrench": [moved.wrench[TWIST.index(name)] for name in body.mobility]}
        if held:
            result["held"] = [moved.wrench[TWIST.index(name)] for name in held_directions(body.mobility)]
        return result | terms.of_platform(body, (pose, moving), gravity, moved.acting, term_names)

    per_case, per_sample = inputs_of(parts, made)
    sizes = {"parameters": (len(family.parameters),), "gravity": (GRAVITY,)} | per_case
    samples = {"motion": (made.motion_size,)} | per_sample | signal_inputs(family)
    case, sample = field_inputs(sizes, samples, moving_base)
    program = trace(f"{family.name}.platform", one_sample, case=case, sample=sample, first=("platform_wrench",))
    require_shapes(program, terms.platform_outputs(made, term_names, held))
    return program
