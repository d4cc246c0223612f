"""Functions of a robot as functions of CasADi, with its derivatives, for optimisation and control.

Each program is a function of scalar expressions; the function of the robot calls these. Newton iterations of closed
loops are unrolled, and a sample in which one has not come to its end has a status.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from applications.export.code.c_program import identifier, needed_inputs, needed_nodes
from applications.export.code.free_parameters import with_parameters
from applications.export.code.functions import CodeArgument, CodeFunction, ProgramCall, exported
from robots.arguments import check_arguments
from robots.extras import require_extra
from robots.model import Robot
from robots.status import Status
from tasks.dynamics.records import GRAVITY
from tasks.features.friction.inputs import Friction
from tasks.kernels.expression import CASE, CONSTANT, LEAVES, RESULT, SAMPLE
from tasks.kernels.keys import Key
from tasks.kernels.program import PER_CASE, Program, size
from tasks.stages.stage import Rows

if TYPE_CHECKING:
    import casadi

ROUNDS = 12
"""Steps of Newton's method that are unrolled."""


@check_arguments
def casadi_function(
    robot: Robot,
    function: str = "inverse_dynamics",
    *,
    gravity: ArrayLike = GRAVITY,
    friction: Friction = None,
    parameters: Sequence[str] = (),
    rounds: int = ROUNDS,
) -> casadi.Function:
    """Return a robot's function of one sample, `applications.export.code.functions.FUNCTIONS`, in CasADi.

    Arguments, results, constants and `parameters` are those of `c_code`, matrices are matrices, and after the results
    comes the `status`; only roundings differ. Iterations of closed loops are unrolled `rounds` times; where they take
    more, or a limb has to be followed from its reference pose to tell its branch, the status is NOT_CONVERGED and
    results are NaN.
    Raises MissingExtraError without CasADi, ValueError or ParameterError for input that does not fit,
    and ValueError for friction that is iterated with reactions.

        >>> torque = ls.casadi_function(ls.robots.build("planar_3r"))
        >>> force, status = torque([0.1, 0.2, 0.3], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0])
        >>> force.shape, int(status)
        ((3, 1), 0)
    """
    require_extra("casadi")
    import casadi

    if not 1 <= rounds <= 1000:
        raise ValueError(f"rounds: got {rounds!r}; expected 1 to 1000")
    (code,) = exported(robot, [function], gravity, friction)
    code = with_parameters(code, robot, friction, parameters)
    stages = _Stages(casadi, rounds)
    arguments = {q.name: casadi.MX.sym(q.name, *_sized(q)) for q in code.arguments}
    results, status = _evaluated(casadi, code, arguments, stages)
    failed = status > 0.5
    kept = [casadi.if_else(failed, np.nan, values) for values in results]
    names = [quantity.name if quantity.name not in arguments else f"{quantity.name}_out" for quantity in code.results]
    name = identifier(f"{robot.name}_{function}")
    return casadi.Function(name, [*arguments.values()], [*kept, status], [*arguments], [*names, "status"])


def _sized(quantity: CodeArgument) -> tuple[int, int]:
    rows, *columns = quantity.shape
    return rows, columns[0] if columns else 1


def _evaluated(
    casadi: ModuleType, function: CodeFunction, arguments: Mapping[str, Any], stages: _Stages
) -> tuple[list[Any], Any]:
    """Return the results in their shapes, and the status."""
    flat = {name: casadi.vec(values.T) for name, values in arguments.items()}
    values: dict[Key, Any] = {key: casadi.DM(np.ravel(array)) for key, array in function.constants.items()}
    for key, parts in function.packed.items():
        pieces = [flat[part] if isinstance(part, str) else casadi.DM.zeros(part) for part in parts]
        values[key] = casadi.vertcat(*pieces)
    open_loops: Any = casadi.DM(0.0)
    for call in function.needed:
        *outputs, unfinished = stages.run(call, values)
        values |= dict(zip(call.outputs.values(), outputs, strict=True))
        open_loops = casadi.fmax(open_loops, unfinished)
    status: Any = casadi.DM(0.0)
    for key in function.statuses:
        status = casadi.fmax(status, values[key])
    for key, code in function.flags.items():
        status = casadi.if_else(casadi.logic_and(status < 0.5, values[key] > 0.5), float(code), status)
    unsettled = casadi.logic_and(status < 0.5, open_loops > 0.5)
    status = casadi.if_else(unsettled, float(Status.NOT_CONVERGED), status)
    results = []
    for quantity, key in function.results.items():
        finite = casadi.sum1(casadi.fabs(values[key]) < np.inf) > quantity.size - 0.5
        status = casadi.if_else(casadi.logic_or(status > 0.5, finite), status, float(Status.NONFINITE))
        rows, columns = _sized(quantity)
        results.append(casadi.reshape(values[key], columns, rows).T)
    return results, status


