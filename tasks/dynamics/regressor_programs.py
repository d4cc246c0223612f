"""Programs of the regressor: columns of a limb, of a platform, of friction, and the map from freedoms to actuators.

The wrench that a body's motion takes is linear in its ten parameters, and constraint embedding is linear in wrenches,
for trees, closed chains and parallel robots alike; so the columns are limb dynamics with unit parameters in place of
the body's own. Inputs of programs are named as in `tasks.stages.limb`. Sources: Atkeson, An and Hollerbach 1986, for
the linear form; hybrid-limb paper, Eqs. (97), (140).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from robots.friction.groups import FrictionGroup
from robots.model import Family, Limb
from robots.types import TWIST
from tasks.dynamics.inertial_parameters import limb_columns, unit_massings
from tasks.features.friction import feature, requests
from tasks.features.friction import joints as joint_friction
from tasks.features.friction.laws import columns as law_columns
from tasks.features.friction.requests import wanted
from tasks.kernels.expression import ABSENT, Array
from tasks.kernels.keys import Shape, indexed
from tasks.kernels.program import Program, trace
from tasks.mathematics.algebra import array
from tasks.mechanics import assembly, limb_motion, platform_motion, recursion
from tasks.mechanics.families import even_weights, structure_of
from tasks.mechanics.kinematics import along
from tasks.mechanics.limb_motion import Mounted, Solved
from tasks.mechanics.recursion import Field
from tasks.mechanics.solving import solved_limb
from tasks.mechanics.structure import GRAVITY as GRAVITY_INPUT
from tasks.mechanics.structure import field_inputs, limb_inputs, symbolic
from tasks.stages.assembly import home_rows
from tasks.stages.parts import VELOCITY


def unit_wrenches(spin: Array, acceleration: Array) -> np.ndarray:
    """Return (moment, force) at a body's origin for one unit of each of its parameters: (6, 10), in its axes."""
    return array(np.stack([np.concatenate(each.wrench(spin, acceleration)) for each in unit_massings()], axis=1))


def on_freedoms(mounted: Mounted, solved: Solved) -> np.ndarray:
    """Return the map of forces of the tree joints to the robot's freedoms: (freedom, joint). Eqs. (97), (77)."""
    tips = solved.tips
    back = tips.inverse.T @ tips.embedding.matrix.T
    return array(np.stack([array(mounted.outward(tips.covector(column))) for column in back.T], axis=1))


def on_joints(mounted: Mounted, solved: Solved, body: int) -> np.ndarray:
    """Return the map of a wrench at the origin of a body, in its axes, to the tree joints: (joint, 6)."""
    links, nothing = mounted.limb.links, (np.zeros(3), np.zeros(3))
    columns = []
    for unit in np.eye(6):
        own = [(unit[:3], unit[3:]) if k == body else nothing for k in range(len(links))]
        carried = recursion.joint_wrenches(links, solved.states, own)
        columns.append([along(x, state, *w) for x, state, w in zip(links, solved.states, carried, strict=True)])
    return array(np.array(columns, dtype=object).T)


def with_unit_spin(of: Limb, drive: int, spin: int) -> Limb:
    """Return a limb with a single spinning body, of inertia one."""
    spinning = replace(of.drives[drive].spins[spin], inertia=1.0)
    kept = tuple(replace(each, spins=(spinning,) if k == drive else ()) for k, each in enumerate(of.drives))
    return replace(of, drives=kept)


@functools.cache
def limb_program(family: Family, limb_index: int, moving_base: bool = False) -> Program:
    """Return a limb's `columns` (freedom, its parameters), its rows `jacobian` of J_IK, its `status`.

    With `moving_base`, `gravity` is a sample input.
    """
    structure, chosen = structure_of(family), limb_columns(family, limb_index)

    def one_sample(parameters: Array, mount: Array, gravity: Array, motion: Array) -> dict[str, Any]:
        mounted, solved, _, _ = solved_limb(structure, limb_index, parameters, mount, motion)
        acting = Field.of(gravity).seen_from(mounted.base)
        motion_of = (mounted.limb.links, solved.states, solved.rates, solved.accelerations)
        moving, geared = recursion.body_motions(*motion_of, acting), limb_motion.transmission(mounted, solved)
        through = on_freedoms(mounted, solved)
        parts = [
            (through @ on_joints(mounted, solved, k)) @ unit_wrenches(moving[k].spin, moving[k].acceleration)
            for k in chosen.bodies
        ]
        parts += [through[:, k : k + 1] * solved.accelerations[k] for k in chosen.armatures]
        for place in chosen.spins:
            bare = with_unit_spin(mounted.limb, *place)
            motion_now = (solved.states, solved.rates, solved.accelerations)
            forces = recursion.spin_forces(bare, *motion_now, geared, acting if moving_base else None)
            parts.append((through @ forces)[:, None])
        rows = geared.rows(solved.tips.embedding.matrix) @ solved.tips.inverse
        jacobian = [mounted.outward(solved.tips.covector(row)) for row in rows]
        columns = np.concatenate(parts, axis=1) if parts else np.zeros((structure.freedoms, 0))
        return {"columns": columns, "jacobian": jacobian, "status": [solved.status]}

    name = f"{family.name}.{structure.mechanism.limbs[limb_index].name}.regressor"
    inputs = limb_inputs(structure, limb_index), {"motion": (structure.motion_size,)}
    case, sample = field_inputs(*inputs, moving_base)
    return trace(name, one_sample, case=case, sample=sample)


