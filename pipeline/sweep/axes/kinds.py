"""Axes of a sweep: grids, lists, samples and products, whose values are computed when they are read.

A grid counts in a mixed radix with its last parameter fastest, a list goes through its columns together, a sample is
drawn once from its seed, a product combines these. Lengths are Python integers, so products of lengths do not overflow.
Conditions, derived parameters and parts of axes are in `pipeline.sweep.axes.derived`.
"""

from __future__ import annotations

import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.sweep.axes import samples
from robots.data_classes import dataclass, field

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

MAX_SAMPLES = 10**13
"""Samples of a sweep: designs x friction sets x trajectories x times. An hour of a thousand cores."""

MAX_SIMULATED = 10**10
"""Samples of a sweep of simulations, which take a hundred times as long."""

MAX_LISTED = 20_000
"""Largest length of a column that is described number by number, as a sweep file may list. Longer ones get a digest."""

MAX_DRAWN = 10**7
"""Numbers in a seeded sample: it is drawn whole, because a Latin hypercube is one object."""


@dataclass(frozen=True)
class Range:
    """`num` numbers from `start` to `stop`, both included: the numbers of `numpy.linspace`, bit for bit.

    With `log`, neighbours have equal ratios instead of equal differences.
    """

    start: float
    stop: float
    num: int
    log: bool = False

    @property
    def size(self) -> int:
        """Number of values. It is no `len`, because lengths in Python are machine integers."""
        return self.num

    def take(self, indices: Indices) -> Array:
        """Return the numbers at `indices`, in SI units."""
        if self.num == 1:
            return np.full(indices.shape, self.start + 0.0)  # numpy too makes 0.0 of -0.0
        if self.log:
            inner = samples.between(self.start, self.stop, indices / (self.num - 1), log=True)
            return np.where(indices == self.num - 1, self.stop, inner)
        delta, intervals = self.stop - self.start, self.num - 1
        step = delta / intervals
        # The order of operations is numpy's, also where the step underflows to zero.
        offset = indices * step if step else indices / intervals * delta
        return np.where(indices == intervals, self.stop, offset + self.start)


@dataclass(frozen=True)
class ExplicitValues:
    """Numbers that the file gives one by one."""

    numbers: tuple[float, ...]

    @property
    def size(self) -> int:
        """Number of values."""
        return len(self.numbers)

    def take(self, indices: Indices) -> Array:
        """Return the numbers at `indices`, in SI units."""
        return np.asarray(self.numbers, float)[indices]


@dataclass(frozen=True, eq=False)
class ArrayValues:
    """Numbers of a table, in SI, all in memory. They are equal to the same numbers in a list."""

    numbers: Array
    unit: str = field(default="", kw_only=True)
    """Unit of a label, in SI, where its table says it; the unit of a parameter is known."""

    @property
    def size(self) -> int:
        """Number of values."""
        return len(self.numbers)

    def take(self, indices: Indices) -> Array:
        """Return the numbers at `indices`, in SI units."""
        return self.numbers[indices]


@dataclass(frozen=True, eq=False)
class TextValues(ArrayValues):
    """Texts of a table, such as names of motors; as a number each counts as its place among `texts`, which differ."""

    texts: tuple[str, ...]

    @classmethod
    def of(cls, rows: Sequence[str]) -> TextValues:
        """Return the texts of all rows."""
        texts = tuple(dict.fromkeys(rows))
        places = {text: float(place) for place, text in enumerate(texts)}
        return cls(np.array([places[row] for row in rows]), texts)

    @property
    def rows(self) -> list[str]:
        """The text of each row."""
        return [self.texts[int(place)] for place in self.numbers]


Column = Range | ExplicitValues | ArrayValues


