"""Doors that export a store, each with the check that a file has every number at its place."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

import limbsweep as ls
from benchmarks.composition.case import Case, require_equal, require_same
from benchmarks.figures import require

CASES = ("friction", "trajectory", "gains", "state")
"""Dims of the cases of a design, in the order of tables."""


def _exported(case: Case, form: str) -> Path:
    folder = case.folder / form
    require(len(ls.export(case.store, folder, form)) > 0, "no files")
    return folder


def _rows(folder: Path, ending: str) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of each table of a folder."""
    if ending == "csv":
        tables = {}
        for path in folder.glob("*.csv"):
            with path.open(newline="", encoding="utf-8") as file:
                tables[path.stem] = list(csv.DictReader(file))
        return tables
    from pyarrow import parquet

    return {path.stem: parquet.read_table(path).to_pylist() for path in folder.glob("*.parquet")}


def _tables(case: Case, ending: str, form: str) -> None:
    """Check that tables have every number of the series and metrics once, at its place."""
    tables, data = _rows(_exported(case, form), ending), case.results
    metrics = tables.pop("metrics", [])
    beside = ("designs", "friction", "trajectories", "gains", "states")
    samples = [row for name, rows in tables.items() if name not in beside for row in rows]
    series = [name for name, x in data.data_vars.items() if "time" in x.dims]
    others = [name for name, x in data.data_vars.items() if "time" not in x.dims and "design" in x.dims]
    _require_rows(data, series, samples, ("design", *CASES, "time"), f"{form}: samples")
    _require_rows(data, others, metrics, ("design", *CASES), f"{form}: metrics")


def _require_rows(
    data: xr.Dataset, names: list[Any], rows: list[dict[str, Any]], dims: tuple[str, ...], what: str
) -> None:
    dims = tuple(dim for dim in dims if any(dim in data[name].dims for name in names))
    count = int(np.prod([data.sizes[dim] for dim in dims])) if names else 0
    if {"trajectory", "time"} <= {*dims} and "trajectory_samples" in data:  # trajectories with times of their own
        whole = data.sizes["trajectory"] * data.sizes["time"]
        count = count // whole * int(data["trajectory_samples"].sum())
    require(len(rows) == count, f"{what}: got {len(rows)} rows; expected {count}")
    for row in rows[:: max(1, len(rows) // 7)]:
        at = {dim: int(row[dim]) for dim in dims if dim != "time"}
        if "time" in dims:
            times = data["time"].isel({dim: k for dim, k in at.items() if dim in data["time"].dims}).values
            at["time"] = int(np.nanargmin(np.abs(times - float(row["time"]))))
        for name in names:
            values = data[name].isel({dim: k for dim, k in at.items() if dim in data[name].dims})
            columns = [value for key, value in row.items() if _is_column(key, str(name), values)]
            numbers = [float(x) if x not in ("", None) else np.nan for x in columns]
            require(len(numbers) == values.size, f"{what}: {name} has {len(numbers)} columns of {values.size}")
            require_same(numbers, values.values.astype(float).ravel(), f"{what}: {name}")


def _is_column(key: str, name: str, values: xr.DataArray) -> bool:
    if not values.dims:
        return key == name
    labels = ["_".join(map(str, row)) for row in _labels(values)]
    return key.startswith(f"{name}_") and key.removeprefix(f"{name}_") in labels


def _labels(values: xr.DataArray) -> list[tuple[Any, ...]]:
    axes = [values[dim].values.tolist() for dim in values.dims]
    return [tuple(axes[k][i] for k, i in enumerate(at)) for at in np.ndindex(values.shape)]


def export_csv(case: Case) -> None:
    """Check the export to CSV files."""
    _tables(case, "csv", "csv")


def export_parquet(case: Case) -> None:
    """Check the export to Parquet files, beside which designs are CSV files."""
    _tables(case, "parquet", "parquet")


def _netcdf(case: Case, form: str, name: str) -> None:
    with xr.open_dataset(_exported(case, form) / name, engine="netcdf4", decode_times=False) as data:
        require_equal(data.load(), case.results, form)


def export_netcdf(case: Case) -> None:
    """Check the export to a netCDF file."""
    _netcdf(case, "netcdf", "results.nc")


def export_hdf5(case: Case) -> None:
    """Check the export to an HDF5 file."""
    _netcdf(case, "hdf5", "results.h5")


def export_mat(case: Case) -> None:
    """Check the export to a MAT file."""
    from scipy.io import loadmat

    found = loadmat(_exported(case, "mat") / "results.mat")
    for name, values in case.results.data_vars.items():
        array = found[str(name)]
        require_same(array.ravel(), values.values.ravel(), f"mat: {name}")


def _archives(case: Case, form: str, read: Callable[[Path], Mapping[str, Any]]) -> None:
    paths = sorted(path for path in _exported(case, form).iterdir() if path.suffix != ".csv")
    data = case.results
    require(len(paths) == data.sizes["design"], f"{form}: {len(paths)} files of {data.sizes['design']} designs")
    for path in paths:
        design = data.isel(design=int(path.stem[-6:]))
        archive = read(path)
        for name, values in design.data_vars.items():
            require_same(np.asarray(archive[str(name)]).ravel(), values.values.ravel(), f"{form}: {name}")


def export_mat_designs(case: Case) -> None:
    """Check the export to MAT files of designs."""
    from scipy.io import loadmat

    _archives(case, "mat_designs", loadmat)


def export_npz(case: Case) -> None:
    """Check the export to NPZ files of designs."""
    _archives(case, "npz", lambda path: dict(np.load(path)))
