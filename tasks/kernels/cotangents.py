"""Exact derivatives of one number by all inputs of a program, by reverse differentiation of the graph.

The pullback of a program takes its inputs and the change of the number with each output. It gives the change with each
input, for as much work as a few evaluations, however many inputs there are. The rules are the transposes of those
of `tasks.kernels.derivatives`, loops included: from the results of Newton's iteration x <- N(x, p) the cotangent goes
to p through one more step with x held fixed. For a contraction, l = x' + (dN/dx)^T l is solved first, by an iteration
that converges like the loop. The results of a skipped loop pass their cotangents to its start values.

A branch that `select` does not take has the cotangent zero. An infinite value or NaN in such a branch, such as a
quotient by zero that a condition excludes, has no effect: zero times it counts as zero.
"""

from __future__ import annotations

import heapq
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from tasks.kernels import expression
from tasks.kernels.derivatives import RATES, SETTLED, TINY, shaped, size_of
from tasks.kernels.expression import LEAVES, ODD, RESULT, Array, Expression, binary, select
from tasks.kernels.keys import Cotangent, Key
from tasks.kernels.program import Program, trace_keyed
from tasks.kernels.replay import Replay
from tasks.kernels.tangent import STEPS

Parts = Iterator[tuple[Expression, Expression]]
"""Arguments of an operation, each with its part of the cotangent of the result."""

_pullbacks: dict[tuple[int, tuple[Key, ...], tuple[Key, ...], bool], tuple[Program, Program]] = {}
"""Pullbacks, each beside its original program, which is kept alive so that its id stays unique."""
_lock = threading.Lock()


def pullback(program: Program, varying: Sequence[Key], outputs: Sequence[Key], *, per_sample: bool = False) -> Program:
    """Return the pullback of a program, made on the first call in this process.

    It takes the inputs of the program and `Cotangent(key)` of each of `outputs` for each sample, and gives
    `Cotangent(key)` for each `varying` input. The cotangent of a case input is the sum over its samples, or with `each`
    the cotangent of each sample; case inputs are then given for each sample too. Raises ValueError for keys that the
    program lacks.
    """
    key = id(program), tuple(varying), tuple(outputs), per_sample
    with _lock:
        if key not in _pullbacks:
            _pullbacks[key] = program, _pullback(program, varying, outputs, per_sample)
        return _pullbacks[key][1]


def _pullback(program: Program, varying: Sequence[Key], outputs: Sequence[Key], per_sample: bool) -> Program:
    for kind, keys, available in (("input", varying, program.inputs), ("output", outputs, program.outputs)):
        if unknown := [key for key in keys if key not in available]:
            listed = ", ".join(map(str, available))
            raise ValueError(f"{program.name} has no {kind} {unknown[0]!r}; expected some of {listed}")
    case = {} if per_sample else dict(program.case)
    sample = {**program.case, **program.sample} if per_sample else dict(program.sample)
    seeds = {Cotangent(key): program.outputs[key][0] for key in outputs}

    def one_sample(inputs: Mapping[Key, Array]) -> dict[Key, Array]:
        replay = Replay(program, inputs)
        replay.whole()
        nodes = {key: [replay.values[i] for i in program.outputs[key][1]] for key in outputs}
        sweep = _Sweep(replay, _Branches(replay, [node for row in nodes.values() for node in row]))
        for key, row in nodes.items():
            for node, cotangent in zip(row, np.ravel(inputs[Cotangent(key)]), strict=True):
                sweep.add(node, cotangent)
        sweep.run()
        return {Cotangent(key): _of_input(sweep, inputs[key]) for key in varying}

    sums = {Cotangent(key): "sum" for key in varying if key in case}
    return trace_keyed(f"{program.name}.pullback", one_sample, case=case, sample=sample | seeds, reductions=sums)


def for_each_sample(program: Program) -> Program:
    """Return the program with its case inputs given for each sample, made on the first call in this process."""
    key = id(program), (), (), True
    with _lock:
        if key not in _pullbacks:
            _pullbacks[key] = program, _for_each_sample(program)
        return _pullbacks[key][1]


