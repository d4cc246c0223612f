"""Layout of a result set in blocks, shards and chunks: arithmetic on plain integers, no files.

A block is a range of designs, friction sets and trajectories with all their times. In a simulation it is also a
range of sets of gains and of initial states, where these are cut. Each variable has one shard, that is one file,
for each of its block regions, so that blocks never share a file and may be written in any order, by any process. A
variable without one of the split dims has the same region in several blocks; the first of these owns it.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any, SupportsIndex

import numpy as np

from robots.quantities import FRICTION, Quantity, selected_dims
from robots.quantities import simulated as simulated_row
from storage.errors import StoreError
from storage.schema import NAME, SPLIT, WHERE_VARIED, lookup

ROW = ("name", "dims", "units", "long_name", "frame", "kind", "dtype")
"""Fields of a user's own metric in a manifest, in this order."""

CHUNK_MIN = 1 << 20
CHUNK_MAX = 4 << 20
SHARD_LIMIT = 1 << 30
"""Bytes of the largest shard: one has to fit in memory several times over, and Blosc ends at 2 GiB."""

MAX_FILES = 2 * 10**6
"""Files of a store; a plan is refused above half as many."""

COORDINATE_CHUNK = 1 << 16
"""Values in a file of a coordinate along a dim that can grow: the same before and after, so both can be read."""

METADATA_FILES = 5
"""Files of a store beside arrays and coordinates: group metadata, manifest, ledger, log and lock."""