@dataclass(frozen=True)
class Axis(ABC):
    """One axis of a sweep: the parameters that change along it, and how many sets of values it has."""

    names: tuple[str, ...]

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of sets of values."""

    @abstractmethod
    def take(self, indices: Indices) -> dict[str, Array]:
        """Return the values of each parameter at `indices`."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """Describe the axis in types of JSON. Equal descriptions are equal axes."""

    @property
    def texts(self) -> Mapping[str, tuple[str, ...]]:
        """Texts of names whose values are places among them: labels of designs."""
        return {}

    @property
    def units(self) -> Mapping[str, str]:
        """Units of labels that are numbers, where a table says them."""
        return {}

    def values(self, start: int = 0, stop: int | None = None) -> dict[str, Array]:
        """Return each parameter's values in SI units, (stop - start,), from `start` to before `stop` (absent: the end).

        Raises IndexError where that leaves the axis.
        """
        stop = self.size if stop is None else stop
        if not 0 <= start <= stop <= self.size:
            raise IndexError(
                f"values {start} to {stop} were asked of an axis with {self.size}; expected 0 <= start <= stop"
            )
        return self.take(np.arange(start, stop, dtype=np.int64))


@dataclass(frozen=True)
class Grid(Axis):
    """Combinations of the values in `columns`, one per name; the last changes fastest. No name: one empty set."""

    columns: tuple[Column, ...]

    @property
    def size(self) -> int:
        """Product of the column lengths, exact."""
        return math.prod(column.size for column in self.columns)

    def take(self, indices: Indices) -> dict[str, Array]:
        """Return the values at `indices`: digits of a mixed radix, from the last column to the first."""
        digits: list[Array] = []
        for column in reversed(self.columns):
            indices, digit = np.divmod(indices, column.size)
            digits.append(column.take(digit))
        return dict(zip(self.names, reversed(digits), strict=True))

    def describe(self) -> dict[str, Any]:
        """Return each name and the definition of its column, in order."""
        return {"grid": [[name, _column(column)] for name, column in zip(self.names, self.columns, strict=True)]}


@dataclass(frozen=True)
class Listed(Axis):
    """Columns of equal length whose values go together, row by row."""

    columns: tuple[Column, ...]

    @property
    def size(self) -> int:
        """Common length of the columns."""
        return self.columns[0].size

    def take(self, indices: Indices) -> dict[str, Array]:
        """Return the rows at `indices`."""
        return {name: column.take(indices) for name, column in zip(self.names, self.columns, strict=True)}

    def describe(self) -> dict[str, Any]:
        """Return each name and its numbers, in order."""
        return {"list": [[name, _column(column)] for name, column in zip(self.names, self.columns, strict=True)]}

    @property
    def texts(self) -> Mapping[str, tuple[str, ...]]:
        """Texts of the columns of texts, by name."""
        named = zip(self.names, self.columns, strict=True)
        return {name: column.texts for name, column in named if isinstance(column, TextValues)}

    @property
    def units(self) -> Mapping[str, str]:
        """Units of the columns of a table that have one, by name."""
        named = zip(self.names, self.columns, strict=True)
        return {name: column.unit for name, column in named if isinstance(column, ArrayValues) and column.unit}


@dataclass(frozen=True)
class Sampled(Axis):
    """`count` sets drawn between `low` and `high` (one each per name) from a seed: the same for the same seed.

    `log` tells for each name whether its logarithm is spread evenly (absent: none). `axis` is the name of the axis,
    which has streams of its own.
    """

    low: tuple[float, ...]
    high: tuple[float, ...]
    method: samples.SamplingMethod
    count: int
    seed: int
    log: tuple[bool, ...] = ()
    axis: str = ""

    @property
    def size(self) -> int:
        """Number of sets drawn."""
        return self.count

    def take(self, indices: Indices) -> dict[str, Array]:
        """Return the sets at `indices` of the whole sample."""
        unit = samples.sample(self.method, self.count, self.seed, self.axis, self.names)[:, indices]
        logs = self.log or (False,) * len(self.names)
        rows = zip(self.names, self.low, self.high, unit, logs, strict=True)
        return {name: samples.between(low, high, row, log=log) for name, low, high, row, log in rows}

    def describe(self) -> dict[str, Any]:
        """Return the method, count, seed, and the bounds of each name, with the scale if it is logarithmic."""
        bounds = [list(row) for row in zip(self.names, self.low, self.high, strict=True)]
        logs = {"log": [name for name, log in zip(self.names, self.log, strict=False) if log]} if any(self.log) else {}
        return {"sample": {"method": self.method, "count": self.count, "seed": str(self.seed), "bounds": bounds} | logs}


@dataclass(frozen=True)
class Product(Axis):
    """Combinations of the sets of several axes; the last changes fastest."""

    parts: tuple[Axis, ...]

    @property
    def size(self) -> int:
        """Product of the sizes, exact."""
        return math.prod(part.size for part in self.parts)

    def take(self, indices: Indices) -> dict[str, Array]:
        """Return the values at `indices`: digits of a mixed radix, from the last axis to the first."""
        taken: list[dict[str, Array]] = []
        for part in reversed(self.parts):
            indices, digit = np.divmod(indices, part.size)
            taken.append(part.take(digit))
        return {name: values for sets in reversed(taken) for name, values in sets.items()}

    def describe(self) -> dict[str, Any]:
        """Describe each axis, in order; the second and further axes of a kind have their number in the key."""
        described: dict[str, Any] = {}
        for part in self.parts:
            for kind, value in part.describe().items():
                same = sum(key.partition("_")[0] == kind for key in described)
                described[f"{kind}_{same + 1}" if same else kind] = value
        return described

    @property
    def texts(self) -> Mapping[str, tuple[str, ...]]:
        """Texts of all axes."""
        return {name: texts for part in self.parts for name, texts in part.texts.items()}

    @property
    def units(self) -> Mapping[str, str]:
        """Units of all axes."""
        return {name: unit for part in self.parts for name, unit in part.units.items()}


def repeated(column: Range | ExplicitValues) -> float | None:
    """Return the first number that a column has twice, None where all differ."""
    if isinstance(column, ExplicitValues):
        return next(_again(column.numbers), (0, 0, None))[2]
    step = abs(column.stop - column.start) / max(1, column.num - 1)
    is_fine = column.num == 1 or step >= np.spacing(max(abs(column.start), abs(column.stop)))
    return None if is_fine else column.start


def repeated_rows(columns: Sequence[Range | ExplicitValues]) -> tuple[int, int] | None:
    """Return the numbers of the first two rows of columns of equal length that are equal, None where all differ."""
    ranges = [column for column in columns if isinstance(column, Range)]
    if any(repeated(column) is None for column in ranges) and columns[0].size > 1:
        return None  # a range that moves makes every row another one
    lists = [column.numbers for column in columns if isinstance(column, ExplicitValues)]
    if not lists:
        return (0, 1) if columns[0].size > 1 else None
    return next(((first, again) for first, again, _ in _again(list(zip(*lists, strict=True)))), None)


def _again(items: Sequence[Hashable]) -> Iterator[tuple[int, int, Any]]:
    """Yield the repeated items: the number of the first of them, that of this one, and the item."""
    seen: dict[Hashable, int] = {}
    for number, item in enumerate(items):
        if item in seen:
            yield seen[item], number, item
        seen.setdefault(item, number)


NOTHING = Grid((), ())
"""The axis without swept parameters: one set, of no values."""


def part_with(axis: Axis, name: str) -> Axis:
    """Return the smallest part of an axis that has all values of a parameter: of a grid its column alone."""
    if isinstance(axis, Product):
        return next(part_with(part, name) for part in axis.parts if name in part.names)
    if isinstance(axis, Grid):
        return Grid((name,), (axis.columns[axis.names.index(name)],))
    return axis


def complete(axis: Axis, fixed: Mapping[str, float], start: int, stop: int) -> dict[str, Array]:
    """Compute all parameters along `axis`, (stop - start,) each, in the order of `fixed`, a value for each."""
    swept = axis.values(start, stop)
    return {name: swept[name] if name in swept else np.full(stop - start, value) for name, value in fixed.items()}


def _column(column: Column) -> Any:
    if isinstance(column, TextValues):
        digest = hashlib.sha256("\n".join(column.rows).encode()).hexdigest()
        return {"texts": column.rows} if column.size <= MAX_LISTED else {"sha256": digest, "count": column.size}
    if isinstance(column, ArrayValues) and column.size > MAX_LISTED:
        return {"sha256": hashlib.sha256(column.numbers.astype("<f8").tobytes()).hexdigest(), "count": column.size}
    if isinstance(column, ArrayValues):
        return {"values": column.numbers.tolist()}
    if isinstance(column, ExplicitValues):
        return {"values": list(column.numbers)}
    return [column.start, column.stop, column.num, *(["log"] if column.log else [])]
