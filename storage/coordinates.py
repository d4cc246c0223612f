"""Read coordinates of a store for xarray, from bytes whose checksums have been held against the manifest.

Zarr takes a chunk that is not there for one of zeros, and does not know which chunk it was given. So it gets no files
of coordinates to read: their bytes are read here, and `storage.store` lets it decode what is in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xarray.backends import BackendArray
from xarray.core import indexing

from storage.encoding.checksums import Checksum, matches
from storage.errors import StoreError
from storage.growth import Growing, is_growing
from storage.manifest import MANIFEST, MEND, Manifest
from storage.places.location import Location, refusals
from storage.reading import Indices, places
from storage.schema import NAME

_CHUNK_KEYS = {"name": "default", "configuration": {"separator": "."}}


Decode = Callable[[str, Mapping[str, Any], Mapping[str, bytes]], Any]
"""Gives the array of a coordinate from its name, its metadata and some of its files."""


class LazyCoordinate(BackendArray):
    """A long coordinate; its chunks are read and checked when they are asked for. Small to pickle."""

    def __init__(
        self,
        location: Location,
        checksums: Mapping[str, Checksum],
        name: str,
        described: Mapping[str, Any],
        decode: Decode,
    ) -> None:
        self._location, self._name, self._described, self._decode = location, name, described, decode
        self._keys = chunk_keys(name, described)
        self._checksums = {key: checksums[key] for key in self._keys if key in checksums}
        self._length = int(described["chunk_grid"]["configuration"]["chunk_shape"][0])
        self.shape = (int(described["shape"][0]),)
        self.dtype = decode(name, described, {}).dtype

    def __getitem__(self, key: indexing.ExplicitIndexer) -> NDArray[Any]:
        """Part of the coordinate. Raises StoreError that names a missing or damaged file."""
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.OUTER, self._read)

    def _read(self, key: Indices) -> NDArray[Any]:
        touched = np.unique(places(key[0], self.shape[0]) // self._length).tolist()
        files = read_checked(self._location, self._checksums, (self._keys[number] for number in touched))
        return np.asarray(self._decode(self._name, self._described, dict(files)).oindex[key])


def chunk_keys(name: str, described: Mapping[str, Any]) -> list[str]:
    """The keys of all chunks of a coordinate. Raises ValueError where its metadata are not those of a coordinate."""
    (size,), (length,) = described["shape"], described["chunk_grid"]["configuration"]["chunk_shape"]
    if not NAME.fullmatch(name) or described["chunk_key_encoding"] != _CHUNK_KEYS:
        raise ValueError(f"{name[:80]!r} is not stored as a coordinate")
    return [f"{name}/c.{number}" for number in range(-(-int(size) // int(length)))]


def read_checked(
    location: Location, checksums: Mapping[str, Checksum], keys: Iterable[str]
) -> Iterator[tuple[str, bytes]]:
    """The bytes of files by key. Raises StoreError that names the first that is missing, damaged or not listed."""
    for key in keys:
        file = location.at(key)
        with refusals(file):
            try:
                data = location.read(key)
            except FileNotFoundError:
                raise StoreError(f"{file}: missing; {MEND}") from None
        if not matches(key, data, checksums.get(key)) and not _is_of_another_time(location, key, data):
            raise StoreError(f"{file}: damaged (its checksum is not that in {MANIFEST}); {MEND}")
        yield key, data


def _is_of_another_time(location: Location, key: str, data: bytes) -> bool:
    """Whether a file is that of a store made larger since, or just now: it holds the same values and more."""
    manifests = [Manifest.load(location)]
    if is_growing(location):
        manifests.append(Manifest.load(Growing(location)))
    return any(matches(key, data, manifest.files.get(key)) for manifest in manifests)
