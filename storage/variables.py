"""Blocks of a result set, and one variable in them: the region, the file, shard and chunks of each block.

Arithmetic on plain integers, no files. `storage.layout` has the variables of a store.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import product
from typing import Literal, SupportsIndex

import numpy as np

from robots.data_classes import dataclass
from robots.dims import FRICTION, GAINS, STATE
from robots.quantities import Quantity
from storage.errors import StoreError

SPLIT = ("design", FRICTION, "trajectory")
"""The dims that are cut into blocks, slowest first. All others are whole in every block, but see `BlockGrid.split`."""

WHERE_VARIED = (GAINS, STATE)
"""Dims that variables of a simulation lack where a sweep does not vary them."""

Source = Literal["schema", "own", "later"]

CHUNK_MIN = 1 << 20
CHUNK_MAX = 4 << 20


@dataclass(frozen=True)
class BlockGrid:
    """Sizes of all dims, and lengths of a block along the dims that are cut: the grid that counts blocks.

    Raises StoreError for a size below one.
    """

    sizes: Mapping[str, int]
    block: Mapping[str, int]
    simulated: bool = False

    def __post_init__(self) -> None:
        sizes = {dim: _count(f"size of {dim!r}", size) for dim, size in self.sizes.items()}
        object.__setattr__(self, "sizes", sizes)
        lengths = {dim: _count(f"block length along {dim!r}", self.block.get(dim, 1)) for dim in self.split}
        object.__setattr__(self, "block", {dim: min(lengths[dim], sizes.get(dim, 1)) for dim in lengths})

    @cached_property
    def split(self) -> tuple[str, ...]:
        """The dims that are cut, slowest first: SPLIT, and for a simulation the varied dims that blocks cut."""
        varied = (dim for dim in WHERE_VARIED if dim in self.sizes and dim in self.block)
        return (*SPLIT, *varied) if self.simulated else SPLIT

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """Number of blocks along each of the dims that are cut."""
        return tuple(_ceil(self.sizes[dim], self.block[dim]) for dim in self.split)

    @property
    def blocks(self) -> int:
        """Number of blocks."""
        return math.prod(self.counts)

    def unravel(self, index: int) -> tuple[int, ...]:
        """Return a block's place in the grid: design slowest, last dim fastest. Raises StoreError beyond the last."""
        if not 0 <= index < self.blocks:
            raise StoreError(f"there is no block {index}; expected 0 to {self.blocks - 1}")
        places: list[int] = []
        for count in reversed(self.counts):
            index, place = divmod(index, count)
            places.append(place)
        return tuple(reversed(places))

    def places(self, index: int) -> dict[str, int]:
        """Return a block's place along each split dim."""
        return dict(zip(self.split, self.unravel(index), strict=True))

    def index(self, places: Iterable[int]) -> int:
        """Return the block at a place of the grid."""
        index = 0
        for place, count in zip(places, self.counts, strict=True):
            index = index * count + place
        return index

    def bounds(self, index: int) -> dict[str, slice]:
        """Return the range of a block along each split dim."""
        starts = ((dim, place * self.block[dim]) for dim, place in self.places(index).items())
        return {dim: slice(start, min(start + self.block[dim], self.sizes[dim])) for dim, start in starts}


