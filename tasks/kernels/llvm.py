"""Compile a program to machine code: eight samples per instruction stream, strict IEEE arithmetic.

The only module that touches LLVM. No fast-math flag is ever given, so the compiler may neither reorder nor contract,
and the result has the same bits on every processor. What depends on case inputs alone is scalar code before the loop
over samples.

Machine code has the C signature `kernel(cases, groups, valid, pointers, strides)`: `groups` of LANES samples, of which
`valid` samples count in reductions; `pointers` and `strides` list case, sample and output arrays in the order of the
program, strides in elements (case stride, component stride) for each.
"""

from __future__ import annotations

import ctypes
import struct
from dataclasses import dataclass
from typing import Any

import llvmlite.binding as llvm

from tasks.kernels.expression import CASE, CONSTANT, RESULT, SAMPLE
from tasks.kernels.interpreter import BIASED, IDENTITY
from tasks.kernels.program import PER_CASE, Program

LANES = 8

_VECTOR = f"<{LANES} x double>"
_MASK = f"<{LANES} x i1>"
_WHOLE = f"<{LANES} x i64>"
_BINARY = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_COMPARE = {"lt": "olt", "le": "ole", "eq": "oeq"}
_INTRINSIC = {"sqrt": "sqrt", "abs": "fabs", "rint": "roundeven", "floor": "floor"}
_FUSED = {"fma": (False, False), "fms": (False, True), "fnma": (True, False)}
_SIGNATURE = ctypes.CFUNCTYPE(
    None,
    ctypes.c_int64,
    ctypes.c_int64,
    ctypes.c_int64,
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.POINTER(ctypes.c_int64),
)


