"""The bytes of one shard, by the Zarr v3 specification: chunks, each compressed and checksummed, then their index.

Written here rather than by Zarr for three reasons. Zarr reads the old shard before it writes a new one, so a damaged
shard could never be replaced; its cost for a shard of a few kilobytes, which is what metrics have, is four times as
high; and what is on the disk can be compared with what was meant, byte for byte. Tests compare it with Zarr's.
"""

from __future__ import annotations

import os
import struct
import uuid
from collections.abc import Iterator
from io import FileIO
from itertools import product
from pathlib import Path
from typing import Any, Final

import google_crc32c
import numpy as np
from numcodecs import blosc  # type: ignore[import-untyped]
from numpy.typing import NDArray

COMPRESSOR: Final = "lz4"
PIECE = 1 << 20
"""Bytes that are compared at once."""

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


def write(file: Path, parts: list[bytes]) -> None:
    """Puts a shard under its name, whole or not at all. Raises OSError."""
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_name(f".{file.name}.{uuid.uuid4().hex}.draft")
    try:
        with draft.open("wb") as stream:
            stream.writelines(parts)
        os.replace(draft, file)
    finally:
        draft.unlink(missing_ok=True)


def holds(file: Path, parts: list[bytes]) -> bool:
    """Whether a file holds exactly these bytes. Raises OSError."""
    piece = bytearray(PIECE)
    with file.open("rb", buffering=0) as stream:
        pieces = (memoryview(part)[at : at + PIECE] for part in parts for at in range(0, len(part), PIECE))
        same = all(_next_is(stream, expected, piece) for expected in pieces)
        return same and not stream.read(1)


def _next_is(stream: FileIO, expected: memoryview, piece: bytearray) -> bool:
    """Whether the next bytes of a file are these; read into memory that is there, because fresh pages are slow."""
    if len(expected) < len(piece):
        return stream.read(len(expected)) == expected
    return stream.readinto(piece) == len(piece) and piece == expected


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
