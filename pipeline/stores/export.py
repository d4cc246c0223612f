"""Export a store to other formats, one design after another, so that memory does not grow with the dataset.

Tables (Parquet, CSV) have a row for each sample, in one file for each part of the designs; archives (MAT, NPZ) hold the
arrays of one design each; netCDF is one file of HDF5 with everything, units included. Every export has `designs.csv`:
parameters, true parameters and part of each design.
"""

from __future__ import annotations

import csv
import re
import shutil
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.execution.opening import open
from storage.errors import StoreError
from storage.places.location import LocationLike, refusals

if TYPE_CHECKING:
    from xarray import Dataset

Table = dict[str, np.ndarray]

CASE = ("design", "friction", "trajectory")
WHOLE = "all"
"""Part of a design where there is no split."""

_PART = re.compile(r"[A-Za-z0-9_-]{1,80}")


def export(store: LocationLike, folder: str | Path, form: str) -> list[Path]:
    """Write a finished store into a new folder; the files. Raises StoreError."""
    if form not in FORMATS:
        raise StoreError(f"format: got {form!r}; expected one of {', '.join(FORMATS)}")
    data, folder = open(store), Path(folder)
    _check_parts(data, store)
    if folder.exists():
        raise StoreError(f"{folder}: exists already; expected a new folder; name another one")
    draft = folder.parent / f".{folder.name}.{uuid.uuid4().hex[:8]}.draft"
    try:
        with refusals(folder):
            draft.mkdir(parents=True)
            _write_designs(data, draft / "designs.csv")
            FORMATS[form](data, draft)
            draft.rename(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return sorted(folder.iterdir())


def _check_parts(data: Dataset, store: LocationLike) -> None:
    """Refuses parts of designs that are no names of files: a store from elsewhere may name any path."""
    for part in dict.fromkeys(map(str, _parts(data))):
        if not _PART.fullmatch(part):
            raise StoreError(
                f"{store}: design_part is {part!r:.120}; expected at most 80 letters, digits, '_' and '-', "
                "because files are named after it"
            )


def _parts(data: Dataset) -> np.ndarray:
    return data["design_part"].values if "design_part" in data.coords else np.full(data.sizes["design"], WHOLE)


def designs(data: Dataset) -> Iterator[tuple[int, str, Dataset]]:
    """Each design with its part, in memory."""
    for index, part in enumerate(_parts(data)):
        yield index, str(part), data.isel(design=index).drop_vars("design").load(scheduler="synchronous")


def rows(index: int, design: Dataset) -> Iterator[Table]:
    """Tables of one design, one for each friction set and trajectory: places, time, a column for each component."""
    for f, j in np.ndindex(design.sizes["friction"], design.sizes["trajectory"]):
        case = design.isel(friction=f, trajectory=j)
        times = case["time"].values
        table: Table = {name: np.full(len(times), at) for name, at in zip(CASE, (index, f, j), strict=True)}
        table["time"] = times
        for name, series in case.data_vars.items():
            if series.dims[:1] == ("time",):
                table |= _columns(str(name), series.values, [case[dim].values for dim in series.dims[1:]])
        yield table


def _columns(name: str, values: np.ndarray, labels: list[np.ndarray]) -> Table:
    places = np.ndindex(values.shape[1:])
    return {"_".join([name, *(str(labels[k][i]) for k, i in enumerate(at))]): values[:, *at] for at in places}


def _write_designs(data: Dataset, path: Path) -> None:
    along = (coordinate for coordinate in data.coords.values() if coordinate.dims == ("design",))
    coordinates = [coordinate for coordinate in along if coordinate.name != "design"]
    with path.open("x", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["design", *(str(coordinate.name) for coordinate in coordinates)])
        columns = [coordinate.values.tolist() for coordinate in coordinates]
        table.writerows([index, *row] for index, row in enumerate(zip(*columns, strict=True)))
        if not coordinates:
            table.writerows([index] for index in range(data.sizes["design"]))


def _csv(data: Dataset, folder: Path) -> None:
    with ExitStack() as open_files:
        writers: dict[str, Any] = {}
        for index, part, design in designs(data):
            for table in rows(index, design):
                if part not in writers:
                    file = open_files.enter_context((folder / f"{part}.csv").open("x", newline="", encoding="utf-8"))
                    writers[part] = csv.writer(file)
                    writers[part].writerow(table)
                writers[part].writerows(zip(*(column.tolist() for column in table.values()), strict=True))


def _parquet(data: Dataset, folder: Path) -> None:
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError:
        raise StoreError("format: parquet needs the package pyarrow; install limbsweep[parquet]") from None
    units = {name: unit for name, unit in _units(data).items() if name in data.data_vars}
    with ExitStack() as open_files:
        writers: dict[str, Any] = {}
        for index, part, design in designs(data):
            for columns in rows(index, design):
                table = arrow.table(columns).replace_schema_metadata(units)
                if part not in writers:
                    path = folder / f"{part}.parquet"
                    writers[part] = open_files.enter_context(parquet.ParquetWriter(path, table.schema))
                writers[part].write_table(table)


def arrays(design: Dataset) -> dict[str, np.ndarray]:
    """Arrays of one design by name, dims in the order of the dataset; text as fixed-width strings."""
    arrays = {str(name): variable.values for name, variable in {**design.coords, **design.data_vars}.items()}
    return {name: np.array(array.tolist()) if array.dtype.kind in "OT" else array for name, array in arrays.items()}


def _units(data: Dataset) -> dict[str, str]:
    """Units of all variables and coordinates, empty for names; those of components one after the other."""
    attributes = {str(name): variable.attrs for name, variable in data.variables.items()}
    return {name: str(given.get("units", given.get("component_units", ""))) for name, given in attributes.items()}


def _npz(data: Dataset, folder: Path) -> None:
    for index, part, design in designs(data):
        np.savez_compressed(folder / f"{part}_{index:06d}.npz", **arrays(design))  # type: ignore[arg-type]


def _mat(data: Dataset, folder: Path) -> None:
    from scipy.io import savemat

    for index, part, design in designs(data):
        # MATLAB's names end at 63 letters
        named: dict[str, Any] = {name[:63]: array for name, array in arrays(design).items()}
        named |= {"units": {name[:63]: unit for name, unit in _units(design).items() if unit}}
        savemat(folder / f"{part}_{index:06d}.mat", named, do_compression=True, long_field_names=True)


def _netcdf(data: Dataset, folder: Path) -> None:
    if find_spec("netCDF4") is None:
        raise StoreError("format: netcdf needs the package netCDF4; install limbsweep[netcdf]")
    import dask

    with dask.config.set(scheduler="synchronous"):  # one chunk after the other
        data.to_netcdf(folder / "results.nc", engine="netcdf4")


FORMATS: Mapping[str, Callable[[Any, Path], None]] = {
    "parquet": _parquet,
    "netcdf": _netcdf,
    "mat": _mat,
    "npz": _npz,
    "csv": _csv,
}
"""What writes each format."""
