"""Results of `limbsweep.open` and `run` in other tools: netCDF, Zarr, pint, and xarray by itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
import xarray

from applications.export.tables import export
from pipeline.execution.conventions import structure
from pipeline.execution.opening import open
from pipeline.execution.preparation import lazy
from pipeline.execution.run import compute, run
from pipeline.sweep.model import Sweep
from storage import open_results
from storage.errors import StoreError
from tests.pipeline.runs import FEW, SYNCHRONOUS, sweep

SWEEPS = {
    "delta": """\
limbsweep: 1
robot: delta_3rr2rrr
design: {grid: {upper_arm: [0.25, 0.28], base_radius: [0.14, 0.15, 0.16]}}
friction:
  groups:
    motors: {law: coulomb_viscous, joints: actuated}
    pins: {law: coulomb_viscous, joints: passive}
  grid: {motors_viscous: [0.0, 0.05], pins_coulomb: [0.1]}
trajectories: {circle: {kind: circle, radius: 0.1, period: 1.0}}
time: {stop: 1.0, step: 0.1}
outputs: [actuator_force, joint_position, joint_reaction, platform_twist]
metrics: [peak_force, rms_force]
""",
    "hexapod": """\
limbsweep: 1
robot: hexapod_6rrrprr
friction:
  groups:
    motors: {law: stribeck, joints: actuated}
    pins: {law: viscous, joints: passive}
  grid: {motors_stribeck_velocity: [0.01, 0.02], pins_viscous: [0.0]}
