"""Derivatives of forward dynamics and kinematics, which invert other functions, by the implicit function theorem.

Forward dynamics finds the accelerations a with J^T (u - f(a, x)) = 0, where f are the forces of inverse dynamics and J
its rows of actuators. Forward kinematics finds the pose for given actuator positions. At the solution, both conditions
are linear in the change of the solution. Source: Griewank and Walther, Evaluating Derivatives, 2nd ed., chapter 15.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from robots.model import Robot
from robots.status import Status
from robots.types import TWIST
from tasks.dynamics.directions import Array, Derivatives, check_names, designs, spread, summed, times, zero_for_nan
from tasks.dynamics.inputs import CORES, JOINTS, actuator_forces
from tasks.dynamics.records import NO_FORCES, STANDING, Environment, Forces, Motion
from tasks.kernels.kernel import checked, common_batch

Solve = Callable[..., Any]
"""The function whose result is differentiated."""
Inner = Callable[..., Derivatives]
"""Derivatives of the function that it inverts, at arguments."""

MET = 1e-7
"""Largest relative difference between given forces and the inverse dynamics of their motion with which the motion
counts as determined by them. The difference is larger where friction holds a joint."""

ACTUATOR, TARGET = "actuator", "actuator_position"


class AccelerationDerivatives(Derivatives):
    """Derivatives of `forward_dynamics`; NaN where friction holds a joint, where accelerations have kinks.

    solve: forward dynamics; inverse: derivatives of inverse dynamics.
    """

    def __init__(
        self,
        solve: Solve,
        inverse: Inner,
        robot: Robot,
        motion: Motion,
        forces: Forces,
        environment: Environment,
        parameters: Mapping[str, ArrayLike],
    ):
        mechanism = robot.mechanism
        self.unknown = "qdd" if mechanism.is_chain else "acceleration"
        self.free = _places(robot)
        self.actuator = actuator_forces(robot, forces)
        still = replace(motion, acceleration=None, qdd=None)
        batch, solution = _of_designs(solve, robot, designs(robot, parameters), (still, forces, environment))
        moving = replace(still, **{self.unknown: np.nan_to_num(solution.acceleration)})
        without = replace(forces, actuator=None)
        self.inner = inverse(robot, moving, without, environment, parameters)
        self.batch, self.results = batch, solution._asdict()
        self.jacobian = np.nan_to_num(self.inner.results["jacobian"])
        self.gap = self.actuator - self.inner.results["force"]
        self.good = (solution.status == Status.OK) & ~solution.stuck.any(axis=-1) & self._follows()
        self.gap[~self.good] = 0.0

    def _follows(self) -> Array:
        """Return a mask of the samples (*batch) whose motion follows from the forces."""
        force = np.broadcast_to(self.actuator, self.gap.shape)
        missed, pushed = (np.abs(times(self._transposed, part)).max(axis=-1) for part in (self.gap, force))
        moving = np.abs(np.nan_to_num(self.results["acceleration"][..., self.free]))
        inertial = times(np.abs(self._by_acceleration), moving).max(axis=-1)
        return np.asarray(missed <= MET * np.max([pushed, np.abs(force).max(axis=-1), inertial], axis=0))

    @property
    def _transposed(self) -> Array:
        return np.swapaxes(self.jacobian, -1, -2)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the inputs."""
        return (ACTUATOR, *(name for name in self.inner.inputs if name != self.unknown))

    @cached_property
    def _by_acceleration(self) -> Array:
        """Derivatives J^T df/da (*batch, freedom, freedom); NaN for samples without derivatives."""
        units = np.eye(self.results["acceleration"].shape[-1])[self.free]
        columns = [self.inner.jvp({self.unknown: unit})["force"] for unit in units]
        return np.asarray(self._transposed @ np.stack(columns, axis=-1))

    @property
    def _matrix(self) -> Array:
        """Derivatives J^T df/da, with the unit matrix for samples without derivatives."""
        return _sound(self._by_acceleration, self.good)

    def jvp(self, rates: Mapping[str, ArrayLike]) -> dict[str, Array]:
        """Return the rates of the accelerations; see `Derivatives`."""
        check_names("rates", rates, self.inputs)
        inner = self.inner.jvp({name: rate for name, rate in rates.items() if name != ACTUATOR})
        change = spread(ACTUATOR, rates.get(ACTUATOR, 0.0), self.actuator.shape[-1:], self.batch) - inner["force"]
        right = times(np.swapaxes(inner["jacobian"], -1, -2), self.gap) + times(self._transposed, change)
        rate = np.zeros_like(self.results["acceleration"])
        rate[..., self.free] = _solved(self._matrix, np.where(self.good[..., None], right, np.nan))
        return {"acceleration": rate}

    def vjp(self, cotangents: Mapping[str, ArrayLike]) -> dict[str, Array]:
        """Return the derivatives of a number by all inputs; see `Derivatives`."""
        multiplier, lost = self._multiplier(cotangents)
        pushed = times(self.jacobian, multiplier) + lost
        by_input = self.inner.vjp(self._inner_seeds(self.jacobian, self.gap, multiplier, lost))
        del by_input[self.unknown]
        return {ACTUATOR: summed(pushed, self.actuator.shape[:-1], 1), **by_input}

    def _multiplier(self, cotangents: Mapping[str, ArrayLike]) -> tuple[Array, Array]:
        """Return l with (J^T df/da)^T l = the cotangent, and an array with NaN for cotangents of failed samples."""
        check_names("cotangents", cotangents, ("acceleration",))
        width = self.results["acceleration"].shape[-1:]
        seed = spread("acceleration", cotangents.get("acceleration", 0.0), width, self.batch)[..., self.free]
        lost = np.where(~self.good & (seed != 0.0).any(axis=-1), np.nan, 0.0)[..., None]
        return _solved(np.swapaxes(self._matrix, -1, -2), np.where(self.good[..., None], seed, 0.0)), lost

    @staticmethod
    def _inner_seeds(jacobian: Array, gap: Array, multiplier: Array, lost: ArrayLike = 0.0) -> dict[str, Array]:
        """Return cotangents of inverse dynamics for l^T J^T (u - f), bilinear in (J, u - f) and the multiplier l."""
        return {
            "force": np.negative(times(jacobian, multiplier) + lost),
            "jacobian": gap[..., None] * multiplier[..., None, :],
        }

    def hvp(self, cotangents: Mapping[str, ArrayLike], rates: Mapping[str, ArrayLike]) -> dict[str, Array]:
        """Return the product of second derivatives with a vector; see `Derivatives`."""
        moving = self.jvp(rates)["acceleration"]
        multiplier, lost = self._multiplier(cotangents)
        along = {name: rate for name, rate in rates.items() if name != ACTUATOR} | {self.unknown: zero_for_nan(moving)}
        inner = {name: zero_for_nan(rate) for name, rate in self.inner.jvp(along).items()}
        push = spread(ACTUATOR, rates.get(ACTUATOR, 0.0), self.actuator.shape[-1:], self.batch)
        change = np.where(self.good[..., None], push - inner["force"], 0.0)
        seeds = self._inner_seeds(self.jacobian, self.gap, multiplier, lost)
        total = self.inner.hvp(seeds, along)
        # J and u - f, in which the seeds are linear, change too
        total = _added(total, self.inner.vjp(self._inner_seeds(inner["jacobian"], change, multiplier)))
        right = np.where(self.good[..., None], total.pop(self.unknown)[..., self.free], 0.0)
        second = _solved(np.swapaxes(self._matrix, -1, -2), right)
        by_second = self.inner.vjp(self._inner_seeds(self.jacobian, self.gap, second))
        del by_second[self.unknown]
        pushed = times(inner["jacobian"], multiplier) + times(self.jacobian, second) + lost
        return {ACTUATOR: summed(pushed, self.actuator.shape[:-1], 1), **_added(total, by_second)}


