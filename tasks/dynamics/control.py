"""Laws of controllers for one sample, and the sampled loop of a controller over time for a batch of cases.

A law is a row of mathematics for each kind in `robots.controllers.CONTROLLERS`: a function of the gains by name and of
the errors of one coordinate, reference minus measured value. It returns a force along that coordinate, or, for a kind
whose model is the `dynamics`, an acceleration. `command_program` turns forces along coordinates into actuator forces.

The loop has samples, limits of drives, delays and encoders. Arrays are (size, samples), a case in each column. Every
operation works column by column, so that the bits of a case do not depend on its neighbours. A step of the loop is a
step of the simulation; a case whose sample time is longer holds its force in between. A step of a controller is a row
of programs, `ControlLaw`; they run on arrays here, and in the compiled loop of a simulation
(`tasks.sources.time_loop`).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from robots.controllers import CONTROLLERS, Controller, controller_parameters, coordinates, parameter_of
from robots.data_classes import dataclass
from robots.model import Family
from robots.parameters import LARGEST
from robots.types import TWIST
from tasks.dynamics.drive_values import DriveModel, Inverse, is_ok
from tasks.kernels.expression import Array, Mask, Scalar
from tasks.kernels.kernel import kernel
from tasks.kernels.keys import Shape, indexed
from tasks.kernels.program import Program, trace
from tasks.mathematics.algebra import array, either, every, opposite, where
from tasks.mechanics.assembly import actuator_forces
from tasks.mechanics.families import structure_of


@dataclass(frozen=True)
class ControlErrors:
    """Errors of one coordinate: position, rate, and the integral of the error of position over time.

    For a cascade, `integral` is the integral of `speed_error`, and `aim` is the rate of the reference.
    """

    position: Scalar
    rate: Scalar
    integral: Scalar = 0.0
    aim: Scalar = 0.0


def pd(error: ControlErrors, kp: Scalar, kd: Scalar) -> Scalar:
    """Return a control action proportional to both errors: a force, or for a computed torque an acceleration."""
    return error.position * kp + error.rate * kd


def pid(error: ControlErrors, kp: Scalar, ki: Scalar, kd: Scalar) -> Scalar:
    """Return a control action proportional to both errors and to the integral."""
    return error.position * kp + error.rate * kd + error.integral * ki


def speed_error(error: ControlErrors, kp: Scalar, kf: Scalar) -> Scalar:
    """Return the error of a rate whose reference the error of the position sets, with a share of the aim's own rate."""
    return error.position * kp + error.rate + error.aim * (kf - 1.0)


def p_pi(error: ControlErrors, kp: Scalar, kv: Scalar, ki: Scalar, kf: Scalar) -> Scalar:
    """Return a control action proportional to the error of rate and to its integral."""
    return (speed_error(error, kp, kf) + error.integral * ki) * kv


LAWS: Mapping[str, Callable[..., Scalar]] = {
    "pd": pd, "pd_gravity": pd, "pid": pid, "p_pi": p_pi, "computed_torque": pd,
}  # fmt: skip
"""Laws by name of their kind."""


