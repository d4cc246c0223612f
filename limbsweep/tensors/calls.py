"""A call of a function on arrays some of whose arguments are tensors, for packages that differentiate programs.

Tensors may stand in the place of any number or array that `limbsweep.differentiate` takes derivatives by: fields of
records, their short form, numbers of friction, and parameters of the robot.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from limbsweep.labelled.calls import leaves_of, on_leaves
from robots.model import Robot
from robots.parameters import nearest
from robots.types import TWIST
from tasks.dynamics.derivatives import EQUATIONS
from tasks.dynamics.differentiate import differentiate
from tasks.dynamics.directions import Derivatives
from tasks.dynamics.equations import equations_of_motion
from tasks.dynamics.forward import forward_dynamics
from tasks.dynamics.forward_kinematics import forward_kinematics
from tasks.dynamics.inverse import actuator_positions, inverse_dynamics, inverse_kinematics, joint_reactions

FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        actuator_positions, equations_of_motion, forward_dynamics, forward_kinematics, inverse_dynamics,
        inverse_kinematics, joint_reactions,
    )
}  # fmt: skip
"""Functions that take tensors."""

OUTPUTS: Mapping[str, tuple[str, ...]] = {
    "actuator_positions": ("position",),
    "equations_of_motion": tuple(EQUATIONS),
    "forward_dynamics": ("acceleration",),
    "forward_kinematics": ("position", "rotation"),
    "inverse_dynamics": ("force", "velocity", "jacobian"),
    "inverse_kinematics": ("position", "velocity", "acceleration"),
    "joint_reactions": ("wrench",),
}
"""Results that are differentiated; `status` is another one of each."""


def result_shapes(name: str, robot: Robot) -> list[tuple[int, ...]]:
    """Return the shapes of the results of a function for one sample, that of the robot's reference pose."""
    mechanism = robot.mechanism
    pose = (
        {"q": np.zeros(len(mechanism.freedoms))}
        if mechanism.is_chain
        else {"position": mechanism.platform.home.position}
    )
    if name == "forward_kinematics":
        return [(3,), (3, 3)]
    if name == "forward_dynamics":
        return [(len(mechanism.freedoms) if mechanism.is_chain else len(TWIST),)]
    sample = FUNCTIONS[name](robot, **pose)
    return [np.shape(getattr(sample, key)) for key in OUTPUTS[name]]


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
            if key == "parameters" and value:
                tensor_call.tensors |= {label: part for label, part in value.items() if is_tensor(part)}
            elif key == "friction":
                tensor_call.tensors |= {label: part for label, part in _numbers(value) if is_tensor(part)}
            elif is_tensor(value):
                tensor_call.tensors[key] = value
        return tensor_call

    @property
    def result_type(self) -> Any:
        """Type of the results: a named tuple of those that are differentiated, and the status."""
        return _named(self.name, (*self.outputs, "status"))

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the results that are differentiated."""
        return OUTPUTS[self.name]

    def at(self, arrays: Sequence[np.ndarray]) -> Derivatives:
        """Run the function with arrays in the places of the tensors, in their order."""
        table = dict(zip(self.tensors, arrays, strict=True))
        leaves = leaves_of(self.arguments)
        parameters = {key: table.get(key, part) for key, part in (leaves.pop("parameters", None) or {}).items()}
        if "friction" in leaves:
            leaves["friction"] = _filled(leaves["friction"], table)
        leaves |= {key: table[key] for key in leaves if key in table}
        arguments = {key: value for key, value in self.arguments.items() if key != "parameters"}

        def run(robot: Robot, **filled: Any) -> Derivatives:
            return differentiate(FUNCTIONS[self.name], robot, **filled, parameters=parameters)

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
        """Return the rates of what `vjp` gives, where the tensors change at these rates and the cotangents do not."""
        by_output = dict(zip(self.outputs, cotangents, strict=True))
        second = derivatives.hvp(by_output, dict(zip(self.tensors, rates, strict=True)))
        return [second[key] for key in self.tensors]

    def jvp(self, derivatives: Derivatives, rates: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return the rates of the results, in their order, from those of the tensors."""
        derivatives_by_name = derivatives.jvp(dict(zip(self.tensors, rates, strict=True)))
        return [derivatives_by_name[key] for key in self.outputs]


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
