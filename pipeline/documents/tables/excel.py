"""Recordings in workbooks of Excel: each sheet is read as the text that Excel would save, with tabs between cells.

So headings, rows of units, empty cells and decimal commas are those of `pipeline.documents.tables.text`. Formulas have
the values that were saved with them; dates are times, durations seconds. Where several sheets are tables, a column is
named `sheet/name`.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, time, timedelta
from typing import IO, Any

from pipeline.documents.tables.columns import Array, Bounds, Columns, ReadColumns, of_kind
from pipeline.documents.tables.text import open_text
from pipeline.errors import InputError, refused, size
from robots.data_classes import dataclass
from robots.extras import require_extra

KIND = ("workbook", "a workbook of Excel")
OLD = b"\xd0\xcf\x11\xe0"
"""First bytes of workbooks of Excel before 2007, and of those with a password."""
EMPTY = ("", None)


@dataclass(frozen=True)
class _Sheet:
    """A sheet that is a table: its name and columns."""

    name: str
    columns: Columns


def open_excel(stream: IO[bytes], file: str, bounds: Bounds) -> Columns:
    """Return the columns of the sheets of a workbook that are tables, each read as a text. Raises InputError."""
    require_extra("openpyxl")
    _check_archive(stream, file, bounds)
    import openpyxl

    with of_kind(file, *KIND):
        book = openpyxl.load_workbook(stream, read_only=True, data_only=True, keep_links=False)
        texts = {sheet.title: _text(sheet, file, bounds) for sheet in book.worksheets}
    sheets = list(_tables(texts, file, bounds))
    if len(sheets) == 1:
        return sheets[0].columns
    return _joined(sheets, file)


def _check_archive(stream: IO[bytes], file: str, bounds: Bounds) -> None:
    """Check the sizes of a workbook, which is a ZIP archive, and that its parts unpack to no more than they declare."""
    head = stream.read(len(OLD))
    stream.seek(0)
    if head == OLD:
        got = "a workbook with a password, or of Excel before 2007"
        raise refused(file, got, "a workbook as .xlsx without password", "Save it so, or as CSV.")
    with of_kind(file, *KIND):
        archive = zipfile.ZipFile(stream)
        parts = archive.infolist()
        bounds.check_members(file, len(parts), "parts")
        if (whole := sum(part.file_size for part in parts)) > bounds.text:
            hint = "Save its table as Parquet, or cut it into several files."
            raise refused(file, f"{size(whole)} unpacked", f"at most {size(bounds.text)}", hint)
        if (damaged := archive.testzip()) is not None:
            raise refused(file, f"a workbook whose part {damaged} is damaged", "a whole workbook")
    stream.seek(0)


def _text(sheet: Any, file: str, bounds: Bounds) -> bytes:
    """Return a sheet as lines of cells with tabs between; columns without any cell are left out."""
    sheet.reset_dimensions()  # the declared dimensions may be wrong
    lines: list[list[str]] = []
    used: set[int] = set()
    cells = 0
    for row in sheet.iter_rows(values_only=True):
        if all(value in EMPTY for value in row):
            continue
        bounds.check_columns(file, len(row))
        bounds.check_values(file, [(f"the sheet {sheet.title}", (cells := cells + len(row),), 8)])
        lines.append([_cell(value) for value in row])
        used.update(place for place, value in enumerate(row) if value not in EMPTY)
    places = sorted(used)
    return "".join(f"{line}\n" for line in _lines(lines, places)).encode()


def _lines(rows: Iterable[Sequence[str]], places: Sequence[int]) -> Iterator[str]:
    for row in rows:
        yield "\t".join(row[place] if place < len(row) else "" for place in places)


def _cell(value: object) -> str:
    """Return a cell as text: numbers in full, times of day and durations in seconds."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, datetime):
        return value.isoformat(" ")
    if isinstance(value, time):
        value = timedelta(hours=value.hour, minutes=value.minute, seconds=value.second, microseconds=value.microsecond)
    if isinstance(value, timedelta):
        return repr(value.total_seconds())
    return repr(value) if isinstance(value, int | float) else " ".join(str(value).split())


def _tables(texts: dict[str, bytes], file: str, bounds: Bounds) -> Iterator[_Sheet]:
    """Yield the sheets that are tables of numbers. Raises InputError where none is."""
    first: InputError | None = None
    count = 0
    for name, text in texts.items():
        if not text:
            continue
        try:
            columns = open_text(io.BytesIO(text), file, bounds)
        except InputError as refusal:
            first = first or refusal
        else:
            count += 1
            yield _Sheet(name, columns)
    if not count:
        raise first or refused(file, "a workbook without cells", "a sheet with rows of numbers")


def _joined(sheets: Sequence[_Sheet], file: str) -> Columns:
    """Return the columns of several sheets, each by the names of sheet and column."""
    places = {f"{sheet.name}/{name}": (sheet, name) for sheet in sheets for name in sheet.columns.names}
    units = {f"{sheet.name}/{name}": unit for sheet in sheets for name, unit in sheet.columns.units.items()}

    def read(names: Sequence[str]) -> ReadColumns:
        values: dict[str, Array] = {}
        notes: list[str] = []
        for sheet in sheets:
            if inside := [name for name in names if places[name][0] is sheet]:
                found = sheet.columns.read(places[name][1] for name in inside)
                values |= {name: found.columns[places[name][1]] for name in inside}
                notes += [f"sheet {sheet.name}: {note}" for note in found.notes]
        return ReadColumns({name: values[name] for name in names}, tuple(notes))

    return Columns(file, tuple(places), read, units)
