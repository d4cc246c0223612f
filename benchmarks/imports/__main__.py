"""`python -m benchmarks.imports` prints the table."""

from __future__ import annotations

import argparse
import os
import random
import sys
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from benchmarks import COMPILE
from benchmarks.imports.sources import Source, below, files
from benchmarks.imports.table import Import, imported, table


def main(arguments: list[str]) -> int:
    """Print the table; the exit status is 1 where a file is wrong, or refused wrongly."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "files", nargs="*", type=Path, help="URDF, SDF or MJCF files; default: those of installed packages"
    )
    parser.add_argument("--no-compare", action="store_true", help="only whether they are accepted")
    parser.add_argument(
        "--corpus", type=Path, action="append", default=[], metavar="FOLDER", help="all such files below a folder"
    )
    parser.add_argument("--arg", action="append", default=[], metavar="NAME:=VALUE", help="argument of their macros")
    parser.add_argument("--draw", type=int, metavar="N", help="at most so many files of each package, drawn at random")
    parser.add_argument("--faults", action="store_true", help="rows of what is wrong or refused wrongly alone")
    stated = parser.parse_args(arguments)
    sources = list(map(Source, stated.files))
    macros = dict(pair.split(":=", 1) for pair in stated.arg)
    sources += chain.from_iterable(below(folder, macros) for folder in stated.corpus)
    sources = sources or list(files())
    if stated.draw is not None:
        sources = drawn(sources, stated.draw)
    os.environ[COMPILE] = ""  # samples are few: programs run as bytecode, with the same bits
    rows = list[Import]()
    for line in table(
        _noted(rows, (imported(each, not stated.no_compare) for each in sources)), whole=not stated.faults
    ):
        print(line, flush=True)
    return int(any(row.verdict in ("wrong", "refused wrongly") for row in rows))


def _noted(rows: list[Import], results: Iterable[Import]) -> Iterator[Import]:
    """Give the results, and append each to a list."""
    for row in results:
        rows.append(row)
        yield row


def drawn(sources: list[Source], count: int) -> list[Source]:
    """Return at most so many files of each package."""
    mixed, result = random.Random(count).sample(sources, len(sources)), dict[str, list[Source]]()
    for source in mixed:
        result.setdefault(source.package, []).append(source)
    return sorted(chain.from_iterable(each[:count] for each in result.values()), key=lambda each: each.path)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
