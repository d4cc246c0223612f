"""Motions that move all parameters: finite Fourier series, at rest at both ends of the period, within limits.

A series has free numbers (coordinate, free); whatever they are, the motion starts and ends at rest, and is scaled to
the limits of position, velocity and acceleration. Limits of forces and workspace are kept by shrinking the whole
motion. What is optimised is the condition number of the base regressor, or the determinant of its normal matrix.
Sources: Swevers et al. 1997; Park 2006, for the conditions at the ends.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.optimize import minimize

from robots.fourier import FREE, Series
from robots.model import TRANSLATION, TWIST, Robot
from robots.parameters import nearest
from tasks.identification.base import BaseParameters
from tasks.identification.regressor import regressor
from tasks.inputs import Moving
from tasks.mathematics.rotations import roll_pitch_yaw

Array = Any
SHRINK = 0.8
SHRINKS = 40


@dataclass(frozen=True)
class Limits:
    """Largest distances from the centre, velocities, accelerations, one for each freedom or one for all; and forces."""

    position: Array
    velocity: Array = np.inf
    acceleration: Array = np.inf
    force: Array = np.inf

    @property
    def of_motion(self) -> tuple[Array, Array, Array]:
        """Those that a series alone can keep."""
        return self.position, self.velocity, self.acceleration


def moving(robot: Robot, series: Series, times: Array) -> Moving:
    """A series of the robot's freedoms as `tasks.inputs.Moving`; platforms turn by roll, pitch and yaw."""
    position, velocity, acceleration = series.at(times)
    if robot.mechanism.is_chain:
        return {"q": position, "qd": velocity, "qdd": acceleration}
    platform = robot.mechanism.platform
    whole = np.zeros((3, len(position), 6))
    for k, name in enumerate(platform.mobility):
        whole[:, :, TWIST.index(name)] = position[:, k], velocity[:, k], acceleration[:, k]
    home = np.array(platform.home.position)
    if set(platform.mobility) <= set(TRANSLATION):
        return {"position": home + whole[0, :, 3:], "twist": whole[1], "acceleration": whole[2]}
    turn = roll_pitch_yaw(whole[0, :, :3], whole[1, :, :3], whole[2, :, :3])
    return {
        "position": home + whole[0, :, 3:],
        "rotation": turn.rotation @ np.array(platform.home.rotation),
        "twist": np.concatenate([turn.omega, whole[1, :, 3:]], axis=1),
        "acceleration": np.concatenate([turn.alpha, whole[2, :, 3:]], axis=1),
    }


def condition(matrix: np.ndarray) -> float:
    """Logarithm of the condition number, columns scaled to length one."""
    sizes = np.linalg.norm(matrix, axis=0)
    singular = np.linalg.svd(matrix / np.maximum(sizes, np.finfo(float).tiny), compute_uv=False)
    return float(np.log(singular[0] / max(singular[-1], np.finfo(float).tiny)))


def determinant(matrix: np.ndarray) -> float:
    """Minus the logarithm of the determinant of the normal matrix of one sample: D-optimality."""
    singular = np.linalg.svd(matrix / np.sqrt(len(matrix)), compute_uv=False)
    return float(-2.0 * np.log(np.maximum(singular, np.finfo(float).tiny)).sum())


CRITERIA: Mapping[str, Callable[[np.ndarray], float]] = {"condition": condition, "determinant": determinant}


@dataclass(frozen=True)
class Excitation:
    """The problem of exciting a robot: its base parameters, limits, centre and period of the motion, what counts.

    `nominal` are guesses of the base parameters (kept,), for the limits of forces; `options` go to `tasks.regressor`.
    Raises ValueError for an unknown criterion and for limits of forces without nominal values.
    """

    robot: Robot
    base: BaseParameters
    limits: Limits
    period: float
    centre: Array = 0.0
    samples: int = 100
    criterion: str = "condition"
    nominal: Array = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.criterion not in CRITERIA:
            raise ValueError(f"criterion: got {self.criterion!r}; {nearest(self.criterion, CRITERIA)}")
        if np.isfinite(self.limits.force).any() and self.nominal is None:
            raise ValueError("limits.force: got a limit without nominal; expected guesses of the base parameters")

    @cached_property
    def freedoms(self) -> int:
        """Number of freedoms."""
        return len(self.robot.mechanism.freedoms)

    def series(self, free: Array) -> Series:
        """The series of free numbers, shrunk until the robot can follow it with the forces that it has."""
        centre = np.broadcast_to(np.asarray(self.centre, dtype=float), (self.freedoms,))
        result = Series.within(free, centre, self.period, self.limits.of_motion)
        for _ in range(SHRINKS):
            if self._feasible(self.matrix(result)):
                return result
            result = result.shrunk(SHRINK)
        raise ValueError(
            f"centre: {self.robot.name} cannot move around {np.asarray(self.centre).tolist()} within its limits; "
            "expected a pose that can be reached and held; choose another centre, or larger forces"
        )

    def matrix(self, series: Series) -> np.ndarray:
        """The base regressor along a series (samples, actuator, kept)."""
        moved = moving(self.robot, series, series.times(self.samples))
        return self.base.reduced(regressor(self.robot, **moved, **self.options))

    def _feasible(self, matrix: np.ndarray) -> bool:
        if not np.isfinite(matrix).all():
            return False
        limit = np.asarray(self.limits.force, dtype=float)
        return not np.isfinite(limit).any() or bool((np.abs(matrix @ np.asarray(self.nominal)) <= limit).all())

    def cost(self, free: Array) -> float:
        """What is made small."""
        matrix = self.matrix(self.series(free))
        return CRITERIA[self.criterion](matrix.reshape(-1, matrix.shape[-1]))

    def random(self, seed: int, number: int) -> np.ndarray:
        """Free numbers of random motion `number`."""
        return np.random.default_rng([seed, number]).normal(size=self.freedoms * FREE)

    def optimise(self, starts: int = 8, seed: int = 0, steps: int = 15, threads: int = 2) -> Optimum:
        """The best of several searches from random starts, in threads; the same for any number of them."""
        first = [self.random(seed, k) for k in range(starts)]

        def one(free: np.ndarray) -> tuple[float, np.ndarray]:
            found = minimize(self.cost, free, method="L-BFGS-B", options={"maxiter": steps, "eps": 1e-5})
            return float(found.fun), found.x

        with ThreadPoolExecutor(threads) as pool:
            done = list(pool.map(one, first))
            random = np.array(list(pool.map(self.cost, first)))
        best = min(done, key=lambda each: each[0])
        return Optimum(self.series(best[1]), best[0], random)


@dataclass(frozen=True)
class Optimum:
    """The best series, its cost, and costs of the random ones it began with (start,)."""

    series: Series
    cost: float
    random: np.ndarray

    @property
    def factor(self) -> float:
        """By how much the criterion is better than that of the median of random motions, as a ratio."""
        return float(np.exp(np.median(self.random) - self.cost))
