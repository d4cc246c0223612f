"""Kernels whose cases lie in the lanes of vectors, and calls of several kernels in one call of machine code.

A program computes the part that depends on its case inputs alone once for each case, and a vector holds samples of one
case. With one sample of each case at a time, as in a motion over time, all lanes but one would be empty. So
`tasks.kernels.case_parts` cuts a program in two: the part that depends on the case inputs alone, run once with one case
in each lane, and the rest, which reads the results of the first part.

`ProgramSequence` runs several programs in turn on one group of lanes after the other. A step of a simulation is thirty
programs for a few cases; without Python between them the results of a program stay in the cache for the next one.

If programs read results of the step before, a sequence advances by steps (`ProgramSequence.advance`): the places in
arrays of a series move by one from step to step, until a flag tells that the next step is not for compiled code.
"""

from __future__ import annotations

import ctypes
import functools
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robots.data_classes import dataclass, replace
from tasks.kernels.case_parts import PREPARED, split
from tasks.kernels.kernel import FIRST, growing, kernel, machine_code
from tasks.kernels.kernel import rows as batch_rows
from tasks.kernels.keys import LANES, Arrays, Key, empty_rows
from tasks.kernels.program import Program, size

TEXT = """
define i64 @kernel(i64 %rounds, i64 %calls, ptr %functions, ptr %sizes, ptr %starts, ptr %pointers, ptr %strides,
                   i64 %moving, ptr %which, ptr %by, ptr %stop) nounwind {
entry:
  %none = icmp sle i64 %rounds, 0
  br i1 %none, label %end, label %round
round:
  %r = phi i64 [ 0, %entry ], [ %r.next, %moved ]
  br label %call
call:
  %c = phi i64 [ 0, %round ], [ %c.next, %call ]
  %function.at = getelementptr ptr, ptr %functions, i64 %c
  %function = load ptr, ptr %function.at
  %size.at = getelementptr [5 x i64], ptr %sizes, i64 %c
  %size = load [5 x i64], ptr %size.at
  %cases = extractvalue [5 x i64] %size, 0
  %groups = extractvalue [5 x i64] %size, 1
  %samples = extractvalue [5 x i64] %size, 2
  %filled = extractvalue [5 x i64] %size, 3
  %bytecode = extractvalue [5 x i64] %size, 4
  %program = inttoptr i64 %bytecode to ptr
  %start.at = getelementptr i64, ptr %starts, i64 %c
  %start = load i64, ptr %start.at
  %arrays = getelementptr ptr, ptr %pointers, i64 %start
  %twice = shl i64 %start, 1
  %steps = getelementptr i64, ptr %strides, i64 %twice
  call void %function(i64 %cases, i64 %groups, i64 %samples, i64 %filled, ptr %program, ptr %arrays,
                      ptr %steps)
  %c.next = add i64 %c, 1
  %c.more = icmp slt i64 %c.next, %calls
  br i1 %c.more, label %call, label %called
called:
  %unwatched = icmp eq ptr %stop, null
  br i1 %unwatched, label %move, label %watch
watch:
  %flags = load <8 x double>, ptr %stop, align 8
  %raised = fcmp une <8 x double> %flags, zeroinitializer
  %any = bitcast <8 x i1> %raised to i8
  %stops = icmp ne i8 %any, 0
  br i1 %stops, label %stopped, label %move
stopped:
  ret i64 %r
move:
  %m = phi i64 [ 0, %called ], [ 0, %watch ], [ %m.next, %move.body ]
  %m.more = icmp slt i64 %m, %moving
  br i1 %m.more, label %move.body, label %moved
move.body:
  %which.at = getelementptr i64, ptr %which, i64 %m
  %place = load i64, ptr %which.at
  %by.at = getelementptr i64, ptr %by, i64 %m
  %bytes = load i64, ptr %by.at
  %address = getelementptr i64, ptr %pointers, i64 %place
  %old = load i64, ptr %address
  %new = add i64 %old, %bytes
  store i64 %new, ptr %address
  %m.next = add i64 %m, 1
  br label %move
moved:
  %r.next = add i64 %r, 1
  %r.more = icmp slt i64 %r.next, %rounds
  br i1 %r.more, label %round, label %end
end:
  ret i64 %rounds
}
"""
"""One round: call every kernel once, then move the pointers of the arrays that differ from round to round.

Returns the number of rounds. Where `stop` is given, a round after which one of its LANES numbers is not zero ends the
call, and does not count.
"""