@dataclass(frozen=True)
class Layout:
    """Sizes of all dims, lengths of a block along the split dims, and the variables that are stored.

    `steady` are those that friction does not change here: they lack its dim; `own` are rows of variables of a user's
    own, which the schema does not know. Those of a sweep that is `simulated` have the dims of a simulation; of those
    that are `selected` some joints or links are stored, which have a dim of their own; `later` are rows of variables
    that only a later version knows, as its metadata describe them (`storage.later`). Raises StoreError for a size
    below one, a dim without a size, an unknown variable, or a shard above `SHARD_LIMIT`.
    """

    sizes: dict[str, int]
    block: dict[str, int]
    variables: tuple[str, ...]
    steady: tuple[str, ...] = ()
    own: tuple[Quantity, ...] = ()
    simulated: bool = False
    selected: tuple[str, ...] = ()
    later: tuple[Quantity, ...] = ()

    def __post_init__(self) -> None:
        sizes = {dim: _count(f"size of {dim!r}", size) for dim, size in self.sizes.items()}
        for dim in self._dims():
            if dim not in sizes:
                raise StoreError(f"the layout has no size for {dim!r}; got sizes of {', '.join(sizes)}")
        block = {dim: _count(f"block length along {dim!r}", self.block.get(dim, 1)) for dim in self.split}
        object.__setattr__(self, "sizes", sizes)
        object.__setattr__(self, "block", {dim: min(block[dim], sizes[dim]) for dim in block})
        for name in self.variables:
            if (size := _nbytes(self.variable(name), self.shard(name))) > SHARD_LIMIT:
                raise StoreError(
                    f"a block of {name} holds {size} bytes; expected at most {SHARD_LIMIT}; make blocks shorter or "
                    "time steps fewer"
                )

    @property
    def split(self) -> tuple[str, ...]:
        """The dims that are cut, slowest first: SPLIT, and of a simulation those that blocks have a length along."""
        varied = (dim for dim in WHERE_VARIED if dim in self.sizes and dim in self.block)
        return (*SPLIT, *varied) if self.simulated else SPLIT

    def variable(self, name: str) -> Quantity:
        """Return the row of a variable with the dims that it has here. Raises StoreError with the nearest name."""
        described = {row.name: row for row in (*self.later, *self.own)}.get(name)
        if described is not None and described in self.later:
            return described
        row = described or (simulated_row(lookup(name)) if self.simulated else lookup(name))
        if self.simulated:
            row = replace(row, dims=tuple(dim for dim in row.dims if dim in self.sizes or dim not in WHERE_VARIED))
        if name in self.selected:
            row = replace(row, dims=selected_dims(row.dims))
        return replace(row, dims=tuple(dim for dim in row.dims if dim != FRICTION)) if name in self.steady else row

    def _dims(self) -> tuple[str, ...]:
        """Return the dims that the variables and their blocks need."""
        names = self.variables
        if not names or len(set(names)) < len(names):
            raise StoreError(f"a layout got the variables {names}; expected one or more, each once")
        return tuple(dict.fromkeys((*SPLIT, *(dim for name in names for dim in self.variable(name).dims))))

    @cached_property
    def grid(self) -> tuple[int, ...]:
        """Number of blocks along each of the dims that are cut."""
        return tuple(_ceil(self.sizes[dim], self.block[dim]) for dim in self.split)

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return math.prod(self.grid)

    def unravel(self, index: int) -> tuple[int, ...]:
        """Return a block's place in the grid: design slowest, last dim fastest. Raises StoreError beyond the last."""
        if not 0 <= index < self.blocks:
            raise StoreError(f"there is no block {index}; expected 0 to {self.blocks - 1}")
        places: list[int] = []
        for count in reversed(self.grid):
            index, place = divmod(index, count)
            places.append(place)
        return tuple(reversed(places))

    def bounds(self, index: int) -> dict[str, slice]:
        """Return the range of a block along each split dim."""
        starts = ((dim, place * self.block[dim]) for dim, place in zip(self.split, self.unravel(index), strict=True))
        return {dim: slice(start, min(start + self.block[dim], self.sizes[dim])) for dim, start in starts}

    def place(self, index: int, within: tuple[int, int, int]) -> tuple[int, int, int]:
        """Convert the indices of a case within a block to its indices in the whole result set.

        Indices count along design, friction and trajectory.
        """
        bounds = self.bounds(index)
        design, friction, trajectory = (bounds[dim].start + at for dim, at in zip(SPLIT, within, strict=True))
        return design, friction, trajectory

    def region(self, index: int, variable: str) -> tuple[slice, ...]:
        """Return the range of a block in a variable, along each of its dims."""
        bounds = self.bounds(index)
        return tuple(bounds.get(dim, slice(0, self.sizes[dim])) for dim in self.variable(variable).dims)

    def key(self, index: int, variable: str) -> str:
        """Return the name of the file of a block's region of a variable."""
        places = dict(zip(self.split, self.unravel(index), strict=True))
        return self._key(variable, (places.get(dim, 0) for dim in self.variable(variable).dims))

    def keys(self, variable: str) -> Iterator[str]:
        """Yield the names of all files of a variable's values."""
        counts = dict(zip(self.split, self.grid, strict=True))
        for places in product(*(range(counts.get(dim, 1)) for dim in self.variable(variable).dims)):
            yield self._key(variable, places)

    def index(self, places: Iterable[int]) -> int:
        """Return the block at a place of the grid."""
        index = 0
        for place, count in zip(places, self.grid, strict=True):
            index = index * count + place
        return index

    def owns(self, index: int, variable: str) -> bool:
        """Return whether this block writes its region of the variable.

        The writer is the first of the blocks that share the region.
        """
        dims = self.variable(variable).dims
        return all(place == 0 for dim, place in zip(self.split, self.unravel(index), strict=True) if dim not in dims)

    def owned(self, index: int) -> tuple[str, ...]:
        """Return the variables that a block writes, a status last: it says that the others are there."""
        names = (name for name in self.variables if self.owns(index, name))
        return tuple(sorted(names, key=lambda name: self.variable(name).kind == "status"))

    def shape(self, variable: str) -> tuple[int, ...]:
        """Return the shape of a variable."""
        return tuple(self.sizes[dim] for dim in self.variable(variable).dims)

    def regions(self, variable: str) -> tuple[tuple[int, ...], ...]:
        """Return the lengths of the regions of a variable along each of its dims."""
        lengths = ((self.sizes[dim], self.block.get(dim, self.sizes[dim])) for dim in self.variable(variable).dims)
        return tuple(tuple(min(part, size - at) for at in range(0, size, part)) for size, part in lengths)

    def shard(self, variable: str) -> tuple[int, ...]:
        """Return the shape of a shard: the region of a whole block, time rounded up to whole chunks."""
        return self._cut(self.variable(variable))[0]

    def chunk(self, variable: str) -> tuple[int, ...]:
        """Return the shape of the chunks inside a shard, of 1 to 4 MiB if the sizes allow it.

        Whole time series stay together as far as possible: designs are parted first, then friction sets and
        trajectories, each evenly, and time last: into whole samples, of which the last may be beyond 4 MiB.
        """
        return self._cut(self.variable(variable))[1]

    def bytes(self, variable: str) -> int:
        """Return the bytes of a variable, before compression."""
        return _nbytes(self.variable(variable), self.shape(variable))

    def block_bytes(self, index: int) -> int:
        """Return the bytes that a block writes, before compression."""
        return sum(_nbytes(self.variable(name), lengths(self.region(index, name))) for name in self.owned(index))

    def writing_bytes(self, index: int) -> int:
        """Return the most bytes for writing a block besides its arrays: one variable compressed, the next under way."""
        regions = (_nbytes(self.variable(name), lengths(self.region(index, name))) for name in self.owned(index))
        return sum(sorted(regions)[-2:])

    def shards(self, variable: str) -> int:
        """Return the number of shards of a variable."""
        dims = self.variable(variable).dims
        return math.prod(count for dim, count in zip(self.split, self.grid, strict=True) if dim in dims)

    @property
    def files(self) -> int:
        """Number of files, without those of coordinates."""
        return METADATA_FILES + sum(1 + self.shards(name) for name in self.variables)

    def require_files(self) -> None:
        """Refuse more files than a store may have: memory of all who open it grows with them. Raises StoreError."""
        if self.files > MAX_FILES:
            raise StoreError(f"a store of {self.blocks} blocks has {self.files} files; expected at most {MAX_FILES}")

    @staticmethod
    def _key(variable: str, places: Iterable[int]) -> str:
        return f"{variable}/{'.'.join(['c', *map(str, places)])}"

    def _cut(self, variable: Quantity) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the shapes of shard and chunk."""
        shard = {dim: self.block.get(dim, self.sizes[dim]) for dim in variable.dims}
        chunk = dict(shard)
        for dim in (dim for dim in self.split if dim in chunk):
            chunk[dim] = _divisor(chunk[dim], _nbytes(variable, chunk.values()) // chunk[dim])
        if "time" in chunk and (size := _nbytes(variable, chunk.values())) > CHUNK_MAX:
            chunk["time"] = _ceil(chunk["time"], min(_ceil(size, CHUNK_MAX), chunk["time"]))
            shard["time"] = chunk["time"] * _ceil(shard["time"], chunk["time"])
        return tuple(shard.values()), tuple(chunk.values())

    def as_dict(self) -> dict[str, Any]:
        """Return the layout as plain data."""
        own: dict[str, Any] = {"own": [{key: getattr(row, key) for key in ROW} for row in self.own]} if self.own else {}
        known = {"sizes": dict(self.sizes), "block": dict(self.block)}
        own |= {"simulated": True} if self.simulated else {}
        own |= {"selected": list(self.selected)} if self.selected else {}
        return {**known, "variables": list(self.variables), "steady": list(self.steady), **own}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], later: tuple[Quantity, ...] = ()) -> Layout:
        """Return the layout in plain data, without the rows `later`, which is none of it.

        Raises KeyError, TypeError, ValueError or StoreError where it is no layout.
        """
        own = tuple(_user_metric(row) for row in data.get("own", ()))
        sizes, block, simulated = dict(data["sizes"]), dict(data["block"]), bool(data.get("simulated", False))
        steady, selected = (tuple(data.get(key, ())) for key in ("steady", "selected"))
        return cls(sizes, block, tuple(data["variables"]), steady, own, simulated, selected, later)


def _user_metric(row: Mapping[str, Any]) -> Quantity:
    """Return the row of a metric of a user's own. Raises KeyError or ValueError where it is none."""
    name, dims, units, long_name, frame, _, dtype = (row[key] for key in ROW)
    if not isinstance(name, str) or not NAME.fullmatch(name):  # it becomes the name of a folder
        raise ValueError(f"a variable named {name!r:.200}")
    return Quantity(name, tuple(dims), units, long_name, "user", frame, dtype=dtype)


