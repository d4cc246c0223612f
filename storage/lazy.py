"""Lazy arrays of a store for xarray: data are read when they are used, a chunk at a time at least."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray
from xarray.backends import BackendArray
from xarray.core import indexing

from storage.reading import Indices

if TYPE_CHECKING:
    from xarray import Dataset


class Readable(Protocol):
    """An array that is read in parts. Small to pickle, as a part of a Dask graph has to be."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    def read(self, key: Indices) -> NDArray[Any]:
        """Read the numbers at the product of places along each dim; a dim with one place, not a range, is dropped."""


class _OnDemand(BackendArray):
    """Read the selection that xarray requests."""

    def __init__(self, array: Readable) -> None:
        self.array, self.shape, self.dtype = array, array.shape, array.dtype

    def __getitem__(self, key: indexing.ExplicitIndexer) -> NDArray[Any]:
        """Read a part of the array. Raises StoreError that names a damaged, missing or other file."""
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.OUTER, self.array.read)


def lazy(array: Readable) -> indexing.LazilyIndexedArray:
    """Return the data of a variable that is read when it is asked for."""
    return indexing.LazilyIndexedArray(_OnDemand(array))


def designs_in_chunk(data: Dataset) -> int:
    """Return how many designs are unpacked together, of the variable with most of them; 1 for data in memory."""
    own = [variable for variable in data.data_vars.values() if "design" in variable.dims]
    stored = [x.encoding["chunks"][x.get_axis_num("design")] for x in own if x.encoding.get("chunks")]
    return int(max(stored, default=1))
