"""Functions of a robot as C: a header with units, shapes and order of the arguments, and one file of source."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from applications.export.code.c_program import HELPERS, STRICT, c_function, identifier, literal, needed_inputs
from applications.export.code.free_parameters import with_parameters
from applications.export.code.functions import FUNCTIONS, CodeArgument, CodeFunction, exported
from robots.arguments import check_arguments
from robots.model import Robot
from robots.status import Status
from tasks.dynamics.records import GRAVITY
from tasks.features.friction.inputs import Friction
from tasks.kernels.keys import Key
from tasks.kernels.program import Program
from tasks.stages.stage import Rows

BUILD = "cc -O2 -ffp-contract=off -c {name}.c"


class CCode(NamedTuple):
    """Text of the files NAME.h and NAME.c, and that name; names of functions begin with it."""

    name: str
    header: str
    source: str


@check_arguments
def c_code(
    robot: Robot,
    functions: Sequence[str] = tuple(FUNCTIONS),
    *,
    gravity: ArrayLike = GRAVITY,
    friction: Friction = None,
    parameters: Sequence[str] = (),
    name: str | None = None,
) -> CCode:
    """Write the equations of a robot as C without dependencies, for controllers and other programs.

    functions: some of "inverse_dynamics", "forward_dynamics", "inverse_kinematics", "inertia_matrix". Each takes one
    sample, computes the same as the function of this name in `tasks`, and returns the status; it has the same bits
    where the compiler does not contract operations. Parameters of the robot, gravity (3,) and friction, of inverse
    dynamics alone, see `tasks.features.friction.inputs`, are constants; but those in `parameters`, by name, are values
    of an argument of that name: parameters of the robot, such as "upper_arm", numbers of friction, such as
    "friction.coulomb", and "gravity_x" to "gravity_z". name: of files, and prefix of functions; absent: the robot's.
    Raises ValueError or ParameterError for input that does not fit, and for loads that change with time.

        >>> code = ls.c_code(ls.robots.build("planar_3r"), ["inertia_matrix"])
        >>> print(code.header[code.header.index("int planar_3r") :].partition(";")[0])
        int planar_3r_inertia_matrix(
            const double q[3],
            double inertia_out[9])
    """
    function_name = re.sub(r"\W", "_", robot.name) if name is None else name
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,59}", function_name):
        raise ValueError(
            f"name: got {function_name!r}; expected a name of C: letters, digits and _, at most 60 of them"
        )
    functions_of_code = tuple(
        with_parameters(function, robot, friction, parameters)
        for function in exported(robot, functions, gravity, friction)
    )
    return CCode(
        function_name,
        _header(function_name, robot, functions_of_code),
        _source(function_name, robot, functions_of_code),
    )


def _title(robot: Robot, free: Sequence[str]) -> Iterator[str]:
    yield f"Equations of the robot {robot.name}, for one sample; written by limbsweep."
    yield ""
    yield "All numbers are double, in SI units and radians; matrices are stored row by row. Arguments do not overlap."
    if free:
        yield f"Parameters that are an argument: {', '.join(free)}."
    yield "The robot's parameters are constants:" if not free else "The robot's other parameters are constants:"
    for parameter in (each for each in robot.family.parameters if each.name not in free):
        yield f"  {parameter.name} = {robot.values[parameter.name]!r} {parameter.unit}"


def _comment(lines: Sequence[str]) -> Iterator[str]:
    yield "/*"
    yield from (f" * {line.replace('*/', '* /')}".rstrip() for line in lines)
    yield " */"


def _header(name: str, robot: Robot, functions: Sequence[CodeFunction]) -> str:
    codes = ", ".join(f"{status.value} {status.name}" for status in Status)
    lines = [
        *_title(robot, functions[0].free),
        "",
        "Functions return a status; where it is not 0, results are NaN:",
        *textwrap.wrap(codes, 111, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False),
    ]
    lines += ["", f"Compile with {BUILD.format(name=name)}", "for the bits of limbsweep; -ffast-math is refused."]
    guard = f"{name.upper()}_H"
    text = [*_comment(lines), f"#ifndef {guard}", f"#define {guard}", ""]
    text += ["#ifdef __cplusplus", 'extern "C" {', "#endif"]
    for function in functions:
        about = [f"{function.title[0].upper()}{function.title[1:]}."]
        about += [_described("in", quantity) for quantity in function.arguments]
        about += [_described("out", quantity) for quantity in function.results]
        text += ["", *_comment(about), f"{_signature(name, function)};"]
    text += ["", "#ifdef __cplusplus", "}", "#endif", "", "#endif"]
    return "\n".join(text) + "\n"


def _described(way: str, quantity: CodeArgument) -> str:
    shape = " x ".join(map(str, quantity.shape))
    return f"{way:<3} {quantity.name} ({shape}) [{quantity.unit}]: {quantity.text}"


def _signature(name: str, function: CodeFunction) -> str:
    arguments = [f"const double {quantity.name}[{quantity.size}]" for quantity in function.arguments]
    arguments += [f"double {_out(quantity)}[{quantity.size}]" for quantity in function.results]
    separator = ",\n    "
    return f"int {name}_{function.name}(\n    {separator.join(arguments)})"


def _out(quantity: CodeArgument) -> str:
    return f"{quantity.name}_out"


def _source(name: str, robot: Robot, functions: Sequence[CodeFunction]) -> str:
    bodies = _Bodies()
    drivers = [text for function in functions for text in _driver(name, function, bodies)]
    head = [
        *_comment([*_title(robot, functions[0].free), "", f"Compile with {BUILD.format(name=name)}"]),
        f'#include "{name}.h"',
        "",
    ]
    head += ["#include <math.h>", "#include <stdint.h>", "#include <string.h>", "", STRICT]
    code = "\n".join([*bodies.texts, *drivers])
    return "\n".join([*head, *(text for helper, text in HELPERS.items() if f"{helper}(" in code), code])


class _Bodies:
    """Functions of programs; the text of each occurs once, for all its callers."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._names: dict[str, str] = {}

    def name(self, program: Program, outputs: Sequence[Key]) -> str:
        """Return the name of the function that computes some outputs; write the function if it is new."""
        text = c_function("@", program, outputs)
        if text not in self._names:
            self._names[text] = f"stage_{len(self._names)}"
            self.texts.append(f"/* {program.name} */\n" + text.replace("@", self._names[text], 1))
        return self._names[text]


