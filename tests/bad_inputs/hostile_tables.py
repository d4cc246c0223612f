"""Files that look like tables and are made to hang, to fill memory, or to read what is elsewhere. One function each."""

from __future__ import annotations

import io
import os
import pickle
import random
import sqlite3
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

MIB = 1 << 20
SECRET = "-12.3456789012"
"""A number in a file that nothing may read."""
WIDTH = 7
"""Columns that descriptions ask for, by number."""

Maker = Callable[[Path, Path], None]


def _bytes(content: bytes) -> Maker:
    return lambda path, secret: path.write_bytes(content) and None


def _sparse(size: int, head: bytes = b"") -> Maker:
    def make(path: Path, secret: Path) -> None:
        with path.open("wb") as file:
            file.write(head)
            file.truncate(size)

    return make


def _linked(target: str) -> Maker:
    return lambda path, secret: path.symlink_to(target or secret)


def _npy(shape: tuple[int, ...], descr: str = "'<f8'", body: bytes = b"", more: str = "") -> bytes:
    header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}{more}}}".encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + body


def _npz(members: Mapping[str, bytes]) -> Maker:
    def make(path: Path, secret: Path) -> None:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in members.items():
                archive.writestr(name, content)

    return make


def _npz_bomb(path: Path, secret: Path) -> None:
    rows = 600 * MIB // 8 // WIDTH
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("q.npy", "w", force_zip64=True) as member,
    ):
        member.write(_npy((rows, WIDTH)))
        left = rows * WIDTH * 8
        while left:
            member.write(bytes(min(left, MIB)))
            left -= min(left, MIB)


def _lying_zip(path: Path, secret: Path) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("q.npy", _npy((4 * MIB, WIDTH), body=bytes(4 * MIB * WIDTH * 8)))
    content = stream.getvalue()
    size = struct.pack("<I", 4 * MIB * WIDTH * 8 + len(_npy((1, 1))))
    path.write_bytes(content.replace(size, struct.pack("<I", 400)))


class _Trap:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, ("touch trapped",)


def _mat(content: bytes) -> bytes:
    return b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM" + content


def _element(kind: int, content: bytes, length: int | None = None) -> bytes:
    padded = content + bytes(-len(content) % 8 if kind != 15 else 0)
    return struct.pack("<II", kind, len(content) if length is None else length) + padded


def _matrix(shape: tuple[int, ...], body: bytes, kind: int = 6, name: bytes = b"q") -> bytes:
    parts = _element(6, struct.pack("<II", kind, 0)) + _element(5, struct.pack(f"<{len(shape)}i", *shape))
    return _element(14, parts + _element(1, name) + body)


