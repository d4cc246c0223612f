"""Motions that excite all parameters: finite Fourier series, at rest at both ends of the period, within limits.

A series has free numbers (coordinate, free); whatever they are, the motion starts and ends at rest, and is scaled to
the limits of position, velocity and acceleration. Limits of forces and workspace are kept by shrinking the whole
motion. The objective is the condition number of the base regressor, or the determinant of its normal matrix.
Sources: Swevers et al. 1997; Park 2006, for the conditions at the ends.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from applications.identification.estimation.base import BaseParameters
from robots.data_classes import dataclass
from robots.limits import NO_LIMITS
from robots.limits import Limits as RangeLimits
from robots.model import Robot
from robots.parameter_errors import nearest
from robots.trajectories.trajectory import FREE, Series
from robots.types import IDENTITY, TRANSLATION, TWIST
from tasks.dynamics.inputs import present
from tasks.dynamics.inverse import actuator_positions, body_motion, inverse_dynamics, inverse_kinematics
from tasks.dynamics.records import NO_FORCES, STANDING, Environment, Forces, Motion, Moving
from tasks.dynamics.regressor import regressor
from tasks.dynamics.resolution import resolved_motion
from tasks.mathematics.rotations import roll_pitch_yaw

SHRINK = 0.8
SHRINKS = 40
STEPS = 60
"""Steps of a search."""
SHARP = 100.0
"""Order of the means that replace largest and smallest values in searches."""
KEPT = 1e-9
"""Tolerance for rounding errors at the ends of the range of a joint."""
STEP = 1e-5
"""Step of differences for slopes; motions are scaled, so that it fits numbers of any size."""


@dataclass(frozen=True)
class ExcitationLimits:
    """Largest distances from the centre, velocities, accelerations, one for each coordinate or one for all.

    Distances below and above the centre (2, coordinate) where these differ. Then of actuators, one for each or one for
    all: force, distance from where they are at the centre (stroke), velocity and acceleration.
    """

    position: ArrayLike
    velocity: ArrayLike = np.inf
    acceleration: ArrayLike = np.inf
    force: ArrayLike = np.inf
    stroke: ArrayLike = np.inf
    actuator_velocity: ArrayLike = np.inf
    actuator_acceleration: ArrayLike = np.inf

    @property
    def of_motion(self) -> tuple[ArrayLike, ArrayLike, ArrayLike]:
        """Limits that a series alone can keep: position, velocity, acceleration of the coordinates."""
        return self.position, self.velocity, self.acceleration

    @property
    def of_actuators(self) -> tuple[ArrayLike, ArrayLike, ArrayLike]:
        """Limits of the motion of the actuators: stroke, velocity, acceleration."""
        return self.stroke, self.actuator_velocity, self.actuator_acceleration


@dataclass(frozen=True)
class Sphere:
    """A sphere [m] in the frame of a body: `limb.body` (`body` in a chain), `platform`, or `base`, which is fixed."""

    body: str
    centre: tuple[float, float, float]
    radius: float


def moving(
    robot: Robot,
    series: Series,
    times: ArrayLike,
    coordinates: Sequence[str] = (),
    orientation: ArrayLike = IDENTITY,
) -> Moving:
    """Return a series of some freedoms (absent: all) as `tasks.dynamics.records.Moving`.

    Platforms turn by roll, pitch and yaw about an `orientation` (3, 3) relative to the reference pose. The series of a
    redundant robot is that of its given coordinates; its motion is that of all freedoms, NaN for undetermined ones.
    """
    position, velocity, acceleration = series.at(times)
    if robot.mechanism.is_chain:
        return resolved_motion(robot, {"q": position, "qd": velocity, "qdd": acceleration})
    platform = robot.mechanism.platform
    whole = np.zeros((3, len(position), 6))
    for k, name in enumerate(coordinates or platform.mobility):
        whole[:, :, TWIST.index(name)] = position[:, k], velocity[:, k], acceleration[:, k]
    home = np.array(platform.home.position)
    if set(platform.mobility) <= set(TRANSLATION):
        return {"position": home + whole[0, :, 3:], "twist": whole[1], "acceleration": whole[2]}
    turn = roll_pitch_yaw(whole[0, :, :3], whole[1, :, :3], whole[2, :, :3])
    return {
        "position": home + whole[0, :, 3:],
        "rotation": turn.rotation @ np.array(orientation) @ np.array(platform.home.rotation),
        "twist": np.concatenate([turn.omega, whole[1, :, 3:]], axis=1),
        "acceleration": np.concatenate([turn.alpha, whole[2, :, 3:]], axis=1),
    }


def condition(matrix: np.ndarray) -> np.ndarray:
    """Return the logarithm of the condition number of matrices (*batch, row, column), columns scaled to length one."""
    sizes = np.linalg.norm(matrix, axis=-2, keepdims=True)
    singular = _singular(matrix / np.maximum(sizes, np.finfo(float).tiny))
    return np.asarray(np.log(singular[..., 0] / np.maximum(singular[..., -1], np.finfo(float).tiny)))


def smooth_condition(matrix: np.ndarray) -> np.ndarray:
    """Approximate `condition` by means of order SHARP of singular values, differentiable where two are equal."""
    sizes = np.linalg.norm(matrix, axis=-2, keepdims=True)
    singular = np.log(np.maximum(_singular(matrix / np.maximum(sizes, np.finfo(float).tiny)), np.finfo(float).tiny))
    count, means = np.log(singular.shape[-1]), []
    for sign, end in ((1.0, singular[..., :1]), (-1.0, singular[..., -1:])):
        total = np.log(np.exp(SHARP * sign * (singular - end)).sum(axis=-1))
        means.append(sign * end[..., 0] + (total - count) / SHARP)
    return np.asarray(means[0] + means[1])


def determinant(matrix: np.ndarray) -> np.ndarray:
    """Return minus the logarithm of the determinant of the normal matrix of one sample: D-optimality."""
    singular = _singular(matrix / np.sqrt(matrix.shape[-2]))
    return np.asarray(-2.0 * np.log(np.maximum(singular, np.finfo(float).tiny)).sum(axis=-1))


def _singular(matrix: np.ndarray) -> np.ndarray:
    """Return the singular values (*batch, column), from R alone, which is small."""
    return np.asarray(np.linalg.svd(np.linalg.qr(matrix, mode="r"), compute_uv=False))


CRITERIA: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {"condition": condition, "determinant": determinant}
SMOOTH: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {"condition": smooth_condition, "determinant": determinant}
"""Smooth criteria for searches, used with smooth limits. The best motions are still selected by CRITERIA."""


@dataclass(frozen=True)
class Excitation:
    """The problem of exciting a robot: its base parameters, limits, centre and period of the motion, criterion.

    `nominal` are guesses of the base parameters (kept,), for the limits of forces; the regressor has `environment`,
    `forces` and `shared`; `coordinates` are the freedoms that move (absent: all that are given), `orientation` is as
    for `moving`. `ranges` of any joints are kept, and `spheres` of different bodies do not overlap; spheres that
    overlap at the centre are neighbours, and are not checked. Raises ValueError for an unknown criterion, limits of
    forces without nominal values, or spheres of unknown bodies.
    """

    robot: Robot
    base: BaseParameters
    limits: ExcitationLimits
    period: float
    centre: ArrayLike = 0.0
    samples: int = 100
    criterion: str = "condition"
    nominal: ArrayLike | None = None
    environment: Environment = STANDING
    forces: Forces = NO_FORCES
    shared: bool = False
    coordinates: tuple[str, ...] = ()
    orientation: ArrayLike = IDENTITY
    ranges: RangeLimits = NO_LIMITS
    spheres: tuple[Sphere, ...] = ()

    def __post_init__(self) -> None:
        if self.criterion not in CRITERIA:
            raise ValueError(f"criterion: got {self.criterion!r}; {nearest(self.criterion, CRITERIA)}")
        if np.isfinite(self.limits.force).any() and self.nominal is None:
            raise ValueError("limits.force: got a limit without nominal; expected guesses of the base parameters")
        for sphere in self.spheres:
            if sphere.body not in self._bodies:
                hint = nearest(sphere.body, self._bodies)
                raise ValueError(f"spheres: got the body {sphere.body!r}; expected one of the robot; {hint}")

    @cached_property
    def freedoms(self) -> int:
        """Number of coordinates that move."""
        return len(self.coordinates or self.robot.mechanism.given)

    def series(self, free: ArrayLike) -> Series:
        """Return the series of free numbers, shrunk until the robot can follow it with the forces that it has."""
        return self._followed(np.asarray(free)[None])[0][0]

    def matrix(self, series: Series) -> np.ndarray:
        """Return the base regressor along a series (samples, actuator, kept)."""
        return self._matrices(self._moved([series]))[0]

    def cost(self, free: ArrayLike) -> float:
        """Compute the cost of a motion; small is good."""
        return float(self.costs(np.asarray(free)[None])[0])

    def costs(self, free: ArrayLike, *, smooth: bool = False) -> np.ndarray:
        """Compute the costs of several motions (motion, numbers) at once; smooth: with smooth limits and criterion."""
        matrices = self._followed(np.asarray(free), SHARP if smooth else np.inf)[1]
        criterion = (SMOOTH if smooth else CRITERIA)[self.criterion]
        return criterion(matrices.reshape(len(matrices), -1, matrices.shape[-1]))

    def _followed(self, free: np.ndarray, sharpness: float = np.inf) -> tuple[list[Series], np.ndarray]:
        """Return the series of free numbers (motion, numbers), each shrunk to its limits, and their base regressors."""
        centre = np.broadcast_to(np.asarray(self.centre, dtype=float), (self.freedoms,))
        found = [Series.within(each, centre, self.period, self.limits.of_motion, sharpness) for each in free]
        matrices, waiting = np.empty((len(found), 0, 0, 0)), np.arange(len(found))
        for _ in range(SHRINKS):
            moved = self._moved([found[k] for k in waiting])
            tried = self._matrices(moved)
            if not matrices.size:
                matrices = np.empty((len(found), *tried.shape[1:]))
            good = self._feasible(tried) & self._within_reach(moved) & self._within_ranges(moved) & self._apart(moved)
            matrices[waiting[good]] = tried[good]
            waiting = waiting[~good]
            if not len(waiting):
                return found, matrices
            for k in waiting:
                found[k] = found[k].shrunk(SHRINK)
        raise ValueError(
            f"centre: {self.robot.name} cannot move around {np.asarray(self.centre).tolist()} within its limits; "
            "expected a pose that can be reached and held, inside the ranges of all joints; choose another centre, or "
            "larger forces"
        )

    def _moved(self, series: Sequence[Series]) -> Moving:
        """Return several motions side by side (motion, samples, ...)."""
        motions = [
            present(moving(self.robot, one, one.times(self.samples), self.coordinates, self.orientation))
            for one in series
        ]
        return cast(Moving, {name: np.stack([motion[name] for motion in motions]) for name in motions[0]})

    def _matrices(self, moved: Moving) -> np.ndarray:
        """Return the base regressors (motion, samples, actuator, kept)."""
        return self.base.reduced(self._regressor(moved))

    def _regressor(self, moved: Moving) -> np.ndarray:
        return regressor(self.robot, Motion(**moved), self.forces, self.environment, shared=self.shared).matrix

    def _feasible(self, matrices: np.ndarray) -> np.ndarray:
        """Return whether each motion can be solved and driven within the limits of force."""
        good, limit = np.isfinite(matrices).all(axis=(1, 2, 3)), np.asarray(self.limits.force, dtype=float)
        if np.isfinite(limit).any():
            with np.errstate(invalid="ignore"):
                good &= (np.abs(matrices @ np.asarray(self.nominal)) <= limit).all(axis=(1, 2))
        return np.asarray(good)

    def _within_reach(self, moved: Moving) -> np.ndarray:
        """Return whether the actuators of each motion keep their limits."""
        limits = [np.asarray(limit, dtype=float) for limit in self.limits.of_actuators]
        if not any(np.isfinite(limit).any() for limit in limits):
            return np.ones(len(np.asarray(next(iter(present(moved).values())))), dtype=bool)
        position = actuator_positions(self.robot, **moved).position
        velocity = inverse_dynamics(self.robot, **moved).velocity
        # the motion is periodic, so that its spectrum gives the derivative
        rates = 2j * np.pi * np.fft.rfftfreq(self.samples, self.period / self.samples)
        acceleration = np.fft.irfft(np.fft.rfft(velocity, axis=1) * rates[:, None], self.samples, axis=1)
        series = (position - position[:, :1], velocity, acceleration)
        with np.errstate(invalid="ignore"):
            within = [(np.abs(x) <= limit).all(axis=(1, 2)) for x, limit in zip(series, limits, strict=True)]
        return np.asarray(np.all(within, axis=0))

    def _within_ranges(self, moved: Moving) -> np.ndarray:
        """Return whether the joints of each motion, passive joints included, keep their ranges."""
        motions = len(np.asarray(next(iter(present(moved).values()))))
        ranges = {place: limit for place, limit in self.ranges.joints.items() if limit.ends}
        good = np.ones(motions, dtype=bool)
        if ranges:
            position = inverse_kinematics(self.robot, **moved).position
            for (limb, joint), limit in ranges.items():
                values = position[..., limb, joint]
                with np.errstate(invalid="ignore"):
                    good &= ((values >= limit.low - KEPT) & (values <= limit.high + KEPT)).all(axis=1)
        return good

    @cached_property
    def _bodies(self) -> dict[str, tuple[int, int]]:
        """Numbers of the limb and of the link of each body that may have spheres; -1 for platform and base."""
        mechanism, result = self.robot.mechanism, {"base": (-1, -1)}
        if not mechanism.is_chain:
            result["platform"] = (-1, 0)
        for k, instance in enumerate(mechanism.instances):
            before = "" if mechanism.is_chain else f"{instance.name}."
            result |= {f"{before}{link.body}": (k, i) for i, link in enumerate(mechanism.limbs[instance.limb].links)}
        return result

    def _apart(self, moved: Moving) -> np.ndarray:
        """Return whether spheres of different bodies stay apart in each motion. A motion begins at the centre."""
        motions = len(np.asarray(next(iter(present(moved).values()))))
        good = np.ones(motions, dtype=bool)
        if not self.spheres:
            return good
        bodies = body_motion(self.robot, **moved)
        placed = []
        for sphere in self.spheres:
            limb, link = self._bodies[sphere.body]
            centre = np.array(sphere.centre)
            if limb < 0 and link < 0:
                placed.append(np.broadcast_to(centre, (motions, self.samples, 3)))
                continue
            body = bodies.platform if limb < 0 else bodies.limbs[limb][link]
            placed.append(body.position + body.rotation @ centre)
        for i, j in itertools.combinations(range(len(placed)), 2):
            one, second = self.spheres[i], self.spheres[j]
            gap = np.linalg.norm(placed[i] - placed[j], axis=-1) - one.radius - second.radius
            if one.body != second.body and gap[0, 0] > 0.0:
                good &= (gap > 0.0).all(axis=1)
        return good

    def random(self, seed: int, number: int) -> np.ndarray:
        """Return the free numbers of random motion `number`."""
        return np.random.default_rng([seed, number]).normal(size=self.freedoms * FREE)

    def search(self, free: ArrayLike, steps: int = STEPS) -> tuple[float, np.ndarray]:
        """Return the least cost near free numbers, and where it is; never above that of the start.

        Where several limits or singular values are at their ends, costs have ridges that no slope follows; so the
        search is one of smooth costs.
        """
        best = (np.inf, np.asarray(free))

        def with_slope(x: np.ndarray) -> tuple[float, np.ndarray]:
            nonlocal best
            costs = self.costs(np.vstack([x, x + np.eye(len(x)) * STEP]), smooth=True)
            best = min(best, (self.cost(x), x.copy()), key=lambda point: point[0])
            return float(costs[0]), (costs[1:] - costs[0]) / STEP

        # Shrinking a motion until its limits hold makes the cost jump, and a line search may then end above its start.
        # A coordinate is scaled to its limits whatever its numbers are; of length one, steps mean the same for all.
        numbers = np.asarray(free, dtype=float).reshape(-1, FREE)
        first = (numbers / np.maximum(np.linalg.norm(numbers, axis=1, keepdims=True), np.finfo(float).tiny)).ravel()
        minimize(with_slope, first, jac=True, method="L-BFGS-B", options={"maxiter": steps})
        return best

    def optimise(self, starts: int = 8, seed: int = 0, steps: int = STEPS, threads: int = 2) -> Optimum:
        """Return the best of several searches from random starts, in threads; the same for any number of threads."""
        first = [self.random(seed, k) for k in range(starts)]
        with ThreadPoolExecutor(threads) as pool:
            done = list(pool.map(lambda free: self.search(free, steps), first))
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
        """Ratio of the median criterion of random motions to the criterion of this motion."""
        return float(np.exp(np.median(self.random) - self.cost))
