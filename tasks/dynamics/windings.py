"""Motors whose windings have an inductance: currents as a part of the state, and steps that hold them however stiff.

    L i' = U - R i - K w,    u = K i        L: inductance, U: voltage, R: resistance, K w: back-EMF, u: force

A drive that is asked for a force or a current has a loop of bandwidth b: it gives U = L b (i* - i) + R i + K w, with
which i' = b (i* - i), as far as its voltage reaches. The same loop keeps currents below their largest.

Steps are those of Runge and Kutta's method of order four, exponential in the currents: what decays within L / R or
1 / b is integrated as it is, with the accelerations that it causes, whether it takes many steps or a small part of one.
Sources: Krogstad 2005, Generalized integrating factor methods for stiff PDEs, J. Comput. Phys. 203, Eq. (51); Harnefors
and Nee 1998, Model-based current control of AC machines using the internal model control method, IEEE Trans. Ind. Appl.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from tasks.dynamics.fed_motors import FedMotors
from tasks.dynamics.instant.moments import ROUGH, STILL, JointModes, StateRates
from tasks.dynamics.integration import Along, MotionSystem, Step

STIFF = 0.05
"""Step over a time constant of a current from which what decays within the step is followed into the accelerations."""

TERMS, SMALL = 18, 1.0
"""Terms of the series of functions of the exponential, and up to where it is used."""


@dataclass(frozen=True)
class WindingVoltage:
    """Voltages [V] at windings (actuator, samples), and masks: given by the current loop, other than was asked for."""

    voltage: np.ndarray
    looped: np.ndarray
    cut: np.ndarray


@dataclass(frozen=True)
class Windings:
    """Motors of a batch with the inductance [H] of their windings and the bandwidth [rad/s] of their current loops.

    Arrays (actuator, samples), or (actuator, 1) for all samples.
    """

    motors: FedMotors
    inductance: np.ndarray
    bandwidth: np.ndarray

    @classmethod
    def of_motors(cls, motors: FedMotors, coils: Sequence[tuple[ArrayLike | None, ArrayLike]]) -> Windings:
        """Return the windings from inductance and bandwidth of each motor, numbers or (samples,).

        Raises ValueError where an inductance is not above zero, and where a command takes a current loop and there is
        none.
        """
        inductance, bandwidth = (
            np.stack([np.atleast_1d(np.asarray(np.nan if x is None else x, dtype=float)) for x in column])
            for column in zip(*coils, strict=True)
        )
        if not (inductance > 0.0).all():
            got = "got motors with none above zero"
            raise ValueError(f"inductance: {got}; expected one for every motor of a robot, or for none")
        result = cls(motors, inductance, bandwidth)
        loops = not motors.by_voltage.all() or bool(np.isfinite(result.most).any())
        if loops and not (bandwidth > 0.0).all():
            got = "got 0 for a motor that is asked for a force or a current, or has a largest one"
            raise ValueError(f"bandwidth: {got}; expected that of its current loop [rad/s] above zero, such as 2000")
        return result

    def of(self, columns: np.ndarray) -> Windings:
        """Return the windings of some samples."""

        def taken(values: np.ndarray) -> np.ndarray:
            return values if values.shape[-1] == 1 else values.take(columns, axis=-1)

        motors = FedMotors(**{name: taken(values) for name, values in vars(self.motors).items()})
        return Windings(motors, taken(self.inductance), taken(self.bandwidth))

    @property
    def most(self) -> np.ndarray:
        """Largest currents [A]."""
        return np.minimum(self.motors.current, self.motors.force / np.abs(self.motors.constant))

    def given(self, current: np.ndarray, command: np.ndarray, velocity: np.ndarray) -> WindingVoltage:
        """Return the voltages at currents and rates of actuators for what is command, (actuator, samples) all."""
        motors, steer = self.motors, self.inductance * self.bandwidth
        hold, most = motors.resistance * current + motors.constant * velocity, self.most
        bounded, room = np.isfinite(most), np.where(np.isfinite(most), most, 0.0)
        low = np.where(bounded, hold - steer * (room + current), -np.inf)
        high = np.where(bounded, hold + steer * (room - current), np.inf)
        wished = command / motors.constant
        aimed = hold + steer * (np.clip(wished, -most, most) - current)
        steered = np.where(motors.by_voltage, np.clip(command, low, high), aimed)
        voltage = np.clip(steered, -motors.voltage, motors.voltage)
        cut = np.where(motors.by_voltage, voltage != command, (voltage != steered) | (np.abs(wished) > most))
        return WindingVoltage(voltage, (voltage == steered) & (~motors.by_voltage | (steered != command)), cut)

    def rate(self, current: np.ndarray, velocity: np.ndarray, voltage: np.ndarray) -> np.ndarray:
        """Return the rates of currents [A/s] at voltages (actuator, samples)."""
        motors = self.motors
        return (voltage - motors.resistance * current - motors.constant * velocity) / self.inductance


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
        self.layout = replace(base.layout, windings=base.layout.actuators)

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

    def delivered(self, state: np.ndarray, command: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the forces of actuators (actuator, samples), and a mask of motors whose supply cuts the command."""
        force = self.windings.motors.constant * state[self.layout.at["current"]]
        return force, self.given(state, command).cut

    def given(self, state: np.ndarray, command: np.ndarray) -> WindingVoltage:
        """Return the voltages at a state."""
        return self.windings.given(state[self.layout.at["current"]], command, self.velocity(state))

    def rates(
        self, state: np.ndarray, modes: JointModes, acting: np.ndarray, stage: np.ndarray | None = None,
        *, decided: bool = True,
    ) -> StateRates:  # fmt: skip
        """Return all rates at a state, see `MotionSystem.rates`."""
        rows, inner = self.layout.acting["force"], self.base.layout.size
        current, command, velocity = state[inner:], acting[rows], self.velocity(state)
        pushed = acting.copy()
        pushed[rows] = np.where(np.isfinite(command), self.windings.motors.constant * current, command)
        moved = self.base.rates(np.ascontiguousarray(state[:inner]), modes, pushed, stage, decided=decided)
        voltage = self.windings.given(current, command, velocity).voltage
        change = self.windings.rate(current, velocity, voltage)
        change[:, moved.status != 0] = np.nan
        return replace(moved, rate=np.concatenate([moved.rate, change]))

    def coupling(self, state: np.ndarray, modes: JointModes, first: StateRates, acting: np.ndarray) -> np.ndarray:
        """Return the change of other rates with currents (row, actuator, samples), at the start of a step."""
        inner = self.base.layout.size
        columns = []
        for k in range(len(state) - inner):
            moved = state.copy()
            moved[inner + k] += 1.0
            columns.append(self.rates(moved, modes, acting, decided=False).rate[:inner] - first.rate[:inner])
        return np.nan_to_num(np.stack(columns, axis=1), posinf=0.0, neginf=0.0)


