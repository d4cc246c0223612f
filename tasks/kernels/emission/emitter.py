"""Write a program as text of LLVM: vector code for a group of samples, strict IEEE arithmetic.

No fast-math flag is ever given, so the compiler may neither reorder nor contract, and the result has the same bits on
every processor. What depends on case inputs alone is scalar code before the loop over samples, in double precision;
samples may be in single, sixteen in place of eight in a vector.

The function is `kernel(cases, groups, valid, pointers, strides)`: `groups` of LANES samples, of which `valid` samples
count in reductions; `pointers` and `strides` list case, sample and output arrays in the order of the program, strides
in elements (case stride, component stride) for each. Arrays are of doubles in either precision.
"""

from __future__ import annotations

from tasks.kernels.emission.formats import constant, picks
from tasks.kernels.emission.function_text import FunctionText
from tasks.kernels.emission.slots import PART, Trail, is_long, slots
from tasks.kernels.expression import CASE, CONSTANT, RESULT, SAMPLE, Dual
from tasks.kernels.interpreter import IDENTITY
from tasks.kernels.keys import Key
from tasks.kernels.program import PER_CASE, Program
from tasks.kernels.rows import LANES

MANY = 1000
"""Components of an output beyond which places in it are found one from another: so many addresses would be spilled."""