def lengths(region: tuple[slice, ...]) -> tuple[int, ...]:
    """Return the shape of a region."""
    return tuple(part.stop - part.start for part in region)


def _count(what: str, value: SupportsIndex) -> int:
    """Return a whole number from one on, as a Python integer, which does not overflow."""
    try:
        count = operator.index(value)
    except TypeError:
        count = 0
    if count < 1:
        raise StoreError(f"{what} is {value!r}; expected a whole number from 1 on")
    return count


def _ceil(value: int, part: int) -> int:
    """Return the number of parts that cover the value."""
    return -(-value // part)


def _nbytes(variable: Quantity, shape: Iterable[int]) -> int:
    """Return the bytes of a part of a variable."""
    return math.prod(shape) * np.dtype(variable.dtype).itemsize


def _divisor(length: int, unit: int) -> int:
    """Return the longest even part of a dim that makes a chunk of the wanted size; `unit` is the bytes of length one.

    The length itself where it fits, or where none of its parts is of that size: slivers cost more than a large chunk.
    """
    if length * unit <= CHUNK_MAX:
        return length
    if unit > CHUNK_MAX:
        return 1
    parts = range(CHUNK_MAX // unit, _ceil(CHUNK_MIN, unit) - 1, -1)
    return next((part for part in parts if length % part == 0), length)
