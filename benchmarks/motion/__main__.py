"""Long checks of motion from forces, robots by laws of friction.

`python -m benchmarks.motion TABLE [ROBOT ...]` prints rows and keeps them in `runs/motion`; with `--page` it
writes those that are kept into docs/motion_checks.md and computes nothing.
"""

from __future__ import annotations

import argparse
from types import ModuleType

from benchmarks.motion import energy, loads, rest, round_trip, tables

TABLES: dict[str, ModuleType] = {"energy": energy, "loads": loads, "rest": rest, "round_trip": round_trip}


def main() -> None:
    """Compute a table, or write it into its page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.motion", description=__doc__)
    parser.add_argument("table", choices=TABLES)
    parser.add_argument("robots", nargs="*", help="names of robots (absent: all of the table)")
    parser.add_argument("--page", action="store_true", help="write the rows that are kept into the documentation")
    options = parser.parse_args()
    chosen = TABLES[options.table]
    if options.page:
        tables.write(options.table, chosen.HEAD)
        return
    print(" | ".join(chosen.HEAD))
    for row in tables.keep(options.table, chosen.rows(options.robots)):
        print(" | ".join((*row.about, *row.cells)), flush=True)


if __name__ == "__main__":
    main()
