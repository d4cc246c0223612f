"""Columns of a machine's model beside those of its bodies: friction, offsets, drives behind gears, a user's own.

A drive turns by `rates @ velocity of the actuators`: a motor that moves two joints of a wrist has a row with two
entries. Inertia and friction of a drive act on the actuators by this row.

A mechanism may get other inertial parameters, in numbers or as symbols of a family. Friction of passive joints that
depends on reactions changes these reactions. Forces are then no product of a regressor with parameters. They are those
of inverse dynamics itself, whose programs are differentiated by inertial parameters and those of friction; parameters
follow by Gauss-Newton steps, each a linear least squares. Source: joint-friction paper, Eqs. (45) to (48), for the
friction.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from applications.identification.estimation.base import STATES, BaseParameters, from_matrix
from applications.identification.estimation.machines.choices import USUAL, FrictionColumns
from applications.identification.estimation.states import random_motion
from robots.friction.laws import LAWS as LAW_DATA
from robots.joint_kinds import JOINT_KINDS
from robots.limits import places
from robots.model import Family, Inertia, Limb, Link, Mechanism, Robot
from robots.parameters import Parameter, ParameterError
from robots.status import Status
from robots.types import Number, Vector
from tasks.dynamics.inertial_parameters import (
    BODY,
    Column,
    LimbColumns,
    limb_columns,
    platform_has_columns,
    shared_columns,
)
from tasks.dynamics.inputs import field_input, present
from tasks.dynamics.inverse import Dynamics, Influences
from tasks.dynamics.records import GRAVITY, Environment, Forces, Motion, Moving
from tasks.dynamics.regressor import Regressor, columns_of, regressor, standard_parameters
from tasks.features.friction.inputs import Friction, FrictionInput, friction_input
from tasks.kernels.expression import Array, Expression
from tasks.kernels.kernel import kernel
from tasks.kernels.keys import Rate, Values
from tasks.mathematics.algebra import array
from tasks.stages.parts import OUTCOME
from tasks.stages.stages import stages

SIZE = len(BODY)


def inertia_of(parameters: Sequence[Number]) -> Inertia:
    """Return mass, centre and tensor about it of ten parameters about a body frame's origin, numbers or symbols."""
    mass = parameters[0]
    is_nothing = isinstance(mass, float | int) and mass <= 0.0
    centre = array([0.0, 0.0, 0.0] if is_nothing else [moment / mass for moment in parameters[1:4]])
    xx, xy, xz, yy, yz, zz = parameters[4:]
    about = array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    tensor = about - (array(np.eye(3)) * (centre @ centre) - np.outer(centre, centre)) * mass
    return Inertia(mass, _three(centre), (_three(tensor[0]), _three(tensor[1]), _three(tensor[2])))


def _three(numbers: Array) -> Vector:
    x, y, z = (number if isinstance(number, Expression) else float(number) for number in numbers)
    return x, y, z


def with_inertia(robot: Robot, values: Sequence[Number]) -> Mechanism:
    """Return the mechanism of a robot with these values of the columns that limbs which are copies share."""
    mechanism, limbs, start = robot.mechanism, [], 0
    for index, limb in enumerate(mechanism.limbs):
        columns = limb_columns(robot.family, index)
        limbs.append(_limb(limb, columns, values[start : start + columns.count]))
        start += columns.count
    platform = mechanism.platform
    if platform_has_columns(robot.family):
        platform = replace(platform, inertia=inertia_of(values[start : start + SIZE]))
    return replace(mechanism, limbs=tuple(limbs), platform=platform)


def _limb(limb: Limb, columns: LimbColumns, values: Sequence[Number]) -> Limb:
    links: list[Link] = list(limb.links)
    for place, k in enumerate(columns.bodies):
        links[k] = replace(links[k], inertia=inertia_of(values[SIZE * place : SIZE * (place + 1)]))
    start = SIZE * len(columns.bodies)
    for place, k in enumerate(columns.armatures):
        links[k] = replace(links[k], armature=values[start + place])
    start += len(columns.armatures)
    drives = list(limb.drives)
    for place, (k, spin) in enumerate(columns.spins):
        spins = list(drives[k].spins)
        spins[spin] = replace(spins[spin], inertia=values[start + place])
        drives[k] = replace(drives[k], spins=tuple(spins))
    return replace(limb, links=tuple(links), drives=tuple(drives))