@dataclass(frozen=True)
class StoredVariable:
    """A variable of a store: its row with the dims that it has here, and its regions and files in all blocks.

    Friction does not change one that `is_steady`: it lacks that dim. Of one that `is_selected` some joints or links
    are stored, which have a dim of their own. Its row is of the schema, of a user's `own` function, or of a `later`
    version.
    """

    row: Quantity
    grid: BlockGrid
    is_steady: bool = False
    is_selected: bool = False
    source: Source = "schema"

    @property
    def name(self) -> str:
        """Name of the variable and of the folder with its files."""
        return self.row.name

    @property
    def dims(self) -> tuple[str, ...]:
        """Dims in order."""
        return self.row.dims

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Length along each dim."""
        return tuple(self.grid.sizes[dim] for dim in self.dims)

    @property
    def bytes(self) -> int:
        """Bytes of the variable, before compression."""
        return self._nbytes(self.shape)

    def region(self, index: int) -> tuple[slice, ...]:
        """Return the range of a block along each dim."""
        bounds = self.grid.bounds(index)
        return tuple(bounds.get(dim, slice(0, self.grid.sizes[dim])) for dim in self.dims)

    def region_shape(self, index: int) -> tuple[int, ...]:
        """Return the shape of the region of a block."""
        return lengths(self.region(index))

    def region_bytes(self, index: int) -> int:
        """Return the bytes of the region of a block, before compression."""
        return self._nbytes(self.region_shape(index))

    def inside(self, index: int) -> tuple[slice, ...]:
        """Return where the region of a block lies in its shard, which is whole chunks."""
        return tuple(slice(0, length) for length in self.region_shape(index))

    @property
    def regions(self) -> tuple[tuple[int, ...], ...]:
        """Lengths of the regions along each dim."""
        sizes, block = self.grid.sizes, self.grid.block
        parts = ((sizes[dim], block.get(dim, sizes[dim])) for dim in self.dims)
        return tuple(tuple(min(part, size - at) for at in range(0, size, part)) for size, part in parts)

    def is_owned(self, index: int) -> bool:
        """Return whether a block writes its region: the first of the blocks that share it does."""
        return all(place == 0 for dim, place in self.grid.places(index).items() if dim not in self.dims)

    def key(self, index: int) -> str:
        """Return the name of the file of a block's region."""
        places = self.grid.places(index)
        return self._key(places.get(dim, 0) for dim in self.dims)

    def all_keys(self) -> Iterator[str]:
        """Yield the names of the files of all regions."""
        counts = dict(zip(self.grid.split, self.grid.counts, strict=True))
        return map(self._key, product(*(range(counts.get(dim, 1)) for dim in self.dims)))

    def _key(self, places: Iterable[int]) -> str:
        return f"{self.name}/{'.'.join(['c', *map(str, places)])}"

    @property
    def shards(self) -> int:
        """Number of shards."""
        counts = zip(self.grid.split, self.grid.counts, strict=True)
        return math.prod(count for dim, count in counts if dim in self.dims)

    @property
    def shard(self) -> tuple[int, ...]:
        """Shape of a shard: the region of a whole block, time rounded up to whole chunks."""
        return self._cut[0]

    @property
    def chunk(self) -> tuple[int, ...]:
        """Shape of the chunks inside a shard, of 1 to 4 MiB if the sizes allow it.

        Whole time series stay together as far as possible: designs are parted first, then friction sets and
        trajectories, each evenly, and time last: into whole samples, of which the last may be beyond 4 MiB.
        """
        return self._cut[1]

    @property
    def shard_bytes(self) -> int:
        """Bytes of a shard, before compression."""
        return self._nbytes(self.shard)

    @cached_property
    def _cut(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Shapes of shard and chunk."""
        shard = {dim: self.grid.block.get(dim, self.grid.sizes[dim]) for dim in self.dims}
        chunk = dict(shard)
        for dim in (dim for dim in self.grid.split if dim in chunk):
            chunk[dim] = _divisor(chunk[dim], self._nbytes(chunk.values()) // chunk[dim])
        if "time" in chunk and (size := self._nbytes(chunk.values())) > CHUNK_MAX:
            chunk["time"] = _ceil(chunk["time"], min(_ceil(size, CHUNK_MAX), chunk["time"]))
            shard["time"] = chunk["time"] * _ceil(shard["time"], chunk["time"])
        return tuple(shard.values()), tuple(chunk.values())

    def _nbytes(self, shape: Iterable[int]) -> int:
        """Return the bytes of a part of this shape."""
        return math.prod(shape) * np.dtype(self.row.dtype).itemsize


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
