"""The same kernels on one strip of cases after another, in one call of machine code.

How kernels are called is seen on some of the strips: an array is either the same for all, or its part for a strip is as
far from that for the strip before as it is for any other.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tasks.kernels.driver import Round
from tasks.kernels.kernel import Call, Kernel
from tasks.kernels.keys import Arrays
from tasks.kernels.program import Program

FEWEST = 3
"""Strips that are worth it."""


class Notes:
    """Stands where kernels do, and notes how they would be called. Keeps their arrays alive."""

    def __init__(self, kernel: Callable[[Program], Kernel]) -> None:
        self.calls: list[Call] = []
        self._kernel = kernel
        self._alive: list[tuple[Arrays, Arrays]] = []

    def __call__(self, program: Program) -> Callable[..., Arrays]:
        """What notes a call of the kernel of a program, and gives its arrays as they are."""
        return functools.partial(self._note, self._kernel(program))

    def _note(self, kernel: Kernel, inputs: Arrays, samples: int, out: Arrays, *, filled: bool = False) -> Arrays:
        self.calls.append(kernel.call(inputs, samples, out, filled=filled))
        self._alive.append((inputs, out))
        return out


Strip = Callable[[Callable[[Program], Any], int], None]
"""Does strip `k` by what gives a kernel for a program, and nothing but call kernels."""


def run(strip: Strip, kernel: Callable[[Program], Kernel], count: int) -> None:
    """Do the strips `0 .. count - 1`, at least `FEWEST`. Raises as `prepared` does."""
    prepared(strip, kernel, count)()


def prepared(strip: Strip, kernel: Callable[[Program], Kernel], count: int) -> Callable[[], None]:
    """What does these strips, each time that it is called; meanwhile it keeps their arrays.

    Raises RuntimeError where an array is neither the same for all strips nor moves on evenly.
    """
    seen = [Notes(kernel) for _ in range(FEWEST)]
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
