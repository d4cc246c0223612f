"""Recordings in text: with or without header, four delimiters, decimal commas, units, empty cells, torn rows.

Rows that are not whole have no numbers (NaN) and keep their place, so that time by a rate stays right; they are
counted.
A last row that was cut off is dropped. The file is read in pieces, and of each row the columns that are used.
"""

from __future__ import annotations

import codecs
import itertools
import math
import re
import warnings
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import IO

import numpy as np

from pipeline.documents.file_kinds import looks_binary
from pipeline.documents.tables.columns import Array, Bounds, Columns, ReadColumns, unit_in_name
from pipeline.documents.tables.torn import check_torn
from pipeline.documents.units import UNITS
from pipeline.errors import refused, size
from robots.data_classes import dataclass, field

DELIMITERS = (";", "\t", ",", None)
COMMENTS = ("#", "%")
PIECE = 4 << 20
"""Bytes that are read at a time."""
HEAD = 200
"""Lines in which the first row of numbers stands, at the latest."""
OTHER_UNITS = (
    "A",
    "mA",
    "V",
    "W",
    "Hz",
    "rad/s^2",
    "m/s^2",
    "deg/s^2",
    "°",
    "°/s",
    "°C",
    "%",
    "inc",
)
"""Units that a row of units may have and that convert to none of a signal."""
DATED = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}")
NOTHING = ("", "nan", "na", "n/a", "#n/a", "null", "none", "-", "--", "?", "inf", "-inf", "+inf")
"""Texts that stand for a missing number."""


@dataclass(frozen=True)
class TextLayout:
    """Layout of a text: encoding, delimiter (None: blanks), decimal commas, names, units, number of the first row."""

    encoding: str
    delimiter: str | None
    has_commas: bool
    names: tuple[str, ...]
    units: tuple[str, ...]
    first: int

    def cells(self, line: str) -> list[str]:
        """Return the cells of a line, without quotation marks and blanks."""
        return _cells(line, self.delimiter, self.has_commas)

    def is_whole(self, line: str) -> bool:
        """Return whether a line has as many cells as there are columns."""
        if self.delimiter is None:
            return len(line.split()) == len(self.names)
        return line.count(self.delimiter) == len(self.names) - 1


def open_text(stream: IO[bytes], file: str, bounds: Bounds) -> Columns:
    """Return the columns of a text. Raises InputError."""
    head = stream.read(bounds.line)
    if kind := looks_binary(head):
        raise refused(file, f"binary data that look like {kind}", "text", "Unpack or convert it first.")
    if len(head) == bounds.line and not {b"\n"[0], b"\r"[0]} & set(head):
        raise refused(file, f"a line longer than {size(bounds.line)}", "rows of numbers")
    layout = _layout(head, file, bounds)

    def read(names: Sequence[str]) -> ReadColumns:
        stream.seek(0)
        return _Rows(file, layout, [layout.names.index(name) for name in names], bounds).read(stream)

    known = {*UNITS, *OTHER_UNITS} - {"1"}
    units = {name: unit for name, unit in zip(layout.names, layout.units, strict=True) if unit in known}
    return Columns(file, layout.names, read, units)


def _layout(head: bytes, file: str, bounds: Bounds) -> TextLayout:
    encoding = _encoding(head)
    lines = head.decode(encoding, errors="replace").splitlines()[:HEAD]
    if not any(line.strip() and not line.startswith(COMMENTS) for line in lines):
        raise refused(file, "no lines but comments" if lines else "no lines", "rows of numbers")
    for first_row, delimiter in itertools.product((_first_row, _first_mixed_row), DELIMITERS):
        if (found := first_row(lines, delimiter)) is not None:
            break
    else:
        words = next(line for line in lines if line.strip() and not line.startswith(COMMENTS))
        raise refused(file, f"no row of numbers, and {words[:60]!r} first", "rows of as many numbers")
    first, has_commas = found
    count = len(_cells(lines[first], delimiter, has_commas))
    bounds.check_columns(file, count)
    names, units = _header(lines[:first], delimiter, count)
    if len(set(names)) < count:
        twice = next(name for k, name in enumerate(names) if name in names[:k])
        raise refused(file, f"two columns {twice!r}", "a name for each column", "Rename one of them.")
    return TextLayout(encoding, delimiter, has_commas, names, units, first)


def _encoding(head: bytes) -> str:
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    try:
        head[: len(head) - 4].decode("utf-8-sig")
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8-sig"


def _first_row(lines: Sequence[str], delimiter: str | None) -> tuple[int, bool] | None:
    """Return the number of the first row of numbers, and whether its numbers have decimal commas."""
    for number, line in enumerate(lines):
        if not line.strip() or line.startswith(COMMENTS):
            continue
        for has_commas in (False, True) if delimiter != "," else (False,):
            cells = _cells(line, delimiter, has_commas)
            is_split = delimiter is None or len(cells) > 1
            if is_split and any(map(_is_number, cells)) and all(_is_number(x) or x.lower() in NOTHING for x in cells):
                return number, has_commas or _has_commas_later(lines[number:], delimiter)
    return None


def _first_mixed_row(lines: Sequence[str], delimiter: str | None) -> tuple[int, bool] | None:
    """Return the same where some columns have texts: rows of several numbers, in the same places of many rows."""
    for has_commas in (False, True) if delimiter != "," else (False,):
        rows = [
            (number, _cells(line, delimiter, has_commas))
            for number, line in enumerate(lines)
            if line.strip() and not line.startswith(COMMENTS)
        ]
        last = [_is_number(cell) for cell in rows[-2 if len(rows) > 2 else -1][1]]  # the last line may be cut
        same = [number for number, cells in rows if [_is_number(cell) for cell in cells] == last]
        if sum(last) > 1 and 2 * len(same) > len(rows):
            return same[0], has_commas or _has_commas_later(lines[same[0] :], delimiter)
    return None