def _driver(name: str, function: CodeFunction, bodies: _Bodies) -> Iterator[str]:
    yield _signature(name, function)
    yield "{"
    names = dict(_places(function))
    yield from (f"    {line}" for line in _declared(function, names))
    for call in function.needed:
        outputs = list(call.outputs)
        places = [_taken(names, call.inputs[key]) for key in needed_inputs(call.program, outputs)]
        places += [names[call.outputs[key]] for key in outputs]
        yield f"    {bodies.name(call.program, outputs)}({', '.join(places)});"
    yield "    int status = 0;"
    for key in function.statuses:
        yield f"    if ({names[key]}[0] > status) status = (int){names[key]}[0];"
    for key, status in function.flags.items():
        yield f"    if (status == 0 && {names[key]}[0] > 0.5) status = {status.value}; /* {status.name} */"
    for quantity, key in function.results.items():
        finite = f"if (status == 0 && !isfinite({names[key]}[k])) status = {Status.NONFINITE.value};"
        yield f"    for (int k = 0; k < {quantity.size}; ++k) {finite}"
    for quantity, key in function.results.items():
        value = f"status == 0 ? {names[key]}[k] : NAN"
        yield f"    for (int k = 0; k < {quantity.size}; ++k) {_out(quantity)}[k] = {value};"
    yield "    return status;"
    yield "}"
    yield ""


def _places(function: CodeFunction) -> Iterator[tuple[Key, str]]:
    """Yield the names of the arrays that values are in."""
    for key in (*function.constants, *function.packed):
        yield key, f"c_{identifier(key)}" if key in function.constants else f"p_{identifier(key)}"
    for call in function.needed:
        for key in call.outputs.values():
            yield key, f"r_{identifier(key)}"


def _declared(function: CodeFunction, names: dict[Key, str]) -> Iterator[str]:
    """Yield the declarations of the used constants, of packed arguments, and of the stages' results."""
    used = {
        source.of if isinstance(source, Rows) else source for call in function.needed for source in call.inputs.values()
    }
    for key, values in function.constants.items():
        if key in used and values.size:
            yield f"static const double {names[key]}[{values.size}] = {{{', '.join(map(literal, np.ravel(values)))}}};"
    sizes = {quantity.name: quantity.size for quantity in function.arguments}
    for key, parts in function.packed.items():
        if key not in used:
            continue
        total = sum(sizes[part] if isinstance(part, str) else part for part in parts)
        yield f"double {names[key]}[{total}] = {{0.0}};"
        at = 0
        for part in parts:
            if isinstance(part, str):
                yield f"memcpy({names[key]} + {at}, {part}, {sizes[part]} * sizeof(double));"
            at += sizes[part] if isinstance(part, str) else part
    for call in function.needed:
        for name, key in call.outputs.items():
            yield f"double {names[key]}[{max(len(call.program.outputs[name][1]), 1)}];"


def _taken(names: dict[Key, str], source: Key | Rows) -> str:
    return f"{names[source.of]} + {source.rows[0]}" if isinstance(source, Rows) else names[source]