class _Stages:
    """Programs as functions of CasADi, one for each program and all its callers."""

    def __init__(self, casadi: ModuleType, rounds: int) -> None:
        self._casadi, self._rounds = casadi, rounds
        self._known: dict[tuple[int, tuple[Key, ...]], Any] = {}

    def run(self, call: ProgramCall, values: Mapping[Key, Any]) -> Sequence[Any]:
        """Return the outputs of a call, then 1 if a loop of it has not come to its end."""
        outputs = tuple(call.outputs)
        place = id(call.program), outputs
        if place not in self._known:
            self._known[place] = self._function(call.program, outputs)
        taken = [_taken(call.inputs[key], values) for key in needed_inputs(call.program, outputs)]
        results: Sequence[Any] = self._known[place].call(taken)
        return results

    def _function(self, program: Program, outputs: Sequence[Key]) -> Any:
        casadi, shapes = self._casadi, {**program.case, **program.sample}
        arrays = {key: casadi.SX.sym(identifier(key), size(shapes[key])) for key in needed_inputs(program, outputs)}
        scalars = _Scalars(casadi, program, arrays, needed_nodes(program, outputs), self._rounds)
        scalars.run()
        results = [casadi.vertcat(*(scalars.value(node) for node in program.outputs[key][1])) for key in outputs]
        return casadi.Function(identifier(program.name), [*arrays.values()], [*results, scalars.unfinished])


def _taken(source: Key | Rows, values: Mapping[Key, Any]) -> Any:
    return values[source.of][slice(*source.rows)] if isinstance(source, Rows) else values[source]


class _Scalars:
    """Values of all nodes of a program as scalar expressions."""

    def __init__(
        self, casadi: ModuleType, program: Program, arrays: Mapping[Key, Any], nodes: set[int], rounds: int
    ) -> None:
        self._casadi, self._program, self._arrays, self._needed = casadi, program, arrays, nodes
        self._rounds, self._apply = rounds, _operations(casadi)
        self._values: dict[int, Any] = {}
        self.unfinished: Any = casadi.SX(0.0)

    def value(self, number: int) -> Any:
        """Return the value of a node."""
        node = self._program.nodes[number]
        if node.op == CONSTANT:
            return self._casadi.SX(float(node.data))
        if node.op in (CASE, SAMPLE):
            key, place = node.data
            return self._arrays[key][place]
        return self._values[number]

    def run(self) -> None:
        """Go through all regions."""
        nodes = self._program.nodes
        loops = {nodes[number].data[0] for number in self._needed if nodes[number].op == RESULT}
        for region in (PER_CASE, 0):
            self._region(region)
        for index in range(len(self._program.loops)):
            if index in loops:
                self._loop(index)
            self._region(2 * index + 2)

    def _region(self, region: int) -> None:
        for number in self._program.regions.get(region, ()):
            node = self._program.nodes[number]
            if number in self._needed and node.op not in LEAVES:
                self._values[number] = self._apply[node.op](*(self.value(arg) for arg in node.args))

    def _loop(self, index: int) -> None:
        casadi, loop = self._casadi, self._program.loops[index]
        state = [self.value(number) for number in loop.initial]
        if not loop.newton:
            raise ValueError(
                f"{self._program.name}: got an iteration that is not Newton's, as of friction with reactions; expected "
                "friction of constant load or none"
            )
        if loop.skip is not None:  # a branch that few samples need: these are not reported
            self.unfinished = casadi.fmax(self.unfinished, casadi.logic_not(self.value(loop.skip)))
        else:
            done = casadi.SX(0.0)
            for _ in range(min(self._rounds, loop.limit)):
                self._values |= dict(zip(loop.state, state, strict=True))
                self._region(2 * index + 1)
                following = [self.value(number) for number in loop.following]
                state = [casadi.if_else(done, old, new) for old, new in zip(state, following, strict=True)]
                done = casadi.logic_or(done, self.value(loop.done))
            self.unfinished = casadi.fmax(self.unfinished, casadi.logic_not(done))
        for number in self._needed:
            node = self._program.nodes[number]
            if node.op == RESULT and node.data[0] == index:
                self._values[number] = state[node.data[1]]


def _operations(casadi: ModuleType) -> Mapping[str, Callable[..., Any]]:
    return {
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "mul": lambda a, b: a * b,
        "div": lambda a, b: a / b,
        "neg": lambda a: -a,
        "abs": casadi.fabs,
        "sqrt": casadi.sqrt,
        "rint": lambda a: casadi.floor(a + 0.5),
        "floor": casadi.floor,
        "power_of_two": functools.partial(casadi.power, 2.0),
        "exponent": lambda a: casadi.floor(casadi.log(casadi.fabs(a)) / np.log(2.0)),
        "lt": lambda a, b: a < b,
        "le": lambda a, b: a <= b,
        "eq": lambda a, b: a == b,
        "and": casadi.logic_and,
        "or": casadi.logic_or,
        "not": casadi.logic_not,
        "select": casadi.if_else,
        "fma": lambda a, b, c: a * b + c,
        "fms": lambda a, b, c: a * b - c,
        "fnma": lambda a, b, c: c - a * b,
    }
