"""Controllers on a reference, and electric motors on a supply, as sources of forces for `simulate`.

A `Servo` is a controller with its numbers and a reference; `simulate` takes it in the place of forces.

    U = R i + k q_a',    u = k i        U: voltage, i: current, k: torque constant and that of the back-EMF, u: force

Motors (`FedMotors`) limit the force at a speed. A drive cuts a current to its largest one, and cannot make a current
that needs more than the voltage of its supply. This limit comes last: beyond the speed at which the back-EMF equals the
supply voltage the motor brakes, with the current that the winding then takes. Inductance is left out: a winding settles
in L / R, below the milliseconds of a motion. Source of forces from currents: industrial manipulators paper, section 3.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from robots.arguments import check_argument, check_arguments, real_numbers, shown
from robots.controllers import Controller, Space, check_space, controller_parameters
from robots.model import Robot
from robots.parameters import ParameterError, nearest
from tasks.dynamics.control import ControlLoop, Settings
from tasks.dynamics.drive_model import InverseModel, case_rows
from tasks.dynamics.drive_values import Seen, motion_input
from tasks.dynamics.fed_motors import ActuatorRates, FedMotors, _resistances, torque_constants
from tasks.dynamics.forces_over_step import Acting, is_of_state, is_of_time
from tasks.dynamics.inputs import moving_input
from tasks.dynamics.records import Moving
from tasks.kernels import kernel
from tasks.kernels.kernel import checked, common_batch
from tasks.mechanics.families import structure_of
from tasks.mechanics.structure import with_parameters


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
        """Return the forces (actuator, samples) over the next step."""
        motion = motion_input(self._family, seen)
        target = np.repeat(self._reference.at(self._number * self._step)[:, None], motion.shape[1], axis=1)
        signals = self._model.signals_at(self._start + self._number * self._step, motion.shape[1])
        here, goal = self._model.run(motion, signals=signals), self._model.run(target, signals=signals)
        result = self._loop.force(self._number, motion, target, here, goal)
        self._number += 1
        return result


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
    """Return the motion inputs (size, instant) of a reference."""
    moving: Moving = {**reference}  # type: ignore[typeddict-item]
    batch, motion = moving_input(robot, moving)
    if len(batch) != 1:
        raise ValueError(f"reference: got batch dims {batch}; expected one, of instants")
    return np.ascontiguousarray(motion[0][:, : batch[0]])


Asked = Literal["force", "current", "voltage"]
"""Quantity commanded to a motor: a force [N m or N], a current [A], or a voltage at its terminals [V]."""


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
    motors = _fed_motors(robot, of, {"voltage": voltage, "current": current, "max_force": max_force})
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


def _fed_motors(robot: Robot, of: Asked, limits: Mapping[str, ArrayLike]) -> FedMotors:
    """Return the motors of a robot on a supply with limits. Raises ValueError for voltages without a resistance."""
    constant, resistance = torque_constants(robot)[:, None], _resistances(robot)[:, None]
    by_motor = {name: _limit(name, value, len(constant)) for name, value in limits.items()}
    if (of == "voltage" or np.isfinite(by_motor["voltage"]).any()) and not (resistance > 0.0).all():
        raise ValueError(
            "voltage: got voltages of motors without a resistance; expected one above zero: a motor's winding decides "
            "what current a voltage makes"
        )
    limits_of_motors = by_motor["max_force"], by_motor["current"], by_motor["voltage"]
    return FedMotors(constant, resistance, *limits_of_motors, np.array([of == "voltage"]))


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
    """Return (*batch, *core) as (*core, padded samples)."""
    shape = part.shape[part.ndim - core :]
    flat = np.broadcast_to(part, (*batch, *shape)).reshape(*batch, -1)
    return kernel.rows(flat, batch).reshape(*shape, -1)


def _limit(name: str, value: ArrayLike, actuators: int) -> np.ndarray:
    numbers = real_numbers(value)
    if numbers.shape not in ((), (actuators,)) or not (numbers > 0.0).all():
        raise ValueError(
            f"{name}: got {shown(value)}; expected a number above zero, or one for each of {actuators} motors"
        )
    return np.broadcast_to(numbers, (actuators,))[:, None]
