"""Programs as bytecode, run by an interpreter in machine code until a program has code of its own.

The interpreter computes an operation for a whole group of lanes by the instructions of compiled kernels, so the bits
are the same. It is compiled once for a processor. A program then needs no compiler, only its bytecode, which is written
in one or two microseconds an operation.

Values lie in slots of LANES doubles: constants first, then the other nodes, then temporary values. An instruction is
five whole numbers: operation, slot of the result, and three operands. A program has three pieces of code: one for each
case, one for each group of lanes, and one for the end of a case, which finishes the reductions.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from robots.data_classes import dataclass
from tasks.kernels.emission.writer import ATTRIBUTES, FunctionText, declarations
from tasks.kernels.expression import CASE, CONSTANT, LEAVES, MASKS, RESULT, SAMPLE
from tasks.kernels.interpreter import IDENTITY
from tasks.kernels.keys import LANES, Key
from tasks.kernels.program import PER_CASE, Node, Program

ARITHMETIC = {
    **dict.fromkeys(("neg", "abs", "sqrt", "rint", "floor", "power_of_two", "exponent", "not"), 1),
    **dict.fromkeys(("add", "sub", "mul", "div", "lt", "le", "eq", "and", "or"), 2),
    **dict.fromkeys(("select", "fma", "fms", "fnma"), 3),
}
"""Operations of programs, and the number of their operands."""
LOGICAL = frozenset(("and", "or", "not"))
"""Operations on masks."""
MOVES = ("end", "copy", "load_case", "load_sample", "store", "loop", "again")
"""Further instructions: ends of pieces of code, moves between slots and arrays, begins and ends of loops."""
CODES = {name: k for k, name in enumerate((*MOVES, *ARITHMETIC, *IDENTITY, *(f"finish_{how}" for how in IDENTITY)))}
"""Numbers of all instructions. `max`, `min` and `sum` take a value into a reduction, `finish_` join its lanes."""
_CODE_OF = {**CODES, **dict.fromkeys(LEAVES, -1)}
WORDS = 5
"""Whole numbers of an instruction."""

_NOTHING = Program("nothing", {}, {}, {}, {}, (), {})

KERNEL = """
declare ptr @malloc(i64)
declare void @free(ptr)

define void @kernel(i64 %cases, i64 %groups, i64 %valid, i64 %known, ptr %program, ptr %pointers, ptr %strides) #0 {
entry:
  %header = load [6 x i64], ptr %program
  %slots.count = extractvalue [6 x i64] %header, 0
  %constants = extractvalue [6 x i64] %header, 1
  %values.at = extractvalue [6 x i64] %header, 2
  %values = inttoptr i64 %values.at to ptr
  %each_case.at = extractvalue [6 x i64] %header, 3
  %each_case = inttoptr i64 %each_case.at to ptr
  %each_group.at = extractvalue [6 x i64] %header, 4
  %each_group = inttoptr i64 %each_group.at to ptr
  %last.at = extractvalue [6 x i64] %header, 5
  %last = inttoptr i64 %last.at to ptr
  %bytes = mul i64 %slots.count, 64
  %room = add i64 %bytes, 64
  %memory = call ptr @malloc(i64 %room)
  %memory.at = ptrtoint ptr %memory to i64
  %above = add i64 %memory.at, 63
  %aligned = and i64 %above, -64
  %slots = inttoptr i64 %aligned to ptr
  br label %fill
fill:
  %k = phi i64 [ 0, %entry ], [ %k.next, %fill.body ]
  %k.more = icmp slt i64 %k, %constants
  br i1 %k.more, label %fill.body, label %case
fill.body:
  %value.at = getelementptr double, ptr %values, i64 %k
  %value = load double, ptr %value.at
  %one = insertelement <8 x double> poison, double %value, i64 0
  %all = shufflevector <8 x double> %one, <8 x double> poison, <8 x i32> zeroinitializer
  %slot = getelementptr <8 x double>, ptr %slots, i64 %k
  store <8 x double> %all, ptr %slot, align 64
  %k.next = add i64 %k, 1
  br label %fill
case:
  %c = phi i64 [ 0, %fill ], [ %c.next, %case.end ]
  %c.more = icmp slt i64 %c, %cases
  br i1 %c.more, label %case.begin, label %done
case.begin:
  call void @run(ptr %each_case, ptr %slots, ptr %pointers, ptr %strides, i64 %c, i64 0, i64 %valid)
  br label %group
