"""Read coordinates of a store, from bytes whose checksums have been held against the manifest.

Zarr takes a chunk that is not there for one of zeros, and does not know which chunk it was given. Zarr therefore reads
no files of coordinates: this module reads their bytes, and `storage.store` passes them to Zarr to decode in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import google_crc32c
import numpy as np
from numcodecs import blosc  # type: ignore[import-untyped]
from numpy.typing import NDArray

from storage.encoding.checksums import Checksum, matches
from storage.encoding.documents import MAX_BYTES
from storage.encoding.shards import blosc_problem
from storage.errors import StoreError
from storage.growth import Growing, is_growing
from storage.manifest import MANIFEST, MEND, Manifest
from storage.places.location import Location, refusals
from storage.reading import Indices, places
from storage.schema import NAME

_CHUNK_KEYS = {"name": "default", "configuration": {"separator": "."}}
_CODECS = {
    "float64": (("bytes", "crc32c"), ("bytes", "blosc", "crc32c")),
    "string": (("vlen-utf8", "crc32c"), ("vlen-utf8", "blosc", "crc32c")),
}
"""Codecs of coordinates by type, as `storage.store` writes them. No other codec ever unpacks data."""

TEXT = 1 << 10
"""Bytes of a text of a coordinate, on average over a chunk, at most."""

MAX_CHUNK = 1 << 16
"""Values of a chunk along a dim that grows, whatever the size of that."""

_SEAL, _OVERHEAD = 4, 64
"""Bytes of the checksum of a chunk, and the most that codecs add."""

Decode = Callable[[str, Mapping[str, Any], Mapping[str, bytes]], Any]
"""Gives the array of a coordinate from its name, its metadata and some of its files."""


class LazyCoordinate:
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
        self._checksums = {key: checksums[key] for key in chunk_keys(name, described) if key in checksums}
        self._length = int(described["chunk_grid"]["configuration"]["chunk_shape"][0])
        self.shape: tuple[int, ...] = (int(described["shape"][0]),)
        self.dtype = decode(name, described, {}).dtype

    def read(self, key: Indices) -> NDArray[Any]:
        """Return the values at these places. Raises StoreError that names a missing or damaged file."""
        touched = np.unique(places(key[0], self.shape[0]) // self._length).tolist()
        files = read_chunks(self._location, self._checksums, self._name, self._described, touched)
        return np.asarray(self._decode(self._name, self._described, dict(files)).oindex[key])


def chunk_keys(name: str, described: Mapping[str, Any]) -> list[str]:
    """Return the keys of all chunks of a coordinate. Raises ValueError if its metadata are not a coordinate's."""
    (size,), (length,) = described["shape"], described["chunk_grid"]["configuration"]["chunk_shape"]
    if not NAME.fullmatch(name) or described["chunk_key_encoding"] != _CHUNK_KEYS:
        raise ValueError(f"{name[:80]!r} is not stored as a coordinate")
    return [f"{name}/c.{number}" for number in range(-(-int(size) // int(length)))]


def require_coordinate(name: str, described: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
    """Refuse an array that no version of ours would write: other codecs, dims or sizes. Raises ValueError."""
    dims, shape = described["dimension_names"], described["shape"]
    if len(dims) != 1 or dims[0] not in sizes or shape != [sizes[dims[0]]]:
        raise ValueError(
            f"{name[:80]!r} has dims {dims!r:.80} and shape {shape!r:.80}, which are not those of the store"
        )
    (length,), codecs = described["chunk_grid"]["configuration"]["chunk_shape"], _codecs(described)
    if type(length) is not int or not 0 < length <= max(shape[0], MAX_CHUNK):
        raise ValueError(f"{name[:80]!r} has chunks of {length!r:.80}")
    if codecs not in _CODECS.get(str(described["data_type"]), ()) or described.get("storage_transformers"):
        raise ValueError(f"{name[:80]!r} has codecs {codecs!r:.200}")


def read_chunks(
    location: Location,
    checksums: Mapping[str, Checksum],
    name: str,
    described: Mapping[str, Any],
    numbers: Iterable[int] | None = None,
) -> Iterator[tuple[str, bytes]]:
    """Yield the bytes of chunks of a coordinate, of all or of these numbers; their unpacked size is bounded.

    Raises StoreError that names the first that is missing, damaged, not listed, or larger than it may be.
    """
    keys = chunk_keys(name, described)
    (length,), codecs = described["chunk_grid"]["configuration"]["chunk_shape"], _codecs(described)
    size = length * (8 if described["data_type"] == "float64" else 4 + TEXT)
    for number in range(len(keys)) if numbers is None else numbers:
        key = keys[number]
        for _, data in read_checked(location, checksums, [key], size + _OVERHEAD):
            if problem := _problem(data, codecs, length, size):
                raise StoreError(f"{location.at(key)}: damaged ({problem}); {MEND}")
            yield key, data


def _problem(data: bytes, codecs: tuple[str, ...], length: int, size: int) -> str:
    """Return the reason why a chunk must not be unpacked, "" for one that may be."""
    packed = data[:-_SEAL]
    if len(data) < _SEAL or google_crc32c.value(packed) != int.from_bytes(data[-_SEAL:], "little"):
        return "its own checksum does not match"
    if "blosc" in codecs:
        stated = int.from_bytes(packed[4:8], "little")
        if stated > size or (problem := blosc_problem(packed, stated)):
            return f"it unpacks to {stated} bytes; expected at most {size}" if stated > size else problem
        packed = blosc.decompress(packed) if codecs[0] == "vlen-utf8" else packed
    if codecs[0] == "vlen-utf8" and int.from_bytes(packed[:4], "little") != length:
        return f"it holds {int.from_bytes(packed[:4], 'little')} texts; expected {length}"
    return ""


def _codecs(described: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(codec["name"] for codec in described["codecs"])


def read_checked(
    location: Location, checksums: Mapping[str, Checksum], keys: Iterable[str], limit: int = MAX_BYTES
) -> Iterator[tuple[str, bytes]]:
    """Yield the bytes of files by key. Raises StoreError that names the first missing, damaged or unlisted file."""
    for key in keys:
        file = location.at(key)
        with refusals(file):
            try:
                data = location.read_within(key, limit)
            except FileNotFoundError:
                raise StoreError(f"{file}: missing; {MEND}") from None
        if not matches(key, data, checksums.get(key)) and not _is_of_another_time(location, key, data):
            raise StoreError(f"{file}: damaged (its checksum is not that in {MANIFEST}); {MEND}")
        yield key, data


def _is_of_another_time(location: Location, key: str, data: bytes) -> bool:
    """Return whether a file belongs to a later, larger state of the store.

    The store was made larger since, or is being made larger now. Such a file holds the same values and more.
    """
    manifests = [Manifest.load(location)]
    if is_growing(location):
        manifests.append(Manifest.load(Growing(location)))
    return any(matches(key, data, manifest.files.get(key)) for manifest in manifests)
