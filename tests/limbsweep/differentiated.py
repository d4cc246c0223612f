"""Calls of all functions on arrays that are differentiated, for the checks of gradients of other packages.

A row has a robot, the arrays by which derivatives are taken, and the other arguments. `benchmarks.gradients.checks`
runs the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import limbsweep as ls

FILES = Path(__file__).parents[2] / "examples" / "robots"
POSITION = [[0.0, 0.1, -0.9], [0.05, 0.02, -0.85]]
SPEED, CHANGE = [[0.0, 0.0, 0.0, 1.0, 2.0, 3.0]] * 2, [0.0, 0.0, 0.0, 1.0, -1.0, 0.5]
Q, QD, QDD = [0.3, -0.2, 0.5], [1.0, 0.3, -0.4], [0.5, -1.0, 2.0]
FIELD = [0.3, -9.0, 0.2]
STEP, STEPS = 0.01, 6
MASK = np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0])
"""Components of twists along which a Delta moves."""
WAVE = 0.1 * np.sin(np.outer(STEP * np.arange(STEPS + 1), [10.0, 15.0, 20.0]))


@dataclass(frozen=True)
class CheckedCall:
    """A function by name, its robot (or a file of examples), the arrays that derivatives are taken by, and its call.

    parameters: names of those that are parameters of the robot; arguments: a function of the robot and the arrays by
    name that gives the other arguments; robot: makes the robot where it is none of the catalogue.
    """

    function: str
    robot: str
    arrays: Mapping[str, Any]
    parameters: Mapping[str, float] = field(default_factory=dict)
    arguments: Callable[[ls.Robot, Mapping[str, Any]], dict[str, Any]] = lambda robot, arrays: {**arrays}
    made: Callable[[ls.Robot], ls.Robot] = lambda robot: robot

    def build(self) -> ls.Robot:
        """Return the robot."""
        file = FILES / self.robot
        return self.made(ls.robots.read(file) if file.suffix else ls.robots.build(self.robot))

    def inputs(self) -> list[np.ndarray]:
        """Return all arrays, then the parameters."""
        return [np.asarray(value, dtype=float) for value in (*self.arrays.values(), *self.parameters.values())]

    def call(self, face: Any, robot: ls.Robot, inputs: Any, mask: Any) -> list[Any]:
        """Return the results without the status of a function of a face; mask: MASK as an array of its package."""
        count = len(self.arrays)
        arrays = dict(zip(self.arrays, inputs[:count], strict=True))
        arrays |= {name: part * mask for name, part in arrays.items() if name in ("twist", "acceleration")}
        parameters = dict(zip(self.parameters, inputs[count:], strict=True))
        result = getattr(face, self.function)(robot, **self.arguments(robot, arrays), parameters=parameters)
        return list(result[:-1])


def _drives(robot: ls.Robot) -> Any:
    return ls.robots.Elasticity.of(robot.mechanism, actuators={"all": 2e4})


def _tubes(robot: ls.Robot) -> Any:
    tube = ls.robots.Beam.tube(0.03, 70e9, inner=0.026)
    return ls.robots.Elasticity.of(robot.mechanism, actuators={"all": 2e4}, links={"all": tube})


def _errors(robot: ls.Robot, arrays: Mapping[str, Any]) -> dict[str, Any]:
    errors = ls.robots.Errors.of(robot.mechanism, resolution={"all": 1e-4})
    return {**arrays, "errors": errors, "elasticity": _tubes(robot)}


def _clearances(robot: ls.Robot, arrays: Mapping[str, Any]) -> dict[str, Any]:
    clearances = ls.robots.Clearances.of(robot.mechanism, backlash={"all": 1e-4})
    return {**arrays, "clearances": clearances, "elasticity": _tubes(robot)}


def _capsules(robot: ls.Robot, arrays: Mapping[str, Any]) -> dict[str, Any]:
    return {**arrays, "capsules": ls.robots.Capsules.of(robot.mechanism, links={"all": 0.004})}


def _elastic(robot: ls.Robot, arrays: Mapping[str, Any]) -> dict[str, Any]:
    return {**arrays, "elasticity": _drives(robot)}


def _rubbing(robot: ls.Robot, arrays: Mapping[str, Any]) -> dict[str, Any]:
    moving = {**arrays}
    friction = {"law": "coulomb_viscous", "coulomb": moving.pop("coulomb"), "joints": "all", "width": 0.1}
    return {**moving, "forces": ls.Forces(load=moving.pop("load"), friction=friction)}


def _pushed(robot: ls.Robot, arrays: Mapping[str, Any]) -> dict[str, Any]:
    moving = {**arrays}
    return {"forces": ls.Forces(actuator=moving.pop("actuator")), **moving}


def _falling(robot: ls.Robot, arrays: Mapping[str, Any]) -> dict[str, Any]:
    state = ls.State(**{name: arrays[name] for name in ("q", "qd", "position", "twist") if name in arrays})
    friction = {"law": "coulomb_viscous", "coulomb": 0.3, "joints": "all", "width": 0.5}
    drive = ls.Forces(actuator=arrays["actuator"], friction=friction)
    return {"state": state, "drive": drive, "times": STEP * np.arange(STEPS + 1), "step": STEP}


def _followed(robot: ls.Robot, arrays: Mapping[str, Any]) -> dict[str, Any]:
    servo = ls.servo(robot, "pd", reference={"q": WAVE}, step=STEP, kp=30.0, kd=1.0)
    state = ls.State(q=arrays["q"], qd=arrays["qd"])
    gains, reference = {"kp": arrays["kp"], "kd": arrays["kd"]}, {"q": arrays["wave"], "qd": arrays["rates"]}
    times = STEP * np.arange(0, STEPS + 1, 2)
    return {
        "state": state, "drive": servo, "times": times, "step": STEP, "gains": gains, "reference": reference,
        "environment": ls.Environment(gravity=arrays["gravity"]),
    }  # fmt: skip


def _geared(robot: ls.Robot) -> ls.Robot:
    return ls.robots.with_loads(robot, {"gear": ls.robots.ElasticDrive("all", stiffness=2e3, inertia=0.01)})


DELTA, ARM = "delta_3rr2rrr", "planar_3r"
PLATFORM = {"position": POSITION}
JOINTS = {"q": [Q, QD], "qd": QD}
UPPER, LENGTH = {"upper_arm": 0.28}, {"length_1": 0.5}

CALLS = (
    CheckedCall(
        "inverse_dynamics", DELTA,
        {**PLATFORM, "twist": SPEED, "acceleration": CHANGE, "gravity": FIELD, "load": CHANGE, "coulomb": 0.3}, UPPER,
        _rubbing,
    ),
    CheckedCall("inverse_dynamics", ARM, {**JOINTS, "qdd": QDD, "gravity": FIELD}, LENGTH),
    CheckedCall("inverse_kinematics", DELTA, {**PLATFORM, "twist": SPEED}, UPPER),
    CheckedCall("actuator_positions", DELTA, PLATFORM, UPPER),
    CheckedCall("joint_reactions", DELTA, {**PLATFORM, "gravity": FIELD}, UPPER),
    CheckedCall("equations_of_motion", ARM, {"q": Q, "qd": QD, "gravity": FIELD}, LENGTH),
    CheckedCall("inertia_matrix", DELTA, PLATFORM, UPPER),
    CheckedCall("inertia_matrix", ARM, {"q": [Q, QD]}, LENGTH),
    CheckedCall("forward_dynamics", DELTA, {**PLATFORM, "twist": SPEED, "actuator": [1.0, 2.0, 3.0]}, UPPER, _pushed),
    CheckedCall("forward_kinematics", DELTA, {"actuator_position": [[0.5, 0.6, 0.55], [0.4, 0.5, 0.45]]}, UPPER),
    CheckedCall("bias_vector", ARM, {**JOINTS, "gravity": FIELD}, LENGTH),
    CheckedCall("inertia_element", ARM, {"q": [Q, QD]}, LENGTH, lambda robot, a: {**a, "row": 0, "column": 1}),
    CheckedCall("lagrange_coefficients", ARM, {"q": Q, "gravity": FIELD}, LENGTH),
    CheckedCall("linearisation", ARM, {**JOINTS, "actuator": [1.0, 2.0, 0.5]}, {}, _pushed),
    CheckedCall("regressor", ARM, {**JOINTS, "qdd": QDD, "gravity": FIELD}, LENGTH),
    CheckedCall("constraint_forces", DELTA, {"position": POSITION[0], "gravity": FIELD}, UPPER),
    CheckedCall("cartesian_stiffness", DELTA, PLATFORM, UPPER, _elastic),
    CheckedCall("natural_frequencies", DELTA, PLATFORM, UPPER, _elastic),
    CheckedCall("pose_error", DELTA, PLATFORM, UPPER, _errors),
    CheckedCall("clearance_error", DELTA, PLATFORM, UPPER, _clearances),
    CheckedCall("clearance", DELTA, PLATFORM, UPPER, _capsules),
    CheckedCall("drive_deflection", ARM, {"q": Q, "qd": QD, "qdd": QDD, "gravity": FIELD}, {}, made=_geared),
    CheckedCall("motor_demand", "irb6", {"force": [0.2] * 5, "velocity": [[100.0] * 5, [50.0] * 5]}),
    CheckedCall(
        "resolve_redundancy", "arm_platform.yaml",
        {"q": [[0.0, 0.1, 0.0, 0.2, 0.0, 0.1], [0.05, 0.0, -0.1, 0.0, 0.1, -0.1]], "qd": 2 * Q, "qdd": 2 * QDD},
        {"upper_arm": 0.42, "swivel": 0.3},
    ),
    CheckedCall("simulate", ARM, {"q": [Q, QD], "qd": QD, "actuator": [1.0, 2.0, 0.5]}, LENGTH, _falling),
    CheckedCall(
        "simulate", DELTA, {"position": POSITION[0], "twist": CHANGE, "actuator": [1.0, 2.0, 3.0]}, UPPER, _falling
    ),
    CheckedCall(
        "simulate", ARM,
        {"q": WAVE[0] + 0.1, "qd": QD, "gravity": FIELD, "kp": 30.0, "kd": 1.0, "wave": WAVE, "rates": 0.5 * WAVE},
        LENGTH, _followed,
    ),
)  # fmt: skip
"""Calls of all functions that are differentiated."""
