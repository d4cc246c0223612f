"""Read results of a store: a number is of the block, variable and store it should be, or there is an error.

Zarr gives the fill value for a file that is not there, and knows neither which shard it was given nor whose. So it gets
no files of results to read. Each shard is read whole the first time that a process needs it, and its numbers are held
against the receipt of the block; afterwards, while the file is the same, only those of its chunks that are needed.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterator
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from storage.encoding import shards
from storage.encoding.shards import ShardError
from storage.errors import StoreError
from storage.expected import UNKNOWN, Expected, whose
from storage.growth import Growing, is_growing
from storage.manifest import Manifest
from storage.places.location import refusals
from storage.variables import StoredVariable
from storage.writer import BlockReader, DamagedError

Index = int | slice | NDArray[np.integer]
Indices = tuple[Index, ...]
"""Indices to read along each dim."""

REMEMBERED = 1 << 14
"""Shards of which a process remembers that they were sound."""


class CheckedArray:
    """A variable of a store. Small to pickle, as a part of a Dask graph has to be."""

    def __init__(self, reader: BlockReader, variable: StoredVariable, expected: Expected, *, finished: bool) -> None:
        self.shape, self.dtype = variable.shape, np.dtype(variable.row.dtype)
        self._reader, self._variable, self._expected, self._finished = reader, variable, expected, finished

    def read(self, key: Indices) -> NDArray[Any]:
        """Return the numbers at the product of places along each dim; a dim with one place that is no range is dropped.

        Raises StoreError that names a damaged, missing or other file.
        """
        asked = [places(part, size) for part, size in zip(key, self.shape, strict=True)]
        gathered = self._gathered(asked)
        return gathered[tuple(0 if isinstance(part, int | np.integer) else slice(None) for part in key)]

    def _gathered(self, asked: list[NDArray[np.integer]]) -> NDArray[Any]:
        """Return the numbers at the product of places along each dim, from the blocks that hold them."""
        blocks = list(self._blocks(asked))
        gathered = None if len(blocks) == 1 else np.empty([at.size for at in asked], self.dtype)
        for index in blocks:
            axes = list(zip(asked, self._variable.region(index), strict=True))
            here = [np.flatnonzero((at >= region.start) & (at < region.stop)) for at, region in axes]
            inside = [at[k] - region.start for k, (at, region) in zip(here, axes, strict=True)]
            part = self._part(index, inside)
            if gathered is None:
                return part
            gathered[np.ix_(*here)] = part
        return np.empty([at.size for at in asked], self.dtype) if gathered is None else gathered

    def _part(self, index: int, inside: list[NDArray[np.integer]]) -> NDArray[Any]:
        """Return the numbers at places within the region of a block."""
        if not self._finished and not self._expected.table().done[index]:
            return np.full([at.size for at in inside], self._variable.row.fill, self.dtype)
        box = tuple(slice(int(at.min()), int(at.max()) + 1) for at in inside)
        array, origin = self._box(index, box)
        if all((np.diff(at) == 1).all() for at in inside):
            return array[tuple(slice(part.start - at, part.stop - at) for part, at in zip(box, origin, strict=True))]
        return array[np.ix_(*(at - start for at, start in zip(inside, origin, strict=True)))]

    def _box(self, index: int, box: tuple[slice, ...]) -> tuple[NDArray[Any], tuple[int, ...]]:
        """Return an array that holds a box of a region, and where it begins: the whole region, or some chunks."""
        location = self._reader.location
        key, shape = self._variable.key(index), self._variable.region_shape(index)
        if all(part == slice(0, length) for part, length in zip(box, shape, strict=True)):
            return self._sound(index), (0,) * len(box)
        try:
            stamp = location.stamp(key)
        except OSError:
            stamp = None  # reading the file raises the error
        known = (location, key, self._expected, stamp)
        if stamp is not None and _SOUND.has(known):
            return self._chunks(index, key, box)
        array = self._sound(index)
        if stamp is not None:
            _SOUND.add(known)
        return array, (0,) * len(box)

    def _chunks(self, index: int, key: str, box: tuple[slice, ...]) -> tuple[NDArray[Any], tuple[int, ...]]:
        """Return a box of a region from its chunks alone. Raises DamagedError."""
        location, variable = self._reader.location, self._variable
        shard, chunk = variable.shard, variable.chunk
        with refusals(location.at(key)):
            try:
                size = location.size(key)
                end = size - shards.index_size(shard, chunk)
                bounds = shards.read_index(location.read_part(key, max(end, 0), size), end, shard, chunk)
                return shards.decode_part(
                    lambda start, stop: location.read_part(key, start, stop),
                    bounds, shard, chunk, variable.row.dtype, box,
                )  # fmt: skip
            except (FileNotFoundError, ShardError) as error:
                what = f"damaged (block {index} of {variable.name}: {error})"
                raise self._reader.damage(index, variable, what) from None

    def _sound(self, index: int) -> NDArray[Any]:
        """Return the region of a block, compared with its receipt. Raises StoreError that names the block found."""
        reader, variable, expected = self._reader, self._variable, self._expected
        try:
            table = expected.table()
        except StoreError:  # a store that was made larger has other receipts now
            if (later := self._of_another_time(index, reader.read_shard(index, variable))) is not None:
                return later
            raise
        data = reader.read_shard(index, variable)
        damage = None
        try:
            region = reader.decoded(index, variable, data)
            if expected.is_sound(index, variable.name, region):
                return region
        except DamagedError as error:
            damage = error
        if (later := self._of_another_time(index, data)) is not None:
            return later
        holds = whose(data, reader.layout, table, expected.hashing)
        if damage is not None and holds == UNKNOWN:
            raise damage
        raise reader.damage(index, variable, f"block {index} of {variable.name} {holds}")

    def _of_another_time(self, index: int, data: bytes) -> NDArray[Any] | None:
        """Return the region in a file of a store made larger since, or just now: it holds the same numbers and more."""
        location, here = self._reader.location, self._variable
        manifests = [Manifest.load(location)]
        if is_growing(location):
            manifests.append(Manifest.load(Growing(location)))
        for manifest in manifests:
            there = manifest.layout.variables.get(here.name)
            if manifest.generation <= self._expected.generation or there is None:
                continue
            other = there.grid.index(here.grid.unravel(index))
            try:
                region = BlockReader(location, manifest.layout).decoded(other, there, data)
                is_sound = Expected.of(location, manifest).is_sound(other, there.name, region)
            except DamagedError:
                continue
            if is_sound:
                return region[here.inside(index)]
        return None

    def _blocks(self, asked: list[NDArray[np.integer]]) -> Iterator[int]:
        """Yield the blocks whose files hold these places; of blocks that share a file, the first."""
        grid = self._variable.grid
        touched = {dim: [0] for dim in grid.split}
        for dim, at in zip(self._variable.dims, asked, strict=True):
            if dim in grid.block:
                touched[dim] = np.bincount(at // grid.block[dim]).nonzero()[0].tolist()  # unique loads masked arrays
        if all(at.size for at in asked):
            for position in product(*touched.values()):
                yield grid.index(position)


class _Remembered:
    """The last shards that were sound."""

    def __init__(self) -> None:
        self._known: OrderedDict[Hashable, None] = OrderedDict()

    def has(self, shard: Hashable) -> bool:
        """Return whether a shard is remembered as sound."""
        return shard in self._known

    def add(self, shard: Hashable) -> None:
        """Remember one."""
        self._known[shard] = None
        while len(self._known) > REMEMBERED:
            self._known.popitem(last=False)


_SOUND = _Remembered()


def places(indices: Index, size: int) -> NDArray[np.integer]:
    """Return the places along a dim that are asked for; memory is for those alone, not for the dim."""
    if isinstance(indices, slice):
        return np.arange(*indices.indices(size))
    return np.atleast_1d(np.asarray(indices)) % size