class PoseDerivatives(Derivatives):
    """Derivatives of `forward_kinematics`, by actuator positions and parameters; a guess changes nothing.

    solve: forward kinematics; inverse: derivatives of actuator positions.
    """

    def __init__(
        self,
        solve: Solve,
        inverse: Inner,
        robot: Robot,
        guess: Motion,
        target: ArrayLike | None,
        parameters: Mapping[str, ArrayLike],
    ):
        if target is None:
            raise ValueError("actuator_position: got nothing; expected the actuator positions (*batch, actuator)")
        self.target = checked(TARGET, target, (len(robot.mechanism.actuators),), robot.mechanism.actuators)
        self.free = _places(robot)
        self.parameters = tuple(parameters)
        batch, solution = _poses(solve, robot, designs(robot, parameters), guess, self.target)
        home = robot.mechanism.platform.home
        good = (solution.status == Status.OK)[..., None]
        pose = Motion(
            position=np.where(good, solution.position, home.position),
            rotation=np.where(good[..., None], solution.rotation, home.rotation),
        )
        self.inner = inverse(robot, pose, NO_FORCES, STANDING, parameters)
        self.batch, self.results = batch, solution._asdict()
        self.good = (solution.status == Status.OK) & (self.inner.results["status"] == Status.OK).reshape(batch)
        self.turns = np.asarray(pose.rotation)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the inputs."""
        return (TARGET, *self.parameters)

    @cached_property
    def _matrix(self) -> Array:
        """Return the derivatives (*batch, actuator, freedom) of actuator positions by the pose."""
        columns = [self.inner.jvp(self._rates_of(unit))["position"] for unit in np.eye(len(TWIST))[self.free]]
        return np.where(self.good[..., None, None], np.stack(columns, axis=-1), 1.0)

    def _rates_of(self, unit: Array) -> dict[str, Array]:
        """Return the rates of a pose along a twist; of a platform that cannot turn of its position alone."""
        turning = {"rotation": cross_matrix(unit[:3]) @ self.turns} if unit[:3].any() else {}
        return {"position": unit[3:], **turning}

    def jvp(self, rates: Mapping[str, ArrayLike]) -> dict[str, Array]:
        """Return the rates of position and rotation; see `Derivatives`."""
        check_names("rates", rates, self.inputs)
        fixed = {name: rate for name, rate in rates.items() if name != TARGET}
        change = spread(TARGET, rates.get(TARGET, 0.0), self.target.shape[-1:], self.batch)
        change = change - self.inner.jvp(fixed)["position"] if fixed else change
        twist = np.zeros((*self.batch, len(TWIST)))
        twist[..., self.free] = times(np.linalg.pinv(self._matrix), change)
        twist[~self.good] = np.nan
        return {"position": twist[..., 3:], "rotation": cross_matrix(twist[..., :3]) @ self.results["rotation"]}

    def vjp(self, cotangents: Mapping[str, ArrayLike]) -> dict[str, Array]:
        """Return the derivatives of a number by all inputs; see `Derivatives`."""
        pushed = self._multiplier(cotangents)
        by_input = self.inner.vjp({"position": -pushed})
        return self._of_inputs(pushed, by_input)

    def _of_inputs(self, pushed: Array, by_input: Mapping[str, Array]) -> dict[str, Array]:
        """Return derivatives by actuator positions and parameters."""
        by_parameter = {name: by_input[name] for name in self.parameters}
        return {TARGET: summed(pushed, self.target.shape[:-1], 1), **by_parameter}

    def _multiplier(self, cotangents: Mapping[str, ArrayLike]) -> Array:
        """Return l with (dp/dt)^T l = the cotangent along twists t; NaN for a cotangent of a failed sample."""
        check_names("cotangents", cotangents, ("position", "rotation"))
        seed = self._along_twists(self._cotangents(cotangents), self.turns)[..., self.free]
        lost = np.where(~self.good & (seed != 0.0).any(axis=-1), np.nan, 0.0)[..., None]
        inverse = np.swapaxes(np.linalg.pinv(self._matrix), -1, -2)
        return times(inverse, np.where(self.good[..., None], seed, 0.0)) + lost

    def _cotangents(self, cotangents: Mapping[str, ArrayLike]) -> dict[str, Array]:
        """Return cotangents of position and rotation of all samples."""
        cores = {"position": (3,), "rotation": (3, 3)}
        return {name: spread(name, cotangents.get(name, 0.0), core, self.batch) for name, core in cores.items()}

    @staticmethod
    def _along_twists(by_pose: Mapping[str, Array], turns: Array) -> Array:
        """Return the derivatives (*batch, 6) along twists from those by position and rotation, at rotations `turns`."""
        by_rotation, moved = by_pose.get("rotation", np.zeros((3, 3))), by_pose["position"]
        about = [np.sum(by_rotation * (cross_matrix(unit) @ turns), axis=(-1, -2)) for unit in np.eye(3)]
        turned = np.broadcast_to(np.stack(about, axis=-1), moved.shape)
        return np.concatenate([turned, moved], axis=-1)

    def hvp(self, cotangents: Mapping[str, ArrayLike], rates: Mapping[str, ArrayLike]) -> dict[str, Array]:
        """Return the product of second derivatives with a vector; see `Derivatives`.

        Raises ValueError for a robot with more actuators than freedoms, whose pose is a least-squares fit.
        """
        if self.target.shape[-1] != len(self.free):
            got = f"{self.target.shape[-1]} actuators for {len(self.free)} freedoms"
            raise ValueError(f"second derivatives of forward_kinematics: got {got}; expected as many")
        pose_rates = {name: zero_for_nan(rate) for name, rate in self.jvp(rates).items()}
        multiplier = self._multiplier(cotangents)
        finite_multiplier = np.nan_to_num(multiplier)
        along = {name: rate for name, rate in rates.items() if name != TARGET}
        along |= {name: rate for name, rate in pose_rates.items() if name in self.inner.inputs}
        first, second = (
            self.inner.vjp({"position": finite_multiplier}),
            self.inner.hvp({"position": finite_multiplier}, along),
        )
        change = self._along_twists(self._cotangents(cotangents), pose_rates["rotation"])
        change[..., 3:] = 0.0
        turned = self._along_twists(first, pose_rates["rotation"])
        turned[..., 3:] = 0.0
        right = (change - self._along_twists(second, self.turns) - turned)[..., self.free]
        inverse = np.swapaxes(np.linalg.pinv(self._matrix), -1, -2)
        pushed = times(inverse, np.where(self.good[..., None], right, 0.0)) + (multiplier - finite_multiplier)
        by_input = _added({name: -part for name, part in second.items()}, self.inner.vjp({"position": -pushed}))
        return self._of_inputs(pushed, by_input)


def _places(robot: Robot) -> Array:
    """Return the places of the freedoms in accelerations."""
    mechanism = robot.mechanism
    if mechanism.is_chain:
        return np.arange(len(mechanism.freedoms))
    return np.array([TWIST.index(name) for name in mechanism.platform.mobility])


def _added(one: Mapping[str, Array], other: Mapping[str, Array]) -> dict[str, Array]:
    """Return sums by name."""
    return {name: part + other[name] for name, part in one.items()}


def _sound(matrix: Array, good: Array) -> Array:
    """Return matrices with the unit matrix in the place of those of samples that are not good."""
    return np.where(good[..., None, None], matrix, np.eye(matrix.shape[-1]))


def _solved(matrix: Array, right: Array) -> Array:
    """Return the solutions of linear equations, rows relative to their largest element: pivots have no units then."""
    largest = np.abs(matrix).max(axis=-1, keepdims=True)
    unit = np.where(largest > 0.0, largest, 1.0)
    return np.asarray(np.linalg.solve(matrix / unit, right[..., None] / unit)[..., 0])


class _Accelerations(NamedTuple):
    acceleration: Array
    stuck: Array
    status: Array


class _Poses(NamedTuple):
    position: Array
    rotation: Array
    status: Array


def _of_designs(
    solve: Solve, robot: Robot, table: Mapping[str, Array], call: tuple[Motion, Forces, Environment]
) -> tuple[tuple[int, ...], _Accelerations]:
    """Return the batch dims and the accelerations of all samples, designs one after the other."""
    motion, forces, environment = call
    named: dict[str, Any] = {**motion.moving, ACTUATOR: forces.actuator, "load": forces.load, "time": motion.time}
    cores = {**CORES, **dict.fromkeys(JOINTS, (0,)), ACTUATOR: (0,), "load": (0,), "time": ()}
    arrays = {name: np.asarray(array, dtype=float) for name, array in named.items() if array is not None}
    batch = common_batch(
        {name: array.shape[: array.ndim - len(cores[name])] for name, array in arrays.items()}
        | {name: value.shape for name, value in table.items()}
    )

    def run(robot: Robot, part: Mapping[str, Array]) -> _Accelerations:
        moving = {name: part[name] for name in motion.moving}
        pushes: dict[str, Any] = {name: part[name] for name in (ACTUATOR, "load") if name in part}
        state = replace(motion, **moving, **({"time": part["time"]} if "time" in part else {}))
        solution = solve(robot, state, replace(forces, **pushes), environment)
        return _Accelerations(solution.acceleration, solution.stuck, solution.status)

    return batch, _Accelerations(*_each(robot, table, arrays, {k: len(v) for k, v in cores.items()}, batch, run))


def _poses(
    solve: Solve, robot: Robot, table: Mapping[str, Array], guess: Motion, target: Array
) -> tuple[tuple[int, ...], _Poses]:
    """Return the batch dims and the poses of all samples, designs one after the other."""
    moving = {name: np.asarray(array, dtype=float) for name, array in guess.moving.items()}
    arrays, cores = {**moving, TARGET: target}, {**{name: len(core) for name, core in CORES.items()}, TARGET: 1}
    batch = common_batch(
        {name: array.shape[: array.ndim - cores[name]] for name, array in arrays.items()}
        | {name: value.shape for name, value in table.items()}
    )

    def run(robot: Robot, part: Mapping[str, Array]) -> _Poses:
        start = replace(guess, **{name: part[name] for name in moving})
        return _Poses(*solve(robot, start, actuator_position=part[TARGET]))

    return batch, _Poses(*_each(robot, table, arrays, cores, batch, run))


def _each(
    robot: Robot,
    table: Mapping[str, Array],
    arrays: Mapping[str, Array],
    cores: Mapping[str, int],
    batch: tuple[int, ...],
    run: Callable[[Robot, Mapping[str, Array]], Sequence[Array]],
) -> list[Array]:
    """Run a function for each distinct design with the samples of it; results (*batch, ...)."""
    count = int(np.prod(batch, dtype=int))
    flat = {}
    for name, array in arrays.items():
        core = array.shape[array.ndim - cores[name] :]
        flat[name] = np.broadcast_to(array, (*batch, *core)).reshape(count, *core)
    columns = [np.broadcast_to(value, batch).ravel() for value in table.values()]
    rows, number = np.unique(np.stack([np.zeros(count), *columns], axis=1), axis=0, return_inverse=True)
    results: list[Array] = []
    for k, row in enumerate(rows):
        place = np.flatnonzero(number.ravel() == k)
        design = Robot.of(robot.family, {**robot.values, **dict(zip(table, row[1:].tolist(), strict=True))})
        solution = run(design, {name: array[place] for name, array in flat.items()})
        results = results or [np.empty((count, *part.shape[1:]), part.dtype) for part in solution]
        for result, part in zip(results, solution, strict=True):
            result[place] = part
    return [result.reshape((*batch, *result.shape[1:])) for result in results]


def cross_matrix(vector: Array) -> Array:
    """Return the matrices (*batch, 3, 3) of the cross product with vectors (*batch, 3)."""
    x, y, z = np.moveaxis(np.asarray(vector, dtype=float), -1, 0)
    zero = np.zeros_like(x)
    rows = [np.stack(row, axis=-1) for row in ((zero, -z, y), (z, zero, -x), (-y, x, zero))]
    return np.stack(rows, axis=-2)