group:
  %g = phi i64 [ 0, %case.begin ], [ %g.next, %group.body ]
  %g.more = icmp slt i64 %g, %groups
  br i1 %g.more, label %group.body, label %case.end
group.body:
  %first = mul i64 %g, 8
  call void @run(ptr %each_group, ptr %slots, ptr %pointers, ptr %strides, i64 %c, i64 %first, i64 %valid)
  %g.next = add i64 %g, 1
  br label %group
case.end:
  call void @run(ptr %last, ptr %slots, ptr %pointers, ptr %strides, i64 %c, i64 0, i64 %valid)
  %c.next = add i64 %c, 1
  br label %case
done:
  call void @free(ptr %memory)
  ret void
}
"""
"""The function that is called as compiled kernels are, see `tasks.kernels.emission.emitter`."""


class _InterpreterText(FunctionText):
    """Writer of the function that runs a piece of code: a block of text for each instruction."""

    def __init__(self) -> None:
        super().__init__(_NOTHING)
        self._ways: list[tuple[str, str]] = [("%code", "entry")]

    def text(self) -> list[str]:
        """Return the whole function."""
        self.label("entry")
        self.line("br label %next")
        self.label("next")
        start = len(self.lines)
        self.line(f"%words = load [{WORDS} x i32], ptr %at, align 4")
        for k, name in enumerate(("op", "r", "a", "b", "c")):
            self.line(f"%{name} = extractvalue [{WORDS} x i32] %words, {k}")
        for name in "rabc":
            self.line(f"%{name}.slot = getelementptr {self.vector}, ptr %slots, i32 %{name}")
        self.line(f"%after = getelementptr [{WORDS} x i32], ptr %at, i64 1")
        listed = " ".join(f"i32 {code}, label %do.{name}" for name, code in CODES.items())
        self.line(f"switch i32 %op, label %broken [ {listed} ]")
        self.label("broken")
        self.line("unreachable")
        for name in CODES:
            self.label(f"do.{name}")
            self._instruction(name)
        ways = ", ".join(f"[ {value}, %{block} ]" for value, block in self._ways)
        self.lines.insert(start, f"  %at = phi ptr {ways}")
        arguments = "ptr %code, ptr %slots, ptr %pointers, ptr %strides, i64 %case, i64 %first, i64 %valid"
        return self.function("run", f"define private void @run({arguments}) #1 {{")

    def _go_on(self, at: str = "%after") -> None:
        self._ways.append((at, self.block))
        self.line("br label %next")

    def _instruction(self, name: str) -> None:
        if name in ARITHMETIC:
            masks = [name in LOGICAL or (name == "select" and k == 0) for k in range(ARITHMETIC[name])]
            operands = [self.read(f"%{slot}.slot", mask=mask) for slot, mask in zip("abc", masks, strict=False)]
            self.write("%r.slot", self.operation(name, operands, scalar=False), mask=name in MASKS)
        elif name in IDENTITY:
            self._reduce(name)
        elif name.startswith("finish_"):
            self._finish(name.removeprefix("finish_"))
        elif name != "end":
            getattr(self, f"_{name}")()
            if name in ("loop", "again"):
                return
        if name == "end":
            self.line("ret void")
        else:
            self._go_on()

    def _copy(self) -> None:
        self.write("%r.slot", self.read("%a.slot", mask=False), mask=False)

    def _address(self, array: str, component: str) -> str:
        """Emit the address of a component of an array in the case."""
        base = self.new(f"load ptr, ptr {self.new(f'getelementptr ptr, ptr %pointers, i32 {array}')}")
        pair = self.new(f"getelementptr [2 x i64], ptr %strides, i32 {array}")
        steps = self.new(f"load [2 x i64], ptr {pair}")
        by_case, by_component = (self.new(f"extractvalue [2 x i64] {steps}, {k}") for k in range(2))
        whole = self.new(f"sext i32 {component} to i64")
        offset = self.new(
            f"add i64 {self.new(f'mul i64 %case, {by_case}')}, {self.new(f'mul i64 {whole}, {by_component}')}"
        )
        return self.new(f"getelementptr double, ptr {base}, i64 {offset}")

    def _load_case(self) -> None:
        value = self.new(f"load double, ptr {self._address('%a', '%b')}")
        self.write("%r.slot", self.spread(self.vector, value), mask=False)

    def _load_sample(self) -> None:
        at = self.new(f"getelementptr double, ptr {self._address('%a', '%b')}, i64 %first")
        self.write("%r.slot", self.new(f"load {self.vector}, ptr {at}, align 8"), mask=False)

    def _store(self) -> None:
        at = self.new(f"getelementptr double, ptr {self._address('%a', '%b')}, i64 %first")
        self.line(f"store {self.vector} {self.read('%c.slot', mask=False)}, ptr {at}, align 8")

    def _loop(self) -> None:
        """Begin a loop of `b` rounds at most, unless all lanes of a mask are set."""
        limit = self.new("sext i32 %b to i64")
        self.line(f"store i64 {limit}, ptr %r.slot, align 64")
        self._jump(self.everywhere_set(self.read("%a.slot", mask=True)))

    def _again(self) -> None:
        """Begin the next round, unless it was the last one or all lanes of a mask are set."""
        left = self.new(f"sub i64 {self.new('load i64, ptr %r.slot, align 64')}, 1")
        self.line(f"store i64 {left}, ptr %r.slot, align 64")
        more = self.new(f"icmp sgt i64 {left}, 0")
        going = self.new(f"xor i1 {self.everywhere_set(self.read('%a.slot', mask=True))}, true")
        self._jump(self.new(f"and i1 {more}, {going}"))

    def _jump(self, condition: str) -> None:
        """Go on at instruction `c` of the piece of code if a condition holds."""
        target = self.new(f"getelementptr [{WORDS} x i32], ptr %code, i32 %c")
        self._go_on(self.new(f"select i1 {condition}, ptr {target}, ptr %after"))

    def _reduce(self, how: str) -> None:
        whole = self.kind("i64")
        first, valid = (self.spread(whole, name) for name in ("%first", "%valid"))
        lanes = ", ".join(f"i64 {k}" for k in range(LANES))
        counts = self.new(f"icmp slt {whole} {self.new(f'add {whole} {first}, <{lanes}>')}, {valid}")
        old = self.read("%r.slot", mask=False)
        new = self.combine(how, old, self.read("%a.slot", mask=False), self.vector)
        kept = self.new(f"select {self.mask} {counts}, {self.vector} {new}, {self.vector} {old}")
        self.write("%r.slot", kept, mask=False)

    def _finish(self, how: str) -> None:
        value, width = self.read("%r.slot", mask=False), LANES
        while width > 1:
            width //= 2
            low, high = (self.pick(f"<{2 * width} x double>", value, part, width) for part in range(2))
            value = self.combine(how, low, high, f"<{width} x double>")
        scalar = self.new(f"extractelement <1 x double> {value}, i64 0")
        self.line(f"store double {scalar}, ptr {self._address('%a', '%b')}")


def interpreter() -> str:
    """Return the text of the interpreter: a function `kernel` as in `tasks.kernels.emission.emitter`."""
    attributes = ATTRIBUTES.replace(" cold ", " ")
    return "\n".join([*_InterpreterText().text(), KERNEL, *declarations(), attributes])


@dataclass(frozen=True)
class Bytecode:
    """Bytecode of a program.

    header: six whole numbers, the counts of slots and constants, and the addresses of the other arrays.
    """

    header: NDArray[np.int64]
    values: NDArray[np.float64]
    pieces: tuple[NDArray[np.int32], ...]

    @property
    def address(self) -> int:
        """Address of the header."""
        return int(self.header.ctypes.data)


class _Encoder:
    """Writer of the bytecode of one program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.values: list[float] = []
        self.codes = array("i")
        self.leaves: dict[str, list[int]] = {op: [] for op in LEAVES}
        self.operations, self.operands = _columns(program.nodes)
        for i in np.flatnonzero(self.operations < 0).tolist():
            self.leaves[program.nodes[i].op].append(i)
        self.slot = np.full(len(program.nodes), -1, dtype=np.int32)
        for i in self.leaves[CONSTANT]:
            self.slot[i] = self._constant(program.nodes[i].data)
        self.zero = self._constant(0.0)
        self.identities = {how: self._constant(value) for how, value in IDENTITY.items()}
        others = np.flatnonzero(self.slot < 0)
        self.count = len(self.values) + len(others)
        self.slot[others] = np.arange(len(self.values), self.count)
        arrays: Iterable[Key] = (*program.case, *program.sample, *program.outputs)
        self.number = {key: k for k, key in enumerate(arrays)}
        self.reduced = [
            (key, component, node, self._new())
            for key in program.outputs
            if key in program.reductions
            for component, node in enumerate(program.outputs[key][1])
        ]

    def _constant(self, value: float) -> int:
        self.values.append(float(value))
        return len(self.values) - 1

    def _new(self) -> int:
        self.count += 1
        return self.count - 1

    def bytecode(self) -> Bytecode:
        """Return the bytecode of the whole program."""
        pieces = tuple(self._piece(write) for write in (self._each_case, self._each_group, self._last))
        values = np.array(self.values)
        addresses = [array.ctypes.data for array in (values, *pieces)]
        return Bytecode(np.array([self.count, len(values), *addresses], dtype=np.int64), values, pieces)

    def _piece(self, write: Callable[[], None]) -> NDArray[np.int32]:
        self.codes = array("i")
        write()
        self._add("end")
        return np.array(self.codes, dtype=np.int32)

    def _add(self, name: str, result: int = 0, a: int = 0, b: int = 0, c: int = 0) -> None:
        self.codes.extend((CODES[name], result, a, b, c))

    def _loads(self, op: str, name: str) -> None:
        for i in self.leaves[op]:
            key, component = self.program.nodes[i].data
            self._add(name, self.slot[i], self.number[key], component)

    def _region(self, key: int) -> None:
        nodes = np.array(self.program.regions.get(key, ()), dtype=np.intp)
        operands = self.operands[nodes]
        words = np.empty((len(nodes), WORDS), dtype=np.int32)
        words[:, 0], words[:, 1] = self.operations[nodes], self.slot[nodes]
        words[:, 2:] = np.where(operands < 0, 0, self.slot[operands])
        self.codes.frombytes(words.tobytes())

    def _each_case(self) -> None:
        self._loads(CASE, "load_case")
        self._region(PER_CASE)
        for key, _, _, place in self.reduced:
            self._add("copy", place, self.identities[self.program.reductions[key]])

    def _each_group(self) -> None:
        self._loads(SAMPLE, "load_sample")
        self._region(0)
        for index in range(len(self.program.loops)):
            self._loop(index)
            self._region(2 * index + 2)
        for key, (_, nodes) in self.program.outputs.items():
            if key not in self.program.reductions:
                for component, node in enumerate(nodes):
                    self._add("store", 0, self.number[key], component, self.slot[node])
        for key, _, node, place in self.reduced:
            self._add(self.program.reductions[key], place, self.slot[node])

    def _last(self) -> None:
        for key, component, _, place in self.reduced:
            self._add(f"finish_{self.program.reductions[key]}", place, self.number[key], component)

    def _loop(self, index: int) -> None:
        """Write a loop. Lanes that are finished keep their states, as in compiled kernels."""
        loop, slot = self.program.loops[index], self.slot
        finished, rounds = self._new(), self._new()
        for state, source in zip(loop.state, loop.initial, strict=True):
            self._add("copy", slot[state], slot[source])
        self._add("copy", finished, self.zero if loop.skip is None else slot[loop.skip])
        begin = len(self.codes)
        self._add("loop", rounds, finished, loop.limit)
        self._region(2 * index + 1)
        following = [self._unchanged(node, loop.state) for node in loop.following]
        for state, new in zip(loop.state, following, strict=True):
            self._add("select", slot[state], finished, slot[state], new)
        self._add("or", finished, finished, slot[loop.done])
        self._add("again", rounds, finished, 0, begin // WORDS + 1)
        self.codes[begin + WORDS - 1] = len(self.codes) // WORDS
        for i in self.leaves[RESULT]:
            of_loop, component = self.program.nodes[i].data
            if of_loop == index:
                slot[i] = slot[loop.state[component]]

    def _unchanged(self, node: int, states: Iterable[int]) -> int:
        """Return the slot of the next value of a state: of a copy if the value is a state, which changes next."""
        if node not in states:
            return self.slot[node]
        place = self._new()
        self._add("copy", place, self.slot[node])
        return place


def _columns(nodes: Sequence[Node]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the codes of nodes (node,), -1 for leaves, and their operands (node, 3), -1 where they have fewer."""
    operations = np.array([_CODE_OF[op] for op, _, _ in nodes], dtype=np.int32)
    lists = [args for _, args, _ in nodes]
    counts = np.array(list(map(len, lists)), dtype=np.int32)
    flat = np.array(list(chain.from_iterable(lists)), dtype=np.int32)
    operands = np.full((len(nodes), WORDS - 2), -1, dtype=np.int32)
    operands[np.arange(WORDS - 2) < counts[:, None]] = flat
    return operations, operands


def encode(program: Program) -> Bytecode:
    """Return the bytecode of a program, for samples in double precision."""
    return _Encoder(program).bytecode()
