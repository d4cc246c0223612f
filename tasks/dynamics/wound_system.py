"""The equations of a robot whose motors have windings, and steps that are stable for stiff currents.

Steps use Runge and Kutta's method of order four, exponential in the drives: the decay and oscillation of drives, and
the accelerations that these cause, are integrated exactly, even if their time constants are much shorter than a step.
Source: Krogstad 2005, Generalized integrating factor methods for stiff PDEs, J. Comput. Phys. 203, Eq. (51).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tasks.dynamics.exponentials import doubled, phi
from tasks.dynamics.instant.moments import ROUGH, STILL, JointModes, StateRates
from tasks.dynamics.motion_system import MotionSystem
from tasks.dynamics.step_methods import Along, RatedSystem, Step
from tasks.dynamics.windings import DriveVoltage, Windings

STIFF = 0.05
"""Step, relative to the time constant of a current, from which accelerations include the decay within the step."""


class WoundSystem(MotionSystem):
    """The equations of a robot whose motors have windings: the external input `force` is the command of the motors.

    velocity: rates of the actuators at states of the whole batch, `width` samples; `columns` are the samples of this
    system.
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
    system: RatedSystem, state: np.ndarray, modes: JointModes, first: StateRates, length: np.ndarray, push: Along
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