@functools.cache
def _machine() -> Any:
    """Return the machine code. Threads that ask at once may each get a copy, which lives while they call it."""
    whole, place = ctypes.c_int64, ctypes.c_void_p
    signature = ctypes.CFUNCTYPE(whole, whole, whole, *(place,) * 5, whole, place, place, place)
    return machine_code(TEXT, signature)


def address(array: np.ndarray) -> int:
    """Return the memory address of the first element of an array."""
    return int(array.__array_interface__["data"][0])


@dataclass(frozen=True)
class Round:
    """The calls of a round: the functions, how much each takes, and by how much its arrays move to the next round."""

    functions: NDArray[np.int64]
    """Addresses of machine code of kernels."""
    sizes: NDArray[np.int64]
    """Sizes of each call (call, 5), see `tasks.kernels.kernel.Call`."""
    starts: NDArray[np.int64]
    """Number of the first array of each call, among all arrays."""
    moving: NDArray[np.int64]
    """Arrays that move."""
    by: NDArray[np.int64]
    """Bytes by which they do."""

    @classmethod
    def of(cls, functions: Sequence[int], sizes: ArrayLike, counts: Sequence[int], moves: ArrayLike) -> Round:
        """Return a round. `counts`: arrays per call; `moves`: bytes per array of all calls; `sizes` is broadcast."""
        each = np.ascontiguousarray(np.broadcast_to(np.asarray(sizes, dtype=np.int64), (len(functions), 5)))
        starts = np.cumsum([0, *counts])[:-1].astype(np.int64)
        return cls(np.array(functions, dtype=np.int64), each, starts, *_moving(moves))

    def moved(self, moves: ArrayLike) -> Round:
        """Return the same calls with arrays that move by other bytes."""
        moving, by = _moving(moves)
        return replace(self, moving=moving, by=by)

    def run(self, rounds: int, pointers: NDArray[np.int64], strides: NDArray[np.int64], stop: int = 0) -> int:
        """Run `rounds` rounds; `pointers`: starts of the arrays of all calls, moved on meanwhile; `strides` (array, 2).

        stop: address of LANES numbers, which are zero as long as rounds continue. Returns the number of rounds before.
        """
        tables = map(address, (self.functions, self.sizes, self.starts, pointers, strides))
        moved = len(self.moving), address(self.moving), address(self.by)
        return int(_machine().call(rounds, len(self.functions), *tables, *moved, stop or None))


