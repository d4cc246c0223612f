"""Columns of a machine's model beside those of its bodies: friction, offsets, drives behind gears, a user's own.

A drive turns by `rates @ velocity of the actuators`: a motor that moves two joints of a wrist has a row with two
entries. What inertia and friction of a drive ask of the actuators is its row times what they ask of the drive.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from robots.joint_kinds import JOINT_KINDS
from robots.model import Robot
from robots.parameters import ParameterError
from tasks.arrays.inputs import GRAVITY, Moving
from tasks.friction.given import Friction, friction_input
from tasks.identification.base import STATES, BaseParameters, from_matrix
from tasks.identification.columns import Column
from tasks.identification.machines.coupled import CoupledFriction, is_coupled
from tasks.identification.regressor import Options, regressor, standard_parameters
from tasks.identification.states import random_motion

ActuatorMotion = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Position, velocity, acceleration of the actuators, each (samples, actuator)."""
FrictionColumns = Literal["none", "viscous", "coulomb_viscous", "asymmetric", "stribeck"]
LAWS: tuple[FrictionColumns, ...] = ("none", "viscous", "coulomb_viscous", "asymmetric", "stribeck")
USUAL, FADING = LAWS[2], LAWS[4]
"""What is taken where nothing is said, and what has a velocity of its own."""
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
    """What a machine has beside its bodies.

    friction: law of every actuator; offset: a constant force in each; drives (drive, actuator): rows of drives that
    move several actuators, absent: none; stribeck_velocity (actuator,) [rad/s or m/s]; width (actuator,): velocity that
    smooths the sign of velocities in dry friction, absent: sharp; own: columns of the user's;
    joints: friction of any joints by groups, see `tasks.regressor`, or where reactions load what changes them
    `tasks.identification.machines.coupled`; shared: limbs that are copies share parameters.
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

    @property
    def _options(self) -> Options:
        return Options(friction=self.joints, shared=self.shared, gravity=self.gravity)

    def coupled(self, robot: Robot) -> CoupledFriction | None:
        """The friction of passive joints that reactions load, where there is some. Raises ParameterError."""
        if self.joints is None or not is_coupled(robot, self.joints):
            return None
        if not self.shared:
            raise ParameterError(
                "shared: got limbs with parameters of their own and friction that reactions load; expected shared: true"
            )
        return CoupledFriction(robot, friction_input(robot, self.joints), self.gravity)

    def columns(self, robot: Robot) -> tuple[Column, ...]:
        """Names and units of all columns, those of bodies first."""
        coupled = self.coupled(robot)
        if coupled is not None:
            bodies = coupled.columns
        else:
            bodies = regressor(robot, full=True, **self._options, **random_motion(robot, 1)).columns
        return (*bodies, *(column for column, _ in self._beside(robot)))

    def matrix(self, robot: Robot, moving: Moving, actuators: ActuatorMotion) -> np.ndarray:
        """The regressor (samples, actuator, column) along a motion, of which that of the actuators is a part.

        Columns of friction that is coupled with reactions are those at the robot's own parameters.
        """
        coupled = self.coupled(robot)
        if coupled is None:
            bodies = regressor(robot, **self._options, **moving)
        else:
            bodies = regressor(robot, shared=True, gravity=self.gravity, **moving)
            units = np.eye(len(coupled.columns))[bodies.shape[2] :]
            bodies = np.concatenate([bodies, coupled.linearised(coupled.nominal, units, moving)[1]], axis=2)
        return np.concatenate([bodies, self.beside(robot, actuators)], axis=2)

    def beside(self, robot: Robot, actuators: ActuatorMotion) -> np.ndarray:
        """The columns beside those of bodies alone."""
        samples, count = actuators[0].shape
        parts = [factor(actuators) for _, factor in self._beside(robot)]
        return np.stack(parts, axis=2) if parts else np.zeros((samples, count, 0))

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
            own = Column(names[column.actuator], column.name, column.unit)
            result.append((own, _own(column.factor, np.eye(count)[column.actuator])))
        return result

    def _friction(self, actuator: int, force: str) -> list[tuple[str, str, Callable[..., np.ndarray]]]:
        viscous = f"{force} s/rad" if force == "N m" else f"{force} s/m"
        sign = _smooth_sign(self.width[actuator]) if self.width else _sharp_sign
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


def _sharp_sign(position: np.ndarray, velocity: np.ndarray, acceleration: np.ndarray) -> np.ndarray:
    return np.sign(velocity)


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
    """A column of what turns by `row @ actuators`: on each of them by its entry of the row."""
    return lambda motion: shape(*(values @ row for values in motion))[:, None] * row


def _own(factor: Callable[[ActuatorMotion], np.ndarray], row: np.ndarray) -> Callable[[ActuatorMotion], np.ndarray]:
    return lambda motion: factor(motion)[:, None] * row


def actuator_kinds(robot: Robot) -> list[str]:
    """Kind of every actuator: revolute or prismatic."""
    mechanism = robot.mechanism
    return [kind for instance in mechanism.instances for kind in mechanism.limbs[instance.limb].actuator_kinds]


def nominal(robot: Robot, model: MachineModel) -> np.ndarray:
    """Values of all columns as the robot has them; zero for what it says nothing of."""
    if (coupled := model.coupled(robot)) is not None:
        known = dict(zip((column.name for column in coupled.columns), coupled.nominal.tolist(), strict=True))
    else:
        known = standard_parameters(robot, friction=model.joints, shared=model.shared)
    return np.array([known.get(column.name, 0.0) for column in model.columns(robot)])


def base_of(
    robot: Robot, model: MachineModel, actuator_motion: Callable[[Moving], ActuatorMotion], seed: int = 0
) -> BaseParameters:
    """Base parameters of a machine at random states of its robot."""
    # what fades within a small velocity would be zero at all of these states
    model = replace(model, stribeck_velocity=(1.0,) * len(robot.mechanism.actuators))
    columns = model.columns(robot)
    states = -(-STATES * len(columns) // len(robot.mechanism.actuators))
    moving = random_motion(robot, states, seed)
    rows = model.matrix(robot, moving, actuator_motion(moving)).reshape(-1, len(columns))
    return from_matrix(rows[np.isfinite(rows).all(axis=1)], [column.name for column in columns])


def finite(values: ArrayLike) -> np.ndarray:
    """Samples (samples,) of an array whose numbers are all finite."""
    array = np.asarray(values)
    return np.isfinite(array.reshape(len(array), -1)).all(axis=1)
