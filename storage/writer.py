"""Write and read whole blocks of a store: encoded, put in place, read again, and hashed.

The writer takes a block index, never a slice: each region it writes is made of whole shards, because two writers inside
one shard lose data without a word. The module needs no Zarr; `storage.encoding.shards` has the format of the bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from typing import Any

from numpy.typing import NDArray

from storage.encoding import shards
from storage.encoding.checksums import Hashing, checksum, content, matches
from storage.encoding.documents import MAX_BYTES, METADATA, parse_json
from storage.encoding.shards import ShardError
from storage.errors import StoreError, cause
from storage.layout import Layout
from storage.ledger import Receipt
from storage.manifest import MANIFEST, MEND, Manifest
from storage.places.access import locate
from storage.places.location import Location, LocationLike, TooLargeError, refusals
from storage.places.regular import ForeignFileError
from storage.variables import StoredVariable

AGAIN = "limbsweep verify --repair computes the block again"
_CODECS = ("bytes", "blosc", "crc32c")
_TEXTS, _FLAGS = ("units", "long_name", "frame"), ("flag_values", "flag_meanings")
"""Attributes of a variable; others could change its numbers when it is read."""


class DamagedError(StoreError):
    """A shard that is not as it was written, or not there. The text says which file, block and variable."""


class BlockReader:
    """Reader of blocks of a store that trusts none of its metadata."""

    def __init__(self, store: LocationLike, layout: Layout) -> None:
        self.location, self.layout = locate(store), layout

    def read(self, index: int) -> dict[str, NDArray[Any]]:
        """Read the regions that block `index` owns. Raises StoreError that names a missing or damaged shard's file."""
        return {name: self.read_region(index, variable) for name, variable in self.layout.owned(index).items()}

    def read_region(self, index: int, variable: StoredVariable) -> NDArray[Any]:
        """Read one region of a block. Raises as `read` does."""
        return self.decoded(index, variable, self.read_shard(index, variable))

    def read_shard(self, index: int, variable: StoredVariable) -> bytes:
        """Return the file of a region. Raises as `read` does."""
        key = variable.key(index)
        limit = shards.largest(variable.shard, variable.chunk, variable.row.dtype)
        with refusals(self.location.at(key)):
            try:
                return self.location.read_within(key, limit)
            except FileNotFoundError:
                if not self.location.exists():
                    gone = f"{self.location}: was moved or removed since it was opened; open it again"
                    raise StoreError(gone) from None
                raise self.damage(index, variable, f"missing (block {index} of {variable.name})") from None
            except (ForeignFileError, TooLargeError) as error:
                what = str(error.strerror).partition(",")[0]
                raise self.damage(index, variable, f"{what} (block {index} of {variable.name})") from None

    def decoded(self, index: int, variable: StoredVariable, data: bytes) -> NDArray[Any]:
        """Return the region in the bytes of its file. Raises DamagedError."""
        try:
            whole = shards.decode(data, variable.shard, variable.chunk, variable.row.dtype)
        except ShardError as error:
            where = f"block {index} of {variable.name}"
            raise self.damage(index, variable, f"damaged ({where}: {error})" if data else f"empty ({where})") from None
        return whole[variable.inside(index)]

    def damage(self, index: int, variable: StoredVariable, what: str) -> DamagedError:
        """Return the error for a file that is not the region of a block."""
        return DamagedError(f"{self.location.at(variable.key(index))}: {what}; {AGAIN}")


class StoreWriter(BlockReader):
    """Writer and reader of the blocks of one store. Small to pickle; each process reads the metadata once."""

    def __init__(self, store: LocationLike) -> None:
        manifest = Manifest.load(store)
        super().__init__(store, manifest.layout)
        self._hashing = manifest.hashing
        self._metadata_checksum = checksum(METADATA, _metadata(self.location))

    def write(self, index: int, arrays: Mapping[str, NDArray[Any]]) -> Receipt:
        """Store the regions that block `index` owns, a status last, durably, and return the stored arrays.

        Shapes and types have to equal those of the layout. Raises StoreError for others, where the system cannot write,
        or where the data that are read back differ.
        """
        receipt = receipt_of(self.layout, index, arrays, self._hashing)
        _require_same_store(self.location, self._metadata_checksum)
        # one variable is compressed while the one before goes to the disk: waiting for a disk takes no processor
        with ThreadPoolExecutor(1, "store") as disk:
            before: Future[None] | None = None
            for name, variable in self.layout.owned(index).items():
                parts = _encoded(variable, arrays[name])
                if before is not None:
                    before.result()
                before = disk.submit(self._put, variable.key(index), parts)
            if before is not None:
                before.result()
        return receipt

    def encoded(self, index: int, arrays: Mapping[str, NDArray[Any]]) -> tuple[Receipt, dict[str, bytes]]:
        """Return the receipt of a block, and the files that `write` would make of it, by variable."""
        receipt = receipt_of(self.layout, index, arrays, self._hashing)
        owned = self.layout.owned(index)
        return receipt, {name: b"".join(_encoded(variable, arrays[name])) for name, variable in owned.items()}

    def put(self, index: int, files: Mapping[str, bytes]) -> None:
        """Store the encoded files of a block, in the order of `write`, durably. Raises StoreError as `write` does."""
        _require_same_store(self.location, self._metadata_checksum)
        for name, variable in self.layout.owned(index).items():
            self._put(variable.key(index), [files[name]])

    def _put(self, key: str, parts: list[bytes]) -> None:
        """Write one region, and compare the stored bytes."""
        with refusals(self.location.at(key)):
            self.location.write(key, parts)
            if not self.location.holds(key, parts):
                raise StoreError(
                    f"{self.location.at(key)}: differs from what was written; check the disk, and run again"
                )


