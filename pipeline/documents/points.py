"""Parse the points of a trajectory from CSV text."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pipeline.documents.tables.table import split_header
from pipeline.documents.units import UNITS, Unit, check_unit
from pipeline.errors import LIMIT, InputError, Problem, show
from robots.parameters import LARGEST

SHORTEST = 1e-9
"""Seconds between two points: a spline divides by powers of them."""

_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")


def parse_points(text: str, name: str, columns: Sequence[str], units: Sequence[str] = ()) -> NDArray[np.float64]:
    """Parse the points of a trajectory, (points, columns): t [s], which increases strictly, then coordinates.

    Comma-separated, with a header of the names in `columns`, in any order; if their SI `units` are given, a name may be
    followed by another unit in brackets. Raises InputError with row and column for every bad cell.
    """
    lines = text.rstrip().splitlines() or [""]
    header = tuple(cell.strip() for cell in lines[0].split(","))
    names = tuple(split_header(cell)[0] for cell in header) if units else header
    if len(names) != len(columns) or {*names} != {*columns}:
        hint = "Use commas, not semicolons." if ";" in lines[0] else "The first row names the columns."
        raise InputError([Problem(name, 1, 1, "", show(",".join(header)), f"the header {','.join(columns)}", hint)])
    scales = [_scale(cell, dict(zip(columns, units, strict=True)), name) for cell in header] if units else []
    points = np.full((len(lines) - 1, len(columns)), np.nan)
    problems: list[Problem] = []
    for row, line in enumerate(lines[1:]):
        points[row], wrong = _read_row(line, row + 2, name, names)
        problems += wrong
        if len(problems) >= LIMIT:
            break
    for column, scale in enumerate(scales):
        points[:, column] = points[:, column] * scale.factor / scale.divisor
    points = np.ascontiguousarray(points[:, [names.index(column) for column in columns]])
    problems = problems or list(time_problems(points[:, 0], name))
    if problems:
        raise InputError(problems[:LIMIT])
    return points


def _scale(header: str, measured: Mapping[str, str], name: str) -> Unit:
    """Return the unit of a column. Raises InputError."""
    column, unit = split_header(header)
    if unit and (wrong := check_unit(unit, measured[column])):
        raise InputError([Problem(name, 1, 1, column, show(unit), *wrong)])
    return UNITS[unit or "1"]


def _read_row(line: str, number: int, name: str, columns: Sequence[str]) -> tuple[list[float], list[Problem]]:
    """Parse the numbers of a line, (columns,), NaN for cells that have none, and the problems of these."""
    cells, wanted = [cell.strip() for cell in line.split(",")], len(columns)
    values = [math.nan] * wanted
    if len(cells) != wanted:
        hint = "Use commas between cells and a point in numbers." if len(cells) > wanted or ";" in line else ""
        rule = f"{wanted} cells: {','.join(columns)}"
        return values, [Problem(name, number, 1, "", f"{len(cells)} cells", rule, hint)]
    problems = []
    for column, cell in enumerate(cells):
        value = float(cell) if _NUMBER.fullmatch(cell) else math.nan
        if not abs(value) <= LARGEST:
            got = show(cell) if cell else "an empty cell"
            rule = "a finite number" + (f" of at most {LARGEST:g} in size" if math.isfinite(value) else "")
            problems.append(Problem(name, number, column + 1, columns[column], got, rule))
        values[column] = value
    return values, problems


def time_problems(times: NDArray[np.float64], name: str, first_row: int = 2) -> Iterator[Problem]:
    """Yield the problems of times that should increase; the first time stands in row `first_row` of the file."""
    if len(times) < 2:
        yield Problem(name, 0, 0, "", f"{len(times)} points", "at least 2 points")
    for row in np.flatnonzero(np.diff(times) < SHORTEST)[:LIMIT]:
        rule = f"a time later than {float(times[row])!r} of the row before, by {SHORTEST:g} s at least"
        yield Problem(name, int(row) + 1 + first_row, 1, "t", repr(float(times[row + 1])), rule)
