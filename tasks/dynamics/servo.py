"""Controllers on a reference, and electric motors on a supply, as sources of forces for `simulate`.

A `Servo` is a controller with its numbers and a reference; `simulate` takes it in the place of forces.

    U = R i + k q_a',    u = k i        U: voltage, i: current, k: torque constant and that of the back-EMF, u: force

Motors (`FedMotors`) limit the force at a speed. A drive cuts a current to its largest one, and cannot make a current
that needs more than the voltage of its supply. This limit comes last: beyond the speed at which the back-EMF equals the
supply voltage the motor brakes, with the current that the winding then takes. Inductance is left out: a winding settles
in L / R, below the milliseconds of a motion. Source of forces from currents: industrial manipulators paper, section 3.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike

from robots.arguments import check_argument, check_arguments, real_numbers, shown
from robots.controllers import Controller, Space, check_space, controller_parameters
from robots.model import Family, Robot
from robots.parameters import ParameterError, nearest
from tasks.dynamics.control import ControlLoop, Settings
from tasks.dynamics.drive_model import InverseModel, case_rows
from tasks.dynamics.drive_values import signal_columns
from tasks.dynamics.forces_over_step import Acting, OfState, OfTime, Push, is_of_state, is_of_time
from tasks.dynamics.inputs import moving_input
from tasks.dynamics.records import Moving
from tasks.kernels import kernel
from tasks.kernels.kernel import checked, common_batch
from tasks.mechanics.structure import structure_of, with_parameters

Seen = Sequence[np.ndarray]
"""A state: q and qd (freedom, samples) of a chain; position (3,), rotation (3, 3), twist (6, samples) of a platform."""


@dataclass(frozen=True, eq=False)
class ReferenceMotion:
    """A motion at instants evenly spaced from zero: motion inputs of kernels (size, instant); it holds its end."""

    step: float
    motion: np.ndarray

    def at(self, time: float) -> np.ndarray:
        """Return the motion input (size,) at a time, which has to be one of the instants or beyond the last.

        Raises ValueError for times between the instants.
        """
        number = round(time / self.step)
        if abs(number * self.step - time) > 1e-6 * self.step:
            raise ValueError(f"reference: got the time {time!r} s; expected a multiple of its step of {self.step!r} s")
        return self.motion[:, min(number, self.motion.shape[1] - 1)]


class Servo:
    """A controller of one robot that follows a reference; make one with `servo`."""

    def __init__(self, robot: Robot, controller: Controller, values: np.ndarray, reference: ReferenceMotion):
        self.robot, self.controller, self.values, self.reference = robot, controller, values, reference

    def loop(self, samples: int, step: float, gravity: ArrayLike, start: float = 0.0) -> Running:
        """Return the controller of so many samples from the first step on, at the time `start` [s]."""
        return Running(self, samples, step, gravity, start)


class Running:
    """A servo in a simulation, from one step to the next."""

    def __init__(self, servo: Servo, samples: int, step: float, gravity: ArrayLike, start: float = 0.0):
        family = servo.robot.family
        x, y, z = (float(g) for g in np.asarray(gravity, dtype=float))
        parameters = np.repeat(with_parameters(family, servo.robot.values), samples, axis=0)
        self._model = InverseModel(family, case_rows(family, parameters, (x, y, z)))
        settings = Settings.of(family, servo.controller, np.repeat(servo.values[:, None], samples, axis=1))
        self._loop = ControlLoop(self._model, servo.controller, settings, step)
        self._family, self._reference, self._number, self._step = family, servo.reference, 0, step
        self._start = start

    def force(self, seen: Seen) -> np.ndarray:
        """Forces (actuator, samples) over the next step."""
        motion = motion_input(self._family, seen)
        target = np.repeat(self._reference.at(self._number * self._step)[:, None], motion.shape[1], axis=1)
        signals = signal_columns(self._family, self._start + self._number * self._step, motion.shape[1])
        here, goal = self._model.run(motion, signals=signals), self._model.run(target, signals=signals)
        result = self._loop.force(self._number, motion, target, here, goal)
        self._number += 1
        return result


def motion_input(family: Family, seen: Seen) -> np.ndarray:
    """Return the motion input of kernels (size, samples) of a state, without accelerations."""
    if family.reference.is_chain:
        q, qd = seen
        return np.concatenate([q, qd, np.zeros_like(q)])
    position, rotation, twist = seen
    none = np.zeros_like(position)
    if structure_of(family).motion_size == 9:
        return np.concatenate([position, twist[3:], none])
    return np.concatenate([position, rotation.reshape(9, -1), twist, none, none])


@check_arguments
def servo(
    robot: Robot, kind: str, *, reference: Mapping[str, ArrayLike], step: float, space: str = "actuator",
    **parameters: float,
) -> Servo:  # fmt: skip
    """Make a controller by which a robot follows a reference: a force for `simulate`.

    kind: one of `robots.controllers.CONTROLLERS`; space: `actuator`, `joint` or `task`; parameters: its gains, limits
    and times by name, such as `kp`, `force_limit_NAME` or `sample_time`, defaults for the others. reference: q, qd and
    qdd (instant, freedom) of a chain, or position (instant, 3), rotation (instant, 3, 3), twist and acceleration
    (instant, 6) of a platform, at instants of `step` [s] from the start on; missing values are zero, or the reference
    pose; the last one is held. Steps of the simulation are multiples of it. Raises ParameterError and ValueError.

        >>> robot = ls.robots.build("planar_3r")
        >>> hold = ls.servo(robot, "pd", reference={"q": [[0.1, 0.2, 0.3]]}, step=0.001, kp=200.0, kd=20.0)
        >>> ls.simulate(robot, ls.State(q=[0.0, 0.2, 0.3]), hold, [0.0, 0.1], step=0.001).q[-1].round(2)
        array([0.13, 0.14, 0.56])
    """
    mechanism = robot.mechanism
    space_used: Space = check_space(mechanism, kind, space)
    known = controller_parameters(mechanism, kind, space_used)
    for name, value in parameters.items():
        if name not in known:
            raise ParameterError(f"{kind} has no parameter {name!r}; {nearest(name, known)}")
        check_argument(name, value, "float")
        if problem := known[name].problem(float(value)):
            raise ParameterError(f"{kind}: {name} = {value!r} {problem}; expected {known[name].bounds}")
    names = tuple(name for name in known if name in parameters)
    values = np.array([float(parameters[name]) for name in names])
    if not 0 < step < math.inf:
        raise ValueError(f"step: got {step!r}; expected a time above zero [s]")
    return Servo(robot, Controller(kind, space_used, names), values, ReferenceMotion(step, _motion(robot, reference)))


def _motion(robot: Robot, reference: Mapping[str, ArrayLike]) -> np.ndarray:
    """Motion inputs (size, instant) of a reference."""
    moving: Moving = {**reference}  # type: ignore[typeddict-item]
    batch, motion = moving_input(robot, moving)
    if len(batch) != 1:
        raise ValueError(f"reference: got batch dims {batch}; expected one, of instants")
    return np.ascontiguousarray(motion[0][:, : batch[0]])


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
        return checked("current", value, constants.shape) * constants

    if not callable(current):
        return torque(current)
    if is_of_state(current):
        of_state: OfState = current

        @functools.wraps(of_state)  # with its arguments, which say what it is a function of
        def torque_of_state(*state: np.ndarray) -> np.ndarray:
            return torque(of_state(*state))

        return torque_of_state
    of_time = cast(OfTime, current)
    return lambda time: torque(of_time(time))


Asked = Literal["force", "current", "voltage"]
"""Quantity commanded to a motor: a force [N m or N], a current [A], or a voltage at its terminals [V]."""


@dataclass(frozen=True)
class FedMotors:
    """Motors of a batch and their supplies: (actuator, samples) each, or (actuator, 1) for all samples.

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
        """Forces at rates of the actuators, (actuator, samples) both, and whether they differ from the commanded ones.

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
        """Rates J V (actuator, samples) from state and rates of the freedoms, (..., samples)."""
        motion = motion_input(self._model.family, list(seen))
        rows_of_limbs = self._model.run(motion, forces=False).jacobians.values()
        rows = np.concatenate([values[0].reshape(-1, self._free, motion.shape[1]) for values in rows_of_limbs])
        return np.asarray(sum(rows[:, k] * speed[k] for k in range(self._free)))


@dataclass(frozen=True)
class FedPush:
    """External inputs whose first rows, the actuator forces, are those that motors on their supply give.

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
def motor_demand(robot: Robot, *, force: ArrayLike, velocity: ArrayLike) -> MotorDemand:
    """Compute the currents, voltages and powers for forces of actuators at their rates, (*batch, actuator) both.

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


@check_arguments
def on_supply(
    robot: Robot, asked: Acting, *, of: Asked = "force", voltage: ArrayLike = math.inf, current: ArrayLike = math.inf,
    max_force: ArrayLike = math.inf,
) -> Acting:  # fmt: skip
    """Return the forces of motors that are commanded forces, currents or voltages, and are fed by a supply.

    asked (*batch, actuator): an array, or a function of time or of the state as `simulate` takes it; `of` names the
    commanded quantity. voltage [V] of the supply, largest current [A] and force [N m or N]: of all motors, or of
    each (actuator,). The result is a function of the state: forces fall with the speed, because the back-EMF takes
    a part of the voltage. Raises ValueError where an actuator has no motor, or no resistance and there are
    voltages, and for limits that are not above zero; TypeError for a servo.

        >>> robot = ls.robots.build("irb6")
        >>> push = ls.on_supply(robot, np.full(5, 30.0), of="voltage", current=8.0)
        >>> moved = ls.simulate(robot, ls.State(q=np.zeros(5)), ls.Forces(actuator=push), 1e-3 * np.arange(11))
    """
    if isinstance(asked, Servo):
        raise TypeError(
            "asked: got a servo, which is no function of the state; expected one, or a sweep of simulations with "
            "saturation"
        )
    mechanism, constant = robot.mechanism, torque_constants(robot)[:, None]
    limits = {"voltage": voltage, "current": current, "max_force": max_force}
    limits_of_motors = {name: _limit(name, value, len(constant)) for name, value in limits.items()}
    resistance = _resistances(robot)[:, None]
    if (of == "voltage" or np.isfinite(limits_of_motors["voltage"]).any()) and not (resistance > 0.0).all():
        raise ValueError(
            "voltage: got voltages of motors without a resistance; expected one above zero: a motor's winding decides "
            "what current a voltage makes"
        )
    motors = FedMotors(
        constant,
        resistance,
        limits_of_motors["max_force"],
        limits_of_motors["current"],
        limits_of_motors["voltage"],
        np.array([of == "voltage"]),
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
        force, _ = motors.given(kernel.rows(wished, batch), models[width](wide, speed))
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
    return kernel.rows(flat, batch).reshape(*shape, -1)


def _resistances(robot: Robot) -> np.ndarray:
    return np.array([motor.resistance for motor in robot.mechanism.motors], dtype=float)


def _limit(name: str, value: ArrayLike, actuators: int) -> np.ndarray:
    numbers = real_numbers(value)
    if numbers.shape not in ((), (actuators,)) or not (numbers > 0.0).all():
        raise ValueError(
            f"{name}: got {shown(value)}; expected a number above zero, or one for each of {actuators} motors"
        )
    return np.broadcast_to(numbers, (actuators,))[:, None]
