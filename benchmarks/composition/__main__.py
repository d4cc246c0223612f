"""Command of the table of composition.

`python -m benchmarks.composition` executes the covering array, then pairs that a refusal of others hid, and prints the
counts of all pairs, the refusals, and features by features and doors with `--matrix`. `--part N` executes every N-th
case. With `--record FILE` a second call takes the results of the first from that file and goes on; cases that were
wrong or ended with a traceback are executed again. `--minutes` ends a part. `--random N` executes N cases in which each
feature is drawn by itself, so that three and more meet; `--seed` draws others, and the features that a fault needs are
found by leaving out one after the other. The status is 1 where a number is wrong or a traceback was seen.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from benchmarks.composition.table import FACTORS, FAULTS, SIMPLE, Result, Table, all_pairs, covering, drawn, plainest


def main() -> int:
    """Execute the table and print it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.composition", description=__doc__)
    parser.add_argument("--part", type=int, default=1, help="execute every so many cases")
    parser.add_argument("--first", type=int, default=0, help="the first case")
    parser.add_argument("--matrix", action="store_true", help="print features by features and doors")
    parser.add_argument("--record", type=Path, help="file of results, to go on with")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no case after so many minutes")
    parser.add_argument("--random", type=int, metavar="N", help="execute N random cases in place of the array")
    parser.add_argument("--seed", type=int, default=1, help="of the random cases")
    parser.add_argument(
        "--seconds", type=float, default=float("inf"), help="end a case after so many seconds of processor time"
    )
    options = parser.parse_args()
    deadline = time.monotonic() + 60.0 * options.minutes
    with tempfile.TemporaryDirectory(prefix="composition-") as folder:
        table = Table(Path(folder), options.record, deadline, options.seconds)
        wanted = results(table, options.first, options.part)
        if options.random is not None:
            wanted = random_results(table, options.random, options.seed)
        try:
            for result in wanted:
                print(line(result), flush=True)
        except TimeoutError as error:
            print(f"\n{error}; not all cases were executed")
        print(*summary(table), sep="\n")
        if options.matrix:
            print(*matrix(table), sep="\n")
    return 1 if table.faults else 0


def results(table: Table, first: int, part: int) -> Iterator[Result]:
    """Give the results of the array, then those for pairs that refusals of others have hidden."""
    table.read()
    rows = covering()
    print(f"{len(rows)} cases; {len(table.refused)} pairs of features that no sweep can have", flush=True)
    for levels in rows[first::part]:
        yield from table.try_case(levels)
    for levels in table.left() if part == 1 else ():
        yield from table.try_case(levels)


def random_results(table: Table, count: int, seed: int) -> Iterator[Result]:
    """Give the results of random cases; behind a fault the same fault with no more features than it needs."""
    table.read()
    print(f"{count} random cases, seed {seed}", flush=True)
    for levels in islice(drawn(seed), count):
        for result in table.try_case(levels):
            yield result
            if result.outcome in FAULTS:
                door = result.levels["door"]
                yield table.execute({**plainest(door), **dict(table.needed(result, door))})


def line(result: Result) -> str:
    """Return a case in a line: outcome, seconds, differences from the plainest case, and the reason."""
    own = [level for name, level in result.levels.items() if level != SIMPLE[name]]
    reason = " ".join(result.text.split())
    return f"{result.outcome:10} {result.seconds:5.1f} s  {', '.join(own)}{': ' if reason else ''}{reason[-600:]}"


def summary(table: Table) -> list[str]:
    """Format the counts of cases and pairs, then each refusal once."""
    states = Counter(table.state(pair) for pair in all_pairs())
    lines = ["", "cases: " + ", ".join(f"{count} {name}" for name, count in sorted(table.counts.items()))]
    lines.append("pairs: " + ", ".join(f"{count} {name}" for name, count in sorted(states.items())))
    for key, result in sorted(table.refused.items(), key=lambda item: sorted(item[0])):
        lines.append(
            f"{result.outcome}: {' x '.join(level for _, level in sorted(key))}: {' '.join(result.text.split())[:240]}"
        )
    lines += [f"{fault.outcome}: {line(fault)}" for fault in table.faults]
    return lines


MARKS = {"works": "+", "refused": "r", "no meaning": "-", "not seen": "?"}


def matrix(table: Table) -> list[str]:
    """Format the features as rows and columns, by number: + works, r refused, - no meaning, ? not seen."""
    entries = [(axis, level) for axis, levels in FACTORS.items() for level in levels]
    numbers = [str(number) for number in range(1, len(entries) + 1)]
    lines = ["", *(f"{'':28}{''.join(f'{number:>3}'[place] for number in numbers)}" for place in range(3))]
    for number, row in zip(numbers, entries, strict=True):
        marks = (" " if row[0] == other[0] else MARKS[table.state(frozenset((row, other)))] for other in entries)
        lines.append(f"{number:>3} {row[1]:23} {''.join(marks)}")
    return lines


if __name__ == "__main__":
    sys.exit(main())
