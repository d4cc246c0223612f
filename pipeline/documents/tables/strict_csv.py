"""Read CSV strictly: a header, commas, a finite number in every cell; errors have row and column.

Points of trajectories, for which every bad cell is reported, are read by `pipeline.documents.points`; recordings by
`pipeline.documents.tables.text`.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pipeline.documents.tables.table import Table, split_header, table
from pipeline.errors import InputError, Problem, refused, show

MAX_TEXT = 80
"""Characters of a text in a table."""


def parse_csv(text: str, name: str, labels: Sequence[str] = ()) -> Table:
    """Parse a table from text; columns of `labels` may be texts. Raises InputError."""
    lines = text.rstrip().splitlines()
    if len(lines) < 2:
        raise refused(name, f"{len(lines)} lines", "a header and at least one row")
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
    raise refused(name, "text that is no table", "comma-separated numbers below a header")


def _labelled(lines: Sequence[str], headers: Sequence[str], named: Sequence[int], name: str) -> Table:
    """Return a table some of whose columns may be texts: these are, where any of their cells is no number."""
    try:
        rows = list(csv.reader(lines[1:], skipinitialspace=True))
    except csv.Error as error:
        raise refused(name, f"a row that cannot be read ({error})", f"texts of at most {MAX_TEXT} characters") from None
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
    numbers = parse_csv("\n".join(",".join(row) for row in [headers, *rows]), name)
    return replace(numbers, columns={key: x for key, x in numbers.columns.items() if key not in texts}, texts=texts)


def _finite(cell: str) -> bool:
    try:
        return bool(np.isfinite(float(cell))) and "_" not in cell
    except ValueError:
        return False
