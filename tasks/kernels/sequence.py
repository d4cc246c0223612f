"""Several programs in turn on one group of lanes after the other, in one call of machine code.

What a program hands to the next stays in the cache nearest to the processor, and nothing between them is Python: a step
of a simulation is thirty programs for a few cases. All programs do what they do alone, so the bits are the same.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from tasks.kernels.cache import kernel
from tasks.kernels.driver import Round, address
from tasks.kernels.keys import Key
from tasks.kernels.program import Program, size
from tasks.kernels.rows import LANES, empty_rows

NUMBER = 8
"""Bytes of a double."""


@dataclass(frozen=True)
class Slot:
    """An array of a sequence by its number; rows of it, where it is local: kept for one group of lanes only."""

    number: int
    size: int
    first: int = 0

    def rows(self, part: slice) -> Slot:
        """Some of the rows of a local array, or the first ones of a wide one."""
        return Slot(self.number, part.stop - part.start, self.first + part.start)


Slots = Mapping[Any, Slot]
"""Arrays of a sequence by Key, as `tasks.kernels.keys.Arrays`."""


class Sequence:
    """Programs in turn. Calls from several threads wait for each other, as local arrays are those of all calls."""

    def __init__(self) -> None:
        self._calling = threading.Lock()
        self._bases: list[int] = []
        self._moves: list[int] = []
        self._alive: list[np.ndarray] = []
        self._wide: dict[Slot, int] = {}
        self._programs: list[Any] = []
        self._counts: list[int] = []
        self._slots: list[int] = []
        self._offsets: list[int] = []
        self._fixed: dict[int, Slot] = {}
        self._groups: set[int] = set()
        self._frozen: tuple[Round, NDArray[np.int64], NDArray[np.int64]] | None = None

    def _slot(self, rows: int, base: int, move: int) -> Slot:
        self._bases.append(base)
        self._moves.append(move)
        return Slot(len(self._bases) - 1, rows)

    def local(self, rows: int) -> Slot:
        """An array (rows, LANES) that each group of lanes uses anew."""
        array = np.zeros((max(rows, 1), LANES))
        self._alive.append(array)
        return self._slot(rows, address(array), 0)

    def wide(self, rows: int) -> Slot:
        """An array (rows, samples) that is given to each call."""
        slot = self._slot(rows, 0, LANES * NUMBER)
        self._wide[slot] = slot.number
        return slot

    def fixed(self, array: np.ndarray) -> Slot:
        """An array (groups of lanes, rows, LANES) that is the same in all calls."""
        if id(array) not in self._fixed:
            self._alive.append(array)
            self._groups.add(len(array))
            self._fixed[id(array)] = self._slot(array.shape[1], address(array), array.shape[1] * LANES * NUMBER)
        return self._fixed[id(array)]

    def add(self, program: Program, inputs: Slots, outputs: Slots) -> dict[Any, Slot]:
        """Call a program without case inputs and reductions next; its outputs: those named, others in local arrays.

        Raises ValueError where an array has another size than the program says.
        """
        if program.case or program.reductions:
            raise ValueError(f"{program.name}: got case inputs or reductions; expected none in a sequence")
        results = {key: outputs.get(key) or self.local(len(row)) for key, (_, row) in program.outputs.items()}
        wanted = {key: size(shape) for key, shape in program.sample.items()}
        wanted |= {key: len(nodes) for key, (_, nodes) in program.outputs.items()}
        self._programs.append(kernel(program, wide=False))
        self._counts.append(len(wanted))
        for key, rows in wanted.items():
            slot = results[key] if key in results else inputs[key]
            if slot.size != rows:
                raise ValueError(f"{program.name}: {key} got {slot.size} rows; expected {rows}")
            self._slots.append(slot.number)
            self._offsets.append(slot.first * LANES * NUMBER)
        self._frozen = None
        return results

    def __call__(self, arrays: Mapping[Slot, np.ndarray], samples: int) -> None:
        """All programs for all groups of lanes; `arrays` (rows, samples): the wide ones, rows contiguous.

        Raises ValueError for arrays that are not so, and for samples that are not whole groups, or not as many as fixed
        arrays have.
        """
        groups, left = divmod(samples, LANES)
        if left or self._groups - {groups}:
            fixed = f", {max(self._groups) * LANES} as of fixed arrays" if self._groups else ""
            raise ValueError(f"samples: got {samples}; expected whole groups of {LANES}{fixed}")
        if self._frozen is None:
            self._frozen = self._tables()
        turn, slots, offsets = self._frozen
        bases, rows = np.array(self._bases, dtype=np.int64), np.full(len(self._bases), LANES, dtype=np.int64)
        for slot, number in self._wide.items():
            array = arrays[slot]
            good = array.shape == (slot.size, samples) and array.dtype == np.float64
            if not good or (array.size and array.strides[1] != NUMBER):
                raise ValueError(f"array {number}: got {array.shape}; expected float64 {(slot.size, samples)} in rows")
            bases[number], rows[number] = address(array), array.strides[0] // NUMBER
        pointers = bases[slots] + offsets
        strides = np.zeros((len(slots), 2), dtype=np.int64)
        strides[:, 1] = rows[slots]
        with self._calling:
            turn.run(groups, pointers, strides)

    def __reduce__(self) -> NoReturn:
        """Refuse copies: addresses are those of this process and of these arrays."""
        raise TypeError("a sequence of programs cannot be copied or sent to another process; make it there")

    def _tables(self) -> tuple[Round, NDArray[np.int64], NDArray[np.int64]]:
        slots, offsets = (np.array(column, dtype=np.int64) for column in (self._slots, self._offsets))
        moves = np.array(self._moves, dtype=np.int64)[slots]
        functions = [run.address for run in self._programs]
        return Round.of(functions, (1, 1, LANES, 0), self._counts, moves), slots, offsets


def empty(slots: Slots, samples: int) -> dict[Key, np.ndarray]:
    """Uninitialised arrays for wide outputs, by their keys."""
    return {key: empty_rows((slot.size, samples)) for key, slot in slots.items()}
