"""Columns of a machine's model beside those of its bodies: friction, offsets, drives behind gears, a user's own.

A drive turns by `rates @ velocity of the actuators`: a motor that moves two joints of a wrist has a row with two
entries. Inertia and friction of a drive act on the actuators by this row. Source: joint-friction paper, Eqs. (45) to
(48), for the friction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from applications.identification.estimation.base import BaseParameters, from_matrix
from applications.identification.estimation.encoders import ActuatorMotion
from applications.identification.estimation.machines.choices import USUAL, FrictionColumns
from applications.identification.estimation.machines.coupled_friction import CoupledFriction, is_coupled
from applications.identification.estimation.states import motion_for
from robots.data_classes import dataclass, replace
from robots.joint_kinds import JOINT_KINDS
from robots.model import Robot
from robots.parameter_errors import ParameterError
from tasks.dynamics.inertial_parameters import Column
from tasks.dynamics.records import GRAVITY, Environment, Forces, Motion, Moving
from tasks.dynamics.regressor import Regressor, columns_of, regressor, standard_parameters
from tasks.features.friction.inputs import Friction, friction_input

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
    `applications.identification.estimation.machines.coupled_friction`; shared: limbs that are copies share parameters.
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
    """Return the nominal values of all columns; zero where the robot gives none."""
    if (coupled := model.coupled(robot)) is not None:
        values = dict(zip((column.name for column in coupled.columns), coupled.nominal.tolist(), strict=True))
    else:
        values = standard_parameters(robot, friction=model.joints, shared=model.shared)
    return np.array([values.get(column.name, 0.0) for column in model.columns(robot)])


def base_of(
    robot: Robot, model: MachineModel, actuator_motion: Callable[[Moving], ActuatorMotion], seed: int = 0
) -> BaseParameters:
    """Return the base parameters of a machine at random states of its robot."""
    # a term that fades within a small velocity would be zero at all of these states
    model = replace(model, stribeck_velocity=(1.0,) * len(robot.mechanism.actuators))
    columns = model.columns(robot)
    moving = motion_for(robot, columns, len(robot.mechanism.actuators), seed)
    rows = model.matrix(robot, moving, actuator_motion(moving)).reshape(-1, len(columns))
    return from_matrix(rows[np.isfinite(rows).all(axis=1)], [column.name for column in columns])


@dataclass(frozen=True)
class PositionController:
    """A position controller: force = position_gain (reference - q) + velocity_gain (rate of the reference - qd).

    position_gain [N m/rad or N/m], velocity_gain [N m s/rad or N s/m] (actuator,); feeds_rate: whether the reference
    has a rate, or the second term is -velocity_gain qd, as of controllers in a cascade.
    """

    position_gain: np.ndarray
    velocity_gain: np.ndarray
    feeds_rate: bool = True