@functools.cache
def command_program(family: Family, controller: Controller) -> Program:
    """Return the program of the commanded `force` (actuator,) before limits; for a computed torque, `acceleration`.

    Sample inputs: `gains` (gain, coordinate), `error`, `error_rate`, `integral` (coordinate,); `feedforward`
    (coordinate,), an acceleration, or empty; for a cascade `aim` (coordinate,), the rate of the reference; `hold`
    (actuator,), forces that hold the robot, or empty. If coordinates are not actuator coordinates, also the `jacobian`
    of each limb: the force along the coordinates is J^T u, with the least u for more actuators than coordinates.
    """
    structure, mechanism = structure_of(family), family.reference
    count, actuators = len(coordinates(mechanism, controller.space)), len(mechanism.actuators)
    kind, limbs = CONTROLLERS[controller.kind], range(len(mechanism.instances))
    direct = controller.space == "actuator"

    def one_sample(
        gains: Array, error: Array, error_rate: Array, integral: Array, feedforward: Array, hold: Array, **rows: Any
    ) -> dict[str, Any]:
        names, law, aim = [gain.name for gain in kind.gains], LAWS[kind.name], rows.get("aim", [0.0] * count)
        along = [
            law(
                ControlErrors(error[i], error_rate[i], integral[i], aim[i]),
                **dict(zip(names, gains[:, i], strict=True)),
            )
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
    sample |= {"aim": (count,)} if kind.cascade else {}
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
        """Return settings from `values` (parameter, samples) of `Controller.parameters`; missing ones have defaults."""
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


class ControlLaw:
    """Programs of a controller at one step, in turn; with `encoders`, positions are rounded to their resolution.

    Values have names, and are arrays or places of a compiled sequence. Beside the values of `Settings` and of the
    inverse model they are: `motion` and `wanted`, motion inputs of state and reference; `here_position` and
    `here_velocity` of the actuators, `there_position` and `there_velocity` of their reference; `due`, 1 where a case
    has a sample; `first`, 1 at the first step; `passed`, the time between samples [s]; and the remembered values,
    `sizes`.
    """

    def __init__(self, family: Family, controller: Controller, *, encoders: bool):
        self.family, self.controller, self.encoders = family, controller, encoders
        self.coordinates = len(coordinates(family.reference, controller.space))
        self.actuators = len(family.reference.actuators)

    @property
    def sizes(self) -> dict[str, int]:
        """Number of rows of each value that is remembered from step to step; new values have the prefix `next_`."""
        sizes = {"along": self.coordinates} | dict.fromkeys(("held", "saturated", "lost"), self.actuators)
        sizes |= {"integral": self.coordinates} if self.controller.row.sums else {}
        return sizes | ({"read": self.coordinates} if self.encoders else {})

    def follow(self, run: Run[V], model: Callable[[V], V], values: dict[Any, V]) -> dict[Any, V]:
        """Return the values after the step; `model` gives the forces of a motion input, `run` runs a program."""
        kind, key = self.controller.row, (self.family, self.controller)
        values |= run(errors_program(*key, encoders=self.encoders), values)
        if kind.cascade:
            values |= run(speed_error_program(self.controller.kind, self.coordinates), values)
        if kind.sums:
            summed = "speed_error" if kind.cascade else "error"
            values |= run(integral_program(self.coordinates, self.actuators, summed), values)
        integral = values["next_integral"] if kind.sums else values["no_integral"]
        values |= {"hold": values["no_force"], "feedforward": values["no_integral"], "integral": integral}
        if kind.model == "gravity":
            values["hold"] = model(run(motions_program(*key), values)["still"])
        elif kind.model == "dynamics":
            values |= run(motions_program(*key), values)
        values |= {f"asked_{name}": value for name, value in run(command_program(*key), values).items()}
        if kind.model == "dynamics":
            values["asked_force"] = model(run(accelerated_program(*key), values)["accelerated"])
        return {**values, **run(limits_program(self.coordinates, self.actuators), values)}


V = TypeVar("V")
Run = Callable[[Program, Mapping[Any, V]], Mapping[Any, V]]


def _twist(motion: Array) -> list[Scalar]:
    """Return the twist in a motion input of a platform."""
    return [0.0, 0.0, 0.0, *motion[3:6]] if len(motion) == 9 else list(motion[12:18])


def _task_error(motion: Array, wanted: Array) -> list[Scalar]:
    """Return a platform's pose errors (6,); for orientation 1/2 (n x n_d + s x s_d + a x a_d), world axes."""
    turn: list[Any] = [0.0] * 3
    if len(motion) != 9:
        axes, aims = (m[3:12].reshape(3, 3) for m in (motion, wanted))
        for a, b in zip(axes.T, aims.T, strict=True):
            for i, (m, n) in enumerate(((1, 2), (2, 0), (0, 1))):
                turn[i] = turn[i] + 0.5 * (a[m] * b[n] - a[n] * b[m])
    return [*turn, *(wanted[:3] - motion[:3])]


@functools.cache
def errors_program(family: Family, controller: Controller, *, encoders: bool) -> Program:
    """Return the program of `error` and `error_rate` (coordinate,) of a controller, with encoders by their readings.

    For a cascade, also the rate of the reference, `aim`.

    The reading one sample before the first is extrapolated from position and rate at the first sample.
    """
    structure, mechanism = structure_of(family), family.reference
    space, count = controller.space, len(coordinates(mechanism, controller.space))

    def aimed(rates: Sequence[Scalar] | Array) -> dict[str, Any]:
        return {"aim": [*rates]} if controller.row.cascade else {}

    def measured(inputs: Mapping[str, Array]) -> tuple[Any, Any, Any, Any]:
        if space == "actuator":
            names = ("here_position", "here_velocity", "there_position", "there_velocity")
            at, rate, to, to_rate = (inputs[name] for name in names)
            return at, rate, to, to_rate
        motion, wanted = inputs["motion"], inputs["wanted"]
        return motion[:count], motion[count : 2 * count], wanted[:count], wanted[count : 2 * count]

    def one_sample(**inputs: Array) -> dict[str, Any]:
        if space == "task":
            motion, wanted = inputs["motion"], inputs["wanted"]
            error, there, here = _task_error(motion, wanted), _twist(wanted), _twist(motion)
            places = structure.positions
            rates = [there[k] - here[k] for k in places]
            return {"error": [error[k] for k in places], "error_rate": rates, **aimed([there[k] for k in places])}
        at, rate, to, to_rate = measured(inputs)
        if not encoders:
            return {"error": to - at, "error_rate": to_rate - rate, **aimed(to_rate)}
        (due,), (first,), (passed,) = (inputs[name] for name in ("due", "first", "passed"))
        read, seen, kept = [], [], []
        for k, size in enumerate(inputs["resolution"]):
            coarse = size > 0.0
            unit = where(coarse, size, 1.0)
            now, before = (where(coarse, np.rint(x / unit) * unit, x) for x in (at[k], at[k] - rate[k] * passed))
            last = where(first > 0.5, before, inputs["read"][k])
            read.append(now)
            seen.append(where(coarse, (now - last) / passed, rate[k]))
            kept.append(where(due > 0.5, now, last))
        rates = to_rate - array(seen)
        return {"error": to - array(read), "error_rate": rates, "next_read": kept, **aimed(to_rate)}

    size = structure.motion_size
    sample: dict[Any, Shape] = {"motion": (size,), "wanted": (size,)}
    if space == "actuator":
        names = ("here_position", "here_velocity", "there_position", "there_velocity")
        sample = dict.fromkeys(names, (count,))
    if encoders and space != "task":
        sample |= dict.fromkeys(("resolution", "read"), (count,)) | dict.fromkeys(("due", "first", "passed"), (1,))
    name = f"{family.name}.errors.{space}{'.aim' * controller.row.cascade}"
    return trace(name, one_sample, case={}, sample=sample, fuse=False)


@functools.cache
def speed_error_program(kind: str, count: int) -> Program:
    """Return the `speed_error` (coordinate,) of a cascade, which its integral sums."""
    names = [gain.name for gain in CONTROLLERS[kind].gains]
    place, share = names.index("kp"), names.index("kf")

    def one_sample(gains: Array, error: Array, error_rate: Array, aim: Array) -> dict[str, Any]:
        errors = [ControlErrors(error[i], error_rate[i], aim=aim[i]) for i in range(count)]
        return {"speed_error": [speed_error(x, gains[place, i], gains[share, i]) for i, x in enumerate(errors)]}

    sample: dict[Any, Shape] = {"gains": (len(names), count), **dict.fromkeys(("error", "error_rate", "aim"), (count,))}
    return trace(f"speed_error.{kind}.{count}", one_sample, case={}, sample=sample, fuse=False)


@functools.cache
def integral_program(count: int, actuators: int, summed: str = "error") -> Program:
    """Return `next_integral` (coordinate,), which waits while a limit of a drive is reached and the error pushes on.

    summed: name of the error.
    """

    def one_sample(
        integral: Array, along: Array, saturated: Array, due: Array, first: Array, passed: Array, **errors: Array
    ) -> dict[str, Any]:
        error = errors[summed]
        at_limit: Mask = False
        for each in saturated:
            at_limit = either(each > 0.5, at_limit)
        result = []
        for e, old, force in zip(error, integral, along, strict=True):
            waits = every([at_limit, e * force > 0.0])
            grows = every([due[0] > 0.5, opposite(waits), first[0] < 0.5])
            result.append(where(grows, old + e * passed[0], old))
        return {"next_integral": result}

    sample = dict.fromkeys((summed, "integral", "along"), (count,)) | {"saturated": (actuators,)}
    sample |= dict.fromkeys(("due", "first", "passed"), (1,))
    return trace(f"integral.{summed}.{count}.{actuators}", one_sample, case={}, sample=sample, fuse=False)


@functools.cache
def limits_program(count: int, actuators: int) -> Program:
    """Return the program of limits of force and rate: force `next_held` (actuator,), and counts of limited steps."""
    of_actuators = ("asked_force", "held", "saturated", "lost", "force_limit", "rate_limit")

    def one_sample(asked_force: Array, asked_along: Array, along: Array, **now: Array) -> dict[str, Any]:
        held, saturated, lost, force_limit, rate_limit = (now[name] for name in of_actuators[1:])
        due, first, passed = (now[name] for name in ("due", "first", "passed"))
        result: dict[str, list[Any]] = {f"next_{name}": [] for name in ("held", "saturated", "lost")}
        has_sample = due[0] > 0.5
        for k, asked in enumerate(asked_force):
            force = _within(asked, -force_limit[k], force_limit[k])
            most = rate_limit[k] * passed[0]
            force = where(first[0] > 0.5, force, _within(force, held[k] - most, held[k] + most))
            changed = every([either(force < asked, force > asked), abs(asked) < math.inf])
            cut = where(changed, 1.0, 0.0)
            result["next_held"].append(where(has_sample, force, held[k]))
            result["next_saturated"].append(where(has_sample, cut, saturated[k]))
            result["next_lost"].append(where(has_sample, lost[k] + cut, lost[k]))
        next_along = [where(has_sample, a, b) for a, b in zip(asked_along, along, strict=True)]
        return {**result, "next_along": next_along}

    sample = dict.fromkeys(of_actuators, (actuators,)) | dict.fromkeys(("asked_along", "along"), (count,))
    sample |= dict.fromkeys(("due", "first", "passed"), (1,))
    return trace(f"limits.{count}.{actuators}", one_sample, case={}, sample=sample, fuse=False)


def _within(x: Scalar, least: Scalar, most: Scalar) -> Scalar:
    """Return a number cut to its bounds; NaN stays NaN."""
    x = where(x < least, least, x)
    return where(x > most, most, x)


@functools.cache
def motions_program(family: Family, controller: Controller) -> Program:
    """Return motion inputs of the inverse model: `still`, at rest, and `feedforward`, the acceleration."""
    structure, mechanism = structure_of(family), family.reference
    size = structure.motion_size
    rates = len(mechanism.freedoms) if mechanism.is_chain else 3 if size == 9 else 12

    def one_sample(motion: Array, wanted: Array) -> dict[str, Any]:
        still = [*motion[:rates], *[0.0] * (size - rates)]
        return {"still": still, "feedforward": _accelerations(family, wanted)}

    sample = {"motion": (size,), "wanted": (size,)}
    return trace(f"{family.name}.motions", one_sample, case={}, sample=sample, fuse=False)


def _accelerations(family: Family, motion: Array) -> list[Scalar]:
    """Return the accelerations of the freedoms in a motion input."""
    free = len(family.reference.freedoms)
    if family.reference.is_chain:
        return list(motion[2 * free :])
    rows = [0.0, 0.0, 0.0, *motion[6:9]] if len(motion) == 9 else list(motion[18:24])
    return [rows[k] for k in structure_of(family).positions]


@functools.cache
def accelerated_program(family: Family, controller: Controller) -> Program:
    """Return the program of `accelerated`, a motion input: the state with the commanded acceleration."""
    structure, mechanism = structure_of(family), family.reference
    size, count = structure.motion_size, len(coordinates(mechanism, controller.space))
    changing = count if mechanism.is_chain else 3 if size == 9 else 6

    def one_sample(motion: Array, asked_acceleration: Array) -> dict[str, Any]:
        if mechanism.is_chain:
            change: list[Scalar] = list(asked_acceleration)
        else:
            change = [0.0] * len(TWIST)
            for k, value in zip(structure.positions, asked_acceleration, strict=True):
                change[k] = value
        return {"accelerated": [*motion[: size - changing], *change[-changing:]]}

    sample = {"motion": (size,), "asked_acceleration": (count,)}
    return trace(f"{family.name}.accelerated", one_sample, case={}, sample=sample, fuse=False)


class ControlLoop:
    """The controllers of a batch, from one step to the next.

    `step` [s] is the step of the simulation, `settings` has the numbers of each case; `usual` [s] replaces a sample
    time of zero. Raises ValueError where a sample time or a delay is no whole number of steps.
    """

    def __init__(
        self, model: DriveModel, controller: Controller, settings: Settings, step: float, usual: float | None = None
    ):
        self.model, self.settings = model, settings
        periods = steps_in(np.where(settings.sample_time > 0.0, settings.sample_time, usual or step), step)
        delays = steps_in(settings.delay, step)
        for name, counts, least in (("sample_time", periods, 1), ("delay", delays, 0)):
            if (counts < least).any():
                wrong = float(getattr(settings, name)[int(np.argmax(counts < least))])
                raise ValueError(f"{name}: got {wrong!r}; expected a whole number of steps of {step!r} s")
        self.periods, self.delays = periods, delays
        encoders = controller.space != "task" and bool(settings.resolution.any())
        self.law = ControlLaw(model.family, controller, encoders=encoders)
        width = len(delays)
        self.memory = {name: np.zeros((rows, width)) for name, rows in self.law.sizes.items()}
        """Values remembered from step to step, by name (rows, samples)."""
        self.line = np.zeros((int(delays.max(initial=0)) + 1, self.law.actuators, width))
        """Forces of the last steps; the force of step n is at the place n modulo their number."""
        self.constants = self._constants(periods * step)

    def _constants(self, passed: np.ndarray) -> dict[str, np.ndarray]:
        """Return the values of the law that are the same at all steps."""
        s, width = self.settings, len(passed)
        values = {"gains": s.gains.reshape(-1, width), "passed": passed[None]}
        values |= {"force_limit": s.force_limit, "rate_limit": s.rate_limit, "resolution": s.resolution}
        zeros = {"no_integral": self.law.coordinates, "no_force": self.law.actuators}
        values |= {name: np.zeros((rows, width)) for name, rows in zeros.items()}
        return {name: np.ascontiguousarray(array) for name, array in values.items()}

    @property
    def lost(self) -> np.ndarray:
        """Samples at which a limit changed the commanded force of an actuator (actuator, samples)."""
        return self.memory["lost"]

    def due(self, numbers: np.ndarray) -> np.ndarray:
        """Return 1 where a case has a sample at a step (step, 1, samples)."""
        return np.where(numbers[:, None, None] % self.periods == 0, 1.0, 0.0)

    def force(self, number: int, motion: np.ndarray, wanted: np.ndarray, here: Inverse, there: Inverse) -> np.ndarray:
        """Return the forces of the actuators over the step of that number.

        motion, wanted: motion inputs of kernels of the state and of the reference; here, there: the inverse model at
        both. Cases without such a model get NaN.
        """
        width = motion.shape[1]
        values: dict[Any, np.ndarray] = {"motion": motion, "wanted": wanted, **self.constants, **self.memory}
        values |= {"here_position": here.position, "here_velocity": here.velocity}
        values |= {"there_position": there.position, "there_velocity": there.velocity}
        values |= {"due": self.due(np.array([number]))[0], "first": np.full((1, width), float(number == 0))}
        values |= {key: rows[0] for key, rows in here.jacobians.items()}

        def run(program: Program, values: Mapping[Any, np.ndarray]) -> dict[Any, np.ndarray]:
            inputs = {key: values[key][None] for key in program.inputs}
            return {key: rows[0] for key, rows in kernel(program)(inputs, width).items()}

        values = self.law.follow(run, lambda moving: self.model.run(moving, signals=here.signals).force, values)
        self.memory = {name: values[f"next_{name}"] for name in self.memory}
        held = self.memory["held"]
        self.line[slice(None) if number == 0 else number % len(self.line)] = held
        acting = self.line[(number - self.delays) % len(self.line), :, np.arange(width)].T
        good = is_ok(here.status) & is_ok(there.status)
        return np.ascontiguousarray(np.where(good, acting, np.nan))