def literal(value: float) -> str:
    """A double as LLVM writes it without loss."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def _constant(kind: str, value: float) -> str:
    """A constant of a scalar kind, or in all lanes of a vector kind."""
    text = literal(value) if "double" in kind else str(value)
    return f"splat ({kind.split()[-1].rstrip('>')} {text})" if kind.startswith("<") else text


@dataclass
class _Emitter:
    """Writes the text of one function. Node values are names; `scalar` while in the per-case part."""

    program: Program

    def __post_init__(self) -> None:
        self.lines: list[str] = []
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
            return literal(data.data) if scalar else f"splat (double {literal(data.data)})"
        if scalar or node not in self.splats:
            return self.names[node]
        return self.splats[node]

    def emit(self, node: int, scalar: bool) -> None:
        op, args = self.program.nodes[node].op, self.program.nodes[node].args
        kind, mask = ("double", "i1") if scalar else (_VECTOR, _MASK)
        names = [self.operand(arg, scalar) for arg in args]
        suffix = "f64" if scalar else f"v{LANES}f64"
        if op in _BINARY:
            text = f"{_BINARY[op]} {kind} {names[0]}, {names[1]}"
        elif op in _COMPARE:
            text = f"fcmp {_COMPARE[op]} {kind} {names[0]}, {names[1]}"
        elif op in _INTRINSIC:
            text = f"call {kind} @llvm.{_INTRINSIC[op]}.{suffix}({kind} {names[0]})"
        elif op in _FUSED:
            minus_product, minus_sum = _FUSED[op]
            a = self.new(f"fneg {kind} {names[0]}") if minus_product else names[0]
            c = self.new(f"fneg {kind} {names[2]}") if minus_sum else names[2]
            text = f"call {kind} @llvm.fma.{suffix}({kind} {a}, {kind} {names[1]}, {kind} {c})"
        elif op == "power_of_two":
            text = self._power_of_two(kind, names[0])
        elif op == "exponent":
            text = self._exponent(kind, names[0])
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

    def _power_of_two(self, kind: str, name: str) -> str:
        whole = _WHOLE if kind == _VECTOR else "i64"
        bits = self.new(f"bitcast {kind} {self.new(f'fadd {kind} {name}, {_constant(kind, BIASED)}')} to {whole}")
        return f"bitcast {whole} {self.new(f'shl {whole} {bits}, {_constant(whole, 52)}')} to {kind}"

    def _exponent(self, kind: str, name: str) -> str:
        whole = _WHOLE if kind == _VECTOR else "i64"
        bits = self.new(f"bitcast {kind} {name} to {whole}")
        shifted = self.new(f"lshr {whole} {bits}, {_constant(whole, 52)}")
        biased = self.new(f"and {whole} {shifted}, {_constant(whole, 0x7FF)}")
        # 2^52 + n has n in its lowest bits: quicker than a conversion, which few vector units have
        placed = self.new(f"or {whole} {biased}, {_constant(whole, 0x4330000000000000)}")
        return f"fsub {kind} {self.new(f'bitcast {whole} {placed} to {kind}')}, {_constant(kind, BIASED)}"

    def region(self, key: int) -> None:
        for node in self.program.regions.get(key, ()):
            self.emit(node, scalar=key == PER_CASE)

    # --- arrays -----------------------------------------------------------------------------------------------------

    def address(self, base: str, component: int, stride: str) -> str:
        offset = self.new(f"mul i64 {stride}, {component}")
        return self.new(f"getelementptr double, ptr {base}, i64 {offset}")

    def load_pointers(self, names: list[str]) -> None:
        """Read base pointers and strides of all arrays."""
        self.base: dict[str, str] = {}
        self.by_case: dict[str, str] = {}
        self.by_component: dict[str, str] = {}
        for i, name in enumerate(names):
            self.base[name] = self.new(f"load ptr, ptr {self.new(f'getelementptr ptr, ptr %pointers, i64 {i}')}")
            for table, k in ((self.by_case, 2 * i), (self.by_component, 2 * i + 1)):
                table[name] = self.new(f"load i64, ptr {self.new(f'getelementptr i64, ptr %strides, i64 {k}')}")

    def rows(self, names: list[str]) -> dict[str, str]:
        """Pointers to the current case."""
        result = {}
        for name in names:
            offset = self.new(f"mul i64 %case, {self.by_case[name]}")
            result[name] = self.new(f"getelementptr double, ptr {self.base[name]}, i64 {offset}")
        return result

    # --- the function -----------------------------------------------------------------------------------------------

    def text(self) -> str:
        program = self.program
        series = [name for name in program.outputs if name not in program.reductions]
        reduced = [name for name in program.outputs if name in program.reductions]
        arrays = [*program.case, *program.sample, *program.outputs]
        self.label("entry")
        self.load_pointers(arrays)
        accumulators = {
            (name, k): self.new(f"alloca {_VECTOR}, align 64")
            for name in reduced
            for k in range(len(program.outputs[name][1]))
        }
        self.line("%none = icmp sle i64 %cases, 0")
        self.line("br i1 %none, label %end, label %cases.body")
        self.label("cases.body")
        self.line("%case = phi i64 [ 0, %entry ], [ %case.next, %cases.next ]")
        row = self.rows(arrays)
        self._case_inputs(row)
        self.region(PER_CASE)
        self._spread()
        for (name, _), slot in accumulators.items():
            self.line(f"store {_VECTOR} splat (double {literal(IDENTITY[program.reductions[name]])}), ptr {slot}")
        self.line("%empty = icmp sle i64 %groups, 0")
        self.line("br i1 %empty, label %cases.done, label %groups.body")
        self.label("groups.body")
        last = f"after{len(program.loops) - 1}" if program.loops else "groups.body"
        self.line(f"%group = phi i64 [ 0, %cases.body ], [ %group.next, %{last} ]")
        self.line(f"%first = mul i64 %group, {LANES}")
        self._sample_inputs(row)
        self.region(0)
        for index in range(len(program.loops)):
            self._loop(index, "groups.body" if index == 0 else f"after{index - 1}")
            self.region(2 * index + 2)
        self._store(series, row)
        self._accumulate(accumulators)
        self.line("%group.next = add i64 %group, 1")
        self.line("%more = icmp slt i64 %group.next, %groups")
        self.line("br i1 %more, label %groups.body, label %cases.done")
        self.label("cases.done")
        self._finish(accumulators, row)
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
        return "\n".join([head, *self.lines, "}", *_declarations(), attributes])

    def _case_inputs(self, row: dict[str, str]) -> None:
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
        wanted |= {i for loop in program.loops for i in (*loop.initial, *loop.following, loop.done)}
        wanted |= {i for _, nodes in program.outputs.values() for i in nodes}
        for i in sorted(per_case & wanted):
            kind, vector = ("i1", _MASK) if program.is_mask(i) else ("double", _VECTOR)
            one = self.new(f"insertelement {vector} poison, {kind} {self.names[i]}, i64 0")
            self.splats[i] = self.new(f"shufflevector {vector} {one}, {vector} poison, <{LANES} x i32> zeroinitializer")

    def _sample_inputs(self, row: dict[str, str]) -> None:
        for i, node in enumerate(self.program.nodes):
            if node.op == SAMPLE:
                name, component = node.data
                address = self.address(row[name], component, self.by_component[name])
                at = self.new(f"getelementptr double, ptr {address}, i64 %first")
                self.names[i] = self.new(f"load {_VECTOR}, ptr {at}, align 8")

    def _loop(self, index: int, before: str) -> None:
        loop, name = self.program.loops[index], f"loop{index}"
        entry = [self.operand(i, scalar=False) for i in loop.initial]
        self.line(f"br label %{name}")
        self.label(name)
        start = len(self.lines)
        for state in loop.state:
            self.count += 1
            self.names[state] = f"%v{self.count}"
        self.region(2 * index + 1)
        finished = self.new(f"or {_MASK} %{name}.done, {self.operand(loop.done, scalar=False)}")
        kept = [
            self.new(
                f"select {_MASK} %{name}.done, {_VECTOR} {self.names[old]}, {_VECTOR} {self.operand(new, scalar=False)}"
            )
            for old, new in zip(loop.state, loop.following, strict=True)
        ]
        phis = [f"  %{name}.round = phi i64 [ 0, %{before} ], [ %{name}.next, %{name} ]"]
        phis.append(f"  %{name}.done = phi {_MASK} [ zeroinitializer, %{before} ], [ {finished}, %{name} ]")
        for state, first, again in zip(loop.state, entry, kept, strict=True):
            phis.append(f"  {self.names[state]} = phi {_VECTOR} [ {first}, %{before} ], [ {again}, %{name} ]")
        self.lines[start:start] = phis
        bits = self.new(f"bitcast {_MASK} {finished} to i{LANES}")
        all_done = self.new(f"icmp eq i{LANES} {bits}, -1")
        self.line(f"%{name}.next = add i64 %{name}.round, 1")
        over = self.new(f"icmp sge i64 %{name}.next, {loop.limit}")
        leave = self.new(f"or i1 {all_done}, {over}")
        self.line(f"br i1 {leave}, label %after{index}, label %{name}")
        self.label(f"after{index}")
        for i, node in enumerate(self.program.nodes):
            if node.op == RESULT and node.data[0] == index:
                self.names[i] = kept[node.data[1]]

    def _store(self, series: list[str], row: dict[str, str]) -> None:
        for name in series:
            for component, node in enumerate(self.program.outputs[name][1]):
                address = self.address(row[name], component, self.by_component[name])
                at = self.new(f"getelementptr double, ptr {address}, i64 %first")
                self.line(f"store {_VECTOR} {self.operand(node, scalar=False)}, ptr {at}, align 8")

    def _combine(self, how: str, old: str, value: str, kind: str) -> str:
        if how == "sum":
            return self.new(f"fadd {kind} {old}, {value}")
        mask = kind.replace("double", "i1")
        better = self.new(f"fcmp {'ogt' if how == 'max' else 'olt'} {kind} {value}, {old}")
        nan = self.new(f"fcmp uno {kind} {value}, {value}")
        take = self.new(f"or {mask} {better}, {nan}")
        return self.new(f"select {mask} {take}, {kind} {value}, {kind} {old}")

    def _accumulate(self, accumulators: dict[tuple[str, int], str]) -> None:
        if not accumulators:
            return
        iota = ", ".join(f"i64 {k}" for k in range(LANES))
        one = self.new(f"insertelement <{LANES} x i64> poison, i64 %first, i64 0")
        base = self.new(f"shufflevector <{LANES} x i64> {one}, <{LANES} x i64> poison, <{LANES} x i32> zeroinitializer")
        at = self.new(f"add <{LANES} x i64> {base}, <{iota}>")
        last = self.new(f"insertelement <{LANES} x i64> poison, i64 %valid, i64 0")
        end = self.new(f"shufflevector <{LANES} x i64> {last}, <{LANES} x i64> poison, <{LANES} x i32> zeroinitializer")
        counts = self.new(f"icmp slt <{LANES} x i64> {at}, {end}")
        for (name, k), slot in accumulators.items():
            old = self.new(f"load {_VECTOR}, ptr {slot}")
            value = self.operand(self.program.outputs[name][1][k], scalar=False)
            new = self._combine(self.program.reductions[name], old, value, _VECTOR)
            kept = self.new(f"select {_MASK} {counts}, {_VECTOR} {new}, {_VECTOR} {old}")
            self.line(f"store {_VECTOR} {kept}, ptr {slot}")

    def _finish(self, accumulators: dict[tuple[str, int], str], row: dict[str, str]) -> None:
        for (name, component), slot in accumulators.items():
            value, width = self.new(f"load {_VECTOR}, ptr {slot}"), LANES
            while width > 1:
                width //= 2
                halves = []
                for start in (0, width):
                    picks = ", ".join(f"i32 {start + k}" for k in range(width))
                    kind = f"<{2 * width} x double>"
                    halves.append(self.new(f"shufflevector {kind} {value}, {kind} poison, <{width} x i32> <{picks}>"))
                value = self._combine(self.program.reductions[name], halves[0], halves[1], f"<{width} x double>")
            scalar = self.new(f"extractelement <1 x double> {value}, i64 0")
            self.line(f"store double {scalar}, ptr {self.address(row[name], component, self.by_component[name])}")


def _declarations() -> list[str]:
    lines = []
    for suffix, kind in (("f64", "double"), (f"v{LANES}f64", _VECTOR)):
        lines.append(f"declare {kind} @llvm.fma.{suffix}({kind}, {kind}, {kind})")
        lines += [f"declare {kind} @llvm.{name}.{suffix}({kind})" for name in _INTRINSIC.values()]
    return lines


def source(program: Program) -> str:
    """The program as LLVM text."""
    return _Emitter(program).text()


@dataclass(frozen=True)
class Machine:
    """Loaded machine code; `call` releases the GIL. Keeps the engine alive."""

    call: Any
    engine: Any


def compile_program(program: Program) -> Machine:
    """Machine code of a program for this processor."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = llvm.parse_assembly(source(program))
    target = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=2
    )
    engine = llvm.create_mcjit_compiler(module, target)
    engine.finalize_object()
    return Machine(_SIGNATURE(engine.get_function_address("kernel")), engine)
