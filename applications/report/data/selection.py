"""Rows that a report keeps of a table of designs that is too large for memory.

The table is read in parts. Kept are the best designs, fronts of two metrics, ends of each column, and designs drawn at
random with a fixed seed, from each part in proportion to its size. Counts are those of all designs; shares of variance,
medians and maps of failures are those of the drawn ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from pipeline.documents.dataset_names import STORED
from robots.data_classes import dataclass

if TYPE_CHECKING:
    from xarray import Dataset

Indices = NDArray[np.int64]

MOST_ROWS = 1_000_000
"""Designs of a table that is kept whole, and designs that are drawn of a larger one."""

PART_NUMBERS = 1 << 20
"""Numbers of one metric in a part."""

SEED = 0


@dataclass(frozen=True)
class DesignCounts:
    """Numbers of designs of a store: all, without a failed sample, and with all conditions met."""

    designs: int
    good: int
    meets: int


class PartTable(Protocol):
    """Table of a part of the designs: masks, and the rows that stay whatever is drawn."""

    @property
    def good(self) -> NDArray[np.bool_]:
        """Mask of the designs without a failed sample (design,)."""

    @property
    def meets(self) -> NDArray[np.bool_]:
        """Mask of the designs that meet all conditions too (design,)."""

    @property
    def outstanding(self) -> Indices:
        """The best rows, those on fronts, and the ends of each column."""


@dataclass(frozen=True, eq=False)
class DesignSelection:
    """Kept rows of a table (row,), ascending, a mask of the drawn ones (row,), and counts of the whole table."""

    rows: Indices
    drawn: NDArray[np.bool_]
    totals: DesignCounts


def design_parts(dataset: Dataset) -> Iterator[tuple[int, Dataset]]:
    """Yield a dataset in parts along its designs, each with the number of its first design; whole chunks."""
    count, sizes = dataset.sizes["design"], [1]
    for variable in dataset.data_vars.values():
        if "design" in variable.dims and "time" not in variable.dims:
            sizes.append(math.prod(n for dim, n in variable.sizes.items() if dim != "design"))
    step = max(1, PART_NUMBERS // max(sizes))
    chunk = (dataset.chunksizes.get("design") or (1,))[0]
    step = max(step // chunk, 1) * chunk if chunk <= 2 * step else step
    for start in range(0, count, step):
        yield start, dataset.isel(design=slice(start, start + step))


def selection(
    dataset: Dataset, table_of: Callable[[Dataset], PartTable], number: int | None = None
) -> DesignSelection | None:
    """Select rows of the table of a dataset; None where it is kept whole. Raises InputError.

    table_of: function that makes the table of a part; number: number in the store of a design that is kept.
    """
    count = dataset.sizes["design"]
    if count <= MOST_ROWS:
        return None
    rows, drawn, good, meets = list[Indices](), list[Indices](), 0, 0
    draw = np.random.default_rng(SEED)
    for start, part in design_parts(dataset):
        table = table_of(part)
        good, meets = good + int(table.good.sum()), meets + int(table.meets.sum())
        size = len(table.good)
        share = (start + size) * MOST_ROWS // count - start * MOST_ROWS // count
        drawn.append(start + np.sort(draw.choice(size, share, replace=False)))
        rows.append(start + table.outstanding)
    selected = np.unique(np.concatenate([*rows, *drawn, *([_place(dataset, number)] if number is not None else [])]))
    return DesignSelection(selected, np.isin(selected, np.concatenate(drawn)), DesignCounts(count, good, meets))


def _place(dataset: Dataset, number: int) -> Indices:
    """Return the row of a design by its number in the store, if there is one."""
    if STORED not in dataset.coords:
        return np.array([number], np.int64)
    return np.flatnonzero((dataset[STORED].values == number).any(axis=1))
