"""Operations of a program as text of LLVM: types, constants, vector code for a group of samples, strict IEEE rules.

No fast-math flag is ever given, so the compiler may neither reorder nor contract, and the result has the same bits on
every processor.

Loops that most samples skip are functions `void (ptr values, ptr results)` for one group of samples. The code around
them keeps its registers, and may have several groups in a vector: only groups with active samples are handed over,
through memory, where every value has a cache line.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import ClassVar

import numpy as np

from robots.data_classes import dataclass
from tasks.kernels.emission import slots as far
from tasks.kernels.emission.slots import Slots, StretchCall, handed_over
from tasks.kernels.expression import CONSTANT, Dual
from tasks.kernels.interpreter import BIASED
from tasks.kernels.keys import LANES
from tasks.kernels.program import PER_CASE, Program


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
    """Number whose sum with a whole number has that in its lowest bits, with the bias of exponents."""


DOUBLE = FloatFormat("double", "i64", "f64", 52, 0x7FF, 0x4330000000000000, BIASED)
SINGLE = FloatFormat("float", "i32", "f32", 23, 0xFF, 0x4B000000, 2.0**23 + 127.0)

BINARY = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
COMPARE = {"lt": "olt", "le": "ole", "eq": "oeq"}
INTRINSIC = {"sqrt": "sqrt", "abs": "fabs", "rint": "roundeven", "floor": "floor"}
FUSED = {"fma": (False, False), "fms": (False, True), "fnma": (True, False)}


def literal(value: float) -> str:
    """Return a double as LLVM writes it without loss; one that a float can hold is written so as a float too."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def constant(kind: str, value: float) -> str:
    """Return a constant of a scalar kind, or in all lanes of a vector kind."""
    element = kind.split()[-1].rstrip(">")
    if element == "float":
        with np.errstate(over="ignore"):
            value = float(np.float32(value))
    text = str(value) if element.startswith("i") else literal(value)
    return f"splat ({element} {text})" if kind.startswith("<") else text


def picks(start: int, count: int) -> str:
    """Return a pattern that takes neighbouring elements."""
    return f"<{count} x i32> <{', '.join(f'i32 {start + k}' for k in range(count))}>"


def declarations() -> list[str]:
    """Return the lines that declare the intrinsic functions in use."""
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
"""Attributes of functions, and the weight by which a loop that may be skipped is more likely to be."""

PAST_CACHES, PAST_CACHES_MARK = "align 64, !nontemporal !1", "!1 = !{ i32 1 }"
"""Metadata of a store that leaves no line of its vector in a cache, and its declaration at the end of the text."""


PLACE = 64
"""Bytes of a slot: a vector of one group."""


