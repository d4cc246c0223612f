"""Parse the points of a trajectory from CSV text."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import LIMIT, InputError, Problem, show
from robots.parameters import LARGEST

POINTS_BYTES = 64 << 20

SHORTEST = 1e-9
"""Seconds between two points: a spline divides by powers of them."""

_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")


def parse_points(text: str, name: str, columns: Sequence[str]) -> NDArray[np.float64]:
    """Parse the points of a trajectory, (points, columns): t [s], which increases strictly, then coordinates.

    Comma-separated, with a header of the names in `columns`. Raises InputError with row and column for every bad cell.
    """
    lines = text.rstrip().splitlines() or [""]
    if (header := tuple(cell.strip() for cell in lines[0].split(","))) != tuple(columns):
        hint = "Use commas, not semicolons." if ";" in lines[0] else "The first row names the columns."
        raise InputError([Problem(name, 1, 1, "", show(",".join(header)), f"the header {','.join(columns)}", hint)])
    points = np.full((len(lines) - 1, len(columns)), np.nan)
    problems: list[Problem] = []
    for row, line in enumerate(lines[1:]):
        points[row], wrong = _read_row(line, row + 2, name, columns)
        problems += wrong
        if len(problems) >= LIMIT:
            break
    problems = problems or list(_time_problems(points[:, 0], name))
    if problems:
        raise InputError(problems[:LIMIT])
    return points


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


def _time_problems(times: NDArray[np.float64], name: str) -> Iterator[Problem]:
    if len(times) < 2:
        yield Problem(name, 0, 0, "", f"{len(times)} points", "at least 2 points")
    for row in np.flatnonzero(np.diff(times) < SHORTEST)[:LIMIT]:
        rule = f"a time later than {float(times[row])!r} of the row before, by {SHORTEST:g} s at least"
        yield Problem(name, int(row) + 3, 1, "t", repr(float(times[row + 1])), rule)
