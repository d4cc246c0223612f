"""Prints the figures of a checkout beside those before the refactoring, or writes them to where they are kept.

- `python -m benchmarks.house [--root DIR]`: a table
- `python -m benchmarks.house --trace`: also the modules that a sweep enters when it is run
- `python -m benchmarks.house --root DIR --trace --json`: all figures as they are kept in `before.json`
- `python -m benchmarks.house --record`: the figures of this checkout become the record that `tests/test_house.py` holds
- `python -m benchmarks.house --page`: the table of `docs/project/house.md`
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path

from benchmarks.house.figures import RATCHET, House, measure, table

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
BEFORE = HERE / "before.json"
RECORD = HERE / "record.json"
PAGE = ROOT / "docs" / "project" / "house.md"
START, STOP = "<!-- written by make pages -->\n", "<!-- until here -->\n"


def write_page(page: Path, lines: Iterable[str]) -> None:
    """Put the table between its two marks."""
    above, _, rest = page.read_text(encoding="utf-8").partition(START)
    below = rest.partition(STOP)[2]
    page.write_text(above + START + "\n" + "\n".join(lines) + "\n\n" + STOP + below, encoding="utf-8")


def main() -> None:
    """Measure, and print or write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.house", description="Figures of the sources.")
    parser.add_argument("--root", type=Path, default=ROOT, help="another checkout")
    parser.add_argument("--trace", action="store_true", help="run a sweep for the modules that it enters")
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--json", action="store_true", help="all figures as JSON")
    kinds.add_argument("--record", action="store_true", help="keep the figures as the record of the tests")
    kinds.add_argument("--page", action="store_true", help="write the table of docs/project/house.md")
    options = parser.parse_args()
    house = measure(options.root.resolve(), trace=options.trace or options.page)
    if options.json:
        print(house.dump(), end="")
    elif options.record:
        record = {name: house.figures[name] for name in RATCHET}
        RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    elif options.page:
        write_page(PAGE, table(House.load(BEFORE), house))
    else:
        print("\n".join(table(House.load(BEFORE), house)))


if __name__ == "__main__":
    main()
