"""Write a program as text of LLVM: vector code for a group of samples, strict IEEE arithmetic.

No fast-math flag is ever given, so the compiler may neither reorder nor contract, and the result has the same bits on
every processor. What depends on case inputs alone is scalar code before the loop over samples, in double precision;
samples may be in single, sixteen in place of eight in a vector.

The function is `kernel(cases, groups, valid, pointers, strides)`: `groups` of LANES samples, of which `valid` samples
count in reductions; `pointers` and `strides` list case, sample and output arrays in the order of the program, strides
in elements (case stride, component stride) for each. Arrays are of doubles in either precision.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tasks.kernels.emission.formats import (
    BINARY,
    COMPARE,
    DOUBLE,
    FILL,
    FUSED,
    INTRINSIC,
    SINGLE,
    FloatFormat,
    constant,
    declarations,
    literal,
    picks,
)
from tasks.kernels.expression import CASE, CONSTANT, RESULT, SAMPLE, Dual
from tasks.kernels.interpreter import IDENTITY
from tasks.kernels.keys import Key
from tasks.kernels.program import PER_CASE, Program
from tasks.kernels.rows import LANES


@dataclass
class _Emitter:
    """Writes the text of one function. Node values are names; `scalar` while in the per-case part."""

    program: Program
    single: bool = False

    def __post_init__(self) -> None:
        self.format = SINGLE if self.single else DOUBLE
        self.lanes = 2 * LANES if self.single else LANES
        self.vector, self.mask = f"<{self.lanes} x {self.format.element}>", f"<{self.lanes} x i1>"
        self.sums = f"<{self.lanes} x double>"
        self.lines: list[str] = []
        self.tables: list[str] = []
        self.names: dict[int, str] = {}
        self.splats: dict[int, str] = {}
        self.count = 0

    def line(self, text: str) -> None:
        self.lines.append("  " + text)

    def new(self, text: str) -> str:
        self.count += 1
        self.lines.append(f"  %v{self.count} = {text}")
        return f"%v{self.count}"

    def label(self, name: str) -> None:
        self.lines.append(f"{name}:")

    # --- operations -------------------------------------------------------------------------------------------------

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
        for node in self.program.regions.get(key, ()):
            self.emit(node, scalar=key == PER_CASE)
            if key > PER_CASE:
                self._store(node)

    # --- arrays -----------------------------------------------------------------------------------------------------

    def address(self, base: str, component: int, stride: str) -> str:
        offset = self.new(f"mul i64 {stride}, {component}")
        return self.new(f"getelementptr double, ptr {base}, i64 {offset}")

    def load_pointers(self, names: list[Key]) -> None:
        """Read base pointers and strides of all arrays."""
        self.base: dict[Key, str] = {}
        self.by_case: dict[Key, str] = {}
        self.by_component: dict[Key, str] = {}
        for i, name in enumerate(names):
            self.base[name] = self.new(f"load ptr, ptr {self.new(f'getelementptr ptr, ptr %pointers, i64 {i}')}")
            for table, k in ((self.by_case, 2 * i), (self.by_component, 2 * i + 1)):
                table[name] = self.new(f"load i64, ptr {self.new(f'getelementptr i64, ptr %strides, i64 {k}')}")

    def rows(self, names: list[Key]) -> dict[Key, str]:
        """Pointers to the current case."""
        result = {}
        for name in names:
            offset = self.new(f"mul i64 %case, {self.by_case[name]}")
            result[name] = self.new(f"getelementptr double, ptr {self.base[name]}, i64 {offset}")
        return result

    # --- the function -----------------------------------------------------------------------------------------------

    def text(self) -> str:
        program = self.program
        reduced = [name for name in program.outputs if name in program.reductions]
        arrays = [*program.case, *program.sample, *program.outputs]
        self.label("entry")
        self.load_pointers(arrays)
        accumulators = {
            (name, k): self.new(f"alloca {self.sums}, align 64")
            for name in reduced
            for k in range(len(program.outputs[name][1]))
        }
        ratio = self.lanes // LANES
        self.line(f"%rounds = udiv i64 {self.new(f'add i64 %groups, {ratio - 1}')}, {ratio}")
        self.line(f"%last = sub i64 {self.new(f'mul i64 %groups, {LANES}')}, {LANES}")
        self.line("%none = icmp sle i64 %cases, 0")
        self.line("br i1 %none, label %end, label %cases.body")
        self.label("cases.body")
        self.line("%case = phi i64 [ 0, %entry ], [ %case.next, %cases.next ]")
        row = self.rows(arrays)
        self._case_inputs(row)
        self.region(PER_CASE)
        self._pending = self._series(row)
        self._spread()
        for (name, _), slot in accumulators.items():
            start = constant(self.sums, IDENTITY[program.reductions[name]])
            self.line(f"store {self.sums} {start}, ptr {slot}")
        self.line("%empty = icmp sle i64 %groups, 0")
        self.line("br i1 %empty, label %cases.done, label %groups.body")
        self.label("groups.body")
        last = f"after{len(program.loops) - 1}" if program.loops else "groups.body"
        self.line(f"%group = phi i64 [ 0, %cases.body ], [ %group.next, %{last} ]")
        self.line(f"%first = mul i64 %group, {self.lanes}")
        self.offsets = self._offsets()
        self._sample_inputs(row)
        self.region(0)
        for index in range(len(program.loops)):
            self._loop(index, "groups.body" if index == 0 else f"after{index - 1}")
            self.region(2 * index + 2)
        for node in list(self._pending):
            self._store(node)
        self._accumulate(accumulators)
        self.line("%group.next = add i64 %group, 1")
        self.line("%more = icmp slt i64 %group.next, %rounds")
        self.line("br i1 %more, label %groups.body, label %cases.done")
        self.label("cases.done")
        self._finish(accumulators, row)
        self._fill(row)
        self.line("br label %cases.next")
        self.label("cases.next")
        self.line("%case.next = add i64 %case, 1")
        self.line("%again = icmp slt i64 %case.next, %cases")
        self.line("br i1 %again, label %cases.body, label %end")
        self.label("end")
        self.line("ret void")
        head = (
            "define void @kernel(i64 %cases, i64 %groups, i64 %valid, ptr noalias %pointers, ptr noalias %strides) #0 {"
        )
        attributes = 'attributes #0 = { nounwind "prefer-vector-width"="512" "min-legal-vector-width"="512" }'
        fill = [FILL] if self.tables else []
        return "\n".join([head, *self.lines, "}", *fill, *self.tables, *declarations(), attributes])

    def _offsets(self) -> list[str]:
        """Where the vector's groups of LANES samples are; where there is half a vector left it is taken twice."""
        if not self.single:
            return ["%first"]
        after = self.new(f"add i64 %first, {LANES}")
        over = self.new(f"icmp sgt i64 {after}, %last")
        return ["%first", self.new(f"select i1 {over}, i64 %last, i64 {after}")]

    def _case_inputs(self, row: dict[Key, str]) -> None:
        for i, node in enumerate(self.program.nodes):
            if node.op == CASE:
                name, component = node.data
                address = self.address(row[name], component, self.by_component[name])
                self.names[i] = self.new(f"load double, ptr {address}")

    def _spread(self) -> None:
        """Copy the per-case values that samples need to all lanes."""
        program = self.program
        per_case = {i for i, node in enumerate(program.nodes) if node.op == CASE} | set(
            program.regions.get(PER_CASE, ())
        )
        wanted = {
            arg
            for key, region in program.regions.items()
            if key != PER_CASE
            for i in region
            for arg in program.nodes[i].args
        }
        wanted |= {i for loop in program.loops for i in (*loop.before, *loop.following, loop.done)}
        wanted |= {i for _, nodes in program.outputs.values() for i in nodes}
        for i in sorted(per_case & wanted):
            kind, vector = ("i1", self.mask) if program.is_mask(i) else (self.format.element, self.vector)
            name = self.names[i]
            if self.single and kind != "i1":
                name = self.new(f"fptrunc double {name} to float")
            one = self.new(f"insertelement {vector} poison, {kind} {name}, i64 0")
            pattern = f"<{self.lanes} x i32> zeroinitializer"
            self.splats[i] = self.new(f"shufflevector {vector} {one}, {vector} poison, {pattern}")

    def _sample_inputs(self, row: dict[Key, str]) -> None:
        for i, node in enumerate(self.program.nodes):
            if node.op == SAMPLE:
                name, component = node.data
                address = self.address(row[name], component, self.by_component[name])
                self.names[i] = self._load(address)

    def _load(self, address: str) -> str:
        """A vector of samples from a row of doubles."""
        kind, parts = f"<{LANES} x double>", []
        for offset in self.offsets:
            at = self.new(f"getelementptr double, ptr {address}, i64 {offset}")
            parts.append(self.new(f"load {kind}, ptr {at}, align 8"))
        if not self.single:
            return parts[0]
        joined = self.new(f"shufflevector {kind} {parts[0]}, {kind} {parts[1]}, {picks(0, self.lanes)}")
        return self.new(f"fptrunc {self.sums} {joined} to {self.vector}")

    def _double(self, value: str) -> str:
        """A vector in double precision."""
        return self.new(f"fpext {self.vector} {value} to {self.sums}") if self.single else value

    def _loop(self, index: int, before: str) -> None:
        loop, name = self.program.loops[index], f"loop{index}"
        entry = [self.operand(i, scalar=False) for i in loop.initial]
        skip = "zeroinitializer" if loop.skip is None else self.operand(loop.skip, scalar=False)
        if loop.skip is None:
            self.line(f"br label %{name}")
        else:
            self.line(f"br i1 {self._everywhere_set(skip)}, label %after{index}, label %{name}")
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
        all_done = self._everywhere_set(finished)
        self.line(f"%{name}.next = add i64 %{name}.round, 1")
        over = self.new(f"icmp sge i64 %{name}.next, {loop.limit}")
        leave = self.new(f"or i1 {all_done}, {over}")
        self.line(f"br i1 {leave}, label %after{index}, label %{name}")
        self.label(f"after{index}")
        for i, node in enumerate(self.program.nodes):
            if node.op == RESULT and node.data[0] == index:
                first, last = entry[node.data[1]], kept[node.data[1]]
                around = f"phi {self.vector} [ {first}, %{before} ], [ {last}, %{name} ]"
                self.names[i] = last if loop.skip is None else self.new(around)

    def _everywhere_set(self, mask: str) -> str:
        """Whether a mask holds in all lanes."""
        bits = self.new(f"bitcast {self.mask} {mask} to i{self.lanes}")
        return self.new(f"icmp eq i{self.lanes} {bits}, -1")

    def _series(self, row: dict[Key, str]) -> dict[int, list[tuple[str, int, str]]]:
        """Where values of samples go, by node: row pointer, component and stride of each output that has it.

        Constants are left to `_fill`.
        """
        places: dict[int, list[tuple[str, int, str]]] = {}
        for name, (_, nodes) in self.program.outputs.items():
            if name not in self.program.reductions:
                for component, node in enumerate(nodes):
                    if self.program.nodes[node].op != CONSTANT:
                        places.setdefault(node, []).append((row[name], component, self.by_component[name]))
        return places

    def _store(self, node: int) -> None:
        """Write a value where it is an output: at once, so that no register holds it until the end."""
        for place in self._pending.pop(node, ()):
            address = self.address(*place)
            value = self._double(self.operand(node, scalar=False))
            for k, offset in enumerate(self.offsets):
                at = self.new(f"getelementptr double, ptr {address}, i64 {offset}")
                self.line(f"store <{LANES} x double> {self._part(value, k)}, ptr {at}, align 8")

    def _fill(self, row: dict[Key, str]) -> None:
        """Write outputs that are constants, row by row, when the case has no more to read: arrays may be inputs too."""
        for name, (_, nodes) in self.program.outputs.items():
            known = {k: self._constant(node) for k, node in enumerate(nodes) if self.program.nodes[node].op == CONSTANT}
            if not known or name in self.program.reductions:
                continue
            places, values = f"@places{len(self.tables)}", f"@values{len(self.tables)}"
            for table, kind, words in (
                (places, "i64", map(str, known)),
                (values, "double", map(literal, known.values())),
            ):
                listed = ", ".join(f"{kind} {word}" for word in words)
                self.tables.append(f"{table} = private constant [{len(known)} x {kind}] [ {listed} ]")
            where = f"ptr {row[name]}, i64 {self.by_component[name]}"
            self.line(f"call void @fill({where}, ptr {places}, ptr {values}, i64 {len(known)}, i64 %groups)")

    def _constant(self, node: int) -> float:
        """A constant as samples have it, rounded where they are in single precision."""
        value: float = self.program.nodes[node].data
        if not self.single:
            return float(value)
        with np.errstate(over="ignore"):
            return float(np.float32(value.single if isinstance(value, Dual) else value))

    def _part(self, value: str, k: int) -> str:
        """Group `k` of the samples of a vector of doubles."""
        if not self.single:
            return value
        return self.new(f"shufflevector {self.sums} {value}, {self.sums} poison, {picks(LANES * k, LANES)}")

    def _combine(self, how: str, old: str, value: str, kind: str) -> str:
        if how == "sum":
            return self.new(f"fadd {kind} {old}, {value}")
        mask = kind.replace("double", "i1")
        better = self.new(f"fcmp {'ogt' if how == 'max' else 'olt'} {kind} {value}, {old}")
        nan = self.new(f"fcmp uno {kind} {value}, {value}")
        take = self.new(f"or {mask} {better}, {nan}")
        return self.new(f"select {mask} {take}, {kind} {value}, {kind} {old}")

    def _accumulate(self, accumulators: dict[tuple[Key, int], str]) -> None:
        if not accumulators:
            return
        whole = f"<{self.lanes} x i64>"
        iota = ", ".join(f"i64 {k}" for k in range(self.lanes))
        at = self.new(f"add {whole} {self._everywhere('%first')}, <{iota}>")
        counts = self.new(f"icmp slt {whole} {at}, {self._everywhere('%valid')}")
        for (name, k), slot in accumulators.items():
            old = self.new(f"load {self.sums}, ptr {slot}")
            value = self._double(self.operand(self.program.outputs[name][1][k], scalar=False))
            new = self._combine(self.program.reductions[name], old, value, self.sums)
            kept = self.new(f"select {self.mask} {counts}, {self.sums} {new}, {self.sums} {old}")
            self.line(f"store {self.sums} {kept}, ptr {slot}")

    def _everywhere(self, number: str) -> str:
        """A whole number in all lanes."""
        kind = f"<{self.lanes} x i64>"
        one = self.new(f"insertelement {kind} poison, i64 {number}, i64 0")
        return self.new(f"shufflevector {kind} {one}, {kind} poison, <{self.lanes} x i32> zeroinitializer")

    def _finish(self, accumulators: dict[tuple[Key, int], str], row: dict[Key, str]) -> None:
        for (name, component), slot in accumulators.items():
            value, width = self.new(f"load {self.sums}, ptr {slot}"), self.lanes
            while width > 1:
                width //= 2
                halves = []
                for start in (0, width):
                    kind = f"<{2 * width} x double>"
                    halves.append(self.new(f"shufflevector {kind} {value}, {kind} poison, {picks(start, width)}"))
                value = self._combine(self.program.reductions[name], halves[0], halves[1], f"<{width} x double>")
            scalar = self.new(f"extractelement <1 x double> {value}, i64 0")
            self.line(f"store double {scalar}, ptr {self.address(row[name], component, self.by_component[name])}")


def source(program: Program, *, single: bool = False) -> str:
    """The program as LLVM text."""
    return _Emitter(program, single).text()
