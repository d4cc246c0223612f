"""Blocks from processes that do not reach the store: their files go to the run, which puts them there.

A worker in a container or on another machine may see no disk of the machine that runs a sweep. It encodes a block as
the writer does; the files come back with the receipt, and the coordinator writes them. The bytes in the store are the
same either way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from robots.data_classes import dataclass, field
from storage.layout import Layout
from storage.ledger import Receipt
from storage.places.reach import Mark
from storage.writer import StoreWriter


@dataclass(frozen=True)
class SentReceipt(Receipt):
    """Receipt of a block whose files are still to be written, with these files by variable."""

    files: Mapping[str, bytes] = field(default_factory=dict)


class SendingWriter:
    """A writer that stores a block where the process sees the marked store, and sends its files where it does not."""

    def __init__(self, writer: StoreWriter, mark: Mark) -> None:
        self._writer, self._mark = writer, mark

    @property
    def layout(self) -> Layout:
        """Layout of the store."""
        return self._writer.layout

    def write(self, index: int, arrays: Mapping[str, NDArray[Any]]) -> Receipt:
        """Store the regions that block `index` owns, or encode them. Raises as the writer of the store does."""
        if not self._mark.fault():
            return self._writer.write(index, arrays)
        receipt, files = self._writer.encoded(index, arrays)
        return SentReceipt(receipt.block, receipt.checksums, receipt.bytes, files)


def delivered(receipt: Receipt, writer: StoreWriter) -> Receipt:
    """Return a receipt whose files are in the store; files that were sent are written now. Raises StoreError."""
    if not isinstance(receipt, SentReceipt):
        return receipt
    writer.put(receipt.block, receipt.files)
    return Receipt(receipt.block, receipt.checksums, receipt.bytes)
