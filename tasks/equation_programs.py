"""Programs of the equations of motion of a robot family: the share of each limb and of the platform, and what is made of them.

Inputs are named as in `tasks.programs`.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from robots.model import Family
from tasks import equations, platform
from tasks.algebra import array
from tasks.assembly import singularity
from tasks.equations import Share
from tasks.kernels.program import Program, trace
from tasks.programs import GRAVITY, Structure, limb_inputs, solved_limb, structure, symbolic

Array = Any
SHARES = ("mass", "coriolis", "gravity_force", "jacobian", "jacobian_rate")


def _named(share: Share) -> dict[str, Array]:
    return dict(zip(SHARES, (share.mass, share.coriolis, share.gravity, share.jacobian, share.jacobian_rate), strict=True))


@functools.cache
def limb_share_program(family: Family, limb_index: int) -> Program:
    """A limb's share of the equations of motion, and its `status`; see `equations.Share`."""
    made = structure(family)

    def one_sample(parameters: Array, mount: Array, gravity: Array, motion: Array) -> dict[str, Any]:
        mounted, solved, pose, moving = solved_limb(made, limb_index, parameters, mount, motion)
        share = equations.limb_share(mounted, solved, moving, pose, array(gravity))
        return _named(share) | {"status": [solved.status]}

    name = f"{family.name}.{made.mechanism.limbs[limb_index].name}.equations"
    return trace(name, one_sample, case=limb_inputs(made, limb_index), sample={"motion": (made.motion_size,)})


@functools.cache
def platform_share_program(family: Family) -> Program:
    """The platform's share of the equations of motion."""
    made = structure(family)

    def one_sample(parameters: Array, gravity: Array, motion: Array) -> dict[str, Any]:
        body = symbolic(made, parameters).platform
        return _named(equations.platform_share(body, *platform.unpack(motion, body), array(gravity)))

    case = {"parameters": (len(family.parameters),), "gravity": (GRAVITY,)}
    return trace(f"{family.name}.platform.equations", one_sample, case=case, sample={"motion": (made.motion_size,)})


def share_shapes(made: Structure, limb_index: int | None) -> dict[str, tuple[int, ...]]:
    """Shapes of a limb's share, or of the platform's."""
    free = made.freedoms
    driven = 0 if limb_index is None else len(made.mechanism.limbs[limb_index].actuated)
    return dict(zip(SHARES, ((free, free), (free, free), (free,), (driven, free), (driven, free)), strict=True))


def _inputs(made: Structure) -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {"motion": (made.motion_size,)}
    limbs = [each.limb for each in made.mechanism.instances]
    for k, limb_index in enumerate([None, *limbs]):
        owner = "platform" if limb_index is None else str(k - 1)
        shapes |= {f"{name}_{owner}": shape for name, shape in share_shapes(made, limb_index).items()}
    return shapes


def _total(made: Structure, parts: dict[str, Array]) -> Share:
    owners = ["platform", *(str(k) for k in range(len(made.mechanism.instances)))]
    sums = [sum((array(parts[f"{name}_{owner}"]) for owner in owners), start=0.0) for name in SHARES[:3]]
    stacks = [array(np.vstack([parts[f"{name}_{owner}"] for owner in owners])) for name in SHARES[3:]]
    return Share(*sums, *stacks)  # type: ignore[arg-type]


@functools.cache
def acceleration_program(family: Family) -> Program:
    """`acceleration` of the platform's freedoms from actuator `force` and `load` along them; whether J_IK is `singular`."""
    made = structure(family)

    def one_sample(motion: Array, force: Array, load: Array, **parts: Array) -> dict[str, Any]:
        total = _total(made, parts)
        _, moving = platform.unpack(motion, made.mechanism.platform)
        speed = platform.free_twist(made.mechanism.platform, moving)
        return {"acceleration": equations.acceleration(total, speed, array(force), array(load))}

    sample = _inputs(made) | {"force": (len(made.mechanism.actuators),), "load": (made.freedoms,)}
    return trace(f"{family.name}.acceleration", one_sample, case={}, sample=sample)


@functools.cache
def total_program(family: Family) -> Program:
    """The summed task-space equations; with as many actuators as freedoms also the form in actuator coordinates.

    Outputs SHARES and, where it exists, `actuator_mass, actuator_coriolis, actuator_gravity, forward, forward_rate`; `singular`
    is 1 where J_IK has lost rank.
    """
    made = structure(family)

    def one_sample(motion: Array, **parts: Array) -> dict[str, Any]:
        total = _total(made, parts)
        result: dict[str, Any] = _named(total)
        result["singular"] = [equations.flag(singularity(total.jacobian))]
        if total.jacobian.shape[0] == total.jacobian.shape[1]:
            form = equations.actuator_form(total)
            result |= {
                "actuator_mass": form.mass,
                "actuator_coriolis": form.coriolis,
                "actuator_gravity": form.gravity,
                "forward": form.forward,
                "forward_rate": form.forward_rate,
            }
        return result

    return trace(f"{family.name}.equations", one_sample, case={}, sample=_inputs(made))
