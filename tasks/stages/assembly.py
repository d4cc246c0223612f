"""The program that puts limbs and platform together: forces without friction, pose metrics, status.

The program of the actuators of a robot family: friction, series and metrics for one friction set.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from robots.friction.groups import FrictionGroup
from robots.limits import EVEN_SHARING, LEAST_MAXIMUM, MOTOR, Capacity, JointPlace, SharingForm, places
from robots.model import Family
from robots.quantities import any_needs, reduction
from robots.status import Status
from robots.types import ROTATION, TWIST
from tasks.features.clearance import least_gap
from tasks.features.compliance import PlatformStiffness
from tasks.features.friction import joints as joint_friction
from tasks.kernels.expression import ABSENT, CONSTANT, ZERO, Array, Mask, Numbers, Scalar
from tasks.kernels.keys import Indexed, Key, Shape, indexed
from tasks.kernels.program import Program, require_shapes, trace
from tasks.mathematics.algebra import array, where
from tasks.mechanics import assembly, limb
from tasks.mechanics.recursion import held_directions
from tasks.mechanics.structure import Structure, mounted_limb, structure_of, symbolic
from tasks.stages import coupled_friction, criteria, terms
from tasks.stages.criteria import NO_CRITERIA, RobotCriteria
from tasks.stages.limb import LimbRequest, limb_program
from tasks.stages.metrics import poses
from tasks.stages.metrics.actuators import METRICS, SERIES, UNKNOWN, Sample
from tasks.stages.metrics.margins import MARGINS, NOTHING, LimbLimits, least
from tasks.stages.platform import platform_shapes
from tasks.stages.reactions import carried

VELOCITY = "actuator_velocity"
"""The series that is always there, because actuation needs it."""


def assembly_shapes(structure: Structure, series: tuple[str, ...] = ()) -> dict[str, Shape]:
    """Names and shapes of the outputs of `assembly_program` but for metrics."""
    actuators = len(structure.mechanism.actuators)
    shapes: dict[str, Shape] = {"force": (actuators,), VELOCITY: (actuators,), "status": (1,)}
    return shapes | {name: (math.prod(poses.series_shape(structure.mechanism, name)),) for name in series}


@functools.cache
def assembly_program(
    family: Family,
    metrics: tuple[str, ...] = (),
    limits: tuple[LimbLimits, ...] = (),
    series: tuple[str, ...] = (),
    design: RobotCriteria = NO_CRITERIA,
    sharing: SharingForm = EVEN_SHARING.form,
    at_states: bool = False,
) -> Program:
    """Actuator `force` without friction, VELOCITY and `status` from the results of limbs and platform.

    Sample inputs: `motion`, `platform_wrench` (not of a chain), and of each limb of the robot its `wrench`, `jacobian`
    and `status`, see `limb_program`. `series` and `metrics` add any of `tasks.stages.metrics.poses`, metrics reduced
    over the samples of a case but not finished; some need `terms` of limbs and platform, or the `home_jacobian` of the
    limbs. With `limits` of each limb there are those of their `margins`; a sample beyond a range of positions has the
    status JOINT_LIMIT. Case inputs: of a robot with a platform, or with coordinates of one, the `parameters` and the
    `mount` of each limb, from which J_IK of the reference pose follows; of one with more actuators than freedoms alone
    `weights` (actuator,), see `even_weights`, and with a `sharing` that says so `preload` (actuator,), see
    `robots.limits.ActuatorSharing`, which are sample inputs where actuators are off for a time; for criteria of design
    `test_load` or `capsules`, see `tasks.stages.criteria`. With fewer actuators than freedoms, a motion that none of
    their forces makes has the status PLATFORM_SINGULAR; `at_states`, where a motion does not decide forces, it has not,
    and a limit is no status.
    """
    structure = structure_of(family)
    shapes = assembly_shapes(structure, series)
    limbs = range(len(structure.mechanism.instances))
    known = _constant_jacobian(family)
    wanted = terms.balanced(structure.mechanism, (*series, *metrics), at_states=at_states)
    compared = any_needs((*series, *metrics), "reference jacobian")
    constrained = any_needs((*series, *metrics), "constraints")
    # rows of limbs that drop none do not say what these hold
    unknown = structure.held > 0 and any(limb_.every_row for limb_ in structure.mechanism.limbs)
    holding = list(carried(family)) if constrained and not unknown else []
    asked = [
        LimbRequest(
            terms=wanted,
            limits=limits[k] if limits else NOTHING,
            reference=compared,
            constraints=constrained,
            criteria=design.of_limb(k),
        )
        for k in limbs
    ]

    def one_sample(
        motion: Array,
        *,
        parameters: Array = ABSENT,
        mount: Mapping[int, Array] = MappingProxyType({}),
        wrench: Mapping[int, Array],
        jacobian: Mapping[int, Array],
        status: Mapping[int, Array],
        platform_wrench: Array = ZERO,
        weights: Array | None = None,
        preload: Array = ABSENT,
        home_jacobian: Mapping[int, Array] | None = None,
        constraint_rows: Mapping[int, Array] | None = None,
        home_constraint_rows: Mapping[int, Array] | None = None,
        test_load: Array = ABSENT,
        capsules: Array = ABSENT,
        ends: Mapping[int, Array] = MappingProxyType({}),
        **others: Mapping[int, Array],
    ) -> dict[str, Any]:
        rows = known if known is not None else np.vstack([jacobian[k] for k in limbs])
        taken = platform_wrench + sum(wrench[k] for k in limbs)
        acting = rows
        if weights is None or not (sharing.preload or sharing.rule == LEAST_MAXIMUM):
            forces = assembly.actuator_forces(rows, taken, weights)
        elif sharing.rule == LEAST_MAXIMUM:
            forces = assembly.least_maximum_forces(rows, taken, weights, switched=sharing.switched)
        else:
            forces = assembly.preloaded_forces(rows, taken, weights, preload)
        if weights is not None and sharing.switched:
            acting = assembly.acting_rows(rows, weights)
        speed = structure.speed(motion)
        velocity = rows @ speed
        home = home_rows(structure, parameters, mount) if mount else None
        held: Scalar = np.nan if unknown else 1.0
        loose: Mask = False
        if constraint_rows and home_constraint_rows and holding:
            now, first = (
                array(np.vstack([x[k] for k in limbs])[:, holding]) for x in (constraint_rows, home_constraint_rows)
            )
            names = held_directions(structure.mechanism.platform.mobility)
            turning = [names[k] in ROTATION for k in holding]
            holds = assembly.Reference(first, turning)
            held, loose = assembly.regularity(now, holds), assembly.constraints_lost(now, holds)
        solved = assembly.combined_status([status[k][0] for k in limbs], acting, forces, home, loose)
        if structure.mechanism.underactuated and not at_states:
            mass = terms.summed(("mass",), others)["mass"]
            inertial = abs(array(mass)) @ abs(array(structure.acceleration(motion)))
            none = assembly.unbalanced(rows, taken, forces, inertial)
            solved = where(solved > 0.5, solved, where(none, float(Status.PLATFORM_SINGULAR), float(Status.OK)))
        shares = {name: [share[0] for share in others[name].values()] for name in MARGINS if name in others}
        least_margins = {name: least(values) for name, values in shares.items()}
        outcome = solved if at_states else assembly.limited_status(solved, least_margins.get("margin"))
        regular = 1.0 if home is None else assembly.regularity(rows, home)
        least_margins |= {"solved": solved, "regularity": regular, "constraint_regularity": held}
        equation = poses.Equation(rows, speed, terms.summed(wanted, others))
        posture = poses.posture(structure.mechanism, equation, outcome, velocity, **least_margins)
        if home_jacobian:
            posture = posture.beside(np.vstack([home_jacobian[k] for k in limbs]))
        if design.elastic:
            along = criteria.directions(family, design.spatial)
            stiffness = sum(others["stiffness"][k] for k in limbs)
            mobility = structure.mechanism.platform.mobility
            elastic = PlatformStiffness(array(stiffness), along, mobility, equation.mass, test_load)
            if design.inexact:
                spread, growth = (sum(others[name][k] for k in limbs) for name in ("spread", "growth"))
                elastic = replace(elastic, spread=array(spread), growth=array(growth))
            if design.loose:
                elastic = replace(elastic, loose=list(criteria.balls(design, others["play"])))
            posture = replace(posture, elastic=elastic)
        if design.apart:
            pose = criteria.platform_pose(structure, parameters, motion)
            pairs = criteria.compared(family, design, ends, capsules, pose)
            posture = replace(posture, clearance=least_gap(list(pairs)))
        result: dict[str, Any] = {"force": forces, "status": [outcome]}
        result |= {name: np.ravel(poses.SERIES[name](posture)) for name in shapes if name not in result}
        return result | {name: [poses.METRICS[name].of(posture)] for name in metrics}

    sample: dict[Any, Shape] = {"motion": (structure.motion_size,)}
    case: dict[Any, Shape] = {}
    shared: dict[Any, Shape] = {name: value.shape[1:] for name, value in even_weights(family).items()}
    shared |= {"preload": shared["weights"]} if sharing.preload else {}
    (sample if sharing.switched else case).update(shared)
    if not structure.mechanism.is_chain:
        sample |= platform_shapes(structure, asked=wanted)
    if structure.compared:
        case |= {"parameters": (len(family.parameters),)}
        for k, instance in enumerate(structure.mechanism.instances):
            case |= indexed(k, {"mount": (len(structure.differing[instance.limb]),)})
    case |= {"test_load": (len(TWIST),)} if design.elastic else {}
    case |= {"capsules": (criteria.capsule_numbers(family, design),)} if design.apart else {}
    for k, instance in enumerate(structure.mechanism.instances):
        sample |= indexed(k, asked[k].shapes(structure, instance.limb))
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


def home_rows(structure: Structure, parameters: Array, mount: Mapping[int, Array]) -> assembly.Reference:
    """J_IK (actuator, freedom) at the reference pose, from the inputs of the kernels of the limbs; once for a case."""
    still, rows = np.zeros(structure.motion_size), []
    for k, instance in enumerate(structure.mechanism.instances):
        mounted, home, *_ = mounted_limb(structure, instance.limb, parameters, mount[k], still)
        rows += limb.home_jacobian(mounted, home)
    return assembly.Reference(array(rows), structure.turning)


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
            "dissipated_energy": [sum(s.weight * (s.friction * s.velocity) for s in samples)],
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
