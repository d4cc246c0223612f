"""Parameters of a robot, of its friction, and gravity as arguments of exported functions, in place of constants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from applications.export.code.functions import CodeArgument, CodeFunction, plain_call
from pipeline.documents.dataset_names import GRAVITY
from pipeline.sweep.gravity import gravity_parameters
from robots.dims import FRICTION
from robots.model import Robot
from robots.parameter_errors import nearest
from tasks.features.friction.inputs import Friction, friction_input
from tasks.kernels.expression import Array
from tasks.kernels.program import Program, trace
from tasks.stages.mounts import PARAMETERS, mount_program

FREE = "free"
"""Value of the parameters that are an argument."""

FIELD = "gravity"


def with_parameters(function: CodeFunction, robot: Robot, friction: Friction, names: Sequence[str]) -> CodeFunction:
    """Return a function with one more argument, `parameters`: values of these names, in their order.

    Names are parameters of the robot, numbers of friction such as "friction.coulomb", and the components of gravity.
    Raises ValueError for other names, and for one that is there twice.
    """
    if not names:
        return function
    rows = _rows(function, robot, friction)
    columns = [name for row in rows.values() for name in row]
    for name in names:
        if name not in columns:
            expected = (
                "parameters of the robot, numbers of friction such as friction.coulomb, or gravity_x to gravity_z"
            )
            raise ValueError(
                f"parameters: got {name!r} for {function.name}; expected {expected}; {nearest(name, columns)}"
            )
        if list(names).count(name) > 1:
            raise ValueError(f"parameters: got {name!r} twice; expected every one once")
    calls = [plain_call(_placing(robot, rows, names))]
    mounts = mount_program(robot.family)
    if {*names} & {*rows[PARAMETERS]} and any(nodes for _, nodes in mounts.outputs.values()):
        calls.append(plain_call(mounts))
    placed = {key for call in calls for key, (_, nodes) in call.program.outputs.items() if nodes}
    argument = CodeArgument("parameters", (len(names),), ", ".join(_units(robot, names)), ", ".join(names))
    return replace(
        function,
        arguments=(*function.arguments, argument),
        constants={key: values for key, values in function.constants.items() if key not in placed},
        packed={**function.packed, FREE: (argument.name,)},
        calls=(*calls, *function.calls),
        free=tuple(names),
    )


def _rows(function: CodeFunction, robot: Robot, friction: Friction) -> dict[str, dict[str, float]]:
    """Return the numbers by name of each constant that parameters are in."""
    fall = dict(zip(GRAVITY, function.constants[FIELD].tolist(), strict=True))
    rows = {PARAMETERS: {name: float(value) for name, value in robot.values.items()}}
    rows[FIELD] = {name if name not in robot.values else f"field.{name}": value for name, value in fall.items()}
    numbers = friction_input(robot, friction)
    if FRICTION in function.constants and numbers.groups:
        rows[FRICTION] = dict(zip(numbers.names, numbers.values[0].tolist(), strict=True))
    return rows


def _placing(robot: Robot, rows: Mapping[str, Mapping[str, float]], names: Sequence[str]) -> Program:
    """Return the program that puts the free parameters among the others."""
    moving = {key: row for key, row in rows.items() if {*names} & {*row}}

    def one_sample(free: Array) -> dict[str, Any]:
        values = dict(zip(names, free, strict=True))
        return {key: [values.get(name, number) for name, number in row.items()] for key, row in moving.items()}

    return trace(f"{robot.family.name}.free", one_sample, case={}, sample={FREE: (len(names),)})


def _units(robot: Robot, names: Sequence[str]) -> Iterator[str]:
    """Yield the units of parameters; of friction that of its law, for joints that turn."""
    table = {parameter.name: parameter.unit for parameter in robot.family.parameters}
    field = {name: parameter.unit for name, parameter in gravity_parameters((0.0, 0.0, 0.0)).items()}
    for name in names:
        yield table.get(name, field.get(name, "as in friction"))