trajectories: {circle: {kind: circle, radius: 0.01, period: 1.0}}
time: {stop: 1.0, step: 0.1}
outputs: [actuator_force, joint_position]
metrics: [peak_force]
""",
}


@pytest.fixture(scope="module", params=SWEEPS)
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("stores") / f"{request.param}.zarr"
    run(Sweep.from_text(SWEEPS[request.param]), path, SYNCHRONOUS)
    return path


def test_values_are_those_of_the_store_and_structures_are_text(store: Path) -> None:
    opened, stored = open(store), open_results(store)
    assert set(opened.variables) == {*stored.variables, "design"}
    for name in stored.variables:
        np.testing.assert_array_equal(opened[name].values, stored[name].values)
    assert structure(opened.attrs, "parameters") == structure(stored.attrs, "parameters") == stored.attrs["parameters"]
    assert json.loads(opened.attrs["versions"]) == stored.attrs["versions"]
    assert structure(opened.attrs, "nothing") == {}
    assert opened["design"].values.tolist() == list(range(stored.sizes["design"]))
    assert opened["status"].attrs["flag_values"].dtype == opened["status"].dtype == np.int8


def test_a_run_gives_what_opening_gives(store: Path) -> None:
    xarray.testing.assert_identical(run(Sweep.from_text(SWEEPS[store.stem]), store, SYNCHRONOUS), open(store))


def test_units_are_those_of_the_drives(store: Path) -> None:
    ds = open(store)
    units = {str(name): variable.attrs.get("units") for name, variable in ds.variables.items()}
    if store.stem == "delta":
        assert units["motors_viscous"] == "N m s/rad"
        assert units["pins_coulomb"] == "N m"
        assert units["joint_position"] == "rad"
        assert ds["joint_reaction"].attrs["component_units"] == "N m, N"
    else:
        assert units["motors_stribeck_velocity"] == "m/s"
        assert units["pins_viscous"] == "N m s/rad"
        assert units["actuator_force"] == "N"
        assert ds["joint_position"].attrs["component_units"].split(", ").count("m") == 1
    assert (units["time"], ds["time"].attrs["standard_name"]) == ("s", "time")
    assert ds["peak_force"].attrs["cell_methods"] == "time: maximum"


def test_pint_reads_all_units(store: Path) -> None:
    pint = pytest.importorskip("pint", reason="no pint; install limbsweep[test]")
    registry = pint.UnitRegistry()
    for variable in open(store).variables.values():
        if "units" in variable.attrs:
            registry.Unit(variable.attrs["units"])
    assert registry.Unit(open(store)["peak_force"].attrs["units"]) in (registry.Unit("N m"), registry.Unit("N"))


def test_netcdf_keeps_everything(store: Path, tmp_path: Path) -> None:
    pytest.importorskip("netCDF4", reason="no netCDF4; install limbsweep[netcdf]")
    ds = open(store)
    ds.to_netcdf(tmp_path / "a.nc")
    ds.to_zarr(tmp_path / "a.zarr", consolidated=False)
    folder = tmp_path / "exported"
    assert [file.name for file in export(store, folder, "netcdf")] == [
        "designs.csv",
        "friction.csv",
        "results.nc",
        "trajectories.csv",
    ]
    for again in (
        xarray.open_dataset(tmp_path / "a.nc"),
        xarray.open_dataset(folder / "results.nc"),
        xarray.open_zarr(tmp_path / "a.zarr", consolidated=False),
    ):
        with again:
            xarray.testing.assert_equal(again.load(), ds)
            assert set(again.attrs) == set(ds.attrs)
            assert structure(again.attrs, "parameters") == structure(ds.attrs, "parameters")
            for name, variable in ds.variables.items():
                assert again[name].attrs.get("units") == variable.attrs.get("units")


def test_one_mat_file_has_the_whole_store_with_units(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from scipy.io import loadmat

    (file,) = (file for file in export(store, tmp_path / "mat", "mat") if file.suffix == ".mat")
    ds, mat = open(store), loadmat(file, simplify_cells=True)
    assert {name[:63] for name in map(str, ds.variables)} <= set(mat)
    for name, variable in ds.data_vars.items():
        np.testing.assert_array_equal(mat[str(name)], np.squeeze(variable.values))
        assert mat["units"].get(name, "") == variable.attrs.get("units", variable.attrs.get("component_units", ""))
    (first, *rest) = (file for file in export(store, tmp_path / "designs", "mat_designs") if file.suffix == ".mat")
    assert len(rest) == ds.sizes["design"] - 1
    one = loadmat(first, simplify_cells=True)
    np.testing.assert_array_equal(one["peak_force"], np.squeeze(ds["peak_force"].values[0]))
    assert one["units"]["peak_force"] == ds["peak_force"].attrs["units"]
    monkeypatch.setattr("applications.export.tables.MAT_BYTES", 8)
    with pytest.raises(StoreError, match=r"got mat for \w+ of .*; expected variables below .*; take hdf5"):
        export(store, tmp_path / "large", "mat")
    assert not (tmp_path / "large").exists()


def test_one_hdf5_file_has_the_whole_store_with_units(store: Path, tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py", reason="no h5py; install limbsweep[hdf5]")
    pytest.importorskip("netCDF4", reason="no netCDF4; install limbsweep[netcdf]")
    (path,) = (file for file in export(store, tmp_path / "out", "hdf5") if file.suffix == ".h5")
    ds = open(store)
    with h5py.File(path) as file:
        assert set(map(str, ds.variables)) <= set(file)
        for name, variable in ds.data_vars.items():
            np.testing.assert_array_equal(file[str(name)][()], variable.values)
            stored = file[str(name)].attrs.get("units")
            unit = None if stored is None else stored if isinstance(stored, str) else stored.decode()
            assert unit == variable.attrs.get("units")


def test_xarray_finds_the_engine_and_the_accessor_by_itself(store: Path) -> None:
    if "limbsweep" not in xarray.backends.list_engines():
        pytest.skip("limbsweep was installed before it had an engine; install it again")
    ds = xarray.open_dataset(store, engine="limbsweep")
    xarray.testing.assert_identical(ds, open(store))
    xarray.testing.assert_identical(xarray.open_dataset(store), ds)
    xarray.testing.assert_identical(xarray.open_dataset(store, drop_variables="peak_force"), ds.drop_vars("peak_force"))
    assert ds.limbsweep.best("peak_force")["design"].item() == int(ds["peak_force"].max(CASE).argmin("design"))


CASE = ("friction", "trajectory", "actuator")


def test_a_sweep_that_cannot_be_read_any_more_leaves_no_unit_that_is_two(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.execution.opening._stored_sweep", lambda store: None)
    for variable in open(store).variables.values():
        assert " or " not in variable.attrs.get("units", "")
    name = "motors_viscous" if store.stem == "delta" else "motors_stribeck_velocity"
    assert " or " in open(store)[name].attrs["component_units"]


@pytest.mark.parametrize(
    ("made", "chunks", "form"),
    [
        (compute, {"design": 5, "time": 2}, 2),
        (compute, {"time": 3}, 3),
        (lazy, {"design": 2}, 2),
        (lazy, {"design": 5, "time": 2}, 3),
        (run, {"time": 3}, 2),
        (run, {"design": 2}, 3),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_what_is_cut_anew_is_written_and_the_same(
    made: Callable[[Sweep], xarray.Dataset], chunks: dict[str, int], form: Literal[2, 3], tmp_path: Path
) -> None:
    whole = made(sweep(FEW))
    whole.chunk(chunks).to_zarr(tmp_path / "again.zarr", zarr_format=form, consolidated=False)
    again = xarray.open_zarr(tmp_path / "again.zarr", consolidated=False, chunks=None)
    for name in (*whole.data_vars, *(name for name in whole.coords if name != "design")):
        np.testing.assert_array_equal(again[name].values, whole[name].values, err_msg=str(name))


def test_a_store_that_is_cut_anew_is_written_and_the_same(store: Path, tmp_path: Path) -> None:
    open(store).chunk({"design": 1, "time": 4}).to_zarr(tmp_path / "again.zarr", zarr_format=3, consolidated=False)
    again = xarray.open_zarr(tmp_path / "again.zarr", consolidated=False, chunks=None)
    xarray.testing.assert_equal(again["actuator_force"].load(), open(store)["actuator_force"].load())
