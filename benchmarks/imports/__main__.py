"""`python -m benchmarks.imports` prints the table."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.imports.table import below, files, imported, table


def main(arguments: Sequence[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "files", nargs="*", type=Path, help="URDF, SDF or MJCF files; default: those of installed packages"
    )
    parser.add_argument("--no-compare", action="store_true", help="only whether they are accepted")
    parser.add_argument("--corpus", type=Path, metavar="FOLDER", help="all such files below a folder")
    stated = parser.parse_args(arguments)
    chosen: Iterable[tuple[str, Path]] = (("", path) for path in stated.files) if stated.files else files()
    if stated.corpus is not None:
        chosen = below(stated.corpus)
    for line in table(imported(path, not stated.no_compare, package) for package, path in chosen):
        print(line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