def freed(robot: Robot) -> Family:
    """Return the family whose parameters are the inertial ones of a robot's columns, its geometry in numbers.

    Limbs that are copies share them. Their defaults are those of the robot.
    """
    return _freed(robot.family, tuple(float(robot.values[p.name]) for p in robot.family.parameters))


@functools.lru_cache(maxsize=16)
def _freed(family: Family, numbers: tuple[float, ...]) -> Family:
    robot = Robot(family, dict(zip((p.name for p in family.parameters), numbers, strict=True)))
    names = [column.name for column in shared_columns(family)[0]]
    units = [column.unit for column in shared_columns(family)[0]]
    parameters = tuple(
        Parameter(name, unit, float(value)) for name, unit, value in zip(names, units, own_values(robot), strict=True)
    )

    def assemble(values: Mapping[str, Number]) -> Mechanism:
        return with_inertia(robot, [values[name] for name in names])

    return Family(family.name, family.title, family.source, parameters, assemble, family.gravity)


def own_values(robot: Robot) -> np.ndarray:
    """Return the robot's own values of the columns that `with_inertia` takes."""
    return np.array(list(standard_parameters(robot, shared=True).values()))


FRICTION = "friction"
FORCE = "actuator_force"
STEPS = 25
"""Steps of Gauss and Newton."""
TURNED = 0.2
"""A step counts as one back where it undoes as much of the one before."""
STEADY = 1e-2
"""Change of parameters, relative to their deviations, at which these are taken."""
EXACT = 1e-8
"""Change relative to the largest parameter at which these are taken, where there is no noise."""
LANES = 8192
"""Samples times directions that are differentiated at a time."""


def is_coupled(robot: Robot, friction: Friction) -> bool:
    """Return whether friction in passive joints changes the reactions that load this friction."""
    groups = friction_input(robot, friction)
    passive = {place for place, _ in places(robot.mechanism).values() if place.actuator < 0}
    return groups.statics and any(place in passive for group in groups.groups for place in group.places)


def settled(
    point: np.ndarray, estimate: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]], rubbing: ArrayLike
) -> np.ndarray | None:
    """Return the parameters that settle by Gauss and Newton's steps from a point; None where they do not.

    estimate: values and deviations of a linear least squares about a point; infinite deviations for what stays as it
    is. rubbing (parameter,): those of friction, which are not below zero.
    """
    share, before = 1.0, np.zeros(len(point))
    for _ in range(STEPS):
        values, deviations = estimate(point)
        change = (values - point) / deviations
        # the sizes of loads have kinks, between whose sides whole steps may go to and fro
        turns = change @ before < -TURNED * (before @ before)
        share = 0.5 * share if turns else min(2.0 * share, 1.0)
        point = point + share * (values - point)
        # friction that pushes settles nowhere; a step beyond zero ends there
        point = np.where(np.asarray(rubbing), np.maximum(point, 0.0), point)
        before = change
        if np.abs(change).max() <= STEADY or np.abs(values - point).max() <= EXACT * np.abs(values).max():
            return point
    return None


