"""Rows of tables that long checks leave behind, one by one, and the page that shows them."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from benchmarks.figures import CheckError, require

FOLDER = Path("runs/motion")
PAGE = Path(__file__).parents[2] / "docs" / "motion_checks.md"

About = tuple[str, ...]
"""First cells of a row: its subject."""


class Row(NamedTuple):
    """Subject of a row, which is its first cells, and its other cells."""

    about: About
    cells: tuple[str, ...]


class Table(Protocol):
    """Table of a module of this folder: names of columns, subjects of rows, and the function that computes one."""

    HEAD: tuple[str, ...]

    def abouts(self, names: Sequence[str]) -> Iterator[About]:
        """Return the rows in the order of the page, of the robots of these names, or of all."""
        ...

    def cells(self, about: About) -> tuple[str, ...]:
        """Return the row, computed. Raises CheckError where it does not hold."""
        ...


def computed(
    name: str, table: Table, names: Sequence[str], again: bool = False, minutes: float = math.inf
) -> Iterator[Row]:
    """Yield the rows that are not kept yet, or all of them `again`, as they come; each is kept at once.

    Rows of fewer states than the table is to have are not kept rows. No row is begun after so many minutes: the same
    command goes on with the next ones. Raises CheckError at the end where some do not hold; these are not kept.
    """
    known, failed, begun = {} if again else kept(name, table), [], time.monotonic()
    for about in table.abouts(names):
        if about in known and _is_whole(table, known[about]):
            continue
        if time.monotonic() - begun > 60.0 * minutes:
            break
        try:
            row = Row(about, table.cells(about))
        except CheckError as error:
            failed.append(str(error))
            continue
        FOLDER.mkdir(parents=True, exist_ok=True)
        with (FOLDER / f"{name}.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        yield row
    require(not failed, "\n".join(failed))


def _is_whole(table: Table, row: Row) -> bool:
    """Return whether a row has as many states as its table is to have."""
    wanted = getattr(table, "STATES", None)
    return wanted is None or int(row.cells[table.HEAD.index("states") - len(row.about)]) >= wanted


def kept(name: str, table: Table) -> dict[About, Row]:
    """Return the rows of a table, on the page and later ones, which replace them, in the order of the page."""
    path = FOLDER / f"{name}.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    later = (Row(tuple(about), tuple(cells)) for about, cells in map(json.loads, lines))
    rows = {row.about: row for row in (*_on_page(name, table), *later)}
    return {about: rows[about] for about in table.abouts(()) if about in rows}


def _on_page(name: str, table: Table) -> Iterator[Row]:
    """Yield the rows of the page whose columns are still these."""
    texts = [line[1:-1].split("|") for line in _parts(name)[1].splitlines() if line.startswith("|")]
    lines = [tuple(cell.strip() for cell in cells) for cells in texts]
    first = len(next(table.abouts(())))
    if lines and lines[0] == table.HEAD:
        yield from (Row(cells[:first], cells[first:]) for cells in lines[2:])


def _marks(name: str) -> tuple[str, str]:
    return f"<!-- {name}: written by python -m benchmarks.motion -->\n", f"<!-- until here: {name} -->\n"


def _parts(name: str) -> tuple[str, str, str]:
    """Return the page before a table, the table, and the page after it, without marks."""
    start, stop = _marks(name)
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(start)
    return before, *rest.partition(stop)[::2]


def _lines(head: Sequence[str], rows: Iterable[Row]) -> Iterator[str]:
    """Yield the lines of Markdown."""
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join((*row.about, *row.cells))} |"


def write(name: str, table: Table) -> None:
    """Put a table between its marks on the page."""
    rows = kept(name, table).values()
    before, _, after = _parts(name)
    start, stop = _marks(name)
    lines = "\n".join(_lines(table.HEAD, rows))
    PAGE.write_text(f"{before}{start}\n{lines}\n\n{stop}{after}", encoding="utf-8")
