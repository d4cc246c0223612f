"""The program of the actuators of a robot family: friction, series and metrics for one friction set."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from robots.friction_groups import MOTOR, FrictionGroup, JointPlace, places
from robots.limits import Capacity
from robots.model import Family
from robots.status import Status
from tasks.friction import joints as joint_friction
from tasks.kernels.program import Program, trace
from tasks.mathematics.algebra import where
from tasks.mechanics.structure import structure_of, symbolic
from tasks.metrics.actuators import ALL_METRICS, ALL_SERIES, OF_LIMITS, OF_MOTORS, OUTCOME, UNKNOWN, Array, Sample
from tasks.programs import coupled_friction
from tasks.programs.assembly import COUNTS, even_weights


@functools.cache
def actuation_program(
    family: Family, groups: tuple[FrictionGroup, ...], series: tuple[str, ...], metrics: tuple[str, ...]
) -> Program:
    """Series and metrics of all actuators for one friction set; with passive friction, those of joints too.

    For reactions there are also the series `net_force`, that of actuators less their own friction, and `rubbing_k`, the
    friction in passive joints of limb k. `unsettled` is 1 where the friction has not settled; OUTCOME says so as well.

    Case input `friction`, the parameters of all groups, `parameters` of the robot for what needs motors, `capacity`
    (3 actuator) for what needs limits; sample inputs `force`, `velocity` (actuator), `status` (1), `weight` (1), and
    what `coupled_friction.inputs` lists.
    """
    kinds, made, actuators = joint_kinds(family), structure_of(family), len(family.reference.actuators)
    electric = any(name in OF_MOTORS for name in (*series, *metrics))
    limited = any(name in OF_LIMITS for name in metrics)

    def one_sample(
        friction: Array, force: Array, velocity: Array, status: Array, weight: Array, **given: Array
    ) -> dict[str, Any]:
        rubbing = joint_friction.of_groups(groups, kinds, friction)
        solved = coupled_friction.solve(family, groups, rubbing, force, velocity, given)
        bad = where(status[0] > 0.5, np.nan, 0.0) + where(solved.unsettled > 0.5, np.nan, 0.0)
        told = where(status[0] > 0.5, status[0], solved.unsettled * float(Status.FRICTION_NOT_CONVERGED))
        motors = symbolic(made, given["parameters"]).motors if electric else [UNKNOWN] * actuators
        numbers = np.reshape(given["capacity"], (actuators, 3)) if limited else np.full((actuators, 3), np.inf)
        capacities = [Capacity(*row) for row in numbers]
        samples = [
            Sample(u + bad, v + bad, (u + bad) * (v + bad), weight[0], u - free + bad, motor, capacity)
            for u, v, free, motor, capacity in zip(solved.forces, velocity, force, motors, capacities, strict=True)
        ]
        available: dict[str, Any] = {
            "joint_friction": [tau + bad for tau in solved.friction],
            "net_force": list(solved.net),
            "unsettled": [solved.unsettled],
            OUTCOME: [told],
            "failed_samples": [where(told > 0.5, 1.0, 0.0)],
            "worst_status": [told],
            "friction_residual": [solved.residual + where(status[0] > 0.5, np.nan, 0.0)],
            "unsettled_samples": [where(status[0] > 0.5, 0.0, solved.unsettled)],
        }
        available |= {f"rubbing_{k}": list(tau) for k, tau in enumerate(solved.rubbing)}
        available |= {name: [ALL_SERIES[name](s) for s in samples] for name in series if name in ALL_SERIES}
        available |= {name: ALL_METRICS[name].rows(samples) for name in metrics if name in ALL_METRICS}
        return {name: available[name] for name in (*series, *metrics)}

    beside = coupled_friction.inputs(family, groups)
    sample = {"force": (actuators,), "velocity": (actuators,), "status": (1,), "weight": (1,), **beside}
    case = {"friction": (sum(len(group.parameters) for group in groups),)}
    case |= {name: value.shape[1:] for name, value in even_weights(family).items() if beside}
    case |= {"parameters": (len(family.parameters),)} if electric else {}
    case |= {"capacity": (3 * actuators,)} if limited else {}
    reduced = {"friction_residual": "max", "unsettled_samples": "sum", **COUNTS}
    reductions = {name: ALL_METRICS[name].reduction if name in ALL_METRICS else reduced[name] for name in metrics}
    name = "-".join(f"{group.law}.{group.load}" for group in groups) or "none"
    return trace(f"{family.name}.actuation.{name}", one_sample, case=case, sample=sample, reductions=reductions)


@functools.cache
def joint_kinds(family: Family) -> Mapping[JointPlace, str]:
    """Whether each joint with one variable turns or slides."""
    mechanism = family.reference
    result: dict[JointPlace, str] = {}
    for place, simple in places(mechanism).values():
        limb = mechanism.limbs[mechanism.instances[place.limb].limb]
        if place.joint == MOTOR:
            result[place] = mechanism.actuator_kinds[place.actuator]
        elif simple:
            result[place] = (*(link.kind for link in limb.links), *(cut.kind for cut in limb.cuts))[place.joint]
    return result
