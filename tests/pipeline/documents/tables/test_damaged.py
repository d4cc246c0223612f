"""Damaged files of every format: changed bytes, cuts and exchanged parts are read or refused, never anything else."""

from __future__ import annotations

import io
import os
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy.io import netcdf_file, savemat

from pipeline.documents.tables.columns import MIB, Bounds
from pipeline.documents.tables.reader import open_columns, parse_table
from pipeline.errors import InputError

TRIES = int(os.environ.get("LIMBSWEEP_TABLE_DAMAGES", "150"))
"""Damages of each format; 6000 of each were tried once."""
SMALL = Bounds(values=16 * MIB)
TABLE = np.random.default_rng(1).normal(size=(40, 3))


def _npz() -> bytes:
    stream = io.BytesIO()
    np.savez(stream, allow_pickle=False, t=TABLE[:, 0], q=TABLE)
    return stream.getvalue()


def _npy() -> bytes:
    stream = io.BytesIO()
    np.save(stream, TABLE)
    return stream.getvalue()


def _mat(is_packed: bool) -> Callable[[], bytes]:
    def make() -> bytes:
        stream = io.BytesIO()
        savemat(stream, {"t": TABLE[:, 0], "run": {"q": TABLE, "n": "text"}}, do_compression=is_packed)
        return stream.getvalue()

    return make


def _mat4() -> bytes:
    stream = io.BytesIO()
    savemat(stream, {"t": TABLE[:, 0], "q": TABLE}, format="4")
    return stream.getvalue()


def _netcdf() -> bytes:
    stream = io.BytesIO()
    file = netcdf_file(stream, "w")
    file.createDimension("row", 40)
    file.createVariable("t", "d", ("row",))[:] = TABLE[:, 0]
    file.flush()
    return stream.getvalue()


def _hdf5() -> bytes:
    h5py = pytest.importorskip("h5py")
    stream = io.BytesIO()
    with h5py.File(stream, "w") as file:
        file.create_dataset("run/q", data=TABLE, chunks=(10, 3), compression="gzip")
        file["t"] = TABLE[:, 0]
    return stream.getvalue()


def _parquet() -> bytes:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    stream = io.BytesIO()
    parquet.write_table(arrow.table({"t": TABLE[:, 0], "q": TABLE[:, 1]}), stream)
    return bytes(stream.getvalue())


def _text() -> bytes:
    rows = "\n".join(";".join(f"{x:.5f}".replace(".", ",") for x in row) for row in TABLE)
    return f"t;q;f\ns;rad;N m\n{rows}\n".encode()


MAKERS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "text": ("csv", _text),
    "npy": ("npy", _npy),
    "npz": ("npz", _npz),
    "mat": ("mat", _mat(False)),
    "packed mat": ("mat", _mat(True)),
    "mat 4": ("mat", _mat4),
    "netcdf": ("nc", _netcdf),
    "hdf5": ("h5", _hdf5),
    "parquet": ("parquet", _parquet),
}


def damaged(content: bytes, source: random.Random) -> bytes:
    """Return the content with some bytes changed, a part taken out or doubled, or cut."""
    changed = bytearray(content)
    kind = source.randrange(4)
    if kind == 0:
        return bytes(changed[: source.randrange(len(changed))])
    if kind == 1:
        start = source.randrange(len(changed))
        part = changed[start : start + source.randrange(1, 200)]
        place = source.randrange(len(changed))
        return bytes(changed[:place] + part + changed[place:])
    for _ in range(source.choice((1, 1, 2, 8))):
        # headers are at the beginning and, in Parquet and NPZ, at the end
        near = min(600, len(changed))
        place = source.choice((source.randrange(len(changed)), source.randrange(near), -source.randrange(1, near)))
        changed[place] = source.choice((0, 1, 0x7F, 0x80, 0xFF, source.randrange(256)))
    return bytes(changed)


def read(path: Path) -> None:
    """Read all columns of a recording, which are arrays of numbers."""
    with open_columns(path, SMALL) as columns:
        found = columns.read(columns.names).columns
    assert all(values.dtype == np.float64 and values.ndim == 1 for values in found.values())


def refusal(action: Callable[[], object]) -> str | None:
    """Return what an action is refused with; None where it is done."""
    try:
        action()
    except InputError as error:
        return str(error)
    return None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("form", MAKERS)
def test_damaged_files_are_read_or_refused(form: str, tmp_path: Path) -> None:
    ending, make = MAKERS[form]
    content, source, refused = make(), random.Random(form), 0
    for number in range(TRIES):
        data = damaged(content, source)
        path = tmp_path / f"{number}.{ending}"
        path.write_bytes(data)
        said = refusal(partial(read, path))
        assert said is None or said.startswith(str(path))
        refused += said is not None
        said = refusal(partial(parse_table, data, f"a.{ending}", bounds=SMALL))
        assert said is None or said.startswith(f"a.{ending}")
    assert refused > TRIES // 20
