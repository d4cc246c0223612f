"""Coordinators that begin a run on the same store at the same instant: exactly one proceeds, the others are refused.

Each is a fork of this process, so they start together; like `benchmarks.campaigns.crashes`, which this shares its sweep
with, it needs Linux and a process of a single thread: `python -m benchmarks.campaigns.races [--races 50]
[--coordinators 2] [--seed N]`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from benchmarks.campaigns.crashes import HERE, Steps, dies, results, sweep
from benchmarks.campaigns.lines import print_lines
from pipeline.execution.run import run
from pipeline.monitor.log import Event, Started
from storage.errors import StoreError
from storage.manifest import Manifest

DESIGNS = 3

REASONS = ("another run is writing to this store", "exists already", "Directory not empty")
"""Messages to a coordinator that comes second: to the lock, or to the making of the store."""


def begin(store: Path) -> tuple[int, str]:
    """Run the sweep of the races; return the number of runs that began (0 or 1), and the refusal."""
    events: list[Event] = []
    try:
        run(sweep(DESIGNS), store, HERE, [events.append])
    except StoreError as error:
        return 0, str(error)
    return sum(isinstance(each, Started) for each in events), ""


def together(count: int, work: Callable[[], tuple[int, str]]) -> list[tuple[int, str]]:
    """Call `work` in `count` forks that start at the same instant, and return the result of each."""
    gate, go = os.pipe()
    readers = []
    for _ in range(count):
        answer, tell = os.pipe()
        if not os.fork():
            os.close(go)
            os.read(gate, 1)  # until every copy of the other end is closed
            try:
                found = work()
            except BaseException as error:  # any error has to be reported
                found = (-1, repr(error))
            os.write(tell, json.dumps(found).encode())
            os._exit(0)
        os.close(tell)
        readers.append(answer)
    os.close(gate)
    os.close(go)
    told: list[tuple[int, str]] = []
    for answer in readers:
        with os.fdopen(answer, "rb") as stream:
            begun, reason = json.loads(stream.read())
            told.append((int(begun), str(reason)))
        os.wait()
    return told


def _run(store: Path) -> None:
    begin(store)


def races(count: int, coordinators: int, folder: Path, chance: random.Random) -> Iterator[str]:
    """Run `count` races, every other one on a store left by a killed run; yield lines of figures.

    Raises AssertionError where not exactly one computes the remaining blocks, or the store differs from that of a lone
    run.
    """
    begin(folder / "alone.zarr")
    steps = Steps()
    with steps.counting():
        begin(folder / "counted.zarr")
    expected, outcomes, left = results(folder / "alone.zarr"), Counter[str](), 0
    made = steps.names.index("rename") + 2  # the store is there
    for number in range(count):
        store = folder / f"{number}.zarr"
        if number % 2:
            left += dies(_run, store, chance.randrange(made, len(steps.names)), "before")
        over = store.exists() and Manifest.load(store).state == "finished"
        found = together(coordinators, partial(begin, store))
        assert sum(begun for begun, _ in found) == (not over), f"race {number}: {found}"
        odd = [told for _, told in found if told and not any(reason in told for reason in REASONS)]
        assert not odd, f"race {number}: {odd}"
        outcomes.update("refused" if told else "ran" if begun else "came when all was done" for begun, told in found)
        assert results(store) == expected, f"race {number}: the store differs from that of a run by itself"
    told = ", ".join(f"{outcomes[each]} {each}" for each in ("ran", "refused", "came when all was done"))
    yield f"{count} races of {coordinators} coordinators, {left} of them on a store that a killed run has left: {told}"
    yield "  exactly one proceeds each time, and every store is bit-identical to that of a run by itself"


def main(words: list[str] | None = None) -> int:
    """Run the races that the command line asks for; 1 where one has not exactly one winner."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--races", type=int, default=50)
    parser.add_argument("--coordinators", type=int, default=2)
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    given = parser.parse_args(words)
    print(f"seed {given.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="limbsweep-races-") as folder:
        return print_lines(races(given.races, given.coordinators, Path(folder), random.Random(given.seed)))


if __name__ == "__main__":
    sys.exit(main())
