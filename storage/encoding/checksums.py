"""Checksums by which bytes know their place: of files that a manifest lists, of regions of results, of a whole ledger.

- A file of metadata or coordinates: SHA-256 of name and content, so that each is bound to its place.
- A region of results: BLAKE3 of its numbers, in a receipt that says block and variable. Of the numbers, not of the
  file, because another version may compress the same numbers otherwise, and because a block at the edge of a store that
  was made larger holds the old region inside the new one.
- A ledger: BLAKE3 over the digests of all receipts in the order of blocks, in the manifest of a finished store; it
  binds the receipts to store and generation.

Stores of older formats have CRC-32C in the places of the first two, as numbers. A chunk of a coordinate ends with its
own CRC-32C, so there that number is the same for all: it tells whether a chunk is whole, not which one it is.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any, Literal

import google_crc32c
import numpy as np
from blake3 import blake3
from numpy.typing import NDArray

from storage.encoding.shards import crc32c

Checksum = str | int
"""Hexadecimal digits of SHA-256 or BLAKE3; a number where it is CRC-32C."""

Hashing = Literal["blake3", "crc32c"]
"""Hash functions for the regions of a store."""

DIGEST = 16
"""Bytes of BLAKE3 that are kept: it is infeasible to find other numbers with the same 128 bits."""


def checksum(key: str, data: bytes) -> str:
    """Return the checksum of a file of this name and content."""
    state = sha256(key.encode() + b"\0")
    state.update(data)
    return state.hexdigest()


def matches(key: str, data: bytes, expected: Checksum | None) -> bool:
    """Return whether a file has the checksum in the manifest; False where the manifest has none."""
    actual = google_crc32c.value(data) if isinstance(expected, int) else checksum(key, data)
    return bool(actual == expected)


def content(array: NDArray[Any], hashing: Hashing) -> Checksum:
    """Return the checksum of the C-ordered bytes of an array."""
    if hashing == "crc32c":
        return crc32c(array)
    flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return blake3(flat, max_threads=1).hexdigest(length=DIGEST)  # type: ignore[arg-type]


def digest(data: bytes) -> bytes:
    """Return a short hash of one receipt."""
    return blake3(data, max_threads=1).digest(length=DIGEST)


def seal(digests: bytes | bytearray) -> str:
    """Return the checksum of a ledger, from the digests of its receipts in the order of blocks."""
    return blake3(bytes(digests), max_threads=1).hexdigest()
