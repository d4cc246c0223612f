"""Electric motors on a supply: what they can give at a speed, and what a force takes of them.

    U = R i + k q_a',    u = k i        U: voltage, i: current, k: torque constant and that of the back-EMF, u: force

A drive cuts a current to its largest one, and cannot make one that needs more than the voltage of its supply. That
comes last: beyond the speed at which the back-EMF alone is the supply's voltage the motor brakes, with what current the
winding takes. Inductance is left out: a winding settles in L / R, below the milliseconds of a motion.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from robots.model import Robot
from tasks.control.model import InverseModel, case_rows
from tasks.control.servo import Servo, motion_input
from tasks.kernels import batches
from tasks.kernels.batches import checked, common_batch
from tasks.mechanics.structure import structure_of, with_parameters
from tasks.motion.currents import torque_constants
from tasks.motion.pushes import Acting, Push, is_of_state, is_of_time

Asked = Literal["force", "current", "voltage"]
"""What a motor is asked for: a force [N m or N], a current [A], or a voltage at its terminals [V]."""


@dataclass(frozen=True)
class FedMotors:
    """Motors of a batch and what feeds them: (actuator, samples) each, or (actuator, 1) for all samples.

    torque constant [N m/A or N/A], resistance [ohm]; largest force, current and voltage, infinite where there is none.
    `by_voltage` (samples or 1,): whether voltages are asked for in place of forces.
    """

    constant: np.ndarray
    resistance: np.ndarray
    force: np.ndarray
    current: np.ndarray
    voltage: np.ndarray
    by_voltage: np.ndarray

    def given(self, asked: np.ndarray, velocity: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Forces at rates of the actuators, (actuator, samples) both, and whether these are not what is asked for.

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

    def __init__(self, model: InverseModel):
        self._model = model
        self._free = len(model.family.reference.freedoms)

    def __call__(self, seen: Sequence[np.ndarray], speed: np.ndarray) -> np.ndarray:
        """J V (actuator, samples) for what forces see of the state and rates of the freedoms, (..., samples)."""
        motion = motion_input(self._model.family, list(seen))
        rows_of_limbs = self._model.run(motion, forces=False).jacobians.values()
        rows = np.concatenate([values[0].reshape(-1, self._free, motion.shape[1]) for values in rows_of_limbs])
        return np.asarray(sum(rows[:, k] * speed[k] for k in range(self._free)))


@dataclass(frozen=True)
class FedPush:
    """What acts with its first rows, of the actuators, as motors on their supply give them.

    `rates` (actuator, samples) of states (size, samples) of the batch; `whole` holds these, `columns` those wanted.
    """

    other: Push
    motors: FedMotors
    rates: Callable[[np.ndarray], np.ndarray]
    whole: np.ndarray
    columns: np.ndarray

    def __call__(self, share: np.ndarray, state: np.ndarray) -> np.ndarray:
        """The rows."""
        acting, moved = self.other(share, state), self.whole.copy()
        moved[:, self.columns] = state
        asked, count = np.zeros((len(self.motors.constant), moved.shape[1])), len(self.motors.constant)
        asked[:, self.columns] = acting[:count]
        force, _ = self.motors.given(asked, self.rates(moved))
        return np.concatenate([force.take(self.columns, axis=1), acting[count:]])

    def of(self, columns: np.ndarray) -> FedPush:
        """Those of some samples."""
        chosen = self.columns[columns]
        return FedPush(self.other.of(columns), self.motors, self.rates, self.whole, chosen)


class MotorDemand(NamedTuple):
    """What forces take of motors (*batch, actuator): current [A], voltage [V], electrical power [W]."""

    current: np.ndarray
    voltage: np.ndarray
    power: np.ndarray


def motor_demand(robot: Robot, *, force: ArrayLike, velocity: ArrayLike) -> MotorDemand:
    """Currents, voltages and powers that forces of actuators take at their rates, (*batch, actuator) both.

    The power is that of the terminals: what the motor gives, and the heat of its winding; below zero it flows back.
    Raises ValueError where an actuator has no motor.

        >>> robot = ls.robots.build("irb6")
        >>> ls.motor_demand(robot, force=[0.2] * 5, velocity=[100.0] * 5).voltage.shape
        (5,)
    """
    constant = torque_constants(robot)
    u, v = (checked(name, x, constant.shape) for name, x in (("force", force), ("velocity", velocity)))
    current = u / constant
    voltage = current * _resistances(robot) + constant * v
    return MotorDemand(*np.broadcast_arrays(current, voltage, voltage * current))


def on_supply(
    robot: Robot, asked: Acting, *, of: Asked = "force", voltage: ArrayLike = math.inf, current: ArrayLike = math.inf,
    max_force: ArrayLike = math.inf,
) -> Acting:  # fmt: skip
    """What acts on a robot whose motors are asked for forces, currents or voltages, and are fed by a supply.

    asked (*batch, actuator): an array, or a function of time or of the state as `simulate` takes it; `of` says what of.
    voltage [V] of the supply, largest current [A] and force [N m or N]: of all motors, or of each (actuator,). The
    result is a function of the state: forces fall with the speed, at which the back-EMF takes of the voltage. Raises
    ValueError where an actuator has no motor, or no resistance and there are voltages, and for what is not above zero;
    TypeError for a servo.

        >>> robot = ls.robots.build("irb6")
        >>> push = ls.on_supply(robot, np.full(5, 30.0), of="voltage", current=8.0)
        >>> moved = ls.simulate(robot, force=push, q=np.zeros(5), step=1e-3, steps=10)
    """
    if isinstance(asked, Servo):
        raise TypeError(
            "asked: got a servo, which is no function of the state; expected one, or a sweep of simulations with "
            "saturation"
        )
    mechanism, constant = robot.mechanism, torque_constants(robot)[:, None]
    limits = {"voltage": voltage, "current": current, "max_force": max_force}
    known = {name: _limit(name, value, len(constant)) for name, value in limits.items()}
    resistance = _resistances(robot)[:, None]
    if of not in ("force", "current", "voltage"):
        raise ValueError(f"of: got {of!r}; expected force, current or voltage")
    if (of == "voltage" or np.isfinite(known["voltage"]).any()) and not (resistance > 0.0).all():
        raise ValueError(
            "voltage: got voltages of motors without a resistance; expected one above zero: a motor's winding decides "
            "what current a voltage makes"
        )
    motors = FedMotors(
        constant, resistance, known["max_force"], known["current"], known["voltage"], np.array([of == "voltage"])
    )
    scale = constant[:, 0] if of == "current" else np.ones(len(constant))
    models: dict[int, ActuatorRates] = {}

    def fed(time: ArrayLike, seen: Sequence[np.ndarray]) -> np.ndarray:
        cores = [1, 1] if mechanism.is_chain else [1, 2, 1]
        parts = [np.asarray(part, dtype=float) for part in seen]
        wished = _wished(asked, time, parts)
        wished = checked("force", wished, (len(constant),)) * scale
        shapes = {
            str(k): part.shape[: part.ndim - core] for k, (part, core) in enumerate(zip(parts, cores, strict=True))
        }
        batch = common_batch({"force": wished.shape[:-1], **shapes})
        wide = [_rows(part, core, batch) for part, core in zip(parts, cores, strict=True)]
        width = wide[0].shape[-1]
        if width not in models:
            parameters = np.repeat(with_parameters(robot.family, robot.values), width, axis=0)
            models[width] = ActuatorRates(InverseModel(robot.family, case_rows(robot.family, parameters, (0.0,) * 3)))
        speed = wide[1] if mechanism.is_chain else wide[2][structure_of(robot.family).positions]
        force, _ = motors.given(batches.rows(wished, batch), models[width](wide, speed))
        return force[:, : int(np.prod(batch, dtype=int))].T.reshape(*batch, len(constant))

    if mechanism.is_chain:
        return lambda time, q, qd: fed(time, (q, qd))
    return lambda time, position, rotation, twist: fed(time, (position, rotation, twist))


def _wished(asked: Acting, time: ArrayLike, seen: Sequence[np.ndarray]) -> ArrayLike:
    if not callable(asked):
        return asked
    if is_of_state(asked):
        return asked(time, *seen)
    assert is_of_time(asked)
    moments = np.asarray(time, dtype=float)
    if not moments.ndim:
        return asked(float(moments))
    return np.stack([np.asarray(asked(t), dtype=float) for t in moments.ravel().tolist()]).reshape(*moments.shape, -1)


def _rows(part: np.ndarray, core: int, batch: tuple[int, ...]) -> np.ndarray:
    """(*batch, *core) as (*core, padded samples)."""
    shape = part.shape[part.ndim - core :]
    flat = np.broadcast_to(part, (*batch, *shape)).reshape(*batch, -1)
    return batches.rows(flat, batch).reshape(*shape, -1)


def _resistances(robot: Robot) -> np.ndarray:
    return np.array([motor.resistance for motor in robot.mechanism.motors], dtype=float)


def _limit(name: str, value: ArrayLike, actuators: int) -> np.ndarray:
    numbers = np.asarray(value, dtype=float)
    if numbers.shape not in ((), (actuators,)) or not (numbers > 0.0).all():
        raise ValueError(f"{name}: got {value!r}; expected a number above zero, or one for each of {actuators} motors")
    return np.broadcast_to(numbers, (actuators,))[:, None]
