"""Lazy arrays of a store for xarray: data are read when they are used."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from xarray.backends import BackendArray
from xarray.core import indexing

from storage.reading import Indices


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
