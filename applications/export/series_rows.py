"""Series over time as tables, many designs at once: a row for each sample, in one table for each part of a dataset.

Designs are read in groups of whole chunks of the store, so that no chunk is unpacked twice where a group fits into
memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from pipeline.documents.dataset_names import part_name
from pipeline.stores.metric_rows import CASE, Table, add_columns, case_columns
from pipeline.sweep.dataset_split import PARTED, PARTS, case_part
from storage.lazy import designs_in_chunk
from storage.times import samples_of

if TYPE_CHECKING:
    from xarray import Dataset

GROUP_BYTES = 1 << 24
"""Bytes of the variables of a group of designs, at most, unless one design has more."""

WHOLE = "all"
"""Part of a design where there is no split."""


def design_parts(data: Dataset) -> np.ndarray:
    """Return the part of each design."""
    return data["design_part"].values if "design_part" in data.coords else np.full(data.sizes["design"], WHOLE)


def design_groups(data: Dataset) -> Iterator[tuple[int, Dataset]]:
    """Yield groups of designs in memory, each with the number of its first."""
    designs = data.sizes["design"]
    own = [variable for variable in data.data_vars.values() if "design" in variable.dims]
    most = max(1, GROUP_BYTES * designs // max(1, sum(variable.nbytes for variable in own)))
    chunk = designs_in_chunk(data)
    step = most // chunk * chunk or most
    for start in range(0, designs, step):
        part = data.isel(design=slice(start, start + step)).drop_vars("design")
        yield start, part.load(scheduler="synchronous")


def case_parts(part: str, design: Dataset) -> np.ndarray:
    """Return the part of each trajectory of a design, itself in `part`; of released robots (trajectory, state)."""
    along = _parted(design)
    result = np.full([design.sizes[dim] for dim in along], part, dtype=object)
    for at, dim in enumerate(along):
        if part_name(dim) not in design.coords:
            continue
        names = [str(name) for name in design[part_name(dim)].values]
        for place in np.ndindex(*result.shape):
            both = str(result[place]), names[place[at]]
            result[place] = case_part(*both) if {*both} <= set(PARTS) else part
    return result.astype(str)


def _parted(data: Dataset) -> list[str]:
    """List the dims beside designs along which cases may be in different parts."""
    return [dim for dim in PARTED[1:] if dim == "trajectory" or part_name(dim) in data.coords]


def series_rows(data: Dataset) -> Iterator[tuple[str, Table]]:
    """Yield tables of some designs each with their parts, in order: numbers of design and case, time, components."""
    names = [str(name) for name, variable in data.data_vars.items() if "time" in variable.dims]
    if not any("design" in data[name].dims for name in names):
        return
    rows = ["design", *(dim for dim in CASE if dim in data.sizes), "time"]
    parts = design_parts(data)
    for start, group in design_groups(data):
        sizes = [group.sizes[dim] for dim in rows]
        places = np.indices(sizes[:-1], sparse=True)
        table: Table = {
            dim: np.broadcast_to(number[..., None], sizes).reshape(-1)
            for dim, number in zip(rows[:-1], (start + places[0], *places[1:]), strict=True)
        }
        table["time"] = _along(group["time"].values, group["time"].dims, rows, sizes)
        for name in names:
            add_columns(table, case_columns(group, name, rows, sizes))
        yield from _by_part(table, _row_parts(group, parts[start : start + sizes[0]], rows, sizes), _valid(group, rows))


def _along(values: np.ndarray, dims: tuple[object, ...], rows: list[str], sizes: list[int]) -> np.ndarray:
    """Return a value for each row (row,) of an array along some of the dims of rows."""
    shape = [size if dim in dims else 1 for dim, size in zip(rows, sizes, strict=True)]
    return np.broadcast_to(values.reshape(shape), sizes).reshape(-1)


def _valid(group: Dataset, rows: list[str]) -> np.ndarray | None:
    """Return whether each row (row,) is a sample of its trajectory, some of which may be shorter; None: all are."""
    inside = np.arange(group.sizes["time"]) < samples_of(group)[:, None]
    if inside.all():
        return None
    return _along(inside, ("trajectory", "time"), rows, [group.sizes[dim] for dim in rows])


def _row_parts(group: Dataset, parts: np.ndarray, rows: list[str], sizes: list[int]) -> str | np.ndarray:
    """Return the part of each row (row,), or the common part of all rows."""
    known = {part: case_parts(part, group) for part in dict.fromkeys(map(str, parts))}
    names = np.stack([known[str(part)] for part in parts])
    if len(one := np.unique(names)) == 1:
        return str(one[0])
    return _along(names, ("design", *_parted(group)), rows, sizes)


def _by_part(table: Table, parts: str | np.ndarray, valid: np.ndarray | None) -> Iterator[tuple[str, Table]]:
    for part in [parts] if isinstance(parts, str) else np.unique(parts).tolist():
        keep = valid if isinstance(parts, str) else (parts == part) & (True if valid is None else valid)
        if keep is None:
            yield part, table
        elif keep.any():
            yield part, {name: column[keep] for name, column in table.items()}
