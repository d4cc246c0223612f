"""Methods that integrate a robot over one step in time, and the part of a robot that they need.

A method is `step(system, state, modes, first, length, push) -> (state, rough)`: `first` are the rates at its start,
`rough` marks samples whose step was too long. `rk4`: Runge and Kutta's of order four; `euler`: industrial manipulators
paper, Eq. (22); `semi_implicit`: the same with the new velocity; `rosenbrock`: of order two and L-stable in friction
that is smooth but stiff, such as friction with bristles, after Verwer et al. 1999 (ROS2, which keeps its order with any
Jacobian).

Friction modes do not change within a step; `tasks.dynamics.integration` cuts steps where they do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Protocol

import numpy as np

from tasks.dynamics.instant.layout import StateLayout
from tasks.dynamics.instant.moments import ROUGH, STILL, JointModes, StateRates

Along = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""External inputs (rows of `StateLayout.acting`, samples), from shares of the step (samples,) and states (size,
samples)."""


class RatedSystem(Protocol):
    """The part of `tasks.dynamics.motion_system.MotionSystem` that methods need."""

    layout: StateLayout

    def rates(
        self, state: np.ndarray, modes: JointModes, acting: np.ndarray, stage: np.ndarray | None = None,
        *, decided: bool = True,
    ) -> StateRates:  # fmt: skip
        """Return all rates at a state."""
        ...

    def going(self, state: np.ndarray, speed: np.ndarray) -> np.ndarray:
        """Return the rate of a state's position at this speed (freedom, samples)."""
        ...


Step = Callable[[RatedSystem, np.ndarray, JointModes, StateRates, np.ndarray, Along], tuple[np.ndarray, np.ndarray]]

GAMMA = 1.0 - math.sqrt(0.5)


def rk4(
    system: RatedSystem, state: np.ndarray, modes: JointModes, first: StateRates, length: np.ndarray, push: Along
) -> tuple[np.ndarray, np.ndarray]:
    """Integrate with order four (Runge-Kutta) if the step is smooth."""
    rates = [first.rate]
    for share in (0.5, 0.5, 1.0):
        at = state + rates[-1] * (share * length)
        rates.append(system.rates(at, modes, push(share * np.ones_like(length), at)).rate)
    a, b, c, d = rates
    speed = system.layout.at["qd"]
    most = np.max([np.abs(each[speed]).max(axis=0) for each in rates], axis=0)
    rough = np.abs(c[speed] - b[speed]).max(axis=0) > ROUGH * most + STILL
    return state + (a + (b + c) * 2.0 + d) * (length / 6.0), rough


def euler(
    system: RatedSystem, state: np.ndarray, modes: JointModes, first: StateRates, length: np.ndarray, push: Along
) -> tuple[np.ndarray, np.ndarray]:
    """Integrate positions from velocities, and velocities from accelerations, at the start."""
    return state + first.rate * length, np.zeros(length.shape, dtype=bool)


def semi_implicit(
    system: RatedSystem, state: np.ndarray, modes: JointModes, first: StateRates, length: np.ndarray, push: Along
) -> tuple[np.ndarray, np.ndarray]:
    """Integrate positions from the velocities at the end."""
    at, following = system.layout.at, state + first.rate * length
    following[at["q"]] = state[at["q"]] + system.going(state, following[at["qd"]]) * length
    return following, np.zeros(length.shape, dtype=bool)


def rosenbrock(
    system: RatedSystem, state: np.ndarray, modes: JointModes, first: StateRates, length: np.ndarray, push: Along
) -> tuple[np.ndarray, np.ndarray]:
    """Integrate by two stages with the Jacobian of friction."""
    at, none = system.layout.at, np.zeros_like(length)
    still = np.zeros((at["memory"].stop - at["qd"].start, len(length)))
    scale, changing = (GAMMA * length)[None], slice(at["qd"].start, at["memory"].stop)
    one = system.rates(state, modes, push(none, state), np.concatenate([scale, still])).rate
    middle = state + one * length
    stage = np.concatenate([scale, one[changing] * 2.0])
    two = system.rates(middle, modes, push(none + 1.0, middle), stage).rate
    result = state + (one * 3.0 + two) * (length * 0.5)
    for name in at.keys() - {"qd", "memory"}:  # explicit parts
        result[at[name]] = state[at[name]] + (one[at[name]] + two[at[name]]) * (length * 0.5)
    return result, np.zeros(length.shape, dtype=bool)


METHODS: Mapping[str, Step] = {step.__name__: step for step in (rk4, euler, semi_implicit, rosenbrock)}
"""Methods by name."""
