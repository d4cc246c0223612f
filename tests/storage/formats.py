"""Stores as older versions of limbsweep wrote them, made from a store of today, one format after another."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import google_crc32c

from storage import manifest as manifests
from storage.encoding.checksums import content
from storage.ledger import Receipt, generation_name, line, receipts
from storage.manifest import FORMAT, MANIFEST, Manifest
from storage.places.access import locate
from storage.writer import BlockReader


def _rewrite(path: Path, number: int, without: tuple[str, ...] = (), **changes: Any) -> None:
    data = json.loads((path / MANIFEST).read_text()) | {"format": number, **changes}
    for key in ("check", *without):
        data.pop(key, None)
    (path / MANIFEST).write_text(json.dumps({**data, "check": manifests._seal(data)}))


def _to_4(path: Path) -> None:
    """CRC-32C in receipts, and nothing over all of them."""
    manifest = Manifest.load(path)
    reader, journal = BlockReader(path, manifest.layout), locate(path).journal(generation_name(manifest.generation))
    old = []
    for receipt in receipts(journal):
        assert isinstance(receipt, Receipt)
        sums = {
            name: content(reader.read_region(receipt.block, reader.layout.variables[name]), "crc32c")
            for name in receipt.checksums
        }
        old.append(replace(receipt, checksums=sums))
    journal.replace(map(line, old))
    _rewrite(path, 4, without=("hashing", "ledger"))


def _to_3(path: Path) -> None:
    """CRC-32C of whole files in the manifest: the same number for every chunk of a coordinate."""
    sums = {key: google_crc32c.value((path / key).read_bytes()) for key in Manifest.load(path).files}
    _rewrite(path, 3, files=sums)


STEPS: Mapping[int, Callable[[Path], None]] = {4: _to_4, 3: _to_3}
"""Changes by which a store of the next format becomes one of a format."""


def turn_into(path: Path, number: int) -> None:
    """Turn a store of today into one of an older format."""
    for step in range(FORMAT - 1, number - 1, -1):
        STEPS[step](path)
