"""Programs ready to run on arrays: compiled where LLVM is present, interpreted where it is not.

There is one compiled kernel per program and process. Arrays with any leading batch dims are brought to the padded rows
that kernels work on.
"""

from __future__ import annotations

import ctypes
import functools
import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from robots.arguments import real_numbers
from robots.labels import in_order_of
from tasks.kernels.interpreter import interpret
from tasks.kernels.keys import LANES, Arrays, Key, Memory, Shape, empty_rows, empty_together, huge_pages, padded
from tasks.kernels.program import Program, size

try:
    from tasks.kernels import llvm
except ImportError:  # no LLVM for this platform: same bits, slower
    llvm = None  # type: ignore[assignment]

__all__ = ["LANES", "STRIP", "Kernel", "empty_rows", "padded"]

MANY = 16
"""Least number of cases of a single group of samples for separate machine code, which computes two cases at a time."""


FEW = 1 << 18
"""Samples that a kernel computes with quick code, in all calls together; a call with more has better code at once.

For these samples, quick code loses a tenth of the time of compiling better code, for all lengths of programs.
"""

BEGINNING = 1 << 14
"""Samples that a kernel computes with bytecode, in all calls together, for all lengths of programs.

Bytecode takes some 15 times as long as better code; this is about a third of the time of compiling quick code.
"""

PATIENCE = 3e-5
"""Seconds for each node of the program after which a call leaves bytecode: about the time of compiling quick code.

Samples that need many rounds of rare loops take much longer than others.
"""

FIRST = 64
"""Samples of the first piece of a call with bytecode; further pieces double."""

SHORT = 256
"""Nodes of a program up to which better code is quick enough to make."""


STREAMED = 1 << 26
"""Bytes of results of a call from which on they are written past the caches.

Before they are read, others have taken their place there; and a line that is to be overwritten is not read first.
"""

STRIP = 1 << 11
"""Samples of a long batch that all stages work through at a time."""
VECTOR = 8 * LANES
"""Bytes of a vector of one group of samples."""


def has_compiler() -> bool:
    """Return whether programs are compiled here rather than interpreted."""
    return llvm is not None


def seconds_of_new_code() -> float:
    """Return the processor seconds in which this process has made code that other processes find on the disk."""
    return sum(llvm.MADE) if llvm is not None else 0.0


def machine_code(text: str, signature: Callable[[int], Any]) -> Any:
    """Return the function `kernel` of a text of LLVM, as `tasks.kernels.llvm.compile_text` gives it."""
    return llvm.compile_text(text, signature)


def growing(whole: int, step: int, begins: Callable[[], bool]) -> Iterator[tuple[int, int]]:
    """Yield first and last of pieces of a whole, with doubling lengths; once `begins` is false, the rest is one piece.

    >>> list(growing(10, 2, lambda: True))
    [(0, 2), (2, 6), (6, 10)]
    """
    first = 0
    while first < whole:
        last = min(whole, first + step) if begins() else whole
        yield first, last
        first, step = last, 2 * step


class Call(NamedTuple):
    """A call of machine code on arrays, which must live until it is made."""

    machine: Any
    """The machine code, a `tasks.kernels.llvm.Machine`."""
    sizes: tuple[int, int, int, int, int]
    """Cases, groups of lanes, samples, whether constants are in their places, and the address of bytecode or 0."""
    pointers: list[int]
    strides: list[int]
    """Numbers from a case to the next and from a component to the next, of each array."""

    def make(self) -> None:
        """Call the machine code."""
        pointers, strides = self.pointers, self.strides
        arrays = (ctypes.c_void_p * len(pointers))(*pointers), (ctypes.c_int64 * len(strides))(*strides)
        self.machine.call(*self.sizes, *arrays)


