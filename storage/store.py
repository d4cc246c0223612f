"""The only door to Zarr: making a store, writing whole blocks into it, opening it as a dataset.

A store is a Zarr v3 group with one sharded, checksummed array for each variable, plus a manifest, a ledger and a lock
(`storage.manifest`, `storage.ledger`, `storage.lock`). The writer takes a block index, never a slice: each region it
writes is made of whole shards, because two writers inside one shard lose data without a word.
"""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
import zarr
from numpy.typing import NDArray
from zarr.codecs import BloscCodec, BytesCodec, Crc32cCodec

from storage import shards
from storage.errors import StoreError
from storage.layout import Layout, lengths
from storage.ledger import Ledger, Receipt
from storage.manifest import MANIFEST, Manifest, refusals, replace_file, sync_directory
from storage.schema import LABELS, Coordinate, Variable, check_attributes, check_coordinates, check_units, lookup
from storage.shards import COMPRESSOR, LEVEL

__all__ = ["StoreError", "StoreWriter", "create", "open_results"]

_METADATA = "zarr.json"
_CODECS = ("bytes", "blosc", "crc32c")
Arrays = dict[str, Any]
"""The Zarr arrays of a store by variable; Zarr's own types are too wide to help here."""


def create(
    path: str | Path,
    layout: Layout,
    coordinates: Iterable[Coordinate],
    attributes: Mapping[str, Any],
    units: Mapping[str, str] | None = None,
    flags: Mapping[str, int] | None = None,
) -> None:
    """Makes an empty store: complete under its name, or not there at all.

    `attributes` describe the whole result and hold at least the text of the sweep and its fingerprint; `units` replace
    those of the schema; `flags` are names and codes of the status. Raises StoreError where the path exists or cannot be
    written, and for attributes, units or coordinates that cannot be stored.
    """
    path = Path(path)
    coordinates = check_coordinates(coordinates, layout.sizes)
    check_attributes(attributes)
    check_units(units or {})
    if path.exists() or path.is_symlink():
        raise StoreError(f"{path}: exists already; resume it, remove it, or choose another store")
    draft = path.parent / f".{path.name}.{uuid.uuid4().hex[:8]}.draft"
    try:
        with refusals(path):
            draft.mkdir(parents=True)
            _build(draft, layout, coordinates, attributes, units or {}, flags or {})
            Manifest(attributes["fingerprint"], attributes["sweep"], layout).save(draft)
            _sync_tree(draft)
            draft.rename(path)
            sync_directory(path.parent)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


