"""Rows of kernels in the order of the dataset: the components of an instant side by side, NaN where a sample failed.

Like the kernels whose rows it takes, this is one function of machine code, so that strips of a block that store series
are nothing but such functions as well (`tasks.kernels.strips`).
"""

from __future__ import annotations

import ctypes
import functools
import math
from typing import Any

import numpy as np

from tasks.kernels.kernel import Call, has_compiler, machine_code
from tasks.kernels.keys import LANES, padded
from tasks.kernels.program import Kernels

TEXT = """
define void @kernel(i64 %cases, i64 %groups, i64 %samples, i64 %components, ptr %none, ptr %arrays, ptr %strides) #0 {
entry:
  %status = load ptr, ptr %arrays
  %rows.at = getelementptr ptr, ptr %arrays, i64 1
  %rows = load ptr, ptr %rows.at
  %out.at = getelementptr ptr, ptr %arrays, i64 2
  %out = load ptr, ptr %out.at
  %steps = load [6 x i64], ptr %strides
  %status.case = extractvalue [6 x i64] %steps, 0
  %rows.case = extractvalue [6 x i64] %steps, 2
  %rows.step = extractvalue [6 x i64] %steps, 3
  %out.case = extractvalue [6 x i64] %steps, 4
  %out.step = extractvalue [6 x i64] %steps, 5
  %unmasked = icmp eq ptr %status, null
  br label %case
case:
  %c = phi i64 [ 0, %entry ], [ %c.next, %grouped ]
  %status.first = mul i64 %c, %status.case
  %rows.first = mul i64 %c, %rows.case
  %out.first = mul i64 %c, %out.case
  br label %group
group:
  %g = phi i64 [ 0, %case ], [ %g.next, %written ]
  %t = mul i64 %g, LANES
  %left = sub i64 %samples, %t
  %whole = icmp sge i64 %left, LANES
  br i1 %unmasked, label %known, label %look
look:
  %status.place = add i64 %status.first, %t
  %status.here = getelementptr double, ptr %status, i64 %status.place
  %outcome = load <LANES x double>, ptr %status.here, align 8
  %lost = fcmp une <LANES x double> %outcome, zeroinitializer
  br label %known
known:
  %failed = phi <LANES x i1> [ zeroinitializer, %group ], [ %lost, %look ]
  %out.time = mul i64 %t, %out.step
  %out.group = add i64 %out.first, %out.time
  %rows.group = add i64 %rows.first, %t
  br label %component
component:
  %r = phi i64 [ 0, %known ], [ %r.next, %stored ]
  %row = mul i64 %r, %rows.step
  %from.place = add i64 %rows.group, %row
  %from = getelementptr double, ptr %rows, i64 %from.place
  %read = load <LANES x double>, ptr %from, align 8
  %numbers = CONVERT
  %to.place = add i64 %out.group, %r
  %to.0 = getelementptr NUMBER, ptr %out, i64 %to.place
  br i1 %whole, label %all, label %some
all:
STORES
  br label %stored
some:
  %i = phi i64 [ 0, %component ], [ %i.next, %some ]
  %to = phi ptr [ %to.0, %component ], [ %to.next, %some ]
  %one = extractelement <LANES x NUMBER> %numbers, i64 %i
  store NUMBER %one, ptr %to
  %to.next = getelementptr NUMBER, ptr %to, i64 %out.step
  %i.next = add i64 %i, 1
  %i.more = icmp slt i64 %i.next, %left
  br i1 %i.more, label %some, label %stored
stored:
  %r.next = add i64 %r, 1
  %r.more = icmp slt i64 %r.next, %components
  br i1 %r.more, label %component, label %written
written:
  %g.next = add i64 %g, 1
  %g.more = icmp slt i64 %g.next, %groups
  br i1 %g.more, label %group, label %grouped
grouped:
  %c.next = add i64 %c, 1
  %c.more = icmp slt i64 %c.next, %cases
  br i1 %c.more, label %case, label %end
end:
  ret void
}
attributes #0 = { nounwind "prefer-vector-width"="512" "min-legal-vector-width"="512" }
"""
"""A function with the arguments of kernels, components in place of a flag; arrays: status or none, rows, results."""

NAN = f"<{', '.join(['double 0x7FF8000000000000'] * LANES)}>"
CONVERSIONS = {
    "float64": ("double", f"select <LANES x i1> %failed, <LANES x double> {NAN}, <LANES x double> %read"),
    "int8": ("i8", "fptosi <LANES x double> %read to <LANES x i8>"),
}
"""Type of the results in LLVM, and how it is made of the numbers of rows."""


@functools.cache
def _machine(dtype: str) -> Any:
    """Return the machine code for results of a type."""
    number, conversion = CONVERSIONS[dtype]
    lines = []
    for i in range(LANES):
        if i:
            lines.append(f"  %to.{i} = getelementptr NUMBER, ptr %to.{i - 1}, i64 %out.step")
        lines.append(f"  %one.{i} = extractelement <LANES x NUMBER> %numbers, i64 {i}")
        lines.append(f"  store NUMBER %one.{i}, ptr %to.{i}")
    text = TEXT.replace("STORES", "\n".join(lines)).replace("CONVERT", conversion)
    text = text.replace("NUMBER", number).replace("LANES", str(LANES))
    whole, place = ctypes.c_int64, ctypes.c_void_p
    return machine_code(text, ctypes.CFUNCTYPE(None, *(whole,) * 4, *(place,) * 3))


def fill(kernel: Kernels, out: np.ndarray, rows: np.ndarray, samples: int, status: np.ndarray | None = None) -> None:
    """Fill results (case, time, ...) from rows of a kernel (case or 1, component, padded time), in a strip's next call.

    status (case or 1, 1, padded time): samples where it is not zero become NaN. `kernel` gives kernels in the strip.
    Raises ValueError for arrays that do not fit.
    """
    components = math.prod(out.shape[2:])
    good = rows.shape[1:] == (components, padded(samples)) and len(rows) in (1, len(out)) and out.shape[1] == samples
    if not good or rows.strides[-1] != rows.itemsize or not out[:1, :1].flags.c_contiguous:
        raise ValueError(f"rows: got {rows.shape}; expected components of results {out.shape} side by side")
    if not out.size:
        return
    if not has_compiler():
        _fill_slowly(out, rows[..., :samples], None if status is None else status[..., :samples])
        return
    arrays = (status, rows, out)
    pointers = [0 if each is None else each.__array_interface__["data"][0] for each in arrays]
    strides = [step for each in arrays for step in ((0, 0) if each is None else _strides(each))]
    sizes = len(out), padded(samples) // LANES, samples, components, 0
    call = Call(_machine(out.dtype.name), sizes, pointers, strides)
    getattr(kernel, "note", _made)(call, arrays)


def _made(call: Call, arrays: object) -> None:
    """Make a call at once, unless strips note it."""
    call.make()


def _strides(array: np.ndarray) -> tuple[int, int]:
    """Return the numbers from a case to the next, and from a row or instant to the next."""
    return array.strides[0] // array.itemsize if len(array) > 1 else 0, array.strides[1] // array.itemsize


def _fill_slowly(out: np.ndarray, rows: np.ndarray, status: np.ndarray | None) -> None:
    """Fill results as `fill` does, without a compiler."""
    numbers = rows if status is None else np.where(status != 0.0, np.nan, rows)
    out[...] = numbers.swapaxes(-1, -2).reshape(-1, *out.shape[1:])
