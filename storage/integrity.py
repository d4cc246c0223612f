"""Check a store: every checksum, every receipt, every file that is there or is not.

Four kinds of evidence: a checksum in each chunk (bits that changed), receipts of blocks (a shard of another age, which
is whole in itself), checksums of metadata in the manifest, and the list of files that the layout asks for. Computing
blocks again is in `pipeline.stores.verify`.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from robots.quantities import QUANTITIES
from storage import shards
from storage.checksums import matches
from storage.errors import StoreError
from storage.growth import is_growing, manifest_in_force
from storage.ledger import Receipt, digest, generation_name, line, receipts
from storage.manifest import MEND, Manifest
from storage.places.access import coordinator_lock, locate
from storage.places.local import is_draft
from storage.places.location import Location, LocationLike, refusals
from storage.schema import OK
from storage.writer import BlockReader, DamagedError

Kind = Literal["damaged", "missing", "other age", "extra", "no receipt", "ledger", "metadata", "other result"]


@dataclass(frozen=True)
class Finding:
    """Damage: its kind, the file, and the block and variable where it concerns one."""

    kind: Kind
    file: str
    text: str
    block: int | None = None
    variable: str | None = None

    def __str__(self) -> str:
        return f"{self.file}: {self.text}"


@dataclass(frozen=True)
class Block:
    """A block that was read: how many bytes it holds, and its damage."""

    index: int
    bytes: int
    findings: tuple[Finding, ...]


def check_files(store: LocationLike) -> Iterator[Finding]:
    """Check metadata and coordinates against the manifest, and find files that the layout does not know."""
    location = locate(store)
    manifest = manifest_in_force(location)
    for key, expected in manifest.files.items():
        with refusals(location.at(key)):
            if not location.has(key):
                yield Finding("metadata", location.at(key), "missing metadata")
            elif not matches(key, location.read(key), expected):
                yield Finding("metadata", location.at(key), "damaged metadata: its checksum does not match")
    yield from _extra(location, manifest)


def require_sound_metadata(store: LocationLike) -> None:
    """Refuses a store whose metadata, coordinates or ledger are damaged. Raises StoreError that names each file."""
    damage = [finding for finding in (*check_files(store), *check_ledger(store)) if finding.kind != "extra"]
    if damage:
        raise StoreError("\n".join((*map(str, damage), f"{locate(store)}: damaged; {MEND}")))


def _extra(location: Location, manifest: Manifest) -> Iterator[Finding]:
    """Files in the folders of variables that nobody has asked for; those of a growth that is under way belong there."""
    growing = is_growing(location)
    for name in manifest.layout.variables:
        with refusals(location):
            keys = sorted(location.keys(name))
        expected = {*manifest.files, *manifest.layout.keys(name)}
        for key in keys:
            if is_draft(key):
                yield Finding("extra", location.at(key), "left by a writer that was killed", variable=name)
            elif key not in expected and not growing:
                yield Finding("extra", location.at(key), f"not a file of {name}", variable=name)


def check_ledger(store: LocationLike) -> Iterator[Finding]:
    """Check the lines of the ledger, and find blocks of a finished store that have none."""
    location = locate(store)
    manifest = manifest_in_force(location)
    journal = location.journal(generation_name(manifest.generation))
    digests = array("Q", bytes(8 * manifest.layout.blocks))
    for number, receipt in enumerate(receipts(journal), start=1):
        here = f"{journal.name}:{number}"
        if isinstance(receipt, str):
            yield Finding("ledger", here, f"damaged line ({receipt})")
        elif not 0 <= receipt.block < len(digests):
            yield Finding("ledger", here, f"receipt of block {receipt.block}, which is not there")
        elif digests[receipt.block] not in (0, digest(receipt)):
            yield Finding("ledger", here, f"another result of block {receipt.block} than before", receipt.block)
        else:
            digests[receipt.block] = digest(receipt)
    if manifest.state == "finished":
        if journal.torn:
            yield Finding("ledger", journal.name, f"{journal.torn} bytes of a torn line at its end")
        for block, receipt_digest in enumerate(digests):
            if not receipt_digest:
                yield Finding("no receipt", journal.name, f"block {block} has no receipt", block)


def check_blocks(store: LocationLike) -> Iterator[Block]:
    """Read every block that has a receipt, whole. Memory does not grow with the store."""
    location = locate(store)
    manifest = manifest_in_force(location)
    reader = BlockReader(location, manifest.layout)
    checked = bytearray(manifest.layout.blocks)
    for receipt in sound_receipts(location, manifest):
        if not checked[receipt.block]:
            checked[receipt.block] = 1
            yield Block(receipt.block, receipt.bytes, tuple(_check_block(reader, receipt)))


def sound_receipts(location: Location, manifest: Manifest) -> Iterator[Receipt]:
    """Receipts whose lines are not damaged."""
    for receipt in receipts(location.journal(generation_name(manifest.generation))):
        if not isinstance(receipt, str) and 0 <= receipt.block < manifest.layout.blocks:
            yield receipt


def _check_block(reader: BlockReader, receipt: Receipt) -> Iterator[Finding]:
    for name in reader.layout.owned(receipt.block):
        file = reader.location.at(reader.layout.key(receipt.block, name))
        try:
            values = reader.read_region(receipt.block, name)
        except DamagedError as error:
            kind: Kind = "missing" if ": missing (" in str(error) else "damaged"
            yield Finding(kind, file, str(error).removeprefix(f"{file}: "), receipt.block, name)
            continue
        if shards.crc32c(values) != receipt.checksums.get(name):
            text = f"not what the receipt of block {receipt.block} says ({name}): of another age, or put there by hand"
            yield Finding("other age", file, text, receipt.block, name)
        elif name in QUANTITIES and QUANTITIES[name].finite and _is_nan_though_ok(reader, receipt.block, name, values):
            yield Finding("damaged", file, f"NaN where the status is OK (block {receipt.block})", receipt.block, name)


def _is_nan_though_ok(reader: BlockReader, index: int, name: str, values: NDArray[Any]) -> bool:
    """Whether a region holds NaN where the status of the same samples is OK; False where no status can be read."""
    layout, dims = reader.layout, reader.layout.variable(name).dims
    status = "status" if "time" in dims else "worst_status"
    nan = np.isnan(values)
    if status not in layout.variables or not nan.any():
        return False
    try:
        codes = reader.read_region(index, status)
    except DamagedError:
        return False
    sizes = dict(zip(layout.variable(status).dims, codes.shape, strict=True))
    return bool((nan & (codes == OK).reshape([sizes.get(dim, 1) for dim in dims])).any())


def open_for_repair(store: LocationLike, findings: Iterable[Finding]) -> dict[int, Receipt]:
    """Make a damaged store an unfinished one: without extra files, and without receipts of damaged blocks.

    A run then computes these blocks, and marks the store as finished. Gives the old receipts, which the new ones have
    to equal. Raises StoreError where another run holds the store.
    """
    location = locate(store)
    findings = tuple(findings)
    broken = {finding.block for finding in findings if finding.block is not None}
    with coordinator_lock(location), refusals(location):
        manifest = manifest_in_force(location)
        sound = list(sound_receipts(location, manifest))
        replace(manifest, state="running").save(location)
        location.journal(generation_name(manifest.generation)).replace(
            line(receipt) for receipt in sound if receipt.block not in broken
        )
        for finding in findings:
            if finding.kind == "extra":
                location.delete(finding.file.removeprefix(location.at("")))
    return {receipt.block: receipt for receipt in sound if receipt.block in broken}


def receipts_of(store: LocationLike, blocks: Iterable[int]) -> dict[int, Receipt]:
    """The receipts of these blocks, of those that have one."""
    location, blocks = locate(store), set(blocks)
    receipts_in_force = sound_receipts(location, manifest_in_force(location))
    return {receipt.block: receipt for receipt in receipts_in_force if receipt.block in blocks}
