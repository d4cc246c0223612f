"""Export a store to other formats, some designs after others, so that memory does not grow with the dataset.

Tables (Parquet, CSV) have a row for each sample, in one file for each part of the cases, see
`pipeline.sweep.dataset_split.case_part`; archives (NPZ, MAT of each design) hold the arrays of one design each, with
the part of each of its cases as `case_part`; MAT, HDF5 and netCDF are one file with everything and its units. Beside
tables stands one of all metrics, see `pipeline.stores.metric_rows`; a store without series has that alone. Every export
has `designs.csv`, parameters, true parameters and part of each design, `friction.csv`, the true friction of each set,
and `trajectories.csv`; of simulations also `gains.csv` and `states.csv`, where these vary.
"""

from __future__ import annotations

import io
import re
import shutil
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from applications.export.series_rows import case_parts, design_groups, design_parts, series_rows
from pipeline.documents.outputs import CellWriter
from pipeline.errors import InputError, size
from pipeline.execution.opening import open
from pipeline.stores.metric_rows import Table, metric_rows
from pipeline.sweep.stored import stored_sweep
from robots.arguments import check_arguments
from robots.data_classes import dataclass
from robots.dims import GAINS, STATE
from robots.extras import require_extra
from storage.errors import StoreError
from storage.inside import require_outside
from storage.places.location import LocationLike, refusals
from tasks.kernels.decimals import csv_rows

if TYPE_CHECKING:
    from xarray import Dataset

VARIED = {GAINS: "gains.csv", STATE: "states.csv"}
METRICS = "metrics"
"""Name of the table of metrics, which no part may have."""

MAT_BYTES = 1 << 31
"""Bytes of the largest variable of a MAT file, whose sizes are numbers of 32 bits."""

MAT_NAME = 63
"""Letters of a name in MATLAB."""

MAT_UNITS = "units"
"""Variable of a MAT file with the units of all others."""

ROWS = 1 << 14
"""Rows of text that are in memory at a time."""

FEW = 1 << 15
"""Count of numbers that are written in less time than loading the machine code takes."""

_NAMED = ("designs", "friction", "trajectories", "gains", "states")
_PART = re.compile(r"[A-Za-z0-9_-]{1,80}")


