"""The program of the actuators of a robot family: friction, series and metrics for one friction set."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from robots.friction.groups import FrictionGroup
from robots.joint_places import MOTOR, JointPlace, places
from robots.limits import Capacity
from robots.model import Family
from robots.quantities import any_needs, reduction
from tasks.friction import joints as joint_friction
from tasks.kernels.keys import Indexed, Key
from tasks.kernels.program import Program, trace
from tasks.kernels.types import ABSENT, Array, Numbers
from tasks.mathematics.algebra import where
from tasks.mechanics.structure import structure_of, symbolic
from tasks.metrics.actuators import METRICS, SERIES, UNKNOWN, Sample
from tasks.programs import coupled_friction
from tasks.programs.assembly import even_weights

OUTCOME = "outcome"
"""The status of a sample for one friction set: an output beside the input `status`, which knows nothing of friction."""

PARTS = frozenset(("normal_load_part", "joint_friction_part"))
"""Series of what normal loads and friction of all joints are made of."""


@functools.cache
def actuation_program(
    family: Family,
    groups: tuple[FrictionGroup, ...],
    series: tuple[Key, ...],
    metrics: tuple[str, ...],
    switched: bool = False,
    given: bool = False,
) -> Program:
    """Series and metrics of all actuators for one friction set; with passive friction, those of joints too.

    For reactions there are also the series `net_force`, that of actuators less their own friction, and of each limb the
    `passive_friction`, that in its passive joints. OUTCOME says where friction has not settled.

    Case input `friction`, the parameters of all groups, `parameters` of the robot for what needs motors, `capacity`
    (3 actuator) and `motor_capacity` (3 actuator) for what needs limits; sample inputs `force`, `velocity` (actuator),
    `status` (1), `weight` (1), and what `coupled_friction.inputs` lists; and where friction of passive joints is shared
    by more actuators than freedoms `weights`, a case input, or where actuators are off for a time (`switched`) a sample
    input. With `given`, `force` is that of the actuators, friction included, and friction of all joints is the sample
    input `history`, see `coupled_friction.given_solution`.
    """
    kinds, structure, actuators = joint_kinds(family), structure_of(family), len(family.reference.actuators)
    wanted = (*series, *metrics)
    electric, limited = any_needs(wanted, "motors"), any_needs(wanted, "actuator limits")
    supplied = any_needs(wanted, "supply") or any_needs(wanted, "rated currents")

    def one_sample(
        friction: Array,
        force: Array,
        velocity: Array,
        status: Array,
        weight: Array,
        parameters: Array = ABSENT,
        capacity: Array = ABSENT,
        motor_capacity: Array = ABSENT,
        **shares: Any,
    ) -> dict[Any, Numbers]:
        joints = joint_friction.of_groups(groups, kinds, friction)
        apart = not PARTS.isdisjoint(series)
        solve = coupled_friction.given_solution if given else coupled_friction.solve
        solution = solve(family, groups, joints, force, velocity, shares, apart)
        bad = where(status[0] > 0.5, np.nan, 0.0) + where(solution.unsettled > 0.5, np.nan, 0.0)
        outcome = where(status[0] > 0.5, status[0], solution.unsettled * solution.status)
        motors = symbolic(structure, parameters).motors if electric else [UNKNOWN] * actuators
        numbers = np.reshape(capacity, (actuators, 3)) if limited else np.full((actuators, 3), np.inf)
        supply = np.reshape(motor_capacity, (actuators, 3)) if supplied else np.full((actuators, 3), np.inf)
        capacities = [Capacity(*row, *fed) for row, fed in zip(numbers, supply, strict=True)]
        samples = [
            Sample(u + bad, v + bad, (u + bad) * (v + bad), weight[0], u - free + bad, motor, capacity)
            for u, v, free, motor, capacity in zip(
                solution.forces, velocity, solution.free, motors, capacities, strict=True
            )
        ]
        available: dict[Any, Numbers] = {
            "joint_friction": [tau + bad for tau in solution.friction],
            "net_force": list(solution.net),
            OUTCOME: [outcome],
            "failed_samples": [where(outcome > 0.5, 1.0, 0.0)],
            "worst_status": [outcome],
            "friction_residual": [solution.residual + where(status[0] > 0.5, np.nan, 0.0)],
            "unsettled_samples": [where(status[0] > 0.5, 0.0, solution.unsettled)],
        }
        if apart:
            available["normal_load_part"] = [x + bad for load in solution.load_parts for x in load]
            available["joint_friction_part"] = [x + bad for friction in solution.friction_parts for x in friction]
        available |= {Indexed("passive_friction", k): list(tau) for k, tau in enumerate(solution.passive)}
        available |= {name: [SERIES[name](s) for s in samples] for name in SERIES if name in series}
        available |= {name: METRICS[name].rows(samples) for name in metrics if name in METRICS}
        return {key: available[key] for key in (*series, *metrics)}

    shares = coupled_friction.inputs(family, groups, given=given)
    sample = {"force": (actuators,), "velocity": (actuators,), "status": (1,), "weight": (1,), **shares}
    case = {"friction": (sum(len(group.parameters) for group in groups),)}
    (sample if switched else case).update(
        {name: value.shape[1:] for name, value in even_weights(family).items() if shares}
    )
    case |= {"parameters": (len(family.parameters),)} if electric else {}
    case |= {"capacity": (3 * actuators,)} if limited else {}
    case |= {"motor_capacity": (3 * actuators,)} if supplied else {}
    name = "-".join(f"{group.law}.{group.load}" for group in groups) or "none"
    return trace(
        f"{family.name}.actuation.{name}",
        one_sample,
        case=case,
        sample=sample,
        reductions={metric: reduction(metric) for metric in metrics},
    )


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
