"""Run tests and print their processor seconds by folder, and the costliest ones.

`python -m benchmarks.house.tests [--top 20] [--depth 3] [--keep FILE] [--beside FILE] [--record] [PYTEST ARGUMENTS]`.
Seconds of processes that a test starts and waits for are counted too: unlike wall time, they hardly depend on other
work of the machine. `--keep` writes the seconds of every test as JSON, `--beside` prints those of an earlier run in a
column, and `--record` enters the files of tests that were run into `seconds.json`, for `benchmarks.house.changed`.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

RECORD = Path(__file__).parent / "seconds.json"
COLLECTION = "collection"
"""Name of the time that it takes to import the tests."""


def processor_seconds() -> float:
    """Return user and system seconds of this process and of the children that it waited for."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


class Clock:
    """Plugin of pytest that notes the processor seconds of the collection and of each test with its fixtures."""

    def __init__(self) -> None:
        """Begin without any test."""
        self.seconds: dict[str, float] = {}

    @contextmanager
    def _noting(self, name: str) -> Iterator[None]:
        start = processor_seconds()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + processor_seconds() - start

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self) -> Generator[None, Any, Any]:
        """Note the collection."""
        with self._noting(COLLECTION):
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Note a test; the first one of a file has the fixtures of the file too."""
        with self._noting(item.nodeid):
            return (yield)


def folder(test: str, depth: int) -> str:
    """Return the first parts of the path of a test: `tests/tasks/dynamics` for a depth of 3."""
    return "/".join(test.partition("::")[0].split("/")[:depth])


def total_by(seconds: Mapping[str, float], depth: int) -> dict[str, float]:
    """Return the seconds of each folder or file."""
    result: dict[str, float] = {}
    for test, value in seconds.items():
        result[folder(test, depth)] = result.get(folder(test, depth), 0.0) + value
    return result


def table(now: Mapping[str, float], before: Mapping[str, float], depth: int, top: int) -> Iterator[str]:
    """Return lines: the seconds of each folder before and now, their sum, and the costliest tests without parameters.

    Tests of `before` that lie in folders that were not run now are left out.
    """
    sums, earlier = total_by(now, depth), total_by(before, depth)
    for name in costliest(sums):
        yield f"{earlier.get(name, 0.0):9.1f} {sums[name]:9.1f}  {name}"
    yield f"{sum(earlier.get(name, 0.0) for name in sums):9.1f} {sum(sums.values()):9.1f}  all, {len(now)} tests"
    functions: dict[str, float] = {}
    for test, value in now.items():
        name = test.partition("[")[0]
        functions[name] = functions.get(name, 0.0) + value
    yield from (f"{'':9} {functions[name]:9.1f}  {name}" for name in costliest(functions)[:top])


def costliest(seconds: Mapping[str, float]) -> list[str]:
    """Return the names, those with the most seconds first."""
    return sorted(seconds, key=lambda name: -seconds[name])


def load(path: Path | None) -> dict[str, float]:
    """Return the seconds of a run that was kept, none without a path."""
    return json.loads(path.read_text(encoding="utf-8")) if path else {}


def read_record() -> dict[str, float]:
    """Return the seconds of each file of tests as they were recorded."""
    return load(RECORD if RECORD.exists() else None)


def write_record(now: Mapping[str, float]) -> None:
    """Enter the seconds of the files that were run; keep other files, and drop deleted ones."""
    sums = total_by({test: value for test, value in now.items() if "::" in test}, depth=99)
    known = {file: value for file, value in read_record().items() if (RECORD.parents[2] / file).exists()}
    known |= {file: round(value, 1) for file, value in sums.items()}
    RECORD.write_text(json.dumps(dict(sorted(known.items())), indent=0) + "\n", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tests and print the table; the exit status is that of pytest."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.house.tests", description=__doc__)
    parser.add_argument("--top", type=int, default=20)
    parser.add_argument("--depth", type=int, default=3)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--beside", type=Path)
    parser.add_argument("--record", action="store_true")
    options, others = parser.parse_known_args(arguments)
    clock, before = Clock(), load(options.beside)
    status = pytest.main(["-q", "-p", "no:cacheprovider", *others], plugins=[clock])
    if options.keep:
        options.keep.write_text(json.dumps(clock.seconds, indent=0) + "\n", encoding="utf-8")
    if options.record:
        write_record(clock.seconds)
    print("   before       now  processor seconds")
    print("\n".join(table(clock.seconds, before, options.depth, options.top)))
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
