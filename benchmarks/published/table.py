"""Table of published problems: digits of agreement, and digits of the source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from benchmarks.figures import Figure, Size, require
from benchmarks.published import chrono, exudyn, iftomm, ivp, linkages, modelica, piston, robot_r3
from benchmarks.published.rows import Result, Row

PARTS = iftomm, ivp, modelica, piston, robot_r3, chrono, exudyn, linkages
ROWS: Mapping[str, Row] = {row.name: row for part in PARTS for row in part.ROWS}


def figures(size: Size) -> Iterator[Figure]:
    """Yield the digits of every row; of the quick ones where the size is not full. Raises CheckError at the end."""
    failed = []
    for row in ROWS.values():
        if size.full or row.quick:
            result = row.result()
            yield figure(result)
            if result.verdict != "right":
                failed.append(row.name)
    yield Figure("rows that do not agree", float(len(failed)), "rows", ", ".join(failed))
    require(not failed, f"published: {', '.join(failed)}: got figures that are not those of the source")


def figure(result: Result) -> Figure:
    """Return the figure of a row."""
    row, worst = result.row, result.worst
    if worst is None:
        return Figure(row.name, None, "digits", f"refused: {result.refusal}; {row.source}")
    remark = f"{result.verdict}: {worst.what}; {row.digits:g} of the source ({row.because}); {row.source}"
    return Figure(row.name, worst.digits, "digits", remark)
