"""Simulations as calls with tensors: gains and reference of a servo as arguments, and batches before the time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from limbsweep.labelled.motions import differentiate_simulation
from robots.model import Robot
from robots.parameter_errors import nearest
from tasks.dynamics import servo as controllers
from tasks.dynamics.directions import Array, Derivatives
from tasks.dynamics.motion_derivatives import FORCE, SimulationDerivatives
from tasks.dynamics.records import STANDING, Environment, Forces, State
from tasks.dynamics.servo import Servo
from tasks.dynamics.servo_derivatives import GAINS, FreedomNames

SIMULATE = "simulate"


def simulate(
    robot: Robot,
    *,
    times: ArrayLike,
    state: State,
    drive: Forces | Servo | None = None,
    step: float | None = None,
    gains: Mapping[str, float],
    reference: Mapping[str, ArrayLike],
    environment: Environment = STANDING,
    parameters: Mapping[str, ArrayLike],
) -> Derivatives:
    """Run `limbsweep.differentiate_simulation` with gains and reference in the place of those of its servo.

    gains: by name, such as kp; reference: position and speed by name, at instants of the servo's step. Raises
    ValueError for these without a servo, for gains that it does not have, and the errors of `differentiate_simulation`.
    """
    servo = _servo(drive)
    if servo is None and (gains or reference):
        raise ValueError(f"{'gains' if gains else 'reference'}: got them without a servo; expected one as drive")
    if servo is not None and (gains or reference):
        moved = _moved(robot, servo, gains, reference)
        drive = replace(drive, actuator=moved) if isinstance(drive, Forces) else moved
    numbers = {name: _number(name, value) for name, value in parameters.items()}
    at = differentiate_simulation(robot, state, drive, times, environment=environment, step=step, parameters=numbers)
    return BatchFirst(at, {name: len(np.asarray(values)) for name, values in reference.items()}, servo)


def simulation_outputs(robot: Robot, arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the results that are differentiated."""
    names = FreedomNames.of(robot)
    return (names.position, names.speed, *((FORCE,) if _servo(arguments.get("drive")) is not None else ()))


def simulation_shapes(robot: Robot, arguments: Mapping[str, Any]) -> list[tuple[int, ...]]:
    """Return the shapes of the results of one case: (time, freedom), and of forces (step, actuator)."""
    sizes, instants = FreedomNames.of(robot).sizes, len(np.asarray(arguments["times"]))
    shapes: list[tuple[int, ...]] = [(instants, size) for size in sizes]
    if _servo(arguments.get("drive")) is not None:
        times, step = np.asarray(arguments["times"], dtype=float), arguments.get("step")
        steps = instants - 1 if step is None else round((times[-1] - times[0]) / step)
        shapes.append((steps, len(robot.mechanism.actuators)))
    return shapes


def _servo(drive: object) -> Servo | None:
    """Return the servo of a drive."""
    force = drive.actuator if isinstance(drive, Forces) else drive
    return force if isinstance(force, Servo) else None


def _moved(robot: Robot, servo: Servo, gains: Mapping[str, float], reference: Mapping[str, ArrayLike]) -> Servo:
    """Return a servo with other gains and another reference."""
    controller = servo.controller
    for name in gains:
        if name not in controller.parameters:
            raise ValueError(f"gains: got {name}; {nearest(name, controller.parameters)}")
    values = dict(zip(controller.parameters, servo.values.tolist(), strict=True))
    values |= {name: _number(f"gains: {name}", value) for name, value in gains.items()}
    step, numbers = servo.reference.step, {name: float(value) for name, value in values.items()}
    if not reference:
        return Servo(robot, controller, np.array([*numbers.values()]), servo.reference)
    space = controller.space
    return controllers.servo(robot, controller.kind, reference=reference, step=step, space=space, **numbers)


def _number(name: str, value: object) -> float:
    array = np.asarray(value)
    if array.size != 1 or array.dtype.kind not in "biuf":
        raise ValueError(f"{name}: got an array of shape {array.shape}; expected one number, for all cases")
    return float(array.reshape(-1)[0])


class BatchFirst(Derivatives):
    """Derivatives of a simulation whose results have batch dims first, then the time.

    instants: of parts of the reference by name, of which the simulation sees those at the starts of its steps.
    """

    def __init__(self, inner: SimulationDerivatives, instants: Mapping[str, int], servo: Servo | None):
        self.inner, self.instants = inner, {f"{GAINS}{name}": count for name, count in instants.items()}
        self.numbers = np.zeros(0, dtype=int)
        if servo is not None:
            self.numbers = np.round(np.arange(inner.clock.steps) * inner.clock.step / servo.reference.step).astype(int)
        self.results = self._turned(inner.results)

    @staticmethod
    def _turned(results: Mapping[str, Array]) -> dict[str, Array]:
        return {name: part if name == "status" else np.moveaxis(part, 0, -2) for name, part in results.items()}

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the inputs."""
        return self.inner.inputs

    def jvp(self, rates: Mapping[str, ArrayLike]) -> dict[str, Array]:
        """Return the rates of the results; see `Derivatives`."""
        seen = {
            name: np.asarray(rate)[np.minimum(self.numbers, self.instants[name] - 1)] if name in self.instants else rate
            for name, rate in rates.items()
        }
        return self._turned(self.inner.jvp(seen))

    def vjp(self, cotangents: Mapping[str, ArrayLike]) -> dict[str, Array]:
        """Return the derivatives of a number by all inputs; see `Derivatives`."""
        result = self.inner.vjp({name: np.moveaxis(np.asarray(part), -2, 0) for name, part in cotangents.items()})
        for name, count in self.instants.items():
            if name in result:
                whole = np.zeros((count, result[name].shape[-1]))
                np.add.at(whole, np.minimum(self.numbers, count - 1), result[name])
                result[name] = whole
        return result

    def hvp(self, cotangents: Mapping[str, ArrayLike], rates: Mapping[str, ArrayLike]) -> dict[str, Array]:
        """Raise ValueError: a simulation has first derivatives alone."""
        return self.inner.hvp(cotangents, rates)