def _moving(moves: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the arrays that move, and by how many bytes, from the bytes of all arrays."""
    by = np.asarray(moves, dtype=np.int64)
    moving = np.flatnonzero(by).astype(np.int64)
    return moving, by[moving]


NUMBER = 8
"""Bytes of a double."""


@dataclass(frozen=True)
class Slot:
    """An array of a sequence by its number; rows of it, where it is local: kept for one group of lanes only."""

    number: int
    size: int
    first: int = 0

    def rows(self, part: slice) -> Slot:
        """Return some of the rows."""
        return Slot(self.number, part.stop - part.start, self.first + part.start)


Slots = Mapping[Any, Slot]
"""Arrays of a sequence by Key, as `tasks.kernels.keys.Arrays`."""


class ProgramSequence:
    """Programs in turn. Calls from several threads wait for each other, as all calls share the local arrays."""

    def __init__(self) -> None:
        self._calling = threading.Lock()
        self._bases: list[int] = []
        self._moves: list[int] = []
        self._alive: list[np.ndarray] = []
        self._wide: dict[Slot, int] = {}
        self._series: dict[Slot, int] = {}
        self._programs: list[Any] = []
        self._counts: list[int] = []
        self._slots: list[int] = []
        self._firsts: list[int] = []
        self._fixed: dict[int, Slot] = {}
        self._groups: set[int] = set()
        self._frozen: _Tables | None = None

    def _slot(self, rows: int, base: int, move: int) -> Slot:
        self._bases.append(base)
        self._moves.append(move)
        return Slot(len(self._bases) - 1, rows)

    def local(self, rows: int) -> Slot:
        """Return an array (rows, LANES) that each group of lanes uses anew."""
        array = np.zeros((max(rows, 1), LANES))
        self._alive.append(array)
        return self._slot(rows, address(array), 0)

    def wide(self, rows: int) -> Slot:
        """Return an array (rows, samples) that is given to each call."""
        slot = self._slot(rows, 0, LANES * NUMBER)
        self._wide[slot] = slot.number
        return slot

    def series(self, rows: int) -> Slot:
        """Return an array (steps, rows, samples) that is given to `advance`, and moves on by one with each step."""
        slot = self._slot(rows, 0, LANES * NUMBER)
        self._series[slot] = slot.number
        return slot

    def fixed(self, array: np.ndarray) -> Slot:
        """Return an array (groups of lanes, rows, LANES) that is the same in all calls."""
        if id(array) not in self._fixed:
            self._alive.append(array)
            self._groups.add(len(array))
            self._fixed[id(array)] = self._slot(array.shape[1], address(array), array.shape[1] * LANES * NUMBER)
        return self._fixed[id(array)]

    def add(self, program: Program, inputs: Slots, outputs: Slots) -> dict[Any, Slot]:
        """Add a call of a program without case inputs and reductions; outputs without a slot get local arrays.

        Raises ValueError where an array has another size than in the program.
        """
        if program.case or program.reductions:
            raise ValueError(f"{program.name}: got case inputs or reductions; expected none in a sequence")
        results = {key: outputs.get(key) or self.local(len(row)) for key, (_, row) in program.outputs.items()}
        sizes = {key: size(shape) for key, shape in program.sample.items()}
        sizes |= {key: len(nodes) for key, (_, nodes) in program.outputs.items()}
        slots = [results[key] if key in results else inputs[key] for key in sizes]
        for (key, rows), slot in zip(sizes.items(), slots, strict=True):
            if slot.size != rows:
                raise ValueError(f"{program.name}: {key} got {slot.size} rows; expected {rows}")
        self.add_code(kernel(program), slots)
        return results

    def add_code(self, run: Any, slots: Sequence[Slot]) -> None:
        """Add a call of machine code on arrays; run: a `tasks.kernels.kernel.Kernel`, or code that is used like one."""
        self._programs.append(run)
        self._counts.append(len(slots))
        self._slots += [slot.number for slot in slots]
        self._firsts += [slot.first for slot in slots]
        self._frozen = None

    def __call__(self, arrays: Mapping[Slot, np.ndarray], samples: int) -> None:
        """Run the programs for all groups of lanes; `arrays` (rows, samples): the wide arrays, rows contiguous.

        Raises ValueError for arrays of another layout, and for a number of samples that is not in whole groups, or
        differs from fixed arrays.
        """
        with self._calling:
            for first, last in growing(self._groups_of(samples), FIRST // LANES, self._begins):
                placed, start = self._placed(arrays, samples, (last - first) * LANES), time.thread_time()
                placed.turn.run(last - first, placed.pointers + first * placed.moves, placed.strides)
                self._note(placed.machines, time.thread_time() - start)

    def _begins(self) -> bool:
        """Return whether a program has bytecode still."""
        return any(run.begins() for run in {*self._programs})

    def _note(self, machines: Sequence[Any], seconds: float) -> None:
        """Count the seconds of a call in the programs that had bytecode, the same share for each."""
        tables = self._tables
        for run, machine, calls in zip(tables.runs, machines, tables.calls, strict=True):
            if machine.bytecode:
                run.note_bytecode(seconds * calls / len(self._programs))

    def advance(self, arrays: Mapping[Slot, np.ndarray], samples: int, steps: int, stop: Slot) -> int:
        """Run the programs for `steps` steps, and return how many of them were taken in all groups of lanes.

        arrays: wide ones, and series (steps, rows, samples). A step at whose end `stop`, a local array of one row, is
        not zero in a lane is not taken; its results are to be written again. Raises ValueError as a call.
        """
        placed = self._placed(arrays, samples, samples * steps)
        moves = np.zeros(len(self._bases), dtype=np.int64)
        for slot, number in self._series.items():
            moves[number] = arrays[slot].strides[0]
        turn = placed.turn.moved(moves[placed.slots])
        with self._calling:
            for group in range(samples // LANES):
                pointers = placed.pointers + group * placed.moves
                steps = turn.run(steps, pointers, placed.strides, self._bases[stop.number])
        return steps

    def _groups_of(self, samples: int) -> int:
        """Return the number of groups of lanes. Raises ValueError."""
        groups, remainder = divmod(samples, LANES)
        if remainder or self._groups - {groups}:
            fixed = f", {max(self._groups) * LANES} as of fixed arrays" if self._groups else ""
            raise ValueError(f"samples: got {samples}; expected whole groups of {LANES}{fixed}")
        return groups

    def _placed(self, arrays: Mapping[Slot, np.ndarray], samples: int, count: int) -> _Placed:
        """Return the arrays of all calls in their places, and code for `count` samples. Raises ValueError."""
        self._groups_of(samples)
        tables = self._tables
        slots = tables.slots
        bases, rows = np.array(self._bases, dtype=np.int64), np.full(len(self._bases), LANES, dtype=np.int64)
        for slot, number in (*self._wide.items(), *self._series.items()):
            array = arrays[slot]
            shape = (*array.shape[: int(slot in self._series)], slot.size, samples)
            good = array.shape == shape and array.dtype == np.float64
            if not good or (array.size and array.strides[-1] != NUMBER):
                raise ValueError(f"array {number}: got {array.shape}; expected float64 {(slot.size, samples)} in rows")
            bases[number], rows[number] = address(array), array.strides[-2] // NUMBER
        strides = np.zeros((len(slots), 2), dtype=np.int64)
        strides[:, 1] = rows[slots]
        machines = tuple(run.code(count * calls) for run, calls in zip(tables.runs, tables.calls, strict=True))
        functions, bytecode = np.array([(x.address, x.program) for x in machines], dtype=np.int64)[tables.which].T
        sizes = np.full((len(functions), 5), (1, 1, LANES, 0, 0), dtype=np.int64)
        sizes[:, -1] = bytecode
        turn = replace(tables.turn, functions=np.ascontiguousarray(functions), sizes=sizes)
        pointers = bases[slots] + tables.firsts * strides[:, 1] * NUMBER
        return _Placed(turn, machines, slots, pointers, strides, self._moved(slots))

    def _moved(self, slots: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the bytes from a group of lanes to the next, of each array of all calls."""
        return np.array(self._moves, dtype=np.int64)[slots]

    def __reduce__(self) -> NoReturn:
        """Refuse copies: addresses belong to this process and to these arrays."""
        raise TypeError("a sequence of programs cannot be copied or sent to another process; make it there")

    @property
    def _tables(self) -> _Tables:
        """Tables that are the same in all calls."""
        if self._frozen is None:
            slots, firsts = (np.array(column, dtype=np.int64) for column in (self._slots, self._firsts))
            functions = [0] * len(self._programs)  # the code of a program may become better from call to call
            turn = Round.of(functions, (1, 1, LANES, 0, 0), self._counts, self._moved(slots))
            number = {run: k for k, run in enumerate(dict.fromkeys(self._programs))}
            which = np.array([number[run] for run in self._programs], dtype=np.int64)
            self._frozen = _Tables(turn, slots, firsts, tuple(number), which, np.bincount(which).tolist())
        return self._frozen


@dataclass(frozen=True)
class _Tables:
    """Tables of a sequence of calls: slots and first rows of their arrays.

    runs: programs, each once; which: the number of each call's program; calls: how many each program has.
    """

    turn: Round
    slots: NDArray[np.int64]
    firsts: NDArray[np.int64]
    runs: tuple[Any, ...]
    which: NDArray[np.int64]
    calls: list[int]


@dataclass(frozen=True)
class _Placed:
    """Arrays of all calls of a sequence: their slots, start addresses, and moves between groups of lanes.

    machines: machine code that is called, kept alive by this object.
    """

    turn: Round
    machines: tuple[Any, ...]
    slots: NDArray[np.int64]
    pointers: NDArray[np.int64]
    strides: NDArray[np.int64]
    moves: NDArray[np.int64]


def empty(slots: Slots, samples: int) -> dict[Key, np.ndarray]:
    """Return uninitialised arrays for wide outputs, by their keys."""
    return {key: empty_rows((slot.size, samples)) for key, slot in slots.items()}


class BoundKernel:
    """A kernel of a program with its case inputs (cases, size): one case for all samples, or one for each of them.

    A single case is shared by all samples. With several cases, sample k belongs to case k; the part of the program that
    depends on the case alone is then computed here.
    """

    def __init__(self, program: Program, case: Arrays, prepared: np.ndarray | None = None):
        self.program, self.case = program, {key: case[key] for key in program.case}
        self.cases = max((len(values) for values in self.case.values()), default=1)
        self._prepared = prepared
        if self.cases > 1 and prepared is None:
            lanes = {key: batch_rows(values, (self.cases,))[None] for key, values in self.case.items()}
            values = kernel(split(program)[0])(lanes, self.cases)[PREPARED]
            self._prepared = np.ascontiguousarray(_grouped(values))

    @classmethod
    def packed(cls, runs: Sequence[BoundKernel]) -> BoundKernel | None:
        """Return kernels of one program with the first case of each in a lane of its own; None without cases.

        The last kernel fills up the lanes.
        """
        first = [run._prepared[0, :, 0] for run in runs if run._prepared is not None]
        if len(first) < len(runs):
            return None
        lanes = np.stack([*first, *first[-1:] * (LANES - len(first))], axis=1)
        return cls(runs[0].program, runs[0].case, lanes[None])

    def __call__(self, inputs: Arrays, samples: int) -> Arrays:
        """Return the outputs (1, size, padded samples) for sample inputs, as `Kernel` gives them."""
        if self._prepared is None:
            return kernel(self.program)({**self.case, **inputs}, samples)
        run = kernel(split(self.program)[1])
        out = run.reserve(1, samples, once=True)
        grouped = {PREPARED: self._prepared, **{key: _grouped(values) for key, values in inputs.items()}}
        run(grouped, LANES, {key: _grouped(values) for key, values in out.items()})
        return out

    @property
    def in_lanes(self) -> bool:
        """Return whether the kernel can be part of a sequence.

        This needs a case of its own for every sample, or no case inputs.
        """
        return self._prepared is not None or not self.program.case

    def add_to(self, sequence: ProgramSequence, inputs: Slots, outputs: Slots | None = None) -> dict[Any, Slot]:
        """Add the kernel to a sequence as its next call; see `ProgramSequence.add`."""
        program, slots = self.program, dict(inputs)
        if self._prepared is not None:
            program, slots = split(self.program)[1], {PREPARED: sequence.fixed(self._prepared), **inputs}
        return sequence.add(program, slots, outputs or {})

    def of(self, columns: np.ndarray) -> BoundKernel:
        """Return the same for some of the samples."""
        if self._prepared is None:
            return self
        columns_of_groups = self._prepared[columns // LANES, :, columns % LANES]
        groups, size = len(columns) // LANES, columns_of_groups.shape[1]  # which may be 0
        grouped = columns_of_groups.reshape(groups, LANES, size).transpose(0, 2, 1)
        return BoundKernel(self.program, self.case, np.ascontiguousarray(grouped))


def outputs_of_all(runs: Sequence[BoundKernel], inputs: Arrays, samples: int) -> list[Arrays]:
    """Return the outputs of several kernels for the same sample inputs, as `BoundKernel` gives them.

    Those of one program with a single case each, such as limbs that are alike, are the cases of one call.
    """
    groups: dict[tuple[int, int], list[int]] = {}
    for k, run in enumerate(runs):
        groups.setdefault((id(run.program), 0 if run.case and run.cases == 1 else k + 1), []).append(k)
    results: dict[int, Arrays] = {}
    for numbers in groups.values():
        first = runs[numbers[0]]
        if len(numbers) == 1:
            results[numbers[0]] = first(inputs, samples)
            continue
        case = {key: np.concatenate([runs[k].case[key] for k in numbers]) for key in first.case}
        together = kernel(first.program)({**case, **inputs}, samples)
        results |= {k: {key: rows[i : i + 1] for key, rows in together.items()} for i, k in enumerate(numbers)}
    return [results[k] for k in range(len(runs))]


def _grouped(values: np.ndarray) -> np.ndarray:
    """Return (1, size, samples) viewed as (groups of lanes, size, LANES), without a copy.

    In this layout, the numbers that a group reads are next to each other. Thousands of numbers of a case, each in a row
    of its own, would be in as many pages of memory.
    """
    _, size, samples = values.shape
    return values[0].reshape(size, samples // LANES, LANES).transpose(1, 0, 2)