@check_arguments
def export(store: LocationLike, folder: str | Path, form: str) -> list[Path]:
    """Export a finished store into a new folder and return the files. Raises StoreError.

    >>> [path.name for path in ls.export("out.zarr", "tables", "csv")][:2]
    ['all.csv', 'designs.csv']
    """
    if form not in FORMATS:
        raise StoreError(f"format: got {form!r}; expected one of {', '.join(FORMATS)}")
    data, folder = open(store), Path(folder)
    _check_parts(data, store)
    if folder.exists():
        raise StoreError(f"{folder}: exists already; expected a new folder; name another one")
    require_outside(folder)
    draft = folder.parent / f".{folder.name}.{uuid.uuid4().hex[:8]}.draft"
    try:
        with refusals(folder):
            draft.mkdir(parents=True)
            _write_designs(data, draft / "designs.csv")
            _write_along(data, "trajectory", draft / "trajectories.csv")
            for dim, name in VARIED.items():
                if dim in data.sizes:
                    _write_along(data, dim, draft / name)
            _write_friction(store, data, draft / "friction.csv")
            FORMATS[form](data, draft)
            draft.rename(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return sorted(folder.iterdir())


def _check_parts(data: Dataset, store: LocationLike) -> None:
    """Refuse parts of designs that are not file names: a store from elsewhere may name any path."""
    for part in dict.fromkeys(map(str, design_parts(data))):
        if not _PART.fullmatch(part) or part in (METRICS, *_NAMED):
            raise StoreError(
                f"{store}: design_part is {part!r:.120}; expected at most 80 letters, digits, '_' and '-', "
                f"none of {', '.join((METRICS, *_NAMED))}, because files are named after it"
            )


def designs(data: Dataset) -> Iterator[tuple[int, str, Dataset]]:
    """Yield each design with its part, in memory."""
    parts = design_parts(data)
    for start, group in design_groups(data):
        for place in range(group.sizes["design"]):
            yield start + place, str(parts[start + place]), group.isel(design=place)


def _write_along(data: Dataset, dim: str, path: Path) -> None:
    """Write the coordinates along a dim, a line for each place."""
    coordinates = [coordinate for name, coordinate in data.coords.items() if coordinate.dims == (dim,) and name != dim]
    labels = [str(label) for label in data[dim].values] if dim in data.coords else list(range(data.sizes[dim]))
    with path.open("x", newline="", encoding="utf-8") as file:
        table = CellWriter(file)
        table.writerow([dim, "name", *(str(coordinate.name) for coordinate in coordinates)])
        columns = [coordinate.values.tolist() for coordinate in coordinates]
        table.writerows([k, label, *(column[k] for column in columns)] for k, label in enumerate(labels))


def _write_friction(store: LocationLike, data: Dataset, path: Path) -> None:
    """Write the friction of each set, those parameters too that are the same in all of them."""
    try:
        axis = stored_sweep(store, plain=True).friction
    except (InputError, StoreError):
        # its sweep cannot be read any more, or not here: the store itself has the varied values
        _write_along(data, "friction", path)
        return
    values = axis.values(0, data.sizes["friction"])
    with path.open("x", newline="", encoding="utf-8") as file:
        table = CellWriter(file)
        table.writerow(["friction", *values])
        columns = [np.asarray(column).tolist() for column in values.values()]
        table.writerows([k, *(column[k] for column in columns)] for k in range(data.sizes["friction"]))


def _write_designs(data: Dataset, path: Path) -> None:
    along = (coordinate for coordinate in data.coords.values() if coordinate.dims == ("design",))
    coordinates = [coordinate for coordinate in along if coordinate.name != "design"]
    with path.open("xb") as file:
        file.write(_text([["design", *(str(coordinate.name) for coordinate in coordinates)]]))
        for start in range(0, data.sizes["design"], ROWS):
            columns = [coordinate[start : start + ROWS].values for coordinate in coordinates]
            file.write(_rows([np.arange(start, min(start + ROWS, data.sizes["design"])), *columns]))


def _text(rows: Iterable[Iterable[object]]) -> bytes:
    """Return the lines of rows of any cells."""
    lines = io.StringIO(newline="")
    CellWriter(lines).writerows(rows)
    return lines.getvalue().encode()


def _rows(columns: list[np.ndarray]) -> bytes | memoryview:
    """Return the lines of a table; of many numbers in machine code, with the same bytes."""
    if sum(column.size for column in columns) < FEW or any(column.dtype.kind not in "if" for column in columns):
        return _text(zip(*(column.tolist() for column in columns), strict=True))
    return csv_rows(columns)


def _tables(data: Dataset) -> Iterator[tuple[str, Table]]:
    """Yield the names of files and parts of their tables: of the samples of each part, then of all metrics."""
    yield from series_rows(data)
    for table in metric_rows(data):
        yield METRICS, table


def _csv(data: Dataset, folder: Path) -> None:
    with ExitStack() as open_files:
        files: dict[str, Any] = {}
        for name, table in _tables(data):
            if name not in files:
                files[name] = open_files.enter_context((folder / f"{name}.csv").open("xb"))
                files[name].write(_text([table]))
            for start in range(0, len(table["design"]), ROWS):
                files[name].write(_rows([column[start : start + ROWS] for column in table.values()]))


def _parquet(data: Dataset, folder: Path) -> None:
    require_extra("pyarrow")
    import pyarrow as arrow
    from pyarrow import parquet

    units = {name: unit for name, unit in _units(data).items() if name in data.data_vars}
    with ExitStack() as open_files:
        writers: dict[str, Any] = {}
        for name, columns in _tables(data):
            table = arrow.table(columns).replace_schema_metadata(units)
            if name not in writers:
                path, repeated = folder / f"{name}.parquet", [*_repeated(columns)]
                writer = parquet.ParquetWriter(path, table.schema, use_dictionary=repeated)
                writers[name] = open_files.enter_context(writer)
            writers[name].write_table(table)


def _repeated(table: Table) -> Iterator[str]:
    """List the columns of few values, which a dictionary makes short; one of other numbers costs more than all else."""
    yield from (name for name, column in table.items() if name == "time" or column.dtype.kind != "f")


def arrays(design: Dataset) -> dict[str, np.ndarray]:
    """Return the arrays of one design by name, dims in the order of the dataset; text as fixed-width strings."""
    return {str(name): _plain(variable.values) for name, variable in {**design.coords, **design.data_vars}.items()}


def _plain(array: np.ndarray) -> np.ndarray:
    return np.array(array.tolist()) if array.dtype.kind in "OT" else array


def _units(data: Dataset) -> dict[str, str]:
    """Return the units of all variables and coordinates, empty for names; those of components one after the other."""
    attributes = {str(name): variable.attrs for name, variable in data.variables.items()}
    return {name: str(given.get("units", given.get("component_units", ""))) for name, given in attributes.items()}


def _npz(data: Dataset, folder: Path) -> None:
    for index, part, design in designs(data):
        archive = {**arrays(design), "case_part": case_parts(part, design)}
        np.savez_compressed(folder / f"{part}_{index:06d}.npz", **archive)  # type: ignore[arg-type]


def _mat(data: Dataset, folder: Path) -> None:
    """Write everything into one MAT file, a variable of the dataset in memory at a time."""
    long = [name for name, variable in data.variables.items() if variable.nbytes >= MAT_BYTES]
    if long:
        raise StoreError(
            f"format: got mat for {long[0]} of {size(data[long[0]].nbytes)}; expected variables below "
            f"{size(MAT_BYTES)}, the limit of a MAT file; take hdf5, which MATLAB reads too, or mat_designs"
        )
    _save_mat(folder / "results.mat", data, _InTurn(data))


def _mat_designs(data: Dataset, folder: Path) -> None:
    for index, part, design in designs(data):
        archive = {**arrays(design), "case_part": case_parts(part, design)}
        _save_mat(folder / f"{part}_{index:06d}.mat", design, archive)


class _InTurn(Mapping[str, np.ndarray]):
    """Arrays of a dataset by name, each computed when it is asked for and not kept."""

    def __init__(self, data: Dataset) -> None:
        self.data = data
        self.names = [*map(str, data.coords), *map(str, data.data_vars)]

    def __getitem__(self, name: str) -> np.ndarray:
        return _plain(self.data[name].compute(scheduler="synchronous").values)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


@dataclass(frozen=True)
class _MatVariables:
    """Mapping that scipy writes into a MAT file: the items of an archive under names of MATLAB, then the units."""

    archive: Mapping[str, np.ndarray]
    units: Mapping[str, str]

    def items(self) -> Iterator[tuple[str, Any]]:
        """Yield the names and values, one at a time."""
        names = mat_names([*self.archive, *self.units])
        for name in self.archive:
            yield names[name], self.archive[name]
        yield MAT_UNITS, {names[name]: unit for name, unit in self.units.items() if unit}


def mat_names(names: Iterable[str]) -> dict[str, str]:
    """Return the name of each variable in a MAT file: cut to the longest that MATLAB allows, with a number of twins.

    >>> mat_names(["a", "x" * 64, "x" * 65])["x" * 65] == "x" * 61 + "_2"
    True
    """
    taken, result = {MAT_UNITS}, {}
    for name in names:
        if name in result:
            continue
        short, number = name[:MAT_NAME], 1
        while short in taken:
            number += 1
            end = f"_{number}"
            short = name[: MAT_NAME - len(end)] + end
        taken.add(short)
        result[name] = short
    return result


def _save_mat(path: Path, data: Dataset, archive: Mapping[str, np.ndarray]) -> None:
    from scipy.io import savemat

    savemat(path, _MatVariables(archive, _units(data)), do_compression=True, long_field_names=True)


def _netcdf(data: Dataset, folder: Path, name: str = "results.nc") -> None:
    require_extra("netCDF4")
    import dask

    with dask.config.set(scheduler="synchronous"):  # one chunk after the other
        data.to_netcdf(folder / name, engine="netcdf4", format="NETCDF4")


FORMATS: Mapping[str, Callable[[Any, Path], None]] = {
    "parquet": _parquet,
    "netcdf": _netcdf,
    "hdf5": partial(_netcdf, name="results.h5"),  # a netCDF-4 file is one of HDF5
    "mat": _mat,
    "mat_designs": _mat_designs,
    "npz": _npz,
    "csv": _csv,
}
"""Writer of each format."""
