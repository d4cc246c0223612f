"""Motors whose windings have an inductance: currents as a part of the state, and steps that hold them however stiff.

    L i' = U - R i - K w,    u = K i        L: inductance, U: voltage, R: resistance, K w: back-EMF, u: force

A drive that is asked for a force or a current i* has a current loop, of one of two kinds. One of bandwidth b gives U =
L b (i* - i) + R i + K w, with which i' = b (i* - i), as far as its voltage reaches; the same loop keeps currents below
their largest. A current controller with gains gives U = P (i* - i) + v, v' = I (i* - i). A drive with a speed
controller can be asked for a speed w*: then i* = P (w* - w) + s, s' = I (w* - w). What limits cut off currents and
voltages goes back into the integrals, which so follow what there is (back-calculation).

Steps are those of Runge and Kutta's method of order four, exponential in the drives: what decays or swings within a
time constant of theirs is integrated as it is, with the accelerations that it causes, whether it takes many steps or a
small part of one. Functions of the exponential are by scaling and squaring.
Sources: Krogstad 2005, Generalized integrating factor methods for stiff PDEs, J. Comput. Phys. 203, Eq. (51);
Skaflestad and Wright 2009, The scaling and modified squaring method for matrix functions related to the exponential,
Appl. Numer. Math. 59; Astrom and Hagglund 2006, Advanced PID Control, section 3.5; Harnefors and Nee 1998, Model-based
current control of AC machines using the internal model control method, IEEE Trans. Ind. Appl.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import ArrayLike

from robots.drives import Motor
from tasks.dynamics.fed_motors import FedMotors
from tasks.dynamics.instant.moments import ROUGH, STILL, JointModes, StateRates
from tasks.dynamics.integration import Along, MotionSystem, Step

STIFF = 0.05
"""Step over a time constant of a current from which what decays within the step is followed into the accelerations."""

TERMS = 18
"""Terms of the series of functions of the exponential, for matrices whose norm is at most one."""

ORDERS = 4
"""Highest order of the functions of the exponential that a step takes."""


@dataclass(frozen=True)
class DriveVoltage:
    """Voltages [V] at windings (actuator, samples), and masks of how they come about.

    reference: currents asked for [A]. looped: the current loop gives the voltage; cut: it is other than was asked for.
    over, excess: what limits cut off currents [A] and voltages [V].
    """

    voltage: np.ndarray
    reference: np.ndarray
    looped: np.ndarray
    cut: np.ndarray
    over: np.ndarray
    excess: np.ndarray

    def differs(self, kind: DriveVoltage) -> np.ndarray:
        """Return a mask (samples,) of voltages that come about otherwise."""
        changed = (self.looped != kind.looped) | ((self.over != 0.0) != (kind.over != 0.0))
        return np.asarray(changed.any(axis=0))


LOOP_NUMBERS = ("inductance", "bandwidth", "current_gain", "current_integral", "speed_gain", "speed_integral")
"""Names of the numbers of windings and loops."""


def loop_numbers(motor: Motor) -> tuple[ArrayLike, ...]:
    """Return `LOOP_NUMBERS` of a motor: inductance [H], bandwidth [rad/s], then gains of its controllers; 0: none.

    >>> loop_numbers(Motor(0.1, 0.5, inductance=0.002, bandwidth=2000.0))
    (0.002, 2000.0, 0.0, 0.0, 0.0, 0.0)
    """
    gains = [
        0.0 if controller is None else gain
        for controller in (motor.current_controller, motor.speed_controller)
        for gain in ((0.0, 0.0) if controller is None else (controller.proportional, controller.integral))
    ]
    return (math.nan if motor.inductance is None else motor.inductance, motor.bandwidth, *gains)


@dataclass(frozen=True)
class Windings:
    """Motors of a batch with the inductance [H] of their windings, and their loops, see `loop_numbers`.

    Arrays (actuator, samples), or (actuator, 1) for all samples. by_speed (samples or 1,): speeds are asked for. start:
    currents at the start [A], at which drives stand still; absent: none.
    """

    motors: FedMotors
    inductance: np.ndarray
    bandwidth: np.ndarray
    current_gain: np.ndarray
    current_integral: np.ndarray
    speed_gain: np.ndarray
    speed_integral: np.ndarray
    by_speed: np.ndarray
    start: np.ndarray | None = None

    @classmethod
    def of_motors(
        cls, motors: FedMotors, numbers: Sequence[Sequence[ArrayLike]], by_speed: ArrayLike = (False,),
        start: np.ndarray | None = None,
    ) -> Windings:  # fmt: skip
        """Return the windings from the `loop_numbers` of each motor, numbers or (samples,).

        Raises ValueError where an inductance is not above zero, where a command takes a loop and there is none, and
        where there are two.
        """
        columns = {
            name: np.stack([np.atleast_1d(np.asarray(x, dtype=float)) for x in column])
            for name, column in zip(LOOP_NUMBERS, zip(*numbers, strict=True), strict=True)
        }
        result = cls(motors, by_speed=np.atleast_1d(np.asarray(by_speed, dtype=bool)), start=start, **columns)
        if not (result.inductance > 0.0).all():
            got = "got motors with none above zero"
            raise ValueError(f"inductance: {got}; expected one for every motor of a robot, or for none")
        result._check()
        return result

    def _check(self) -> None:
        """Refuse commands that take a loop where there is none."""
        if (self.controlled & (self.bandwidth > 0.0)).any():
            got = "got one beside a current_controller, which is another current loop"
            raise ValueError(f"bandwidth: {got}; expected one of the two")
        by_voltage = self.motors.by_voltage
        loops = not by_voltage.all() and not ((self.bandwidth > 0.0) | self.controlled | by_voltage).all()
        if loops or (by_voltage.any() and np.isfinite(self.most).any() and not (self.bandwidth > 0.0).all()):
            got = "got 0 for a motor that is asked for a force or a current, or has a largest one"
            raise ValueError(f"bandwidth: {got}; expected that of its current loop [rad/s] above zero, such as 2000")
        if self.by_speed.any() and not (self.speed_gain > 0.0).all():
            got = "got speeds for motors of which some have none"
            raise ValueError(f"speed_controller: {got}; expected one for each, or forces, currents or voltages")

    def of(self, columns: np.ndarray) -> Windings:
        """Return the windings of some samples."""

        def taken(values: np.ndarray) -> np.ndarray:
            return values if values.shape[-1] == 1 else values.take(columns, axis=-1)

        parts = {field.name: getattr(self, field.name) for field in fields(self)}
        motors = FedMotors(**{name: taken(values) for name, values in vars(parts.pop("motors")).items()})
        return replace(self, motors=motors, **{name: taken(x) for name, x in parts.items() if x is not None})

    @property
    def most(self) -> np.ndarray:
        """Largest currents [A]."""
        return np.minimum(self.motors.current, self.motors.force / np.abs(self.motors.constant))

    @property
    def controlled(self) -> np.ndarray:
        """Mask of the motors with a current controller."""
        return np.asarray((self.current_gain > 0.0) | (self.current_integral > 0.0))

    @property
    def parts(self) -> int:
        """Number of states of a drive: its current, and the integrals of its controllers where some motor has them."""
        return 3 if self.by_speed.any() else 2 if self.controlled.any() else 1

    def given(self, drives: np.ndarray, command: np.ndarray, velocity: np.ndarray) -> DriveVoltage:
        """Return the voltages at states of drives (part, actuator, samples) and rates of actuators for what is command.

        command, velocity: (actuator, samples).
        """
        motors, steer, current = self.motors, self.inductance * self.bandwidth, drives[0]
        hold, most = motors.resistance * current + motors.constant * velocity, self.most
        bounded, room = np.isfinite(most), np.where(np.isfinite(most), most, 0.0)
        low = np.where(bounded, hold - steer * (room + current), -np.inf)
        high = np.where(bounded, hold + steer * (room - current), np.inf)
        wished = command / motors.constant
        if len(drives) > 2:
            wished = np.where(self.by_speed, self.speed_gain * (command - velocity) + drives[2], wished)
        reference = np.clip(wished, -most, most)
        aimed = hold + steer * (reference - current)
        if len(drives) > 1:
            aimed = np.where(self.controlled, self.current_gain * (reference - current) + drives[1], aimed)
        steered = np.where(motors.by_voltage, np.clip(command, low, high), aimed)
        voltage = np.clip(steered, -motors.voltage, motors.voltage)
        over, excess = wished - reference, steered - voltage
        cut = np.where(motors.by_voltage, voltage != command, (excess != 0.0) | (over != 0.0))
        looped = (excess == 0.0) & (~motors.by_voltage | (steered != command))
        return DriveVoltage(voltage, reference, looped, cut, over, excess)

    def rate(self, supply: DriveVoltage, drives: np.ndarray, command: np.ndarray, velocity: np.ndarray) -> np.ndarray:
        """Return the rates of states of drives (part, actuator, samples), see `given`."""
        motors, result = self.motors, np.empty_like(drives)
        result[0] = (supply.voltage - motors.resistance * drives[0] - motors.constant * velocity) / self.inductance
        if len(drives) > 1:
            change = self.current_integral * (supply.reference - drives[0]) - self._back * supply.excess
            result[1] = np.where(self._integrates, change, 0.0)
        if len(drives) > 2:
            lost = supply.over + supply.excess / self._impedance
            change = self.speed_integral * (command - velocity - lost / self.speed_gain)
            result[2] = np.where(self.by_speed, change, 0.0)
        return result

    @property
    def _integrates(self) -> np.ndarray:
        """Mask of the motors whose current controller is in use."""
        return np.asarray(self.controlled & ~self.motors.by_voltage)

    @property
    def _impedance(self) -> np.ndarray:
        """Voltages that current loops give for an error of the current within their own time [V/A]."""
        quick = np.sqrt(self.current_integral * self.inductance) + self.inductance * self.bandwidth
        return np.asarray(self.current_gain + quick)

    @property
    def _back(self) -> np.ndarray:
        """Rates at which integrals of current controllers come back to limits of the voltage [1/s]."""
        return np.asarray(np.where(self.controlled, self.current_integral / self._impedance, 0.0))

    def linear(self, supply: DriveVoltage, parts: int) -> np.ndarray:
        """Return the change of rates of drives with their states (part, part, actuator, samples)."""
        shape = supply.voltage.shape
        heard = np.broadcast_to(self.by_speed & (supply.over == 0.0), shape)
        alone, gain = self._integrates, self.inductance * self.bandwidth
        reference, steered = np.zeros((2, 3, *shape))
        reference[2] = heard
        steered[0] = np.where(alone, -self.current_gain, self.motors.resistance - gain)
        steered[1], steered[2] = np.where(alone, 1.0, 0.0), np.where(alone, self.current_gain, gain) * heard
        voltage = np.where(supply.looped, steered, 0.0)
        lost = steered - voltage
        result = np.zeros((3, 3, *shape))
        result[0] = voltage / self.inductance
        result[0, 0] -= self.motors.resistance / self.inductance
        result[1] = np.where(alone, self.current_integral * reference - self._back * lost, 0.0)
        result[1, 0] -= np.where(alone, self.current_integral, 0.0)
        if parts == 3:
            lost /= self._impedance
            lost[2] += supply.over != 0.0
            result[2] = np.where(self.by_speed, -self.speed_integral / self.speed_gain * lost, 0.0)
        return result[:parts, :parts]

    def begun(self, command: np.ndarray, velocity: np.ndarray, parts: int) -> np.ndarray:
        """Return states of drives (part, actuator, samples) that stand still with their currents at the start."""
        result = np.zeros((parts, *velocity.shape))
        if self.start is None:
            return result
        motors = self.motors
        result[0] = self.start
        if parts > 1:
            result[1] = np.where(self.controlled, motors.resistance * result[0] + motors.constant * velocity, 0.0)
        if parts > 2:
            result[2] = np.where(self.by_speed, result[0] - self.speed_gain * (command - velocity), 0.0)
        return result


class WoundSystem(MotionSystem):
    """The equations of a robot whose motors have windings: `force` of its external inputs is what motors are asked for.

    velocity: rates of the actuators at states of the whole batch, `width` samples, of which these are `columns`.
    """

    def __init__(
        self, base: MotionSystem, windings: Windings, velocity: Callable[[np.ndarray], np.ndarray],
        width: int = 0, columns: np.ndarray | None = None,
    ):  # fmt: skip
        super().__init__(base.instant, load_with_platform=base.load_with_platform)
        self.base, self.windings, self._velocity = base, windings, velocity
        self._width, self._columns = width, columns
        self.layout = replace(base.layout, windings=base.layout.actuators, integrals=windings.parts - 1)

    @property
    def is_stiff(self) -> bool:
        """Return whether adaptive steps are implicit: always."""
        return True

    def step_of(self, method: str) -> Step:
        """Return the step of `rk4`. Raises ValueError for other methods."""
        if method != "rk4":
            got = f"got {method!r} for motors with an inductance"
            raise ValueError(f"method: {got}; expected 'rk4', whose steps are exponential in currents")
        return exponential_rk4

    def part(self, columns: np.ndarray) -> WoundSystem:
        """Return the same for some of the samples."""
        chosen = columns if self._columns is None else self._columns[columns]
        base, windings = self.base.part(columns), self.windings.of(columns)
        return WoundSystem(base, windings, self._velocity, self._width, chosen if self._width else None)

    def velocity(self, state: np.ndarray) -> np.ndarray:
        """Return the rates of actuators (actuator, samples)."""
        moving = state[: self.base.layout.moving]
        if self._columns is None:
            return self._velocity(moving)
        whole = np.repeat(moving[:, :1], self._width, axis=1)
        whole[:, self._columns] = moving
        return self._velocity(whole)[:, self._columns]

    def drives(self, state: np.ndarray) -> np.ndarray:
        """Return the states of drives (part, actuator, samples), which are the last ones."""
        return state[self.base.layout.size :].reshape(-1, self.layout.windings, state.shape[1])

    def delivered(self, state: np.ndarray, command: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the forces of actuators (actuator, samples), and a mask of motors whose supply cuts the command."""
        force = self.windings.motors.constant * state[self.layout.at["current"]]
        return force, self.given(state, command).cut

    def given(self, state: np.ndarray, command: np.ndarray) -> DriveVoltage:
        """Return the voltages at a state."""
        return self.windings.given(self.drives(state), command, self.velocity(state))

    def begun(self, state: np.ndarray, acting: np.ndarray) -> np.ndarray:
        """Return the state with which a motion starts: drives stand still with their currents."""
        command, result = acting[self.layout.acting["force"]], state.copy()
        begun = self.windings.begun(command, self.velocity(state), self.layout.integrals + 1)
        result[self.base.layout.size :] = begun.reshape(-1, state.shape[1])
        return result

    def rates(
        self, state: np.ndarray, modes: JointModes, acting: np.ndarray, stage: np.ndarray | None = None,
        *, decided: bool = True,
    ) -> StateRates:  # fmt: skip
        """Return all rates at a state, see `MotionSystem.rates`."""
        return self.driven(state, modes, acting, stage, decided=decided)[0]

    def driven(
        self, state: np.ndarray, modes: JointModes, acting: np.ndarray, stage: np.ndarray | None = None,
        *, decided: bool = True,
    ) -> tuple[StateRates, DriveVoltage]:  # fmt: skip
        """Return all rates at a state, and the voltages there."""
        rows, inner = self.layout.acting["force"], self.base.layout.size
        drives, command, velocity = self.drives(state), acting[rows], self.velocity(state)
        current, pushed = drives[0], acting.copy()
        pushed[rows] = np.where(np.isfinite(command), self.windings.motors.constant * current, command)
        moved = self.base.rates(np.ascontiguousarray(state[:inner]), modes, pushed, stage, decided=decided)
        supply = self.windings.given(drives, command, velocity)
        change = self.windings.rate(supply, drives, command, velocity).reshape(-1, state.shape[1])
        change[:, moved.status != 0] = np.nan
        return replace(moved, rate=np.concatenate([moved.rate, change])), supply

    def coupling(self, state: np.ndarray, modes: JointModes, first: StateRates, acting: np.ndarray) -> np.ndarray:
        """Return the change of other rates with currents (row, actuator, samples), at the start of a step."""
        inner, count, width = self.base.layout.size, self.layout.windings, state.shape[1]
        columns, rows = np.tile(np.arange(width), count), self.layout.acting["force"]
        pushed = acting.take(columns, axis=1).reshape(-1, count, width)
        current, command = state[inner : inner + count], acting[rows]
        more = current[:, None] + np.eye(count)[:, :, None]
        force = self.windings.motors.constant[:, None] * more
        pushed[rows] = np.where(np.isfinite(command)[:, None], force, command[:, None])
        still = JointModes(modes.both.take(columns, axis=1))
        moved = self.base.part(columns).rates(
            np.ascontiguousarray(state[:inner].take(columns, axis=1)), still, pushed.reshape(len(acting), -1),
            decided=False,
        ).rate  # fmt: skip
        change = moved.reshape(inner, count, width) - first.rate[:inner, None]
        return np.nan_to_num(change, posinf=0.0, neginf=0.0)


