"""Columns of numbers in the objects of a user: dicts, structured arrays, pandas DataFrames, xarray Datasets.

These libraries are not imported: their objects have all needed methods.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard, Union

import numpy as np
from numpy.typing import NDArray

from pipeline.documents.report import sentence
from pipeline.documents.tables.table import Table, table
from pipeline.documents.units import UNITS, unit_name
from pipeline.errors import refused, show
from robots.labels import SAME_ROWS, other_rows
from robots.parameter_errors import nearest

if TYPE_CHECKING:
    import xarray as xr


class FrameLike(Protocol):
    """A DataFrame of pandas, or an object like one."""

    columns: Any
    index: Any
    iloc: Any
    attrs: Any


TableLike = Union[Mapping[str, object], FrameLike, "xr.Dataset", NDArray[np.void]]
"""Columns with names."""


def is_table(value: object) -> bool:
    """Return whether an object has named columns by itself: a data frame, a dataset, a structured array."""
    names = getattr(getattr(value, "dtype", None), "names", None)
    return bool(names) or _is_frame(value) or _is_dataset(value)


def columns_of(value: object, key: str, names: Container[str]) -> Table:
    """Return the columns of an object, for the argument `key`; coordinates and index levels only if in `names`.

    Raises InputError for an object without named columns, and for columns that cannot be used.
    """
    if _is_frame(value):
        return table(_frame(value, key, names), key)
    if _is_dataset(value):
        return table(_dataset(value, names), key)
    if isinstance(value, Mapping):
        return table(_spread(value, key), key)
    if isinstance(value, list) and value and isinstance(value[0], Mapping):
        return table(_records(value, key), key)
    if isinstance(value, np.ndarray) and value.dtype.names:
        return table(((name, value[name]) for name in value.dtype.names), key)
    shape = f" of shape {value.shape}" if isinstance(value, np.ndarray) else ""
    hint = "Name its columns: {'upper_arm': array[:, 0], ...}, or a DataFrame."
    rule = "columns with names: a dict, a DataFrame, a Dataset, a structured array or a list of dicts"
    raise refused(key, f"an object of type {type(value).__name__}{shape}", rule, hint)


def _is_frame(value: object) -> TypeGuard[FrameLike]:
    return hasattr(value, "columns") and hasattr(value, "iloc")


def _is_dataset(value: object) -> TypeGuard[xr.Dataset]:
    return hasattr(value, "data_vars") and hasattr(value, "coords")


def _frame(frame: FrameLike, key: str, names: Container[str]) -> Iterator[tuple[str, object]]:
    if not frame.index.is_unique:
        repeated = frame.index[frame.index.duplicated()].tolist()[0]
        got = f"a DataFrame whose index has {show(repeated)} twice"
        raise refused(key, got, "an index without duplicates", "Use frame.reset_index(drop=True).")
    for level in frame.index.names:
        if level in names and level not in frame.columns:
            yield str(level), frame.index.get_level_values(level).to_numpy()
    for place, name in enumerate(frame.columns):
        yield header(name, frame.attrs.get("units", {}).get(name)), frame.iloc[:, place].to_numpy()


def _dataset(dataset: xr.Dataset, names: Container[str]) -> Iterator[tuple[str, object]]:
    """Yield the variables, and coordinates that are parameters, over all dims: the last dim changes fastest."""
    known = [name for name in (*dataset.coords, *dataset.data_vars) if name in dataset.data_vars or name in names]
    dims = [dim for dim in dataset.dims if any(dim in dataset[name].dims for name in known)]
    sizes = {dim: dataset.sizes[dim] for dim in dims}
    for name in known:
        variable = dataset[name].reset_coords(drop=True)
        whole = variable.expand_dims({dim: sizes[dim] for dim in dims if dim not in variable.dims}).transpose(*dims)
        yield header(name, variable.attrs.get("units")), whole.to_numpy().reshape(-1)


def _spread(columns: Mapping[str, object], key: str) -> Iterator[tuple[str, object]]:
    """Yield the columns of a dict; single numbers go with every row. Series have to have one index."""
    if differing := other_rows({show(name): values for name, values in columns.items()}):
        raise refused(key, f"columns with several indexes ({differing})", SAME_ROWS)
    arrays = {name: _array(values, name, key) for name, values in columns.items()}
    length = max((len(values) for values in arrays.values() if values.ndim), default=1)
    for name, values in arrays.items():
        yield str(name), values if values.ndim else np.broadcast_to(values, (length,))


def _records(rows: list[Any], key: str) -> Iterator[tuple[str, object]]:
    """Yield the columns of a list of dicts, one for each row, which all have the names of the first."""
    names = rows[0].keys()
    for number, row in enumerate(rows):
        if not isinstance(row, Mapping) or row.keys() != names:
            got = f"row {number} with {', '.join(map(show, row))}" if isinstance(row, Mapping) else f"row {number}"
            rule = f"a dict with the names of row 0: {', '.join(map(str, names))}"
            raise refused(key, got, rule, "Give every row all names.")
    for name in names:
        yield str(name), _array([row[name] for row in rows], name, key)


def _array(values: object, name: object, key: str) -> np.ndarray:
    try:
        return np.asarray(values)
    except ValueError:  # lists of different lengths
        got, rule = f"lists of different lengths in the column {show(name)}", "a number in each row"
        raise refused(key, got, rule, "Give every row one number.") from None


def header(name: object, unit: object) -> str:
    """Return the header of a column of this name and unit; without a unit, or where the name has one, the name."""
    return f"{name} [{unit_name(str(unit))}]" if unit and "[" not in str(name) else str(name)


def unit_of(value: object) -> str | None:
    """Return the unit of a DataArray, its attribute `units`, by its name in sweep files; None without one."""
    unit = value.attrs.get("units") if hasattr(value, "dims") and hasattr(value, "attrs") else None
    return unit_name(str(unit)) if unit else None


def has_numbers(value: object) -> TypeGuard[xr.DataArray]:
    """Return whether an object is a DataArray, or a Series or index of pandas."""
    return hasattr(value, "to_numpy")


def numbers_of(value: xr.DataArray, key: str) -> NDArray[Any]:
    """Return the numbers of a DataArray in SI units, or of a Series. Raises InputError for a unit that is unknown."""
    numbers: NDArray[Any] = value.to_numpy()
    if (name := unit_of(value)) is None:
        return numbers
    if name not in UNITS:
        raise refused(key, f"the unit {show(name)}", "a known unit", sentence(nearest(name, UNITS)))
    unit = UNITS[name]
    return numbers if unit.factor == unit.divisor else numbers * unit.factor / unit.divisor
