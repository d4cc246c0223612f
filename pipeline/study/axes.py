"""The designs of a dataset: with gains and initial states of simulations, or as the grid that they were swept on."""

from __future__ import annotations

import math

import numpy as np
import xarray as xr

from pipeline.study.columns import refuse, swept
from robots.quantities import GAINS, STATE

ALONG = "swept_along"
"""Attribute of a parameter of designs that was swept along another dim: of gains, or of initial states."""


def by_design(ds: xr.Dataset) -> xr.Dataset:
    """A dataset with all gains and initial states of simulations as designs of their own, whose parameters they are.

    One without these dims as it is.
    """
    inner = [dim for dim in (GAINS, STATE) if dim in ds.dims]
    if not inner:
        return ds
    along = {name: values.dims[0] for name, values in ds.coords.items() if values.dims[:1] and values.dims[0] in inner}
    whole = ds.drop_vars("design", errors="ignore").stack(run=("design", *inner), create_index=False)
    whole = whole.rename(run="design").transpose("design", ...)
    for name, dim in along.items():
        whole[name].attrs[ALONG] = str(dim)
    return whole.assign_coords(design=np.arange(whole.sizes["design"]))


def unstacked(ds: xr.Dataset) -> xr.Dataset:
    """A dataset with a dim for each swept parameter in place of `design`; parameters that follow stay coordinates.

    Raises InputError where the designs are not all combinations of the values of some parameters.
    """
    if "design" not in ds.dims:
        raise refuse("grid", "no dim design", "a dataset of several designs", "Select none before.")
    names, size = _grid_names(ds), ds.sizes["design"]
    if names is None:
        known = ", ".join(swept(ds)) or "no parameter"
        raise refuse("grid", f"{size} designs over {known}", "all combinations of values", "Select designs by isel.")
    return ds.drop_vars("design", errors="ignore").set_index(design=names).unstack("design")


MOST_NAMES = 12
"""Swept parameters up to which those that follow from others are looked for."""


def _grid_names(ds: xr.Dataset) -> list[str] | None:
    """The parameters that number the designs, one value of each in every combination; None where none do."""
    names, size = swept(ds), ds.sizes["design"]
    levels = {name: np.unique(ds[name].values, return_inverse=True) for name in names}
    for left_out in range(1 << len(names)) if len(names) <= MOST_NAMES else range(1):
        chosen = [name for k, name in enumerate(names) if not left_out >> k & 1]
        if chosen and math.prod(len(levels[name][0]) for name in chosen) == size:
            rows = np.stack([levels[name][1] for name in chosen], axis=1)
            if len(np.unique(rows, axis=0)) == size:
                return chosen
    return None
