"""Calls of equal kernels for one case, which share one call: each has a lane of its own.

A batch of a single case fills the lanes of a vector with the same numbers. Limbs of a robot that are alike have one
program, so that all of them are computed in the time of one; then the numbers of each lane go to all lanes of the
outputs of its limb. Lanes do not know of each other, so all bits are the same.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from robots.data_classes import dataclass
from tasks.kernels.kernel import machine_code
from tasks.kernels.keys import LANES
from tasks.kernels.lanes import BoundKernel, ProgramSequence, Slot, Slots, address

SPREAD = """
define void @kernel(i64 %cases, i64 %groups, i64 %samples, i64 %filled, ptr %sizes, ptr %arrays, ptr %strides) #0 {
entry:
  %rows = load i64, ptr %sizes
  %lanes.at = getelementptr i64, ptr %sizes, i64 1
  %lanes = load i64, ptr %lanes.at
  %from = load ptr, ptr %arrays
  br label %lane
lane:
  %k = phi i64 [ 0, %entry ], [ %next, %spread ]
  %next = add i64 %k, 1
  %to.at = getelementptr ptr, ptr %arrays, i64 %next
  %to = load ptr, ptr %to.at
  %place = shl i64 %next, 1
  %component = or i64 %place, 1
  %stride.at = getelementptr i64, ptr %strides, i64 %component
  %stride = load i64, ptr %stride.at
  br label %row
row:
  %r = phi i64 [ 0, %lane ], [ %r.next, %row ]
  %line = mul i64 %r, LANES
  %at = add i64 %line, %k
  %number.at = getelementptr double, ptr %from, i64 %at
  %number = load double, ptr %number.at
  %one = insertelement <LANES x double> poison, double %number, i64 0
  %all = shufflevector <LANES x double> %one, <LANES x double> poison, <LANES x i32> zeroinitializer
  %offset = mul i64 %r, %stride
  %out = getelementptr double, ptr %to, i64 %offset
  store <LANES x double> %all, ptr %out, align 8
  %r.next = add i64 %r, 1
  %r.more = icmp slt i64 %r.next, %rows
  br i1 %r.more, label %row, label %spread
spread:
  %more = icmp slt i64 %next, %lanes
  br i1 %more, label %lane, label %end
end:
  ret void
}
attributes #0 = { nounwind "prefer-vector-width"="512" "min-legal-vector-width"="512" }
""".replace("LANES", str(LANES))
"""A kernel that copies lane k of its first array (rows, LANES) to all lanes of array k + 1; sizes: rows, and lanes."""


@dataclass(frozen=True, eq=False)
class SpreadCode:
    """Machine code of SPREAD with its sizes, as a `tasks.kernels.llvm.Machine` for a sequence."""

    machine: Any
    sizes: np.ndarray
    bytecode: None = None

    @property
    def address(self) -> int:
        """Address of the function."""
        return int(self.machine.address)

    @property
    def program(self) -> int:
        """Address of the sizes."""
        return address(self.sizes)

    def begins(self) -> bool:
        """Return False: there is no bytecode."""
        return False

    def code(self, samples: int) -> SpreadCode:
        """Return the code for a number of samples: always the same."""
        return self


@functools.cache
def _machine() -> Any:
    whole, place = ctypes.c_int64, ctypes.c_void_p
    return machine_code(SPREAD, ctypes.CFUNCTYPE(None, *(whole,) * 4, *(place,) * 3))


@functools.cache
def _spread(rows: int, lanes: int) -> SpreadCode:
    return SpreadCode(_machine(), np.array([rows, lanes], dtype=np.int64))


class LikeCalls:
    """Kernels with the same inputs as a part of a sequence; `alone`: all its samples are of one case."""

    def __init__(self, sequence: ProgramSequence, runs: Sequence[BoundKernel], *, alone: bool):
        self._sequence, self._runs = sequence, runs
        self._packed: list[tuple[list[int], BoundKernel, dict[Any, Slot]]] = []
        groups: dict[int, list[int]] = {}
        for k, run in enumerate(runs):
            groups.setdefault(id(run.program), []).append(k)
        for numbers in groups.values() if alone else ():
            for part in (numbers[first : first + LANES] for first in range(0, len(numbers), LANES)):
                packed = BoundKernel.packed([runs[k] for k in part]) if len(part) > 1 else None
                if packed is not None:
                    self._packed.append((part, packed, {}))

    def add(self, inputs: Slots, outputs: Sequence[Slots]) -> list[dict[Any, Slot]]:
        """Add all of them to the sequence; return their results, some of them in given places."""
        sequence, alike = self._sequence, {k for numbers, _, _ in self._packed for k in numbers}
        found = {k: run.add_to(sequence, inputs, outputs[k]) for k, run in enumerate(self._runs) if k not in alike}
        for numbers, packed, places in self._packed:
            places |= packed.add_to(sequence, inputs, places)
            for k in numbers:
                found[k] = {key: outputs[k].get(key) or sequence.local(slot.size) for key, slot in places.items()}
            for key, slot in places.items():
                if slot.size:
                    sequence.add_code(_spread(slot.size, len(numbers)), [slot, *(found[k][key] for k in numbers)])
        return [found[k] for k in range(len(self._runs))]
