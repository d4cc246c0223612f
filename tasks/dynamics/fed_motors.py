"""Motors on a supply: currents, voltages and the forces that are left of commanded ones."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike

from robots.arguments import check_arguments
from robots.data_classes import dataclass
from robots.model import Robot
from tasks.dynamics.drive_values import DriveModel, motion_input
from tasks.dynamics.forces_over_step import Acting, OfState, OfTime, Push, is_of_state
from tasks.kernels.kernel import checked


@check_arguments
def torque_constants(robot: Robot) -> np.ndarray:
    """Return torque or force per current (actuator,) [N m/A or N/A]. Raises ValueError where an actuator has no motor.

    >>> ls.torque_constants(ls.robots.build("irb6")).shape
    (5,)
    """
    mechanism = robot.mechanism
    drives = [drive for instance in mechanism.instances for drive in mechanism.limbs[instance.limb].drives]
    without = [drive.name for drive in drives if drive.motor is None]
    if without or len(drives) != len(mechanism.actuators):
        names = ", ".join(without) if drives else f"the actuators of {robot.name}"
        raise ValueError(f"current: got currents, but {names} have no motor; expected drives with one, or give forces")
    return np.array([drive.motor.torque_constant for drive in drives if drive.motor is not None], dtype=float)


def from_currents(robot: Robot, current: Acting) -> Acting:
    """Convert currents (*batch, actuator) [A] of a robot's motors to forces. Raises ValueError, TypeError."""
    constants = torque_constants(robot)

    def torque(value: ArrayLike) -> np.ndarray:
        return checked("current", value, constants.shape, robot.mechanism.actuators) * constants

    if not callable(current):
        return torque(current)
    if is_of_state(current):
        of_state: OfState = current

        @functools.wraps(of_state)  # with its arguments, whose names tell that it is a function of the state
        def torque_of_state(*state: np.ndarray) -> np.ndarray:
            return torque(of_state(*state))

        return torque_of_state
    of_time = cast(OfTime, current)
    return lambda time: torque(of_time(time))


@dataclass(frozen=True)
class FedMotors:
    """Motors of a batch and their supplies: (actuator, samples) each, or (actuator, 1) for all samples.

    torque constant [N m/A or N/A], resistance [ohm]; largest force, current and voltage, infinite where unlimited.
    `by_voltage` (samples or 1,): whether the commands are voltages in place of forces.
    """

    constant: np.ndarray
    resistance: np.ndarray
    force: np.ndarray
    current: np.ndarray
    voltage: np.ndarray
    by_voltage: np.ndarray

    def given(self, asked: np.ndarray, velocity: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return forces at rates of the actuators, (actuator, samples) both; and whether they differ from the command.

        NaN for voltages of a motor without a resistance.
        """
        emf = self.constant * velocity
        most = np.minimum(self.current, self.force / np.abs(self.constant))
        unknown = ~(self.resistance > 0.0) & (self.by_voltage | np.isfinite(self.voltage))
        wound = np.where(unknown, np.nan, np.where(self.resistance > 0.0, self.resistance, 1.0))
        wished = np.where(self.by_voltage, (asked - emf) / wound, asked / self.constant)
        cut = np.clip(np.clip(wished, -most, most), (-self.voltage - emf) / wound, (self.voltage - emf) / wound)
        changed = unknown | ((cut != wished) & np.isfinite(wished))
        return np.where(self.by_voltage | changed, self.constant * cut, asked), changed


class ActuatorRates:
    """Rates of actuators at states of a batch, whose samples are cases with designs of their own."""

    def __init__(self, model: DriveModel):
        self._model = model
        self._free = len(model.family.reference.freedoms)

    def __call__(self, seen: Sequence[np.ndarray], speed: np.ndarray) -> np.ndarray:
        """Return the actuator rates J V (actuator, samples) from state and rates of the freedoms, (..., samples)."""
        motion = motion_input(self._model.family, list(seen))
        rows_of_limbs = self._model.run(motion, forces=False).jacobians.values()
        rows = np.concatenate([values[0].reshape(-1, self._free, motion.shape[1]) for values in rows_of_limbs])
        return np.asarray(sum(rows[:, k] * speed[k] for k in range(self._free)))


@dataclass(frozen=True)
class FedPush:
    """External inputs whose first rows are the actuator forces that motors give on their supply.

    `rates` (actuator, samples) of states (size, samples) of the batch; `whole` holds these states, `columns` the
    requested samples.
    """

    other: Push
    motors: FedMotors
    rates: Callable[[np.ndarray], np.ndarray]
    whole: np.ndarray
    columns: np.ndarray

    def __call__(self, share: np.ndarray, state: np.ndarray) -> np.ndarray:
        """Return the rows."""
        acting, moved = self.other(share, state), self.whole.copy()
        moved[:, self.columns] = state
        asked, count = np.zeros((len(self.motors.constant), moved.shape[1])), len(self.motors.constant)
        asked[:, self.columns] = acting[:count]
        force, _ = self.motors.given(asked, self.rates(moved))
        return np.concatenate([force.take(self.columns, axis=1), acting[count:]])

    def of(self, columns: np.ndarray) -> FedPush:
        """Return the inputs of some samples."""
        selected_columns = self.columns[columns]
        return FedPush(self.other.of(columns), self.motors, self.rates, self.whole, selected_columns)


class MotorDemand(NamedTuple):
    """Motor quantities that forces need (*batch, actuator): current [A], voltage [V], electrical power [W]."""

    current: np.ndarray
    voltage: np.ndarray
    power: np.ndarray


@check_arguments
def motor_demand(
    robot: Robot, *, force: ArrayLike, velocity: ArrayLike, force_rate: ArrayLike | None = None
) -> MotorDemand:
    """Compute the currents, voltages and powers for forces of actuators at their rates, (*batch, actuator) both.

    The power at the terminals is the mechanical power plus the heat of the winding; if negative, it flows back. For
    motors with an inductance, the voltage also depends on force_rate (*batch, actuator) [N m/s or N/s]. Raises
    ValueError where an actuator has no motor, and for motors with an inductance without force_rate.

        >>> robot = ls.robots.build("irb6")
        >>> ls.motor_demand(robot, force=[0.2] * 5, velocity=[100.0] * 5).voltage.shape
        (5,)
    """
    constant, names = torque_constants(robot), robot.mechanism.actuators
    u, v = (checked(name, x, constant.shape, names) for name, x in (("force", force), ("velocity", velocity)))
    current = u / constant
    voltage = current * _resistances(robot) + constant * v
    if robot.mechanism.has_windings:
        if force_rate is None:
            raise ValueError(
                "force_rate: got nothing for motors with an inductance, whose voltage includes L di/dt; expected the "
                "rates of the forces (*batch, actuator)"
            )
        change = checked("force_rate", force_rate, constant.shape, names) / constant
        coils = [motor.inductance or 0.0 for motor in robot.mechanism.motors]
        voltage = voltage + change * np.array(coils, dtype=float)
    return MotorDemand(*np.broadcast_arrays(current, voltage, voltage * current))


def _resistances(robot: Robot) -> np.ndarray:
    return np.array([motor.resistance for motor in robot.mechanism.motors], dtype=float)
