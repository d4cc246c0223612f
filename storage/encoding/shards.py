"""Encode and decode shards by the Zarr v3 specification: compressed, checksummed chunks, then their index.

Written here rather than by Zarr for three reasons. Zarr reads the old shard before it writes a new one, so a damaged
shard could never be replaced; its cost for a shard of a few kilobytes, the size that metrics have, is four times as
high; and the bytes on the disk can be compared with the intended bytes. Reading is here as well, because Zarr takes a
lost shard for one of fill values. Tests compare both with Zarr's.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any, Final

import google_crc32c
import numpy as np
from numcodecs import blosc  # type: ignore[import-untyped]
from numpy.typing import NDArray

Bytes = bytes | memoryview

COMPRESSOR: Final = "lz4"
_SEAL = 4
"""Bytes of a checksum."""

_HEADER = 16
"""Bytes of the header of a Blosc chunk, which describes its content."""

_VERSION, _LZ4, _COPIED = 2, 1, 2
"""Numbers of that header: the version of the format, the compressor, the flag of bytes that are not compressed."""

LEVEL = 5
"""Level of the compressor: with bytes sorted by significance ("shuffle"), the fastest that gains on smooth motions."""


def encode(array: NDArray[Any], shard: tuple[int, ...], chunk: tuple[int, ...], fill: float) -> list[bytes]:
    """Return the parts of a shard that holds `array` at its origin and `fill` in the rest. Chunks lie in C order."""
    parts: list[bytes] = []
    index: list[tuple[int, int]] = []
    offset = 0
    for piece in _pieces(array, shard, chunk, fill):
        packed = blosc.compress(piece, COMPRESSOR.encode(), LEVEL, blosc.SHUFFLE)
        parts += (packed, _seal(packed))
        index.append((offset, len(packed) + 4))
        offset += len(packed) + 4
    table = np.array(index, dtype="<u8").tobytes()
    return [*parts, table, _seal(table)]


class ShardError(ValueError):
    """Bytes that are no valid shard. The text names the fault."""


def decode(data: bytes, shard: tuple[int, ...], chunk: tuple[int, ...], dtype: str) -> NDArray[Any]:
    """Return the array in the bytes of a whole shard, of the shape of the shard.

    Raises ShardError where any byte is not as it was written: chunks and index are checksummed, and nothing else may be
    there.
    """
    whole, end = np.empty(shard, np.dtype(dtype).newbyteorder("<")), len(data) - index_size(shard, chunk)
    view = memoryview(data)
    index = read_index(view[max(end, 0) :], end, shard, chunk)
    for number, (place, (start, stop)) in enumerate(zip(_places(shard, chunk), index, strict=True)):
        _unpack(view[start:stop], whole[place], number)
    return whole.astype(dtype, copy=False)


def decode_part(
    read: Callable[[int, int], bytes],
    index: Sequence[tuple[int, int]],
    shard: tuple[int, ...],
    chunk: tuple[int, ...],
    dtype: str,
    box: tuple[slice, ...],
) -> tuple[NDArray[Any], tuple[int, ...]]:
    """Return the chunks of a shard that hold a box of it, as one array, and where that begins in the shard.

    `read` gives bytes of the shard from a place to another. Raises ShardError as `decode` does, of these chunks.
    """
    first = [part.start // length for part, length in zip(box, chunk, strict=True)]
    counts = [-(-part.stop // length) - at for part, length, at in zip(box, chunk, first, strict=True)]
    shape = tuple(count * length for count, length in zip(counts, chunk, strict=True))
    array = np.empty(shape, np.dtype(dtype).newbyteorder("<"))
    grid = [long // short for long, short in zip(shard, chunk, strict=True)]
    for offset in np.ndindex(*counts):
        number = int(np.ravel_multi_index([at + k for at, k in zip(first, offset, strict=True)], grid))
        part = tuple(slice(k * length, (k + 1) * length) for k, length in zip(offset, chunk, strict=True))
        _unpack(read(*index[number]), array[part], number)
    origin = tuple(at * length for at, length in zip(first, chunk, strict=True))
    return array.astype(dtype, copy=False), origin


def index_size(shard: tuple[int, ...], chunk: tuple[int, ...]) -> int:
    """Return the bytes of the index of a shard."""
    return 16 * math.prod(long // short for long, short in zip(shard, chunk, strict=True)) + _SEAL


def largest(shard: tuple[int, ...], chunk: tuple[int, ...], dtype: str) -> int:
    """Return the bytes that a shard has at most: compression adds no more than a header to each chunk."""
    count = math.prod(long // short for long, short in zip(shard, chunk, strict=True))
    return math.prod(shard) * np.dtype(dtype).itemsize + count * (_HEADER + _SEAL) + index_size(shard, chunk)


def read_index(data: Bytes, end: int, shard: tuple[int, ...], chunk: tuple[int, ...]) -> list[tuple[int, int]]:
    """Return begin and end of each chunk of a shard, from the bytes of its index, which begins at `end`.

    Raises ShardError for an index by which chunks do not lie one after another, without gaps, up to it.
    """
    if end < 0:
        size = index_size(shard, chunk)
        raise ShardError(f"{size + end} bytes; expected an index of {size} at the end")
    table = np.frombuffer(_opened(data, "the index"), "<u8").reshape(-1, 2)
    reached, bounds = 0, []
    for number, (offset, size) in enumerate(table.tolist()):
        if offset != reached or size <= _SEAL or offset + size > end:
            raise ShardError(f"chunk {number} is said to be at {offset} with {size} bytes; expected it at {reached}")
        bounds.append((reached, reached := offset + size))
    if reached != end:
        raise ShardError(f"{end - reached} bytes between chunks and index; expected none")
    return bounds


def _places(shard: tuple[int, ...], chunk: tuple[int, ...]) -> Iterator[tuple[slice, ...]]:
    """Yield the slices of each chunk in its shard."""
    for corner in product(*(range(0, long, short) for long, short in zip(shard, chunk, strict=True))):
        yield tuple(slice(at, at + length) for at, length in zip(corner, chunk, strict=True))


def _unpack(data: Bytes, target: NDArray[Any], number: int) -> None:
    """Unpack a chunk into its place in an array, without a copy where that lies in one piece. Raises ShardError."""
    packed = _opened(data, f"chunk {number}")
    if problem := blosc_problem(packed, target.nbytes):
        raise ShardError(f"chunk {number} {problem}")
    whole = target if target.flags.c_contiguous else np.empty(target.shape, target.dtype)
    try:
        blosc.decompress(packed, whole)
    except RuntimeError as error:
        raise ShardError(f"chunk {number} cannot be unpacked ({error})") from None
    if whole is not target:
        target[...] = whole


def blosc_problem(packed: Bytes, size: int) -> str:
    """Describe the error in the header of bytes that Blosc has packed; "" for a sound header.

    The header is checked before anything is unpacked: a few bytes can become gigabytes, and Blosc reads as many
    bytes as the header says that there are.
    """
    if len(packed) < _HEADER:
        return f"has {len(packed)} bytes; expected a header of {_HEADER}"
    version, _, flags, _, stated, _, length = struct.unpack_from("<BBBBIII", packed)
    if stated != size:
        return f"unpacks to {stated} bytes; expected {size}"
    if version != _VERSION or length != len(packed) or (flags >> 5 != _LZ4 and not flags & _COPIED):
        return "is packed by another codec; expected lz4"
    return ""


def _opened(data: Bytes, what: str) -> memoryview:
    """Return the bytes before a checksum. Raises ShardError where the checksum does not match."""
    view = memoryview(data)
    if len(view) < _SEAL or _seal(view[:-_SEAL]) != view[-_SEAL:]:
        raise ShardError(f"the checksum of {what} does not match")
    return view[:-_SEAL]


def crc32c(array: NDArray[Any]) -> int:
    """Return the CRC-32C of the C-ordered bytes of an array."""
    return int(google_crc32c.value(np.ascontiguousarray(array).reshape(-1).view(np.uint8)))


def _pieces(array: NDArray[Any], shard: tuple[int, ...], chunk: tuple[int, ...], fill: float) -> Iterator[NDArray[Any]]:
    """Yield the chunks of a shard, C-contiguous and little-endian; chunks at its far edges are padded."""
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    for corner in product(*(range(0, long, short) for long, short in zip(shard, chunk, strict=True))):
        part = little[tuple(slice(start, start + short) for start, short in zip(corner, chunk, strict=True))]
        if part.shape != chunk:
            whole = np.full(chunk, fill, dtype=little.dtype)
            whole[tuple(slice(0, length) for length in part.shape)] = part
            part = whole
        yield np.ascontiguousarray(part)


def _seal(data: Bytes) -> bytes:
    """Return the checksum that follows a chunk or the index."""
    return struct.pack("<I", google_crc32c.value(np.frombuffer(data, np.uint8)))
