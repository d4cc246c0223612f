"""Results of imports kept as lines of JSON, so that counts over many files can be made in pieces."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from benchmarks.imports.comparison import Errors
from benchmarks.imports.sources import Source
from benchmarks.imports.table import Import


class Results:
    """Rows of a table by the path of their file, and the file that keeps them, a line for each.

    The kept rows of files that are counted again with other sources of limbsweep are removed by hand: a line each.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        lines = path.read_text("utf-8").splitlines() if path is not None and path.is_file() else ()
        self._rows = {row.path: row for row in map(_row, lines)}

    def __contains__(self, source: Source) -> bool:
        return source.path in self._rows

    def __getitem__(self, source: Source) -> Import:
        return self._rows[source.path]

    def add(self, row: Import) -> None:
        """Keep a row, at once also in the file."""
        self._rows[row.path] = row
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps({**asdict(row), "path": str(row.path)}) + "\n")


def _row(line: str) -> Import:
    entry = json.loads(line)
    errors = None if entry["errors"] is None else Errors(*entry["errors"])
    return Import(**{**entry, "path": Path(entry["path"]), "errors": errors})