@dataclass(frozen=True)
class CoupledFriction:
    """A robot whose inertial parameters are free, with friction of joints by groups; limbs that are copies share both.

    Columns are the inertial ones, then of each group the parameters in which its law is linear: one for all of its
    joints.
    """

    robot: Robot
    friction: FrictionInput
    gravity: tuple[float, float, float] = GRAVITY

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """Names and units of the columns."""
        return (*shared_columns(self.robot.family)[0], *(column for column, _ in self._linear()))

    def _linear(self) -> Iterator[tuple[Column, int]]:
        """Yield the columns of friction, and which of the numbers of all groups they are."""
        start, several = 0, len(self.friction.groups) > 1
        for number, group in enumerate(self.friction.groups):
            owner = group.name or (f"{FRICTION}_{number + 1}" if several else FRICTION)
            for parameter in LAW_DATA[group.law].linear:
                yield (
                    Column(owner, parameter.name, parameter.unit),
                    start + group.parameters.index(parameter.name),
                )
            start += len(group.parameters)

    @cached_property
    def nominal(self) -> np.ndarray:
        """Values of the columns (column,) that the robot and its friction have."""
        numbers = self.friction.values[0]
        return np.concatenate([own_values(self.robot), [numbers[place] for _, place in self._linear()]])

    def at(self, values: ArrayLike) -> tuple[Robot, FrictionInput]:
        """Return the robot and the friction with these values of the columns."""
        numbers = np.asarray(values, dtype=float)
        family = freed(self.robot)
        count = len(family.parameters)
        robot = Robot(family, dict(zip((p.name for p in family.parameters), numbers[:count].tolist(), strict=True)))
        of_groups = self.friction.values.copy()
        of_groups[0, [place for _, place in self._linear()]] = numbers[count:]
        return robot, FrictionInput(self.friction.groups, of_groups)

    def linearised(self, values: ArrayLike, directions: ArrayLike, moving: Moving) -> tuple[np.ndarray, np.ndarray]:
        """Return actuator forces (samples, actuator) at values (column,), and rates (samples, actuator, direction).

        directions (direction, column); a motion with one batch dim. Samples that cannot be solved, or whose friction
        does not settle, hold NaN.
        """
        along = np.atleast_2d(np.asarray(directions, dtype=float))
        robot, friction = self.at(values)
        parts = {name: np.asarray(part) for name, part in present(moving).items()}
        samples = len(next(iter(parts.values())))
        step = max(LANES // len(along), 64)
        results = [
            self._part(robot, friction, along, {name: part[start : start + step] for name, part in parts.items()})
            for start in range(0, samples, step)
        ]
        return np.concatenate([force for force, _ in results]), np.concatenate([rates for _, rates in results])

    def _part(
        self, robot: Robot, friction: FrictionInput, along: np.ndarray, moving: dict[str, np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        acting = Influences(field_input(Environment(gravity=self.gravity)), friction=friction)
        dynamics = Dynamics(robot, cast(Moving, moving), (FORCE, "status"), acting)
        count, inertial = len(along), len(robot.family.parameters)
        of_groups = np.zeros((count, friction.values.shape[1]))
        of_groups[:, [place for _, place in self._linear()]] = along[:, inertial:]
        values: Values = {
            key: np.repeat(value, count, axis=0) if value.ndim == 2 else value for key, value in dynamics.values.items()
        }
        values |= {Rate("parameters"): np.ascontiguousarray(along[:, :inertial]), Rate(FRICTION): of_groups}
        for stage in stages(dynamics.request):
            values |= stage.run_rates(kernel, values, dynamics.samples)
        status = values[OUTCOME][0, 0, : dynamics.samples]
        force = values[FORCE][0, :, : dynamics.samples].T.copy()
        rates = np.moveaxis(values[Rate(FORCE)][:, :, : dynamics.samples], (0, 1, 2), (2, 1, 0)).copy()
        force[status != Status.OK] = np.nan
        rates[status != Status.OK] = np.nan
        return force, rates


ActuatorMotion = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Position, velocity, acceleration of the actuators, each (samples, actuator)."""
OFFSET = "offset"


@dataclass(frozen=True)
class OwnColumn:
    """A column of the user's: its name, the actuator whose force it is in, and its factor along a motion."""

    name: str
    actuator: int
    unit: str
    factor: Callable[[ActuatorMotion], np.ndarray]


@dataclass(frozen=True)
class MachineModel:
    """Model of a machine beside its bodies: friction, offsets, drives, user columns.

    friction: law of every actuator; offset: a constant force in each; drives (drive, actuator): rows of drives that
    move several actuators, absent: none; stribeck_velocity (actuator,) [rad/s or m/s]; width (actuator,): velocity
    that smooths the sign of velocities in dry friction, absent: sharp; step: time [s] that dry friction is averaged
    over where velocities turn, 0: none; own: columns of the user; joints: friction of any joints by groups, see
    `tasks.regressor`, or, where friction changes the reactions that load it,
    `applications.identification.estimation.machines.machine_model`; shared: limbs that are copies share parameters.
    """

    friction: FrictionColumns = USUAL
    offset: bool = True
    drives: np.ndarray | None = None
    stribeck_velocity: tuple[float, ...] = ()
    own: tuple[OwnColumn, ...] = ()
    joints: Friction = None
    shared: bool = True
    gravity: tuple[float, float, float] = GRAVITY
    width: tuple[float, ...] = ()
    step: float = 0.0

    def _bodies(self, robot: Robot, moving: Moving) -> Regressor:
        """Return the regressor of bodies and of friction whose loads reactions do not change."""
        forces = Forces(friction=self.joints)
        return regressor(robot, Motion(**moving), forces, Environment(gravity=self.gravity), shared=self.shared)

    def coupled(self, robot: Robot) -> CoupledFriction | None:
        """Return the friction of passive joints that reactions load, where there is some. Raises ParameterError."""
        if self.joints is None or not is_coupled(robot, self.joints):
            return None
        if not self.shared:
            raise ParameterError(
                "shared: got limbs with parameters of their own and friction that reactions load; expected shared: true"
            )
        return CoupledFriction(robot, friction_input(robot, self.joints), self.gravity)

    def columns(self, robot: Robot) -> tuple[Column, ...]:
        """Return the names and units of all columns, those of bodies first."""
        coupled = self.coupled(robot)
        rubbing = None if self.joints is None else friction_input(robot, self.joints)
        bodies = columns_of(robot, rubbing, shared=self.shared) if coupled is None else coupled.columns
        return (*bodies, *(column for column, _ in self._beside(robot)))

    def matrix(self, robot: Robot, moving: Moving, actuators: ActuatorMotion) -> np.ndarray:
        """Return the regressor (samples, actuator, column) along a motion, of which that of the actuators is a part.

        Columns of friction that is coupled with reactions are those at the robot's own parameters.
        """
        coupled = self.coupled(robot)
        if coupled is None:
            bodies = self._bodies(robot, moving).matrix
        else:
            bodies = regressor(robot, shared=True, gravity=self.gravity, **moving).matrix
            units = np.eye(len(coupled.columns))[bodies.shape[2] :]
            bodies = np.concatenate([bodies, coupled.linearised(coupled.nominal, units, moving)[1]], axis=2)
        return np.concatenate([bodies, self.beside(robot, actuators)], axis=2)

    def beside(self, robot: Robot, actuators: ActuatorMotion) -> np.ndarray:
        """Return the columns beside those of bodies alone."""
        parts = list(self.each_beside(robot, actuators))
        return np.stack(parts, axis=2) if parts else np.zeros((*actuators[0].shape, 0))

    def each_beside(self, robot: Robot, actuators: ActuatorMotion) -> Iterator[np.ndarray]:
        """Yield the columns (samples, actuator) beside those of bodies one by one."""
        for _, factor in self._beside(robot):
            yield factor(actuators)

    def _beside(self, robot: Robot) -> list[tuple[Column, Callable[[ActuatorMotion], np.ndarray]]]:
        names, count = robot.mechanism.actuators, len(robot.mechanism.actuators)
        kinds = [JOINT_KINDS[kind].units for kind in actuator_kinds(robot)]
        result = []
        for k, (name, units) in enumerate(zip(names, kinds, strict=True)):
            row = np.eye(count)[k]
            for parameter, unit, shape in self._friction(k, units.force):
                result.append((Column(name, parameter, unit), _along(row, shape)))
            if self.offset:
                result.append((Column(name, OFFSET, units.force), _along(row, _one)))
        for k, row in enumerate(np.zeros((0, count)) if self.drives is None else np.asarray(self.drives)):
            if np.count_nonzero(row) < 2:
                continue  # its inertia and friction are those of its joint
            units = kinds[int(np.argmax(np.abs(row)))]
            owner = f"drive_{k + 1}"
            row = row / np.abs(row).max()
            result.append((Column(owner, "inertia", units.inertia), _along(row, _acceleration)))
            for parameter, unit, shape in self._friction(int(np.argmax(np.abs(row))), units.force):
                result.append((Column(owner, parameter, unit), _along(row, shape)))
        for column in self.own:
            column_of_drive = Column(names[column.actuator], column.name, column.unit)
            result.append((column_of_drive, _own(column.factor, np.eye(count)[column.actuator])))
        return result

    def _friction(self, actuator: int, force: str) -> list[tuple[str, str, Callable[..., np.ndarray]]]:
        viscous = f"{force} s/rad" if force == "N m" else f"{force} s/m"
        sign = _smooth_sign(self.width[actuator]) if self.width else _mean_sign(self.step)
        if self.friction == "none":
            return []
        if self.friction == "viscous":
            return [("viscous", viscous, _velocity)]
        if self.friction == USUAL:
            return [("coulomb", force, sign), ("viscous", viscous, _velocity)]
        if self.friction == "asymmetric":
            return [
                ("coulomb_forward", force, _forward(sign)),
                ("coulomb_reverse", force, _reverse(sign)),
                ("viscous_forward", viscous, _forward(_velocity)),
                ("viscous_reverse", viscous, _reverse(_velocity)),
            ]
        slow = self.stribeck_velocity[actuator] if self.stribeck_velocity else 0.01
        fading = _fading(slow, sign)
        return [("coulomb", force, sign), ("viscous", viscous, _velocity), ("stribeck", force, fading)]


Shape = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def _one(position: np.ndarray, velocity: np.ndarray, acceleration: np.ndarray) -> np.ndarray:
    return np.ones_like(velocity)


def _mean_sign(step: float) -> Shape:
    """Return the sign of velocity, averaged between samples: a filter of samples then sees the time of reversal."""

    def mean_sign(position: np.ndarray, velocity: np.ndarray, acceleration: np.ndarray) -> np.ndarray:
        change = 0.5 * step * np.abs(acceleration)
        turns = np.abs(velocity) < change
        return np.asarray(np.where(turns, velocity / np.where(turns, change, 1.0), np.sign(velocity)))

    return mean_sign


def _smooth_sign(width: float) -> Shape:
    return lambda position, velocity, acceleration: np.tanh(velocity / width)


def _velocity(position: np.ndarray, velocity: np.ndarray, acceleration: np.ndarray) -> np.ndarray:
    return velocity


def _acceleration(position: np.ndarray, velocity: np.ndarray, acceleration: np.ndarray) -> np.ndarray:
    return acceleration


def _forward(shape: Shape) -> Shape:
    return lambda position, velocity, acceleration: shape(position, velocity, acceleration) * (velocity > 0)


def _reverse(shape: Shape) -> Shape:
    return lambda position, velocity, acceleration: shape(position, velocity, acceleration) * (velocity < 0)


def _fading(slow: float, sign: Shape) -> Shape:
    return lambda position, velocity, acceleration: (
        sign(position, velocity, acceleration) * np.exp(-((velocity / slow) ** 2))
    )


def _along(row: np.ndarray, shape: Shape) -> Callable[[ActuatorMotion], np.ndarray]:
    """Return a column of a body that turns by `row @ actuators`: on each of them by its entry of the row."""
    return lambda motion: shape(*(values @ row for values in motion))[:, None] * row


def _own(factor: Callable[[ActuatorMotion], np.ndarray], row: np.ndarray) -> Callable[[ActuatorMotion], np.ndarray]:
    return lambda motion: factor(motion)[:, None] * row


def actuator_kinds(robot: Robot) -> list[str]:
    """Return the kind of every actuator: revolute or prismatic."""
    mechanism = robot.mechanism
    return [kind for instance in mechanism.instances for kind in mechanism.limbs[instance.limb].actuator_kinds]


def nominal(robot: Robot, model: MachineModel) -> np.ndarray:
    """Return the nominal values of all columns; zero for those that the robot does not give."""
    if (coupled := model.coupled(robot)) is not None:
        values = dict(zip((column.name for column in coupled.columns), coupled.nominal.tolist(), strict=True))
    else:
        values = standard_parameters(robot, friction=model.joints, shared=model.shared)
    return np.array([values.get(column.name, 0.0) for column in model.columns(robot)])


def base_of(
    robot: Robot, model: MachineModel, actuator_motion: Callable[[Moving], ActuatorMotion], seed: int = 0
) -> BaseParameters:
    """Return the base parameters of a machine at random states of its robot."""
    # what fades within a small velocity would be zero at all of these states
    model = replace(model, stribeck_velocity=(1.0,) * len(robot.mechanism.actuators))
    columns = model.columns(robot)
    states = -(-STATES * len(columns) // len(robot.mechanism.actuators))
    moving = random_motion(robot, states, seed)
    rows = model.matrix(robot, moving, actuator_motion(moving)).reshape(-1, len(columns))
    return from_matrix(rows[np.isfinite(rows).all(axis=1)], [column.name for column in columns])


def finite(values: ArrayLike) -> np.ndarray:
    """Return a mask (samples,) of the samples of an array whose numbers are all finite."""
    array = np.asarray(values)
    return np.isfinite(array.reshape(len(array), -1)).all(axis=1)


@dataclass(frozen=True)
class PositionController:
    """A position controller: force = position_gain (reference - q) + velocity_gain (rate of the reference - qd).

    position_gain [N m/rad or N/m], velocity_gain [N m s/rad or N s/m] (actuator,); feeds_rate: whether the reference
    has a rate, or the second term is -velocity_gain qd, as of controllers in a cascade.
    """

    position_gain: np.ndarray
    velocity_gain: np.ndarray
    feeds_rate: bool = True
