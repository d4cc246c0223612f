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
from storage.layout import Layout, lengths
from storage.manifest import Manifest
from storage.places.location import Location, refusals
from storage.writer import BlockReader, DamagedError

Index = int | slice | NDArray[np.integer]
Indices = tuple[Index, ...]
"""Indices to read along each dim."""

REMEMBERED = 1 << 14
"""Shards of which a process remembers that they were sound."""


class CheckedArray:
    """A variable of a store. Small to pickle, as a part of a Dask graph has to be."""

    def __init__(self, location: Location, layout: Layout, name: str, expected: Expected, *, finished: bool) -> None:
        self.shape, self.dtype = layout.shape(name), np.dtype(layout.variable(name).dtype)
        self._name, self._expected, self._finished = name, expected, finished
        self._reader = BlockReader(location, layout)

    def read(self, key: Indices) -> NDArray[Any]:
        """Return the numbers at the product of places along each dim; a dim with one place that is no range is dropped.

        Raises StoreError that names a damaged, missing or other file.
        """
        asked = [places(part, size) for part, size in zip(key, self.shape, strict=True)]
        result = self._gathered(asked)
        return result[tuple(0 if isinstance(part, int | np.integer) else slice(None) for part in key)]

    def _gathered(self, asked: list[NDArray[np.integer]]) -> NDArray[Any]:
        """Return the numbers at the product of places along each dim, from the blocks that hold them."""
        layout = self._reader.layout
        blocks = list(self._blocks(asked))
        result = None if len(blocks) == 1 else np.empty([at.size for at in asked], self.dtype)
        for index in blocks:
            axes = list(zip(asked, layout.region(index, self._name), strict=True))
            here = [np.flatnonzero((at >= region.start) & (at < region.stop)) for at, region in axes]
            inside = [at[k] - region.start for k, (at, region) in zip(here, axes, strict=True)]
            part = self._part(index, inside)
            if result is None:
                return part
            result[np.ix_(*here)] = part
        return np.empty([at.size for at in asked], self.dtype) if result is None else result

    def _part(self, index: int, inside: list[NDArray[np.integer]]) -> NDArray[Any]:
        """Return the numbers at places within the region of a block."""
        if not self._finished and not self._expected.table().done[index]:
            fill = self._reader.layout.variable(self._name).fill
            return np.full([at.size for at in inside], fill, self.dtype)
        box = tuple(slice(int(at.min()), int(at.max()) + 1) for at in inside)
        array, origin = self._box(index, box)
        if all((np.diff(at) == 1).all() for at in inside):
            return array[tuple(slice(part.start - at, part.stop - at) for part, at in zip(box, origin, strict=True))]
        return array[np.ix_(*(at - start for at, start in zip(inside, origin, strict=True)))]

    def _box(self, index: int, box: tuple[slice, ...]) -> tuple[NDArray[Any], tuple[int, ...]]:
        """Return an array that holds a box of a region, and where it begins: the whole region, or some chunks."""
        layout, location = self._reader.layout, self._reader.location
        key, shape = layout.key(index, self._name), lengths(layout.region(index, self._name))
        if all(part == slice(0, length) for part, length in zip(box, shape, strict=True)):
            return self._sound(index), (0,) * len(box)
        try:
            stamp = location.stamp(key)
        except OSError:
            stamp = None  # reading it says what is wrong
        known = (location, key, self._expected, stamp)
        if stamp is not None and _SOUND.has(known):
            return self._chunks(index, key, box)
        array = self._sound(index)
        if stamp is not None:
            _SOUND.add(known)
        return array, (0,) * len(box)

    def _chunks(self, index: int, key: str, box: tuple[slice, ...]) -> tuple[NDArray[Any], tuple[int, ...]]:
        """Return a box of a region from its chunks alone. Raises DamagedError."""
        layout, location, name = self._reader.layout, self._reader.location, self._name
        shard, chunk = layout.shard(name), layout.chunk(name)
        with refusals(location.at(key)):
            try:
                size = location.size(key)
                end = size - shards.index_size(shard, chunk)
                bounds = shards.read_index(location.read_part(key, max(end, 0), size), end, shard, chunk)
                return shards.decode_part(
                    lambda start, stop: location.read_part(key, start, stop),
                    bounds, shard, chunk, layout.variable(name).dtype, box,
                )  # fmt: skip
            except (FileNotFoundError, ShardError) as error:
                raise self._reader.damage(index, name, f"damaged (block {index} of {name}: {error})") from None

    def _sound(self, index: int) -> NDArray[Any]:
        """Return the region of a block, compared with its receipt. Raises StoreError that names the block found."""
        reader, name, expected = self._reader, self._name, self._expected
        try:
            table = expected.table()
        except StoreError:  # a store that was made larger has other receipts now
            if (later := self._of_another_time(index, reader.read_shard(index, name))) is not None:
                return later
            raise
        data = reader.read_shard(index, name)
        damage = None
        try:
            region = reader.decoded(index, name, data)
            if expected.is_sound(index, name, region):
                return region
        except DamagedError as error:
            damage = error
        if (later := self._of_another_time(index, data)) is not None:
            return later
        holds = whose(data, reader.layout, table, expected.hashing)
        if damage is not None and holds == UNKNOWN:
            raise damage
        raise reader.damage(index, name, f"block {index} of {name} {holds}")

    def _of_another_time(self, index: int, data: bytes) -> NDArray[Any] | None:
        """Return the region in a file of a store made larger since, or just now: it holds the same numbers and more."""
        location, layout, name = self._reader.location, self._reader.layout, self._name
        manifests = [Manifest.load(location)]
        if is_growing(location):
            manifests.append(Manifest.load(Growing(location)))
        for manifest in manifests:
            if manifest.generation <= self._expected.generation or name not in manifest.layout.variables:
                continue
            other = manifest.layout.index(layout.unravel(index))
            try:
                region = BlockReader(location, manifest.layout).decoded(other, name, data)
                is_sound = Expected.of(location, manifest).is_sound(other, name, region)
            except DamagedError:
                continue
            if is_sound:
                return region[tuple(slice(0, length) for length in lengths(layout.region(index, name)))]
        return None

    def _blocks(self, asked: list[NDArray[np.integer]]) -> Iterator[int]:
        """Yield the blocks, each the first that shares its region, whose files hold these places."""
        layout = self._reader.layout
        touched = {dim: [0] for dim in layout.split}
        for dim, at in zip(layout.variable(self._name).dims, asked, strict=True):
            if dim in layout.block:
                touched[dim] = np.unique(at // layout.block[dim]).tolist()
        if all(at.size for at in asked):
            for position in product(*touched.values()):
                yield layout.index(position)


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
