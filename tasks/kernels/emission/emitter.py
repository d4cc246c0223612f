"""Text of LLVM for a program: the function that goes through cases and groups of samples.

Operations on case inputs alone are scalar code before the loop over samples, in double precision. Samples may be in
single precision, sixteen in place of eight in a vector, and vectors may be twice as wide, see `FunctionText`.

The function is `kernel(cases, groups, valid, known, program, pointers, strides)`: `groups` of LANES samples, of which
`valid` samples count in reductions; `known`: whether constants are in the outputs already; `program`: for bytecode
alone, see `tasks.kernels.bytecode`; `pointers` and `strides` list case, sample and output arrays in the order of the
program, strides in elements (case stride, component stride) for each. Arrays are of doubles in either precision.

Repeated stretches become functions `void (ptr out, ptr slots, ptr where, ptr numbers)` for one group of samples.
`where` lists the offsets of their inputs from the first slot, `numbers` their constants; each call has its own tables
of both. Results go to neighbouring slots, from `out` on.
"""

from __future__ import annotations

from robots.data_classes import dataclass
from tasks.kernels.emission import writer
from tasks.kernels.emission.slots import Argument, Repeats, Stretch, handed_over, is_long, kernel_slots, loop_slots
from tasks.kernels.emission.writer import (
    ATTRIBUTES,
    FILL,
    PAST_CACHES,
    PAST_CACHES_MARK,
    PLACE,
    FunctionText,
    constant,
    declarations,
    literal,
)
from tasks.kernels.expression import CASE, CONSTANT, RESULT, SAMPLE
from tasks.kernels.interpreter import IDENTITY
from tasks.kernels.keys import LANES, Key
from tasks.kernels.program import PER_CASE, Program


def function(program: Program, stretch: Stretch, number: int, single: bool) -> list[str]:
    """Return the text of a stretch."""
    text = _StretchText(program, stretch, single)
    text.label("entry")
    names: list[str] = []
    places = {operation: k for k, operation in enumerate(stretch.written)}
    for k, (node, arguments) in enumerate(zip(stretch.places[0], stretch.arguments, strict=True)):
        operands = [text.value(arg) if arg.inside is None else names[arg.inside] for arg in arguments]
        names.append(text.operation(program.nodes[node].op, operands, scalar=False))
        if k in places:  # written at once, as the next operation may read this place
            at = text.new(f"getelementptr {text.vector}, ptr %out, i64 {places[k]}")
            text.write(at, names[k], mask=program.is_mask(node))
    text.line("ret void")
    head = f"define private void @stretch{number}(ptr %out, ptr %slots, ptr noalias %where, ptr noalias %numbers) #0 {{"
    return text.function(f"stretch{number}", head)


class _StretchText(FunctionText):
    """Writer of a stretch of code; earlier values are read at their first use."""

    def __init__(self, program: Program, stretch: Stretch, single: bool) -> None:
        super().__init__(program, single)
        self._taken = {nodes: k for k, nodes in enumerate(stretch.taken)}
        self._constants = {nodes: k for k, nodes in enumerate(stretch.constants)}
        self._known: dict[tuple[int, ...], str] = {}

    def value(self, argument: Argument) -> str:
        """Return the name of a value that comes from before."""
        nodes = argument.nodes
        if nodes not in self._known:
            self._known[nodes] = self._read(nodes)
        return self._known[nodes]

    def _read(self, nodes: tuple[int, ...]) -> str:
        if nodes in self._constants:
            element = self.format.element
            at = self.new(f"getelementptr {element}, ptr %numbers, i64 {self._constants[nodes]}")
            return self.spread(self.vector, self.new(f"load {element}, ptr {at}"))
        if nodes in self._taken:
            offset = self.new(f"load i32, ptr {self.new(f'getelementptr i32, ptr %where, i64 {self._taken[nodes]}')}")
            at = self.new(f"getelementptr i8, ptr %slots, i32 {offset}")
            return self.read(at, mask=self.program.is_mask(nodes[0]))
        return self.number(nodes[0], self.vector)


