"""Digest of results: equal for equal results, wherever, in whatever blocks and however they were computed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from xarray import DataArray, Dataset

SLAB = 1 << 26
"""Bytes that are read at once."""


def results_digest(dataset: Dataset) -> str:
    """Return a hash over names, dims, types, shapes and bits of all data variables, in the order of names.

    Attributes and coordinates, which describe the input, are left out. The memory in use is that of one part.
    """
    digest = blake2b(digest_size=16)
    for name in sorted(map(str, dataset.data_vars)):
        variable = dataset[name]
        kind = "text" if variable.dtype.kind in "OUT" else variable.dtype.str
        digest.update(f"{name} {variable.dims} {kind} {variable.shape}\n".encode())
        for part in slabs(variable, SLAB):
            digest.update(_bytes(part))
    return digest.hexdigest()


def slabs(variable: DataArray, size: int) -> Iterator[np.ndarray]:
    """Yield the values of a variable in C order, along its first dim, some of at most `size` bytes at a time."""
    if not variable.dims:
        yield variable.values
        return
    row = max(1, variable.dtype.itemsize * math.prod(variable.shape[1:]))
    step = max(1, size // row)
    for start in range(0, variable.shape[0], step):
        yield variable[start : start + step].values


def _bytes(values: np.ndarray) -> bytes:
    """Return the bits of numbers; of texts their letters, each with its length."""
    if values.dtype.kind not in "OUT":
        return np.ascontiguousarray(values).tobytes()
    return b"".join(f"{len(text)} {text}".encode() for text in map(str, values.ravel()))
