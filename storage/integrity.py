"""Check a store: every checksum, every receipt, every file that is there or is not.

Five kinds of evidence: a checksum in each chunk (bits that changed), receipts of blocks (a shard of another block or
age, which is whole in itself), the checksum of all receipts, those of metadata in the manifest, and the list of files
that the layout asks for. Computing blocks again is in `pipeline.stores.verify`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from robots.data_classes import dataclass, replace
from robots.quantities import QUANTITIES
from storage.encoding.checksums import DIGEST, content, matches, seal
from storage.errors import StoreError
from storage.expected import UNKNOWN, ReceiptTable, whose
from storage.growth import FOLDER, is_growing, manifest_in_force
from storage.ledger import OTHER_LEDGER, Receipt, digest_of, generation_name, line, receipts
from storage.manifest import MANIFEST, MEND, Manifest
from storage.places.access import coordinator_lock, locate
from storage.places.local import is_draft
from storage.places.location import Location, LocationLike, TooLargeError, refusals
from storage.places.regular import ForeignFileError
from storage.schema import OK
from storage.signature import SIGNATURE
from storage.variables import StoredVariable
from storage.writer import BlockReader, DamagedError

OWN_FILES = (
    "zarr.json",
    "sources",
    "coordinator.lock",
    "coordinator.lease",
    "coordinator.lease.making",
    "log.jsonl",
    "log",
    "cancel",
    "CARD.md",
    SIGNATURE,
)
"""Names in a store besides manifest, ledger and arrays."""

MAX_FILE = 1 << 30
"""Bytes of a file of metadata or coordinates that is read."""

Kind = Literal[
    "damaged", "missing", "other age", "extra", "no receipt", "ledger", "metadata", "other result", "signature"
]


@dataclass(frozen=True)
class StoreDamage:
    """Damage: its kind, the file, and the block and variable where it concerns one."""

    kind: Kind
    file: str
    text: str
    block: int | None = None
    variable: str | None = None

    def __str__(self) -> str:
        return f"{self.file}: {self.text}"


@dataclass(frozen=True)
class CheckedBlock:
    """A block that was read: how many bytes it holds, and its damage."""

    index: int
    bytes: int
    findings: tuple[StoreDamage, ...]


def check_files(store: LocationLike) -> Iterator[StoreDamage]:
    """Check metadata and coordinates against the manifest, and find files that the layout does not know."""
    location = locate(store)
    manifest = manifest_in_force(location)
    for key, expected in manifest.files.items():
        with refusals(location.at(key)):
            try:
                if not matches(key, location.read_within(key, MAX_FILE), expected):
                    yield StoreDamage("metadata", location.at(key), "damaged metadata: its checksum does not match")
            except (FileNotFoundError, NotADirectoryError):
                yield StoreDamage("metadata", location.at(key), "missing metadata")
            except (ForeignFileError, TooLargeError) as error:
                yield StoreDamage("metadata", location.at(key), f"damaged metadata: {error.strerror}")
    yield from _extra(location, manifest)


def foreign_files(store: LocationLike) -> Iterator[str]:
    """Yield descriptions of foreign files and folders in a store, beside its arrays, each folder once."""
    location = locate(store)
    manifest = manifest_in_force(location)
    arrays = {*manifest.layout.variables, *_folders(manifest)}
    ledger = generation_name(manifest.generation)
    own = {MANIFEST, f"{ledger}.jsonl", ledger, *OWN_FILES, *arrays}
    if is_growing(location):
        own |= {FOLDER, f"{(name := generation_name(manifest.generation + 1))}.jsonl", name}
    with refusals(location):
        tops = Counter(key.partition("/")[:2] for key in location.keys(""))
    for (name, slash), count in sorted(tops.items()):
        if name not in own:
            what = f"a folder with {count} files" if slash else "a file"
            yield f"{location.at(name)}: {what}, not of this store; nothing reads it"


def require_sound_metadata(store: LocationLike) -> None:
    """Refuse a store whose metadata, coordinates or ledger are damaged. Raises StoreError that names each file."""
    damage = [finding for finding in (*check_files(store), *check_ledger(store)) if finding.kind != "extra"]
    if damage:
        raise StoreError("\n".join((*map(str, damage), f"{locate(store)}: damaged; {MEND}")))


def _extra(location: Location, manifest: Manifest) -> Iterator[StoreDamage]:
    """Yield unexpected files in the folders of arrays; files of a growth under way are expected."""
    growing = is_growing(location)
    for name in dict.fromkeys((*manifest.layout.variables, *_folders(manifest))):
        with refusals(location):
            keys = sorted(location.keys(name))
        variable = manifest.layout.variables.get(name)
        expected = {*manifest.files, *(variable.all_keys() if variable else ())}
        for key in keys:
            if is_draft(key):
                yield StoreDamage("extra", location.at(key), "left by a writer that was killed", variable=name)
            elif key not in expected and not growing:
                yield StoreDamage("extra", location.at(key), f"not a file of {name}", variable=name)


def _folders(manifest: Manifest) -> Iterator[str]:
    """Yield the folders of the files that a manifest lists."""
    return (key.partition("/")[0] for key in manifest.files if "/" in key)


def check_ledger(store: LocationLike) -> Iterator[StoreDamage]:
    """Check the lines of the ledger, and find blocks of a finished store that have none.

    A ledger whose lines are all sound and which is of another store or age is one finding.
    """
    location = locate(store)
    manifest = manifest_in_force(location)
    journal = location.journal(generation_name(manifest.generation))
    digests = bytearray(DIGEST * manifest.layout.blocks)
    try:
        for number, receipt in enumerate(receipts(journal), start=1):
            here = f"{journal.name}:{number}"
            if isinstance(receipt, str):
                yield StoreDamage("ledger", here, f"damaged line ({receipt})")
                continue
            if not 0 <= receipt.block < manifest.layout.blocks:
                yield StoreDamage("ledger", here, f"receipt of block {receipt.block}, which is not there")
                continue
            place = _place(receipt.block)
            if any(digests[place]) and digests[place] != digest_of(receipt):
                yield StoreDamage("ledger", here, f"another result of block {receipt.block} than before", receipt.block)
            else:
                digests[place] = digest_of(receipt)
    except StoreError as error:
        if not isinstance(error.__cause__, ForeignFileError | TooLargeError):
            raise
        yield StoreDamage("ledger", journal.name, f"cannot be read: {error.__cause__.strerror}")
    if manifest.state == "finished":
        if journal.torn:
            yield StoreDamage("ledger", journal.name, f"{journal.torn} bytes of a torn line at its end")
        lacking = [block for block in range(manifest.layout.blocks) if not any(digests[_place(block)])]
        for block in lacking:
            yield StoreDamage("no receipt", journal.name, f"block {block} has no receipt", block)
        if not lacking and manifest.ledger and seal(digests) != manifest.ledger:
            yield StoreDamage("ledger", journal.name, OTHER_LEDGER)
        if not manifest.ledger and manifest.hashing == "blake3":  # older formats have none
            yield StoreDamage("ledger", location.at(MANIFEST), "without the checksum of all receipts")


def _place(block: int) -> slice:
    """Return the slice of the digest of a block's receipt among the digests of all blocks."""
    return slice(DIGEST * block, DIGEST * (block + 1))