def phi(z: np.ndarray) -> list[np.ndarray]:
    """Return the functions phi of matrices (..., n, n) by order: the sum of z^j / (j + order)! over j.

    >>> [float(each[0, 0].round(4)) for each in phi(np.array([[-2.0]]))[:2]]
    [0.1353, 0.4323]
    """
    norm = np.nan_to_num(np.abs(z).sum(axis=-1).max(axis=-1), nan=0.0, posinf=0.0)
    halvings = np.ceil(np.log2(np.maximum(norm, 1.0))).astype(int)[..., None, None]
    small, unit = z * 0.5**halvings, np.eye(z.shape[-1])
    last = np.zeros_like(small)
    for j in reversed(range(TERMS)):
        last = small @ last + unit / math.factorial(j + ORDERS)
    result = [last]
    for order in reversed(range(ORDERS)):
        result.insert(0, small @ result[0] + unit / math.factorial(order))
    for k in range(int(halvings.max(initial=0))):
        result = [np.where(k < halvings, two, one) for one, two in zip(result, doubled(result), strict=True)]
    return result


def doubled(functions: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return the functions phi by order at twice the matrices.

    >>> float(doubled(phi(np.array([[-1.0]])))[1][0, 0].round(4))
    0.4323
    """
    whole = functions[0]
    return [
        (whole @ functions[j] + sum(functions[i] / math.factorial(j - i) for i in range(1, j + 1))) * 0.5**j
        for j in range(len(functions))
    ]


class _Linear:
    """The linear part of a step of `length`: of drives (part, part, actuator, samples), and others' with currents."""

    def __init__(self, drives: np.ndarray, coupling: np.ndarray | None, length: np.ndarray):
        self.drives, self.coupling, self.length = drives, coupling, length
        half = phi(np.moveaxis(drives * (0.5 * length), (0, 1), (-2, -1)))
        self._phi = {0.5: half, 1.0: doubled(half)}

    def phi(self, order: int, share: float, rate: np.ndarray) -> np.ndarray:
        """Return the function phi of an order, of the linear part over a share of the step, times a rate."""
        parts, _, motors, samples = self.drives.shape
        inner = len(rate) - parts * motors
        moved = np.moveaxis(rate[inner:].reshape(parts, motors, samples), 0, -1)[..., None]

        def times(order: int) -> np.ndarray:
            return np.moveaxis((self._phi[share][order] @ moved)[..., 0], -1, 0)

        result = rate / math.factorial(order)
        result[inner:] = times(order).reshape(-1, samples)
        if self.coupling is not None:
            reached = times(order + 1)[0] * (self.length * share)
            result[:inner] += np.einsum("ijs,js->is", self.coupling, reached)
        return result

    def rest(self, state: np.ndarray, rate: np.ndarray) -> np.ndarray:
        """Return a rate less the linear part at a state."""
        parts, _, motors, samples = self.drives.shape
        inner, result = len(rate) - parts * motors, rate.copy()
        drives = state[inner:].reshape(parts, motors, samples)
        result[inner:] -= np.einsum("ijns,jns->ins", self.drives, drives).reshape(-1, samples)
        if self.coupling is not None:
            result[:inner] -= np.einsum("ijs,js->is", self.coupling, drives[0])
        return result


def exponential_rk4(
    system: MotionSystem, state: np.ndarray, modes: JointModes, first: StateRates, length: np.ndarray, push: Along
) -> tuple[np.ndarray, np.ndarray]:
    """Integrate with order four, exponential in currents, if the step is smooth and voltages stay of one kind."""
    assert isinstance(system, WoundSystem)
    none, rows = np.zeros_like(length), system.layout.acting["force"]
    acting, windings = push(none, state), system.windings
    supply = system.given(state, acting[rows])
    drives = windings.linear(supply, system.layout.integrals + 1)
    swings = np.sqrt(np.abs(drives[0, 1] * drives[1, 0])) if len(drives) > 1 else 0.0
    stiff = np.maximum(np.abs(drives[0, 0]), swings) * length > STIFF
    coupling = np.where(stiff, system.coupling(state, modes, first, acting), 0.0) if stiff.any() else None
    linear, flips = _Linear(drives, coupling, length), np.zeros(len(length), dtype=bool)

    def evaluated(share: float, at: np.ndarray) -> np.ndarray:
        nonlocal flips
        moved, here = system.driven(at, modes, push(none + share, at))
        flips = flips | here.differs(supply)
        return moved.rate

    a, one = first.rate, linear.rest(state, first.rate)
    half = state + linear.phi(1, 0.5, a) * (0.5 * length)
    b = evaluated(0.5, half)
    two = linear.rest(half, b)
    middle = half + linear.phi(2, 0.5, two - one) * length
    c = evaluated(0.5, middle)
    three = linear.rest(middle, c)
    whole = state + linear.phi(1, 1.0, a) * length
    last = whole + linear.phi(2, 1.0, three - one) * (2.0 * length)
    d = evaluated(1.0, last)
    four = linear.rest(last, d)
    end = whole + linear.phi(2, 1.0, 2.0 * (two + three) - 3.0 * one - four) * length
    end += linear.phi(3, 1.0, one - two - three + four) * (4.0 * length)
    speed = system.layout.at["qd"]
    most = np.max([np.abs(each[speed]).max(axis=0) for each in (a, b, c, d)], axis=0)
    return end, flips | (np.abs(c[speed] - b[speed]).max(axis=0) > ROUGH * most + STILL)
