"""Derivatives of a simulation in constant steps: the discrete integrator differentiated exactly, in both directions.

A step of Runge and Kutta's method is x' = x + h/6 (k1 + 2 k2 + 2 k3 + k4) with k = f at four states. f and its
derivatives at the states of all steps are computed together; the steps themselves are products of small matrices, from
the first to the last for rates, from the last to the first for cotangents. Source: Hairer, Norsett and Wanner 1993,
section II.6; Griewank and Walther, Evaluating Derivatives, 2nd ed., chapter 3.

A servo holds its forces over each step. Joints whose friction sticks end steps at instants that depend on all inputs;
these are refused here, as are platforms that turn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from robots.data_classes import dataclass, replace
from robots.friction.laws import LAWS
from robots.model import Robot
from robots.status import Status
from tasks.dynamics.directions import Array, Derivatives, check_names, spread, summed, times, zero_for_nan
from tasks.dynamics.implicit import ACTUATOR, AccelerationDerivatives
from tasks.dynamics.records import Environment, FixedSteps, Forces, Motion, State, WoundActing
from tasks.dynamics.servo_derivatives import GAINS, FollowingServo, FreedomNames, ServoDerivatives, add, turned
from tasks.features.friction.inputs import friction_input, without_zero_width

SAME = 1e-9
"""Difference of a step from that of the simulation, relative to the largest state, up to which it is the same."""

SHARES = (0.5, 0.5, 1.0)
"""Shares of a step at which the second and later stages are."""

FORCE = "force"

WEIGHTS = (1.0, 2.0, 2.0, 1.0)
"""Weights of the stages, in sixths of a step."""


@dataclass(frozen=True)
class RungeKuttaStage:
    """One stage of all steps: derivatives of its rate by the state (step, *batch, 2 freedoms, 2 freedoms).

    by_force: derivatives of the accelerations by forces of actuators (step, *batch, freedom, actuator), with a servo.
    """

    here: AccelerationDerivatives
    matrix: Array
    by_force: Array

    @classmethod
    def of(cls, here: AccelerationDerivatives, names: FreedomNames, *, with_forces: bool) -> RungeKuttaStage:
        """Return the derivatives of a stage."""
        free, blocks = names.free, list[Array]()
        for name, places, size in zip((names.position, names.speed), names.places, names.sizes, strict=True):
            blocks += [_accelerations(here, {name: unit}) for unit in np.eye(size)[places]]
        matrix = np.zeros((*here.batch, 2 * free, 2 * free))
        matrix[..., :free, free:] = np.eye(free)
        matrix[..., free:, :] = np.stack(blocks, axis=-1)
        units = np.eye(here.actuator.shape[-1] if with_forces else 0)
        columns = [_accelerations(here, {ACTUATOR: unit}) for unit in units]
        return cls(here, matrix, np.stack(columns, axis=-1) if columns else np.zeros((*here.batch, free, 0)))

    def vjp(self, reached: Array) -> dict[str, Array]:
        """Return the derivatives by all inputs from those by the accelerations (step, *batch, freedom)."""
        whole = np.zeros_like(self.here.results["acceleration"])
        whole[..., self.here.free] = reached
        return self.here.vjp({"acceleration": whole})


class MotionFunctions(NamedTuple):
    """Functions that a simulation is differentiated with.

    simulate: the simulation itself, see `tasks.dynamics.simulate`; accelerations: derivatives of forward dynamics at
    arguments; of_stages: derivatives of functions whose results are values of stages, by name; servo: class of servos.
    """

    simulate: Callable[..., Any]
    accelerations: Callable[..., Any]
    of_stages: Mapping[str, Callable[..., Derivatives]]
    servo: type[Any]


class SimulationDerivatives(Derivatives):
    """Derivatives of the states of a simulation by start, forces or gains, gravity, friction and parameters.

    Results are `q` and `qd` (kept, *batch, freedom) of a chain, `position` (kept, *batch, 3) and `twist` (kept,
    *batch, 6) of a platform, `status` (*batch), and of a servo the `force` (step, *batch, actuator) over each step.
    Inputs are the inputs of `forward_dynamics`, with position and speed of the initial state. A servo adds its gains,
    such as "servo.kp", and position and speed of its reference at the starts of the steps (step, size), such as
    "servo.q".
    """

    def __init__(
        self, functions: MotionFunctions, robot: Robot, state: State, forces: Forces, environment: Environment,
        clock: FixedSteps, parameters: Mapping[str, float],
    ):  # fmt: skip
        values = {name: float(value) for name, value in parameters.items()}
        robot = Robot.of(robot.family, {**robot.values, **values})
        self.names, self.clock, self.parameters = FreedomNames.of(robot), clock, values
        servo: Any = forces.actuator if isinstance(forces.actuator, functions.servo) else None
        _check(robot, forces, environment, servo)
        self.functions = functions
        start, states, self.status = self._simulated(robot, state, forces, environment)
        self.batch, self.start, self.good = states.shape[1:-1], start, self.status == Status.OK
        sound = np.where(self.good[..., None], states, states[:1])
        self.states = sound
        self.control = None
        if servo is not None:
            moving = self._moved(sound[:-1]), self.names, clock
            self.control = ServoDerivatives(functions.of_stages, robot, servo, *moving, values)
            forces = replace(forces, actuator=np.broadcast_to(
                self.control.force, (clock.steps, *self.batch, self.control.force.shape[-1])
            ))  # fmt: skip
        self.stages = self._stages(robot, forces, environment, sound)
        states_by_name = _parts(self.names, states[:: clock.every], self.start[self.names.position])
        self.results = {**states_by_name, **self._forces(), "status": self.status}

    def _forces(self) -> dict[str, Array]:
        """Return the forces that a servo holds over the steps, where there is one."""
        if self.control is None:
            return {}
        return {FORCE: np.where(self.good[..., None], self.control.force, np.nan)}

    def _simulated(
        self, robot: Robot, state: State, forces: Forces, environment: Environment
    ) -> tuple[dict[str, Array], Array, Array]:
        """Return position and speed of the start by name, all states (step, *batch, 2 freedoms) and the status."""
        parts: dict[str, Any] = {
            k: part for k, part in (state.present() | forces.present()).items() if part is not None
        }
        actuator = parts.pop("actuator", np.zeros(len(robot.mechanism.actuators)))
        if isinstance(actuator, self.functions.servo):
            actuator = self.functions.servo(robot, actuator.controller, actuator.values, actuator.reference)
        if parts.get("load_axes") == "world":
            del parts["load_axes"]
        if self.names.position == "position":
            parts.setdefault("position", robot.mechanism.platform.home.position)
        parts |= {"gravity": environment.gravity, "method": self.clock.method, "start": self.clock.start}
        moved = self.functions.simulate(robot, force=actuator, step=self.clock.step, steps=self.clock.steps, **parts)
        columns = [np.asarray(getattr(moved, name)) for name in (self.names.position, self.names.speed)]
        start = {
            name: np.asarray(parts.get(name, np.zeros(size)), dtype=float)
            for name, size in zip((self.names.position, self.names.speed), self.names.sizes, strict=True)
        }
        states = np.concatenate(
            [part[..., places] for part, places in zip(columns, self.names.places, strict=True)], axis=-1
        )
        return start, states, np.asarray(moved.status)

    def _moved(self, states: Array) -> Motion:
        """Return states (..., 2 freedoms) as a motion."""
        return Motion(**_parts(self.names, states, self.start[self.names.position]))

    def _stages(self, robot: Robot, forces: Forces, environment: Environment, states: Array) -> list[RungeKuttaStage]:
        """Return the derivatives at the four stages of all steps."""
        step, at, stages = self.clock.step, states[:-1], list[RungeKuttaStage]()
        before, total = at, np.zeros_like(at)
        for k, weight in enumerate(WEIGHTS):
            here = self.functions.accelerations(robot, self._moved(at), forces, environment, self.parameters)
            slope = np.concatenate([at[..., self.names.free :], here.results["acceleration"][..., here.free]], axis=-1)
            total = total + weight * slope
            stages.append(RungeKuttaStage.of(here, self.names, with_forces=self.control is not None))
            at = before + step * SHARES[min(k, 2)] * slope
        missed = np.abs(before + total * (step / 6.0) - states[1:]).max(axis=(0, -1))
        largest = np.abs(states).max(axis=(0, -1))
        self.good = self.good & (missed <= SAME * largest)
        for stage in stages:
            self.good = self.good & stage.here.good.all(axis=0)
        return stages

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the inputs."""
        moving = (self.names.position, self.names.speed)
        constants = [name for name in self.stages[0].here.inputs if name not in moving and name not in _UNUSED]
        if self.control is None:
            return (*moving, *constants)
        return (*moving, *(name for name in constants if name != ACTUATOR), *self.control.inputs)

    def jvp(self, rates: Mapping[str, ArrayLike]) -> dict[str, Array]:
        """Return the rates of the states; see `Derivatives`."""
        check_names("rates", rates, self.inputs)
        moving = (self.names.position, self.names.speed)
        shared = {k: r for k, r in rates.items() if k not in moving and not k.startswith(GAINS)}
        pushed = [_accelerations(stage.here, shared) for stage in self.stages]
        held = None if self.control is None else self.control.jvp(rates)
        rate = np.concatenate([
            spread(name, rates.get(name, 0.0), (size,), self.batch)[..., places]
            for name, places, size in zip(moving, self.names.places, self.names.sizes, strict=True)
        ], axis=-1)  # fmt: skip
        history, forces = [rate], list[Array]()
        for n in range(self.clock.steps):
            force = None
            if self.control is not None and held is not None:
                force = times(self.control.by_state[n], rate) + held[n]
                forces.append(np.where(self.good[..., None], force, np.nan))
            rate = self._step_rates(n, rate, [part[n] for part in pushed], force)
            history.append(rate)
        rates_of_states = np.where(self.good[..., None], np.stack(history), np.nan)
        by_name = _parts(self.names, rates_of_states[:: self.clock.every], np.zeros(self.names.sizes[0]))
        return by_name | ({FORCE: np.stack(forces)} if forces else {})

    def _step_rates(self, n: int, rate: Array, pushed: list[Array], force: Array | None) -> Array:
        """Return the rates of the state after a step."""
        step, at, total = self.clock.step, rate, np.zeros_like(rate)
        for k, stage in enumerate(self.stages):
            slope = times(stage.matrix[n], at)
            slope[..., self.names.free :] += pushed[k] if force is None else pushed[k] + times(stage.by_force[n], force)
            total = total + WEIGHTS[k] * slope
            at = rate + step * SHARES[min(k, 2)] * slope
        return rate + total * (step / 6.0)

    def vjp(self, cotangents: Mapping[str, ArrayLike]) -> dict[str, Array]:
        """Return the derivatives of a number by all inputs; see `Derivatives`."""
        check_names("cotangents", cotangents, [name for name in self.results if name != "status"])
        seeds, held = self._seeds(cotangents), self._force_seeds(cotangents)
        lost = ~self.good & ((seeds != 0.0).any(axis=(0, -1)) | (held != 0.0).any(axis=(0, -1)))
        seeds, held = (np.where(self.good[..., None], part, 0.0) for part in (seeds, held))
        reached = [np.zeros((self.clock.steps, *self.batch, self.names.free)) for _ in self.stages]
        total = seeds[-1]
        for n in reversed(range(self.clock.steps)):
            total, by_slope = self._step_cotangents(n, total)
            for k, part in enumerate(by_slope):
                reached[k][n] = part
            if self.control is not None:
                for stage, part in zip(self.stages, by_slope, strict=True):
                    held[n] += times(turned(stage.by_force[n]), part)
                total = total + times(turned(self.control.by_state[n]), held[n])
            total = total + seeds[n]
        result = self._by_start(total)
        for stage, part in zip(self.stages, reached, strict=True):
            by_input = stage.vjp(part).items()
            add(result, {name: x for name, x in by_input if name in self.inputs and name not in self.start})
        if self.control is not None:
            add(result, self.control.vjp(held))
        return {name: np.full_like(part, np.nan) if lost.any() else part for name, part in result.items()}

    def hvp(self, cotangents: Mapping[str, ArrayLike], rates: Mapping[str, ArrayLike]) -> dict[str, Array]:
        """Raise ValueError: a simulation has first derivatives alone."""
        raise ValueError("hvp: got a simulation, which has first derivatives alone; expected a function of one instant")

    def _step_cotangents(self, n: int, after: Array) -> tuple[Array, list[Array]]:
        """Return the cotangents of the state before a step, and of the accelerations of its stages."""
        step, free = self.clock.step, self.names.free
        total, later, parts = after, np.zeros_like(after), list[Array]()
        for k in reversed(range(len(self.stages))):
            share = SHARES[k] if k < len(SHARES) else 0.0
            slope = after * (WEIGHTS[k] * step / 6.0) + later * (step * share)
            parts.append(slope[..., free:])
            later = times(turned(self.stages[k].matrix[n]), slope)
            total = total + later
        return total, parts[::-1]

    def _force_seeds(self, cotangents: Mapping[str, ArrayLike]) -> Array:
        """Return cotangents of the forces of a servo (step, *batch, actuator)."""
        actuators = self.stages[0].by_force.shape[-1]
        return spread(FORCE, cotangents.get(FORCE, 0.0), (actuators,), (self.clock.steps, *self.batch)).copy()

    def _seeds(self, cotangents: Mapping[str, ArrayLike]) -> Array:
        """Return cotangents of all states (step, *batch, 2 freedoms)."""
        result = np.zeros_like(self.states)
        instants = slice(None, None, self.clock.every)
        for number, name in enumerate((self.names.position, self.names.speed)):
            size, places = self.names.sizes[number], self.names.places[number]
            shape = (len(self.states[instants]), *self.batch)
            part = spread(name, cotangents.get(name, 0.0), (size,), shape)[..., places]
            result[instants][..., number * self.names.free : (number + 1) * self.names.free] += part
        return result

    def _by_start(self, total: Array) -> dict[str, Array]:
        """Return the derivatives by position and speed of the start, in the shapes of these."""
        result: dict[str, Array] = {}
        for number, name in enumerate((self.names.position, self.names.speed)):
            whole = np.zeros((*self.batch, self.names.sizes[number]))
            whole[..., self.names.places[number]] = np.split(total, 2, axis=-1)[number]
            result[name] = summed(whole, self.start[name].shape[:-1], 1)
        return result


