"""Recordings in lines of JSON: an object or a list of numbers for each row, nested objects by path.

Rows that are no JSON have no numbers (NaN) and keep their place; they are counted. A last row that was cut off is
dropped. Of each row the columns that are used are kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import IO, Any

import numpy as np

from pipeline.documents.tables.columns import Bounds, Columns, ReadColumns, unit_in_name
from pipeline.documents.tables.torn import check_torn
from pipeline.documents.units import UNITS
from pipeline.errors import refused, size

HEAD = 100
"""Rows whose columns are listed."""
PIECE = 4096
"""Rows whose numbers are counted at a time."""


def open_json_lines(stream: IO[bytes], file: str, bounds: Bounds) -> Columns:
    """Return the columns of lines of JSON. Raises InputError."""
    names: dict[str, None] = {}
    for number, (line, _) in enumerate(_lines(stream, file, bounds)):
        if number == HEAD:
            break
        if (row := _row(line, bounds)) is not None:
            names |= dict.fromkeys(row)
            bounds.check_columns(file, len(names))
    if not names:
        raise refused(file, "no row with a number", 'lines of JSON, such as {"t": 0.1, "q": [1, 2]}')

    def read(used: Sequence[str]) -> ReadColumns:
        stream.seek(0)
        return _read(stream, file, used, bounds)

    pairs = ((name, unit_in_name(name)[1]) for name in names)
    return Columns(file, tuple(names), read, {name: unit for name, unit in pairs if unit in UNITS})


def _read(stream: IO[bytes], file: str, used: Sequence[str], bounds: Bounds) -> ReadColumns:
    parts: list[np.ndarray] = []
    rows: list[list[float]] = []
    torn, count, ends_open = [], 0, False
    for line, is_whole in _lines(stream, file, bounds):
        row = _row(line, bounds)
        if row is None:
            torn.append(count)
        rows.append([(row or {}).get(name, np.nan) for name in used])
        count, ends_open = count + 1, not is_whole
        if len(rows) == PIECE:
            bounds.check_values(file, [("its rows", (count, len(used)), 8)])
            parts.append(np.array(rows))
            rows = []
    if rows:
        parts.append(np.array(rows))
    values = np.concatenate(parts).reshape(count, len(used))
    is_cut = bool(ends_open and torn and torn[-1] == count - 1)
    if is_cut:
        torn.pop()
        values = values[:-1]
    notes = check_torn(file, torn, count, "rows of JSON", is_cut=is_cut)
    return ReadColumns({name: values[:, k].copy() for k, name in enumerate(used)}, notes)


def _lines(stream: IO[bytes], file: str, bounds: Bounds) -> Iterator[tuple[bytes, bool]]:
    """Yield lines that are not empty, and whether each ends with a line feed. Raises InputError for long ones."""
    total = 0
    while line := stream.readline(bounds.line + 1):
        total += len(line)
        if len(line) > bounds.line:
            raise refused(file, f"a line longer than {size(bounds.line)}", "a row in each line")
        if total > bounds.text:
            hint = "Save it as Parquet, or cut it into several files."
            raise refused(file, f"more than {size(bounds.text)} of text", "at most that", hint)
        if line.strip():
            yield line, line.endswith(b"\n")


def _row(line: bytes, bounds: Bounds) -> dict[str, float] | None:
    """Return the numbers of a line by name, None where it is no JSON or too deep."""
    try:
        found = json.loads(line)
        return dict(_numbers(found, "", bounds.depth)) if isinstance(found, dict | list) else None
    except (ValueError, RecursionError, OverflowError):
        return None


def _numbers(value: Any, path: str, depth: int) -> Iterator[tuple[str, float]]:
    """Yield the numbers of a value by path: `arm.q[1]`; those of a list that is a whole row by their place."""
    if depth < 0:
        raise RecursionError(path)
    if isinstance(value, dict):
        for name, entry in value.items():
            yield from _numbers(entry, f"{path}.{name}" if path else str(name), depth - 1)
    elif isinstance(value, list):
        for k, entry in enumerate(value):
            yield from _numbers(entry, f"{path}[{k + 1}]" if path else str(k + 1), depth - 1)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path, float(value)
