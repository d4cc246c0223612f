"""Writes instructions of LLVM one after the other: names of values, blocks, the operations of programs."""

from __future__ import annotations

from collections.abc import Sequence

from tasks.kernels.emission.formats import (
    BINARY,
    COMPARE,
    DOUBLE,
    FUSED,
    INTRINSIC,
    SINGLE,
    FloatFormat,
    constant,
    declarations,
)
from tasks.kernels.rows import LANES

HEAD = "define void @kernel(i64 %cases, i64 %groups, i64 %valid, ptr noalias %pointers, ptr noalias %strides) #0 {"
ATTRIBUTES = 'attributes #0 = { nounwind "prefer-vector-width"="512" "min-legal-vector-width"="512" }'


class FunctionText:
    """The text of one function; samples in double or in single precision."""

    def __init__(self, *, single: bool = False) -> None:
        self.single, self.format = single, SINGLE if single else DOUBLE
        self.lanes = 2 * LANES if single else LANES
        self.vector, self.mask = f"<{self.lanes} x {self.format.element}>", f"<{self.lanes} x i1>"
        self.sums = f"<{self.lanes} x double>"
        self.lines: list[str] = []
        self.block, self.parts, self.count = "", 0, 0

    def line(self, text: str) -> None:
        """An instruction without a result, or with a name of its own."""
        self.lines.append("  " + text)

    def new(self, text: str) -> str:
        """An instruction; the name of its result."""
        self.count += 1
        self.lines.append(f"  %v{self.count} = {text}")
        return f"%v{self.count}"

    def label(self, name: str) -> None:
        """Begin a block."""
        self.block = name
        self.lines.append(f"{name}:")

    def next_part(self) -> None:
        """Begin another block. LLVM would join it to the one before, were its address not taken, see `function`."""
        self.parts += 1
        self.line(f"br label %part{self.parts}")
        self.label(f"part{self.parts}")

    def function(self) -> str:
        """All that was written, as a module."""
        places = ", ".join(f"ptr blockaddress(@kernel, %part{k + 1})" for k in range(self.parts))
        parts = [f"@parts = private constant [{self.parts} x ptr] [{places}]"] if self.parts else []
        return "\n".join([*parts, HEAD, *self.lines, "}", *declarations(), ATTRIBUTES])

    def operation(self, op: str, names: Sequence[str], scalar: bool) -> str:
        """One operation on values of these names; the name of its result."""
        kind, mask = ("double", "i1") if scalar else (self.vector, self.mask)
        form = DOUBLE if scalar else self.format
        suffix = form.suffix if scalar else f"v{self.lanes}{form.suffix}"
        if op in BINARY:
            text = f"{BINARY[op]} {kind} {names[0]}, {names[1]}"
        elif op in COMPARE:
            text = f"fcmp {COMPARE[op]} {kind} {names[0]}, {names[1]}"
        elif op in INTRINSIC:
            text = f"call {kind} @llvm.{INTRINSIC[op]}.{suffix}({kind} {names[0]})"
        elif op in FUSED:
            minus_product, minus_sum = FUSED[op]
            a = self.new(f"fneg {kind} {names[0]}") if minus_product else names[0]
            c = self.new(f"fneg {kind} {names[2]}") if minus_sum else names[2]
            text = f"call {kind} @llvm.fma.{suffix}({kind} {a}, {kind} {names[1]}, {kind} {c})"
        elif op in ("power_of_two", "exponent"):
            whole = form.whole if scalar else f"<{self.lanes} x {form.whole}>"
            text = (self._power_of_two if op == "power_of_two" else self._exponent)(form, kind, whole, names[0])
        elif op == "neg":
            text = f"fneg {kind} {names[0]}"
        elif op == "select":
            text = f"select {mask} {names[0]}, {kind} {names[1]}, {kind} {names[2]}"
        elif op in ("and", "or"):
            text = f"{op} {mask} {names[0]}, {names[1]}"
        elif op == "not":
            text = f"xor {mask} {names[0]}, {'true' if scalar else 'splat (i1 true)'}"
        else:
            raise NotImplementedError(f"no machine code for the operation {op!r}")
        return self.new(text)

    def _power_of_two(self, form: FloatFormat, kind: str, whole: str, name: str) -> str:
        bits = self.new(f"bitcast {kind} {self.new(f'fadd {kind} {name}, {constant(kind, form.biased)}')} to {whole}")
        return f"bitcast {whole} {self.new(f'shl {whole} {bits}, {constant(whole, form.mantissa)}')} to {kind}"

    def _exponent(self, form: FloatFormat, kind: str, whole: str, name: str) -> str:
        bits = self.new(f"bitcast {kind} {name} to {whole}")
        shifted = self.new(f"lshr {whole} {bits}, {constant(whole, form.mantissa)}")
        biased = self.new(f"and {whole} {shifted}, {constant(whole, form.exponents)}")
        # quicker than a conversion, which few vector units have
        placed = self.new(f"or {whole} {biased}, {constant(whole, form.placed)}")
        return f"fsub {kind} {self.new(f'bitcast {whole} {placed} to {kind}')}, {constant(kind, form.biased)}"

    def combine(self, how: str, old: str, value: str, kind: str) -> str:
        """A reduction so far, and one value more."""
        if how == "sum":
            return self.new(f"fadd {kind} {old}, {value}")
        mask = kind.replace("double", "i1")
        better = self.new(f"fcmp {'ogt' if how == 'max' else 'olt'} {kind} {value}, {old}")
        nan = self.new(f"fcmp uno {kind} {value}, {value}")
        take = self.new(f"or {mask} {better}, {nan}")
        return self.new(f"select {mask} {take}, {kind} {value}, {kind} {old}")

    def everywhere(self, number: str) -> str:
        """A whole number in all lanes."""
        kind = f"<{self.lanes} x i64>"
        one = self.new(f"insertelement {kind} poison, i64 {number}, i64 0")
        return self.new(f"shufflevector {kind} {one}, {kind} poison, <{self.lanes} x i32> zeroinitializer")

    def everywhere_set(self, mask: str) -> str:
        """Whether a mask holds in all lanes."""
        bits = self.new(f"bitcast {self.mask} {mask} to i{self.lanes}")
        return self.new(f"icmp eq i{self.lanes} {bits}, -1")
