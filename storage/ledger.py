"""The ledger of a run: one line for each finished block, written by the coordinator alone.

A line is the receipt as JSON with a checksum of itself at the end. Only the last line can be torn by a crash, and is
dropped on opening; any other damage is refused. Memory is nine bytes for each block, whatever the receipts hold.
"""

from __future__ import annotations

import errno
import json
import os
import time
import zlib
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from types import TracebackType
from typing import Self

from storage.errors import StoreError
from storage.manifest import refusals, sync_directory

LEDGER = "ledger.jsonl"
SYNC_SECONDS = 1.0
_CHECK = b',"check":"'


@dataclass(frozen=True)
class Receipt:
    """What a block has written: the CRC-32C of each of its regions, over C-ordered bytes, and how many bytes in all."""

    block: int
    checksums: Mapping[str, int]
    bytes: int


class Ledger:
    """The finished blocks of a store, on disk and as a bitmap in memory."""

    def __init__(self, file: Path, blocks: int) -> None:
        self.file = file
        self.blocks = blocks
        self.count = 0
        self._digests = array("Q", bytes(8 * blocks))
        self._done = bytearray(blocks)
        self._descriptor = -1
        self._end = 0
        self._synced = time.monotonic()

    @classmethod
    def read(cls, path: Path, blocks: int) -> Self:
        """The ledger of the store at `path` as it is now, without touching the file, which a run may be writing.

        Raises StoreError that names the first damaged line.
        """
        ledger = cls(path / LEDGER, blocks)
        with refusals(path):
            if ledger.file.exists():
                with ledger.file.open("rb") as stream:
                    for number, line in enumerate(stream, start=1):
                        if line.endswith(b"\n"):
                            ledger._replay(number, line[:-1])
        return ledger

    @classmethod
    def open(cls, path: Path, blocks: int) -> Self:
        """The ledger of the store at `path`, ready for receipts. The caller holds the coordinator's lock."""
        ledger = cls.read(path, blocks)
        with refusals(path):
            ledger._descriptor = os.open(ledger.file, os.O_WRONLY | os.O_CREAT, 0o644)
            os.ftruncate(ledger._descriptor, ledger._end)
            sync_directory(path)
        return ledger

    def append(self, receipt: Receipt) -> None:
        """Records a finished block; a second receipt that agrees changes nothing.

        Raises StoreError where the receipt contradicts an earlier one, or cannot be written.
        """
        body = _body(receipt)
        if not self._is_new(receipt.block, body):
            return
        with refusals(self.file):
            self._write(body + _seal(body) + b"\n")
            if time.monotonic() - self._synced >= SYNC_SECONDS:
                self.sync()
        self._enter(receipt.block, body)

    def is_done(self, block: int) -> bool:
        """Whether a block has its receipt."""
        return bool(self._done[block])

    def remaining(self) -> Iterator[int]:
        """Blocks without a receipt, in order; receipts that arrive meanwhile count."""
        block = self._done.find(0)
        while block >= 0:
            yield block
            block = self._done.find(0, block + 1)

    @property
    def done(self) -> bytes:
        """One byte for each block: 1 where it has its receipt."""
        return bytes(self._done)

    def sync(self) -> None:
        """Makes the receipts so far durable."""
        os.fsync(self._descriptor)
        self._synced = time.monotonic()

    def close(self) -> None:
        """Makes all receipts durable and closes the file; a second call does nothing."""
        if self._descriptor >= 0:
            descriptor, self._descriptor = self._descriptor, -1
            with refusals(self.file):
                os.fsync(descriptor)
                os.close(descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _is_new(self, block: int, body: bytes) -> bool:
        """Whether this is the first receipt of its block. Raises StoreError for a block or a result that cannot be."""
        if not 0 <= block < self.blocks:
            raise StoreError(f"{self.file}: receipt of block {block}; expected 0 to {self.blocks - 1}")
        if self._done[block] and self._digests[block] != _digest(body):
            raise StoreError(
                f"{self.file}: block {block} was computed twice with different results; the workers do not agree: "
                "compare their versions and machines, and run the sweep into a new store"
            )
        return not self._done[block]

    def _enter(self, block: int, body: bytes) -> None:
        """Marks a block as done."""
        self._done[block], self._digests[block] = 1, _digest(body)
        self.count += 1

    def _replay(self, number: int, line: bytes) -> None:
        """Enters a line of the file."""
        body, _, check = line.rpartition(_CHECK)
        try:
            if _seal(body) != _CHECK + check:
                raise ValueError("its checksum does not match")
            block = int(json.loads(body + b"}")["block"])
        except (ValueError, KeyError, TypeError) as error:
            raise StoreError(
                f"{self.file}:{number}: damaged line ({error}); "
                "restore the file from a copy, or run the sweep into a new store"
            ) from error
        if self._is_new(block, body):
            self._enter(block, body)
        self._end += len(line) + 1

    def _write(self, line: bytes) -> None:
        """Adds a line whole, or takes back what was written of it."""
        try:
            if os.pwrite(self._descriptor, line, self._end) != len(line):
                raise OSError(errno.ENOSPC, "only a part of the line was written")
        except OSError:
            os.ftruncate(self._descriptor, self._end)
            raise
        self._end += len(line)


def _body(receipt: Receipt) -> bytes:
    """The one text of a receipt, without its closing brace."""
    return json.dumps(asdict(receipt), sort_keys=True, separators=(",", ":")).encode()[:-1]


def _digest(body: bytes) -> int:
    """A short hash that tells receipts of one block apart."""
    return int.from_bytes(blake2b(body, digest_size=8).digest(), "little")


def _seal(body: bytes) -> bytes:
    """The end of a line, with the checksum of what precedes it."""
    return _CHECK + b'%08x"}' % zlib.crc32(body)
