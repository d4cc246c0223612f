"""Text of LLVM for a device of many threads: one thread takes one lane of a case.

A thread walks the groups of samples of its case in the order of the vector code, with one sample of each, so sums and
maxima come in the same order and all results have the same bits. The text has up to three functions, each called once
by every thread:

* `cases`, a thread for each case: operations on case inputs alone; results are kept in memory for the samples;
* `lanes`, a thread for each lane of each case and part of its groups: operations on samples;
* `finish`, a thread for each case: the lanes of reductions joined pairwise.

Each takes `(cases, groups, valid, known, parts, table)`: the sizes of `tasks.kernels.kernel.Call`; the number of parts
in which the groups of a case are walked, one with reductions; and a table of 64-bit numbers: pointers to all arrays in
the order of the program, their strides as in `emitter`, a pointer to the memory of `cases` and one to the lanes of
reductions. On a device a thread knows its number; elsewhere the number is the first argument, so that the same text
runs on a processor.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, NamedTuple

from robots.data_classes import dataclass
from tasks.kernels.emission.writer import INTRINSIC, FloatFormat, FunctionText, literal
from tasks.kernels.expression import CASE, CONSTANT, RESULT, SAMPLE
from tasks.kernels.interpreter import IDENTITY
from tasks.kernels.keys import LANES, Key
from tasks.kernels.program import PER_CASE, Program

CASES, SAMPLES, FINISH = "cases", "lanes", "finish"
"""Names of the functions."""

BLOCK = 128
"""Threads of a block."""

SIZES = "i64 %cases, i64 %groups, i64 %valid, i64 %known, i64 %parts"


class Target(NamedTuple):
    """A kind of machine: the text that begins a function, and how a thread learns its number."""

    preamble: str
    head: str
    thread: tuple[str, ...]
    space: str
    """Address space of pointers."""
    ending: str


PROCESSOR = Target(
    "", f"define void @NAME(i64 %thread, {SIZES}, ptr %table) #0 {{", (), "", "attributes #0 = { nounwind }"
)
"""The processor of this machine: a loop outside calls the function for each thread."""

NVIDIA = Target(
    'target triple = "nvptx64-nvidia-cuda"\n'
    "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\ndeclare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()",
    f"define ptx_kernel void @NAME({SIZES}, ptr byval([WORDS x i64]) align 8 %table) #0 {{",
    (
        "%tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()",
        "%block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()",
        "%tid.wide = zext i32 %tid to i64",
        "%block.wide = zext i32 %block to i64",
        f"%begin = mul i64 %block.wide, {BLOCK}",
        "%thread = add i64 %begin, %tid.wide",
    ),
    " addrspace(1)",
    "attributes #0 = { nounwind }\n!nvvm.annotations = !{ANNOTATIONS}\nBOUNDS",
)
"""Graphics cards of NVIDIA."""


@dataclass(frozen=True)
class ThreadLayout:
    """Arrays of a program for threads: which values are kept for each case, and which are reduced."""

    program: Program
    single: bool = False

    @property
    def lanes(self) -> int:
        """Number of lanes of a case."""
        return 2 * LANES if self.single else LANES

    @property
    def arrays(self) -> tuple[Key, ...]:
        """Keys of all arrays, in the order of the table."""
        return (*self.program.case, *self.program.sample, *self.program.outputs)

    @property
    def words(self) -> int:
        """Number of entries of the table."""
        return 3 * len(self.arrays) + 2

    @property
    def kept(self) -> tuple[int, ...]:
        """Nodes that are computed once for each case and that samples need."""
        return tuple(i for i in self.program.regions.get(PER_CASE, ()) if i in self.program.sample_operands)

    @property
    def reduced(self) -> tuple[tuple[Key, int, int], ...]:
        """Output, component and node of each reduction."""
        outputs = self.program.outputs
        return tuple((name, k, node) for name in outputs if name in self.program.reductions
                     for k, node in enumerate(outputs[name][1]))  # fmt: skip


class _ThreadText(FunctionText):
    """Writer of one of the functions: scalars in place of vectors."""

    vectors: ClassVar[bool] = False

    def __init__(self, layout: ThreadLayout, target: Target) -> None:
        super().__init__(layout.program, layout.single)
        self.layout, self.target, self.pointer = layout, target, f"ptr{target.space}"
        self._number = {key: k for k, key in enumerate(layout.arrays)}
        self._rows: dict[Key, str] = {}

    def begin(self) -> None:
        """Start the function: the thread's number."""
        self.label("entry")
        for text in self.target.thread:
            self.line(text)

    def ends(self, name: str) -> list[str]:
        """Return the text of the function `name`."""
        self.line("ret void")
        head = self.target.head.replace("NAME", name).replace("WORDS", str(self.layout.words))
        return self.function(name, head)

    def guard(self, count: str) -> None:
        """Leave where the thread's number is beyond a count."""
        self.line(f"%beyond = icmp sge i64 %thread, {count}")
        self.line("br i1 %beyond, label %end, label %work")
        self.label("end")
        self.line("ret void")
        self.label("work")

    def entry(self, number: int) -> str:
        """Emit an entry of the table."""
        return self.new(f"load i64, ptr {self.new(f'getelementptr i64, ptr %table, i64 {number}')}")

    def place(self, number: int, index: str) -> str:
        """Emit the address of a double of an array that the table has at a number."""
        base = self.new(f"inttoptr i64 {self.entry(number)} to {self.pointer}")
        return self.new(f"getelementptr double, {self.pointer} {base}, i64 {index}")

    def row(self, key: Key, case: str) -> None:
        """Emit the address of an array's current case."""
        number = self._number[key]
        offset = self.new(f"mul i64 {case}, {self.entry(len(self._number) + 2 * number)}")
        self._rows[key] = self.place(number, offset)

    def component(self, key: Key, component: int) -> str:
        """Emit the address of a component in the current case."""
        if not component:
            return self._rows[key]
        stride = self.entry(len(self._number) + 2 * self._number[key] + 1)
        return self.new(
            f"getelementptr double, {self.pointer} {self._rows[key]}, i64 {self.new(f'mul i64 {stride}, {component}')}"
        )

    def load(self, at: str, scalar: bool = True) -> str:
        """Emit the double at an address, in the precision of samples unless `scalar`."""
        value = self.new(f"load double, {self.pointer} {at}")
        return value if scalar or not self.single else self.new(f"fptrunc double {value} to float")

    def put(self, value: str, at: str) -> None:
        """Store a double at an address."""
        self.line(f"store double {value}, {self.pointer} {at}")

    def double(self, value: str) -> str:
        """Emit a value of a sample in double precision."""
        return self.new(f"fpext float {value} to double") if self.single else value

    def mask_as_double(self, value: str) -> str:
        """Emit a truth value as 1 or 0."""
        return self.new(f"select i1 {value}, double {literal(1.0)}, double {literal(0.0)}")

    def double_as_mask(self, value: str) -> str:
        """Emit the truth value that was stored as 1 or 0."""
        return self.new(f"fcmp one double {value}, {literal(0.0)}")

    def _power_of_two(self, form: FloatFormat, kind: str, whole: str, name: str) -> str:
        """Return the power of two, zero for NaN: a device gives NaN other bits than a processor."""
        power = self.new(super()._power_of_two(form, kind, whole, name))
        return f"select i1 {self.new(f'fcmp uno {kind} {name}, {name}')}, {kind} {literal(0.0)}, {kind} {power}"


