"""Read arrays of a store for xarray: what is damaged or missing is an error that names the file, never a number.

Zarr gives the fill value for a file that is not there, and whatever a codec says for one that is damaged; which file it
was is found by reading it again, block by block.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xarray.backends import BackendArray
from xarray.core import indexing

from storage.errors import StoreError
from storage.layout import Layout
from storage.places.location import Location
from storage.places.regular import ForeignFileError
from storage.schema import SPLIT
from storage.writer import BlockReader

Index = int | slice | NDArray[np.integer]
Indices = tuple[Index, ...]
"""What is read along each dim."""


class CheckedArray(BackendArray):
    """A variable of a store, `array` as Zarr gives it. Small to pickle, as a part of a Dask graph has to be."""

    def __init__(self, array: Any, location: Location, layout: Layout, name: str, *, finished: bool) -> None:
        self.shape, self.dtype = array.shape, np.dtype(array.dtype)
        self._array, self._name, self._finished = array, name, finished
        self._reader = BlockReader(location, layout)

    def __getitem__(self, key: indexing.ExplicitIndexer) -> NDArray[Any]:
        """Part of the variable. Raises StoreError that names a damaged or missing file."""
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.OUTER, self._read)

    def _read(self, key: Indices) -> NDArray[Any]:
        self._guard(key)
        try:
            data = np.asarray(self._array.oindex[key])
        except Exception as error:  # codecs raise what they like
            self._look(key, whole=True)
            raise StoreError(f"{self._reader.location.at(self._name)}: cannot be read ({error})") from error
        if self._finished and self._has_fill(data):
            self._look(key, whole=False)
        return data

    def _guard(self, part: Indices) -> None:
        """Raise for the first file of a part that is none, before Zarr opens it: a link, or a pipe that never ends."""
        location, layout = self._reader.location, self._reader.layout
        for index in self._blocks(part):
            try:
                location.guard(layout.key(index, self._name))
            except ForeignFileError:
                self._reader.read_region(index, self._name)

    def _has_fill(self, data: NDArray[Any]) -> bool:
        fill = self._reader.layout.variable(self._name).fill
        return bool(np.isnan(data).any() if math.isnan(fill) else (data == fill).any())

    def _look(self, part: Indices, *, whole: bool) -> None:
        """Raise for the first file of the part that is not there or, where it is read whole, that is damaged."""
        location, layout = self._reader.location, self._reader.layout
        for index in self._blocks(part):
            key = layout.key(index, self._name)
            if whole or not (
                location.has(key) and location.size(key)
            ):  # to Zarr an empty file is one that is not there
                self._reader.read_region(index, self._name)

    def _blocks(self, part: Indices) -> Iterator[int]:
        """The blocks, each the first that shares its region, whose files hold a part."""
        layout = self._reader.layout
        touched = dict.fromkeys(SPLIT, range(1))
        for dim, indices in zip(layout.variable(self._name).dims, part, strict=True):
            if dim in layout.block:
                blocks = places(indices, layout.sizes[dim]) // layout.block[dim]
                touched[dim] = np.unique(blocks).tolist()
        for position in product(*(touched[dim] for dim in SPLIT)):
            yield layout.index(position)


def places(indices: Index, size: int) -> NDArray[np.integer]:
    """The places along a dim that are asked for; memory is for those alone, not for the dim."""
    if isinstance(indices, slice):
        return np.arange(*indices.indices(size))
    return np.atleast_1d(np.asarray(indices)) % size


def checked(
    array: Any, location: Location, layout: Layout, name: str, *, finished: bool
) -> indexing.LazilyIndexedArray:
    """The data of a variable that is read when it is asked for."""
    return indexing.LazilyIndexedArray(CheckedArray(array, location, layout, name, finished=finished))
