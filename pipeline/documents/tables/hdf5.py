"""Datasets of HDF5 files, also those of NetCDF 4 and MATLAB 7.3. Nothing outside of the file is ever read.

Soft links are not followed; external links, datasets whose bytes are in other files, and virtual datasets are refused.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator
from typing import IO, Any

import numpy as np

from pipeline.documents.tables.columns import Bounds, Variable, of_kind
from pipeline.errors import refused
from robots.extras import require_extra

KIND = ("HDF5 file", "an HDF5 file")
FILTERS = {1: "gzip", 2: "shuffle", 3: "fletcher32", 4: "szip", 5: "nbit", 6: "scaleoffset", 32000: "lzf"}
"""Filters of chunks that the library has itself; others are programs that it would load."""

GZIP, CHECKSUM = 1, 3
HEADER = 1024
"""Bytes that a packed chunk may be longer than its numbers."""

PATH = 4096
"""Characters of the path of a dataset, at most."""


def hdf5_variables(stream: IO[bytes], file: str, bounds: Bounds) -> list[Variable]:
    """Return the datasets of a file by path, `group/name`. Raises InputError."""
    require_extra("h5py")
    import h5py

    with of_kind(file, *KIND), h5py.File(stream, "r") as opened:
        return list(_datasets(opened, stream, file, bounds))


def _datasets(opened: Any, stream: IO[bytes], file: str, bounds: Bounds) -> Iterator[Variable]:
    import h5py

    groups, seen, count = [("", opened, 0)], set(), 0
    while groups:
        path, group, depth = groups.pop()
        address = h5py.h5o.get_info(group.id).addr
        if address in seen:
            continue
        seen.add(address)
        if len(path) > PATH:
            raise refused(file, f"a path of {len(path)} characters", f"at most {PATH}")
        if depth > bounds.depth:
            raise refused(file, f"groups deeper than {bounds.depth}", f"at most {bounds.depth} levels")
        bounds.check_members(file, count := count + len(group))
        for name in sorted(group):
            link = group.get(name, getlink=True)
            if isinstance(link, h5py.ExternalLink):
                hint = "Copy the data into one file."
                raise refused(file, f"{path}{name}, a link to another file", "data of the file itself", hint)
            if not isinstance(link, h5py.HardLink):
                continue
            entry = group[name]
            if isinstance(entry, h5py.Group):
                groups.append((f"{path}{name}/", entry, depth + 1))
            elif isinstance(entry, h5py.Dataset) and entry.shape is not None:
                yield _variable(f"{path}{name}", entry, stream, file, bounds)


def _variable(name: str, dataset: Any, stream: IO[bytes], file: str, bounds: Bounds) -> Variable:
    import h5py

    chunk, itemsize, dataset_type = dataset.chunks, dataset.dtype.itemsize, dataset.dtype

    def load() -> np.ndarray:
        bounds.check_values(file, [] if chunk is None else [(f"a chunk of {name}", chunk, itemsize)])
        if dataset_type.hasobject:
            raise refused(file, f"texts or objects in {name}", "numbers")
        with of_kind(file, *KIND), h5py.File(stream, "r") as opened:
            if GZIP in codes:
                _check_chunks(opened[name], file, math.prod(chunk) * itemsize, codes.index(GZIP))
            return np.asarray(opened[name][()])

    if dataset.external or dataset.is_virtual:
        hint = "Copy the data into one file."
        raise refused(file, f"{name}, whose data are in other files", "data of the file itself", hint)
    settings = dataset.id.get_create_plist()
    codes = [settings.get_filter(number)[0] for number in range(settings.get_nfilters())]
    for code in codes:
        if code not in FILTERS:
            raise refused(file, f"{name} packed by the filter {code}", f"one of {', '.join(FILTERS.values())}")
    if len({*codes}) < len(codes) or (GZIP in codes and {*codes[codes.index(GZIP) + 1 :]} - {CHECKSUM}):
        raise refused(file, f"{name} packed more than once", "chunks that are packed once")
    return Variable(name, tuple(dataset.shape), dataset.dtype, load)


def _check_chunks(dataset: Any, file: str, declared: int, filter_number: int) -> None:
    """Check that chunks packed by gzip unpack to no more than they declare; the library itself has no bound."""
    for number in range(dataset.id.get_num_chunks()):
        place = dataset.id.get_chunk_info(number)
        too_large = place.size > 2 * declared + HEADER
        if not too_large and not place.filter_mask >> filter_number & 1:
            unpacking = zlib.decompressobj()
            numbers = unpacking.decompress(dataset.id.read_direct_chunk(place.chunk_offset)[1], declared + 1)
            too_large = len(numbers) > declared
        if too_large:
            raise refused(file, f"a chunk of {dataset.name} that unpacks to more than it declares", f"{declared} bytes")
