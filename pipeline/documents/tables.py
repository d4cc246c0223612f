"""Read tables of numbers: CSV with a header, NumPy's .npy and .npz, Parquet. Every column has a name and one length.

A name may end with the unit of its column in brackets, `upper_arm [mm]`. Points of trajectories in CSV, whose every
bad cell is told, are read by `pipeline.documents.points`.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.documents.files import decode
from pipeline.errors import InputError, Problem, show

TABLE_BYTES = 1 << 30
"""Bytes of the largest table."""

MAX_TEXT = 80
"""Characters of a text in a table."""

SUFFIXES = (".csv", ".npy", ".npz", ".parquet")

_HEADER = re.compile(r"\s*([^\[\]]*?)\s*(?:\[\s*([^\[\]]*?)\s*\])?\s*")

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of finite numbers by name, (row,) each, the units of those that have one, and columns of texts."""

    columns: Mapping[str, Array]
    units: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, Sequence[str]] = field(default_factory=dict)


def parse_table(
    data: bytes, name: str, shown: str = "", positions: Sequence[str] = (), labels: Sequence[str] = ()
) -> Table:
    """Parse a table from the content of a file; the suffix of its `name` says what it is.

    `shown` is what messages call it, where that is another name; `positions` are the names of the columns of an array
    without names; columns of `labels` may be texts in a CSV file. Raises InputError.
    """
    shown = shown or name
    match next((suffix for suffix in SUFFIXES if name.lower().endswith(suffix)), None):
        case ".csv":
            return _csv(decode(data, shown), shown, labels)
        case ".npy":
            return _npy(data, shown, positions)
        case ".npz":
            return _npz(data, shown)
        case ".parquet":
            return _parquet(data, shown)
    raise _refusal(shown, "a file of another kind", "a table: " + ", ".join(SUFFIXES))


def table(columns: Iterable[tuple[str, object]], name: str) -> Table:
    """A table of columns by header. Raises InputError for columns that are not numbers, not finite, not of one length.

    Rows count from 0 in messages.
    """
    arrays: dict[str, Array] = {}
    units: dict[str, str] = {}
    for header, values in columns:
        column, unit = split_header(header)
        if column in arrays:
            raise _refusal(name, f"the column {show(column)} twice", "every column once", "Rename or drop one.")
        arrays[column] = _numbers(values, name, column)
        units |= {column: unit} if unit else {}
    lengths = {column: len(values) for column, values in arrays.items()}
    if len(set(lengths.values())) > 1:
        text = ", ".join(f"{column} with {length}" for column, length in list(lengths.items())[:8])
        raise _refusal(name, f"columns of several lengths ({text})", "columns of one length")
    if not arrays or not any(lengths.values()):
        raise _refusal(name, "a table without rows", "at least one column with a number")
    return Table(arrays, units)


def split_header(header: object) -> tuple[str, str]:
    """The name of a column and its unit, empty where there is none: `upper_arm [mm]`."""
    matched = _HEADER.fullmatch(str(header))
    return (matched[1], matched[2] or "") if matched else (str(header), "")


def _numbers(values: object, name: str, column: str) -> Array:
    array = np.asarray(values)
    if array.ndim != 1:
        got = f"the column {show(column)} of shape {array.shape}"
        raise _refusal(name, got, "a column of one dimension", "Name each of its columns.")
    if array.dtype.kind not in "iuf":
        wrong = next(
            (entry for entry in array.tolist() if isinstance(entry, bool) or not _is_number(entry)), array.dtype
        )
        raise _refusal(name, f"{show(wrong)} in the column {show(column)}", "numbers")
    array = np.ascontiguousarray(array, dtype=np.float64)
    if not (finite := np.isfinite(array)).all():
        row = int(np.argmin(finite))
        hint = "Drop such rows or fill them in." if np.isnan(array[row]) else ""
        got = f"{float(array[row])!r} in row {row} of the column {show(column)}"
        raise _refusal(name, got.replace("nan", "NaN"), "a finite number", hint)
    return array


def _is_number(entry: object) -> bool:
    return isinstance(entry, int | float)


def _csv(text: str, name: str, labels: Sequence[str] = ()) -> Table:
    lines = text.rstrip().splitlines()
    if len(lines) < 2:
        raise _refusal(name, f"{len(lines)} lines", "a header and at least one row")
    headers = [cell.strip() for cell in lines[0].split(",")]
    hint = "Use commas between cells and a point in numbers." if ";" in lines[0] else "The first row names the columns."
    if any(re.fullmatch(r"[-+.0-9eE ]*", header) for header in headers):
        raise InputError([Problem(name, 1, 1, "", show(lines[0]), "a header of names", hint)])
    if named := [place for place, header in enumerate(headers) if split_header(header)[0] in labels]:
        return _labelled(lines, headers, named, name)
    try:
        rows = np.loadtxt(io.StringIO("\n".join(lines[1:])), delimiter=",", ndmin=2, comments=None)
    except ValueError:
        rows = np.empty((0, 0))
    if rows.shape == (len(lines) - 1, len(headers)) and np.isfinite(rows).all():
        return table(zip(headers, rows.T, strict=True), name)
    for number, line in enumerate(lines[1:], 2):
        cells = [cell.strip() for cell in line.split(",")]
        if len(cells) != len(headers):
            raise InputError([Problem(name, number, 1, "", f"{len(cells)} cells", f"{len(headers)} cells", hint)])
        for column, cell in enumerate(cells):
            if not _finite(cell):
                got = show(cell) if cell else "an empty cell"
                raise InputError([Problem(name, number, column + 1, headers[column], got, "a finite number")])
    raise _refusal(name, "text that is no table", "comma-separated numbers below a header")


