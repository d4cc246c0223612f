"""Write CSV files whose texts no spreadsheet takes for formulas.

A spreadsheet runs a cell that begins with `=`, and most run `+`, `-`, `@`, tab and carriage return too, quoted or not.
Names in a store may come from a stranger, so such a text gets an apostrophe in front, by which a spreadsheet knows
text. Numbers stay numbers, also those that were formatted before.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from typing import IO

_FORMULA = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20\t\r\n]")
"""The last four before the tab are the wide ones, which spreadsheets take for the others."""

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|nan)", re.ASCII)


class CellWriter:
    """A writer of rows, as `csv.writer` makes."""

    def __init__(self, file: IO[str]) -> None:
        self._rows = csv.writer(file)

    def writerow(self, row: Iterable[object]) -> None:
        """Write one row."""
        self.writerows([row])

    def writerows(self, rows: Iterable[Iterable[object]]) -> None:
        """Write rows."""
        self._rows.writerows([cell(value) if isinstance(value, str) else value for value in row] for row in rows)


def cell(text: str) -> str:
    """A text as it stands in a cell: an apostrophe before what would be a formula, unless it is a number."""
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text
