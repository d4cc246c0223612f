"""Inverse dynamics as a product: actuator forces = Y(motion) times parameters, for batches, by compiled kernels.

Parameters are named columns: ten for each body, about the origin of its frame in its axes, mass, first moment of mass
and elements of the inertia tensor; one for each armature, and for each rotor or shaft that spins; the linear ones of
friction. A body whose inertia a family declares to be nothing, such as the cross of a universal joint, has none.

The wrench that a body's motion takes is linear in its ten parameters, and constraint embedding is linear in wrenches,
for trees, closed chains and parallel robots alike; so the columns are limb dynamics with unit parameters in place of
the body's own. Inputs of programs are named as in `tasks.stages.limb`. Sources: Atkeson, An and Hollerbach 1986, for
the linear form; hybrid-limb paper, Eqs. (97), (140).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from types import MappingProxyType
from typing import Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import ArrayLike

from robots.arguments import check_arguments
from robots.friction.groups import FrictionGroup
from robots.friction.laws import LAWS
from robots.joint_kinds import JOINT_KINDS
from robots.limits import places
from robots.model import Family, Inertia, Limb, Link, Robot
from robots.status import Status
from robots.types import TWIST
from tasks.dynamics.inputs import (
    FieldInput,
    field_input,
    mounts,
    moving_input,
    parameters,
    refuse_actuator,
    refuse_forces,
)
from tasks.dynamics.inverse import Dynamics, Influences, weights_input
from tasks.dynamics.records import (
    NO_FORCES,
    STANDING,
    TIMELESS,
    Environment,
    Forces,
    MotionKeywords,
    Moving,
    State,
    long_form,
)
from tasks.features.friction import feature, requests
from tasks.features.friction import joints as joint_friction
from tasks.features.friction.inputs import Friction, FrictionInput, friction_input
from tasks.features.friction.laws import columns as law_columns
from tasks.features.friction.requests import wanted
from tasks.kernels.expression import ABSENT, CASE, Array, Graph
from tasks.kernels.kernel import kernel
from tasks.kernels.keys import Indexed, Shape, Values, indexed
from tasks.kernels.program import Program, trace
from tasks.mathematics.algebra import array, is_zero
from tasks.mechanics import assembly, limb_motion, platform_motion, recursion
from tasks.mechanics.families import even_weights, structure_of
from tasks.mechanics.kinematics import along
from tasks.mechanics.limb_motion import Mounted, Solved
from tasks.mechanics.recursion import Field, Massing
from tasks.mechanics.solving import solved_limb
from tasks.mechanics.structure import GRAVITY as GRAVITY_INPUT
from tasks.mechanics.structure import field_inputs, limb_inputs, symbolic
from tasks.stages.assembly import home_rows
from tasks.stages.parts import VELOCITY
from tasks.stages.stages import stages

TENSOR = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
BODY: Mapping[str, str] = {
    "mass": "kg",
    **{f"m{axis}": "kg m" for axis in "xyz"},
    **{"I" + "xyz"[i] + "xyz"[j]: "kg m^2" for i, j in TENSOR},
}
"""Inertial parameters of a body, with their units."""

ARMATURE, SPIN = "armature", "spin"
PLATFORM = "platform"


@dataclass(frozen=True)
class Column:
    """One parameter: the body or joint that it belongs to, its own name, its unit."""

    owner: str
    parameter: str
    unit: str

    @property
    def name(self) -> str:
        """Name of the column."""
        return f"{self.owner}.{self.parameter}"


def body_parameters(inertia: Inertia) -> np.ndarray:
    """Return the ten parameters of a body (10,), from mass, centre, and tensor about the centre."""
    centre, mass = array(inertia.centre), inertia.mass
    about = array(inertia.tensor) + (array(np.eye(3)) * (centre @ centre) - np.outer(centre, centre)) * mass
    return array([mass, *(centre * mass), *(about[i, j] for i, j in TENSOR)])


def unit_massings() -> list[Massing]:
    """Return the mass distribution of one unit of each of the ten parameters."""
    result = [Massing(1.0, np.zeros(3), np.zeros((3, 3)))]
    result += [Massing(0.0, axis, np.zeros((3, 3))) for axis in np.eye(3)]
    for i, j in TENSOR:
        tensor = np.zeros((3, 3))
        tensor[i, j] = tensor[j, i] = 1.0
        result.append(Massing(0.0, np.zeros(3), np.eye(3) * (np.trace(tensor) * 0.5) - tensor))
    return result


@dataclass(frozen=True)
class LimbColumns:
    """Parts with columns in a representative limb: bodies of links, armatures of links, spins of drives.

    A spin is given by the number of its drive and its place among the spins of the drive.
    """

    bodies: tuple[int, ...]
    armatures: tuple[int, ...]
    spins: tuple[tuple[int, int], ...]

    @property
    def count(self) -> int:
        """Number of columns."""
        return len(BODY) * len(self.bodies) + len(self.armatures) + len(self.spins)

    def named(self, limb: Limb, prefix: str = "") -> list[Column]:
        """Return the columns in order; `prefix` goes before the names of bodies and joints."""
        links = limb.links
        result = [Column(prefix + links[k].body, name, unit) for k in self.bodies for name, unit in BODY.items()]
        result += [Column(prefix + links[k].joint, ARMATURE, links[k].joint_kind.units.inertia) for k in self.armatures]
        for k, place in self.spins:
            drive = limb.drives[k]
            unit = JOINT_KINDS[drive.kind].units.inertia
            result.append(Column(prefix + drive.name, f"{SPIN}_{place + 1}", unit))
        return result

    def values(self, limb: Limb) -> np.ndarray:
        """Return the parameters of a limb in numbers, in the same order."""
        bodies = [body_parameters(limb.links[k].inertia) for k in self.bodies]
        armatures = [limb.links[k].armature for k in self.armatures]
        spins = [limb.drives[k].spins[place].inertia for k, place in self.spins]
        return np.concatenate([*bodies, armatures, spins]).astype(float)


@functools.cache
def limb_columns(family: Family, limb_index: int) -> LimbColumns:
    """Return the links of a limb that have columns. The symbols of the family decide: all its robots have the same."""
    limb = _symbolic(family).limbs[limb_index]
    moving = tuple(k for k, link in enumerate(limb.links) if not _nothing(link.inertia))
    driven = tuple(k for k, link in enumerate(limb.links) if _has_drive(limb, link))
    spins = tuple((k, place) for k, drive in enumerate(limb.drives) for place in range(len(drive.spins)))
    return LimbColumns(moving, driven, spins)


@functools.cache
def platform_has_columns(family: Family) -> bool:
    """Return whether there is a platform, with an inertia."""
    return not family.reference.is_chain and not _nothing(_symbolic(family).platform.inertia)


def _symbolic(family: Family) -> Any:
    graph = Graph()
    return family.assemble({p.name: graph.node(CASE, data=("parameters", i)) for i, p in enumerate(family.parameters)})


def _has_drive(limb: Limb, link: Link) -> bool:
    return (link.joint in limb.actuated and not limb.drives) or not is_zero(link.armature)


def _nothing(inertia: Inertia) -> bool:
    return is_zero(inertia.mass) and all(is_zero(x) for row in inertia.tensor for x in row)


@functools.cache
def family_columns(family: Family) -> tuple[Column, ...]:
    """Return the columns of a robot: limb by limb, then the platform."""
    mechanism, result = structure_of(family).mechanism, []
    for instance in mechanism.instances:
        prefix = "" if mechanism.is_chain else f"{instance.name}."
        result += limb_columns(family, instance.limb).named(mechanism.limbs[instance.limb], prefix)
    if platform_has_columns(family):
        result += [Column(PLATFORM, name, unit) for name, unit in BODY.items()]
    return tuple(result)


@functools.cache
def shared_columns(family: Family) -> tuple[tuple[Column, ...], tuple[int, ...]]:
    """Return the columns with equal parameters for limbs that are copies of each other; and each column's target."""
    mechanism = structure_of(family).mechanism
    if mechanism.is_chain:
        return family_columns(family), tuple(range(len(family_columns(family))))
    result: list[Column] = []
    start: dict[int, int] = {}
    for k, limb in enumerate(mechanism.limbs):
        start[k] = len(result)
        result += limb_columns(family, k).named(limb, f"{limb.name}.")
    place = [start[each.limb] + i for each in mechanism.instances for i in range(limb_columns(family, each.limb).count)]
    if platform_has_columns(family):
        place += range(len(result), len(result) + len(BODY))
        result += [Column(PLATFORM, name, unit) for name, unit in BODY.items()]
    return tuple(result), tuple(place)


