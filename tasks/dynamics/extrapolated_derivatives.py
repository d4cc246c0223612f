"""Derivatives by extrapolated differences, for functions on arrays whose results are no values of stages.

After the stages, these functions compute eigenvalues, inverses and least distances in NumPy. Derivatives have an
estimate of their error, see `tasks.mathematics.extrapolation`; where it is large, such as at kinks, they are NaN. They
are computed on request, input by input, and kept.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from robots.model import Robot
from robots.parameters import Parameter
from robots.status import Status
from robots.types import TWIST
from tasks.dynamics.directions import Array, Derivatives, check_names, designs, spread, summed
from tasks.dynamics.implicit import cross_matrix
from tasks.dynamics.inputs import CORES, JOINTS
from tasks.dynamics.records import Environment, Forces, Motion
from tasks.mathematics.extrapolation import OFFSETS, ROUNDING, Slopes

ACCURATE = 1e-3
"""Largest error of a derivative that is returned, relative to the largest derivative of its result."""

GRAVITY, STATUS = "gravity", "status"


class MovedInput(NamedTuple):
    """An input: its values, dims of one sample, and the directions along which it can move.

    directions (direction, *core); for a rotation, rotation vectors (direction, 3). lengths (direction,): units of the
    distances. bounds: the parameter with the bounds, if the input is a parameter.
    """

    values: Array
    core: int
    directions: Array
    lengths: Array
    bounds: Parameter | None = None

    def moved(self, number: int, offset: float, *, turns: bool) -> Array:
        """Return the values at a distance `offset` along a direction."""
        way = offset * self.lengths[number] * self.directions[number]
        return np.asarray(Rotation.from_rotvec(way).as_matrix() @ self.values if turns else self.values + way)

    def outside(self, number: int) -> Array | None:
        """Return a mask of points (point,) beyond the bounds of a parameter; None for an input without bounds."""
        if self.bounds is None:
            return None
        ends = float(self.values) + OFFSETS * self.lengths[number]
        return (ends < self.bounds.lower) | (ends > self.bounds.upper)


class ExtrapolatedDerivatives(Derivatives):
    """Derivatives of a function by the present fields of its motion, load, gravity, and parameters of the robot.

    options: its other arguments by name; arrays of numbers of actuators among them are inputs, too.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        robot: Robot,
        motion: Motion,
        forces: Forces,
        environment: Environment,
        parameters: Mapping[str, ArrayLike],
        options: Mapping[str, Any],
    ):
        self.function, self.robot, self.options = function, robot, dict(options)
        self.records: dict[str, Any] = {"motion": motion, "forces": forces, "environment": environment}
        self._taken = tuple(inspect.signature(function).parameters)
        self._refuse()
        values = designs(robot, parameters)
        if wide := [name for name, value in values.items() if value.ndim]:
            got = f"parameters: {wide[0]}: got an array of shape {values[wide[0]].shape}"
            raise ValueError(f"{got}; expected one number where {self.name} is differentiated: call it for each design")
        self.robot = Robot.of(robot.family, {**robot.values, **{key: float(x) for key, x in values.items()}})
        self.results = self._run({})
        self.batch = np.shape(self.results[STATUS])
        self.good = np.asarray(self.results[STATUS]) == Status.OK
        self._moved = dict(self._movable(values))
        self._known: dict[str, dict[str, Array]] = {}

    @property
    def name(self) -> str:
        """Name of the function."""
        return self.function.__name__

    def _refuse(self) -> None:
        """Refuse arguments that the function does not take. Raises ValueError."""
        for key in self.options:
            if key not in self._taken:
                raise ValueError(f"{key}: got it for {self.name}, which has no such argument; leave it out")
        if self.records["motion"].present() and not {"motion", "state"} & {*self._taken}:
            raise ValueError(f"motion: got one for {self.name}, which does not depend on it; leave it out")
        if self.records["forces"].present().keys() - {"load_axes"} and "forces" not in self._taken:
            raise ValueError(f"forces: got them for {self.name}, which does not depend on forces; leave them out")
        if self.records["environment"].base is not None:
            got = f"base: got a base that moves; expected one that stands where {self.name} is differentiated"
            raise ValueError(got)

    def _movable(self, parameters: Mapping[str, Array]) -> Iterator[tuple[str, MovedInput]]:
        """Yield the inputs by name."""
        for name, value in self.records["motion"].present().items():
            if name in CORES or name in JOINTS:
                yield name, self._of_motion(name, np.asarray(value, dtype=float))
        if "forces" in self._taken:
            actuators = np.eye(len(self.robot.mechanism.actuators))
            for name, units in (("load", np.eye(len(TWIST))), ("actuator", actuators)):
                if (value := getattr(self.records["forces"], name)) is not None:
                    yield name, _array(np.asarray(value, dtype=float), units)
        if "environment" in self._taken:
            yield GRAVITY, _array(np.asarray(self.records["environment"].gravity, dtype=float), np.eye(3))
        for name, value in self.options.items():
            numbers = np.asarray(value) if isinstance(value, list | tuple | np.ndarray) else None
            if numbers is not None and numbers.dtype.kind in "if" and numbers.ndim:
                yield name, _array(numbers.astype(float), np.eye(numbers.shape[-1]))
        table = {parameter.name: parameter for parameter in self.robot.family.parameters}
        for name, value in parameters.items():
            length = np.array([abs(float(value)) or 1.0])
            yield name, MovedInput(np.asarray(value, dtype=float), 0, np.ones(1), length, table[name])

    def _of_motion(self, name: str, values: Array) -> MovedInput:
        """Return a part of the motion, which moves along the freedoms of the robot."""
        if name in JOINTS:
            return _array(values, np.eye(values.shape[-1]))
        platform = self.robot.mechanism.platform
        free = [TWIST.index(key) for key in platform.mobility]
        turns, shifts = [k for k in free if k < 3], [k - 3 for k in free if k >= 3]
        if name == "rotation":
            return MovedInput(values, 2, np.eye(3)[turns], np.ones(len(turns)))
        if name == "position":
            size = float(np.linalg.norm(np.array(platform.home.position, dtype=float))) or 1.0
            return _array(values, np.eye(3)[shifts], size)
        return _array(values, np.eye(len(TWIST))[free])

    def _run(self, moved: Mapping[str, Array]) -> dict[str, Array]:
        """Return the results where some inputs have other values."""
        robot, options = self.robot, {**self.options}
        parts = {key: replace(record, **{name: x for name, x in moved.items() if hasattr(record, name)})
                 for key, record in self.records.items()}  # fmt: skip
        values = {name: float(x) for name, x in moved.items() if name in robot.values}
        robot = Robot.of(robot.family, {**robot.values, **values}) if values else robot
        options |= {name: x for name, x in moved.items() if name in options}
        records = {key: record for key, record in parts.items() if key in self._taken}
        if "state" in self._taken:
            records["state"] = parts["motion"]
        result = self.function(robot, **records, **options)._asdict()
        arrays = {key: part for key, part in result.items() if isinstance(part, np.ndarray | np.generic | float)}
        floats = {key: np.asarray(x) for key, x in arrays.items() if np.asarray(x).dtype == float}
        status = result.get(STATUS)
        if status is None:  # of a function that cannot fail
            status = np.zeros(next(iter(floats.values())).shape[:-1], np.int8)
        lead = np.shape(status)  # arrays of several sizes, or of none, are no results for each sample
        floats = {key: x for key, x in floats.items() if x.size and x.shape[: len(lead)] == lead}
        return {**floats, STATUS: np.asarray(status)}

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the inputs."""
        return tuple(self._moved)

    def _columns(self, name: str) -> dict[str, Array]:
        """Return the derivatives of the results (*batch, ..., direction) along the directions of an input."""
        if name not in self._known:
            moving = self._moved[name]
            columns = [self._column(name, k) for k in range(len(moving.directions))]
            self._known[name] = {
                key: np.stack([column[key] for column in columns], axis=-1)
                if columns else np.zeros((*np.shape(self.results[key]), 0))
                for key in self.results if key != STATUS
            }  # fmt: skip
        return self._known[name]

    def _column(self, name: str, number: int) -> dict[str, Array]:
        """Return the derivatives along one direction; NaN where the error is large."""
        moving = self._moved[name]
        beyond, points = moving.outside(number), []
        for k, offset in enumerate(OFFSETS):
            here = beyond is not None and beyond[k]
            moved = self.results if here else self._run({name: moving.moved(number, offset, turns=name == "rotation")})
            points.append(moved)
        result, length = {}, float(moving.lengths[number])
        for key, middle in self.results.items():
            if key == STATUS:
                continue
            ends = np.stack([point[key] for point in points])
            outside = None if beyond is None else np.broadcast_to(beyond.reshape(-1, *(1,) * middle.ndim), ends.shape)
            result[key] = self._judged(middle, Slopes.of(middle, ends, length, outside), length)
        return result

    def _judged(self, middle: Array, slopes: Slopes, length: float) -> Array:
        """Return derivatives from both sides where they are known, NaN elsewhere."""
        axes = tuple(range(len(self.batch), middle.ndim))
        with np.errstate(invalid="ignore"):
            scale = np.fmax.reduce(np.abs(slopes.both.values), axis=axes, keepdims=True) if axes else 0.0
            scale = np.fmax(scale, np.abs(slopes.both.values))
            size = np.fmax.reduce(np.abs(middle), axis=axes, keepdims=True) if axes else np.abs(middle)
            known = slopes.both.errors <= ACCURATE * scale + ROUNDING * size / length / OFFSETS[-1]
        good = self.good.reshape(self.good.shape + (1,) * len(axes))
        return np.where(known & good, slopes.both.values, np.nan)

    def jvp(self, rates: Mapping[str, ArrayLike]) -> dict[str, Array]:
        """Return the rates of the results; see `Derivatives`."""
        check_names("rates", rates, self.inputs)
        total = {key: np.zeros(np.shape(x)) for key, x in self.results.items() if key != STATUS}
        for name, rate in rates.items():
            along = self._along(name, spread(name, rate, self._core(name), self._own_batch(name)))
            for key, columns in self._columns(name).items():
                core = columns.ndim - 1 - len(self.batch)
                wide = np.broadcast_to(along, (*self.batch, along.shape[-1])) if along.ndim > 1 else along
                parts = wide.reshape(*wide.shape[:-1], *(1,) * core, wide.shape[-1])
                total[key] = total[key] + np.where(parts == 0.0, 0.0, columns * parts).sum(axis=-1)
        return {key: np.where(self._good_of(x), x, np.nan) for key, x in total.items()}

    def vjp(self, cotangents: Mapping[str, ArrayLike]) -> dict[str, Array]:
        """Return the derivatives of a number by all inputs; see `Derivatives`."""
        outputs = {key: np.shape(x)[len(self.batch) :] for key, x in self.results.items() if key != STATUS}
        check_names("cotangents", cotangents, outputs)
        seeds = {key: spread(key, x, outputs[key], self.batch) for key, x in cotangents.items()}
        return {name: self._by_input(name, seeds) for name in self.inputs}

    def _by_input(self, name: str, seeds: Mapping[str, Array]) -> Array:
        """Return the derivatives by an input, in its shape."""
        moving = self._moved[name]
        total = np.zeros((*self.batch, len(moving.directions)))
        for key, seed in seeds.items():
            columns, core = self._columns(name)[key], tuple(range(len(self.batch), seed.ndim))
            with np.errstate(invalid="ignore"):
                parts = np.where(seed[..., None] == 0.0, 0.0, columns * seed[..., None])
            total = total + parts.sum(axis=core)
        per_sample = self._placed(name, total)
        return summed(per_sample, self._own_batch(name), moving.core)

    def _placed(self, name: str, total: Array) -> Array:
        """Return derivatives (*batch, *core) from those along the directions (*batch, direction)."""
        moving = self._moved[name]
        if name != "rotation":
            return total[..., 0] if moving.core == 0 else np.asarray(total @ moving.directions)
        about = np.stack([cross_matrix(vector) @ moving.values for vector in moving.directions], axis=-1)
        return np.asarray((0.5 * about * total[..., None, None, :]).sum(axis=-1))

    def _along(self, name: str, rate: Array) -> Array:
        """Return the rates (*batch of the input, direction) along the directions of an input."""
        moving = self._moved[name]
        if name != "rotation":
            return rate[..., None] if moving.core == 0 else np.asarray(rate @ moving.directions.T)
        about = [cross_matrix(vector) @ moving.values for vector in moving.directions]
        return np.stack([0.5 * (rate * way).sum(axis=(-1, -2)) for way in about], axis=-1)

    def _core(self, name: str) -> tuple[int, ...]:
        values, core = self._moved[name].values, self._moved[name].core
        return values.shape[values.ndim - core :]

    def _own_batch(self, name: str) -> tuple[int, ...]:
        values, core = self._moved[name].values, self._moved[name].core
        return values.shape[: values.ndim - core]

    def _good_of(self, array: Array) -> Array:
        return np.asarray(self.good.reshape(self.good.shape + (1,) * (array.ndim - self.good.ndim)))

    def hvp(self, cotangents: Mapping[str, ArrayLike], rates: Mapping[str, ArrayLike]) -> dict[str, Array]:
        """Raise ValueError: extrapolated differences give first derivatives alone."""
        raise ValueError(f"hvp: got {self.name}, which has first derivatives alone; expected a function of the stages")


def _array(values: Array, directions: Array, length: float = 1.0) -> MovedInput:
    """Return an array whose last dim moves along directions, in units of a length."""
    return MovedInput(values, 1, directions, np.full(len(directions), length))