def check_blocks(store: LocationLike) -> Iterator[CheckedBlock]:
    """Read every block that has a receipt, whole. Memory does not grow with the store."""
    location = locate(store)
    manifest = manifest_in_force(location)
    checker = _BlockChecker(location, manifest)
    checked = bytearray(manifest.layout.blocks)
    for receipt in sound_receipts(location, manifest):
        if not checked[receipt.block]:
            checked[receipt.block] = 1
            yield CheckedBlock(receipt.block, receipt.bytes, tuple(checker.check(receipt)))


def sound_receipts(location: Location, manifest: Manifest) -> Iterator[Receipt]:
    """Yield the receipts in undamaged lines; none if the ledger is not a file."""
    try:
        for receipt in receipts(location.journal(generation_name(manifest.generation))):
            if not isinstance(receipt, str) and 0 <= receipt.block < manifest.layout.blocks:
                yield receipt
    except StoreError as error:
        if not isinstance(error.__cause__, ForeignFileError | TooLargeError):
            raise


class _BlockChecker:
    """Comparison of blocks with their receipts."""

    def __init__(self, location: Location, manifest: Manifest) -> None:
        self._reader, self._manifest = BlockReader(location, manifest.layout), manifest

    def check(self, receipt: Receipt) -> Iterator[StoreDamage]:
        """Yield the findings about a block."""
        reader, index = self._reader, receipt.block
        for name, variable in reader.layout.owned(index).items():
            file = reader.location.at(variable.key(index))
            try:
                data = reader.read_shard(index, variable)
            except DamagedError as error:
                text = str(error).removeprefix(f"{file}: ")
                yield StoreDamage("missing" if text.startswith("missing (") else "damaged", file, text, index, name)
                continue
            try:
                values = reader.decoded(index, variable, data)
            except DamagedError as error:
                if (holds := self._whose(data)) == UNKNOWN:
                    yield StoreDamage("damaged", file, str(error).removeprefix(f"{file}: "), index, name)
                else:
                    yield StoreDamage("other age", file, f"block {index} of {name} {holds}", index, name)
                continue
            if content(values, self._manifest.hashing) != receipt.checksums.get(name):
                yield StoreDamage("other age", file, f"block {index} of {name} {self._whose(data)}", index, name)
            elif name in QUANTITIES and QUANTITIES[name].finite and _is_nan_though_ok(reader, index, variable, values):
                yield StoreDamage("damaged", file, f"NaN where the status is OK (block {index})", index, name)

    def _whose(self, data: bytes) -> str:
        """Describe the block that the bytes of a shard belong to."""
        return whose(data, self._reader.layout, self._table, self._manifest.hashing)

    @cached_property
    def _table(self) -> ReceiptTable:
        sound = sound_receipts(self._reader.location, self._manifest)
        return ReceiptTable.of(sound, self._manifest.layout.blocks, self._manifest.layout.variables)


