"""Datasets of HDF5 files, also those of NetCDF 4 and MATLAB 7.3. Nothing outside of the file is ever read.

Soft links are not followed; external links, datasets whose bytes are in other files, and virtual datasets are refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

import numpy as np

from pipeline.documents.files import refused
from pipeline.documents.tables.bounds import Bounds
from pipeline.documents.tables.columns import Variable
from pipeline.errors import InputError
from robots.extras import require_extra

FILTERS = {1: "gzip", 2: "shuffle", 3: "fletcher32", 4: "szip", 5: "nbit", 6: "scaleoffset", 32000: "lzf"}
"""Filters of chunks that the library has itself; others are programs that it would load."""


def hdf5_variables(stream: IO[bytes], file: str, bounds: Bounds) -> list[Variable]:
    """Return the datasets of a file by path, `group/name`. Raises InputError."""
    require_extra("h5py")
    import h5py

    try:
        with h5py.File(stream, "r") as opened:
            return list(_datasets(opened, stream, file, bounds))
    except InputError:
        raise
    except Exception as error:  # whatever a broken file leads to
        raise _broken(file, error) from None


def _datasets(opened: Any, stream: IO[bytes], file: str, bounds: Bounds) -> Iterator[Variable]:
    import h5py

    groups, seen, count = [("", opened, 0)], set(), 0
    while groups:
        path, group, depth = groups.pop()
        address = h5py.h5o.get_info(group.id).addr
        if address in seen:
            continue
        seen.add(address)
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

    chunk, itemsize = dataset.chunks, dataset.dtype.itemsize

    def load() -> np.ndarray:
        bounds.check_values(file, [] if chunk is None else [(f"a chunk of {name}", chunk, itemsize)])
        try:
            with h5py.File(stream, "r") as opened:
                return np.asarray(opened[name][()])
        except Exception as error:  # whatever a broken file leads to
            raise _broken(file, error) from None

    if dataset.external or dataset.is_virtual:
        hint = "Copy the data into one file."
        raise refused(file, f"{name}, whose data are in other files", "data of the file itself", hint)
    settings = dataset.id.get_create_plist()
    for number in range(settings.get_nfilters()):
        if (code := settings.get_filter(number)[0]) not in FILTERS:
            raise refused(file, f"{name} packed by the filter {code}", f"one of {', '.join(FILTERS.values())}")
    return Variable(name, tuple(dataset.shape), dataset.dtype, load)


def _broken(file: str, error: Exception) -> Exception:
    text = " ".join(str(error).split())[:120]
    return refused(file, f"a file that is no HDF5 file: {text}", "an HDF5 file")