def _encoded(variable: StoredVariable, array: NDArray[Any]) -> list[bytes]:
    """Return the bytes of the file of a region, in parts."""
    return shards.encode(array, variable.shard, variable.chunk, variable.row.fill)


class Comparer:
    """A writer that stores nothing: it gives the receipts of blocks that are computed once more."""

    def __init__(self, layout: Layout, hashing: Hashing) -> None:
        self.layout, self._hashing = layout, hashing

    def write(self, index: int, arrays: Mapping[str, NDArray[Any]]) -> Receipt:
        """Return the receipt for these arrays of a block, without writing them.

        Raises StoreError for arrays that do not fit the block.
        """
        return receipt_of(self.layout, index, arrays, self._hashing)


def receipt_of(layout: Layout, index: int, arrays: Mapping[str, NDArray[Any]], hashing: Hashing) -> Receipt:
    """Return the receipt of a block with these arrays. Raises StoreError if they do not fit the block."""
    owned = layout.owned(index)
    if set(arrays) != set(owned):
        raise StoreError(f"block {index} got arrays {sorted(arrays)}; expected {sorted(owned)}")
    for name, variable in owned.items():
        _check(variable, index, arrays[name])
    checksums = {name: content(arrays[name], hashing) for name in owned}
    return Receipt(index, checksums, sum(array.nbytes for array in arrays.values()))


def require_metadata(location: Location, manifest: Manifest) -> None:
    """Refuse metadata of the group that differ from the manifest. Raises StoreError with the difference."""
    require_form(location, manifest.layout)
    if not matches(METADATA, _metadata(location), manifest.files.get(METADATA)):
        raise StoreError(f"{location.at(METADATA)}: damaged (its checksum is not that in {MANIFEST}); {MEND}")


def require_form(location: Location, layout: Layout) -> None:
    """Refuse metadata of arrays that differ from the layout. Raises StoreError with the difference."""
    file = location.at(METADATA)
    with refusals(file):
        if not location.has(METADATA):
            raise StoreError(f"{file}: missing; {MEND}")
    try:
        arrays = parse_json(_metadata(location))["consolidated_metadata"]["metadata"]
        forms = {name: _form(arrays[name]) for name in layout.variables}
        problems = {name: _attributes_problem(arrays[name]["attributes"]) for name in layout.variables}
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise StoreError(f"{file}: damaged ({cause(error)}); {MEND}") from error
    for name, form in forms.items():
        variable = layout.variables[name]
        expected = (variable.shape, variable.shard, variable.chunk, variable.row.dtype, _CODECS)
        if problems[name]:
            raise StoreError(f"{file}: {name} has {problems[name]}; {MEND}")
        if form != expected:
            raise StoreError(
                f"{file}: {name} has shape, shards, chunks, type and codecs {form}; "
                f"expected {expected} as {MANIFEST} says; {MEND}"
            )


def _attributes_problem(attributes: Mapping[str, Any]) -> str:
    """Describe the error in the attributes of a variable; "" for sound attributes.

    Allowed are texts, and codes with their names.
    """
    if strange := attributes.keys() - {*_TEXTS, *_FLAGS}:
        return f"an attribute {min(strange)[:80]!r}"
    if wrong := [key for key in _TEXTS if not isinstance(attributes.get(key, ""), str)]:
        return f"{wrong[0]} that is no text"
    values, meanings = (attributes.get(key, default) for key, default in zip(_FLAGS, ([], ""), strict=True))
    if not isinstance(values, list) or not isinstance(meanings, str) or len(values) != len(meanings.split()):
        return f"{' and '.join(_FLAGS)} that do not belong together"
    return "" if all(type(value) is int for value in values) else f"{_FLAGS[0]} that are no whole numbers"


@lru_cache(maxsize=8)
def _require_same_store(location: Location, metadata_checksum: str) -> None:
    """Check once per process that the store is the same: a process that sees another, or none, has another disk."""
    if checksum(METADATA, _metadata(location)) != metadata_checksum:
        raise StoreError(
            f"{location}: is not the store that the run began with; see that all workers reach the same folder, "
            "run again"
        )
    require_form(location, Manifest.load(location).layout)


def _metadata(location: Location) -> bytes:
    with refusals(location.at(METADATA)):
        return location.read_within(METADATA, MAX_BYTES)


def _form(array: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the properties of an array that determine the reading of its bytes."""
    inner = array["codecs"][0]["configuration"]
    shard = array["chunk_grid"]["configuration"]["chunk_shape"]
    codecs = tuple(codec["name"] for codec in inner["codecs"])
    return tuple(array["shape"]), tuple(shard), tuple(inner["chunk_shape"]), array["data_type"], codecs


def _check(variable: StoredVariable, index: int, array: NDArray[Any]) -> None:
    """Refuse an array that is not the block's region of a variable, or a region that is not whole shards."""
    shape, dtype = variable.region_shape(index), variable.row.dtype
    if array.shape != shape or array.dtype != dtype:
        raise StoreError(
            f"block {index}, {variable.name}: got shape {array.shape} of {array.dtype}; expected {shape} of {dtype}"
        )
    for dim, part, size in zip(variable.dims, variable.region(index), variable.shape, strict=True):
        step = variable.grid.block.get(dim, size)
        if part.start % step or part.stop != min(part.start + step, size):
            raise StoreError(
                f"block {index}, {variable.name}: {part.start} to {part.stop} of {dim} is not a whole shard; "
                f"expected a range of {step} that starts at a multiple of it"
            )
