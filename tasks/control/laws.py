"""Laws of controllers for one sample: a row of mathematics for each in `robots.controllers.CONTROLLERS`.

A row is a function of the gains by name and of the errors of one coordinate: reference minus what is measured. What it
gives is a force along that coordinate, or of a kind whose model is the `dynamics`, an acceleration. How forces along
coordinates become forces of actuators is in `command_program`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from robots.controllers import CONTROLLERS, Controller, coordinates
from robots.model import Family
from tasks.kernels.keys import Shape, indexed
from tasks.kernels.program import Program, trace
from tasks.kernels.types import Array, Scalar
from tasks.mathematics.algebra import array
from tasks.mechanics.assembly import actuator_forces
from tasks.mechanics.structure import structure_of


@dataclass(frozen=True)
class Errors:
    """Of one coordinate: errors of position and rate, and the integral of the first [s times that]."""

    position: Scalar
    rate: Scalar
    integral: Scalar = 0.0


def pd(error: Errors, kp: Scalar, kd: Scalar) -> Scalar:
    """Proportional to both errors; as an acceleration, that of a computed torque."""
    return error.position * kp + error.rate * kd


def pid(error: Errors, kp: Scalar, ki: Scalar, kd: Scalar) -> Scalar:
    """With the integral."""
    return error.position * kp + error.rate * kd + error.integral * ki


LAWS: Mapping[str, Callable[..., Scalar]] = {"pd": pd, "pd_gravity": pd, "pid": pid, "computed_torque": pd}
"""Laws by name of their kind."""


@functools.cache
def command_program(family: Family, controller: Controller) -> Program:
    """The `force` (actuator,) that a controller asks for, before limits; of a computed torque, `acceleration`.

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
            law(Errors(error[i], error_rate[i], integral[i]), **dict(zip(names, gains[:, i], strict=True)))
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