def _for_each_sample(program: Program) -> Program:
    def one_sample(inputs: Mapping[Key, Array]) -> dict[Key, Array]:
        replay = Replay(program, inputs)
        replay.whole()
        outputs = program.outputs.items()
        return {key: shaped([replay.values[i] for i in nodes], shape) for key, (shape, nodes) in outputs}

    return trace_keyed(f"{program.name}.each", one_sample, case={}, sample={**program.case, **program.sample})


def _of_input(sweep: _Sweep, symbols: Array) -> Array:
    nodes = np.ravel(symbols)
    return shaped([sweep.cotangent(node) for node in nodes], np.shape(symbols))


class _Sweep:
    """Cotangents of nodes, from the last node to the first; those of a loop's results go through one more step."""

    def __init__(self, replay: Replay, branches: _Branches):
        self.replay, self.graph, self.branches = replay, replay.graph, branches
        self.totals: dict[int, Expression] = {}
        self.heap: list[int] = []

    def add(self, node: Expression, cotangent: Expression) -> None:
        """Add to the cotangent of a node."""
        if node.value is not None or cotangent.value == 0.0 or node.op in STEPS:
            return
        if node.number in self.totals:
            self.totals[node.number] = self.totals[node.number] + cotangent
        else:
            self.totals[node.number] = cotangent
            heapq.heappush(self.heap, -node.number)

    def cotangent(self, node: Expression) -> Expression:
        """Return the cotangent of a node, zero if no output depends on it."""
        return self.totals.get(node.number, self.graph.constant(0.0))

    def run(self, least: int = 0) -> None:
        """Go through the nodes from number `least` on that have a cotangent, each after all that depend on it."""
        while self.heap and -self.heap[0] >= least:
            node = self.graph.nodes[-heapq.heappop(self.heap)]
            if node.op == RESULT:
                self._through_loop(node.data[0])
            elif node.op not in LEAVES:
                for argument, part in self._parts(node):
                    self.add(argument, part)

    def _parts(self, node: Expression) -> Parts:
        """Yield the cotangents of the arguments of an operation; zero in a branch that is not taken."""
        cotangent = self.totals[node.number]
        parts = _RULES[node.op](node, cotangent)
        if not self.branches.spoils(node):
            return parts
        zero = self.graph.constant(0.0)
        idle = binary("eq", cotangent, zero)
        return ((argument, select(idle, zero, part)) for argument, part in parts if argument.op not in STEPS)

    def _through_loop(self, index: int) -> None:
        """Pass on the cotangents of a loop's results, which are complete and belong to the last remaining nodes."""
        loop, results = self.replay.program.loops[index], self.replay.results[index]
        numbers = {node.number for node in results}
        while self.heap and -self.heap[0] in numbers:
            heapq.heappop(self.heap)
        stepped = reached = [self.cotangent(node) for node in results]
        if loop.skip is not None:
            mask, zero = self.replay.values[loop.skip], self.graph.constant(0.0)
            for i, cotangent in zip(loop.initial, reached, strict=True):
                self.add(self.replay.values[i], select(mask, cotangent, zero))
            stepped = [select(mask, zero, cotangent) for cotangent in reached]
        if not loop.newton:
            stepped = self._contracted(index, stepped)
        through = self._of_step(index, stepped)
        for number in {-entry for entry in through.heap} - numbers:
            self.add(self.graph.nodes[number], through.totals[number])

    def _of_step(self, index: int, cotangents: Sequence[Expression]) -> _Sweep:
        """Return the cotangents of a loop's results and of earlier nodes, by a step from the results."""
        sweep = _Sweep(self.replay, self.branches)
        for node, cotangent in zip(self.replay.step(index), cotangents, strict=True):
            sweep.add(node, cotangent)
        sweep.run(least=self.replay.results[index][-1].number + 1)
        return sweep

    def _contracted(self, index: int, reached: Sequence[Expression]) -> list[Expression]:
        """Return l = x' + (dN/dx)^T l for the cotangents x' that have reached the results."""
        results = self.replay.results[index]

        def step(state: Sequence[Expression]) -> tuple[list[Expression], Expression]:
            sweep = self._of_step(index, state)
            after = [x + sweep.cotangent(node) for x, node in zip(reached, results, strict=True)]
            moving = size_of([new - old for new, old in zip(after, state, strict=True)])
            going_on = self.graph.lift(moving) > SETTLED * self.graph.lift(size_of(after)) + TINY
            return after, ~going_on

        return list(expression.loop(step, list(reached), RATES, newton=False))


