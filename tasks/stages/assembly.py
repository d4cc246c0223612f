"""Programs of a robot family after its limbs: the assembly of limbs and platform, and the actuators.

The assembly gives forces without friction, pose metrics and status; the actuators series and metrics for one friction
set.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from robots.model import Family
from robots.quantities import reduction
from tasks.kernels.expression import ABSENT, ZERO, Array, Numbers, Scalar
from tasks.kernels.keys import Key, Shape, indexed
from tasks.kernels.program import Program, require_shapes, trace
from tasks.mathematics.algebra import array, where
from tasks.mechanics import assembly, limb_motion
from tasks.mechanics.families import structure_of
from tasks.mechanics.solving import mounted_limb
from tasks.mechanics.structure import Structure
from tasks.stages import terms
from tasks.stages.metrics import poses
from tasks.stages.metrics.actuators import METRICS, ROBOT_METRICS, SERIES, UNKNOWN, UNLIMITED, Sample
from tasks.stages.parts import (
    OUTCOME,
    VELOCITY,
    ActuatorPart,
    ActuatorSample,
    Place,
    RobotPart,
    RobotSample,
    added,
    inputs_of,
)

Rows = tuple[tuple[float, ...], ...]
"""Numbers of a matrix, row by row."""


def assembly_shapes(structure: Structure, series: tuple[str, ...] = ()) -> dict[str, Shape]:
    """Return the names and shapes of the outputs of `assembly_program` but for metrics."""
    actuators = len(structure.mechanism.actuators)
    shapes: dict[str, Shape] = {"force": (actuators,), VELOCITY: (actuators,), "status": (1,)}
    return shapes | {name: (math.prod(poses.series_shape(structure.mechanism, name)),) for name in series}


@functools.cache
def assembly_program(
    family: Family,
    metrics: tuple[str, ...] = (),
    series: tuple[str, ...] = (),
    parts: tuple[RobotPart, ...] = (),
    jacobian: Rows | None = None,
) -> Program:
    """Trace actuator `force` without friction, VELOCITY and `status` from the results of limbs and platform.

    Sample inputs: `motion`, `platform_wrench` (not of a chain), and of each limb of the robot its `wrench`, `jacobian`
    and `status`, see `limb_program`. `series` and `metrics` add any of `tasks.stages.metrics.poses`, metrics reduced
    over the samples of a case but not finished; some need `terms` of limbs and platform. Case inputs: of a robot with a
    platform, or with coordinates of one, the `parameters` and the `mount` of each limb, from which J_IK of the
    reference pose follows. `parts` of features add to all of these. `jacobian`: J_IK (actuator, freedom) where it
    is constant, see `tasks.stages.limb.constant_jacobian`.
    """
    structure, constant = structure_of(family), _rows(family, jacobian)
    shapes = assembly_shapes(structure, series)
    terms_of_parts = terms.needed((*series, *metrics), parts)

    def one_sample(**inputs: Any) -> dict[str, Any]:
        sample = added(_at("force", parts), _stacked(structure, inputs, constant))
        forces = sample.forces or assembly.actuator_forces(sample.jacobian, sample.wrench)
        sample = added(_at("status", parts), _with_status(replace(sample, forces=forces)))
        sample = added(_at("posture", parts), sample)
        equation = poses.Equation(sample.jacobian, sample.speed, sample.terms(terms_of_parts))
        posture = poses.posture(structure.mechanism, equation, sample.status, sample.solved, sample.found)
        result: dict[str, Any] = {"force": sample.forces, "status": [sample.status]}
        result |= {name: np.ravel(poses.SERIES[name](posture)) for name in shapes if name not in result}
        return result | {name: [poses.METRICS[name].of(posture)] for name in metrics}

    case, sample = _inputs(structure, parts, terms_of_parts)
    program = trace(
        f"{family.name}.assembly",
        one_sample,
        case=case,
        sample=sample,
        reductions={name: reduction(name) for name in metrics},
        first=("force", VELOCITY, "status"),
    )
    require_shapes(program, shapes | dict.fromkeys(metrics, (1,)))
    return program


def _rows(family: Family, jacobian: Rows | None) -> Array | None:
    """Return a matrix (actuator, freedom) of numbers as an array."""
    mechanism = family.reference
    return None if jacobian is None else np.reshape(jacobian, (len(mechanism.actuators), len(mechanism.freedoms)))


def _at(place: Place, parts: Sequence[RobotPart]) -> list[RobotPart]:
    return [part for part in parts if part.place == place]


def _stacked(structure: Structure, inputs: Mapping[str, Any], constant: Array | None) -> RobotSample:
    """Stack the rows of the limbs, and add up the wrenches of limbs and platform."""
    limbs, motion = range(len(structure.mechanism.instances)), inputs["motion"]
    rows = constant if constant is not None else np.vstack([inputs["jacobian"][k] for k in limbs])
    wrench = inputs.get("platform_wrench", ZERO) + sum(inputs["wrench"][k] for k in limbs)
    mount = inputs.get("mount")
    home = home_rows(structure, inputs.get("parameters", ABSENT), mount) if mount else None
    return RobotSample(structure, inputs, motion, structure.speed(motion), rows, home, wrench, acting=rows)


def _with_status(sample: RobotSample) -> RobotSample:
    """Return a sample with the status that follows from limbs, J_IK and forces."""
    statuses: list[Scalar] = [status[0] for status in sample.of_limbs("status")]
    status = assembly.combined_status(statuses, sample.acting, sample.forces, sample.home, sample.loose)
    regularity = 1.0 if sample.home is None else assembly.regularity(sample.jacobian, sample.home)
    return replace(sample, solved=status, status=status, found={**sample.found, "regularity": regularity})


def _inputs(
    structure: Structure, parts: Sequence[RobotPart], term_names: tuple[str, ...]
) -> tuple[dict[Any, Shape], dict[Any, Shape]]:
    """Return case and sample inputs of an assembly."""
    family, instances = structure.family, structure.mechanism.instances
    per_case, per_sample = inputs_of(parts, structure)
    sample: dict[Any, Shape] = {"motion": (structure.motion_size,)} | per_sample
    case: dict[Any, Shape] = {}
    if not structure.mechanism.is_chain:
        sample |= terms.platform_outputs(structure, term_names)
    if structure.compared:
        case |= {"parameters": (len(family.parameters),)}
    for k, instance in enumerate(instances):
        case |= indexed(k, {"mount": (len(structure.differing[instance.limb]),)}) if structure.compared else {}
        read = (part.of_limbs[k] for part in parts if part.of_limbs)
        shapes = terms.limb_outputs(structure, instance.limb) | terms.limb_shapes(structure, instance.limb, term_names)
        for part in read:
            shapes |= {} if part is None else part.shapes(structure, instance.limb)
        sample |= indexed(k, shapes)
    return case | per_case, sample


def home_rows(structure: Structure, parameters: Array, mount: Mapping[int, Array]) -> assembly.Reference:
    """Compute J_IK (actuator, freedom) at the reference pose, from inputs of the limbs' kernels; once per case."""
    still, rows = np.zeros(structure.motion_size), []
    for k, instance in enumerate(structure.mechanism.instances):
        mounted, home, *_ = mounted_limb(structure, instance.limb, parameters, mount[k], still)
        rows += limb_motion.home_jacobian(mounted, home)
    return assembly.Reference(array(rows), structure.turning)