def _labelled(lines: Sequence[str], headers: Sequence[str], named: Sequence[int], name: str) -> Table:
    """A table some of whose columns may be texts: these are, where any of their cells is no number."""
    rows = list(csv.reader(lines[1:], skipinitialspace=True))
    for number, row in enumerate(rows, 2):
        if len(row) != len(headers):
            hint = "Put a text with a comma between quotation marks."
            raise InputError([Problem(name, number, 1, "", f"{len(row)} cells", f"{len(headers)} cells", hint)])
    texts: dict[str, Sequence[str]] = {}
    for place in named:
        cells = [row[place].strip() for row in rows]
        if all(map(_finite, cells)):
            continue
        for number, cell in enumerate(cells, 2):
            if not cell or len(cell) > MAX_TEXT or not cell.isprintable() or _finite(cell):
                got = f"{'the number ' * _finite(cell)}{show(cell)}" if cell else "an empty cell"
                rule = f"a text of at most {MAX_TEXT} printable characters, as others here are no numbers"
                raise InputError([Problem(name, number, place + 1, headers[place], got, rule)])
        texts[split_header(headers[place])[0]] = cells
        for row in rows:
            row[place] = "0"  # so that other cells keep their places in messages
    numbers = _csv("\n".join(",".join(row) for row in [headers, *rows]), name)
    return replace(numbers, columns={key: x for key, x in numbers.columns.items() if key not in texts}, texts=texts)


def _finite(cell: str) -> bool:
    try:
        return bool(np.isfinite(float(cell))) and "_" not in cell
    except ValueError:
        return False


def _npy(data: bytes, name: str, positions: Sequence[str]) -> Table:
    array = _loaded(data, name)
    if names := array.dtype.names:
        columns: Any = array
        return table(((column, columns[column]) for column in names), name)
    if not positions:
        hint = "Save a structured array, or a .npz with an array for each name."
        raise _refusal(name, f"an array of shape {array.shape} without names", "columns with names", hint)
    if array.ndim != 2 or array.shape[1] != len(positions):
        rule = f"shape (points, {len(positions)}): {', '.join(positions)}"
        raise _refusal(name, f"an array of shape {array.shape}", rule)
    return table(zip(positions, array.T, strict=True), name)


def _npz(data: bytes, name: str) -> Table:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
            if size > TABLE_BYTES:
                raise _refusal(name, f"{size >> 20} MiB unpacked", f"at most {TABLE_BYTES >> 20} MiB")
            entries = {entry: archive.read(entry) for entry in archive.namelist()}
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise _refusal(name, f"a file that cannot be read ({error})", "arrays by name, as numpy.savez writes") from None
    return table(((entry.removesuffix(".npy"), _loaded(part, name)) for entry, part in entries.items()), name)


def _loaded(data: bytes, name: str) -> NDArray[np.generic]:
    try:
        array = np.load(io.BytesIO(data), allow_pickle=False)
    except Exception as error:  # whatever NumPy makes of bytes that are not its own
        raise _refusal(name, f"a file that cannot be read ({error})", "an array as numpy.save writes") from None
    if not isinstance(array, np.ndarray):
        raise _refusal(name, "an archive", "an array as numpy.save writes", "Name it .npz.")
    return array


def _parquet(data: bytes, name: str) -> Table:
    try:
        from pyarrow import parquet
    except ImportError:
        hint = "Install it: pip install 'limbsweep[parquet]'"
        raise _refusal(name, "a Parquet file", "the package pyarrow to be installed", hint) from None
    try:
        read = parquet.read_table(io.BytesIO(data))
    except Exception as error:  # whatever pyarrow makes of bytes that are not its own
        text = " ".join(str(error).split())[:120]
        raise _refusal(name, f"a file that cannot be read ({text})", "a Parquet file") from None
    columns = [(column, read[column].to_numpy()) for column in read.column_names if not column.startswith("__index_")]
    return table(columns, name)


def packed(columns: Mapping[str, Array]) -> bytes:
    """The content of a .npz file with these columns: the same bytes for the same columns."""
    stream = io.BytesIO()
    np.savez(stream, allow_pickle=False, **dict(columns))
    return stream.getvalue()


def _refusal(name: str, got: str, expected: str, hint: str = "") -> InputError:
    return InputError([Problem(name, 0, 0, "", got, expected, hint)])
