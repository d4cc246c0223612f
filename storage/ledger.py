"""The ledger of a run: one line for each finished block, written by the coordinator alone.

A line is the receipt as JSON with a checksum of itself at the end. Only the last line can be torn by a crash, and is
dropped on opening; any other damage is refused. Memory is 17 bytes for each block, whatever the receipts hold. The
journal of the store's location keeps the lines (`storage.places.location`). The manifest of a finished store has a
checksum over all receipts, which proves that they belong to this store and generation.
"""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Iterator, Mapping
from typing import Self

from robots.data_classes import dataclass
from storage.encoding.checksums import DIGEST, Checksum, digest, seal
from storage.encoding.documents import parse_json
from storage.errors import StoreError
from storage.manifest import MANIFEST, Manifest
from storage.places.access import locate
from storage.places.location import Journal, Location, LocationLike, refusals

LEDGER = "ledger"
"""Name of the journal of a store's first generation."""

OTHER_LEDGER = (
    f"not the receipts that the store was finished with (their checksum is not that in {MANIFEST}): of another store "
    "or age; limbsweep verify --repair computes the blocks again"
)

SYNC_SECONDS = 1.0
_CHECK = b',"check":"'


@dataclass(frozen=True)
class Receipt:
    """Receipt of a written block: a checksum of the numbers of each of its regions, and the number of bytes in all."""

    block: int
    checksums: Mapping[str, Checksum]
    bytes: int


class Ledger:
    """The finished blocks of a store, on disk and as a bitmap in memory."""

    def __init__(self, journal: Journal, blocks: int) -> None:
        self.journal = journal
        self.blocks = blocks
        self.count = 0
        self._digests = bytearray(DIGEST * blocks)
        self._done = bytearray(blocks)
        self._synced = time.monotonic()

    @classmethod
    def read(cls, store: LocationLike, blocks: int) -> Self:
        """Read the ledger of a store as it is now, without touching the file, which a run may be writing.

        Raises StoreError that names the first damaged line.
        """
        location = locate(store)
        with refusals(location):
            ledger = cls(location.journal(ledger_name(location)), blocks)
        for number, (line, receipt) in enumerate(parsed(ledger.journal), start=1):
            if isinstance(receipt, str):
                raise StoreError(
                    f"{ledger.journal.name}:{number}: damaged line ({receipt}); limbsweep verify --repair computes its "
                    "block again"
                )
            if ledger._is_new(receipt.block, line):
                ledger._enter(receipt.block, line)
        return ledger

    @classmethod
    def open(cls, store: LocationLike, blocks: int) -> Self:
        """Open the ledger of a store for receipts. The caller holds the coordinator's lock."""
        ledger = cls.read(store, blocks)
        with refusals(ledger.journal.name):
            ledger.journal.open()
        return ledger

    def append(self, receipt: Receipt) -> None:
        """Record a finished block; a second receipt that agrees changes nothing.

        Raises StoreError where the receipt contradicts an earlier one, or cannot be written.
        """
        body = _body(receipt)
        if not self._is_new(receipt.block, body):
            self.count += not self._done[receipt.block]
            self._done[receipt.block] = 1
            return
        with refusals(self.journal.name):
            self.journal.append(body + _seal(body))
            if time.monotonic() - self._synced >= SYNC_SECONDS:
                self.sync()
        self._enter(receipt.block, body)

    def is_done(self, block: int) -> bool:
        """Return whether a block has its receipt."""
        return bool(self._done[block])

    def remaining(self) -> Iterator[int]:
        """Yield the blocks without a receipt, in order; receipts that arrive meanwhile count."""
        block = self._done.find(0)
        while block >= 0:
            yield block
            block = self._done.find(0, block + 1)

    @property
    def done(self) -> bytes:
        """One byte for each block: 1 where it has its receipt."""
        return bytes(self._done)

    @property
    def seal(self) -> str:
        """The checksum of all receipts, whatever the order in which they came."""
        return seal(self._digests)

    def sync(self) -> None:
        """Make the receipts so far durable."""
        with refusals(self.journal.name):
            self.journal.sync()
        self._synced = time.monotonic()

    def close(self) -> None:
        """Make all receipts durable and close the file; a second call does nothing."""
        with refusals(self.journal.name):
            try:
                self.journal.sync()
            finally:
                self.journal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _is_new(self, block: int, body: bytes) -> bool:
        """Return whether this is the first receipt of its block.

        Raises StoreError for an impossible block number, and for a result that differs from the recorded one.
        """
        if not 0 <= block < self.blocks:
            raise StoreError(f"{self.journal.name}: receipt of block {block}; expected 0 to {self.blocks - 1}")
        stored = self._digests[DIGEST * block : DIGEST * (block + 1)]
        if any(stored) and stored != digest(body):
            raise StoreError(
                f"{self.journal.name}: block {block} was computed twice with different results; the workers do not "
                "agree: compare their versions and machines, and run the sweep into a new store"
            )
        return not any(stored)

    def _enter(self, block: int, body: bytes) -> None:
        """Mark a block as done."""
        self._done[block] = 1
        self._digests[DIGEST * block : DIGEST * (block + 1)] = digest(body)
        self.count += 1


