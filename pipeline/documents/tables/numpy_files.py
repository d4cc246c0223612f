"""Arrays of NumPy: .npy and .npz. Headers are checked against the bytes that follow; objects are never unpickled."""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Callable, Mapping
from functools import partial
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from pipeline.documents.tables.columns import Bounds, Variable
from pipeline.errors import reason, refused

HEADER = 1 << 16
"""Bytes of a header, at most."""

DIMENSIONS = 32
"""Dimensions of an array, at most."""

PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Ways to pack that NumPy has itself, which unpack piece by piece; others unpack whole pieces without a bound."""


def npy_variables(stream: IO[bytes], file: str, bounds: Bounds) -> list[Variable]:
    """Return the columns of a structured array by their names, or the one array without a name. Raises InputError."""
    whole = _variable(file, "", lambda: stream, _length(stream), bounds)
    if whole.dtype.names is None:
        return [whole]
    loaded: list[NDArray[Any]] = []

    def column(name: str) -> NDArray[Any]:
        if not loaded:
            bounds.check_values(file, [("its rows", whole.shape, whole.dtype.itemsize)])
            loaded.append(whole.load())
        return np.asarray(loaded[0][name])

    fields: Mapping[str, Any] = whole.dtype.fields or {}
    return [
        Variable(name, whole.shape + fields[name][0].shape, fields[name][0].base, partial(column, name))
        for name in whole.dtype.names
    ]


def npz_variables(stream: IO[bytes], file: str, bounds: Bounds) -> list[Variable]:
    """Return the arrays of an archive by their names. Raises InputError."""
    try:
        archive = zipfile.ZipFile(stream)
        entries = [entry for entry in archive.infolist() if not entry.filename.endswith("/")]
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, UnicodeDecodeError) as error:
        raise _broken(file, error, "arrays by name, as numpy.savez writes") from None
    bounds.check_members(file, len(entries), "arrays")
    result = []
    for entry in entries:
        name = entry.filename.removesuffix(".npy")
        if entry.compress_type not in PACKINGS:
            raise refused(file, f"{name} packed by another program", "arrays by name, as numpy.savez writes")
        result.append(_variable(file, name, partial(archive.open, entry), entry.file_size, bounds))
    return result


def _length(stream: IO[bytes]) -> int:
    place = stream.tell()
    end = stream.seek(0, io.SEEK_END)
    stream.seek(place)
    return end - place


def _variable(file: str, name: str, opened: Callable[[], IO[bytes]], length: int, bounds: Bounds) -> Variable:
    """Return an array by its header, whose size is that of the bytes behind it. Raises InputError."""
    expected = "an array as numpy.save writes"
    try:
        stream = opened()
        start = stream.tell()
        version = npy.read_magic(stream)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, is_fortran, dtype = read(stream, max_header_size=HEADER)
        offset = stream.tell() - start
    except Exception as error:  # whatever NumPy makes of bytes that are not its own
        raise _broken(file, error, expected) from None
    if dtype.hasobject:
        raise refused(
            file, f"{name or 'an array'} of objects, which are pickled", "numbers", "Save columns of numbers."
        )
    if len(shape) > DIMENSIONS:
        raise refused(file, f"{name or 'an array'} of {len(shape)} dimensions", f"at most {DIMENSIONS}")
    count = math.prod(shape)
    if count * dtype.itemsize != length - offset:
        got = f"{name or 'an array'} of shape {shape} in {length - offset} bytes"
        raise refused(file, got, f"{count * dtype.itemsize} bytes", "Save it again: it is cut, or its header is wrong.")

    def load() -> NDArray[Any]:
        bounds.check_values(file, [(name or "the array", shape, dtype.itemsize)])
        try:
            stream = opened()
            stream.seek(start + offset)
            flat = np.frombuffer(stream.read(count * dtype.itemsize), dtype=dtype, count=count)
        except Exception as error:  # a damaged archive
            raise _broken(file, error, expected) from None
        return flat.reshape(shape, order="F" if is_fortran else "C")

    return Variable(name, tuple(shape), dtype, load)


def _broken(file: str, error: Exception, expected: str) -> Exception:
    text = reason(error)
    return refused(file, f"a file that cannot be read ({text})", expected)
