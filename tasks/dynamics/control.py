"""Laws of controllers for one sample, and the sampled loop of a controller over time for a batch of cases.

A law is a row of mathematics for each kind in `robots.controllers.CONTROLLERS`: a function of the gains by name and of
the errors of one coordinate, reference minus measured value. It returns a force along that coordinate, or, for a kind
whose model is the `dynamics`, an acceleration. `command_program` turns forces along coordinates into actuator forces.

The loop has samples, limits of drives, delays and encoders. Arrays are (size, samples), a case in each column. Every
operation works column by column, so that the bits of a case do not depend on its neighbours. A step of the loop is a
step of the simulation; a case whose sample time is longer holds its force in between.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from robots.controllers import CONTROLLERS, Controller, controller_parameters, coordinates, parameter_of
from robots.model import Family
from robots.parameters import LARGEST
from robots.types import TWIST
from tasks.dynamics.drive_values import DriveModel, Inverse, is_ok
from tasks.kernels.expression import Array, Scalar
from tasks.kernels.kernel import kernel
from tasks.kernels.keys import Shape, Values, indexed
from tasks.kernels.program import Program, trace
from tasks.mathematics.algebra import array
from tasks.mechanics.assembly import actuator_forces
from tasks.mechanics.structure import structure_of


@dataclass(frozen=True)
class ControlErrors:
    """Of one coordinate: errors of position and rate, and the integral of the first [s times that]."""

    position: Scalar
    rate: Scalar
    integral: Scalar = 0.0


def pd(error: ControlErrors, kp: Scalar, kd: Scalar) -> Scalar:
    """Proportional to both errors; as an acceleration, that of a computed torque."""
    return error.position * kp + error.rate * kd


def pid(error: ControlErrors, kp: Scalar, ki: Scalar, kd: Scalar) -> Scalar:
    """With the integral."""
    return error.position * kp + error.rate * kd + error.integral * ki


LAWS: Mapping[str, Callable[..., Scalar]] = {"pd": pd, "pd_gravity": pd, "pid": pid, "computed_torque": pd}
"""Laws by name of their kind."""


@functools.cache
def command_program(family: Family, controller: Controller) -> Program:
    """Return the `force` (actuator,) that a controller asks for, before limits; of a computed torque, `acceleration`.

    Per sample: `gains` (gain, coordinate), `error`, `error_rate`, `integral` and `feedforward` (coordinate,), an
    acceleration or nothing; `hold` (actuator,), forces that hold the robot, or nothing; and where coordinates are not
    those of actuators, `jacobian` of each limb: J^T u is the force along them, of more actuators than coordinates the
    least.
    """
    structure, mechanism = structure_of(family), family.reference
    count, actuators = len(coordinates(mechanism, controller.space)), len(mechanism.actuators)
    kind, limbs = CONTROLLERS[controller.kind], range(len(mechanism.instances))
    direct = controller.space == "actuator"

    def one_sample(
        gains: Array, error: Array, error_rate: Array, integral: Array, feedforward: Array, hold: Array, **rows: Any
    ) -> dict[str, Any]:
        names, law = [gain.name for gain in kind.gains], LAWS[kind.name]
        along = [
            law(ControlErrors(error[i], error_rate[i], integral[i]), **dict(zip(names, gains[:, i], strict=True)))
            for i in range(count)
        ]
        if kind.model == "dynamics":
            return {"acceleration": [a + b for a, b in zip(feedforward, along, strict=True)], "along": along}
        if not direct:
            jacobian = np.vstack([rows["jacobian"][k] for k in limbs])
            forces = actuator_forces(jacobian, array(along))
        else:
            forces = along
        return {"force": [a + b for a, b in zip(forces, hold, strict=True)], "along": along}

    sample: dict[Any, Shape] = {"gains": (len(kind.gains), count), "error": (count,), "error_rate": (count,)}
    sample |= {"integral": (count,), "feedforward": (count,), "hold": (actuators,)}
    if not direct and kind.model != "dynamics":
        for k, instance in enumerate(mechanism.instances):
            driven = len(mechanism.limbs[instance.limb].actuators)
            sample |= indexed(k, {"jacobian": (driven, structure.freedoms)})
    return trace(f"{family.name}.{kind.name}.{controller.space}", one_sample, case={}, sample=sample)


WHOLE = 1e-6
"""Share of a step by which a time may miss a whole number of steps."""


def steps_in(seconds: np.ndarray, step: float) -> np.ndarray:
    """Convert times [s] to numbers of steps, -1 for a time that is no whole number of steps."""
    counts = np.rint(seconds / step)
    wrong = np.abs(counts * step - seconds) > WHOLE * step
    return np.where(wrong, -1, counts).astype(np.int64)


@dataclass(frozen=True)
class Settings:
    """Numbers of the controllers of a batch: `gains` (gain, coordinate, samples) by name of the parameter."""

    gains: np.ndarray
    force_limit: np.ndarray
    rate_limit: np.ndarray
    resolution: np.ndarray
    sample_time: np.ndarray
    delay: np.ndarray

    @classmethod
    def of(cls, family: Family, controller: Controller, values: np.ndarray) -> Settings:
        """From `values` (parameter, samples) of `Controller.parameters`; missing values have their defaults."""
        mechanism, names = family.reference, controller.parameters
        parameters = controller_parameters(mechanism, controller.kind, controller.space)
        named, width = dict(zip(names, values, strict=True)), values.shape[1]

        def row(parameter: str, coordinate: str) -> np.ndarray:
            name = parameter_of(names, parameter, coordinate)
            return (
                named[name]
                if name
                else np.full(width, parameters[parameter].scalar if parameter in parameters else 0.0)
            )

        def rows(parameter: str, of: tuple[str, ...]) -> np.ndarray:
            return np.stack([row(parameter, coordinate) for coordinate in of])

        along, actuators = coordinates(mechanism, controller.space), mechanism.actuators
        limits = {name: rows(name, actuators) for name in ("force_limit", "rate_limit")}
        limits = {name: np.where(limit >= LARGEST, np.inf, limit) for name, limit in limits.items()}
        return cls(
            np.stack([rows(gain.name, along) for gain in controller.row.gains]),
            **limits,
            resolution=rows("resolution", along),
            sample_time=row("sample_time", ""),
            delay=row("delay", ""),
        )


class ControlLoop:
    """The controllers of a batch, from one step to the next.

    `step` [s] is that of the simulation, `settings` has the numbers of each case; `usual` [s]: what a sample time of
    zero means. Raises ValueError where a sample time or a delay is no whole number of steps.
    """

    def __init__(
        self, model: DriveModel, controller: Controller, settings: Settings, step: float, usual: float | None = None
    ):
        self.model, self.controller, self.settings = model, controller, settings
        self.mechanism = model.family.reference
        periods = steps_in(np.where(settings.sample_time > 0.0, settings.sample_time, usual or step), step)
        delays = steps_in(settings.delay, step)
        for name, counts, least in (("sample_time", periods, 1), ("delay", delays, 0)):
            if (counts < least).any():
                wrong = float(getattr(settings, name)[int(np.argmax(counts < least))])
                raise ValueError(f"{name}: got {wrong!r}; expected a whole number of steps of {step!r} s")
        self.periods, self.delays, self.step = periods, delays, step
        count, width = settings.gains.shape[1:]
        actuators = len(self.mechanism.actuators)
        self._integral = np.zeros((count, width))
        self._along = np.zeros((count, width))
        self._saturated = np.zeros((actuators, width), dtype=bool)
        self._read: np.ndarray | None = None
        self._held = np.zeros((actuators, width))
        self._line = np.zeros((int(delays.max(initial=0)) + 1, actuators, width))
        self.lost = np.zeros((actuators, width))
        """Samples at which a limit changed the commanded force of an actuator."""

    def force(self, number: int, motion: np.ndarray, wanted: np.ndarray, here: Inverse, there: Inverse) -> np.ndarray:
        """Return the forces of the actuators over the step of that number.

        motion, wanted: motion inputs of kernels of the state and of the reference; here, there: the inverse model at
        both. Cases without such a model get NaN.
        """
        due = number % self.periods == 0
        asked = self._asked(number, motion, wanted, here, there)
        self._held = np.where(due, self._limited(number, asked, due), self._held)
        if number == 0:
            self._line[:] = self._held
        else:
            self._line[number % len(self._line)] = self._held
        acting = self._line[(number - self.delays) % len(self._line), :, np.arange(self._held.shape[1])].T
        good = is_ok(here.status) & is_ok(there.status)
        return np.ascontiguousarray(np.where(good, acting, np.nan))

    def _asked(self, number: int, motion: np.ndarray, wanted: np.ndarray, here: Inverse, there: Inverse) -> np.ndarray:
        due = number % self.periods == 0
        error, rate = self._errors(motion, wanted, here, there, due)
        if self.controller.row.sums:
            waits = self._saturated.any(axis=0) & (error * self._along > 0.0)
            grown = self._integral + error * (self.periods * self.step)
            self._integral = np.where(due & ~waits & (number > 0), grown, self._integral)
        kind, width = self.controller.row, motion.shape[1]
        hold = np.zeros((len(self.mechanism.actuators), width))
        ahead = np.zeros(error.shape)
        if kind.model == "gravity":
            hold = self.model.run(self._still(motion), signals=here.signals).force
        elif kind.model == "dynamics":
            ahead = self._part(wanted, 2)
        program = command_program(self.model.family, self.controller)
        gains = self.settings.gains.reshape(-1, width)
        inputs: Values = {"gains": gains[None], "error": error[None], "error_rate": rate[None]}
        inputs |= {"integral": self._integral[None], "feedforward": ahead[None]}
        inputs["hold"] = np.ascontiguousarray(hold)[None]
        inputs |= here.jacobians
        outputs = kernel(program)({key: inputs[key] for key in program.inputs}, width)
        self._along = np.where(due, outputs["along"][0], self._along)  # between samples nothing is looked at
        if kind.model != "dynamics":
            return np.asarray(outputs["force"][0])
        moving = self._accelerated(motion, outputs["acceleration"][0])
        return self.model.run(moving, signals=here.signals).force

    def _limited(self, number: int, asked: np.ndarray, due: np.ndarray) -> np.ndarray:
        s = self.settings
        force = np.clip(asked, -s.force_limit, s.force_limit)
        if number > 0:
            most = s.rate_limit * (self.periods * self.step)
            force = np.clip(force, self._held - most, self._held + most)
        saturated = (force != asked) & np.isfinite(asked)
        self._saturated = np.where(due, saturated, self._saturated)
        self.lost += saturated & due
        return force

    def _errors(
        self, motion: np.ndarray, wanted: np.ndarray, here: Inverse, there: Inverse, due: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Errors of position and rate of the coordinates, as encoders read them."""
        if self.controller.space == "task":
            return self._task_errors(motion, wanted)
        if self.controller.space == "joint":
            at, rate, to, to_rate = (self._part(m, part) for m in (motion, wanted) for part in (0, 1))
        else:
            at, rate, to, to_rate = here.position, here.velocity, there.position, there.velocity
        size = self.settings.resolution
        if not size.any():
            return to - at, to_rate - rate
        coarse = size > 0.0
        unit = np.where(coarse, size, 1.0)
        read = np.where(coarse, np.rint(at / unit) * unit, at)
        passed = self.periods * self.step
        if self._read is None:  # what encoders would have read one sample before
            before = at - rate * passed
            self._read = np.where(coarse, np.rint(before / unit) * unit, before)
        seen = np.where(coarse, (read - self._read) / passed, rate)
        self._read = np.where(due, read, self._read)
        return to - read, to_rate - seen

    def _task_errors(self, motion: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Of the freedoms of a platform; of its orientation 1/2 (n x n_d + s x s_d + a x a_d), world axes."""
        freedoms = self.model.freedoms
        error, rate = np.zeros((len(TWIST), motion.shape[1])), self._twist(wanted) - self._twist(motion)
        error[3:] = wanted[:3] - motion[:3]
        if motion.shape[0] != 9:
            axes, aims = (m[3:12].reshape(3, 3, -1) for m in (motion, wanted))
            for k in range(3):
                a, b = axes[:, k], aims[:, k]
                for i, (m, n) in enumerate(((1, 2), (2, 0), (0, 1))):
                    error[i] += 0.5 * (a[m] * b[n] - a[n] * b[m])
        return np.ascontiguousarray(error[freedoms]), np.ascontiguousarray(rate[freedoms])

    @staticmethod
    def _twist(motion: np.ndarray) -> np.ndarray:
        if motion.shape[0] != 9:
            return motion[12:18]
        return np.concatenate([np.zeros((3, motion.shape[1])), motion[3:6]])

    def _part(self, motion: np.ndarray, part: int) -> np.ndarray:
        """Positions, rates or accelerations of the freedoms in a motion input; of a platform no positions."""
        if self.mechanism.is_chain:
            free = len(self.mechanism.freedoms)
            return np.ascontiguousarray(motion[part * free : (part + 1) * free])
        if motion.shape[0] == 9:
            rows = np.concatenate([np.zeros((3, motion.shape[1])), motion[3 * part : 3 * part + 3]])
        else:
            rows = motion[6 * (part + 1) : 6 * (part + 2)]
        return np.ascontiguousarray(rows[self.model.freedoms])

    def _accelerated(self, motion: np.ndarray, acceleration: np.ndarray) -> np.ndarray:
        """Return the state with an acceleration of the freedoms."""
        result = motion.copy()
        free = len(self.mechanism.freedoms)
        if self.mechanism.is_chain:
            result[2 * free :] = acceleration
            return result
        change = np.zeros((len(TWIST), motion.shape[1]))
        change[self.model.freedoms] = acceleration
        result[-6 if motion.shape[0] != 9 else -3 :] = change if motion.shape[0] != 9 else change[3:]
        return result

    def _still(self, motion: np.ndarray) -> np.ndarray:
        """Return the pose at rest."""
        result = motion.copy()
        start = len(self.mechanism.freedoms) if self.mechanism.is_chain else 3 if motion.shape[0] == 9 else 12
        result[start:] = 0.0
        return result


def named_settings(values: Mapping[str, float], controller: Controller, samples: int) -> np.ndarray:
    """Return the same numbers for all cases, (parameter, samples)."""
    return np.array([[values[name]] * samples for name in controller.parameters], dtype=float).reshape(-1, samples)