def phi(order: int, z: np.ndarray) -> np.ndarray:
    """Return the function phi of an order at -z: the sum of (-z)^j / (j + order)! over j, for z from zero on.

    >>> phi(1, np.array([0.0, 2.0])).round(4)
    array([1.    , 0.4323])
    """
    small = np.minimum(z, SMALL)
    series = np.zeros_like(small)
    for j in reversed(range(TERMS)):
        series = series * -small + 1.0 / math.factorial(j + order)
    large = np.maximum(z, SMALL)
    closed = np.exp(-large)
    for k in range(order):
        closed = (1.0 / math.factorial(k) - closed) / large
    return np.where(z <= SMALL, series, closed)


@dataclass(frozen=True)
class _Linear:
    """The linear part of a step of `length`: currents decay at rates (actuator, samples), and change others' rates."""

    decay: np.ndarray
    coupling: np.ndarray | None
    length: np.ndarray

    def phi(self, order: int, share: float, rate: np.ndarray) -> np.ndarray:
        """Return the function phi of an order, of the linear part over a share of the step, times a rate."""
        inner, z = len(rate) - len(self.decay), self.decay * (self.length * share)
        result = rate / math.factorial(order)
        result[inner:] = phi(order, z) * rate[inner:]
        if self.coupling is not None:
            reached = phi(order + 1, z) * rate[inner:] * (self.length * share)
            result[:inner] += np.einsum("ijs,js->is", self.coupling, reached)
        return result

    def rest(self, state: np.ndarray, rate: np.ndarray) -> np.ndarray:
        """Return a rate less the linear part at a state."""
        inner = len(rate) - len(self.decay)
        result = rate.copy()
        result[inner:] += self.decay * state[inner:]
        if self.coupling is not None:
            result[:inner] -= np.einsum("ijs,js->is", self.coupling, state[inner:])
        return result


def exponential_rk4(
    system: MotionSystem, state: np.ndarray, modes: JointModes, first: StateRates, length: np.ndarray, push: Along
) -> tuple[np.ndarray, np.ndarray]:
    """Integrate with order four, exponential in currents, if the step is smooth and voltages stay of one kind."""
    assert isinstance(system, WoundSystem)
    none, rows = np.zeros_like(length), system.layout.acting["force"]
    acting, windings = push(none, state), system.windings
    looped = system.given(state, acting[rows]).looped
    decay = np.where(looped, windings.bandwidth, windings.motors.resistance / windings.inductance)
    stiff = decay * length > STIFF
    coupling = np.where(stiff, system.coupling(state, modes, first, acting), 0.0) if stiff.any() else None
    linear, flips = _Linear(decay, coupling, length), np.zeros(len(length), dtype=bool)

    def evaluated(share: float, at: np.ndarray) -> np.ndarray:
        nonlocal flips
        acting = push(none + share, at)
        flips = flips | (system.given(at, acting[rows]).looped != looped).any(axis=0)
        return system.rates(at, modes, acting).rate

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