@functools.cache
def selection(family: Family) -> np.ndarray:
    """Return the 0/1 matrix (column, shared column); multiply a regressor by it so that copies share parameters."""
    shared, place = shared_columns(family)
    matrix = np.eye(len(shared))[list(place)]
    matrix.flags.writeable = False
    return matrix


def names(columns: Sequence[Column]) -> tuple[str, ...]:
    """Return the names of columns."""
    return tuple(each.name for each in columns)


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
    """Return a limb in which nothing spins but one thing, with an inertia of one."""
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

    Case inputs and status as those of `tasks.stages.assembly.assembly_program`.
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

    Loads are those of the motion without friction. Inputs as in `tasks.stages.assembly.actuation_program`, but for
    VELOCITY by its own name. Raises ValueError for gears, whose loss is not linear in parameters.
    """
    if geared := [group for group in groups if group.load == "gear"]:
        raise ValueError(
            f"load: identification got gear for law {geared[0].law}; expected constant, preload or reaction, as what a "
            "gear loses is not linear in parameters"
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


class Regressor(NamedTuple):
    """Y (*batch, actuator, parameter), its columns, and status (*batch)."""

    matrix: np.ndarray
    columns: tuple[Column, ...]
    status: np.ndarray

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(column.name for column in self.columns)


@check_arguments
def regressor(
    robot: Robot,
    motion: State | None = None,
    forces: Forces = NO_FORCES,
    environment: Environment = STANDING,
    *,
    shared: bool = False,
    **short: Unpack[MotionKeywords],
) -> Regressor:
    """Compute Y (*batch, actuator, parameter) with Y @ parameters = actuator forces; arguments of `inverse_dynamics`.

    With `shared`, limbs that are copies of each other have the same inertial parameters. The columns of friction come
    last: for every joint of each group the parameters `FrictionLaw.linear`; the other parameters, such as a Stribeck
    velocity, keep their values. Friction that depends on reactions is linear in the parameters only where it does not
    change the reactions: in trees, and where only actuated joints have friction. Other friction is refused. Samples
    that cannot be solved are NaN. A moving base makes more parameters identifiable than a fixed
    one. Raises ValueError or ParameterError for input that does not fit. Source: Atkeson, An and Hollerbach 1986, for
    trees; through constraint embedding by hybrid-limb paper, Eq. (140).

        >>> robot = ls.robots.build("planar_3r")
        >>> Y = ls.regressor(robot, q=[0.1, 0.2, 0.3], qd=[1.0, 0.0, 0.0]).matrix
        >>> torque = Y @ list(ls.standard_parameters(robot).values())
        >>> np.allclose(torque, ls.inverse_dynamics(robot, q=[0.1, 0.2, 0.3], qd=[1.0, 0.0, 0.0]).force)
        True
    """
    motion, environment = long_form(motion, environment, short, TIMELESS)
    refuse_forces(robot, "their moments and forces taken from what was measured")
    refuse_actuator(forces)
    for name in ("load", "elasticity"):
        if getattr(forces, name) is not None:
            raise ValueError(f"{name}: got it for a regressor; expected friction and weights alone")
    field, friction, weights = field_input(environment), forces.friction, forces.weights
    batch, columns_of_motion = moving_input(robot, motion.moving, field.batch)
    samples, family = int(np.prod(batch, dtype=int)), robot.family
    inputs = {"parameters": parameters(robot), "gravity": field.columns(batch), "motion": columns_of_motion}
    parts, shares = _limb_columns(robot, inputs, samples, field.moving)
    if platform_has_columns(family):
        parts.append(kernel(platform_program(family, field.moving))(inputs, samples)["columns"])
    if structure_of(family).compared:
        shares["parameters"] = inputs["parameters"]
        shares |= {Indexed("mount", k): mount for k, mount in enumerate(mounts(robot))}
    assembled = kernel(actuator_program(family))(shares | weights_input(robot, weights), samples)
    places = shared_columns(family)[1] if shared else range(len(family_columns(family)))
    along = _joined(parts, structure_of(family).freedoms, samples, places)
    matrix = np.matmul(_per_sample(assembled["map"], len(robot.mechanism.actuators), samples), along)
    status = assembled["status"][0, 0, :samples]
    groups = None if friction is None else friction_input(robot, friction)
    if groups is not None:
        rubbing = friction_columns(robot, groups, motion.moving, field, weights)
        rubbing = np.broadcast_to(rubbing, (*batch, *rubbing.shape[-2:]))
        matrix = np.concatenate([matrix, rubbing.reshape(samples, *rubbing.shape[-2:])], axis=2)
    matrix[status != Status.OK] = np.nan
    matrix = matrix.reshape(*batch, *matrix.shape[1:])
    return Regressor(matrix, columns_of(robot, groups, shared=shared), status.astype(np.int8).reshape(batch))


def columns_of(robot: Robot, friction: FrictionInput | None = None, *, shared: bool = False) -> tuple[Column, ...]:
    """Return the columns of `regressor` without a motion. Raises ValueError for friction that it refuses."""
    columns = shared_columns(robot.family)[0] if shared else family_columns(robot.family)
    if friction is None:
        return columns
    require_linear(robot, friction)
    return columns + friction_parameters(robot, friction)


@check_arguments
def standard_parameters(robot: Robot, *, friction: Friction = None, shared: bool = False) -> dict[str, float]:
    """Return the values of the robot for the columns of `regressor`, by name. Raises ParameterError as it does.

    >>> ls.standard_parameters(ls.robots.build("planar_3r"))["link_1.mass"]
    3.0
    """
    mechanism, family = robot.mechanism, robot.family
    values = [limb_columns(family, k.limb).values(mechanism.limbs[k.limb]) for k in mechanism.instances]
    values += [body_parameters(mechanism.platform.inertia)] if platform_has_columns(family) else []
    columns = shared_columns(family)[0] if shared else family_columns(family)
    every = np.concatenate(values).astype(float)
    if shared:
        chosen = selection(family)
        every = chosen.T @ every / chosen.sum(axis=0)
    result = dict(zip((column.name for column in columns), every.tolist(), strict=True))
    return result | (_friction_values(robot, friction_input(robot, friction)) if friction is not None else {})


def require_linear(robot: Robot, friction: FrictionInput) -> None:
    """Refuse friction that changes the reactions which load it: forces are not linear in it. Raises ValueError."""
    if not friction.statics:
        return
    passive = {place: name for name, (place, _) in places(robot.mechanism).items() if place.actuator < 0}
    if rubbing := [passive[place] for group in friction.groups for place in group.places if place in passive]:
        raise ValueError(
            f"friction: got a load from reactions and friction in passive joints, such as {rubbing[0]}, which changes "
            "these reactions: forces are not a product of a regressor with parameters; expected load constant, or "
            "friction in actuated joints alone; from recordings of a machine it is found without one"
        )


def friction_parameters(robot: Robot, friction: FrictionInput) -> tuple[Column, ...]:
    """Return the columns of the friction of each joint with friction: parameters in which its law is linear."""
    joint = {place: name for name, (place, _) in places(robot.mechanism).items()}
    return tuple(
        Column(joint[place], parameter.name, parameter.unit)
        for group in friction.groups
        for place in group.places
        for parameter in LAWS[group.law].linear
    )


def _friction_values(robot: Robot, friction: FrictionInput) -> dict[str, float]:
    numbers = iter(friction.values[0])
    values_of_groups = [dict(zip(group.parameters, numbers, strict=False)) for group in friction.groups]
    values = [
        float(values_of_group[parameter.name])
        for group, values_of_group in zip(friction.groups, values_of_groups, strict=True)
        for _ in group.places
        for parameter in LAWS[group.law].linear
    ]
    return dict(zip((column.name for column in friction_parameters(robot, friction)), values, strict=True))


def _limb_columns(
    robot: Robot, inputs: Mapping[str, np.ndarray], samples: int, moving_base: bool
) -> tuple[list[np.ndarray], Values]:
    """Return each limb's columns on the freedoms, (1, size, padded samples); and the actuators' inputs from them."""
    parts: list[np.ndarray] = []
    shares: Values = {}
    instances = structure_of(robot.family).mechanism.instances
    for k, (instance, mount) in enumerate(zip(instances, mounts(robot), strict=True)):
        outputs = kernel(limb_program(robot.family, instance.limb, moving_base))({**inputs, "mount": mount}, samples)
        parts.append(outputs["columns"])
        shares |= indexed(k, {name: outputs[name] for name in ("jacobian", "status")})
    return parts, shares


def _joined(parts: Sequence[np.ndarray], rows: int, samples: int, places: Sequence[int]) -> np.ndarray:
    """Return the columns of several kernels as matrices (samples, rows, n), those of one place added.

    places: of the columns of all parts one after another; those of a part follow each other.
    """
    series, first = np.zeros((rows, max(places, default=-1) + 1, samples)), 0
    for part in parts:
        columns = part[0].reshape(rows, -1, part.shape[-1])[..., :samples]
        place = places[first] if columns.shape[1] else 0
        series[:, place : place + columns.shape[1]] += columns
        first += columns.shape[1]
    return np.ascontiguousarray(np.moveaxis(series, -1, 0))


def _per_sample(values: np.ndarray, rows: int, samples: int) -> np.ndarray:
    """Return an output of a kernel (1, rows * n, padded samples) as matrices (samples, rows, n)."""
    columns = values.shape[1] // rows
    return np.ascontiguousarray(np.moveaxis(values[0, :, :samples], -1, 0)).reshape(samples, rows, columns)


def friction_columns(
    robot: Robot,
    friction: FrictionInput,
    moving: Moving,
    field: FieldInput | None = None,
    weights: ArrayLike | None = None,
) -> np.ndarray:
    """Return the columns of friction alone (*batch, actuator, parameter); `regressor` has them last."""
    actuators = len(robot.mechanism.actuators)
    require_linear(robot, friction)
    dynamics = Dynamics(robot, moving, ("actuator_force",), Influences(field, weights=weights, friction=friction))
    if not friction_parameters(robot, friction):
        return np.zeros((*dynamics.batch, actuators, 0))
    dynamics.run(takewhile(lambda stage: stage.name != "actuation", stages(dynamics.request)))
    run = kernel(friction_program(robot.family, friction.groups))
    outputs = run({name: dynamics.values[name] for name in run.program.inputs}, dynamics.samples)
    columns = _per_sample(outputs["columns"], actuators, dynamics.samples)
    return columns.reshape(*dynamics.batch, *columns.shape[1:])