class _Emitter(FunctionText):
    """Writes the text of one function. Node values are names; `scalar` while in the per-case part."""

    def __init__(self, program: Program, *, single: bool = False):
        super().__init__(single=single)
        self.program = program
        self.names: dict[int, str] = {}
        self.splats: dict[int, str] = {}
        self.inputs: dict[int, str] = {}
        self.long, self.trail = is_long(program), Trail()
        self.slots, self.slot_count = slots(program) if self.long else ({}, 0)

    # --- operations -------------------------------------------------------------------------------------------------

    def operand(self, node: int, scalar: bool) -> str:
        """The name of a node's value as a scalar or as a vector; per-case values are spread over the lanes."""
        data = self.program.nodes[node]
        if data.op == CONSTANT:
            value = data.data.single if self.single and isinstance(data.data, Dual) else data.data
            return constant("double" if scalar else self.vector, value)
        if scalar:
            return self.names[node]
        if node in self.splats:
            return self.splats[node]
        if self.long and not self.program.is_mask(node) and self.trail.touch(node):
            self._read_again(node)
        return self.names[node]

    def _read_again(self, node: int) -> None:
        if node in self.inputs:
            self.names[node] = self._load(self.inputs[node])
        else:  # volatile: else LLVM would keep the value, or move the reading
            self.names[node] = self.new(f"load volatile {self.vector}, ptr {self._slot(node)}")

    def _slot(self, node: int) -> str:
        return self.new(f"getelementptr {self.vector}, ptr %slots, i64 {self.slots[node]}")

    def made(self, node: int) -> None:
        """Keep a value of the samples in its slot, if it has one."""
        self.trail.touch(node)
        if node in self.slots:
            self.line(f"store volatile {self.vector} {self.names[node]}, ptr {self._slot(node)}")

    def emit(self, node: int, scalar: bool) -> None:
        names = [self.operand(arg, scalar) for arg in self.program.nodes[node].args]
        self.names[node] = self.operation(self.program.nodes[node].op, names, scalar)

    def region(self, key: int) -> None:
        for number, node in enumerate(self.program.regions.get(key, ())):
            if self.long and number and number % PART == 0:
                self.next_part()
            self.emit(node, scalar=key == PER_CASE)
            if key != PER_CASE:
                self.made(node)
                self.trail.step()

    # --- arrays -----------------------------------------------------------------------------------------------------

    def address(self, base: str, component: int, stride: str, before: str | None = None) -> str:
        """Where a component is; in long programs from where the one `before` is: LLVM is slow with many products."""
        if self.long and before is not None:
            return self.new(f"getelementptr double, ptr {before}, i64 {stride}")
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
        series = [name for name in program.outputs if name not in program.reductions]
        reduced = [name for name in program.outputs if name in program.reductions]
        arrays = [*program.case, *program.sample, *program.outputs]
        self.label("entry")
        self.load_pointers(arrays)
        if self.long:
            self.line(f"%slots = alloca [{self.slot_count} x {self.vector}], align 64")
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
        self._spread()
        for (name, _), slot in accumulators.items():
            start = constant(self.sums, IDENTITY[program.reductions[name]])
            self.line(f"store {self.sums} {start}, ptr {slot}")
        self.line("%empty = icmp sle i64 %groups, 0")
        before = self.block
        self.line("br i1 %empty, label %cases.done, label %groups.body")
        self.label("groups.body")
        top = len(self.lines)
        self.line(f"%first = mul i64 %group, {self.lanes}")
        self.offsets = self._offsets()
        self._sample_inputs(row)
        self.region(0)
        for index in range(len(program.loops)):
            self._loop(index)
            self.region(2 * index + 2)
        self._store(series, row)
        self._accumulate(accumulators)
        self.lines.insert(top, f"  %group = phi i64 [ 0, %{before} ], [ %group.next, %{self.block} ]")
        self.line("%group.next = add i64 %group, 1")
        self.line("%more = icmp slt i64 %group.next, %rounds")
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
        return self.function()

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
        places: dict[tuple[Key, int], str] = {}
        for i, node in enumerate(self.program.nodes):
            if node.op == SAMPLE:
                name, component = node.data
                before = places.get((name, component - 1))
                address = self.address(row[name], component, self.by_component[name], before)
                places[name, component] = address
                if self.long:
                    self.inputs[i] = address
                else:
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

    def _loop(self, index: int) -> None:
        loop, name = self.program.loops[index], f"loop{index}"
        entry = [self.operand(i, scalar=False) for i in loop.initial]
        skip = "zeroinitializer" if loop.skip is None else self.operand(loop.skip, scalar=False)
        before = self.block
        if loop.skip is None:
            self.line(f"br label %{name}")
        else:
            self.line(f"br i1 {self.everywhere_set(skip)}, label %after{index}, label %{name}")
        self.label(name)
        self.trail.leap()
        start = len(self.lines)
        states = [f"%v{self.count + 1 + k}" for k in range(len(loop.state))]
        self.count += len(states)
        for state, value in zip(loop.state, states, strict=True):
            self.names[state] = value
            self.made(state)
        self.region(2 * index + 1)
        finished = self.new(f"or {self.mask} %{name}.done, {self.operand(loop.done, scalar=False)}")
        following = [self.operand(i, scalar=False) for i in loop.following]
        kept = [
            self.new(f"select {self.mask} %{name}.done, {self.vector} {self.operand(old, False)}, {self.vector} {new}")
            for old, new in zip(loop.state, following, strict=True)
        ]
        last = self.block
        phis = [f"  %{name}.round = phi i64 [ 0, %{before} ], [ %{name}.next, %{last} ]"]
        phis.append(f"  %{name}.done = phi {self.mask} [ {skip}, %{before} ], [ {finished}, %{last} ]")
        for value, first, again in zip(states, entry, kept, strict=True):
            phis.append(f"  {value} = phi {self.vector} [ {first}, %{before} ], [ {again}, %{last} ]")
        self.lines[start:start] = phis
        all_done = self.everywhere_set(finished)
        self.line(f"%{name}.next = add i64 %{name}.round, 1")
        over = self.new(f"icmp sge i64 %{name}.next, {loop.limit}")
        leave = self.new(f"or i1 {all_done}, {over}")
        self.line(f"br i1 {leave}, label %after{index}, label %{name}")
        self.label(f"after{index}")
        self.trail.leap()
        results = [i for i, node in enumerate(self.program.nodes) if node.op == RESULT and node.data[0] == index]
        for i in results:
            first, again = entry[self.program.nodes[i].data[1]], kept[self.program.nodes[i].data[1]]
            around = f"phi {self.vector} [ {first}, %{before} ], [ {again}, %{last} ]"
            self.names[i] = again if loop.skip is None else self.new(around)
        for i in results:
            self.made(i)

    def _store(self, series: list[Key], row: dict[Key, str]) -> None:
        for node in sorted({i for _, nodes in self.program.outputs.values() for i in nodes} & self.inputs.keys()):
            self.operand(node, scalar=False)  # read before anything is written, maybe to the same array
        written = 0
        for name in series:
            nodes = self.program.outputs[name][1]
            address, at = None, [""] * len(self.offsets)
            for component, node in enumerate(nodes):
                if self.long and written and written % PART == 0:
                    self.next_part()
                if len(nodes) > MANY and component:
                    at = [self.new(f"getelementptr double, ptr {place}, i64 {self.by_component[name]}") for place in at]
                else:
                    address = self.address(row[name], component, self.by_component[name], address)
                    at = [self.new(f"getelementptr double, ptr {address}, i64 {offset}") for offset in self.offsets]
                value = self._double(self.operand(node, scalar=False))
                for k, place in enumerate(at):
                    self.line(f"store <{LANES} x double> {self._part(value, k)}, ptr {place}, align 8")
                written += 1

    def _part(self, value: str, k: int) -> str:
        """Group `k` of the samples of a vector of doubles."""
        if not self.single:
            return value
        return self.new(f"shufflevector {self.sums} {value}, {self.sums} poison, {picks(LANES * k, LANES)}")

    def _accumulate(self, accumulators: dict[tuple[Key, int], str]) -> None:
        if not accumulators:
            return
        whole = f"<{self.lanes} x i64>"
        iota = ", ".join(f"i64 {k}" for k in range(self.lanes))
        at = self.new(f"add {whole} {self.everywhere('%first')}, <{iota}>")
        counts = self.new(f"icmp slt {whole} {at}, {self.everywhere('%valid')}")
        for (name, k), slot in accumulators.items():
            old = self.new(f"load {self.sums}, ptr {slot}")
            value = self._double(self.operand(self.program.outputs[name][1][k], scalar=False))
            new = self.combine(self.program.reductions[name], old, value, self.sums)
            kept = self.new(f"select {self.mask} {counts}, {self.sums} {new}, {self.sums} {old}")
            self.line(f"store {self.sums} {kept}, ptr {slot}")

    def _finish(self, accumulators: dict[tuple[Key, int], str], row: dict[Key, str]) -> None:
        for (name, component), slot in accumulators.items():
            value, width = self.new(f"load {self.sums}, ptr {slot}"), self.lanes
            while width > 1:
                width //= 2
                halves = []
                for start in (0, width):
                    kind = f"<{2 * width} x double>"
                    halves.append(self.new(f"shufflevector {kind} {value}, {kind} poison, {picks(start, width)}"))
                value = self.combine(self.program.reductions[name], halves[0], halves[1], f"<{width} x double>")
            scalar = self.new(f"extractelement <1 x double> {value}, i64 0")
            self.line(f"store double {scalar}, ptr {self.address(row[name], component, self.by_component[name])}")


def source(program: Program, *, single: bool = False) -> str:
    """The program as LLVM text."""
    return _Emitter(program, single=single).text()
