"""Tables of finite numbers: columns by name, all of one length.

A name may end with the unit of its column in brackets, `upper_arm [mm]`. Files are read by
`pipeline.documents.tables.reader`.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import refused, show
from robots.data_classes import dataclass, field

_HEADER = re.compile(r"\s*([^\[\]]*?)\s*(?:\[\s*([^\[\]]*?)\s*\])?\s*")

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of finite numbers by name, (row,) each, the units of columns that have one, and columns of texts."""

    columns: Mapping[str, Array]
    units: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, Sequence[str]] = field(default_factory=dict)


def table(columns: Iterable[tuple[str, object]], name: str) -> Table:
    """Return a table of columns by header. Raises InputError for columns not numeric, not finite, or of unequal length.

    Rows count from 0 in messages.
    """
    arrays: dict[str, Array] = {}
    units: dict[str, str] = {}
    for header, values in columns:
        column, unit = split_header(header)
        if column in arrays:
            raise refused(name, f"the column {show(column)} twice", "every column once", "Rename or drop one.")
        arrays[column] = _numbers(values, name, column)
        units |= {column: unit} if unit else {}
    lengths = {column: len(values) for column, values in arrays.items()}
    if len(set(lengths.values())) > 1:
        text = ", ".join(f"{column} with {length}" for column, length in list(lengths.items())[:8])
        raise refused(name, f"columns of several lengths ({text})", "columns of one length")
    if not arrays or not any(lengths.values()):
        raise refused(name, "a table without rows", "at least one column with a number")
    return Table(arrays, units)


def split_header(header: object) -> tuple[str, str]:
    """Return the name of a column and its unit, empty for a header without one: `upper_arm [mm]`."""
    matched = _HEADER.fullmatch(str(header))
    return (matched[1], matched[2] or "") if matched else (str(header), "")


def _numbers(values: object, name: str, column: str) -> Array:
    array = np.asarray(values)
    if array.ndim != 1:
        got = f"the column {show(column)} of shape {array.shape}"
        raise refused(name, got, "a column of one dimension", "Name each of its columns.")
    if array.dtype.kind not in "iuf":
        entries = map(_plain, array.flat)
        wrong = next((entry for entry in entries if isinstance(entry, bool) or not _is_number(entry)), array.dtype)
        raise refused(name, f"{show(wrong)} in the column {show(column)}", "numbers")
    array = np.ascontiguousarray(array, dtype=np.float64)
    if not (finite := np.isfinite(array)).all():
        row = int(np.argmin(finite))
        hint = "Drop such rows or fill them in." if np.isnan(array[row]) else ""
        got = f"{float(array[row])!r} in row {row} of the column {show(column)}"
        raise refused(name, got.replace("nan", "NaN"), "a finite number", hint)
    return array


def _plain(entry: object) -> object:
    return entry.item() if isinstance(entry, np.generic) else entry


def _is_number(entry: object) -> bool:
    return isinstance(entry, int | float)


def packed(columns: Mapping[str, Array]) -> bytes:
    """Return the content of a .npz file with these columns: the same bytes for the same columns."""
    stream = io.BytesIO()
    np.savez(stream, allow_pickle=False, **dict(columns))
    return stream.getvalue()
