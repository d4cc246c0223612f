"""Operating cases of a dataset: parameters such as a payload, under all of which a design has to work.

`by_cases` gives the dataset a dim `case`: a design then has the other parameters only, columns are the worst over its
cases, and objectives follow their own rule. Every design needs every case, as a grid over the cases gives.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from applications.studies.space import DesignSpace
from pipeline.documents.dataset_names import CASE, STORED, TRUTH
from pipeline.documents.report import sentence
from pipeline.errors import refused
from pipeline.sweep.axes.columns import LABEL
from pipeline.sweep.question.question import DIMS
from robots.arguments import check_arguments
from robots.parameter_errors import nearest

INCOMPLETE = "designs_without_all_cases"
"""The attribute that counts designs which lack a case, and are left out."""


@check_arguments
def by_cases(ds: xr.Dataset, names: Sequence[str]) -> xr.Dataset:
    """Return the dataset with dims (design, case, ...); cases are the combinations of the parameters `names` in it.

    Series over time are left out. A design has the number that its first case has in the store, in `stored_design`.
    Raises InputError for names that are no swept parameters, and where no design has every case.

    `friction` and `trajectory`, or a parameter along one of these dims, make all friction sets or trajectories cases.

        >>> ls.study.by_cases(ls.open("out.zarr"), ["upper_arm"]).sizes["case"]
        11
    """
    dims = dims_of(ds, names)
    if dims:
        of_designs = [name for name in names if name not in DIMS and not _along(ds, name)]
        return with_dims(by_cases(ds, of_designs), dims)
    if not names:
        return ds
    parameters = _parameters(ds)
    for name in names:
        if name not in parameters:
            hint = sentence(nearest(name, parameters))
            raise refused("study", "no such column", "a swept parameter", hint, key=f"cases.{name}")
    following = {*names, *DesignSpace.of_dataset(ds).of_kind("derived")}
    constant = [name for name in parameters if name not in following and not name.startswith(TRUTH)]
    size = ds.sizes["design"]
    group, first = _numbered(ds, constant, size)
    case, first_of_case = _numbered(ds, names, size)
    index = np.full((len(first), len(first_of_case)), -1)
    index[group, case] = np.arange(size)
    whole = (index >= 0).all(axis=1)
    if not whole.any():
        got = f"{len(first):,} designs, none of which has all {len(first_of_case):,} cases"
        hint = "Sweep the cases as a grid beside the designs."
        raise refused("study", got, "designs with every case", hint, key=f"cases.{', '.join(names)}")
    ordered = np.argsort(index[whole].min(axis=1), kind="stable")
    result = with_cases(ds, index[whole][ordered], names)
    return result.assign_attrs({INCOMPLETE: int((~whole).sum())})


def with_cases(ds: xr.Dataset, table: NDArray[np.intp], names: Sequence[str]) -> xr.Dataset:
    """Return the dataset with dims (design, case, ...) by the stored numbers in `table` (design, case); without series.

    `names` are the parameters that depend on the case alone; all others are those of a design, except parameters that
    follow from its case, which have both dims.
    """
    series = [name for name, x in ds.data_vars.items() if "design" not in x.dims or "time" in x.dims]
    result = ds.drop_vars(["design", *series], errors="ignore").isel(design=xr.DataArray(table, dims=("design", CASE)))
    members = {name: result[name].isel(design=0) for name in names}
    for name in (name for name in (*_parameters(ds), *labels_of(ds)) if name not in names):
        first = result[name].isel({CASE: 0})
        members[name] = first if bool((result[name] == first).all()) else result[name]
    return result.assign_coords({**members, STORED: (("design", CASE), table)})


def dims_of(ds: xr.Dataset, names: Sequence[str]) -> list[str]:
    """Return the dims that names of cases stand for: `friction`, `trajectory`, or those of parameters along them."""
    dims = {name if name in DIMS else str(ds[name].dims[0]) for name in names if name in DIMS or _along(ds, name)}
    return [dim for dim in DIMS if dim in dims]


def _along(ds: xr.Dataset, name: str) -> bool:
    """Return whether a name is that of a coordinate along friction sets or trajectories."""
    return name in ds.coords and len(ds[name].dims) == 1 and ds[name].dims[0] in DIMS


def with_dims(ds: xr.Dataset, dims: Sequence[str]) -> xr.Dataset:
    """Return the dataset with some dims as part of its cases: all combinations, those of the last dim fastest.

    Metrics without one of them, such as kinematic ones without friction, are the same in all its cases.
    """
    series = [name for name, x in ds.data_vars.items() if "design" not in x.dims or "time" in x.dims]
    result = ds.drop_vars(series)
    if CASE not in ds.dims:
        number = np.arange(ds.sizes["design"])[:, None]
        result = result.expand_dims({CASE: 1}).drop_vars(["design"], errors="ignore")
        alike = {name: x.isel({CASE: 0}) for name, x in result.coords.items() if CASE in x.dims}
        result = result.assign_coords({**alike, STORED: (("design", CASE), number)})
    for dim in dims:
        cases, size = result.sizes[CASE], ds.sizes.get(dim, 1)
        if dim not in result.dims:
            continue
        index = {CASE: np.repeat(np.arange(cases), size), dim: np.tile(np.arange(size), cases)}
        result = result.isel({name: xr.DataArray(rows, dims="stacked") for name, rows in index.items()})
        if dim not in result.coords:  # friction sets have no names: their numbers
            result = result.assign_coords({dim: ("stacked", index[dim])})
        result = result.rename(stacked=CASE)
    return result


def _parameters(ds: xr.Dataset) -> list[str]:
    """Return the numbers that designs have as coordinates."""
    names = [str(name) for name, x in ds.coords.items() if x.dims == ("design",) and x.dtype.kind in "fiu"]
    return [name for name in names if name not in ("design", STORED)]


def labels_of(ds: xr.Dataset) -> list[str]:
    """Return the texts that designs have as coordinates, such as the name of a motor."""
    named = [str(name) for name, x in ds.coords.items() if x.attrs.get("long_name") == LABEL]
    return [name for name in named if ds[name].dims == ("design",) and ds[name].dtype.kind not in "fiu"]


def _numbered(ds: xr.Dataset, names: Sequence[str], size: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Number the values of some parameters at each design (design,); return also the first design with each."""
    if not names:
        return np.zeros(size, np.intp), np.zeros(1, np.intp)
    rows = np.stack([np.asarray(ds[name].values, dtype=float) for name in names], axis=1)
    _, first, number = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return number.ravel(), first


def stored_number(ds: xr.Dataset, design: int) -> int:
    """Return the number in the store of a design, under the first of its cases."""
    return int(ds[STORED].values[design, 0]) if STORED in ds.coords else design