def _cases(layout: ThreadLayout, target: Target) -> list[str]:
    """Return the text of the part that depends on the case alone."""
    program, text = layout.program, _ThreadText(layout, target)
    text.begin()
    text.guard("%cases")
    for key in program.case:
        text.row(key, "%thread")
    for i, record in enumerate(program.nodes):
        if record.op == CASE:
            text.names[i] = text.load(text.component(*record.data))
    keeping = {node: k for k, node in enumerate(layout.kept)}
    for node in program.regions.get(PER_CASE, ()):
        text.emit(node, scalar=True)
        if node in keeping:
            value = text.names[node]
            index = text.new(f"add i64 {text.new(f'mul i64 %cases, {keeping[node]}')}, %thread")
            text.put(
                text.mask_as_double(value) if program.is_mask(node) else value, text.place(layout.words - 2, index)
            )
    return text.ends(CASES)


class _LanesText(_ThreadText):
    """Writer of the part that depends on samples. Inputs are loaded at their first use, so that few are held."""

    def __init__(self, layout: ThreadLayout, target: Target) -> None:
        super().__init__(layout, target)
        self._kept = {node: k for k, node in enumerate(layout.kept)}
        self._stores: dict[int, list[tuple[Key, int]]] = {}
        for key, (_, nodes) in self.program.outputs.items():
            if key not in self.program.reductions:
                for k, node in enumerate(nodes):
                    self._stores.setdefault(node, []).append((key, k))

    def text(self) -> list[str]:
        """Return the whole function."""
        program, lanes = self.program, self.layout.lanes
        self.begin()
        self.line(f"%total = mul i64 {self.new(f'mul i64 %cases, {lanes}')}, %parts")
        self.guard("%total")
        self.line(f"%lane = urem i64 %thread, {lanes}")
        self.line(f"%above = udiv i64 %thread, {lanes}")
        self.line("%case = urem i64 %above, %cases")
        self.line("%part = udiv i64 %above, %cases")
        for key in self.layout.arrays:
            if key not in program.reductions:
                self.row(key, "%case")
        self.line(f"%width = mul i64 %groups, {LANES}")
        self.line(f"%step = mul i64 %parts, {lanes}")
        self.line(f"%start = add i64 {self.new(f'mul i64 %part, {lanes}')}, %lane")
        self.line("%filled = icmp ne i64 %known, 0")
        self.line("%none = icmp sge i64 %start, %width")
        self.line("br i1 %none, label %done, label %sample")
        before = self.block
        self.label("sample")
        top = len(self.lines)
        self.region(0)
        for index in range(len(program.loops)):
            self._loop(index)
            self.region(2 * index + 2)
        self._outputs()
        sums = self._accumulated()
        phis = [f"  %at = phi i64 [ %start, %{before} ], [ %at.next, %{self.block} ]"]
        phis += [f"  {old} = phi double [ {start}, %{before} ], [ {new}, %{self.block} ]" for old, start, new in sums]
        self.lines[top:top] = phis
        self.line("%at.next = add i64 %at, %step")
        self.line("%more = icmp slt i64 %at.next, %width")
        last = self.block
        self.line("br i1 %more, label %sample, label %done")
        self.label("done")
        results = [self.new(f"phi double [ {start}, %{before} ], [ {new}, %{last} ]") for _, start, new in sums]
        for k, result in enumerate(results):
            place = self.new(f"add i64 {self.new(f'mul i64 %total, {k}')}, %thread")
            self.put(result, self.place(self.layout.words - 1, place))
        return self.ends(SAMPLES)

    def operand(self, node: int, scalar: bool) -> str:
        """Return the name of a node's value, which is loaded here where it comes from memory."""
        if node not in self.names and self.program.nodes[node].op != CONSTANT:
            self.names[node] = self._loaded(node)
        return super().operand(node, scalar)

    def _loaded(self, node: int) -> str:
        record = self.program.nodes[node]
        if record.op == SAMPLE:
            start = self.component(*record.data)
            return self.load(self.new(f"getelementptr double, {self.pointer} {start}, i64 %at"), scalar=False)
        if record.op == CASE:
            return self.load(self.component(*record.data), scalar=False)
        index = self.new(f"add i64 {self.new(f'mul i64 %cases, {self._kept[node]}')}, %case")
        at = self.place(self.layout.words - 2, index)
        if self.program.is_mask(node):
            return self.double_as_mask(self.load(at))
        return self.load(at, scalar=False)

    def region(self, key: int) -> None:
        """Write the operations of a region, and store its outputs at once."""
        for node in self.program.regions.get(key, ()):
            self.emit(node, scalar=False)
            self.store(node)

    def store(self, node: int) -> None:
        """Store a value where it is an output."""
        for key, component in self._stores.pop(node, ()):
            at = self.new(f"getelementptr double, {self.pointer} {self.component(key, component)}, i64 %at")
            self.put(self.double(self.operand(node, scalar=False)), at)

    def _loop(self, index: int) -> None:
        """Iterate a loop until this sample is done."""
        program, loop = self.program, self.program.loops[index]
        for node in self._from_memory(index):
            self.operand(node, scalar=False)
        entry, name = [self.operand(i, scalar=False) for i in loop.initial], f"loop{index}"
        before = self.block
        if loop.skip is None:
            self.line(f"br label %{name}")
        else:
            self.line(f"br i1 {self.operand(loop.skip, scalar=False)}, label %after{index}, label %{name}")
        self.label(name)
        top = len(self.lines)
        states = [f"%{name}.state{k}" for k in range(len(loop.state))]
        self.names.update(zip(loop.state, states, strict=True))
        self.region(2 * index + 1)
        following = [self.operand(i, scalar=False) for i in loop.following]
        done = self.operand(loop.done, scalar=False)
        phis = [f"  %{name}.round = phi i64 [ 0, %{before} ], [ %{name}.next, %{self.block} ]"]
        for state, first, again in zip(states, entry, following, strict=True):
            phis.append(f"  {state} = phi {self.vector} [ {first}, %{before} ], [ {again}, %{self.block} ]")
        self.lines[top:top] = phis
        self.line(f"%{name}.next = add i64 %{name}.round, 1")
        over = self.new(f"icmp sge i64 %{name}.next, {loop.limit}")
        last = self.block
        self.line(f"br i1 {self.new(f'or i1 {done}, {over}')}, label %after{index}, label %{name}")
        self.label(f"after{index}")
        if loop.skip is not None:
            following = [
                self.new(f"phi {self.vector} [ {first}, %{before} ], [ {end}, %{last} ]")
                for first, end in zip(entry, following, strict=True)
            ]
        for i, record in enumerate(program.nodes):
            if record.op == RESULT and record.data[0] == index:
                self.names[i] = following[record.data[1]]
                self.store(i)

    def _from_memory(self, index: int) -> Iterator[int]:
        """Yield the values that the body of a loop needs from memory: they are loaded before it, once."""
        loop, body = self.program.loops[index], self.program.regions.get(2 * index + 1, ())
        inside = {*loop.state, *body}
        needed = {*loop.before, *loop.following, loop.done}.union(*(self.program.nodes[i].args for i in body)) - inside
        for node in sorted(needed):
            if node not in self.names and self.program.nodes[node].op != CONSTANT:
                yield node

    def _outputs(self) -> None:
        """Store outputs that are inputs, and constants where they are not in their places."""
        constants = {i for i in self._stores if self.program.nodes[i].op == CONSTANT}
        for node in [i for i in self._stores if i not in constants]:
            self.store(node)
        if not constants:
            return
        self.line("br i1 %filled, label %stored, label %fill")
        self.label("fill")
        for key in self.program.outputs:
            for component, value in self.program.constants(key, single=self.single).items():
                at = self.new(f"getelementptr double, {self.pointer} {self.component(key, component)}, i64 %at")
                self.put(literal(value), at)
        self.line("br label %stored")
        self.label("stored")

    def _accumulated(self) -> list[tuple[str, str, str]]:
        """Emit the reductions of a sample: the names of their values before it, at the start and after it."""
        if not self.layout.reduced:
            return []
        counts, result = self.new("icmp slt i64 %at, %valid"), []
        for k, (key, _, node) in enumerate(self.layout.reduced):
            how, old = self.program.reductions[key], f"%sum{k}"
            new = self.combine(how, old, self.double(self.operand(node, scalar=False)), "double")
            kept = self.new(f"select i1 {counts}, double {new}, double {old}")
            result.append((old, literal(IDENTITY[how]), kept))
        return result