_UNUSED = ("rotation",)


def _check(robot: Robot, forces: Forces, environment: Environment, servo: FollowingServo | None) -> None:
    """Refuse arguments with which steps cannot be differentiated. Raises ValueError."""
    if environment.base_parts:
        raise ValueError("base: got a base that moves; expected one that stands where simulations are differentiated")
    if isinstance(forces.actuator, WoundActing):
        got = "got motors with an inductance, whose steps are exponential in their currents"
        raise ValueError(f"actuator: {got}; expected forces or a servo, or derivatives of a sweep of simulations")
    for name in ("actuator", "load"):
        if callable(getattr(forces, name)):
            raise ValueError(
                f"{name}: got a function of time; expected an array, or a servo, whose derivatives are known"
            )
    for group in without_zero_width(friction_input(robot, forces.friction, LAWS)).groups:
        if group.sticks or group.remembers:
            got = f"friction {group.law}, which sticks" if group.sticks else f"friction {group.law}, which has a state"
            raise ValueError(f"friction: got {got}; expected a law with a width, or without dry friction")
    if servo is None:
        return
    controller = servo.controller
    if controller.kind != "pd" or controller.space != "actuator":
        got = f"{controller.kind} in the space {controller.space!r}"
        raise ValueError(f"drive: got a servo of {got}; expected pd of actuators where gains are differentiated")
    if limits := [name for name in controller.parameters if name.split("_")[0] not in ("kp", "kd")]:
        raise ValueError(f"drive: got a servo with {limits[0]}; expected gains alone where they are differentiated")


def _parts(names: FreedomNames, states: Array, fixed: Array) -> dict[str, Array]:
    """Return states (..., 2 freedoms) by name; components without freedom are at `fixed` positions, with zero speed."""
    position, speed = (np.zeros((*states.shape[:-1], size)) for size in names.sizes)
    position[...] = np.asarray(fixed)
    position[..., names.places[0]], speed[..., names.places[1]] = np.split(states, 2, axis=-1)
    return {names.position: position, names.speed: speed}


def _accelerations(here: AccelerationDerivatives, rates: Mapping[str, ArrayLike]) -> Array:
    """Return the rates of the free accelerations, with zero in place of NaN."""
    return zero_for_nan(here.jvp(rates)["acceleration"])[..., here.free]
