"""Files that a sweep names, kept in its store under the hash of their content, so that the store repeats it alone.

An attribute of the store says which name has which hash; the files are listed in the manifest with checksums, like
metadata. `pipeline.sweep.side_files` reads their content.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from storage.places.location import Location

ATTRIBUTE = "sources"
"""The attribute with the hash of each file by the name that the sweep has for it."""

FOLDER = "sources"

MAX_BYTES = 64 << 20
"""Bytes of a file that a sweep may name."""


def digest(data: bytes) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def table(sources: Mapping[str, bytes]) -> dict[str, Any]:
    """Return the attribute for these files; no attribute without files."""
    return {ATTRIBUTE: {name: digest(data) for name, data in sources.items()}} if sources else {}


def files(sources: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files by the keys that they have in a store."""
    return {_key(digest(data)): data for data in sources.values()}


def read(location: Location, attributes: Mapping[str, Any], name: str) -> tuple[str, str, bytes | None]:
    """Return the name of a stored file in messages, its hash, and its content; None if it is missing or damaged.

    Raises KeyError for a name that the store does not have.
    """
    content_hash = str(attributes.get(ATTRIBUTE, {})[name])
    key = _key(content_hash)
    if not re.fullmatch("[0-9a-f]{64}", content_hash):
        return location.at(FOLDER), content_hash, None
    try:
        data = location.read_within(key, MAX_BYTES)
    except OSError:
        return location.at(key), content_hash, None
    return location.at(key), content_hash, data if digest(data) == content_hash else None


def _key(content_hash: str) -> str:
    return f"{FOLDER}/{content_hash}"