def _finish(layout: ThreadLayout, target: Target) -> list[str]:
    """Return the text of the reductions' last steps, lane with lane."""
    program, text = layout.program, _ThreadText(layout, target)
    text.begin()
    text.guard("%cases")
    for key in program.outputs:
        if key in program.reductions:
            text.row(key, "%thread")
    text.line(f"%total = mul i64 %cases, {layout.lanes}")
    text.line(f"%first = mul i64 %thread, {layout.lanes}")
    for k, (key, component, _) in enumerate(layout.reduced):
        start = text.place(layout.words - 1, text.new(f"add i64 {text.new(f'mul i64 %total, {k}')}, %first"))
        lanes = [
            text.load(text.new(f"getelementptr double, {text.pointer} {start}, i64 {lane}"))
            for lane in range(layout.lanes)
        ]
        while len(lanes) > 1:
            half = len(lanes) // 2
            pairs = zip(lanes[:half], lanes[half:], strict=True)
            lanes = [text.combine(program.reductions[key], a, b, "double") for a, b in pairs]
        text.put(lanes[0], text.component(key, component))
    return text.ends(FINISH)


def functions(layout: ThreadLayout) -> tuple[str, ...]:
    """Return the names of the functions that a program has, in the order in which they run."""
    return (*([CASES] if layout.kept else []), SAMPLES, *([FINISH] if layout.reduced else []))


def source(layout: ThreadLayout, target: Target) -> str:
    """Return the text of a program for threads."""
    texts = {
        CASES: lambda: _cases(layout, target),
        SAMPLES: lambda: _LanesText(layout, target).text(),
        FINISH: lambda: _finish(layout, target),
    }
    names = functions(layout)
    written = [line for name in names for line in texts[name]()]
    bounds = [f'!{k} = !{{ptr @{name}, !"maxntidx", i32 {BLOCK}}}' for k, name in enumerate(names)]
    ending = target.ending.replace("ANNOTATIONS", ", ".join(f"!{k}" for k in range(len(names))))
    return "\n".join([target.preamble, *written, *_declarations(), ending.replace("BOUNDS", "\n".join(bounds))])


def _declarations() -> list[str]:
    lines = []
    for suffix, kind in (("f64", "double"), ("f32", "float")):
        lines.append(f"declare {kind} @llvm.fma.{suffix}({kind}, {kind}, {kind})")
        lines += [f"declare {kind} @llvm.{name}.{suffix}({kind})" for name in INTRINSIC.values()]
    return lines
