"""Repetition of a program on symbols: its operations are entered in another graph, to make other programs of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from tasks.kernels import expression
from tasks.kernels.expression import CASE, CONSTANT, RESULT, SAMPLE, Array, Expression, fma, select, unary
from tasks.kernels.keys import Key
from tasks.kernels.program import PER_CASE, Program

_REPLAYED: dict[str, Callable[..., Expression]] = {
    "add": expression.add,
    "sub": expression.sub,
    "mul": expression.mul,
    "div": expression.div,
    "neg": expression.neg,
    "fma": fma,
    "fms": lambda x, y, z: fma(x, y, -z),
    "fnma": lambda x, y, z: fma(-x, y, z),
    "select": select,
    "abs": lambda x: unary("abs", x),
    "sqrt": lambda x: unary("sqrt", x),
    "rint": lambda x: unary("rint", x),
    "floor": lambda x: unary("floor", x),
}
"""Operations that fold constants when they are made; all others are entered as they are."""


class Replay:
    """The values of a program's nodes on symbols."""

    def __init__(self, program: Program, arrays: Mapping[Key, Array]):
        self.program = program
        inputs = {name: np.ravel(value) for name, value in arrays.items()}
        self.graph = next(x.graph for value in inputs.values() for x in value)
        self.values: dict[int, Expression] = {}
        self.results: list[list[Expression]] = []
        """Results of the loops that were replayed."""
        self._steps: dict[int, list[Expression]] = {}
        for i, node in enumerate(program.nodes):
            if node.op == CONSTANT:
                self.values[i] = self.graph.constant(node.data)
            elif node.op in (CASE, SAMPLE):
                self.values[i] = inputs[node.data[0]][node.data[1]]

    def whole(self) -> None:
        """Replay all operations."""
        self.region(PER_CASE)
        self.region(0)
        for index in range(len(self.program.loops)):
            self.iterate(index)
            self.region(2 * index + 2)

    def region(self, number: int) -> None:
        """Replay the operations of a region."""
        for i in self.program.regions.get(number, ()):
            node = self.program.nodes[i]
            args = tuple(self.values[k] for k in node.args)
            made = _REPLAYED.get(node.op) if node.data is None else None
            self.values[i] = made(*args) if made else self.graph.node(node.op, args, node.data)

    def iterate(self, index: int) -> list[Expression]:
        """Replay a loop, and return its results."""
        loop = self.program.loops[index]

        def step(state: Sequence[Expression]) -> tuple[list[Expression], Expression]:
            following = self.body(index, state)
            return following, self.values[loop.done]

        skip = None if loop.skip is None else self.values[loop.skip]
        results = expression.loop(step, [self.values[i] for i in loop.initial], loop.limit, skip, loop.newton)
        for i, node in enumerate(self.program.nodes):
            if node.op == RESULT and node.data[0] == index:
                self.values[i] = results[node.data[1]]
        self.results.append(results)
        return results

    def step(self, index: int) -> list[Expression]:
        """Return the state after one more step of a loop from its results."""
        if index not in self._steps:
            self._steps[index] = self.body(index, self.results[index])
        return self._steps[index]

    def body(self, index: int, state: Sequence[Expression]) -> list[Expression]:
        """Replay the step of a loop at a state, and return the next state."""
        for i, value in zip(self.program.loops[index].state, state, strict=True):
            self.values[i] = value
        self.region(2 * index + 1)
        return [self.values[i] for i in self.program.loops[index].following]
