"""A call of a function on arrays some of whose arguments are tensors, for packages that differentiate programs.

Tensors may stand in the place of any number or array that `limbsweep.differentiate` takes derivatives by: fields of
records, their short form, numbers of friction, and parameters of the robot.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from limbsweep.labelled.calls import leaves_of, on_leaves
from limbsweep.labelled.motions import differentiate_simulation
from limbsweep.labelled.table import ARGUMENTS
from limbsweep.tensors.simulations import SIMULATE, simulate, simulation_outputs, simulation_shapes
from robots.data_classes import dataclass, field
from robots.model import Robot
from robots.parameter_errors import nearest
from robots.types import TWIST
from tasks.checks.lagrange import lagrange_coefficients
from tasks.dynamics.bearings import constraint_forces
from tasks.dynamics.clearance_error import clearance_error
from tasks.dynamics.criteria import cartesian_stiffness, clearance, natural_frequencies, pose_error
from tasks.dynamics.derivatives import EQUATIONS
from tasks.dynamics.differentiate import differentiate
from tasks.dynamics.directions import Derivatives
from tasks.dynamics.elastic_drives import drive_deflection
from tasks.dynamics.equations import bias_vector, equations_of_motion, inertia_element, inertia_matrix
from tasks.dynamics.fed_motors import motor_demand
from tasks.dynamics.forward import forward_dynamics
from tasks.dynamics.forward_kinematics import forward_kinematics
from tasks.dynamics.inverse import actuator_positions, inverse_dynamics, inverse_kinematics, joint_reactions
from tasks.dynamics.linear import linearisation
from tasks.dynamics.records import GRAVITY
from tasks.dynamics.regressor import regressor
from tasks.dynamics.resolution import resolve_redundancy
from tasks.dynamics.servo_derivatives import GAINS

EXACT: Mapping[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        actuator_positions, equations_of_motion, forward_dynamics, forward_kinematics, inertia_matrix, inverse_dynamics,
        inverse_kinematics, joint_reactions,
    )
}  # fmt: skip
"""Functions with exact derivatives, second ones too."""

OTHERS: Mapping[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        bias_vector, cartesian_stiffness, clearance, clearance_error, constraint_forces, drive_deflection,
        inertia_element, lagrange_coefficients, linearisation, motor_demand, natural_frequencies, pose_error, regressor,
        resolve_redundancy,
    )
}  # fmt: skip
"""Functions whose derivatives are extrapolated differences."""

FUNCTIONS: Mapping[str, Callable[..., Any]] = {**EXACT, **OTHERS, SIMULATE: differentiate_simulation}
"""Functions that take tensors."""

OUTPUTS: Mapping[str, tuple[str, ...]] = {
    "actuator_positions": ("position",),
    "bias_vector": ("force",),
    "cartesian_stiffness": ("compliance", "stiffness", "least", "largest"),
    "clearance": ("distances", "least"),
    "clearance_error": ("worst", "position", "direction"),
    "constraint_forces": ("moment_across", "force_across", "along", "normal"),
    "drive_deflection": ("rotor", "rotor_rate", "stretch", "carried", "force"),
    "equations_of_motion": tuple(EQUATIONS),
    "forward_dynamics": ("acceleration",),
    "forward_kinematics": ("position", "rotation"),
    "inertia_element": ("value",),
    "inertia_matrix": ("matrix",),
    "inverse_dynamics": ("force", "velocity", "jacobian"),
    "inverse_kinematics": ("position", "velocity", "acceleration"),
    "joint_reactions": ("wrench",),
    "lagrange_coefficients": (
        "inertia", "velocity", "gravity", "transmission", "actuator_inertia", "effective_inertia",
    ),
    "linearisation": ("state", "input", "acceleration"),
    "motor_demand": ("current", "voltage", "power"),
    "natural_frequencies": ("frequencies",),
    "pose_error": ("covariance", "position", "shift"),
    "regressor": ("matrix",),
    "resolve_redundancy": ("q", "qd", "qdd"),
}  # fmt: skip
"""Results that are differentiated; `status` is another one of each. Those of simulations follow from the robot."""

CORES: Mapping[str, int] = {
    **{name: len(dims) for name, dims in ARGUMENTS.items()}, "gravity": 1, "velocity": 1, "jerk": 1, "snap": 1,
    **dict.fromkeys((f"{GAINS}{name}" for name in ("q", "qd", "position", "twist")), 2),
}  # fmt: skip
"""Dims of one sample of inputs that are arrays."""

ALSO: Mapping[str, str] = {
    SIMULATE: (
        "`gains` and `reference`, by name, take the place of those of a servo. Steps are constant, see\n    "
        "`limbsweep.differentiate_simulation`. "
    )
}
"""Arguments that functions have beside those of `limbsweep`."""

PREFIXES: Mapping[str, str] = {"parameters": "", "gains": GAINS, "reference": GAINS}
"""Arguments that hold inputs by name, and the prefix of these names among the inputs."""


_named: Any = namedtuple  # of names that are known at run time


@dataclass(eq=False)
class TensorCall:
    """A call: its function and robot, the other arguments, and the tensors by name of the input."""

    name: str
    robot: Robot
    arguments: Mapping[str, Any]
    tensors: dict[str, Any] = field(default_factory=dict)
    at_tensors: Derivatives | None = None
    """The function where it has run at the tensors."""

    @classmethod
    def of(
        cls, name: str, robot: Robot, arguments: Mapping[str, Any], is_tensor: Callable[[object], bool]
    ) -> TensorCall:
        """Return a call with its tensors taken out. Raises ValueError for a tensor where none is differentiated."""
        tensor_call = cls(name, robot, arguments)
        for key, value in leaves_of(arguments).items():
            if key in PREFIXES and value:
                head = PREFIXES[key]
                tensor_call.tensors |= {head + label: part for label, part in value.items() if is_tensor(part)}
            elif key == "friction":
                tensor_call.tensors |= {label: part for label, part in _numbers(value) if is_tensor(part)}
            elif is_tensor(value):
                tensor_call.tensors[key] = value
        return tensor_call

    @property
    def result_type(self) -> Any:
        """Type of the results: a named tuple of the differentiated outputs, and the status."""
        return _named(self.name, (*self.outputs, "status"))

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the results that are differentiated."""
        return simulation_outputs(self.robot, self.arguments) if self.is_simulation else OUTPUTS[self.name]

    @property
    def is_simulation(self) -> bool:
        """True for a call of `simulate`, whose results have the time behind batch dims here."""
        return self.name == SIMULATE

    @property
    def takes_designs(self) -> bool:
        """True if parameters may be arrays, one number for each sample."""
        return self.name in EXACT

    def result_shapes(self) -> list[tuple[int, ...]]:
        """Return the shapes of the results for one sample, that of the robot's reference pose."""
        mechanism = self.robot.mechanism
        if self.is_simulation:
            return simulation_shapes(self.robot, self.arguments)
        if self.name == "forward_kinematics":
            return [(3,), (3, 3)]
        if self.name == "forward_dynamics":
            return [(len(mechanism.freedoms) if mechanism.is_chain else len(TWIST),)]
        home = {"q": np.zeros(len(mechanism.freedoms))}
        if not mechanism.is_chain:
            home = {"position": np.asarray(mechanism.platform.home.position, dtype=float)}
        pose = {} if self.name == "motor_demand" else home
        arguments = {} if self.name in EXACT else {k: x for k, x in self.arguments.items() if k != "parameters"}
        leaves = leaves_of(arguments)
        leaves |= {key: _standing(self.robot, key, value) for key, value in leaves.items() if CORES.get(key, 0)}
        sample = on_leaves(FUNCTIONS[self.name], arguments)(self.robot, **{**pose, **leaves})
        return [np.shape(getattr(sample, key)) for key in self.outputs]

    def at(self, arrays: Sequence[np.ndarray]) -> Derivatives:
        """Run the function with arrays in the places of the tensors, in their order."""
        table = dict(zip(self.tensors, arrays, strict=True))
        leaves = leaves_of(self.arguments)
        named: dict[str, Any] = {
            argument: {key: table.get(head + key, part) for key, part in (leaves.pop(argument, None) or {}).items()}
            for argument, head in PREFIXES.items()
        }
        if "friction" in leaves:
            leaves["friction"] = _filled(leaves["friction"], table)
        leaves |= {key: table[key] for key in leaves if key in table}
        arguments = {key: value for key, value in self.arguments.items() if key not in PREFIXES}

        def run(robot: Robot, **filled: Any) -> Derivatives:
            if self.is_simulation:
                return simulate(robot, **filled, **named)
            for key in ("gains", "reference"):
                if named[key]:
                    raise ValueError(f"{key}: got them for {self.name}; expected simulate, whose servo has them")
            return differentiate(FUNCTIONS[self.name], robot, **filled, parameters=named["parameters"])

        derivatives: Derivatives = on_leaves(run, arguments)(self.robot, **leaves)
        for key in self.tensors:
            if key not in derivatives.inputs:
                raise ValueError(
                    f"{key}: got a tensor, which {self.name} has no derivative by; {nearest(key, derivatives.inputs)}"
                )
        return derivatives

    def vjp(self, derivatives: Derivatives, cotangents: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return the derivatives of a number by the tensors, in their order, from those by the results."""
        derivatives_by_name = derivatives.vjp(dict(zip(self.outputs, cotangents, strict=True)))
        return [derivatives_by_name[key] for key in self.tensors]

    def hvp(
        self, derivatives: Derivatives, cotangents: Sequence[np.ndarray], rates: Sequence[np.ndarray]
    ) -> list[np.ndarray]:
        """Return the rates of the results of `vjp`, where tensors change at these rates and cotangents are constant."""
        by_output = dict(zip(self.outputs, cotangents, strict=True))
        second = derivatives.hvp(by_output, dict(zip(self.tensors, rates, strict=True)))
        return [second[key] for key in self.tensors]

    def jvp(self, derivatives: Derivatives, rates: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return the rates of the results, in their order, from those of the tensors."""
        derivatives_by_name = derivatives.jvp(dict(zip(self.tensors, rates, strict=True)))
        return [derivatives_by_name[key] for key in self.outputs]


def _standing(robot: Robot, key: str, value: Any) -> np.ndarray:
    """Return one sample of an input that has this value: at rest in the reference pose, without force."""
    if key == "position":
        return np.asarray(robot.mechanism.platform.home.position, dtype=float)
    if key.endswith("rotation"):
        return np.eye(3)
    return np.array(GRAVITY) if key == "gravity" else np.zeros(np.shape(value)[-CORES[key] :])


def _groups(friction: Any) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the groups of friction with the names that their numbers begin with."""
    if friction is None or not isinstance(friction, Mapping | Sequence):
        return []
    if isinstance(friction, Mapping):
        return [("friction", friction)]
    single = len(friction) == 1
    return [("friction" if single else f"friction[{k}]", group) for k, group in enumerate(friction)]


def _numbers(friction: Any) -> list[tuple[str, Any]]:
    """Return the parts of the groups of friction, by name."""
    return [(f"{head}.{key}", part) for head, group in _groups(friction) for key, part in group.items()]


def _filled(friction: Any, table: Mapping[str, np.ndarray]) -> Any:
    """Return friction with numbers in the place of tensors. Raises ValueError for an array of them."""
    groups = [
        {key: _number(f"{head}.{key}", table[f"{head}.{key}"]) if f"{head}.{key}" in table else part
         for key, part in group.items()}
        for head, group in _groups(friction)
    ]  # fmt: skip
    return groups or friction


def _number(name: str, array: np.ndarray) -> float:
    if np.size(array) != 1:
        raise ValueError(f"{name}: got an array of shape {np.shape(array)}; expected one number, for all samples")
    return float(np.ravel(array)[0])
