"""The designs of a dataset: with gains and initial states of simulations, or as the grid that they were swept on."""

from __future__ import annotations

import math

import numpy as np
import xarray as xr

from applications.studies.columns import Array, refuse
from applications.studies.factors import Factor
from applications.studies.space import DesignSpace
from applications.studies.stored_factors import ALONG
from pipeline.documents.dataset_names import FRICTION_SET
from robots.dims import FRICTION, GAINS, STATE


def by_design(ds: xr.Dataset, *, friction: bool = False) -> xr.Dataset:
    """Return a dataset with gains and initial states of simulations as separate designs, as their parameters.

    friction: friction sets become designs as well, where there are several; they vary fastest, and `friction_set` has
    the number of each. A dataset without these dims is returned as it is.
    """
    inner = [dim for dim in (GAINS, STATE) if dim in ds.dims]
    if friction and ds.sizes.get(FRICTION, 1) > 1:
        inner.append(FRICTION)
    if not inner:
        return ds
    along = {name: values.dims[0] for name, values in ds.coords.items() if values.dims[:1] and values.dims[0] in inner}
    whole = ds.drop_vars("design", errors="ignore").stack(run=("design", *inner), create_index=False)
    whole = whole.rename(run="design").transpose("design", ...)
    for name, dim in along.items():
        whole[name].attrs[ALONG] = str(dim)
    size, sets = whole.sizes["design"], ds.sizes[FRICTION] if FRICTION in inner else 0
    whole = whole.assign_coords(design=np.arange(size))
    return whole.assign_coords({FRICTION_SET: ("design", np.arange(size) % sets)}) if sets else whole


def unstacked(ds: xr.Dataset) -> xr.Dataset:
    """Return a dataset with a dim per swept parameter instead of `design`; dependent parameters stay coordinates.

    Raises InputError where the designs are not all combinations of the values of some parameters.
    """
    if "design" not in ds.dims:
        raise refuse("grid", "no dim design", "a dataset of several designs", "Select none before.")
    space, size = DesignSpace.of_dataset(ds), ds.sizes["design"]
    columns, factors = space.columns_of(ds), space.varied()
    levels = [np.unique(columns[factor.name]) for factor in factors]
    rows = np.stack([columns[factor.name] for factor in factors], axis=1) if factors else np.zeros((size, 0))
    if not factors or math.prod(map(len, levels)) != size or len(np.unique(rows, axis=0)) != size:
        factor_names = ", ".join(factor.name for factor in factors) or "no parameter"
        raise refuse(
            "grid", f"{size} designs over {factor_names}", "all combinations of values", "Select designs by isel."
        )
    names = [_index_of(ds, factor, columns[factor.name]) for factor in factors]
    bare = ds.drop_vars("design", errors="ignore")
    if len(names) == 1:  # `swap_dims` takes no coordinate `time` of each trajectory
        (name,) = names
        return bare.drop_vars(name).assign_coords(design=bare[name].variable).rename(design=name).sortby(name)
    return bare.set_index(design=names).unstack("design")


def _index_of(ds: xr.Dataset, factor: Factor, rows: Array) -> str:
    """Return the column that numbers the values of a factor: of a table, the column that differs in all its rows."""
    for name in factor.members:
        if len(np.unique(ds[name].values)) == len(np.unique(rows)):
            return name
    hint = "Add a label to the table, such as the name of a motor."
    raise refuse("grid", f"rows of a table of {factor.name}", "a column that differs in all of them", hint)