def _mat_bomb(path: Path, secret: Path) -> None:
    machine = zlib.compressobj()
    first, other = (machine.compress(bytes(MIB)) + machine.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    check = (600 * MIB % 65521 << 16) + 1  # Adler-32 of as many zeros
    packed = first + 599 * other + machine.flush()[:-4] + struct.pack(">I", check)
    path.write_bytes(_mat(_element(15, packed)))


def _cells(depth: int) -> bytes:
    body = b""
    for _ in range(depth):
        body = _matrix((1, 1), body, kind=1)
    return body


def _hdf5(write: Callable[[object, object, Path], None]) -> Maker:
    def make(path: Path, secret: Path) -> None:
        import h5py

        with h5py.File(path, "w") as file:
            write(h5py, file, secret)

    return make


def _external(h5py: object, file: object, secret: Path) -> None:
    file.create_dataset("q", (4, WIDTH), "f8", external=[(str(secret), 0, 224)])  # type: ignore[attr-defined]


def _virtual(h5py: object, file: object, secret: Path) -> None:
    layout = h5py.VirtualLayout((4, WIDTH), "f8")  # type: ignore[attr-defined]
    layout[:] = h5py.VirtualSource(str(secret), "q", (4, WIDTH))  # type: ignore[attr-defined]
    file.create_virtual_dataset("q", layout)  # type: ignore[attr-defined]


def _link(h5py: object, file: object, secret: Path) -> None:
    file["q"] = h5py.ExternalLink(str(secret), "/q")  # type: ignore[attr-defined]


def _soft_ring(h5py: object, file: object, secret: Path) -> None:
    file["q"], file["p"] = h5py.SoftLink("/p"), h5py.SoftLink("/q")  # type: ignore[attr-defined]


def _ring(h5py: object, file: object, secret: Path) -> None:
    group = file.create_group("a")  # type: ignore[attr-defined]
    group["a"] = group["b"] = group


def _deep(h5py: object, file: object, secret: Path) -> None:
    file.create_dataset("/".join("a" * 500), data=np.zeros((4, WIDTH)))  # type: ignore[attr-defined]


def _declared(h5py: object, file: object, secret: Path) -> None:
    file.create_dataset("q", (1 << 38, WIDTH), "f8", chunks=(1024, WIDTH))  # type: ignore[attr-defined]


def _chunk(h5py: object, file: object, secret: Path) -> None:
    shape, most = (4, WIDTH), (None, WIDTH)
    file.create_dataset("q", shape, "f8", maxshape=most, chunks=(8 * MIB, WIDTH), fillvalue=1.0)  # type: ignore[attr-defined]


def _packed(h5py: object, file: object, secret: Path) -> None:
    shape, chunks = (450 * MIB // 8 // WIDTH, WIDTH), (MIB // 8, WIDTH)
    whole = file.create_dataset("q", shape, "f8", chunks=chunks, compression="gzip", compression_opts=1)  # type: ignore[attr-defined]
    whole[::4096] = 0.0


def _foreign_filter(h5py: object, file: object, secret: Path) -> None:
    settings = h5py.h5p.create(h5py.h5p.DATASET_CREATE)  # type: ignore[attr-defined]
    settings.set_chunk((4, WIDTH))
    settings.set_filter(305, h5py.h5z.FLAG_OPTIONAL, (1,))  # type: ignore[attr-defined]
    space = h5py.h5s.create_simple((4, WIDTH))  # type: ignore[attr-defined]
    h5py.h5d.create(file.id, b"q", h5py.h5t.IEEE_F64LE, space, settings)  # type: ignore[attr-defined]


def _many(h5py: object, file: object, secret: Path) -> None:
    for k in range(10_100):
        file.create_group(str(k))  # type: ignore[attr-defined]


def _parquet_long(path: Path, secret: Path) -> None:
    import pyarrow as arrow
    from pyarrow import parquet

    part = arrow.table({str(k): np.zeros(1 << 20) for k in range(WIDTH)})
    with parquet.ParquetWriter(path, part.schema, compression="zstd") as writer:
        for _ in range(8):
            writer.write_table(part)


def _parquet(change: Callable[[bytes], bytes]) -> Maker:
    def make(path: Path, secret: Path) -> None:
        import pyarrow as arrow
        from pyarrow import parquet

        stream = io.BytesIO()
        parquet.write_table(arrow.table({str(k): np.arange(4.0) for k in range(WIDTH)}), stream)
        path.write_bytes(change(stream.getvalue()))

    return make


def _noise(content: bytes) -> bytes:
    source, changed = random.Random(3), bytearray(content)
    for place in source.sample(range(4, len(changed) - 8), len(changed) // 4):
        changed[place] = source.randrange(256)
    return bytes(changed)


def _netcdf(length: int, count: int = 1) -> bytes:
    def name(text: bytes) -> bytes:
        return struct.pack(">i", len(text)) + text + bytes(-len(text) % 4)

    dims = struct.pack(">ii", 10, count) + name(b"n") + struct.pack(">i", length)
    variable = name(b"q") + struct.pack(">ii", 1, 0) + struct.pack(">ii", 0, 0) + struct.pack(">iii", 6, 2**31 - 1, 200)
    return b"CDF\x01" + struct.pack(">i", 0) + dims + struct.pack(">ii", 0, 0) + struct.pack(">ii", 11, 1) + variable


def _endless_view(path: Path, secret: Path) -> None:
    """A bag whose table of topics is a view that never ends."""
    with sqlite3.connect(path) as base:
        base.execute(
            "CREATE VIEW topics AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) "
            "SELECT id, 'a' AS name, 'b' AS type, 'cdr' AS serialization_format, '' AS offered_qos_profiles FROM n"
        )
        base.execute("CREATE TABLE messages(id INTEGER, topic_id INTEGER, timestamp INTEGER, data BLOB)")
    base.close()


def _silent(*statements: str) -> Maker:
    """Make a bag that computes when it is read, and never gives a row."""

    def make(path: Path, secret: Path) -> None:
        with sqlite3.connect(path) as base:
            base.execute("CREATE TABLE topics(id INTEGER, name TEXT, type TEXT, serialization_format TEXT)")
            base.execute("CREATE TABLE messages(id INTEGER, topic_id INTEGER, timestamp INTEGER, data BLOB)")
            for statement in statements:
                base.execute(statement)
        base.close()

    return make


def _metadata(path: Path, secret: Path) -> None:
    """A bag beside metadata that name a file elsewhere as its part."""
    path.write_bytes(b"SQLite format 3\0" + bytes(84))
    text = "rosbag2_bagfile_information: {version: 5, storage_identifier: sqlite3, relative_file_paths: ['" + str(
        secret
    )
    (path.parent / "metadata.yaml").write_text(text + "'], topics_with_message_count: []}")


WORDS = b"a,b,c,d,e,f,g\n"
ROW = b"1,2,3,4,5,6,7\n"
HOSTILE: Mapping[str, tuple[str, Maker]] = {
    "sparse text": ("csv", _sparse(3 << 30)),
    "text and gigabytes of nothing": ("csv", _sparse(3 << 30, WORDS + ROW * 20)),
    "a line without end": ("csv", _bytes(b"1," * (8 * MIB))),
    "millions of columns": ("csv", _bytes(b",".join([b"1"] * 500_000) + b"\n")),
    "noise": ("csv", _bytes(random.Random(1).randbytes(300_000))),
    "gzip": ("csv", _bytes(b"\x1f\x8b" + zlib.compress(bytes(MIB)))),
    "a pipe": ("csv", lambda path, secret: os.mkfifo(path)),
    "a device": ("csv", _linked("/dev/zero")),
    "a folder": ("csv", lambda path, secret: path.mkdir()),
    "a link to itself": ("csv", lambda path, secret: path.symlink_to(path.name)),
    "NULs": ("csv", _bytes(WORDS + ROW * 20 + bytes(1000))),
    "more torn rows than rows": ("csv", _bytes(WORDS + ROW * 20 + b"1;2\n" * 100_000)),
    "quotation marks": ("csv", _bytes(WORDS + ROW * 20 + b'"\n' * 500_000)),
    "long numbers": ("csv", _bytes(WORDS + ROW * 20 + (b"9" * 100_000 + b",") * 6 + b"1\n" + b"x\n" * 10)),
    "a shape of terabytes": ("npy", _bytes(_npy((1 << 40, WIDTH)))),
    "a shape that overflows": ("npy", _bytes(_npy((1 << 62, 1 << 62)))),
    "a negative shape": ("npy", _bytes(_npy((-4, WIDTH), body=bytes(224)))),
    "pickled objects": ("npy", _bytes(_npy((4, WIDTH), "'|O'", pickle.dumps(_Trap())))),
    "a header that is code": ("npy", _bytes(_npy((1,), "__import__('os').system('touch trapped')", bytes(8)))),
    "a header of megabytes": ("npy", _bytes(b"\x93NUMPY\x02\x00" + struct.pack("<I", 1 << 31) + b" " * MIB)),
    "a cut array": ("npy", _bytes(_npy((1000, WIDTH), body=bytes(100)))),
    "an archive bomb": ("npz", _npz_bomb),
    "thousands of members": ("npz", _npz({f"{k}.npy": b"" for k in range(10_100)})),
    "members elsewhere": ("npz", _npz({"../../q.npy": _npy((4, WIDTH), "'|O'", bytes(10))})),
    "members that are no arrays": ("npz", _npz({"q.npy": b"words"})),
    "an archive that lies": ("npz", _lying_zip),
    "rows without end": ("parquet", _parquet_long),
    "noise in pages": ("parquet", _parquet(_noise)),
    "a cut Parquet file": ("parquet", _parquet(lambda content: content[:300])),
    "a footer of gigabytes": ("parquet", _bytes(b"PAR1" + bytes(100) + struct.pack("<I", 1 << 31) + b"PAR1")),
    "a MAT bomb": ("mat", _mat_bomb),
    "an element of gigabytes": ("mat", _bytes(_mat(_element(14, bytes(64), 0xFFFFFFF0)))),
    "cells in cells": ("mat", _bytes(_mat(_cells(2000)))),
    "a MAT shape of terabytes": ("mat", _bytes(_mat(_matrix((1 << 30, 1 << 30), _element(9, bytes(64)))))),
    "a negative MAT shape": ("mat", _bytes(_mat(_matrix((-1, WIDTH), _element(9, bytes(64)))))),
    "MAT 4 of terabytes": ("mat", _bytes(struct.pack("<5i", 0, 1 << 30, 1 << 30, 0, 2) + b"q\0" + bytes(100))),
    "external storage": ("h5", _hdf5(_external)),
    "a virtual dataset": ("h5", _hdf5(_virtual)),
    "an external link": ("h5", _hdf5(_link)),
    "soft links in a ring": ("h5", _hdf5(_soft_ring)),
    "groups in a ring": ("h5", _hdf5(_ring)),
    "groups in groups": ("h5", _hdf5(_deep)),
    "a dataset of terabytes": ("h5", _hdf5(_declared)),
    "a chunk of gigabytes": ("h5", _hdf5(_chunk)),
    "a packed dataset": ("h5", _hdf5(_packed)),
    "a filter of others": ("h5", _hdf5(_foreign_filter)),
    "thousands of groups": ("h5", _hdf5(_many)),
    "external storage in NetCDF": ("nc", _hdf5(_external)),
    "external storage in MAT": ("mat", _hdf5(_external)),
    "a dim of NetCDF of gigabytes": ("nc", _bytes(_netcdf(2**31 - 1) + bytes(100))),
    "dims of NetCDF without end": ("nc", _bytes(_netcdf(4, 2**31 - 1))),
    "a cut NetCDF file": ("nc", _bytes(_netcdf(4)[:30])),
    "words as a bag": ("bag", _bytes(b"#ROSBAG V2.0\n" + b"words" * 1000)),
    "a view without end": ("db3", _endless_view),
    "a view that never gives a row": (
        "db3",
        _silent(
            "CREATE VIEW schema AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) "
            "SELECT id AS schema_version FROM n WHERE id < 0"
        ),
    ),
    "columns that are computed": (
        "db3",
        _silent(
            "CREATE TABLE schema(id INTEGER)",
            *["INSERT INTO schema(id) VALUES(1)"] * 40,
            "ALTER TABLE schema ADD COLUMN schema_version AS (length(replace(hex(zeroblob(2e8)), '0', 'ab')))",
        ),
    ),
    "metadata that name a file elsewhere": ("db3", _metadata),
    "noise as MCAP": ("mcap", _bytes(b"\x89MCAP0\r\n" + random.Random(2).randbytes(10_000))),
}
"""Hostile files by what they are: ending, and the function that makes them."""
