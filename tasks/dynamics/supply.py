"""Electric motors on a supply as sources of forces for `simulate`.

    U = R i + k q_a',    u = k i        U: voltage, i: current, k: torque constant and that of the back-EMF, u: force

Motors (`FedMotors`) limit the force at a speed. A drive limits the current to its largest value, and to the currents
that the voltage of its supply can drive. The limit of voltage has priority: beyond the speed at which the back-EMF
equals the supply voltage, the motor brakes with the current of its winding. If motors have an inductance, currents are
states: `tasks.dynamics.windings`. Source of forces from currents: industrial manipulators paper, section 3.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from robots.arguments import check_arguments, real_numbers, shown
from robots.labels import in_order_of
from robots.model import Robot
from robots.simulation import Commanded
from tasks.dynamics.drive_model import InverseModel, case_rows
from tasks.dynamics.fed_motors import ActuatorRates, FedMotors, _resistances, from_currents, torque_constants
from tasks.dynamics.forces_over_step import Acting, is_of_state, is_of_time
from tasks.dynamics.motion_system import MotionSystem
from tasks.dynamics.records import ServoLike, SuppliedActing, WoundActing
from tasks.dynamics.windings import Windings, loop_numbers
from tasks.dynamics.wound_system import WoundSystem
from tasks.kernels import kernel
from tasks.kernels.kernel import checked, common_batch
from tasks.mechanics.families import structure_of
from tasks.mechanics.structure import with_parameters


@check_arguments
def on_supply(
    robot: Robot, asked: Acting | ServoLike, *, of: Commanded = "force", voltage: ArrayLike = math.inf,
    current: ArrayLike = math.inf, max_force: ArrayLike = math.inf, start: ArrayLike | None = None,
) -> Acting | WoundActing:  # fmt: skip
    """Return the forces of motors that are commanded forces, currents or voltages, and are fed by a supply.

    asked (*batch, actuator): an array, or a function of time or of the state as `simulate` takes it; `of` names the
    commanded quantity. voltage [V] of the supply, largest current [A] and force [N m or N]: of all motors, or of
    each (actuator,). The result is a function of the state: forces fall with the speed, because the back-EMF takes
    a part of the voltage. For motors with an inductance the result is for `simulate` alone, where their currents are
    states, and `asked` may be a servo. Such motors need a `bandwidth` or a `current_controller`, except for voltages
    without a largest current; speeds [rad/s or m/s] need a `speed_controller`. Currents begin at zero, or at `start`
    (actuator,) [A], with controllers in equilibrium there. Raises ValueError for an actuator without a motor, for
    voltages of a motor without a resistance, and for limits that are not above zero; TypeError for a servo with motors
    without an inductance.

        >>> robot = ls.robots.build("irb6")
        >>> push = ls.on_supply(robot, np.full(5, 30.0), of="voltage", current=8.0)
        >>> moved = ls.simulate(robot, ls.State(q=np.zeros(5)), ls.Forces(actuator=push), 1e-3 * np.arange(11))
    """
    mechanism, constant = robot.mechanism, torque_constants(robot)[:, None]
    motors = _fed_motors(robot, of, {"voltage": voltage, "current": current, "max_force": max_force})
    if mechanism.has_windings:
        command = from_currents(robot, cast(Acting, asked)) if of == "current" else asked
        begun = None if start is None else checked("start", start, (len(constant),), mechanism.actuators).reshape(-1, 1)
        return _wound(robot, command, motors, by_speed=of == "speed", start=begun)
    if of == "speed" or start is not None:
        name, got = ("of", "'speed'") if of == "speed" else ("start", "currents")
        raise ValueError(f"{name}: got {got} for motors without an inductance; expected motors with one")
    if isinstance(asked, ServoLike):
        raise TypeError(
            "asked: got a servo, which is no function of the state; expected one, motors with an inductance, or a "
            "sweep of simulations with saturation"
        )
    scale = constant[:, 0] if of == "current" else np.ones(len(constant))
    models: dict[int, ActuatorRates] = {}

    def fed(time: ArrayLike, seen: Sequence[np.ndarray]) -> np.ndarray:
        cores = [1, 1] if mechanism.is_chain else [1, 2, 1]
        parts = [np.asarray(part, dtype=float) for part in seen]
        wished = _wished(asked, time, parts)
        wished = checked("force", wished, (len(constant),), mechanism.actuators) * scale
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
        return SuppliedActing(robot, lambda time, q, qd: fed(time, (q, qd)))
    return SuppliedActing(robot, lambda time, position, rotation, twist: fed(time, (position, rotation, twist)))


def _fed_motors(robot: Robot, of: Commanded, limits: Mapping[str, ArrayLike]) -> FedMotors:
    """Return the motors of a robot on a supply with limits. Raises ValueError for voltages without a resistance."""
    constant, resistance = torque_constants(robot)[:, None], _resistances(robot)[:, None]
    by_motor = {name: _limit(name, value, robot.mechanism.actuators) for name, value in limits.items()}
    if (of == "voltage" or np.isfinite(by_motor["voltage"]).any()) and not (resistance > 0.0).all():
        raise ValueError(
            "voltage: got voltages of motors without a resistance; expected one above zero, as the resistance of the "
            "winding decides the current"
        )
    limits_of_motors = by_motor["max_force"], by_motor["current"], by_motor["voltage"]
    return FedMotors(constant, resistance, *limits_of_motors, np.array([of == "voltage"]))


def _wound(
    robot: Robot, command: Acting | ServoLike, motors: FedMotors, *, by_speed: bool, start: np.ndarray | None
) -> WoundActing:
    """Return the command of motors with windings. Raises ValueError for motors without the loops that it needs."""
    numbers = [loop_numbers(motor) for motor in robot.mechanism.motors]
    windings = Windings.of_motors(motors, numbers, by_speed, start)
    models: dict[int, ActuatorRates] = {}

    def through(system: MotionSystem) -> WoundSystem:
        def velocity(state: np.ndarray) -> np.ndarray:
            width = state.shape[1]
            if width not in models:
                parameters = np.repeat(with_parameters(robot.family, robot.values), width, axis=0)
                rows = case_rows(robot.family, parameters, (0.0,) * 3)
                models[width] = ActuatorRates(InverseModel(robot.family, rows))
            return models[width](system.instant.seen(state), state[system.layout.at["qd"]])

        return WoundSystem(system, windings, velocity)

    return WoundActing(robot, command, through)


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


def _limit(name: str, value: ArrayLike, actuators: Sequence[str]) -> np.ndarray:
    numbers, count = real_numbers(in_order_of(actuators, name, value)), len(actuators)
    if numbers.shape not in ((), (count,)) or not (numbers > 0.0).all():
        raise ValueError(f"{name}: got {shown(value)}; expected a number above zero, or one for each of {count} motors")
    return np.broadcast_to(numbers, (count,))[:, None]