def require_complete(location: Location, manifest: Manifest) -> None:
    """Check that the ledger of a store with the state finished has all its receipts. Raises StoreError."""
    blocks, ledger = manifest.layout.blocks, Ledger.read(location, manifest.layout.blocks)
    if lacking := blocks - ledger.count:
        raise StoreError(
            f"{location}: says that it is finished, but {lacking} of its {blocks} blocks have no receipt; "
            "limbsweep verify --repair computes them again"
        )
    if manifest.ledger and ledger.seal != manifest.ledger:
        raise StoreError(f"{ledger.journal.name}: {OTHER_LEDGER}")


def ledger_name(location: Location) -> str:
    """Return the name of the journal that belongs to the manifest of a store."""
    generation = Manifest.load(location).generation if location.has(MANIFEST) else 1
    return generation_name(generation)


def generation_name(generation: int) -> str:
    """Return the name of the journal of a generation."""
    return LEDGER if generation == 1 else f"{LEDGER}-{generation}"


def receipts(journal: Journal) -> Iterator[Receipt | str]:
    """Yield each line of a journal: its receipt, or its fault."""
    return (receipt for _, receipt in parsed(journal))


def line(receipt: Receipt) -> bytes:
    """Return the line of a receipt, without its end."""
    body = _body(receipt)
    return body + _seal(body)


def parsed(journal: Journal) -> Iterator[tuple[bytes, Receipt | str]]:
    """Yield each line without its checksum, with its receipt or fault."""
    with refusals(journal.name):
        for sealed in journal.lines():
            body, _, check = sealed.rpartition(_CHECK)
            yield body, _receipt(body, check)


def _receipt(body: bytes, check: bytes) -> Receipt | str:
    if _seal(body) != _CHECK + check:
        return "its checksum does not match"
    try:
        data = parse_json(body + b"}")
        return Receipt(int(data["block"]), dict(data["checksums"]), int(data["bytes"]))
    except (ValueError, KeyError, TypeError) as error:
        return repr(error)


def _body(receipt: Receipt) -> bytes:
    """Return the one text of a receipt, without its closing brace."""
    data = {"block": receipt.block, "bytes": receipt.bytes, "checksums": dict(receipt.checksums)}
    return json.dumps(data, sort_keys=True, separators=(",", ":")).encode()[:-1]


def digest_of(receipt: Receipt) -> bytes:
    """Return a short hash that tells receipts apart."""
    return digest(_body(receipt))


def _seal(body: bytes) -> bytes:
    """Return the end of a line, with the checksum of the text before it."""
    return _CHECK + b'%08x"}' % zlib.crc32(body)
