"""Programs on complex numbers: derivatives along an imaginary step, without any rule of differentiation.

Source: Squire and Trapp, Using complex variables to estimate derivatives of real functions, SIAM Review 40 (1998).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tasks.kernels.expression import CASE, CONSTANT, RESULT, SAMPLE, Array
from tasks.kernels.keys import Key
from tasks.kernels.program import PER_CASE, Iteration, Program

STEP = 1e-100
"""Imaginary step: so small that no digit is lost."""
NEWTON, CONTRACTION = 2, 200
"""Rounds of a loop after its end: imaginary parts settle later than real ones."""


def _exponent(x: Array) -> Array:
    return np.frexp(x.real)[1] - 1.0 + 0j


OPERATIONS: Mapping[str, Any] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "neg": np.negative,
    "abs": lambda a: np.where(a.real < 0.0, -a, a),
    "sqrt": lambda a: np.where(a == 0.0, 0.0, np.sqrt(a)),
    "rint": lambda a: np.rint(a.real) + 0j,
    "floor": lambda a: np.floor(a.real) + 0j,
    "power_of_two": lambda a: np.exp2(a.real) + 0j,
    "exponent": _exponent,
    "lt": lambda a, b: a.real < b.real,
    "le": lambda a, b: a.real <= b.real,
    "eq": lambda a, b: a.real == b.real,
    "and": np.logical_and,
    "or": np.logical_or,
    "not": np.logical_not,
    "select": np.where,
    "fma": lambda a, b, c: a * b + c,
    "fms": lambda a, b, c: a * b - c,
    "fnma": lambda a, b, c: c - a * b,
}
"""Operations on complex numbers that agree with those on real ones, and are analytic beside the real axis."""


def evaluate(program: Program, inputs: Mapping[Key, Array]) -> dict[Key, Array]:
    """Return all outputs (case, size, sample) of a program for complex inputs (case, size) or (case, size, sample)."""
    run = _Evaluation(program, inputs)
    with np.errstate(all="ignore"):
        run.whole()
    columns = np.broadcast_shapes((1, 1), *{np.shape(value) for value in run.values.values()})
    return {
        name: np.stack([np.broadcast_to(run.values[i], columns) for i in nodes], axis=1)
        if nodes
        else np.zeros((columns[0], 0, columns[1]), complex)
        for name, (_, nodes) in program.outputs.items()
    }


class _Evaluation:
    """Values of the nodes of a program, (case, sample) each or broadcast to it."""

    def __init__(self, program: Program, inputs: Mapping[Key, Array]):
        self.program, self.values = program, dict[int, Any]()
        for i, node in enumerate(program.nodes):
            if node.op == CONSTANT:
                self.values[i] = np.complex128(float(node.data))
            elif node.op in (CASE, SAMPLE):
                array = inputs[node.data[0]]
                column = array[:, node.data[1]]
                self.values[i] = column[:, None] if array.ndim == 2 else column

    def whole(self) -> None:
        """Run all operations and loops."""
        self._region(PER_CASE)
        self._region(0)
        for index, loop in enumerate(self.program.loops):
            state = self._iterated(index, loop)
            for i, node in enumerate(self.program.nodes):
                if node.op == RESULT and node.data[0] == index:
                    self.values[i] = state[node.data[1]]
            self._region(2 * index + 2)

    def _iterated(self, index: int, loop: Iteration) -> list[Any]:
        """Return the state of a loop after its end and some rounds more; where it is skipped the first one."""
        first = state = [self.values[i] for i in loop.initial]
        left = NEWTON if loop.newton else CONTRACTION
        for _ in range(loop.limit + left):
            self.values |= dict(zip(loop.state, state, strict=True))
            self._region(2 * index + 1)
            state = [self.values[i] for i in loop.following]
            left -= bool(np.all(self.values[loop.done]))
            if left <= 0:
                break
        if loop.skip is None:
            return state
        skipped = self.values[loop.skip]
        return [np.where(skipped, old, new) for old, new in zip(first, state, strict=True)]

    def _region(self, number: int) -> None:
        for i in self.program.regions.get(number, ()):
            node = self.program.nodes[i]
            self.values[i] = OPERATIONS[node.op](*(self.values[k] for k in node.args))
