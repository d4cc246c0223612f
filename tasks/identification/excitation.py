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
from scipy.linalg import null_space
from scipy.optimize import minimize

from robots.model import TRANSLATION, TWIST, Robot
from robots.motions import HARMONICS
from robots.parameters import nearest
from tasks.identification.base import BaseParameters
from tasks.identification.regressor import regressor
from tasks.inputs import Moving
from tasks.rotations import roll_pitch_yaw

Array = Any
LOOKED_AT = 500
"""Samples of a period at which limits are kept: 50 for a turn of the fastest harmonic."""
SHRINK = 0.8
SHRINKS = 40
NUMBERS = np.arange(1.0, HARMONICS + 1)
SINES, COSINES = null_space(NUMBERS[None]), null_space(np.stack([np.ones(HARMONICS), NUMBERS**2]))
"""Amplitudes of sines without velocity, and of cosines without position and acceleration, at both ends."""
FREE = SINES.shape[1] + COSINES.shape[1]


@dataclass(frozen=True)
class Limits:
    """Largest distances from the centre, velocities, accelerations, one for each freedom or one for all; and forces."""

    position: Array
    velocity: Array = np.inf
    acceleration: Array = np.inf
    force: Array = np.inf


@dataclass(frozen=True)
class Series:
    """A motion: centre (freedom,), period [s], amplitudes of sines and cosines (freedom, harmonic)."""

    centre: np.ndarray
    period: float
    sines: np.ndarray
    cosines: np.ndarray

    @classmethod
    def within(cls, free: Array, centre: Array, period: float, limits: Limits, samples: int = LOOKED_AT) -> Series:
        """The series of free numbers (freedom, FREE), scaled down to the limits but those of forces."""
        free = np.asarray(free, dtype=float).reshape(-1, FREE)
        sines, cosines = free[:, : SINES.shape[1]] @ SINES.T, free[:, SINES.shape[1] :] @ COSINES.T
        raw = cls(np.zeros(len(free)), period, sines, cosines)
        excess = np.zeros(len(free))
        bounds = (limits.position, limits.velocity, limits.acceleration)
        for moved, limit in zip(raw.at(raw.times(samples)), bounds, strict=True):
            excess = np.maximum(excess, np.abs(moved).max(axis=0) / np.asarray(limit, dtype=float))
        scale = 1.0 / np.maximum(excess, np.finfo(float).tiny)
        return cls(np.asarray(centre, dtype=float), period, sines * scale[:, None], cosines * scale[:, None])

    def times(self, samples: int) -> np.ndarray:
        """Times over one period, the end left out."""
        return np.arange(samples) * (self.period / samples)

    def at(self, times: Array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Position, velocity, acceleration (time, freedom)."""
        turning = 2.0 * np.pi / self.period * NUMBERS
        angle = np.asarray(times, dtype=float)[:, None] * turning
        s, c = np.sin(angle), np.cos(angle)
        position = s @ self.sines.T + c @ self.cosines.T
        velocity = (c * turning) @ self.sines.T - (s * turning) @ self.cosines.T
        return self.centre + position, velocity, -((s * turning**2) @ self.sines.T + (c * turning**2) @ self.cosines.T)

    def shrunk(self, factor: float) -> Series:
        """The same motion, smaller."""
        return Series(self.centre, self.period, self.sines * factor, self.cosines * factor)

    @property
    def values(self) -> dict[str, Any]:
        """Parameters of the kind `fourier` of `robots.motions`, lists by freedom."""
        named: dict[str, Any] = {"centre": self.centre.tolist(), "period": self.period}
        for k in range(HARMONICS):
            named |= {f"sine_{k + 1}": self.sines[:, k].tolist(), f"cosine_{k + 1}": self.cosines[:, k].tolist()}
        return named

    def moving(self, robot: Robot, times: Array) -> Moving:
        """The motion as `tasks.inputs.Moving`: of joints, or of a platform, turned by roll, pitch and yaw."""
        position, velocity, acceleration = self.at(times)
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
        result = Series.within(free, centre, self.period, self.limits)
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
        moving = series.moving(self.robot, series.times(self.samples))
        return self.base.reduced(regressor(self.robot, **moving, **self.options))

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
