"""Arrays in MAT, HDF5, NetCDF, NPY, NPZ and Parquet, against what other libraries wrote; as columns and as tables."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from scipy.io import loadmat, netcdf_file, savemat

from pipeline.documents.tables.reader import open_columns, parse_table
from pipeline.errors import InputError

T = np.linspace(0.0, 1.0, 50)
Q = np.random.default_rng(1).normal(size=(50, 3))


def read(path: Path) -> Mapping[str, np.ndarray]:
    with open_columns(path) as columns:
        return columns.read(columns.names).columns


def check(found: Mapping[str, np.ndarray], time: str = "t", q: str = "q") -> None:
    np.testing.assert_array_equal(found[time], T)
    for k in range(3):
        np.testing.assert_array_equal(found[f"{q}[{k + 1}]"], Q[:, k])


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("form", ["4", "5"])
def test_arrays_of_mat_files(tmp_path: Path, form: str, packed: bool) -> None:
    arrays: dict[str, object] = {
        "t": T[:, None],
        "q": Q,
        "turned": Q.T,
        "square": np.arange(9.0).reshape(3, 3),
        "gain": 3.0,
        "note": "text",
        "small": np.arange(50, dtype="i2"),
    }
    if form == "5":
        cells = np.empty(3, dtype=object)
        cells[:] = [Q, T, "text"]
        arrays["cells"] = cells
    savemat(tmp_path / "a.mat", arrays, format=form, do_compression=packed and form == "5")
    found = read(tmp_path / "a.mat")
    check(found)
    check(found, q="turned")
    assert "gain" not in found
    np.testing.assert_array_equal(found["small"], np.arange(50))
    np.testing.assert_array_equal(found["square[2]"], [1.0, 4.0, 7.0])
    if form == "5":
        np.testing.assert_array_equal(found["cells{1}[2]"], Q[:, 1])
    again = loadmat(tmp_path / "a.mat")
    np.testing.assert_array_equal(again["q"][:, 1], found["q[2]"])


@pytest.mark.parametrize("packed", [False, True])
def test_structures_of_mat_files_by_path(tmp_path: Path, packed: bool) -> None:
    run = {"time": T, "arm": {"q": Q, "name": "left"}, "rates": np.uint8(T * 200)}
    several = np.array([(Q,), (2.0 * Q,)], dtype=[("q", object)])
    savemat(tmp_path / "a.mat", {"run": run, "tries": several}, do_compression=packed, long_field_names=True)
    found = read(tmp_path / "a.mat")
    check(found, "run.time", "run.arm.q")
    np.testing.assert_array_equal(found["tries[2].q[3]"], 2.0 * Q[:, 2])
    np.testing.assert_array_equal(found["run.rates"], np.uint8(T * 200))


@pytest.mark.parametrize("ending", ["h5", "hdf5", "mat", "nc"])
def test_datasets_of_hdf5_and_of_formats_that_are_hdf5(tmp_path: Path, ending: str) -> None:
    h5py = pytest.importorskip("h5py")
    path = tmp_path / f"a.{ending}"
    with h5py.File(path, "w", userblock_size=512 if ending == "mat" else 0) as file:
        file.create_dataset("run/t", data=T, compression="gzip", shuffle=True)
        file.create_dataset("run/q", data=Q.T, chunks=(3, 10))
        file["text"] = "words"
        file["soft"] = h5py.SoftLink("/run/t")
        file["run/loop"] = file["run"]
    check(read(path), "run/t", "run/q")


@pytest.mark.parametrize("version", [1, 2])
def test_variables_of_netcdf(tmp_path: Path, version: int) -> None:
    with netcdf_file(tmp_path / "a.nc", "w", version=version) as file:
        file.createDimension("time", None)
        file.createDimension("joint", 3)
        file.createVariable("t", "d", ("time",))[:] = T
        file.createVariable("q", "d", ("time", "joint"))[:] = Q
    check(read(tmp_path / "a.nc"))


def test_arrays_of_numpy_and_parquet(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "a.npz", t=T, q=np.asfortranarray(Q), one=np.array([1.0]))
    check(read(tmp_path / "a.npz"))
    np.save(tmp_path / "b.npy", np.column_stack([T, Q]))
    found = read(tmp_path / "b.npy")
    assert list(found) == ["1", "2", "3", "4"]
    np.testing.assert_array_equal(found["3"], Q[:, 1])
    fields = np.zeros(50, dtype=[("t", "f8"), ("q", "f8", (3,)), ("name", "U5")])
    fields["t"], fields["q"] = T, Q
    np.save(tmp_path / "c.npy", fields)
    check(read(tmp_path / "c.npy"))


@pytest.mark.parametrize("ending", ["npz", "npy", "mat", "h5", "nc", "parquet"])
def test_a_table_beside_a_sweep_in_every_container(ending: str) -> None:
    stream = io.BytesIO()
    columns = {"arm": T, "base": Q[:, 0]}
    if ending == "npz":
        np.savez(stream, allow_pickle=False, **columns)
    elif ending == "npy":
        np.save(stream, np.rec.fromarrays(list(columns.values()), names=",".join(columns)))
    elif ending == "mat":
        savemat(stream, columns)
    elif ending == "h5":
        h5py = pytest.importorskip("h5py")
        with h5py.File(stream, "w") as file:
            file.update(columns)
    elif ending == "nc":
        file = netcdf_file(stream, "w")
        file.createDimension("row", 50)
        for name, values in columns.items():
            file.createVariable(name, "d", ("row",))[:] = values
        file.flush()
    else:
        arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        parquet.write_table(arrow.table(columns), stream)
    table = parse_table(stream.getvalue(), f"a.{ending}")
    assert set(table.columns) == {"arm", "base"}
    for name, values in columns.items():
        np.testing.assert_array_equal(table.columns[name], values)


def test_a_table_beside_a_sweep_is_read_without_tolerance() -> None:
    stream = io.BytesIO()
    np.savez(stream, arm=np.array([0.1, np.nan]))
    with pytest.raises(InputError, match="NaN in row 1 of the column 'arm'; expected a finite number"):
        parse_table(stream.getvalue(), "a.npz")
    with pytest.raises(InputError, match="'x'; expected a finite number"):
        parse_table(b"arm\n0.1\nx\n", "a.csv")
    with pytest.raises(InputError, match=r"got the ending '.bag'; expected one of .csv"):
        parse_table(b"#ROSBAG V2.0", "a.bag")