@functools.cache
def actuation_program(
    family: Family,
    parts: tuple[ActuatorPart, ...],
    series: tuple[Key, ...],
    metrics: tuple[str, ...] = (),
) -> Program:
    """Trace series and metrics of all actuators for one friction set, and the outputs of `parts` of features.

    For reactions there is also the series `net_force`, the actuator forces less their own friction. OUTCOME is the
    status, including the statuses of features. Sample inputs are `force`, `velocity` (actuator), `status` (1), `weight`
    (1), and the inputs of the parts.
    """
    structure, actuators = structure_of(family), len(family.reference.actuators)

    def one_sample(**inputs: Any) -> dict[Any, Numbers]:
        sample = added(parts, _without_features(structure, inputs))
        bad, outcome = sample.bad, sample.outcome
        available: dict[Any, Numbers] = {
            "net_force": list(sample.net),
            OUTCOME: [outcome],
            "failed_samples": [where(outcome > 0.5, 1.0, 0.0)],
            "worst_status": [outcome],
            **sample.outputs,
        }
        changes = [0.0] * actuators if sample.current_rates is None else sample.current_rates
        columns = (sample.force, sample.velocity, sample.free, sample.motors, sample.capacities, changes)
        weight = inputs["weight"][0]
        samples = [
            Sample(u + bad, v + bad, (u + bad) * (v + bad), weight, u - free + bad, motor, capacity, change)
            for u, v, free, motor, capacity, change in zip(*columns, strict=True)
        ]
        available |= {name: [of(samples)] for name, of in ROBOT_METRICS.items() if name in metrics}
        available |= {name: [SERIES[name](s) for s in samples] for name in SERIES if name in series}
        available |= {name: METRICS[name].rows(samples) for name in metrics if name in METRICS}
        return {key: available[key] for key in (*series, *metrics)}

    case, of_parts = inputs_of(parts, structure)
    sample = {"force": (actuators,), "velocity": (actuators,), "status": (1,), "weight": (1,), **of_parts}
    labels = "-".join(part.label for part in parts if part.label) or "none"
    reduced = {metric: reduction(metric) for metric in metrics}
    return trace(f"{family.name}.actuation.{labels}", one_sample, case=case, sample=sample, reductions=reduced)


def _without_features(structure: Structure, inputs: dict[str, Array]) -> ActuatorSample:
    """Return the actuators as the assembly gives them: the forces that the motion takes, without motors and limits."""
    force, velocity, count = inputs["force"], inputs["velocity"], len(inputs["force"])
    motors, capacities = [UNKNOWN] * count, [UNLIMITED] * count
    return ActuatorSample(
        structure, inputs, force, velocity, inputs["status"][0], list(force), force, motors, capacities
    )
