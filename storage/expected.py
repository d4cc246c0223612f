"""Content of a store according to its receipts, which every reader of results looks up lazily.

The receipts are read once per process, when the first number is read, and compared with the checksum in the
manifest.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robots.data_classes import dataclass
from storage.encoding import shards
from storage.encoding.checksums import DIGEST, Checksum, Hashing, content, digest, seal
from storage.encoding.shards import ShardError
from storage.errors import StoreError
from storage.layout import Layout
from storage.ledger import OTHER_LEDGER, Receipt, generation_name, parsed
from storage.manifest import Manifest
from storage.places.location import Location
from storage.variables import BlockGrid

_TEXT = 2 * DIGEST
"""Letters of a checksum of a region."""

UNKNOWN = "has content that no receipt of this store lists: it is of another store or age, or was put there by hand"


@dataclass(frozen=True)
class ReceiptTable:
    """The checksum of each region, as text, by variable and block; empty where a block has no receipt."""

    checksums: dict[str, NDArray[np.bytes_]]
    done: bytearray

    @classmethod
    def of(cls, receipts: Iterable[Receipt], blocks: int, variables: Iterable[str]) -> ReceiptTable:
        """Return the table of these receipts; the first of each block counts."""
        table = cls({name: np.zeros(blocks, f"S{_TEXT}") for name in variables}, bytearray(blocks))
        for receipt in receipts:
            for name in () if table.done[receipt.block] else table.checksums.keys() & receipt.checksums.keys():
                table.checksums[name][receipt.block] = str(receipt.checksums[name]).encode()[:_TEXT]
            table.done[receipt.block] = 1
        return table

    def holders(self, checksum: Checksum) -> Iterator[tuple[int, str]]:
        """Yield the blocks and variables whose region has a checksum."""
        for name, column in self.checksums.items():
            for index in np.flatnonzero(column == str(checksum).encode()).tolist():
                yield index, name


@dataclass(frozen=True)
class Expected:
    """The receipts that belong to a manifest; small to pickle.

    `opened` tells openings of a store apart that has no checksum over its receipts, so that each reads them for itself.
    """

    location: Location
    blocks: int
    variables: tuple[str, ...]
    generation: int
    hashing: Hashing
    ledger: str
    opened: str = ""

    @classmethod
    def of(cls, location: Location, manifest: Manifest) -> Expected:
        """Return the receipts of a store."""
        layout, opened = manifest.layout, "" if manifest.ledger else uuid.uuid4().hex
        return cls(
            location,
            layout.blocks,
            tuple(layout.variables),
            manifest.generation,
            manifest.hashing,
            manifest.ledger,
            opened,
        )

    def table(self) -> ReceiptTable:
        """Read the receipts. Raises StoreError for a damaged ledger, and for one of another store or age."""
        return _table(self)

    def is_sound(self, index: int, name: str, region: NDArray[Any]) -> bool:
        """Return whether a region of a block has the checksum in its receipt."""
        return str(content(region, self.hashing)).encode() == self.table().checksums[name][index]


@lru_cache(maxsize=8)
def _table(expected: Expected) -> ReceiptTable:
    journal, digests = expected.location.journal(generation_name(expected.generation)), bytearray()

    def checked() -> Iterator[Receipt]:
        digests.extend(bytes(DIGEST * expected.blocks))
        for number, (body, receipt) in enumerate(parsed(journal), start=1):
            if not isinstance(receipt, Receipt) or not 0 <= receipt.block < expected.blocks:
                raise StoreError(
                    f"{journal.name}:{number}: damaged line; limbsweep verify --repair computes its block again"
                )
            digests[DIGEST * receipt.block : DIGEST * (receipt.block + 1)] = digest(body)
            yield receipt

    table = ReceiptTable.of(checked(), expected.blocks, expected.variables)
    if expected.ledger and seal(digests) != expected.ledger:
        raise StoreError(f"{journal.name}: {OTHER_LEDGER}")
    return table


def whose(data: bytes, layout: Layout, table: ReceiptTable, hashing: Hashing) -> str:
    """Describe the unexpected content of a shard by the receipts of the store: the block that its bytes belong to."""
    variables = layout.variables.values()
    forms = {(variable.shard, variable.chunk, variable.row.dtype) for variable in variables}
    for shard, chunk, dtype in sorted(forms):
        try:
            whole = shards.decode(data, shard, chunk, dtype)
        except ShardError:
            continue
        for shape in _region_shapes(layout, shard):
            region = whole[tuple(slice(0, length) for length in shape)]
            for index, name in table.holders(content(region, hashing)):
                return f"holds block {index} of {name}"
    return UNKNOWN


def _region_shapes(layout: Layout, shard: tuple[int, ...]) -> set[tuple[int, ...]]:
    """Return the shapes of the regions in shards of a shape; regions at the far edges are shorter."""
    variables = [variable for variable in layout.variables.values() if variable.shard == shard]
    corners = [layout.grid.index(place) for place in _corners(layout.grid)]
    return {variable.region_shape(index) for index in corners for variable in variables}


def _corners(grid: BlockGrid) -> Iterator[tuple[int, ...]]:
    """Yield the places of the first and the last blocks along each dim of the grid."""
    for ends in np.ndindex(*(2 for _ in grid.counts)):
        yield tuple(end * (count - 1) for end, count in zip(ends, grid.counts, strict=True))
