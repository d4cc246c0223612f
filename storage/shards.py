"""Encode and decode shards by the Zarr v3 specification: compressed, checksummed chunks, then their index.

Written here rather than by Zarr for three reasons. Zarr reads the old shard before it writes a new one, so a damaged
shard could never be replaced; its cost for a shard of a few kilobytes, which is what metrics have, is four times as
high; and what is on the disk can be compared with what was meant, byte for byte. Reading is here as well, because Zarr
takes a lost shard for one of fill values. Tests compare both with Zarr's.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from itertools import product
from typing import Any, Final

import google_crc32c
import numpy as np
from numcodecs import blosc  # type: ignore[import-untyped]
from numpy.typing import NDArray

COMPRESSOR: Final = "lz4"
_SEAL = 4
"""Bytes of a checksum."""

_HEADER = 16
"""Bytes at the start of a chunk in which Blosc says what it holds."""

LEVEL = 5
"""With the bytes of numbers sorted by significance ("shuffle"), the fastest compressor that gains on smooth motions."""


def encode(array: NDArray[Any], shard: tuple[int, ...], chunk: tuple[int, ...], fill: float) -> list[bytes]:
    """The parts of a shard that holds `array` at its origin and `fill` in the rest. Chunks lie in C order."""
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
    """Bytes that are not those of a shard. The text says in which way."""


def decode(data: bytes, shard: tuple[int, ...], chunk: tuple[int, ...], dtype: str) -> NDArray[Any]:
    """The array in the bytes of a whole shard, of the shape of the shard.

    Raises ShardError where any byte is not as it was written: chunks and index are checksummed, and nothing else may be
    there.
    """
    corners = [range(0, long, short) for long, short in zip(shard, chunk, strict=True)]
    count = math.prod(map(len, corners))
    end = len(data) - (16 * count + _SEAL)
    if end < 0:
        raise ShardError(f"{len(data)} bytes; expected an index of {16 * count + _SEAL} at the end")
    index = np.frombuffer(_opened(data[end:], "the index"), "<u8").reshape(count, 2)
    whole, reached = np.empty(shard, np.dtype(dtype).newbyteorder("<")), 0
    for number, (corner, (offset, size)) in enumerate(zip(product(*corners), index.tolist(), strict=True)):
        if offset != reached or size <= _SEAL or offset + size > end:
            raise ShardError(f"chunk {number} is said to be at {offset} with {size} bytes; expected it at {reached}")
        reached = offset + size
        packed = _opened(data[offset:reached], f"chunk {number}")
        _check_size(packed, size=math.prod(chunk) * whole.itemsize, number=number)
        piece = blosc.decompress(packed)
        whole[tuple(slice(at, at + length) for at, length in zip(corner, chunk, strict=True))] = np.frombuffer(
            piece, whole.dtype
        ).reshape(chunk)
    if reached != end:
        raise ShardError(f"{end - reached} bytes between chunks and index; expected none")
    return whole.astype(dtype, copy=False)


def _check_size(packed: bytes, *, size: int, number: int) -> None:
    """Refuses a chunk that says that it unpacks to another size: a few bytes can become gigabytes."""
    stated = struct.unpack_from("<I", packed, 4)[0] if len(packed) >= _HEADER else 0
    if stated != size:
        raise ShardError(f"chunk {number} unpacks to {stated} bytes; expected {size}")


def _opened(data: bytes, what: str) -> bytes:
    """What precedes a checksum, which has to match."""
    if len(data) < _SEAL or _seal(data[:-_SEAL]) != data[-_SEAL:]:
        raise ShardError(f"the checksum of {what} does not match")
    return data[:-_SEAL]


def crc32c(array: NDArray[Any]) -> int:
    """CRC-32C of the C-ordered bytes of an array."""
    return int(google_crc32c.value(np.ascontiguousarray(array).reshape(-1).view(np.uint8)))


def _pieces(array: NDArray[Any], shard: tuple[int, ...], chunk: tuple[int, ...], fill: float) -> Iterator[NDArray[Any]]:
    """The chunks of a shard, C-contiguous and little-endian; those at its far edges are filled up."""
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    for corner in product(*(range(0, long, short) for long, short in zip(shard, chunk, strict=True))):
        part = little[tuple(slice(start, start + short) for start, short in zip(corner, chunk, strict=True))]
        if part.shape != chunk:
            whole = np.full(chunk, fill, dtype=little.dtype)
            whole[tuple(slice(0, length) for length in part.shape)] = part
            part = whole
        yield np.ascontiguousarray(part)


def _seal(data: bytes) -> bytes:
    """The checksum that follows a chunk or the index."""
    return struct.pack("<I", google_crc32c.value(data))
