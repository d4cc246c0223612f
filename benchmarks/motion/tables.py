"""Rows of tables that long checks leave behind, one by one, and the page that shows them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

FOLDER = Path("runs/motion")
PAGE = Path(__file__).parents[2] / "docs" / "motion_checks.md"


class Row(NamedTuple):
    """What a row is about, first cells of it, and the others."""

    about: tuple[str, ...]
    cells: tuple[str, ...]


def keep(name: str, rows: Iterable[Row]) -> Iterator[Row]:
    """Rows as they come, kept in the file of this table; a later one about the same takes the place of an earlier."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for row in rows:
        with (FOLDER / f"{name}.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        yield row


def kept(name: str) -> list[Row]:
    """Rows of a table, in the order in which they came first."""
    path = FOLDER / f"{name}.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    rows = (Row(tuple(about), tuple(cells)) for about, cells in map(json.loads, lines))
    return list({row.about: row for row in rows}.values())


def table(head: Sequence[str], rows: Iterable[Row]) -> Iterator[str]:
    """Lines of Markdown."""
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join((*row.about, *row.cells))} |"


def write(name: str, head: Sequence[str]) -> None:
    """Put a table between its marks on the page."""
    start, stop = f"<!-- {name}: written by python -m benchmarks.motion -->\n", f"<!-- until here: {name} -->\n"
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(start)
    after = rest.partition(stop)[2]
    lines = "\n".join(table(head, kept(name)))
    PAGE.write_text(f"{before}{start}\n{lines}\n\n{stop}{after}", encoding="utf-8")
