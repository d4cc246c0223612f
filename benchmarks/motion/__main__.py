"""Long checks of motion from forces, robots by laws of friction.

`python -m benchmarks.motion TABLE [ROBOT ...]` prints rows that are not on the page yet (with `--again` also the
others), and keeps them in `runs/motion`, also in pieces of some `--minutes`. With `--page` it writes all kept rows into
docs/motion_checks.md and computes nothing.
"""

from __future__ import annotations

import argparse
import math
from typing import cast

from benchmarks.motion import (
    combinations,
    conditions,
    energy,
    given,
    jamming,
    loads,
    rest,
    round_trip,
    singular,
    tables,
    through,
)

TABLES = {
    "combinations": cast(tables.Table, combinations),
    "conditions": cast(tables.Table, conditions),
    "energy": cast(tables.Table, energy),
    "given": cast(tables.Table, given),
    "jamming": cast(tables.Table, jamming),
    "loads": cast(tables.Table, loads),
    "rest": cast(tables.Table, rest),
    "round_trip": cast(tables.Table, round_trip),
    "singular": cast(tables.Table, singular),
    "through": cast(tables.Table, through),
}


def main() -> None:
    """Compute a table, or write it into its page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.motion", description=__doc__)
    parser.add_argument("table", choices=TABLES)
    parser.add_argument("robots", nargs="*", help="names of robots (absent: all of the table)")
    parser.add_argument("--again", action="store_true", help="compute rows that are kept already, too")
    parser.add_argument("--page", action="store_true", help="write the rows that are kept into the documentation")
    parser.add_argument("--states", type=int, help="number of states of a row, for jamming and singular")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no row after so many minutes")
    options = parser.parse_args()
    table = TABLES[options.table]
    if options.states is not None:
        if not hasattr(table, "STATES"):
            parser.error(f"--states: got it with {options.table}; expected jamming or singular")
        vars(table)["STATES"] = options.states
    if options.page:
        tables.write(options.table, table)
        return
    print(" | ".join(table.HEAD))
    for row in tables.computed(options.table, table, options.robots, options.again, options.minutes):
        print(" | ".join((*row.about, *row.cells)), flush=True)


if __name__ == "__main__":
    main()
