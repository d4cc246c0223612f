"""`python -m benchmarks.imports` prints the table."""

from __future__ import annotations

import argparse
import os
import random
import sys
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from benchmarks import COMPILE
from benchmarks.imports.results import Results
from benchmarks.imports.sources import Source, below, compiled_once, files
from benchmarks.imports.table import Import, has_fault, imported, is_closed, processor_time, table


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
    rows = parser.add_mutually_exclusive_group()
    rows.add_argument("--faults", action="store_const", dest="shown", const=has_fault, help="rows of faults alone")
    rows.add_argument(
        "--closed", action="store_const", dest="shown", const=is_closed, help="rows of closed robots alone"
    )
    parser.add_argument("--results", type=Path, metavar="FILE", help="keep rows; count files without one")
    parser.add_argument(
        "--minutes", type=float, default=float("inf"), help="processor time after which no file is begun"
    )
    stated = parser.parse_args(arguments)
    os.environ[COMPILE] = ""  # samples are few: programs run as bytecode, with the same bits
    sources = _sources(stated)
    results, done = Results(stated.results), list[Import]()
    end = processor_time() + 60.0 * stated.minutes

    def counted() -> Iterator[Import]:
        for source in sources:
            if source not in results:
                if processor_time() > end:
                    continue
                results.add(imported(source, not stated.no_compare))
            done.append(results[source])
            yield done[-1]

    with compiled_once():
        for line in table(counted(), *filter(None, [stated.shown])):
            print(line, flush=True)
    if len(done) < len(sources):
        print(f"{len(sources) - len(done)} files are left for another run with the same --results")
    return int(any(map(has_fault, done)))


def _sources(stated: argparse.Namespace) -> Sequence[Source]:
    """Return the files that are named, drawn where a number is."""
    macros = dict(pair.split(":=", 1) for pair in stated.arg)
    found = [*map(Source, stated.files), *chain.from_iterable(below(folder, macros) for folder in stated.corpus)]
    found = found or list(files())
    return found if stated.draw is None else drawn(found, stated.draw)


def drawn(sources: list[Source], count: int) -> list[Source]:
    """Return at most so many files of each package."""
    mixed, result = random.Random(count).sample(sources, len(sources)), dict[str, list[Source]]()
    for source in mixed:
        result.setdefault(source.package, []).append(source)
    return sorted(chain.from_iterable(each[:count] for each in result.values()), key=lambda each: each.path)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
