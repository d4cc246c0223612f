# ruff: noqa: E501 - a row of a table is a line
"""Bounds of tables: sizes that a file of somebody else declares, packs or repeats are held before memory is taken."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pipeline.documents.tables import bag_reader
from pipeline.documents.tables.columns import Bounds
from pipeline.documents.tables.reader import open_columns, parse_table
from pipeline.errors import InputError
from tests.pipeline.documents.tables import test_damaged

SMALL = Bounds(values=1000)


def npz(array: np.ndarray | bytes, packing: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", packing) as archive:
        if isinstance(array, bytes):
            archive.writestr("a.npy", array)
        else:
            with archive.open("a.npy", "w") as member:
                np.save(member, array)
    return stream.getvalue()


def npy_header(shape: tuple[int, ...]) -> bytes:
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}".encode()
    text = text.ljust(-(-(len(text) + 11) // 64) * 64 - 11) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


def element(kind: int, content: bytes) -> bytes:
    return struct.pack("<II", kind, len(content)) + content + bytes(-len(content) % 8)


def matrix(kind: int, shape: list[int], name: bytes, *parts: bytes) -> bytes:
    head = element(6, struct.pack("<II", kind, 0)) + element(5, struct.pack(f"<{len(shape)}i", *shape))
    return element(14, head + element(1, name) + b"".join(parts))


def packed_mat(content: bytes) -> bytes:
    packed = zlib.compress(content)
    return b" " * 124 + b"\x00\x01IM" + struct.pack("<II", 15, len(packed)) + packed


def mat_of_fields(width: int = 1) -> bytes:
    names = element(1, b"q" * 20_000)
    return packed_mat(matrix(2, [1, 1], b"a", element(5, struct.pack("<i", width)), names))


def netcdf_of_one_place(count: int) -> bytes:
    """A file whose variables all have the numbers of the first."""
    head = b"CDF\x01" + struct.pack(">iiii", 0, 10, 1, 1) + b"x\0\0\0" + struct.pack(">iiiii", 100, 0, 0, 11, count)
    sized = len(head) + count * 36
    variables = (
        struct.pack(">i", 4) + b"v%03d" % k + struct.pack(">iiiiiii", 1, 0, 0, 0, 6, 800, sized) for k in range(count)
    )
    return head + b"".join(variables) + bytes(800)


def hdf5(write: Callable[[Any, Any], object]) -> bytes:
    h5py = pytest.importorskip("h5py")
    stream = io.BytesIO()
    with h5py.File(stream, "w") as file:
        write(h5py, file)
    return stream.getvalue()


def chunked(times_packed: int, length: int) -> bytes:
    """A dataset of one chunk of 100 numbers that unpacks to so many, packed so many times."""

    def write(h5py: Any, file: Any) -> None:
        settings = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        settings.set_chunk((100,))
        content = np.zeros(length).tobytes()
        for _ in range(times_packed):
            settings.set_deflate(9)
            content = zlib.compress(content)
        space = h5py.h5s.create_simple((100,))
        dataset = h5py.h5d.create(file.id, b"a", h5py.h5t.NATIVE_DOUBLE, space, settings)
        dataset.write_direct_chunk((0,), content, 0)

    return hdf5(write)


def texts(h5py: Any, file: Any) -> None:
    file.create_dataset("a", (3,), dtype=h5py.string_dtype())[:] = ["z"] * 3


def long_path(h5py: Any, file: Any) -> None:
    group = file.create_group("g" * 5000)
    group.create_group("h").create_dataset("a", data=np.zeros(2))


def parquet_of_more_rows() -> bytes:
    """A file that declares 20 rows and has 20 000."""
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    stream, rows = io.BytesIO(), 20_000
    parquet.write_table(arrow.table({"a": arrow.array(np.zeros(rows))}), stream, row_group_size=rows)
    content = bytearray(stream.getvalue())
    footer = len(content) - 8 - struct.unpack("<I", content[-8:-4])[0]
    place = content.find(b"\x16" + varint(2 * rows), footer)  # the rows of the whole, the first such number there
    content[place + 1 : place + 4] = bytes([40 | 128, 128, 0])
    return bytes(content)


def varint(number: int) -> bytes:
    low = [number >> shift & 127 for shift in (0, 7, 14)]
    return bytes([low[0] | 128, low[1] | 128, low[2]])


FILES: dict[str, tuple[str, Callable[[], bytes], Bounds | None, str]] = {
    "dimensions of NPY": ("npz", lambda: npz(npy_header((1,) * 70 + (5,)) + bytes(40)), None, "of 71 dimensions; expect"),
    "packing of NPZ": ("npz", lambda: npz(np.zeros(3), zipfile.ZIP_BZIP2), None, "a packed by another program; expec"),
    "bytes of numbers": ("npz", lambda: npz(np.zeros(500, "i1")), SMALL, "of numbers with a, of shape (500,); expected"),
    "chunks that grow": ("h5", lambda: chunked(1, 100_000), None, "that unpacks to more than it declares; expected 800"),
    "packed twice": ("h5", lambda: chunked(2, 100), None, "packed more than once; expected chunks that are packed on"),
    "texts": ("h5", lambda: hdf5(texts), None, "texts or objects in the column a; expected numbers"),
    "paths": ("h5", lambda: hdf5(long_path), None, "a path of 5"),
    "dimensions of MAT": ("mat", lambda: packed_mat(matrix(6, [1] * 99, b"a", element(9, bytes(8)))), None, "an array of 99 dimensions"),
    "names of MAT": ("mat", lambda: packed_mat(matrix(6, [1, 1], b"a" * 2000, element(9, bytes(8)))), None, "a name of 2000 bytes"),
    "fields without names": ("mat", lambda: mat_of_fields(0), None, "names of 0 bytes"),
    "fields of MAT": ("mat", mat_of_fields, None, "20000 fields; expected at most 10000"),
    "one place in NetCDF": ("nc", lambda: netcdf_of_one_place(40), None, "variables that stand in one place"),
    "rows of Parquet": ("parquet", parquet_of_more_rows, None, "more than the 20 rows that it declares"),
    "cells of CSV": ("csv", lambda: b'design,x\n"' + b"a" * 200_000 + b'",1\n', None, "a row that cannot be read"),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", FILES)
def test_a_size_beyond_what_is_declared_or_sensible_is_refused(kind: str) -> None:
    ending, make, bounds, said = FILES[kind]
    options = {} if bounds is None else {"bounds": bounds}
    with pytest.raises(InputError) as refused:
        parse_table(make(), f"a.{ending}", labels=("design",), **options)
    assert said in str(refused.value)


def test_chunks_that_keep_to_their_size_are_read() -> None:
    np.testing.assert_array_equal(parse_table(chunked(1, 100), "a.h5").columns["a"], np.zeros(100))


def test_recordings_meet_the_same_bounds(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    path.write_bytes(chunked(1, 100_000))
    with pytest.raises(InputError, match="unpacks to more than it declares"), open_columns(path) as columns:
        columns.read(columns.names)


def test_the_reader_of_bags_keeps_below_limits_of_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    resource = pytest.importorskip("resource")
    limits: dict[int, tuple[int, int]] = {}
    hard = {resource.RLIMIT_AS: 1 << 28, resource.RLIMIT_CPU: resource.RLIM_INFINITY}
    stand_in = SimpleNamespace(**{name: getattr(resource, name) for name in dir(resource) if name.startswith("RLIM")})
    stand_in.getrlimit = lambda kind: (0, hard.get(kind, 5))
    stand_in.setrlimit = lambda kind, bounds: limits.update({kind: bounds})
    monkeypatch.setitem(__import__("sys").modules, "resource", stand_in)
    bag_reader._limit(1 << 20)
    assert limits[resource.RLIMIT_AS] == (1 << 28, 1 << 28)
    assert limits[resource.RLIMIT_CPU] == (bag_reader.SECONDS,) * 2
    assert limits[resource.RLIMIT_FSIZE] == (5, 5)


def test_bytes_of_a_file_stay_out_of_messages() -> None:
    """Files of MATLAB 4 with a byte too much, found by `python -m benchmarks.campaigns.fuzz mat4`."""
    content, refused = test_damaged.MAKERS["mat 4"][1](), []
    for place in range(60):
        said = test_damaged.refusal(partial(parse_table, content[:place] + b"\0" + content[place:], "a.mat"))
        refused += [said] if said else []
    assert len(refused) > 30
    assert all(said.isprintable() for said in refused)
