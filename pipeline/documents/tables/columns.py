"""Columns of numbers in files of others, which are read on request: unused ones take no memory and are not checked.

Sizes that a file declares are checked against bounds before memory is taken.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import InputError, reason, refused, size
from robots.data_classes import dataclass, field

Array = NDArray[np.float64]
NUMBERS = "fiub"
"""Kinds of dtypes that are numbers."""
MIB = 1 << 20
_UNIT = re.compile(r"\s*(.*?)\s*[\[(]\s*([^\[\]()0-9][^\[\]()]*?)\s*[\])]\s*")


def unit_in_name(name: str) -> tuple[str, str]:
    """Return name and unit of a column such as `q1 [deg]` or `q1 (deg)`; an empty unit where it has none.

    >>> unit_in_name("q1 [deg]"), unit_in_name("q[1]")
    (('q1', 'deg'), ('q[1]', ''))
    """
    matched = _UNIT.fullmatch(name)
    return (matched[1], matched[2]) if matched and matched[1] else (name, "")


@contextmanager
def of_kind(file: str, kind: str, expected: str) -> Iterator[None]:
    """Turn the errors of a library for foreign or damaged bytes into InputError."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        raise refused(file, f"a file that is no {kind}: {reason(error)}", expected) from None


@dataclass(frozen=True)
class Bounds:
    """Largest sizes of a table in a file.

    file: bytes of the file; text: bytes of a file of text; line: bytes of a line of it; values: bytes of all numbers
    that are read of a file, unpacked; columns: columns of a table; members: arrays, groups or fields of an archive;
    depth: levels of groups or structures.
    """

    file: int = 4096 * MIB
    text: int = 512 * MIB
    line: int = MIB
    values: int = 256 * MIB
    columns: int = 100_000
    members: int = 10_000
    depth: int = 16

    def check_values(self, file: str, arrays: Iterable[tuple[str, Sequence[int], int]]) -> None:
        """Check the declared sizes of arrays: name, shape and bytes of an entry of each. Raises InputError."""
        total = 0
        for name, shape, itemsize in arrays:
            if any(length < 0 for length in shape):
                raise refused(file, f"{name} of shape {tuple(shape)}", "an array without negative lengths")
            total += math.prod(shape) * itemsize
            if total > self.values:
                got = f"{size(total)} of numbers with {name}, of shape {tuple(shape)}"
                hint = "Take fewer columns, thin it, or cut it into several files."
                raise refused(file, got, f"at most {size(self.values)}", hint)

    def check_members(self, file: str, count: int, kind: str = "members") -> None:
        """Check the number of members of an archive. Raises InputError."""
        if count > self.members:
            raise refused(file, f"{count} {kind}", f"at most {self.members}", "Keep the columns that are needed.")

    def check_columns(self, file: str, count: int) -> None:
        """Check the number of columns of a table. Raises InputError."""
        if count > self.columns:
            raise refused(file, f"{count} columns", f"at most {self.columns}", "Are its rows and columns exchanged?")


SIDE = Bounds(file=384 * MIB, text=384 * MIB, values=384 * MIB)
"""Bounds of files beside a sweep, which are kept with it in memory."""
KEPT = Bounds(file=1024 * MIB, text=1024 * MIB, values=1024 * MIB)
"""Bounds of tables that the user's own program has in memory already, and of tables that a store keeps."""
POINTS = Bounds(file=64 * MIB, text=64 * MIB, values=64 * MIB)
"""Bounds of points of trajectories and of forces over time."""
RECORDED = Bounds()
"""Bounds of recordings and measured poses, of which only the columns in use are read."""


@dataclass(frozen=True)
class ReadColumns:
    """Columns that were read (row,), and notes about the rows left out of them."""

    columns: Mapping[str, Array]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns of a file: their names in order, and the function that reads some of them.

    units: of the columns that have one; others: names of entries that are no column of numbers.
    """

    file: str
    names: tuple[str, ...]
    reader: Callable[[Sequence[str]], ReadColumns] = field(repr=False)
    units: Mapping[str, str] = field(default_factory=dict)
    others: tuple[str, ...] = ()

    def read(self, names: Iterable[str]) -> ReadColumns:
        """Read columns by name. Raises InputError."""
        return self.reader(tuple(dict.fromkeys(names)))


@dataclass(frozen=True)
class Variable:
    """An array in an archive: name, shape, dtype, and the function that loads it."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype
    load: Callable[[], NDArray[np.generic]] = field(repr=False)

    @property
    def is_signal(self) -> bool:
        """Return whether it can be columns: numbers in one or two dims, more than one row."""
        return self.dtype.kind in NUMBERS and len(self.shape) in (1, 2) and max(self.shape, default=0) > 1

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of its columns: its own, or `name[1]` and so on; the longer dim is that of the rows."""
        count = min(self.shape) if len(self.shape) == 2 else 1
        return (self.name,) if count == 1 else tuple(f"{self.name}[{k + 1}]" for k in range(count))


def columns_of(file: str, variables: Iterable[Variable], bounds: Bounds) -> Columns:
    """Return the columns of the arrays that can be signals; settings and texts are left out. Raises InputError."""
    places: dict[str, tuple[Variable, int]] = {}
    for variable in variables:
        if variable.is_signal and 0 not in variable.shape:
            bounds.check_columns(file, len(places) + (min(variable.shape) if len(variable.shape) == 2 else 1))
            places |= {name: (variable, k) for k, name in enumerate(variable.columns)}

    def read(names: Sequence[str]) -> ReadColumns:
        used = {places[name][0].name: places[name][0] for name in names}
        bounds.check_values(file, ((v.name, v.shape, max(v.dtype.itemsize, 8)) for v in used.values()))
        arrays = {name: _rows_first(variable, file) for name, variable in used.items()}
        return ReadColumns({name: arrays[places[name][0].name][:, places[name][1]].copy() for name in names})

    return Columns(file, tuple(places), read)


def _rows_first(variable: Variable, file: str) -> Array:
    """Return the numbers of a variable (row, column), the longer dim first. Raises InputError for another shape."""
    array = np.asarray(variable.load())
    if array.shape != variable.shape:
        raise refused(file, f"{variable.name} of shape {array.shape}", f"the shape {variable.shape} that it declares")
    matrix = np.asarray(array.reshape(len(array), -1), dtype=np.float64)
    return matrix.T if matrix.shape[0] < matrix.shape[1] else matrix