class Kernel:
    """A program that is compiled on first use; calls release the GIL and may run in many threads.

    The first samples have bytecode (BEGINNING), then code that is made quickly, and further ones better code (FEW). All
    have the same bits.

    With `single`, samples are computed in single precision: half the time, and seven digits at best. Arrays have
    doubles nevertheless, and operations on case inputs alone are in double precision. Machine code is kept on the disk
    for other processes, see `tasks.kernels.stored`, unless `keep` is false.
    """

    def __init__(self, program: Program, *, compiled: bool = True, single: bool = False, keep: bool = True):
        if single and (llvm is None or not compiled):
            raise ValueError("single precision needs the compiler; install llvmlite, or ask for double precision")
        self.program, self.single = program, single
        self.compiled, self.keep = compiled and llvm is not None, keep
        self.seconds_to_compile = 0.0
        self._lock = threading.Lock()
        self._machines: dict[tuple[bool, bool], Any] = {}
        self._samples_done = 0
        self._seconds_of_bytecode = 0.0

    def _machine(self, wide: bool, samples: int = FEW + 1, *, streams: bool = False) -> Any:
        """Return the function for many groups of samples of a case, or for one at a time; often they are the same.

        samples: of the call that it is for, all cases together; by default many; `streams`: results pass the caches.
        """
        wide = wide and self._widens
        with self._lock:
            self._samples_done += samples
            few = self._samples_done <= FEW and len(self.program.nodes) > SHORT
            made = self._machines.get((wide, streams))
            if made is None or not (made.is_best or (self.begins() if made.bytecode else few)):
                start = time.perf_counter()
                made = self._new_machine(wide, streams, few)
                self.seconds_to_compile += time.perf_counter() - start
                self._machines[wide, streams] = made
            return made

    def _new_machine(self, wide: bool, streams: bool, few: bool) -> Any:
        if self.begins():
            return llvm.interpret_program(self.program)
        return llvm.compile_program(
            self.program, single=self.single, wide=wide, streams=streams, keep=self.keep, few=few
        )

    def begins(self) -> bool:
        """Return whether bytecode is still quicker than code that has to be made."""
        nodes = len(self.program.nodes)
        few = self._samples_done <= BEGINNING and self._seconds_of_bytecode <= PATIENCE * nodes
        return few and not self.single and bool(llvm.starts_at_once())

    @functools.cached_property
    def _widens(self) -> bool:
        return bool(llvm.widens(self.program))

    def code(self, samples: int) -> Any:
        """Return the machine code for one group of samples at a time, chosen for a number of further samples."""
        return self._machine(wide=False, samples=samples)

    def prepare(self, *, wide: bool = True) -> Kernel:
        """Compile now; `wide`: for calls with many samples of each case."""
        if self.compiled:
            self._machine(wide)
        return self

    def shapes(self, cases: int, samples: int) -> dict[Key, Shape]:
        """Return the shapes of all outputs: (cases, size, padded samples), reduced ones (cases, size)."""
        width = padded(samples)
        return {
            name: (cases, len(nodes)) if name in self.program.reductions else (cases, len(nodes), width)
            for name, (_, nodes) in self.program.outputs.items()
        }

    def allocate(self, cases: int, samples: int, memory: Memory = huge_pages) -> dict[Key, np.ndarray]:
        """Return arrays for all outputs, constants written and all else uninitialised, in bytes that `memory` gives."""
        arrays = self.reserve(cases, samples, memory)
        for name, rows in arrays.items():
            for k, value in self.program.constants(name, single=self.single).items():
                rows[:, k] = value
        return arrays

    def reserve(
        self, cases: int, samples: int, memory: Memory = huge_pages, *, once: bool = False
    ) -> dict[Key, np.ndarray]:
        """Return arrays for all outputs, to which nothing is written yet.

        `once`: for a single call, which new huge pages would only delay.
        """
        shapes = self.shapes(cases, samples)
        series = [name for name in shapes if name not in self.program.reductions]
        arrays: Iterable[np.ndarray] = map(empty_rows, [shapes[name] for name in series])
        if not once:
            arrays = empty_together((shapes[name] for name in series), memory)
        rows = dict(zip(series, arrays, strict=True))
        return {name: rows[name] if name in rows else np.empty(shape) for name, shape in shapes.items()}

    def __call__(
        self,
        inputs: Arrays,
        samples: int,
        out: Arrays | None = None,
        *,
        filled: bool = False,
    ) -> Arrays:
        """Run on all cases and samples.

        inputs: case arrays (cases or 1, size); sample arrays (cases or 1, size, padded samples): a first axis of 1 is
        shared by all cases. Samples beyond `samples` are computed too, so they need valid values (repeat the last one);
        reductions leave them out. out: arrays of `allocate`; `filled`: constants are still in their places, and need
        not be written again. All float64; the last axis of sample arrays must be contiguous.
        """
        cases = self._cases(inputs)
        out = self.reserve(cases, samples, once=True) if out is None else out
        if self.compiled and not self.begins():
            self.call(inputs, samples, out, filled=filled, rounds=1).make()
        elif self.compiled:
            for piece, count, place in self._pieces(inputs, samples, out):
                self._make(self.call(piece, count, place, filled=filled, rounds=1))
        else:
            self._arguments(inputs, out, cases, padded(samples))
            for name, value in interpret(self.program, inputs, padded(samples), valid=samples).items():
                out[name][...] = value
        return out

    def note_bytecode(self, seconds: float) -> None:
        """Count the seconds that a call with bytecode took (PATIENCE)."""
        self._seconds_of_bytecode += seconds

    def _make(self, call: Call) -> None:
        """Make a call, and count its seconds where it has bytecode."""
        start = time.thread_time()
        call.make()
        if call.machine.bytecode:
            self.note_bytecode(time.thread_time() - start)

    def _pieces(self, inputs: Arrays, samples: int, out: Arrays) -> Iterator[tuple[Arrays, int, Arrays]]:
        """Yield inputs, number of samples and outputs of parts of a call: pieces that double while bytecode is used.

        A call leaves bytecode between pieces (PATIENCE). Calls are cut along cases, or along the samples of a single
        case without reductions. The rest of the call after bytecode is one piece.
        """
        cases, width = self._cases(inputs), max(padded(samples), LANES)
        one = cases == 1
        whole = cases if not one else 1 if self.program.reductions else width // LANES
        for first, last in growing(whole, max(1, FIRST // (LANES if one else width)), self.begins):
            if (first, last) == (0, whole):
                yield inputs, samples, out
                continue
            span, long = slice(first * LANES, last * LANES), self.program.sample
            if one:
                piece = {name: rows[..., span] if name in long else rows for name, rows in inputs.items()}
                yield piece, min(samples, span.stop) - span.start, {name: rows[..., span] for name, rows in out.items()}
            else:
                piece = {name: rows[first:last] if len(rows) > 1 else rows for name, rows in inputs.items()}
                yield piece, samples, {name: rows[first:last] for name, rows in out.items()}

    def call(self, inputs: Arrays, samples: int, out: Arrays, *, filled: bool = False, rounds: int = FEW) -> Call:
        """Return the same call without making it, for compiled kernels; `rounds`: number of times that it is made."""
        cases, groups = self._cases(inputs), padded(samples) // LANES
        pointers, strides = self._arguments(inputs, out, cases, padded(samples))
        width = padded(samples)
        streams = 8 * self._rows * cases * width >= STREAMED and self._begins_with_vectors(pointers, strides)
        machine = self._machine(groups > 1 or cases < MANY, rounds * cases * width, streams=streams)
        return Call(machine, (cases, groups, samples, int(filled), machine.program), pointers, strides)

    def _cases(self, inputs: Arrays) -> int:
        return max((inputs[name].shape[0] for name in (*self.program.case, *self.program.sample)), default=1)

    @functools.cached_property
    def _places(self) -> tuple[tuple[Key, int, bool, bool], ...]:
        """Name of each array, its size, whether it is one of samples, and whether it is an input."""
        program = self.program
        inputs = {**program.case, **program.sample}
        layout = [(name, size(shape), name in program.sample, True) for name, shape in inputs.items()]
        made = program.outputs.items()
        return (*layout, *((name, len(nodes), name not in program.reductions, False) for name, (_, nodes) in made))

    @functools.cached_property
    def _rows(self) -> int:
        """Number of rows of samples that a case has as results."""
        return sum(count for _, count, long, is_input in self._places if long and not is_input)

    def _begins_with_vectors(self, pointers: Sequence[int], strides: Sequence[int]) -> bool:
        """Return whether each row of results begins at a multiple of the bytes of a vector."""
        results = [k for k, (_, _, long, is_input) in enumerate(self._places) if long and not is_input]
        steps = (step for k in results for step in strides[2 * k : 2 * k + 2])
        return not (any(pointers[k] % VECTOR for k in results) or any(step % LANES for step in steps))

    def _arguments(self, inputs: Arrays, out: Arrays, cases: int, width: int) -> tuple[list[int], list[int]]:
        pointers: list[int] = []
        strides: list[int] = []
        for name, count, long, is_input in self._places:
            array = inputs[name] if is_input else out[name]
            core = (count, width) if long else (count,)
            # an output has a place for every case
            good = array.shape[1:] == core and (len(array) == cases or (is_input and len(array) == 1))
            if not good or array.dtype != np.float64 or (long and array.size and array.strides[-1] != 8):
                raise ValueError(
                    f"{self.program.name}: array {name!r} has shape {array.shape} and type {array.dtype}; "
                    f"expected float64 of shape {(cases, *core)}, samples contiguous"
                )
            pointers.append(array.__array_interface__["data"][0])
            strides += [array.strides[0] // 8 if array.shape[0] > 1 else 0, array.strides[1] // 8]
        return pointers, strides


_kernels: dict[tuple[int, bool], tuple[Program, Kernel]] = {}
_lock = threading.Lock()


def kernel(program: Program, *, single: bool = False) -> Kernel:
    """Return the kernel of a program in double or single precision, compiled on the first call in this process."""
    key = id(program), single
    with _lock:
        if key not in _kernels:
            _kernels[key] = program, Kernel(program, single=single)
        _, record = _kernels[key]
    return record


def compiled() -> dict[str, float]:
    """Return the names of the programs compiled in this process, and the seconds that each took."""
    with _lock:
        return {program.name: each.seconds_to_compile for program, each in _kernels.values()}


Batch = tuple[int, ...]


def checked(name: str, value: ArrayLike, core: tuple[int, ...], labels: Sequence[str] = ()) -> np.ndarray:
    """Return an array (*batch, *core) of floats, entries with names in the order of `labels`. Raises ValueError."""
    value = in_order_of(labels, name, value) if core else value
    expected = ", ".join(["*batch", *map(str, core)])
    try:
        result = real_numbers(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name}: got values that are no real numbers; expected an array ({expected})") from None
    if result.shape[max(result.ndim - len(core), 0) :] != core or result.size == 0:
        raise ValueError(f"{name}: got an array of shape {result.shape}; expected ({expected}), not empty")
    return result


def common_batch(shapes: Mapping[str, Batch]) -> Batch:
    """Return the batch dims that those of all arrays broadcast to. Raises ValueError."""
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ValueError(f"batch dims do not fit together: {listed}; expected shapes that broadcast") from None


def rows(values: np.ndarray, batch: Batch, out: np.ndarray | None = None) -> np.ndarray:
    """Return (*batch, size) as (size, padded samples): the last sample fills up the last group of lanes."""
    count, size = math.prod(batch), values.shape[-1]
    result = np.empty((size, padded(count))) if out is None else out
    result[:, :count] = np.broadcast_to(values, (*batch, size)).reshape(count, size).T if batch else values[:, None]
    result[:, count:] = result[:, count - 1 : count]
    return result