@functools.cache
def platform_program(family: Family, moving_base: bool = False) -> Program:
    """Return the platform's `columns` (freedom, 10). With `moving_base`, `gravity` is a sample input."""
    structure = structure_of(family)

    def one_sample(parameters: Array, gravity: Array, motion: Array) -> dict[str, Any]:
        body = symbolic(structure, parameters).platform
        pose, moving = platform_motion.unpack(motion, body)
        felt = moving.a - array(gravity) if not moving_base else ABSENT
        if moving_base:
            moving = Field.of(gravity).at(pose.position, moving)
            felt = moving.a
        inward = pose.rotation.T
        spin = recursion.spin_matrix(inward @ moving.omega, inward @ moving.alpha)
        units = unit_wrenches(spin, inward @ felt)
        world = np.concatenate([pose.rotation @ units[:3], pose.rotation @ units[3:]])
        return {"columns": [world[TWIST.index(name)] for name in body.mobility]}

    sizes = {"parameters": (len(family.parameters),), "gravity": (GRAVITY_INPUT,)}
    case, sample = field_inputs(sizes, {"motion": (structure.motion_size,)}, moving_base)
    return trace(f"{family.name}.platform.regressor", one_sample, case=case, sample=sample)


@functools.cache
def actuator_program(family: Family) -> Program:
    """Return the `map` (actuator, freedom) from wrenches on the freedoms to actuator forces, and `status`. Eq. (140).

    Case inputs and status as in `tasks.stages.assembly.assembly_program`.
    """
    structure = structure_of(family)
    count, driven = len(structure.mechanism.instances), structure.driven
    case: dict[Any, Shape] = {name: value.shape[1:] for name, value in even_weights(family).items()}
    if structure.compared:
        case |= {"parameters": (len(family.parameters),)}
        for k, instance in enumerate(structure.mechanism.instances):
            case |= indexed(k, {"mount": (len(structure.differing[instance.limb]),)})

    def one_sample(
        *,
        parameters: Array = ABSENT,
        mount: Mapping[int, Array] = MappingProxyType({}),
        jacobian: Mapping[int, Array],
        status: Mapping[int, Array],
        weights: Array | None = None,
    ) -> dict[str, Any]:
        rows = np.vstack([jacobian[k] for k in range(count)])
        columns = [array(assembly.actuator_forces(rows, unit, weights)) for unit in np.eye(structure.freedoms)]
        found = np.stack(columns, axis=1)
        home = home_rows(structure, parameters, mount) if mount else None
        combined = assembly.combined_status([status[k][0] for k in range(count)], rows, list(found.ravel()), home)
        return {"map": found, "status": [combined]}

    sample: dict[Any, Shape] = {}
    for k in range(count):
        sample |= indexed(k, {"jacobian": (driven[k].stop - driven[k].start, structure.freedoms), "status": (1,)})
    return trace(f"{family.name}.regressor", one_sample, case=case, sample=sample)


@functools.cache
def friction_program(family: Family, groups: tuple[FrictionGroup, ...]) -> Program:
    """Return the program for friction's `columns` (actuator, parameter): linear parameters, joint by joint.

    Normal loads are computed for the motion without friction. Inputs as in `tasks.stages.assembly.actuation_program`,
    except that VELOCITY has its own name. Raises ValueError for gears, whose loss is not linear in parameters.
    """
    if geared := [group for group in groups if group.load == "gear"]:
        raise ValueError(
            f"load: identification got gear for law {geared[0].law}; expected constant, preload or reaction, as the "
            "loss of a gear is not linear in parameters"
        )
    kinds, limbs = requests.joint_kinds(family), wanted(family, groups)
    actuators = len(family.reference.actuators)

    def one_sample(friction: Array, force: Array, actuator_velocity: Array, **shares: Any) -> dict[str, Any]:
        robot, columns = feature.passive_friction(family, limbs, array(force), shares), []
        still = np.zeros(len(robot.places))
        for each in joint_friction.of_groups(groups, kinds, friction):
            load = each.load(robot.carried(each.place, still) if each.group.load == "reaction" else None)
            rate = robot.rate(each.place, actuator_velocity)
            direction = np.eye(actuators)[each.place.actuator]
            if each.place.actuator < 0:
                direction = robot.influence[:, robot.places.index(each.place)]
            columns += [direction * x for x in law_columns(each.group.law, rate, load, each.own).values()]
        return {"columns": np.stack(columns, axis=1)}

    beside = feature.inputs(family, groups)
    sample = {"force": (actuators,), VELOCITY: (actuators,), **beside}
    case = {"friction": (sum(len(group.parameters) for group in groups),)}
    case |= {name: value.shape[1:] for name, value in even_weights(family).items() if beside}
    name = "-".join(f"{group.law}.{group.load}" for group in groups)
    return trace(f"{family.name}.regressor.{name}", one_sample, case=case, sample=sample)
