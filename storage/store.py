"""Create a store, and open it as a dataset: the only module that uses Zarr.

xarray is imported where a store is opened: it takes longer than a small run, which need not open its store.

A store is a Zarr v3 group with one sharded, checksummed array for each variable, plus a manifest, a ledger and a lock
(`storage.manifest`, `storage.ledger`, `storage.places.lock`). Blocks are written and read by `storage.writer`, at the
location that `storage.places.location` finds.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import zarr
from numpy.typing import NDArray
from zarr.codecs import BloscCodec, BytesCodec, Crc32cCodec
from zarr.core.buffer import cpu
from zarr.storage import MemoryStore

from storage.coordinates import LazyCoordinate, read_checked, read_chunks, require_coordinate
from storage.encoding.checksums import Hashing, checksum
from storage.encoding.documents import MAX_BYTES, METADATA, parse_json
from storage.encoding.shards import COMPRESSOR, LEVEL
from storage.errors import StoreError, cause
from storage.expected import Expected
from storage.files import Files
from storage.growth import manifest_in_force, settled
from storage.inside import require_outside
from storage.later import warn_of_later
from storage.layout import COORDINATE_CHUNK, Layout
from storage.ledger import Ledger
from storage.manifest import MANIFEST, Attributes, Manifest
from storage.places.access import locate
from storage.places.local import LocalFolder
from storage.places.location import Location, LocationLike, known_advice, refusals
from storage.reading import CheckedArray
from storage.schema import DONE, LABELS, Coordinate, check_coordinates, check_units
from storage.sources import files as source_files
from storage.times import with_times
from storage.variables import SPLIT, StoredVariable
from storage.writer import BlockReader, StoreWriter, require_metadata

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["StoreError", "StoreWriter", "create", "metadata", "open_results", "same_values"]

LOADED = 1 << 20
"""Values of the longest coordinate that opening a store brings into memory."""

WRITTEN = ("design", "trajectory")
"""Dims of the coordinate `written` of an unfinished store, in the order of `BlockGrid.split`."""

ARRAYS = "arrays.json"
"""Checksums of a store of plain arrays, such as recordings."""
RECORD = "record"
"""Its attribute with the text beside the arrays."""
ARRAY_CHUNK = 1 << 16
"""Rows of a chunk of such an array."""
MAX_ARRAY = 1 << 30
"""Bytes of a chunk of such an array, at most."""


def create(
    store: LocationLike,
    layout: Layout,
    coordinates: Iterable[Coordinate],
    attributes: Mapping[str, Any],
    units: Mapping[str, str] | None = None,
    flags: Mapping[str, int] | None = None,
    sources: Mapping[str, bytes] | None = None,
) -> None:
    """Make an empty store: complete under its name, or not at all.

    `attributes` describe the whole result and hold at least the text of the sweep and its fingerprint; `units` replace
    the units of the schema; `flags` are names and codes of the status. Raises StoreError where the path exists or
    cannot be written, and for attributes, units or coordinates that cannot be stored.
    """
    location = locate(store)
    if isinstance(location, LocalFolder):
        require_outside(location.path)
    files = metadata(layout, coordinates, attributes, units, flags, sources)
    manifest = describe(layout, attributes, files)
    with refusals(location):
        try:
            location.make(files | Files.of({MANIFEST: manifest.dump()}), last=MANIFEST)
        except FileExistsError:
            raise StoreError(f"{location}: exists already; resume it, remove it, or choose another store") from None


def describe(
    layout: Layout,
    attributes: Mapping[str, Any],
    files: Mapping[str, bytes],
    generation: int = 1,
    hashing: Hashing = "blake3",
) -> Manifest:
    """Return the manifest of a store of these files."""
    sums = {key: checksum(key, data) for key, data in files.items()}
    return Manifest(Attributes(attributes), layout, "running", generation, sums, hashing)


def metadata(
    layout: Layout,
    coordinates: Iterable[Coordinate],
    attributes: Mapping[str, Any],
    units: Mapping[str, str] | None = None,
    flags: Mapping[str, int] | None = None,
    sources: Mapping[str, bytes] | None = None,
) -> Files:
    """Return the files of an empty store by key, except its manifest: metadata, coordinates, files that a sweep names.

    Raises as `create` does.
    """
    coordinates = check_coordinates(coordinates, layout.sizes)
    Attributes(attributes).check()
    check_units(units or {})
    present = layout.dims - {coordinate.name for coordinate in coordinates}
    coordinates = (*coordinates, *(Coordinate(dim, dim, LABELS[dim]) for dim in LABELS if dim in present))
    extra = [coordinate.name for coordinate in coordinates if coordinate.name != coordinate.dim]
    declared = {"coordinates": " ".join(extra)} if extra else {}
    files: dict[str, Any] = {}
    group = zarr.create_group(MemoryStore(files), attributes={**attributes, **declared})
    for variable in layout.variables.values():
        _build_variable(group, variable, units or {}, flags or {})
    chunks = [chunk for coordinate in coordinates for chunk in _build_coordinate(group, files, coordinate)]
    # Chunk by chunk, not coordinate by coordinate: those of one axis come from the same computation.
    makers = {key: make for _, key, make in sorted(chunks, key=lambda chunk: chunk[0])}
    described = Files.of(_consolidated({key: data.to_bytes() for key, data in files.items()}))
    return described | Files.of(source_files(sources or {})) | Files(makers)


def template(layout: Layout, contents: Mapping[str, Any]) -> xr.Dataset:
    """Return the dataset of a store without its results: coordinates in memory, attributes, metadata of each variable.

    `contents` are the arguments of `create`. Variables have the value with which they are filled.
    """
    import xarray as xr

    files = _memory(dict(metadata(layout, **contents)))
    dataset = xr.open_zarr(files, chunks=None, consolidated=True, decode_times=False)
    return with_times(dataset.assign_coords({name: values.load() for name, values in dataset.coords.items()}))


def open_results(store: LocationLike, *, unfinished: bool = False) -> xr.Dataset:
    """Return the results in a store as a lazy dataset, one Dask chunk for each shard; coordinates are in memory.

    Coordinates of more than `LOADED` values are as lazy as the results.

    An unfinished store is refused unless asked for; its dataset then has the attribute `finished` = False and the
    coordinate `written`, true for each (design, trajectory) whose friction sets are all there. A store that is being
    made larger is opened as it was before.
    Raises StoreError for a store that is missing, unfinished, damaged, or not ours.
    """
    import xarray as xr

    location = settled(store)
    manifest = manifest_in_force(location)
    if not _is_finished(manifest) and not unfinished:
        raise StoreError(f"{location}: is not finished; resume its run, or open its blocks with unfinished=True")
    warn_of_later(location, manifest.layout)
    ledger = None if _is_finished(manifest) else Ledger.read(location, manifest.layout.blocks)
    described, lazy, files = _described(location, manifest)
    with _told(location):
        dataset = xr.open_zarr(_memory(files), chunks=None, consolidated=True, decode_times=False)
        _check_attributes(dataset.attrs)
        dataset = dataset.assign(_variables(dataset, location, manifest))
        dataset = dataset.assign({name: _lazy(dataset[name], location, manifest, described[name]) for name in lazy})
        coordinates = {name: values.load() for name, values in dataset.coords.items() if values.size <= LOADED}
    dataset = dataset.chunk({dim: manifest.layout.block.get(str(dim), -1) for dim in dataset.dims})
    dataset = with_times(dataset.assign_coords(coordinates))
    return dataset if ledger is None else _mask(dataset, ledger.done, manifest.layout)


@contextmanager
def _told(location: Location) -> Iterator[None]:
    """Tell of damage as a StoreError, whatever it makes others raise."""
    try:
        yield
    except StoreError:
        raise
    # Zarr raises many kinds on damaged metadata, and codecs raise any error on damaged bytes
    except Exception as error:
        is_missing = isinstance(error, FileNotFoundError)
        if isinstance(error, OSError) and not is_missing and (advice := known_advice(error)):
            raise StoreError(f"{location}: {error.strerror or error}; {advice}") from error
        raise StoreError(
            f"{location}: its metadata or a coordinate is damaged ({cause(error)}); limbsweep verify says which file"
        ) from error


def _described(location: Location, manifest: Manifest) -> tuple[dict[str, Any], set[str], dict[str, bytes]]:
    """Return the metadata of the coordinates, the names of those left on disk, and all other files but results.

    Raises StoreError where one is damaged, or differs from the manifest.
    """
    require_metadata(location, manifest)
    with refusals(location):
        location.zarr_store()  # refuses links in the place of folders
    with _told(location):
        described = _coordinates(location, manifest)
        long = (name for name, array in described.items() if math.prod(array["shape"]) > LOADED)
        lazy = {name for name in long if name not in manifest.layout.sizes}  # indices need dims in memory
        files = dict(read_checked(location, manifest.files, [METADATA]))
        for name in described.keys() - lazy:
            files |= read_chunks(location, manifest.files, name, described[name])
    return described, lazy, files


def _check_attributes(attributes: Mapping[str, Any]) -> None:
    """Refuse attributes of types that no run gives. Raises ValueError."""
    for key in ("versions", "sources"):
        table = attributes.get(key, {})
        if not isinstance(table, dict) or not all(isinstance(value, str) for value in table.values()):
            raise ValueError(f"the attribute {key} is {table!r:.80}")
    for key in ("sweep", "fingerprint", "title", "robot", "created"):
        if not isinstance(attributes.get(key, ""), str):
            raise ValueError(f"the attribute {key} is {attributes[key]!r:.80}")


def _coordinates(location: Location, manifest: Manifest) -> dict[str, Any]:
    """Return the metadata of the arrays that are not results, by name, as in the group."""
    arrays = parse_json(location.read_within(METADATA, MAX_BYTES))["consolidated_metadata"]["metadata"]
    coordinates = {name: array for name, array in arrays.items() if name not in manifest.layout.variables}
    for name, described in coordinates.items():
        require_coordinate(name, described, manifest.layout.sizes)
    return coordinates


def _decoded(name: str, described: Mapping[str, Any], files: Mapping[str, bytes]) -> zarr.Array:
    """Return a coordinate as Zarr decodes it from these files, which must contain all its chunks."""
    array = zarr.open_group(_memory({METADATA: _group({name: described}), **files}), mode="r")[name]
    assert isinstance(array, zarr.Array)
    return array


def same_values(files: Mapping[str, bytes], location: Location, key: str) -> bool:
    """Return whether a chunk of a coordinate at a location has the same values as the one among `files`.

    Another version may have compressed the same values to other bytes. The chunk is whole, by its own checksum.
    """
    stored, expected = location.read(key), files[key]
    if stored == expected:
        return True
    name, _, number = key.partition("/c.")
    described = json.loads(files[f"{name}/{METADATA}"])
    length = int(described["chunk_grid"]["configuration"]["chunk_shape"][0])
    part = slice(int(number) * length, (int(number) + 1) * length)
    try:
        one, other = (np.asarray(_decoded(name, described, {key: data})[part]) for data in (stored, expected))
    except Exception:  # codecs raise any error on foreign bytes
        return False
    return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")


def _memory(files: Mapping[str, bytes]) -> MemoryStore:
    """Return the files of a store in memory, for Zarr to read."""
    return MemoryStore({key: cpu.Buffer.from_bytes(data) for key, data in files.items()}, read_only=True)


def _group(arrays: Mapping[str, Mapping[str, Any]]) -> bytes:
    """Return the metadata of a group of these arrays."""
    consolidated = {"kind": "inline", "must_understand": False, "metadata": arrays}
    return json.dumps({"zarr_format": 3, "node_type": "group", "consolidated_metadata": consolidated}).encode()


def _lazy(
    coordinate: xr.DataArray, location: Location, manifest: Manifest, described: Mapping[str, Any]
) -> xr.Variable:
    """Return a coordinate that is read with care when it is asked for."""
    from xarray import Variable

    from storage.lazy import lazy

    data = lazy(LazyCoordinate(location, manifest.files, str(coordinate.name), described, _decoded))
    return Variable(coordinate.dims, data, coordinate.attrs, coordinate.encoding)


def read_parts(store: LocationLike, name: str) -> Iterator[NDArray[Any]] | None:
    """Read a variable of a store, finished or not, block by block, without xarray; None without such a variable.

    Raises StoreError for a store that is missing, damaged, or not ours, as `open_results` does.
    """
    location = settled(store)
    manifest = manifest_in_force(location)
    _described(location, manifest)
    if (variable := manifest.layout.variables.get(name)) is None:
        return None
    array = _checked(location, manifest)(variable)
    owners = (index for index in range(manifest.layout.blocks) if variable.is_owned(index))
    return (array.read(variable.region(index)) for index in owners)


def _checked(location: Location, manifest: Manifest) -> Callable[[StoredVariable], CheckedArray]:
    """Return a function that turns a variable of a store into an array that is checked while it is read."""
    reader, expected = BlockReader(location, manifest.layout), Expected.of(location, manifest)
    return partial(CheckedArray, reader, expected=expected, finished=_is_finished(manifest))


def _is_finished(manifest: Manifest) -> bool:
    return manifest.state == "finished"


def _variables(dataset: xr.Dataset, location: Location, manifest: Manifest) -> dict[str, xr.Variable]:
    """Return the variables of a dataset, checked while they are read."""
    from xarray import Variable

    from storage.lazy import lazy

    checked = _checked(location, manifest)
    return {
        name: Variable(variable.dims, lazy(checked(variable)), dataset[name].attrs, dataset[name].encoding)
        for name, variable in manifest.layout.variables.items()
    }


def _mask(dataset: xr.Dataset, blocks_done: bytes, layout: Layout) -> xr.Dataset:
    """Return the dataset of an unfinished store, with the coordinate `written`."""
    blocks = np.frombuffer(blocks_done, dtype=bool).reshape(layout.grid.counts)
    others = tuple(axis for axis, dim in enumerate(layout.grid.split) if dim not in WRITTEN)
    done: NDArray[np.bool_] = np.all(blocks, axis=others)
    for axis, dim in enumerate(WRITTEN):
        done = done.repeat(layout.block[dim], axis=axis)
    done = done[: layout.sizes["design"], : layout.sizes["trajectory"]]
    written = (WRITTEN, done, {"long_name": "all results are written"})
    return dataset.assign_coords({DONE: written}).assign_attrs(finished=False)


def _build_variable(
    group: zarr.Group, variable: StoredVariable, units: Mapping[str, str], flags: Mapping[str, int]
) -> None:
    """Add an empty sharded array with the codecs of `storage.encoding.shards`."""
    meaning: dict[str, Any] = {"flag_values": list(flags.values()), "flag_meanings": " ".join(flags)} if flags else {}
    row = variable.row
    group.create_array(
        row.name,
        shape=variable.shape,
        shards=variable.shard,
        chunks=variable.chunk,
        dtype=row.dtype,
        fill_value=row.fill,
        serializer=BytesCodec(endian="little"),
        compressors=[BloscCodec(cname=COMPRESSOR, clevel=LEVEL, shuffle="shuffle"), Crc32cCodec()],
        dimension_names=row.dims,
        # one folder for each array: making nested ones costs more than a small shard
        chunk_key_encoding={"name": "default", "separator": "."},
        attributes={
            "units": units.get(row.name, row.units),
            "long_name": row.long_name,
            "frame": row.frame,
            **(meaning if row.kind == "status" else {}),
        },
    )


def _build_coordinate(
    group: zarr.Group, files: dict[str, Any], coordinate: Coordinate
) -> Iterator[tuple[int, str, Callable[[], bytes]]]:
    """Add a coordinate without values; yield number, key and maker of each chunk of the values."""
    text = isinstance(coordinate.values[:1][0], str)
    described = {"units": coordinate.units, "long_name": coordinate.long_name}
    grows = coordinate.dim in SPLIT
    squeeze = [BloscCodec(cname=COMPRESSOR, clevel=LEVEL)] if grows else []
    size = len(coordinate.values)
    length = COORDINATE_CHUNK if grows else size
    array = group.create_array(
        coordinate.name,
        shape=(size,),
        chunks=(length,),
        dtype=str if text else "float64",
        compressors=[*squeeze, Crc32cCodec()],
        dimension_names=(coordinate.dim,),
        chunk_key_encoding={"name": "default", "separator": "."},
        attributes={key: value for key, value in described.items() if value},
        config={"write_empty_chunks": True},
    )

    def chunk(number: int, key: str) -> bytes:
        part = slice(number * length, min((number + 1) * length, size))
        array[part] = np.array(coordinate.values[part], dtype=object if text else np.float64)
        data: bytes = files.pop(key).to_bytes()
        return data

    for number in range(-(-size // length)):
        key = f"{coordinate.name}/c.{number}"
        yield number, key, partial(chunk, number, key)


def create_arrays(
    store: LocationLike, arrays: Mapping[str, NDArray[Any]], dims: Mapping[str, tuple[str, ...]], record: str
) -> None:
    """Make a store of arrays of numbers, whole under its name or not there at all; `record` is a text beside them.

    Each array has the names `dims` for its dims. Checksums of all files are in ARRAYS, the last one to be there. Raises
    StoreError where the path exists or cannot be written.
    """
    location = locate(store)
    files: dict[str, Any] = {}
    group = zarr.create_group(MemoryStore(files), attributes={RECORD: record})
    for name, values in arrays.items():
        array = group.create_array(
            name,
            shape=values.shape,
            chunks=(min(max(len(values), 1), ARRAY_CHUNK), *values.shape[1:]),
            dtype=values.dtype,
            compressors=[BloscCodec(cname=COMPRESSOR, clevel=LEVEL, shuffle="shuffle"), Crc32cCodec()],
            dimension_names=dims[name],
            chunk_key_encoding={"name": "default", "separator": "."},
            config={"write_empty_chunks": True},
        )
        array[...] = values
    described = _consolidated({key: data.to_bytes() for key, data in files.items()})
    sums = {key: checksum(key, data) for key, data in described.items()}
    listed = json.dumps({"format": 1, "files": sums}, indent=1).encode()
    with refusals(location):
        try:
            location.make(Files.of(described | {ARRAYS: listed}), last=ARRAYS)
        except FileExistsError:
            raise StoreError(f"{location}: exists already; remove it, or choose another name") from None


def has_arrays(store: LocationLike) -> bool:
    """Return whether there is a store that `create_arrays` made."""
    try:
        return bool(locate(store).read_within(ARRAYS, MAX_BYTES))
    except (OSError, StoreError):
        return False


def open_arrays(store: LocationLike) -> tuple[dict[str, NDArray[Any]], str]:
    """Return the arrays and the record of a store that `create_arrays` made, held against their checksums.

    Raises StoreError for a store that is missing, damaged, or not ours.
    """
    location = locate(store)
    try:
        with refusals(location):
            listed = parse_json(location.read_within(ARRAYS, MAX_BYTES))
            sums = listed["files"] if isinstance(listed, dict) and listed.get("format") == 1 else None
            if not isinstance(sums, dict) or not all(isinstance(value, str) for value in sums.values()):
                raise ValueError(f"{ARRAYS} is of another format")
            files = {key: location.read_within(key, MAX_ARRAY) for key in sums}
        if wrong := [key for key, data in files.items() if checksum(key, data) != sums[key]]:
            raise StoreError(
                f"{location}: {wrong[0]} was changed since it was written; restore it, or read the recordings again"
            )
        group = zarr.open_group(_memory(files), mode="r")
        arrays = {name: np.asarray(group[name][...]) for name in sorted(group.array_keys())}  # type: ignore[index]
        return arrays, str(group.attrs[RECORD])
    except StoreError:
        raise
    except Exception as error:  # as in open_results
        raise StoreError(f"{location}: is no store of recordings, or a damaged one ({cause(error)})") from error


def _consolidated(files: dict[str, bytes]) -> dict[str, bytes]:
    """Return the files with the metadata of the arrays also in that of the group: readers list no files and open one.

    By hand because Zarr warns against its own function.
    """
    arrays = {key.rpartition("/")[0]: json.loads(files[key]) for key in sorted(files) if key.endswith(f"/{METADATA}")}
    group = json.loads(files[METADATA])
    group["consolidated_metadata"] = {"kind": "inline", "must_understand": False, "metadata": arrays}
    return {**files, METADATA: json.dumps(group, allow_nan=False).encode()}