class StoreWriter:
    """Writes and reads blocks of one store. Small to pickle; each process opens the arrays once."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).absolute()
        self.layout = Manifest.load(self.path).layout
        self._made = _stamp(self.path)

    def write(self, index: int, arrays: Mapping[str, NDArray[Any]]) -> Receipt:
        """Stores the regions that block `index` owns, a status last, and returns what was stored.

        Shapes and types have to be those of the layout exactly. Raises StoreError where they are not, where the system
        cannot write, or where what is read back differs.
        """
        owned = self.layout.owned(index)
        if set(arrays) != set(owned):
            raise StoreError(f"block {index} got arrays {sorted(arrays)}; expected {sorted(owned)}")
        for name in owned:
            self._check(index, name, arrays[name])
        _open_arrays(self.path, self._made)  # Once per process: refuses metadata that do not fit what will be written.
        checksums = {name: self._write(index, name, arrays[name]) for name in owned}
        return Receipt(index, checksums, sum(array.nbytes for array in arrays.values()))

    def read(self, index: int) -> dict[str, NDArray[Any]]:
        """The regions that block `index` owns. Raises StoreError that names the file of a missing or damaged shard."""
        stored = _open_arrays(self.path, self._made)
        return {name: self._read(index, name, stored[name]) for name in self.layout.owned(index)}

    def _check(self, index: int, name: str, array: NDArray[Any]) -> None:
        """Refuses an array that is not the block's region of a variable, or a region that is not whole shards."""
        region, variable = self.layout.region(index, name), lookup(name)
        if array.shape != lengths(region) or array.dtype != variable.dtype:
            raise StoreError(
                f"block {index}, {name}: got shape {array.shape} of {array.dtype}; "
                f"expected {lengths(region)} of {variable.dtype}"
            )
        for dim, part, size in zip(variable.dims, region, self.layout.shape(name), strict=True):
            step = self.layout.block.get(dim, size)
            if part.start % step or part.stop != min(part.start + step, size):
                raise StoreError(
                    f"block {index}, {name}: {part.start} to {part.stop} of {dim} is not a whole shard; "
                    f"expected a range of {step} that starts at a multiple of it"
                )

    def _write(self, index: int, name: str, array: NDArray[Any]) -> int:
        """Writes one region, looks at what the disk holds, and returns the checksum of the region."""
        file = self._shard(index, name)
        parts = shards.encode(array, self.layout.shard(name), self.layout.chunk(name), lookup(name).fill)
        with refusals(file):
            shards.write(file, parts)
            if not shards.holds(file, parts):
                raise StoreError(f"{file}: differs from what was written; check the disk, and run again")
        return shards.crc32c(array)

    def _read(self, index: int, name: str, stored: Any) -> NDArray[Any]:
        """Reads one region.

        A file that is missing or empty is damage, though Zarr reads it as fill values: every shard has its chunks.
        """
        file = self._shard(index, name)
        if not file.is_file() or not file.stat().st_size:
            raise StoreError(f"{file}: missing or empty (block {index} of {name}); compute the block again")
        try:
            return np.asarray(stored[self.layout.region(index, name)])
        except Exception as error:  # Codecs raise what they like on damaged bytes.
            raise StoreError(f"{file}: damaged (block {index} of {name}: {error}); compute the block again") from error

    def _shard(self, index: int, name: str) -> Path:
        """The file of a region."""
        bounds = self.layout.bounds(index)
        places = (bounds[dim].start // self.layout.block[dim] if dim in bounds else 0 for dim in lookup(name).dims)
        return self.path / name / ".".join(["c", *map(str, places)])


def open_results(path: str | Path, *, unfinished: bool = False) -> xr.Dataset:
    """The results in a store as a lazy dataset, one Dask chunk for each shard; coordinates are in memory.

    An unfinished store is refused unless asked for; its dataset then has the attribute `finished` = False and the
    coordinate `written`, true for each (design, trajectory) whose friction sets are all there.
    Raises StoreError for a store that is missing, unfinished, damaged, or not ours.
    """
    path = Path(path)
    manifest = Manifest.load(path)
    if manifest.state != "finished" and not unfinished:
        raise StoreError(f"{path}: is not finished; resume its run, or open what there is with unfinished=True")
    _open_arrays(path.absolute(), _stamp(path))
    dataset = xr.open_zarr(path, chunks=None, consolidated=True, decode_times=False)
    coordinates = {name: each.load() for name, each in dataset.coords.items()}
    dataset = dataset.chunk({dim: manifest.layout.block.get(str(dim), -1) for dim in dataset.dims})
    dataset = dataset.assign_coords(coordinates)
    return dataset if manifest.state == "finished" else _mask(dataset, path, manifest.layout)


def _mask(dataset: xr.Dataset, path: Path, layout: Layout) -> xr.Dataset:
    """The dataset of an unfinished store, which says what has been written."""
    done = np.frombuffer(Ledger.read(path, layout.blocks).done, dtype=bool).reshape(layout.grid).all(axis=1)
    for axis, dim in enumerate(("design", "trajectory")):
        done = done.repeat(layout.block[dim], axis=axis).take(range(layout.sizes[dim]), axis=axis)
    written = (("design", "trajectory"), done, {"long_name": "all results are written"})
    return dataset.assign_coords(written=written).assign_attrs(finished=False)


def _build(
    path: Path,
    layout: Layout,
    coordinates: tuple[Coordinate, ...],
    attributes: Mapping[str, Any],
    units: Mapping[str, str],
    flags: Mapping[str, int],
) -> None:
    """Writes the group, its arrays and its coordinates."""
    present = {dim for name in layout.variables for dim in lookup(name).dims} - {each.name for each in coordinates}
    coordinates = (*coordinates, *(Coordinate(dim, dim, LABELS[dim]) for dim in LABELS if dim in present))
    extra = [each.name for each in coordinates if each.name != each.dim]
    declared = {"coordinates": " ".join(extra)} if extra else {}
    group = zarr.create_group(path, attributes={**attributes, **declared})
    for name in layout.variables:
        _build_variable(group, layout, lookup(name), units, flags)
    for each in coordinates:
        _build_coordinate(group, each)
    _consolidate(path)


def _build_variable(
    group: zarr.Group, layout: Layout, variable: Variable, units: Mapping[str, str], flags: Mapping[str, int]
) -> None:
    """Adds an empty sharded array, whose codecs are those of `storage.shards`."""
    meaning: dict[str, Any] = {"flag_values": list(flags.values()), "flag_meanings": " ".join(flags)} if flags else {}
    group.create_array(
        variable.name,
        shape=layout.shape(variable.name),
        shards=layout.shard(variable.name),
        chunks=layout.chunk(variable.name),
        dtype=variable.dtype,
        fill_value=variable.fill,
        serializer=BytesCodec(endian="little"),
        compressors=[BloscCodec(cname=COMPRESSOR, clevel=LEVEL, shuffle="shuffle"), Crc32cCodec()],
        dimension_names=variable.dims,
        # one folder for each array: making nested ones costs more than a small shard
        chunk_key_encoding={"name": "default", "separator": "."},
        attributes={
            "units": units.get(variable.name, variable.units),
            "long_name": variable.long_name,
            "frame": variable.frame,
            **(meaning if variable.kind == "status" else {}),
        },
    )


def _build_coordinate(group: zarr.Group, coordinate: Coordinate) -> None:
    """Adds a coordinate with its values."""
    text = all(isinstance(value, str) for value in coordinate.values)
    values = np.array(coordinate.values, dtype=object if text else np.float64)
    described = {"units": coordinate.units, "long_name": coordinate.long_name}
    array = group.create_array(
        coordinate.name,
        shape=values.shape,
        chunks=values.shape,
        dtype=str if text else "float64",
        compressors=[Crc32cCodec()],
        dimension_names=(coordinate.dim,),
        attributes={key: value for key, value in described.items() if value},
    )
    array[:] = values


def _consolidate(path: Path) -> None:
    """Copies the metadata of the arrays into that of the group, so that readers list no files and open one.

    Shapes never change after creation, so the copy stays true. By hand because Zarr warns against its own function.
    """
    arrays = {each.parent.name: json.loads(each.read_text()) for each in sorted(path.glob(f"*/{_METADATA}"))}
    group = json.loads((path / _METADATA).read_text())
    group["consolidated_metadata"] = {"kind": "inline", "must_understand": False, "metadata": arrays}
    replace_file(path / _METADATA, json.dumps(group, allow_nan=False))


def _stamp(path: Path) -> int:
    """When the store was made; its metadata do not change later."""
    with refusals(path):
        return (path / _METADATA).stat().st_mtime_ns


@lru_cache(maxsize=8)
def _open_arrays(path: Path, made: int) -> Arrays:
    """The arrays of a store, once per process; `made` tells a store from an earlier one under the same name."""
    del made
    layout, file = Manifest.load(path).layout, path / _METADATA
    try:
        group: Any = zarr.open_group(path, mode="r", use_consolidated=True)
        arrays = {name: group[name] for name in layout.variables}
        found = {name: _form(array) for name, array in arrays.items()}
    except Exception as error:  # Zarr raises many kinds on damaged metadata.
        raise StoreError(f"{file}: damaged ({error!r}); restore it from a copy, or run the sweep again") from error
    for name, form in found.items():
        expected = (layout.shape(name), layout.shard(name), layout.chunk(name), lookup(name).dtype, _CODECS)
        if form != expected:
            raise StoreError(
                f"{file}: {name} has shape, shards, chunks, type and codecs {form}; "
                f"expected {expected} as {MANIFEST} says; restore both from a copy, or run the sweep again"
            )
    return arrays


def _form(array: Any) -> tuple[Any, ...]:
    """What decides how the bytes of an array are read."""
    inner = array.metadata.to_dict()["codecs"][0]["configuration"]["codecs"]
    return array.shape, array.shards, array.chunks, str(array.dtype), tuple(each["name"] for each in inner)


def _sync_tree(path: Path) -> None:
    """Makes all files and names below a directory durable."""
    for directory, _, files in os.walk(path):
        for name in files:
            with open(os.path.join(directory, name), "rb") as stream:
                os.fsync(stream.fileno())
        sync_directory(Path(directory))