class _Branches:
    """Nodes on which outputs depend only through branches. Their values may be NaN if a branch is not taken."""

    def __init__(self, replay: Replay, outputs: Sequence[Expression]):
        self.always: set[int] = set()
        """Numbers of all other nodes: if such a node is NaN, an output is NaN."""
        self.infinite: dict[int, bool] = {}
        stack = list(outputs)
        while stack:
            node = stack.pop()
            if node.number in self.always:
                continue
            self.always.add(node.number)
            if node.op == RESULT:
                index, loop = node.data[0], replay.program.loops[node.data[0]]
                skipped = loop.skip is not None
                stack.extend([replay.values[i] for i in loop.initial] if skipped else replay.step(index))
            elif node.op != "select":
                stack.extend(node.args)

    def spoils(self, node: Expression) -> bool:
        """Return whether the cotangent zero of a node may become no number on the way to its arguments."""
        return node.number not in self.always and any(map(self._may_be_infinite, (node, *node.args)))

    def _may_be_infinite(self, node: Expression) -> bool:
        stack, flags = [node], self.infinite
        while stack:
            last = stack[-1]
            waiting = [x for x in last.args if x.number not in flags]
            if waiting and last.number not in flags:
                stack.extend(waiting)
                continue
            stack.pop()
            divides = last.op == "div" and last.args[1].value is None and last.number not in self.always
            flags[last.number] = divides or (last.op not in STEPS and any(flags[x.number] for x in last.args))
        return flags[node.number]


def _quotient(node: Expression, cotangent: Expression) -> Parts:
    x, y = node.args
    part = cotangent / y
    yield x, part
    yield y, -(part * node)


def _root(node: Expression, cotangent: Expression) -> Parts:
    """Yield zero at a root of zero, which has no derivative, as of the size of a force that is not there."""
    lift = node.graph.lift
    yield node.args[0], select(node > 0.0, lift(cotangent * 0.5 / node), lift(0.0))


def _size(node: Expression, cotangent: Expression) -> Parts:
    """Yield zero at zero, between the two slopes; in an odd function the slope that it has there."""
    (x,), zero = node.args, node.graph.lift(0.0)
    above = cotangent if node.data == ODD else select(x > 0.0, cotangent, zero)
    yield x, select(x < 0.0, -cotangent, above)


def _choice(node: Expression, cotangent: Expression) -> Parts:
    mask, x, y = node.args
    zero = node.graph.lift(0.0)
    yield x, select(mask, cotangent, zero)
    yield y, select(mask, zero, cotangent)


def _fused(node: Expression, cotangent: Expression) -> Parts:
    x, y, z = node.args
    yield x, cotangent * y
    yield y, cotangent * x
    yield z, cotangent


_RULES: dict[str, Callable[[Expression, Expression], Parts]] = {
    "add": lambda node, cotangent: ((x, cotangent) for x in node.args),
    "sub": lambda node, cotangent: zip(node.args, (cotangent, -cotangent), strict=True),
    "mul": lambda node, cotangent: zip(node.args, [cotangent * x for x in node.args[::-1]], strict=True),
    "div": _quotient,
    "neg": lambda node, cotangent: iter([(node.args[0], -cotangent)]),
    "abs": _size,
    "sqrt": _root,
    "fma": _fused,
    "select": _choice,
}
"""Parts of a cotangent that reach the arguments of an operation; transposed rules of `tasks.kernels.derivatives`."""
