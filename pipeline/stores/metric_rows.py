"""Metrics of a dataset as a table: a row for each case of each design, a column for each metric and component.

A case is a friction set and a trajectory, of simulations also gains and an initial state. A metric that does not depend
on one of them, as a kinematic one on friction, has the same number in all its rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from robots.dims import GAINS, STATE
from storage.errors import StoreError

if TYPE_CHECKING:
    from xarray import Dataset

Table = dict[str, np.ndarray]

CASE = ("friction", "trajectory", GAINS, STATE)
"""Dims along which a design has cases, the last two of simulations."""

CELLS = 1 << 20
"""Cells of a table, at most: numbers of a few designs at least, of many where each has few."""


def metric_names(data: Dataset) -> list[str]:
    """Return the names of all variables of designs that are no series over time."""
    return [str(name) for name, x in data.data_vars.items() if "design" in x.dims and "time" not in x.dims]


def metric_rows(data: Dataset) -> Iterator[Table]:
    """Give tables of some designs each, in order: numbers of design and case, then metrics; none without metrics."""
    names = metric_names(data)
    dims = [dim for dim in CASE if any(dim in data[name].dims for name in names)]
    designs = data.sizes["design"] if names else 0
    step = max(1, CELLS // max(1, _cells(data, names, dims)))
    for start in range(0, designs, step):
        part = data[names].isel(design=slice(start, start + step)).load(scheduler="synchronous")
        sizes = [part.sizes["design"], *(part.sizes[dim] for dim in dims)]
        places = np.indices(sizes).reshape(len(sizes), -1)
        table: Table = {"design": start + places[0], **dict(zip(dims, places[1:], strict=True))}
        for name in names:
            add_columns(table, case_columns(part, name, ["design", *dims], sizes))
        yield table


def _cells(data: Dataset, names: Sequence[str], dims: Sequence[str]) -> int:
    """Return the cells of the table of one design."""
    cases = math.prod(data.sizes[dim] for dim in dims)
    inner = (math.prod(data.sizes[dim] for dim in data[name].dims if dim not in ("design", *dims)) for name in names)
    return cases * (1 + len(dims) + sum(inner))


def case_columns(part: Dataset, name: str, rows: Sequence[str], sizes: Sequence[int]) -> Table:
    """Return the columns of a variable over all combinations of places along `rows`, which are as many as `sizes`."""
    own, others = ([str(dim) for dim in part[name].dims if (dim in rows) == along] for along in (True, False))
    values = part[name].transpose(*(dim for dim in rows if dim in own), *others)
    shape = [size if dim in own else 1 for dim, size in zip(rows, sizes, strict=True)]
    inner = [part.sizes[dim] for dim in others]
    cells = np.broadcast_to(values.values.reshape(*shape, *inner), (*sizes, *inner))
    return component_columns(name, cells.reshape(-1, *inner), [part[dim].values for dim in others])


def add_columns(table: Table, columns: Table) -> None:
    """Add columns to a table. Raises StoreError where a column of another variable has the name of one already."""
    if twins := sorted({*table} & {*columns}):
        raise StoreError(
            f"table: got two columns {twins[0]}, of a variable and of a component of another; expected different "
            "names; rename the metric of your own, or take netcdf, hdf5, mat or npz, which have arrays"
        )
    table |= columns


def component_columns(name: str, values: np.ndarray, labels: Sequence[np.ndarray]) -> Table:
    """Return a column (row,) for each component of values (row, ...), named by the labels along the other dims."""
    places = np.ndindex(values.shape[1:])
    return {"_".join([name, *(str(labels[k][i]) for k, i in enumerate(at))]): values[:, *at] for at in places}
