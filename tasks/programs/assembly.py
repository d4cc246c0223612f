"""The program that puts limbs and platform together: forces without friction, pose metrics, status."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from robots.model import Family
from tasks.kernels.expression import CONSTANT
from tasks.kernels.program import Program, trace
from tasks.mathematics.algebra import where
from tasks.mechanics import assembly
from tasks.mechanics import reactions as reactions
from tasks.mechanics.structure import structure_of
from tasks.metrics import poses
from tasks.metrics.margins import MARGINS, LimbLimits, least
from tasks.metrics.poses import POSE_METRICS
from tasks.programs.limb import Array, limb_program

COUNTS = {"failed_samples": "sum", "worst_status": "max"}
"""What is told of the samples of a case, and how it is reduced."""

CASE_METRICS = (*COUNTS, *(name for name, metric in POSE_METRICS.items() if not metric.mass))

MASS_METRICS = tuple(name for name, metric in POSE_METRICS.items() if metric.mass)
"""Metrics of a case that do not depend on friction; those of mass need shares of the mass matrix."""


@functools.cache
def assembly_program(family: Family, metrics: tuple[str, ...] = (), limits: tuple[LimbLimits, ...] = ()) -> Program:
    """Actuator `force` without friction, actuator `velocity` and `status` from the results of limbs and platform.

    Sample inputs: `motion`, `platform_wrench` (not of a chain), and for limb k of the robot `wrench_k`, `jacobian_k`
    and `status_k`. `metrics` adds any of CASE_METRICS and MASS_METRICS, reduced over the samples of a
    case but not finished. For the latter there are also sample inputs `mass_k` and `platform_mass`. With `limits` of
    each limb there are those of their `margins`; a sample beyond a range of positions has the status JOINT_LIMIT.
    Case input, of a robot with more actuators than freedoms alone: `weights` (actuator,), see `even_weights`.
    """
    made = structure_of(family)
    count, free = len(made.mechanism.instances), made.freedoms
    case = {name: value.shape[1:] for name, value in even_weights(family).items()}
    driven = [len(made.mechanism.limbs[each.limb].actuators) for each in made.mechanism.instances]
    massive, known = poses.needs_mass(metrics), _constant_jacobian(family)
    limited = {name: [k for k, each in enumerate(limits) if name in each.margins] for name in MARGINS}
    compared = poses.needs_reference(metrics)

    def one_sample(
        motion: Array, platform_wrench: Array = 0.0, platform_mass: Array = 0.0, weights: Array = None, **shares: Array
    ) -> dict[str, Any]:
        jacobian = known if known is not None else np.vstack([shares[f"jacobian_{k}"] for k in range(count)])
        wrench = platform_wrench + sum(shares[f"wrench_{k}"] for k in range(count))
        forces = assembly.actuator_forces(jacobian, wrench, weights)
        velocity = jacobian @ made.speed(motion)
        status = assembly.combined_status([shares[f"status_{k}"][0] for k in range(count)], jacobian, forces)
        margins = {name: least([shares[f"{name}_{k}"][0] for k in limited[name]]) for name in limited if limited[name]}
        status, solved = assembly.limited_status(status, margins.get("margin")), status
        mass = sum((shares[f"mass_{k}"] for k in range(count)), start=platform_mass) if massive else np.eye(free)
        posture = poses.posture(made.mechanism, jacobian, mass, status, solved=solved, **margins)
        if compared:
            posture = posture.beside(np.vstack([shares[f"home_jacobian_{k}"] for k in range(count)]))
        available: dict[str, Any] = {"failed_samples": [where(posture.failed, 1.0, 0.0)], "worst_status": [status]}
        available |= {name: [POSE_METRICS[name].of(posture)] for name in metrics if name in POSE_METRICS}
        chosen = {name: available[name] for name in metrics}
        return {"force": forces, "velocity": velocity, "status": [status], **chosen}

    sample: dict[str, tuple[int, ...]] = {"motion": (made.motion_size,)}
    sample |= {} if made.mechanism.is_chain else {"platform_wrench": (free,)}
    sample |= {"platform_mass": (free, free)} if massive and not made.mechanism.is_chain else {}
    for k in range(count):
        sample |= {f"wrench_{k}": (free,), f"jacobian_{k}": (driven[k], free), f"status_{k}": (1,)}
        sample |= {f"mass_{k}": (free, free)} if massive else {}
        sample |= {f"home_jacobian_{k}": (driven[k], free)} if compared else {}
        sample |= {f"{name}_{k}": (1,) for name in MARGINS if k in limited[name]}
    chosen = {name: COUNTS[name] if name in COUNTS else POSE_METRICS[name].reduction for name in metrics}
    return trace(
        f"{family.name}.assembly",
        one_sample,
        case=case,
        sample=sample,
        reductions=chosen,
        first=("force", "velocity", "status"),
    )


def _constant_jacobian(family: Family) -> Array | None:
    """J_IK (actuator, freedom) of a tree whose joints are its actuators: a constant, and nothing is left to invert."""
    if not family.reference.is_chain:
        return None
    program = limb_program(family, 0)
    shape, places = program.outputs["jacobian"]
    entries = [program.nodes[place] for place in places]
    return np.reshape([each.data for each in entries], shape) if all(e.op == CONSTANT for e in entries) else None


def even_weights(family: Family) -> dict[str, np.ndarray]:
    """The case input `weights` (1, actuator) of an assembly whose actuators count alike; none without a choice."""
    made = structure_of(family)
    count = len(made.mechanism.actuators)
    return {"weights": np.ones((1, count))} if count > made.freedoms else {}
