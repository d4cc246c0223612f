"""The manifest of a store: which sweep it belongs to, how it is laid out, whether it is finished.

It is a small JSON file beside the arrays, sealed with a checksum of itself. Reading it needs no Zarr, so status and
planning stay quick.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import zlib
from collections.abc import Mapping
from typing import Any, Literal

from robots.data_classes import dataclass, field
from storage.encoding.checksums import Checksum, Hashing
from storage.encoding.documents import MAX_BYTES, parse_json
from storage.errors import StoreError, cause
from storage.inside import MANIFEST
from storage.later import later_rows
from storage.layout import Layout
from storage.places.access import locate
from storage.places.location import Location, LocationLike, refusals

__all__ = ["FORMAT", "MANIFEST", "Attributes", "Manifest", "StoreError", "difference", "refusals", "require_same"]

FORMAT = 5
"""Version of the store format that is written."""

READABLE = (3, 4, 5)
"""Versions that can be read: before 5, receipts have CRC-32C and no checksum over all of them; in 3, checksums of files
do not say which file it is (`storage.encoding.checksums`)."""

IDENTITY = ("fingerprint", "sweep")
"""Attributes that say which sweep a dataset is of, which a manifest has apart."""

MEND = "limbsweep verify --repair makes it again"
State = Literal["running", "finished"]

_KEY = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_./-]*")


@dataclass(frozen=True)
class Attributes:
    """Attributes of a dataset, among them the text of its sweep, and the fingerprint of the meaning of that text."""

    values: Mapping[str, Any]

    @property
    def identity(self) -> dict[str, str]:
        """The entries that a manifest has apart."""
        return {key: self.values[key] for key in IDENTITY}

    @property
    def others(self) -> dict[str, Any]:
        """Entries of a dataset beside the identity of its sweep."""
        return {key: value for key, value in self.values.items() if key not in IDENTITY}

    def check(self) -> None:
        """Refuse attributes that lack the identity of the sweep, or that JSON cannot hold. Raises StoreError."""
        for key in IDENTITY:
            if not isinstance(got := self.values.get(key), str):
                raise StoreError(f"attributes.{key}: got {got!r}; expected a text, which identifies the sweep")
        for key, value in self.values.items():
            try:
                json.dumps(value, allow_nan=False)
            except (TypeError, ValueError) as error:
                raise StoreError(f"attributes.{key}: got {value!r}; expected what JSON can hold ({error})") from error


@dataclass(frozen=True)
class Manifest:
    """Identity, layout and state of a store.

    `attributes` are the attributes of the dataset, so that manifest and dataset can each be made again from the other.
    `generation` counts how often the store was made larger, from 1 on; `files` has a checksum for each file of metadata
    and coordinates. `hashing` is how receipts hash the regions of results; `ledger` the checksum of all receipts, of a
    finished store.
    """

    attributes: Attributes
    layout: Layout
    state: State = "running"
    generation: int = 1
    files: Mapping[str, Checksum] = field(default_factory=dict)
    hashing: Hashing = "blake3"
    ledger: str = ""

    @property
    def sweep(self) -> str:
        """Text of the sweep."""
        return str(self.attributes.values["sweep"])

    @property
    def fingerprint(self) -> str:
        """Hash of the meaning of the sweep."""
        return str(self.attributes.values["fingerprint"])

    def dump(self) -> bytes:
        """Return the manifest as JSON that ends with its own checksum."""
        data = {
            "format": FORMAT,
            "blocks": self.layout.blocks,
            **self.attributes.identity,
            "layout": self.layout.as_dict(),
            "state": self.state,
            "generation": self.generation,
            "files": dict(self.files),
            "attributes": self.attributes.others,
            "hashing": self.hashing,
            "ledger": self.ledger,
        }
        return (json.dumps({**data, "check": _seal(data)}, indent=1, allow_nan=False) + "\n").encode()

    def save(self, store: LocationLike) -> None:
        """Write the manifest of a store, whole or not at all. Raises StoreError if that fails."""
        location = locate(store)
        with refusals(location):
            location.write(MANIFEST, (self.dump(),))
            if not location.holds(MANIFEST, [self.dump()]):
                raise StoreError(f"{location.at(MANIFEST)}: differs from what was written; check the disk")

    @classmethod
    def load(cls, store: LocationLike) -> Manifest:
        """Return the manifest of a store. Raises StoreError for a store that is missing, foreign or damaged."""
        location = locate(store)
        file = location.at(MANIFEST)
        with refusals(location):
            if os.path.isfile(str(location)):
                raise StoreError(f"{location}: is a file; expected the folder of a store")
            if not location.is_folder():
                raise StoreError(f"{location}: there is no store; check the path, or run the sweep first")
            if not location.has(MANIFEST):
                raise StoreError(
                    f"{location}: not a store of limbsweep; expected a file {MANIFEST} in it{_stores_in(location)}"
                )
            text = location.read_within(MANIFEST, MAX_BYTES)
        try:
            return cls._parse(file, parse_json(text), location)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise StoreError(f"{file}: damaged ({cause(error)}); {MEND}") from error

    @classmethod
    def _parse(cls, file: str, data: dict[str, Any], location: Location) -> Manifest:
        """Return the manifest in parsed JSON; variables unknown to this version are described at the location."""
        if data["format"] not in READABLE:
            raise StoreError(
                f"{file}: format {data['format']!r}; expected {FORMAT}; "
                "open it with the version of limbsweep that wrote it, or run its sweep into a new store"
            )
        if data.pop("check") != _seal(data):
            raise ValueError("its checksum does not match")
        fingerprint, sweep, state = data["fingerprint"], data["sweep"], data["state"]
        if not isinstance(fingerprint, str) or not isinstance(sweep, str):
            raise TypeError("fingerprint and sweep are texts")
        if state not in ("running", "finished"):
            raise ValueError(f"state {state!r}")
        layout = Layout.from_dict(data["layout"], later_rows(location, data["layout"]))
        generation = int(data["generation"])
        layout.require_files()
        files = dict(data["files"])
        if outside := [key for key in files if not _KEY.fullmatch(key) or ".." in key.split("/")]:
            raise ValueError(f"a file {outside[0]!r}, which is not inside the store")
        if strange := [key for key, value in files.items() if type(value) not in (int, str)]:
            raise TypeError(f"the checksum of {strange[0]!r} is {files[strange[0]]!r}")
        hashing: Hashing = "blake3" if data.get("hashing") == "blake3" else "crc32c"
        ledger = str(data.get("ledger", ""))
        attributes = Attributes({**data["attributes"], "sweep": sweep, "fingerprint": fingerprint})
        return cls(attributes, layout, state, generation, files, hashing, ledger)


MOST_NAMED = 8
"""Stores in a folder that a message names."""


def _stores_in(location: Location) -> str:
    """Return a hint to the stores in a folder, as a sweep of several robots makes them; empty without any."""
    folder = location.folder()
    inside = sorted(path.parent.name for path in folder.glob(f"*/{MANIFEST}")) if folder is not None else []
    return f"; name one of the stores in it: {', '.join(inside[:MOST_NAMED])}" if inside else ""


def _seal(data: Mapping[str, Any]) -> str:
    """Return a checksum of the content, whatever the spelling of the file."""
    return f"{zlib.crc32(json.dumps(data, sort_keys=True, separators=(',', ':')).encode()):08x}"


def require_same(store: LocationLike, *, fingerprint: str, sweep: str, layout: Layout) -> Manifest:
    """Return the manifest of a store that belongs to this sweep and layout. Raises StoreError with the differences.

    A changed comment changes `sweep` but not `fingerprint`, and passes.
    """
    location = locate(store)
    manifest = Manifest.load(location)
    if manifest.fingerprint != fingerprint:
        changes = difference(manifest.sweep, sweep) or (
            f"the same text, but fingerprint {fingerprint} instead of {manifest.fingerprint}:"
            " a file that it names, a metric of your own, or the version of limbsweep, has changed"
        )
        raise StoreError(
            f"{location}: holds another sweep; choose another store, or take back these changes:\n{changes}"
        )
    if manifest.layout != layout:
        stored, requested = (json.dumps(blocks.as_dict(), indent=1) for blocks in (manifest.layout, layout))
        raise StoreError(
            f"{location}: is laid out in other blocks; choose another store, or the same options as before:\n"
            + difference(stored, requested)
        )
    return manifest


def difference(stored: str, requested: str) -> str:
    """Return the lines that differ; lines of the store are marked with a minus."""
    return "\n".join(
        difflib.unified_diff(stored.splitlines(), requested.splitlines(), "store", "given", lineterm="", n=0)
    )