@dataclass
class _Emitter(FunctionText):
    """Writer of the whole text; `sums` are doubles, of as many lanes as reductions have.

    `streams`: outputs, whose rows begin with a whole vector, are written past the caches.
    """

    streams: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        self.counted = 2 * LANES if self.single else LANES
        self.doubles, self.sums = f"<{self.lanes} x double>", f"<{self.counted} x double>"
        self.filled = 0
        self._rare = [k for k, loop in enumerate(self.program.loops) if loop.skip is not None]
        self._long = [k for k in self._rare if is_long(self.program, k)]
        regions = [2 * k + 1 for k in self._long]
        long = is_long(self.program) and not self.wide
        if long:
            regions += [key for key in self.program.regions if key != PER_CASE and key not in self.program.rare]
        self.repeats = Repeats(self.program, regions)
        self.slots = kernel_slots(self.program, self.repeats) if long else None

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
        """Return the pointers to the current case, by name."""
        result = {}
        for name in names:
            offset = self.new(f"mul i64 %case, {self.by_case[name]}")
            result[name] = self.new(f"getelementptr double, ptr {self.base[name]}, i64 {offset}")
        return result

    # --- the function -----------------------------------------------------------------------------------------------

    def text(self) -> str:
        """Return the module of the program."""
        program = self.program
        arrays = [*program.case, *program.sample, *program.outputs]
        accumulators = self._entry(arrays)
        row = self._begin_case(arrays, accumulators)
        self._groups(row, accumulators)
        self._end_case(row, accumulators)
        counts = "i64 %cases, i64 %groups, i64 %valid, i64 %known"
        arguments = f"{counts}, ptr %program, ptr noalias %pointers, ptr noalias %strides"
        kernel = self.function("kernel", f"define void @kernel({arguments}) #0 {{")
        for k in self._rare:
            slots = loop_slots(program, k, self.repeats) if k in self._long else None
            kernel += writer.function(program, k, self.single, slots)
        for number, stretch in enumerate(self.repeats.stretches):
            kernel += function(program, stretch, number, self.single)
        fill = [FILL] if self.filled else []
        marks = [PAST_CACHES_MARK] if self.streams else []
        return "\n".join([*kernel, *fill, *declarations(), ATTRIBUTES, *marks])

    def _entry(self, arrays: list[Key]) -> dict[tuple[Key, int], str]:
        """Write the code before all cases; return the memory of sums of reduced outputs, by name and row."""
        program = self.program
        reduced = [name for name in program.outputs if name in program.reductions]
        self.label("entry")
        self.load_pointers(arrays)
        accumulators = {
            (name, k): self.new(f"alloca {self.sums}, align 64")
            for name in reduced
            for k in range(len(program.outputs[name][1]))
        }
        self.places()
        ratio = self.lanes // LANES
        self.line(f"%rounds = udiv i64 {self.new(f'add i64 %groups, {ratio - 1}')}, {ratio}")
        self.line(f"%last = sub i64 {self.new(f'mul i64 %groups, {LANES}')}, {LANES}")
        self.line("%filled = icmp ne i64 %known, 0")
        self.line("%none = icmp sle i64 %cases, 0")
        self.line("br i1 %none, label %end, label %cases.body")
        return accumulators

    def _begin_case(self, arrays: list[Key], accumulators: dict[tuple[Key, int], str]) -> dict[Key, str]:
        """Write the begin of a case, with operations on case inputs alone; return its rows of the arrays."""
        self.label("cases.body")
        self.line("%case = phi i64 [ 0, %entry ], [ %case.next, %cases.next ]")
        row = self.rows(arrays)
        self._case_inputs(row)
        self.region(PER_CASE)
        self._pending = self._series(row)
        self._spread()
        for (name, _), slot in accumulators.items():
            start = constant(self.sums, IDENTITY[self.program.reductions[name]])
            self.line(f"store {self.sums} {start}, ptr {slot}")
        self.line("%empty = icmp sle i64 %groups, 0")
        return row

    def _groups(self, row: dict[Key, str], accumulators: dict[tuple[Key, int], str]) -> None:
        """Write the loop over groups of lanes."""
        before = self.block
        self.line("br i1 %empty, label %cases.done, label %groups.body")
        self.label("groups.body")
        top = len(self.lines)
        self.line(f"%first = mul i64 %group, {self.lanes}")
        self.offsets = self._offsets()
        self._sample_inputs(row)
        self.region(0)
        for index in range(len(self.program.loops)):
            self._loop(index)
            self.region(2 * index + 2)
        for node in list(self._pending):
            self.store(node)
        self._accumulate(accumulators)
        self.lines.insert(top, f"  %group = phi i64 [ 0, %{before} ], [ %group.next, %{self.block} ]")
        self.line("%group.next = add i64 %group, 1")
        self.line("%more = icmp slt i64 %group.next, %rounds")
        self.line("br i1 %more, label %groups.body, label %cases.done")

    def _end_case(self, row: dict[Key, str], accumulators: dict[tuple[Key, int], str]) -> None:
        """Write the end of a case, and the end of the function."""
        self.label("cases.done")
        self._finish(accumulators, row)
        self.line("br i1 %filled, label %cases.next, label %fill")
        self.label("fill")
        self._fill(row)
        self.line("br label %cases.next")
        self.label("cases.next")
        self.line("%case.next = add i64 %case, 1")
        self.line("%again = icmp slt i64 %case.next, %cases")
        self.line("br i1 %again, label %cases.body, label %end")
        self.label("end")
        if self.streams:
            self.line("fence seq_cst")  # stores past caches may come after what tells other threads of them
        self.line("ret void")

    def places(self) -> None:
        """Reserve memory for slots, and for arguments and results of loops that are functions."""
        super().places()
        taken = max((len(handed_over(self.program, k)) for k in self._rare), default=0)
        most_states = max((len(self.program.loops[k].state) for k in self._rare), default=0)
        for name, count in (("values", taken), ("results", most_states)):
            if count:
                self.line(f"%{name} = alloca [{count * PLACE} x i8], align {PLACE}")

    def _offsets(self) -> list[str]:
        """Emit the offsets of the vector's groups of LANES samples. A missing group repeats the last one."""
        offsets = ["%first"]
        for part in range(1, self.lanes // LANES):
            after = self.new(f"add i64 %first, {LANES * part}")
            over = self.new(f"icmp sgt i64 {after}, %last")
            offsets.append(self.new(f"select i1 {over}, i64 %last, i64 {after}"))
        return offsets

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
        for i in sorted(per_case & program.sample_operands):
            kind, vector = ("i1", self.mask) if program.is_mask(i) else (self.format.element, self.vector)
            name = self.names[i]
            if self.single and kind != "i1":
                name = self.new(f"fptrunc double {name} to float")
            self.splats[i] = self.spread(vector, name)
            if self.slots is not None and i in self.slots:
                self.write(self.slot(self.slots[i]), self.splats[i], mask=kind == "i1")

    def _sample_inputs(self, row: dict[Key, str]) -> None:
        places: dict[tuple[Key, int], str] = {}
        for i, node in enumerate(self.program.nodes):
            if node.op == SAMPLE:
                name, component = node.data
                before = places.get((name, component - 1))
                if self.slots is not None and before is not None:  # LLVM is slow with many products
                    address = self.new(f"getelementptr double, ptr {before}, i64 {self.by_component[name]}")
                else:
                    address = self.address(row[name], component, self.by_component[name])
                places[name, component] = address
                self.names[i] = self._load(address)
                self.made((i,))

    def _load(self, address: str) -> str:
        """Return a vector of samples from a row of doubles."""
        kind, parts = f"<{LANES} x double>", []
        for offset in self.offsets:
            at = self.new(f"getelementptr double, ptr {address}, i64 {offset}")
            parts.append(self.new(f"load {kind}, ptr {at}, align 8"))
        joined = self.joined("double", parts, LANES)
        return self.new(f"fptrunc {self.doubles} {joined} to {self.vector}") if self.single else joined

    def _double(self, value: str) -> str:
        """Return a vector in double precision."""
        return self.new(f"fpext {self.vector} {value} to {self.doubles}") if self.single else value

    def _loop(self, index: int) -> None:
        loop = self.program.loops[index]
        if loop.skip is not None:
            kept = writer.call(self, index, "%values", "%results")
        else:
            kept = self.rounds(index, [self.operand(i, scalar=False) for i in loop.initial], "zeroinitializer")
        for i, node in enumerate(self.program.nodes):
            if node.op == RESULT and node.data[0] == index:
                self.names[i] = kept[node.data[1]]
                self.store(i)
                self.made((i,))

    def _series(self, row: dict[Key, str]) -> dict[int, list[tuple[str, int, str]]]:
        """Return the places of sample values, by node: row pointer, component and stride of each output with it.

        Constants are left to `_fill`.
        """
        places: dict[int, list[tuple[str, int, str]]] = {}
        for name, (_, nodes) in self.program.outputs.items():
            if name not in self.program.reductions:
                for component, node in enumerate(nodes):
                    if self.program.nodes[node].op != CONSTANT:
                        places.setdefault(node, []).append((row[name], component, self.by_component[name]))
        return places

    def store(self, node: int) -> None:
        """Write a value where it is an output: at once, so that no register holds it until the end."""
        for place in self._pending.pop(node, ()):
            address = self.address(*place)
            value = self._double(self.operand(node, scalar=False))
            for k, offset in enumerate(self.offsets):
                at = self.new(f"getelementptr double, ptr {address}, i64 {offset}")
                part = self.pick(self.doubles, value, k, LANES) if self.lanes > LANES else value
                self.line(f"store <{LANES} x double> {part}, ptr {at}, {PAST_CACHES if self.streams else 'align 8'}")

    def _fill(self, row: dict[Key, str]) -> None:
        """Write outputs that are constants, row by row, when the case has no more to read: arrays may be inputs too."""
        for name in self.program.outputs:
            constants = self.program.constants(name, single=self.single)
            if not constants:
                continue
            places, values = f"@places{self.filled}", f"@values{self.filled}"
            for table, kind, words in (
                (places, "i64", map(str, constants)),
                (values, "double", map(literal, constants.values())),
            ):
                listed = ", ".join(f"{kind} {word}" for word in words)
                self.tables.append(f"{table} = private constant [{len(constants)} x {kind}] [ {listed} ]")
            self.filled += 1
            where = f"ptr {row[name]}, i64 {self.by_component[name]}"
            self.line(f"call void @fill({where}, ptr {places}, ptr {values}, i64 {len(constants)}, i64 %groups)")

    def _accumulate(self, accumulators: dict[tuple[Key, int], str]) -> None:
        if not accumulators:
            return
        whole, mask = f"<{self.counted} x i64>", f"<{self.counted} x i1>"
        first, valid = self._everywhere("%first"), self._everywhere("%valid")
        for part in range(self.lanes // self.counted):
            iota = ", ".join(f"i64 {k}" for k in range(self.counted * part, self.counted * (part + 1)))
            at = self.new(f"add {whole} {first}, <{iota}>")
            counts = self.new(f"icmp slt {whole} {at}, {valid}")
            for (name, k), slot in accumulators.items():
                old = self.new(f"load {self.sums}, ptr {slot}")
                value = self._double(self.operand(self.program.outputs[name][1][k], scalar=False))
                if self.counted < self.lanes:
                    value = self.pick(self.doubles, value, part, self.counted)
                new = self.combine(self.program.reductions[name], old, value, self.sums)
                kept = self.new(f"select {mask} {counts}, {self.sums} {new}, {self.sums} {old}")
                self.line(f"store {self.sums} {kept}, ptr {slot}")

    def _everywhere(self, number: str) -> str:
        """Return a whole number in all lanes that count."""
        kind = f"<{self.counted} x i64>"
        one = self.new(f"insertelement {kind} poison, i64 {number}, i64 0")
        return self.new(f"shufflevector {kind} {one}, {kind} poison, <{self.counted} x i32> zeroinitializer")

    def _finish(self, accumulators: dict[tuple[Key, int], str], row: dict[Key, str]) -> None:
        for (name, component), slot in accumulators.items():
            value, width = self.new(f"load {self.sums}, ptr {slot}"), self.counted
            while width > 1:
                width //= 2
                kind = f"<{2 * width} x double>"
                halves = [self.pick(kind, value, part, width) for part in range(2)]
                value = self.combine(self.program.reductions[name], halves[0], halves[1], f"<{width} x double>")
            scalar = self.new(f"extractelement <1 x double> {value}, i64 0")
            self.line(f"store double {scalar}, ptr {self.address(row[name], component, self.by_component[name])}")


def source(program: Program, *, single: bool = False, wide: bool = False, streams: bool = False) -> str:
    """Return the program as LLVM text; `wide`: two groups of samples at a time; `streams`: outputs pass the caches."""
    return _Emitter(program, single, wide, streams).text()
