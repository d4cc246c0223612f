"""Prints the figures of a checkout beside those before the refactoring, or writes them to where they are kept.

- `python -m benchmarks.house [--root DIR]`: a table
- `python -m benchmarks.house --trace`: also the modules that a sweep enters when it is run, and those of them that meet
  a length, a load, the name of a metric and a torque
- `python -m benchmarks.house --root DIR --trace --json`: all figures as they are kept in `before.json`
- `python -m benchmarks.house --record`: the figures of this checkout become the record that `tests/test_house.py` holds
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

from benchmarks.house.figures import RATCHET, House, measure, table

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
BEFORE = HERE / "before.json"
RECORD = HERE / "record.json"


def lines() -> Iterator[str]:
    """Yield the table of this checkout beside the figures before the refactoring."""
    return table(House.load(BEFORE), measure(ROOT))


def main() -> None:
    """Measure the sources, and print or write the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.house", description="Figures of the sources.")
    parser.add_argument("--root", type=Path, default=ROOT, help="another checkout")
    parser.add_argument("--trace", action="store_true", help="run a sweep for the modules that it enters")
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--json", action="store_true", help="all figures as JSON")
    kinds.add_argument("--record", action="store_true", help="keep the figures as the record of the tests")
    options = parser.parse_args()
    house = measure(options.root.resolve(), trace=options.trace)
    if options.json:
        print(house.dump(), end="")
    elif options.record:
        record = {name: house.figures[name] for name in RATCHET}
        RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    else:
        print("\n".join(table(House.load(BEFORE), house)))


if __name__ == "__main__":
    main()
