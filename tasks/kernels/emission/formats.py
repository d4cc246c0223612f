"""Types, constants and operations in the language of LLVM."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np

from tasks.kernels.interpreter import BIASED
from tasks.kernels.rows import LANES


@dataclass(frozen=True)
class FloatFormat:
    """A floating-point type: its name, that of whole numbers as long, and where IEEE 754 puts the exponent."""

    element: str
    whole: str
    suffix: str
    mantissa: int
    exponents: int
    placed: int
    """The bits of 2^mantissa: with n in the lowest bits it is 2^mantissa + n."""
    biased: float
    """Added to a whole number it puts it into the lowest bits, with the bias that exponents have."""


DOUBLE = FloatFormat("double", "i64", "f64", 52, 0x7FF, 0x4330000000000000, BIASED)
SINGLE = FloatFormat("float", "i32", "f32", 23, 0xFF, 0x4B000000, 2.0**23 + 127.0)

BINARY = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
COMPARE = {"lt": "olt", "le": "ole", "eq": "oeq"}
INTRINSIC = {"sqrt": "sqrt", "abs": "fabs", "rint": "roundeven", "floor": "floor"}
FUSED = {"fma": (False, False), "fms": (False, True), "fnma": (True, False)}


def literal(value: float) -> str:
    """A double as LLVM writes it without loss; one that a float can hold is written so as a float too."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def constant(kind: str, value: float) -> str:
    """A constant of a scalar kind, or in all lanes of a vector kind."""
    element = kind.split()[-1].rstrip(">")
    if element == "float":
        with np.errstate(over="ignore"):
            value = float(np.float32(value))
    text = str(value) if element.startswith("i") else literal(value)
    return f"splat ({element} {text})" if kind.startswith("<") else text


def picks(start: int, count: int) -> str:
    """A pattern that takes neighbouring elements."""
    return f"<{count} x i32> <{', '.join(f'i32 {start + k}' for k in range(count))}>"


def declarations() -> list[str]:
    """Lines that declare the intrinsic functions in use."""
    lines = []
    kinds = {"f64": "double"}
    kinds |= {f"v{lanes}f64": f"<{lanes} x double>" for lanes in (LANES, 2 * LANES)}
    kinds |= {f"v{lanes}f32": f"<{lanes} x float>" for lanes in (2 * LANES, 4 * LANES)}
    for suffix, kind in kinds.items():
        lines.append(f"declare {kind} @llvm.fma.{suffix}({kind}, {kind}, {kind})")
        lines += [f"declare {kind} @llvm.{name}.{suffix}({kind})" for name in INTRINSIC.values()]
    return lines


FILL = """
define private void @fill(ptr %row, i64 %stride, ptr %places, ptr %values, i64 %count, i64 %groups) #0 {
entry:
  %none = icmp sle i64 %groups, 0
  br i1 %none, label %end, label %component
component:
  %k = phi i64 [ 0, %entry ], [ %k.next, %filled ]
  %place.at = getelementptr i64, ptr %places, i64 %k
  %place = load i64, ptr %place.at
  %value.at = getelementptr double, ptr %values, i64 %k
  %value = load double, ptr %value.at
  %one = insertelement VECTOR poison, double %value, i64 0
  %all = shufflevector VECTOR %one, VECTOR poison, <LANES x i32> zeroinitializer
  %offset = mul i64 %stride, %place
  %start = getelementptr double, ptr %row, i64 %offset
  br label %group
group:
  %g = phi i64 [ 0, %component ], [ %g.next, %group ]
  %at = getelementptr VECTOR, ptr %start, i64 %g
  store VECTOR %all, ptr %at, align 8
  %g.next = add i64 %g, 1
  %g.more = icmp slt i64 %g.next, %groups
  br i1 %g.more, label %group, label %filled
filled:
  %k.next = add i64 %k, 1
  %k.more = icmp slt i64 %k.next, %count
  br i1 %k.more, label %component, label %end
end:
  ret void
}""".replace("VECTOR", f"<{LANES} x double>").replace("LANES", str(LANES))
"""A function that writes constants to components of an output, a row of groups of samples for each."""

_NATURE = 'nounwind "prefer-vector-width"="512" "min-legal-vector-width"="512"'

ATTRIBUTES = f"""attributes #0 = {{ {_NATURE} }}
attributes #1 = {{ noinline cold {_NATURE} }}
!0 = !{{ !"branch_weights", i32 1000, i32 1 }}"""
"""Of functions, and how much more likely it is that a loop which may be skipped is."""