@dataclass
class FunctionText:
    """Writer of the text of one function. Node values are names; `scalar` while in the per-case part.

    `wide`: a vector holds two groups of samples in place of one, so that the processor can work on one group while it
    waits for the other in an iteration.
    """

    program: Program
    single: bool = False
    wide: bool = False

    vectors: ClassVar[bool] = True
    """False where a value is one sample's: a scalar in place of a vector."""

    def __post_init__(self) -> None:
        self.format = SINGLE if self.single else DOUBLE
        self.lanes = LANES * (2 if self.single else 1) * (2 if self.wide else 1) if self.vectors else 1
        self.vector, self.mask = self.kind(self.format.element), self.kind("i1")
        self.lines: list[str] = []
        self.names: dict[int, str] = {}
        self.splats: dict[int, str] = {}
        self.slots: far.Slots | None = None
        self.tables: list[str] = []
        self.block, self.parts, self.count = "", 0, 0

    def kind(self, element: str) -> str:
        """Return the type of values of the samples whose elements are of a type."""
        return f"<{self.lanes} x {element}>" if self.vectors else element

    def line(self, text: str) -> None:
        """Add a line to the body."""
        self.lines.append("  " + text)

    def new(self, text: str) -> str:
        """Return the name of a new value."""
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

    def function(self, name: str, head: str) -> list[str]:
        """Return the written lines as the body of a function `name`, whose first line is `head`."""
        places = ", ".join(f"ptr blockaddress(@{name}, %part{k + 1})" for k in range(self.parts))
        parts = [f"@{name}.parts = private constant [{self.parts} x ptr] [{places}]"] if self.parts else []
        return [*parts, *self.tables, head, *self.lines, "}"]

    def operand(self, node: int, scalar: bool) -> str:
        """Return the name of a node's value as a scalar or as a vector; per-case values are spread over the lanes."""
        if self.program.nodes[node].op == CONSTANT:
            return self.number(node, "double" if scalar else self.vector)
        if scalar:
            return self.names[node]
        if node in self.splats:
            return self.splats[node]
        if self.slots is not None and not self.program.is_mask(node) and self.slots.trail.touch(node):
            # volatile: else LLVM would keep the value, or move the reading
            self.names[node] = self.read(self.slot(self.slots[node]), mask=False, how="load volatile")
        return self.names[node]

    def number(self, node: int, kind: str) -> str:
        """Return a constant, as a value of a kind."""
        value = self.program.nodes[node].data
        return constant(kind, value.single if self.single and isinstance(value, Dual) else value)

    def spread(self, vector: str, name: str) -> str:
        """Return a scalar in all lanes of a vector."""
        element = vector.split()[-1].rstrip(">")
        one = self.new(f"insertelement {vector} poison, {element} {name}, i64 0")
        return self.new(f"shufflevector {vector} {one}, {vector} poison, <{self.lanes} x i32> zeroinitializer")

    def slot(self, number: int) -> str:
        """Emit the address of a slot."""
        return self.new(f"getelementptr {self.vector}, ptr %slots, i64 {number}")

    def read(self, at: str, *, mask: bool, how: str = "load") -> str:
        """Return a value or a mask from memory."""
        if not mask:
            return self.new(f"{how} {self.vector}, ptr {at}, align 64")
        return self.new(f"bitcast i{self.lanes} {self.new(f'{how} i{self.lanes}, ptr {at}, align 64')} to {self.mask}")

    def write(self, at: str, value: str, *, mask: bool, how: str = "store") -> None:
        """Put a value or a mask into memory."""
        kind = self.vector
        if mask:
            kind, value = f"i{self.lanes}", self.new(f"bitcast {self.mask} {value} to i{self.lanes}")
        self.line(f"{how} {kind} {value}, ptr {at}, align 64")

    def places(self) -> None:
        """Reserve memory for slots."""
        if self.slots is not None:
            self.line(f"%slots = alloca [{max(self.slots.count, 1)} x {self.vector}], align 64")

    def made(self, nodes: Iterable[int]) -> None:
        """Keep values of the samples in their slots, if they have some."""
        if self.slots is None:
            return
        for node in nodes:
            self.slots.trail.touch(node)
            if node in self.slots:
                at = self.slot(self.slots[node])
                self.write(at, self.names[node], mask=self.program.is_mask(node), how="store volatile")

    def leap(self) -> None:
        """Enter or leave a loop; all values count as far then."""
        if self.slots is not None:
            self.slots.trail.leap()

    def emit(self, node: int, scalar: bool) -> None:
        """Compute a node from its arguments."""
        op, args = self.program.nodes[node].op, self.program.nodes[node].args
        self.names[node] = self.operation(op, [self.operand(arg, scalar) for arg in args], scalar)

    def operation(self, op: str, names: list[str], scalar: bool) -> str:
        """Return the name of the result of an operation on operands of these names."""
        kind, mask = ("double", "i1") if scalar else (self.vector, self.mask)
        form = DOUBLE if scalar else self.format
        suffix = f"v{self.lanes}{form.suffix}" if self.vectors and not scalar else form.suffix
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
            whole = form.whole if scalar else self.kind(form.whole)
            text = (self._power_of_two if op == "power_of_two" else self._exponent)(form, kind, whole, names[0])
        elif op == "neg":
            text = f"fneg {kind} {names[0]}"
        elif op == "select":
            text = f"select {mask} {names[0]}, {kind} {names[1]}, {kind} {names[2]}"
        elif op in ("and", "or"):
            text = f"{op} {mask} {names[0]}, {names[1]}"
        elif op == "not":
            text = f"xor {mask} {names[0]}, {'splat (i1 true)' if mask.startswith('<') else 'true'}"
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

    def region(self, key: int) -> None:
        """Write the operations of a region."""
        nodes, scalar = self.program.regions.get(key, ()), key == PER_CASE
        for number, piece in enumerate(nodes if scalar or self.slots is None else self.slots.repeats.pieces(nodes)):
            if self.slots is not None and number and number % far.PART == 0:
                self.next_part()
            if isinstance(piece, StretchCall):
                self.call(piece)
                continue
            self.emit(piece, scalar)
            if not scalar:
                self.store(piece)
                self.made((piece,))
                if self.slots is not None:
                    self.slots.trail.step()

    def call(self, call: StretchCall) -> None:
        """Compute a stretch of operations by the function that it is, see `stretches`."""
        assert self.slots is not None
        where, numbers = (f"@{what}{call.number}.{call.place}" for what in ("where", "numbers"))
        offsets = [
            f"i32 {self.slots[node] * (PLACE * self.lanes // LANES // (1 + self.single))}" for node in call.taken
        ]
        self.tables.append(f"{where} = private constant [{len(offsets)} x i32] [ {', '.join(offsets)} ]")
        element = self.format.element
        values = [f"{element} {self.number(nodes[call.place], element)}" for nodes in call.stretch.constants]
        self.tables.append(f"{numbers} = private constant [{len(values)} x {element}] [ {', '.join(values)} ]")
        out = self.slot(self.slots[call.written[0]])
        self.line(f"call void @stretch{call.number}(ptr {out}, ptr %slots, ptr {where}, ptr {numbers})")
        for node in call.written:
            self.slots.trail.touch(node)
        self.slots.trail.leap()
        for node in call.written:
            if self.program.is_mask(node):
                self.names[node] = self.read(self.slot(self.slots[node]), mask=True, how="load volatile")
            self.store(node)

    def store(self, node: int) -> None:
        """Store a value of the samples as soon as it is computed. The base class does nothing."""

    def everywhere_set(self, mask: str) -> str:
        """Emit the test whether a mask holds in all lanes."""
        bits = self.new(f"bitcast {self.mask} {mask} to i{self.lanes}")
        return self.new(f"icmp eq i{self.lanes} {bits}, -1")

    def combine(self, how: str, old: str, value: str, kind: str) -> str:
        """Emit one step of a reduction of doubles; NaN stays."""
        if how == "sum":
            return self.new(f"fadd {kind} {old}, {value}")
        mask = kind.replace("double", "i1")
        better = self.new(f"fcmp {'ogt' if how == 'max' else 'olt'} {kind} {value}, {old}")
        nan = self.new(f"fcmp uno {kind} {value}, {value}")
        take = self.new(f"or {mask} {better}, {nan}")
        return self.new(f"select {mask} {take}, {kind} {value}, {kind} {old}")

    def pick(self, kind: str, value: str, part: int, width: int) -> str:
        """Return the part of a vector of a kind, `width` lanes long."""
        return self.new(f"shufflevector {kind} {value}, {kind} poison, {picks(width * part, width)}")

    def joined(self, element: str, parts: list[str], width: int) -> str:
        """Return one vector of neighbouring parts: one, two or four of them, each `width` lanes long."""
        while len(parts) > 1:
            kind, pattern = f"<{width} x {element}>", picks(0, 2 * width)
            pairs = zip(parts[::2], parts[1::2], strict=True)
            parts = [self.new(f"shufflevector {kind} {left}, {kind} {right}, {pattern}") for left, right in pairs]
            width *= 2
        return parts[0]

    def rounds(self, index: int, entry: list[str], skip: str) -> list[str]:
        """Write a loop of the program, and begin the block after it; return the names of its results."""
        loop, name, before = self.program.loops[index], f"loop{index}", self.block
        self.line(f"br label %{name}")
        self.label(name)
        self.leap()
        start = len(self.lines)
        states = [f"%{name}.state{k}" for k in range(len(loop.state))]
        self.names.update(zip(loop.state, states, strict=True))
        self.made(loop.state)
        self.region(2 * index + 1)
        finished = self.new(f"or {self.mask} %{name}.done, {self.operand(loop.done, scalar=False)}")
        following = [self.operand(i, scalar=False) for i in loop.following]
        old = [self.operand(i, scalar=False) for i in loop.state]
        kept = [
            self.new(f"select {self.mask} %{name}.done, {self.vector} {value}, {self.vector} {new}")
            for value, new in zip(old, following, strict=True)
        ]
        last = self.block
        phis = [f"  %{name}.round = phi i64 [ 0, %{before} ], [ %{name}.next, %{last} ]"]
        phis.append(f"  %{name}.done = phi {self.mask} [ {skip}, %{before} ], [ {finished}, %{last} ]")
        for state, first, again in zip(states, entry, kept, strict=True):
            phis.append(f"  {state} = phi {self.vector} [ {first}, %{before} ], [ {again}, %{last} ]")
        self.lines[start:start] = phis
        all_done = self.everywhere_set(finished)
        self.line(f"%{name}.next = add i64 %{name}.round, 1")
        over = self.new(f"icmp sge i64 %{name}.next, {loop.limit}")
        self.line(f"br i1 {self.new(f'or i1 {all_done}, {over}')}, label %after{index}, label %{name}")
        self.label(f"after{index}")
        self.leap()
        return kept


