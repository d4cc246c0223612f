"""Operations of a program as text of LLVM: vector code for a group of samples, strict IEEE arithmetic.

No fast-math flag is ever given, so the compiler may neither reorder nor contract, and the result has the same bits on
every processor.
"""

from __future__ import annotations

from dataclasses import dataclass

from tasks.kernels.emission.formats import (
    BINARY,
    COMPARE,
    DOUBLE,
    FUSED,
    INTRINSIC,
    SINGLE,
    FloatFormat,
    constant,
    picks,
)
from tasks.kernels.expression import CONSTANT, Dual
from tasks.kernels.program import PER_CASE, Program
from tasks.kernels.rows import LANES


@dataclass
class FunctionText:
    """Writes the text of one function. Node values are names; `scalar` while in the per-case part.

    `wide`: a vector is two of the groups of samples that one has otherwise, so that the processor has something to do
    while it waits for the results of an iteration.
    """

    program: Program
    single: bool = False
    wide: bool = False

    def __post_init__(self) -> None:
        self.format = SINGLE if self.single else DOUBLE
        self.lanes = LANES * (2 if self.single else 1) * (2 if self.wide else 1)
        self.vector, self.mask = f"<{self.lanes} x {self.format.element}>", f"<{self.lanes} x i1>"
        self.lines: list[str] = []
        self.names: dict[int, str] = {}
        self.splats: dict[int, str] = {}
        self.count = 0

    def line(self, text: str) -> None:
        """A line of the body."""
        self.lines.append("  " + text)

    def new(self, text: str) -> str:
        """The name of a new value."""
        self.count += 1
        self.lines.append(f"  %v{self.count} = {text}")
        return f"%v{self.count}"

    def label(self, name: str) -> None:
        """Begin a block."""
        self.lines.append(f"{name}:")

    def operand(self, node: int, scalar: bool) -> str:
        """The name of a node's value as a scalar or as a vector; per-case values are spread over the lanes."""
        data = self.program.nodes[node]
        if data.op == CONSTANT:
            value = data.data.single if self.single and isinstance(data.data, Dual) else data.data
            return constant("double" if scalar else self.vector, value)
        if scalar or node not in self.splats:
            return self.names[node]
        return self.splats[node]

    def emit(self, node: int, scalar: bool) -> None:
        """Compute a node from its arguments."""
        op, args = self.program.nodes[node].op, self.program.nodes[node].args
        kind, mask = ("double", "i1") if scalar else (self.vector, self.mask)
        form = DOUBLE if scalar else self.format
        names = [self.operand(arg, scalar) for arg in args]
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
        self.names[node] = self.new(text)

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

    def region(self, key: int) -> None:
        """All operations of a region."""
        for node in self.program.regions.get(key, ()):
            self.emit(node, scalar=key == PER_CASE)

    def everywhere_set(self, mask: str) -> str:
        """Whether a mask holds in all lanes."""
        bits = self.new(f"bitcast {self.mask} {mask} to i{self.lanes}")
        return self.new(f"icmp eq i{self.lanes} {bits}, -1")

    def pick(self, kind: str, value: str, part: int, width: int) -> str:
        """Part of a vector of a kind, `width` lanes long."""
        return self.new(f"shufflevector {kind} {value}, {kind} poison, {picks(width * part, width)}")

    def joined(self, element: str, parts: list[str], width: int) -> str:
        """One vector of neighbours, one, two or four of them, which are `width` lanes long."""
        while len(parts) > 1:
            kind, pattern = f"<{width} x {element}>", picks(0, 2 * width)
            pairs = zip(parts[::2], parts[1::2], strict=True)
            parts = [self.new(f"shufflevector {kind} {left}, {kind} {right}, {pattern}") for left, right in pairs]
            width *= 2
        return parts[0]

    def rounds(self, index: int, before: str, entry: list[str], skip: str) -> list[str]:
        """Iterate a loop of the program after the block `before`, and go to `after`; the names of its results."""
        loop, name = self.program.loops[index], f"loop{index}"
        self.line(f"br label %{name}")
        self.label(name)
        start = len(self.lines)
        for state in loop.state:
            self.count += 1
            self.names[state] = f"%v{self.count}"
        self.region(2 * index + 1)
        finished = self.new(f"or {self.mask} %{name}.done, {self.operand(loop.done, scalar=False)}")
        following = [self.operand(i, scalar=False) for i in loop.following]
        kept = [
            self.new(f"select {self.mask} %{name}.done, {self.vector} {self.names[old]}, {self.vector} {new}")
            for old, new in zip(loop.state, following, strict=True)
        ]
        phis = [f"  %{name}.round = phi i64 [ 0, %{before} ], [ %{name}.next, %{name} ]"]
        phis.append(f"  %{name}.done = phi {self.mask} [ {skip}, %{before} ], [ {finished}, %{name} ]")
        for state, first, again in zip(loop.state, entry, kept, strict=True):
            phis.append(f"  {self.names[state]} = phi {self.vector} [ {first}, %{before} ], [ {again}, %{name} ]")
        self.lines[start:start] = phis
        all_done = self.everywhere_set(finished)
        self.line(f"%{name}.next = add i64 %{name}.round, 1")
        over = self.new(f"icmp sge i64 %{name}.next, {loop.limit}")
        self.line(f"br i1 {self.new(f'or i1 {all_done}, {over}')}, label %after{index}, label %{name}")
        self.label(f"after{index}")
        return kept
