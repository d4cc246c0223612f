"""Checksums of the files that a manifest lists: SHA-256 of name and content, so that each is bound to its place.

Older stores have a number in the place of the text: CRC-32C of the whole file. A chunk of a coordinate ends with its
own CRC-32C, so that number is the same for all of them: it tells whether a chunk is whole, not which one it is.
"""

from __future__ import annotations

from hashlib import sha256

import google_crc32c

Checksum = str | int
"""SHA-256 in hexadecimal; a number in manifests of format 3."""


def checksum(key: str, data: bytes) -> str:
    """The checksum of a file of this name and content."""
    state = sha256(key.encode() + b"\0")
    state.update(data)
    return state.hexdigest()


def matches(key: str, data: bytes, expected: Checksum | None) -> bool:
    """Whether a file has the checksum that a manifest says; never where it says none."""
    actual = google_crc32c.value(data) if isinstance(expected, int) else checksum(key, data)
    return bool(actual == expected)