def _has_commas_later(lines: Sequence[str], delimiter: str | None) -> bool:
    """Return whether some number has a decimal comma, as the first row may have whole numbers alone."""
    pattern = re.compile(r"[-+]?[0-9]+,[0-9]+([eE][-+]?[0-9]+)?")
    return delimiter != "," and any(pattern.fullmatch(x) for line in lines for x in _cells(line, delimiter, False))


def _header(lines: Sequence[str], delimiter: str | None, count: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return names and units of columns by the lines above the first row; columns without a name have their number."""
    rows = [[line.strip("#% ")] if count == 1 else _cells(line.lstrip("#% "), delimiter, False) for line in lines]
    rows = [cells for cells in rows if len(cells) == count and any(cells)]
    units = ("",) * count
    if len(rows) > 1 and all(cell.strip("[]() ") in (*UNITS, *OTHER_UNITS, "", "-") for cell in rows[-1]):
        units = tuple(cell.strip("[]() -") for cell in rows.pop())
    if not rows:
        return tuple(str(k + 1) for k in range(count)), units
    names = tuple(cell or str(k + 1) for k, cell in enumerate(rows[-1]))
    return names, tuple(unit or unit_in_name(name)[1] for name, unit in zip(names, units, strict=True))


def _cells(line: str, delimiter: str | None, has_commas: bool) -> list[str]:
    text = line.replace(",", ".") if has_commas else line
    return [cell.strip().strip('"').strip() for cell in text.split(delimiter)]


def _value(cell: str) -> float:
    """Return the number in a cell, NaN for a missing one; of a date with a time seconds. Raises ValueError."""
    if cell.lower() in NOTHING:
        return math.nan
    if _is_number(cell):
        return float(cell)
    if not DATED.match(cell):
        raise ValueError(cell)
    moment = datetime.fromisoformat(cell)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _is_number(cell: str) -> bool:
    try:
        return math.isfinite(float(cell)) and "_" not in cell
    except ValueError:
        return False


@dataclass
class _Rows:
    """Rows of some columns of a text, read piece by piece."""

    file: str
    layout: TextLayout
    places: Sequence[int]
    bounds: Bounds
    count: int = 0
    ends_open: bool = False
    torn: list[int] = field(default_factory=list)

    def read(self, stream: IO[bytes]) -> ReadColumns:
        parts = [self._piece(lines, number) for lines, number in self._pieces(stream)]
        parts = [part for part in parts if len(part)]
        if not parts:
            raise refused(self.file, "no rows", "rows of numbers")
        columns = {self.layout.names[place]: np.concatenate([part[:, k] for part in parts])
                   for k, place in enumerate(self.places)}  # fmt: skip
        is_cut = bool(self.ends_open and self.torn and self.torn[-1] == self.count - 1)
        if is_cut:
            self.torn.pop()
            columns = {name: values[:-1] for name, values in columns.items()}
        expected = f"rows of {len(self.layout.names)} numbers"
        return ReadColumns(columns, check_torn(self.file, self.torn, self.count, expected, is_cut=is_cut))

    def _pieces(self, stream: IO[bytes]) -> Iterator[tuple[list[str], int]]:
        """Yield whole lines of the text in pieces, without comments and empty ones, and the row number of the first."""
        left, skipped, number = "", self.layout.first, 0
        decoder = codecs.getincrementaldecoder(self.layout.encoding)(errors="replace")
        total = 0
        while data := stream.read(PIECE):
            if (total := total + len(data)) > self.bounds.text:
                hint = "Save it as Parquet, or cut it into several files."
                raise refused(self.file, f"more than {size(self.bounds.text)} of text", "at most that", hint)
            *lines, left = (left + self._decoded(decoder, data)).split("\n")
            if len(left) > self.bounds.line:
                raise refused(self.file, f"a line longer than {size(self.bounds.line)}", "rows of numbers")
            lines, skipped = lines[skipped:], max(skipped - len(lines), 0)
            kept = [line for line in lines if line.strip() and not line.startswith(COMMENTS)]
            yield kept, number
            number += len(kept)
        if left.strip() and not skipped and not left.startswith(COMMENTS):
            self.ends_open = True
            yield [left], number

    def _decoded(self, decoder: codecs.IncrementalDecoder, data: bytes) -> str:
        text = decoder.decode(data)
        if "\0" in text:
            raise refused(self.file, "a NUL character", "text")
        return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text

    def _piece(self, lines: Sequence[str], number: int) -> Array:
        """Return the numbers (row, used column) of some lines; NaN in torn rows and empty cells. Raises InputError."""
        self.count = number + len(lines)
        self.bounds.check_values(self.file, [("its rows", (self.count, len(self.places)), 8)])
        if self.layout.has_commas:
            lines = [line.replace(",", ".") for line in lines]
        if lines and all(map(self.layout.is_whole, lines)):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    return np.loadtxt(lines, delimiter=self.layout.delimiter, usecols=self.places, ndmin=2,
                                      comments=None, quotechar='"')  # fmt: skip
            except (ValueError, Warning):
                pass  # empty cells, or others without a number: one by one
        result = np.full((len(lines), len(self.places)), np.nan)
        for k, line in enumerate(lines):
            row = self._row(line)
            if row is None:
                self.torn.append(number + k)
            else:
                result[k] = row
        return result

    def _row(self, line: str) -> list[float] | None:
        """Return the numbers of a line, None where it is torn."""
        cells = self.layout.cells(line)
        if len(cells) != len(self.layout.names):
            return None
        try:
            return [_value(cells[place]) for place in self.places]
        except ValueError:
            return None
