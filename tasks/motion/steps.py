"""Steps in time of a robot between events: methods as data, steps of their own length for every sample.

A method is `step(system, state, modes, first, length, push) -> (state, rough)`: `first` are the rates at its start,
`rough` says where it was too long. `rk4`: Runge and Kutta's of order four; `euler`: industrial manipulators paper,
Eq. (22); `semi_implicit`: the same with the new velocity; `rosenbrock`: of order two and L-stable in friction that is
smooth but stiff, such as that of bristles, after Verwer et al. 1999 (ROS2, which keeps its order with any Jacobian).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from tasks.motion.system import Modes, MotionSystem, Rates

Along = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""What acts (rows of `Layout.acting`, samples) at a share of the step (samples,), for states (size, samples)."""

Step = Callable[[MotionSystem, np.ndarray, Modes, Rates, np.ndarray, Along], tuple[np.ndarray, np.ndarray]]

ROUGH = 0.1
"""Difference of the two accelerations in the middle of a step, relative to the largest, from which it is too long."""

STILL = 1e-6
"""Acceleration [m/s^2, rad/s^2] below which differences are rounding."""

GAMMA = 1.0 - math.sqrt(0.5)


def rk4(
    system: MotionSystem, state: np.ndarray, modes: Modes, first: Rates, length: np.ndarray, push: Along
) -> tuple[np.ndarray, np.ndarray]:
    """Order four where nothing breaks."""
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
    system: MotionSystem, state: np.ndarray, modes: Modes, first: Rates, length: np.ndarray, push: Along
) -> tuple[np.ndarray, np.ndarray]:
    """Positions from velocities, velocities from accelerations at the start."""
    return state + first.rate * length, np.zeros(length.shape, dtype=bool)


def semi_implicit(
    system: MotionSystem, state: np.ndarray, modes: Modes, first: Rates, length: np.ndarray, push: Along
) -> tuple[np.ndarray, np.ndarray]:
    """Positions from the velocities at the end."""
    at, following = system.layout.at, state + first.rate * length
    following[at["q"]] = state[at["q"]] + system.going(state, following[at["qd"]]) * length
    return following, np.zeros(length.shape, dtype=bool)


def rosenbrock(
    system: MotionSystem, state: np.ndarray, modes: Modes, first: Rates, length: np.ndarray, push: Along
) -> tuple[np.ndarray, np.ndarray]:
    """Two stages with the Jacobian of friction."""
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