def _is_nan_though_ok(reader: BlockReader, index: int, variable: StoredVariable, values: NDArray[Any]) -> bool:
    """Return whether a region holds NaN where the status of the same samples is OK.

    False where no status can be read.
    """
    dims, nan = variable.dims, np.isnan(values)
    status = reader.layout.variables.get("status" if "time" in dims else "worst_status")
    if status is None or not nan.any():
        return False
    try:
        codes = reader.read_region(index, status)
    except DamagedError:
        return False
    sizes = dict(zip(status.dims, codes.shape, strict=True))
    return bool((nan & (codes == OK).reshape([sizes.get(dim, 1) for dim in dims])).any())


def open_for_repair(store: LocationLike, findings: Iterable[StoreDamage]) -> dict[int, Receipt]:
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
        if any(finding.text == OTHER_LEDGER for finding in findings):
            broken |= {receipt.block for receipt in sound}
        replace(manifest, state="running", ledger="").save(location)
        location.journal(generation_name(manifest.generation)).replace(
            line(receipt) for receipt in sound if receipt.block not in broken
        )
        for finding in findings:
            if finding.kind == "extra":
                location.delete(finding.file.removeprefix(location.at("")))
    return {receipt.block: receipt for receipt in sound if receipt.block in broken}


def receipts_of(store: LocationLike, blocks: Iterable[int]) -> dict[int, Receipt]:
    """Return the receipts of these blocks; blocks without a receipt are left out."""
    location, blocks = locate(store), set(blocks)
    receipts_in_force = sound_receipts(location, manifest_in_force(location))
    return {receipt.block: receipt for receipt in receipts_in_force if receipt.block in blocks}