def function(program: Program, index: int, single: bool, slots: Slots | None) -> list[str]:
    """Return the text of a loop, which has slots where it is long."""
    writer, loop = FunctionText(program, single), program.loops[index]
    assert loop.skip is not None
    taken, writer.slots = handed_over(program, index), slots
    writer.label("entry")
    writer.places()
    for k, node in enumerate(taken):
        writer.names[node] = _read(writer, "%values", k, program.is_mask(node))
    writer.made(taken)
    entry = [writer.operand(i, scalar=False) for i in loop.initial]
    kept = writer.rounds(index, entry, writer.operand(loop.skip, scalar=False))
    for k, result in enumerate(kept):
        _write(writer, "%results", k, result, mask=False)
    writer.line("ret void")
    head = f"define private void @{_name(index)}(ptr noalias %values, ptr noalias %results) #1 {{"
    return writer.function(_name(index), head)


def call(writer: FunctionText, index: int, values: str, results: str) -> list[str]:
    """Write the call of a loop for the groups that need it; return the names of its results.

    `values` and `results` are places in memory.
    """
    program, loop = writer.program, writer.program.loops[index]
    assert loop.skip is not None
    entry = [writer.operand(i, scalar=False) for i in loop.initial]
    skip, block, width = (
        writer.operand(loop.skip, scalar=False),
        f"rare{index}",
        FunctionText(program, writer.single).lanes,
    )
    parts, before = writer.lanes // width, writer.block
    spared = writer.everywhere_set(skip)
    writer.line(f"br i1 {spared}, label %after{index}, label %{block}, !prof !0")
    writer.label(block)
    ends: list[list[str]] = []
    for part in range(parts):
        for k, node in enumerate(handed_over(program, index)):
            value, mask = writer.operand(node, scalar=False), program.is_mask(node)
            if parts > 1:
                value = writer.pick(writer.mask if mask else writer.vector, value, part, width)
            _write(writer, values, k, value, mask=mask, width=width)
        writer.line(f"call void @{_name(index)}(ptr {values}, ptr {results})")
        ends.append([_read(writer, results, k, mask=False, width=width) for k in range(len(loop.state))])
    last = [writer.joined(writer.format.element, list(halves), width) for halves in zip(*ends, strict=True)]
    writer.line(f"br label %after{index}")
    writer.label(f"after{index}")
    writer.leap()
    around = (f"[ {first}, %{before} ], [ {end}, %{block} ]" for first, end in zip(entry, last, strict=True))
    return [writer.new(f"phi {writer.vector} {way}") for way in around]


def _name(index: int) -> str:
    return f"rare{index}"


def _read(writer: FunctionText, memory: str, k: int, mask: bool, width: int = 0) -> str:
    """Return the value in a place."""
    at, width = writer.new(f"getelementptr i8, ptr {memory}, i64 {PLACE * k}"), width or writer.lanes
    if mask:
        bits = writer.new(f"load i{width}, ptr {at}, align {PLACE}")
        return writer.new(f"bitcast i{width} {bits} to <{width} x i1>")
    return writer.new(f"load <{width} x {writer.format.element}>, ptr {at}, align {PLACE}")


def _write(writer: FunctionText, memory: str, k: int, value: str, mask: bool, width: int = 0) -> None:
    """Put a value into a place."""
    at, width = writer.new(f"getelementptr i8, ptr {memory}, i64 {PLACE * k}"), width or writer.lanes
    kind = f"<{width} x {writer.format.element}>"
    if mask:
        value, kind = writer.new(f"bitcast <{width} x i1> {value} to i{width}"), f"i{width}"
    writer.line(f"store {kind} {value}, ptr {at}, align {PLACE}")
