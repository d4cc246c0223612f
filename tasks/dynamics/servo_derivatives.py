"""Derivatives of the forces of a servo, by states, reference, gains and parameters of the robot."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from robots.controllers import Controller, controller_parameters, coordinates, parameter_of
from robots.model import Robot
from robots.types import TWIST
from tasks.dynamics.directions import Array, Derivatives
from tasks.dynamics.records import NO_FORCES, STANDING, FixedSteps, Motion

GAINS = "servo."
"""Beginning of the names of gains and references among the inputs."""


class FreedomNames(NamedTuple):
    """Names of position and speed of a robot among the fields of a state, and the free components of each."""

    position: str
    speed: str
    places: tuple[Array, Array]
    sizes: tuple[int, int]

    @classmethod
    def of(cls, robot: Robot) -> FreedomNames:
        """Return the names for a robot. Raises ValueError for a platform that turns."""
        mechanism = robot.mechanism
        if mechanism.is_chain:
            count = len(mechanism.freedoms)
            return cls("q", "qd", (np.arange(count), np.arange(count)), (count, count))
        mobility = mechanism.platform.mobility
        if turning := [name for name in mobility if name.startswith("w")]:
            got = f"{robot.name}, whose platform turns ({', '.join(turning)})"
            raise ValueError(f"robot: got {got}; expected a chain, or a platform that only translates")
        free = np.array([TWIST.index(name) for name in mobility])
        return cls("position", "twist", (free - 3, free), (3, 6))

    @property
    def free(self) -> int:
        """Number of freedoms."""
        return len(self.places[0])


class InstantMotion(Protocol):
    """A motion that has motion inputs of kernels at instants."""

    def at(self, time: float) -> Array:
        """Return the motion input (size,) at a time [s]."""
        ...


class FollowingServo(Protocol):
    """A servo as `tasks.dynamics.servo` makes it: kind, values of its parameters, and reference."""

    controller: Controller
    values: Array
    reference: InstantMotion


class Term(NamedTuple):
    """One term of the forces of a servo: a sign times a gain times positions or velocities of the actuators."""

    sign: float
    gain: str
    inner: Derivatives
    output: str

    @property
    def result(self) -> Array:
        """Positions or velocities (step, *batch or ones, actuator)."""
        return self.inner.results[self.output]

    def summed(self, seeds: Array) -> Array:
        """Return cotangents (step, *batch, actuator) in the shape of the result, summed where it has ones."""
        shape = self.result.shape
        wide = tuple(k for k in range(1, seeds.ndim - 1) if shape[k] == 1 != seeds.shape[k])
        return seeds.sum(axis=wide, keepdims=True) if wide else seeds


class ServoDerivatives:
    """Forces of a servo of kind `pd` (step, *batch, actuator) that it holds over steps, and their derivatives.

    of_stages: derivatives of functions on arrays by name. motion: states (step, *batch, ...) at the starts of steps.
    The model of the servo has the parameters of `robot`.
    """

    def __init__(
        self,
        of_stages: Mapping[str, Callable[..., Derivatives]],
        robot: Robot,
        servo: FollowingServo,
        motion: Motion,
        names: FreedomNames,
        clock: FixedSteps,
        values: Mapping[str, float],
    ):
        self.names, self.robot, self.values, self._of_stages = names, robot, values, of_stages
        numbers = dict(zip(servo.controller.parameters, servo.values.tolist(), strict=True))
        along = coordinates(robot.mechanism, servo.controller.space)
        table = controller_parameters(robot.mechanism, servo.controller.kind, servo.controller.space)
        self._named = {
            gain: [parameter_of([*numbers], gain, coordinate) for coordinate in along] for gain in ("kp", "kd")
        }
        self.gains = {
            gain: np.array([numbers.get(name, table[gain].scalar) for name in named])
            for gain, named in self._named.items()
        }
        self.inputs = tuple(f"{GAINS}{name}" for name in (*numbers, names.position, names.speed))
        steps, ones = clock.steps, (1,) * (np.ndim(getattr(motion, names.position)) - 2)
        self._here = self._terms(-1.0, motion)
        self._there = self._terms(1.0, _reference(servo, names, clock, ones))
        self._shapes = {name: (steps, *ones, size) for name, size in zip(names[:2], names.sizes, strict=True)}
        pairs = zip(self._here, self._there, strict=True)
        self._errors = {here.gain: there.result - here.result for here, there in pairs}
        self.force = np.asarray(sum(gain * self._errors[name] for name, gain in self.gains.items()))

    def _terms(self, sign: float, motion: Motion) -> list[Term]:
        """Return positions and velocities of actuators along a motion, which can be differentiated."""
        pose = Motion(**{self.names.position: getattr(motion, self.names.position)})
        rows = (("kp", "actuator_positions", "position", pose), ("kd", "inverse_dynamics", "velocity", motion))
        return [
            Term(sign, gain, self._of_stages[row](self.robot, at, NO_FORCES, STANDING, self.values), output)
            for gain, row, output, at in rows
        ]

    @cached_property
    def by_state(self) -> Array:
        """Derivatives of the forces by the states at the starts of the steps (step, *batch, actuator, 2 freedoms)."""
        columns = [
            self._along({name: unit}, self._here)
            for name, places, size in zip(self.names[:2], self.names.places, self.names.sizes, strict=True)
            for unit in np.eye(size)[places]
        ]
        return np.stack(columns, axis=-1)

    def _along(self, rates: Mapping[str, ArrayLike], terms: Sequence[Term]) -> Array:
        """Return the rates of the forces where inputs of the terms move."""
        total = np.zeros_like(self.force)
        for term in terms:
            moving = {name: rate for name, rate in rates.items() if name in term.inner.inputs}
            if moving:
                total = total + term.sign * self.gains[term.gain] * term.inner.jvp(moving)[term.output]
        return total

    def jvp(self, rates: Mapping[str, ArrayLike]) -> Array:
        """Return the rates of the forces at given states, where parameters, gains and the reference move."""
        of_robot = {name: rate for name, rate in rates.items() if name in self.values}
        total = self._along(of_robot, (*self._here, *self._there))
        reference = {name: rates[GAINS + name] for name in self._shapes if GAINS + name in rates}
        wide = {
            name: np.broadcast_to(np.asarray(rate, dtype=float), (shape[0], shape[-1])).reshape(shape)
            for name, shape in self._shapes.items() if (rate := reference.get(name)) is not None
        }  # fmt: skip
        total = total + self._along(wide, self._there)
        for gain, names in self._named.items():
            moved = np.array([float(np.asarray(rates.get(f"{GAINS}{name}", 0.0))) for name in names])
            total = total + moved * self._errors[gain]
        return total

    def vjp(self, cotangents: Array) -> dict[str, Array]:
        """Return the derivatives by gains, reference and parameters from those by the forces, at given states."""
        result = {name: np.zeros(()) for name in self.inputs[: -len(self._shapes)]}
        for gain, names in self._named.items():
            by_coordinate = (cotangents * self._errors[gain]).reshape(-1, cotangents.shape[-1]).sum(axis=0)
            for name, part in zip(names, by_coordinate, strict=True):
                add(result, {f"{GAINS}{name}": part} if name else {})
        for term in (*self._here, *self._there):
            by_input = term.inner.vjp({term.output: term.summed(term.sign * self.gains[term.gain] * cotangents)})
            add(result, {name: by_input[name] for name in self.values})
            if term.sign > 0.0:
                parts = {name: by_input[name] for name in self._shapes if name in by_input}
                add(result, {GAINS + name: part.reshape(len(part), -1) for name, part in parts.items()})
        return result


def _reference(servo: FollowingServo, names: FreedomNames, clock: FixedSteps, ones: tuple[int, ...]) -> Motion:
    """Return the reference at the starts of all steps (step, *ones, size)."""
    rows = np.stack([servo.reference.at(number * clock.step) for number in range(clock.steps)])
    size = names.sizes[0]
    position, speed = rows[:, :size], np.zeros((len(rows), names.sizes[1]))
    speed[:, -size:] = rows[:, size : 2 * size]
    parts = ((names.position, position), (names.speed, speed))
    return Motion(**{name: part.reshape(len(rows), *ones, part.shape[-1]) for name, part in parts})


def turned(matrix: Array) -> Array:
    """Return transposed matrices."""
    return np.swapaxes(matrix, -1, -2)


def add(total: dict[str, Array], parts: Mapping[str, Array]) -> None:
    """Add derivatives by name."""
    for name, part in parts.items():
        total[name] = total[name] + part if name in total else part
