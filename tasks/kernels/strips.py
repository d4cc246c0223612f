"""The same kernels on one strip of cases, or one instant, after another, in one call of machine code.

The calls of kernels are noted on a few strips: the address of an array is either the same for all strips, or moves by
the same distance from each strip to the next. Threads do not wait for each other. Kernels do the same as when they are
called one by one, so the bits are the same.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tasks.kernels.kernel import Call, Kernel, has_compiler
from tasks.kernels.keys import Arrays
from tasks.kernels.lanes import Round
from tasks.kernels.program import Program

FEWEST = 3
"""Least number of strips for which this saves time."""


class Notes:
    """Replacement of kernels that notes their calls for a number of strips, and keeps their arrays alive."""

    def __init__(self, kernel: Callable[[Program], Kernel], count: int) -> None:
        self.calls: list[Call] = []
        self._kernel, self._count = kernel, count
        self._alive: list[object] = []

    def __call__(self, program: Program) -> Callable[..., Arrays]:
        """Return a function that notes a call of the program's kernel and returns its output arrays unchanged."""
        return functools.partial(self._note, self._kernel(program))

    def _note(self, kernel: Kernel, inputs: Arrays, samples: int, out: Arrays, *, filled: bool = False) -> Arrays:
        self.note(kernel.call(inputs, samples, out, filled=filled, rounds=self._count), (inputs, out))
        return out

    def note(self, call: Call, arrays: object) -> None:
        """Note a call of machine code on arrays."""
        self.calls.append(call)
        self._alive.append(arrays)


Strip = Callable[[Callable[[Program], Any], int], None]
"""Function that computes strip `k` with the kernels of programs, and does nothing but call kernels."""


def run(strip: Strip, kernel: Callable[[Program], Kernel], count: int) -> None:
    """Do the strips `0 .. count - 1`: few of them, or those of no compiler, one by one. Raises as `prepared` does."""
    if count >= FEWEST and has_compiler():
        prepared(strip, kernel, count)()
        return
    for k in range(count):
        strip(kernel, k)


def prepared(strip: Strip, kernel: Callable[[Program], Kernel], count: int) -> Callable[[], None]:
    """Return a function that runs the kernels of all strips at each call. It keeps their arrays alive.

    `count` is at least FEWEST. Raises RuntimeError for an array that is neither the same for all strips nor moves by
    equal distances.
    """
    seen = [Notes(kernel, count) for _ in range(FEWEST)]
    for notes, k in zip(seen, (0, 1, count - 1), strict=True):
        strip(notes, k)
    first, second, last = (_pointers(notes) for notes in seen)
    moves = second - first
    if ((last - first) != (count - 1) * moves).any():
        raise RuntimeError("an array of a strip is neither the same for all strips nor moves on evenly")
    calls = seen[0].calls
    strides = np.array([number for call in calls for number in call.strides], dtype=np.int64)
    functions, sizes = [call.machine.address for call in calls], [call.sizes for call in calls]
    turn = Round.of(functions, sizes, [len(call.pointers) for call in calls], moves)

    def work(_keeps: list[Notes] = seen) -> None:
        turn.run(count, first.copy(), strides)

    return work


def _pointers(notes: Notes) -> NDArray[np.int64]:
    return np.array([pointer for call in notes.calls for pointer in call.pointers], dtype=np.int64)
