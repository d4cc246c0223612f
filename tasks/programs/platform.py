"""The program of the moving platform."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from robots.model import Family
from robots.types import TWIST
from tasks.kernels.program import Program, trace
from tasks.mechanics import equations, platform
from tasks.mechanics.platform import held_directions
from tasks.mechanics.structure import GRAVITY, field_inputs, structure_of, symbolic
from tasks.programs.limb import FIRST, Array


@functools.cache
def platform_program(family: Family, held: bool = False, moving_base: bool = False, mass: bool = False) -> Program:
    """The `wrench` that the platform's own motion takes along its free twists.

    On request along those `held`, and the platform's share of the `mass` matrix.
    """
    made = structure_of(family)

    def one_sample(parameters: Array, gravity: Array, motion: Array) -> dict[str, Any]:
        body = symbolic(made, parameters).platform
        pose, moving = platform.unpack(motion, body)
        wrench = platform.wrench(body, pose, moving, gravity)
        result = {"wrench": [wrench[TWIST.index(name)] for name in body.mobility]}
        if held:
            result["held"] = [wrench[TWIST.index(name)] for name in held_directions(body.mobility)]
        if mass:
            result["mass"] = equations.platform_share(body, pose, moving, np.zeros(3)).mass
        return result

    sizes = {"parameters": (len(family.parameters),), "gravity": (GRAVITY,)}
    case, sample = field_inputs(sizes, {"motion": (made.motion_size,)}, moving_base)
    return trace(f"{family.name}.platform", one_sample, case=case, sample=sample, first=FIRST[:1])
