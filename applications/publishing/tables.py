"""Small tables of a published dataset: designs with their true parameters, friction sets, trajectories and so on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from applications.publishing.episodes import Episodes

if TYPE_CHECKING:
    from pyarrow import Table

    from pipeline.sweep.model import Sweep

FOLDER = "tables"
NAMES = {
    "design": "designs",
    "friction": "friction",
    "trajectory": "trajectories",
    "gains": "gains",
    "state": "states",
}
"""Table of each dim of cases; its column of the dim's name is that of the samples."""


def write_tables(folder: Path, episodes: Episodes, sweep: Sweep) -> list[str]:
    """Write a Parquet file for each dim of cases, and return their names."""
    import pyarrow.parquet as parquet

    (folder / FOLDER).mkdir()
    written = []
    for dim in episodes.dims:
        table = _with_units(dict(_columns(episodes, sweep, dim)), episodes)
        parquet.write_table(table, folder / FOLDER / f"{NAMES[dim]}.parquet")
        written.append(NAMES[dim])
    return written


def _columns(episodes: Episodes, sweep: Sweep, dim: str) -> Iterator[tuple[str, list[Any]]]:
    """Yield the number and name of each place along a dim, and all coordinates along it."""
    data = episodes.data
    count = data.sizes[dim]
    yield dim, list(range(count))
    if dim in data.coords and data[dim].dtype.kind not in "iu":
        yield "name", [str(name) for name in data[dim].values.tolist()]
    friction = sweep.friction.values(0, count) if dim == "friction" else {}  # also constant parameters
    yield from ((name, np.asarray(values).tolist()) for name, values in friction.items())
    for name, values in data.coords.items():
        if values.dims == (dim,) and name != dim and name not in friction:
            yield str(name), values.values.tolist()


def _with_units(columns: dict[str, list[Any]], episodes: Episodes) -> Table:
    """Return a table of Arrow with the units of the coordinates in the metadata of its columns."""
    import pyarrow

    table, data = pyarrow.table(columns), episodes.data
    units = {name: str(data[name].attrs.get("units", "")) for name in columns if name in data.coords}
    fields = [part.with_metadata({"unit": units[part.name]}) if units.get(part.name) else part for part in table.schema]
    return table.cast(pyarrow.schema(fields))
