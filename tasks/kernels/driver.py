"""Machine code of several kernels in turn, round after round, in one call: nothing between them is Python.

What a kernel hands to the next stays in the cache nearest to the processor, and threads do not wait for each other. All
kernels do what they do alone, so the bits are the same.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tasks.kernels.kernel import machine_code

TEXT = """
define void @kernel(i64 %rounds, i64 %calls, ptr %functions, ptr %sizes, ptr %starts, ptr %pointers, ptr %strides,
                    i64 %moving, ptr %which, ptr %by) nounwind {
entry:
  %none = icmp sle i64 %rounds, 0
  br i1 %none, label %end, label %round
round:
  %r = phi i64 [ 0, %entry ], [ %r.next, %moved ]
  br label %call
call:
  %c = phi i64 [ 0, %round ], [ %c.next, %call ]
  %function.at = getelementptr ptr, ptr %functions, i64 %c
  %function = load ptr, ptr %function.at
  %size.at = getelementptr [4 x i64], ptr %sizes, i64 %c
  %size = load [4 x i64], ptr %size.at
  %cases = extractvalue [4 x i64] %size, 0
  %groups = extractvalue [4 x i64] %size, 1
  %samples = extractvalue [4 x i64] %size, 2
  %filled = extractvalue [4 x i64] %size, 3
  %start.at = getelementptr i64, ptr %starts, i64 %c
  %start = load i64, ptr %start.at
  %arrays = getelementptr ptr, ptr %pointers, i64 %start
  %twice = shl i64 %start, 1
  %steps = getelementptr i64, ptr %strides, i64 %twice
  call void %function(i64 %cases, i64 %groups, i64 %samples, i64 %filled, ptr %arrays, ptr %steps)
  %c.next = add i64 %c, 1
  %c.more = icmp slt i64 %c.next, %calls
  br i1 %c.more, label %call, label %move
move:
  %m = phi i64 [ 0, %call ], [ %m.next, %move.body ]
  %m.more = icmp slt i64 %m, %moving
  br i1 %m.more, label %move.body, label %moved
move.body:
  %which.at = getelementptr i64, ptr %which, i64 %m
  %place = load i64, ptr %which.at
  %by.at = getelementptr i64, ptr %by, i64 %m
  %bytes = load i64, ptr %by.at
  %address = getelementptr i64, ptr %pointers, i64 %place
  %old = load i64, ptr %address
  %new = add i64 %old, %bytes
  store i64 %new, ptr %address
  %m.next = add i64 %m, 1
  br label %move
moved:
  %r.next = add i64 %r, 1
  %r.more = icmp slt i64 %r.next, %rounds
  br i1 %r.more, label %round, label %end
end:
  ret void
}
"""
"""All kernels once, then the arrays that differ from round to round are moved on."""


@functools.cache
def _machine() -> Any:
    """The machine code. Threads that ask at once may each get one of their own, which lives as long as they call it."""
    whole, place = ctypes.c_int64, ctypes.c_void_p
    signature = ctypes.CFUNCTYPE(None, whole, whole, *(place,) * 5, whole, place, place)
    return machine_code(TEXT, signature)


def address(array: np.ndarray) -> int:
    """Where an array begins."""
    return int(array.__array_interface__["data"][0])


@dataclass(frozen=True)
class Round:
    """The calls of a round: the functions, how much each takes, and by how much its arrays move to the next round."""

    functions: NDArray[np.int64]
    """Addresses of machine code of kernels."""
    sizes: NDArray[np.int64]
    """Cases, groups of lanes, samples, and whether constants are in their places, of each call (call, 4)."""
    starts: NDArray[np.int64]
    """Of which of all arrays those of each call begin."""
    moving: NDArray[np.int64]
    """Arrays that move."""
    by: NDArray[np.int64]
    """Bytes by which they do."""

    @classmethod
    def of(cls, functions: Sequence[int], sizes: ArrayLike, counts: Sequence[int], moves: ArrayLike) -> Round:
        """`counts`: arrays of each call; `moves`: bytes, of each array of all calls; `sizes` broadcast to all calls."""
        moves = np.asarray(moves, dtype=np.int64)
        moving = np.flatnonzero(moves).astype(np.int64)
        each = np.ascontiguousarray(np.broadcast_to(np.asarray(sizes, dtype=np.int64), (len(functions), 4)))
        starts = np.cumsum([0, *counts])[:-1].astype(np.int64)
        return cls(np.array(functions, dtype=np.int64), each, starts, moving, moves[moving])

    def run(self, rounds: int, pointers: NDArray[np.int64], strides: NDArray[np.int64]) -> None:
        """So many rounds; `pointers`: where arrays of all calls begin, moved on meanwhile; `strides` (array, 2)."""
        tables = map(address, (self.functions, self.sizes, self.starts, pointers, strides))
        _machine().call(rounds, len(self.functions), *tables, len(self.moving), address(self.moving), address(self.by))
