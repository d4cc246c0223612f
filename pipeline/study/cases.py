"""Operating cases of a dataset: parameters such as a payload that a design has to carry rather than be chosen for.

`by_cases` gives the dataset a dim `case` for them: then a design is what does not depend on the case, columns are the
worst over its cases, and objectives what they say. Every design needs every case, as a grid over the cases gives.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.documents.report import sentence
from pipeline.errors import InputError, Problem
from robots.parameters import nearest

CASE = "case"
STORED = "stored_design"
"""The coordinate (design, case) with the numbers that designs have in the store."""

INCOMPLETE = "designs_without_all_cases"
"""The attribute that counts designs which lack a case, and are left out."""


def by_cases(ds: xr.Dataset, names: Sequence[str]) -> xr.Dataset:
    """The dataset with dims (design, case, ...): cases are all combinations of the parameters `names` that occur.

    Series over time are left out. A design has the number that its first case has in the store, in `stored_design`.
    Raises InputError for names that are no swept parameters, and where no design has every case.

        >>> ls.study.by_cases(ls.open("out.zarr"), ["upper_arm"]).sizes["case"]
        11
    """
    if not names:
        return ds
    parameters = _parameters(ds)
    for name in names:
        if name not in parameters:
            hint = sentence(nearest(name, parameters))
            raise InputError([Problem("study", 0, 0, f"cases.{name}", "no such column", "a swept parameter", hint)])
    constant = [name for name in parameters if name not in names]
    size = ds.sizes["design"]
    group, first = _numbered(ds, constant, size)
    case, first_of_case = _numbered(ds, names, size)
    index = np.full((len(first), len(first_of_case)), -1)
    index[group, case] = np.arange(size)
    whole = (index >= 0).all(axis=1)
    if not whole.any():
        got = f"{len(first):,} designs, none of which has all {len(first_of_case):,} cases"
        hint = "Sweep the cases as a grid beside the designs."
        raise InputError([Problem("study", 0, 0, f"cases.{', '.join(names)}", got, "designs with every case", hint)])
    ordered = np.argsort(index[whole].min(axis=1), kind="stable")
    result = with_cases(ds, index[whole][ordered], names)
    return result.assign_attrs({INCOMPLETE: int((~whole).sum())})


def with_cases(ds: xr.Dataset, table: NDArray[np.intp], names: Sequence[str]) -> xr.Dataset:
    """The dataset with dims (design, case, ...) by the stored numbers in `table` (design, case); without series.

    `names` are the parameters that depend on the case alone; all others are those of a design.
    """
    series = [name for name, x in ds.data_vars.items() if "design" not in x.dims or "time" in x.dims]
    result = ds.drop_vars(["design", *series], errors="ignore").isel(design=xr.DataArray(table, dims=("design", CASE)))
    chosen = {name: result[name].isel(design=0) for name in names}
    chosen |= {name: result[name].isel({CASE: 0}) for name in _parameters(ds) if name not in names}
    return result.assign_coords({**chosen, STORED: (("design", CASE), table)})


def _parameters(ds: xr.Dataset) -> list[str]:
    """Numbers that designs have as coordinates."""
    names = [str(name) for name, x in ds.coords.items() if x.dims == ("design",) and x.dtype.kind in "fiu"]
    return [name for name in names if name not in ("design", STORED)]


def _numbered(ds: xr.Dataset, names: Sequence[str], size: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The number of the values of some parameters at each design (design,), and the design that has each first."""
    if not names:
        return np.zeros(size, np.intp), np.zeros(1, np.intp)
    rows = np.stack([np.asarray(ds[name].values, dtype=float) for name in names], axis=1)
    _, first, number = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return number.ravel(), first


def stored_number(ds: xr.Dataset, design: int, case: int = 0) -> int:
    """The number in the store of a design, under one of its cases."""
    return int(ds[STORED].values[design, case]) if STORED in ds.coords else design
