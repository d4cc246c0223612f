"""`python -m benchmarks.imports` prints the table."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.imports.table import Source, below, files, imported, table


def main(arguments: Sequence[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "files", nargs="*", type=Path, help="URDF, SDF or MJCF files; default: those of installed packages"
    )
    parser.add_argument("--no-compare", action="store_true", help="only whether they are accepted")
    parser.add_argument("--corpus", type=Path, metavar="FOLDER", help="all such files below a folder")
    parser.add_argument("--arg", action="append", default=[], metavar="NAME:=VALUE", help="argument of their macros")
    stated = parser.parse_args(arguments)
    sources: Iterable[Source] = map(Source, stated.files) if stated.files else files()
    if stated.corpus is not None:
        sources = below(stated.corpus, dict(pair.split(":=", 1) for pair in stated.arg))
    for line in table(imported(source, not stated.no_compare) for source in sources):
        print(line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
