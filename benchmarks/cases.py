"""The table of benchmark cases, and the run of all or some of them."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from json import loads
from pathlib import Path
from typing import Any, TextIO

from benchmarks import history
from benchmarks.checkout import commit
from benchmarks.figures import FULL, QUICK, Figure, Size, heading, json_line, number, surroundings, table
from robots.parameter_errors import ParameterError, nearest


@dataclass(frozen=True)
class Case:
    """A row of the table: the measured quantity, and the function that yields the figures."""

    name: str
    what: str
    function: str

    def figures(self, size: Size) -> Iterable[Figure]:
        """Set up, check, time. Raises CheckError if a result is wrong."""
        module, _, function = self.function.partition(":")
        run: Callable[[Size], Iterator[Figure]] = getattr(importlib.import_module(f"benchmarks.{module}"), function)
        return run(size)


CASES: dict[str, Case] = {
    case.name: case
    for case in (
        Case("kernel", "Delta, inverse kinematics and dynamics, against NumPy and the core's peak", "kernels:speed"),
        Case("designs", "the same for many designs", "kernels:designs"),
        Case("robots", "every robot, with and without the reactions of all its joints", "robots:speed"),
        Case("precision", "single precision against double: time and errors of every robot", "precision:precision"),
        Case("peers", "against Pinocchio, MuJoCo, Drake and Exudyn at the same jobs", "peers.table:figures"),
        Case("published", "problems of the field: digits beside published ones", "published.table:figures"),
        Case("start", "from the start of a process to the first forces", "start:start"),
        Case("storage", "writing and reading a store, against plain Zarr and plain files", "storage:store"),
        Case("run", "whole runs with metrics only, against the kernels", "runs.pipeline:efficiency"),
        Case("blocks", "whole runs in blocks of several lengths, against the kernels", "runs.blocks:blocks"),
        Case("series", "a whole run that stores full time series, against plain Zarr", "runs.series:series"),
        Case("series_large", "ten times as much as fits: speed and memory", "runs.series:series_large"),
        Case(
            "inertia_counts",
            "operations of the inertia matrix by four methods, beside published ones",
            "counts.inertia_counts:figures",
        ),
        Case(
            "features", "loads, bases, outputs, redundancy, elasticity, beside a run without", "runs.features:features"
        ),
        Case("friction_sets", "a sweep of many friction sets on one trajectory, beside none", "runs.friction:sets"),
        Case("friction", "friction in all joints, loads constant and from reactions", "runs.friction:coupled"),
        Case("rest", "accelerations with joints at rest, against the conditions of friction", "motion.rest:rest"),
        Case("energy", "balance of energy of motions with friction, every robot and law", "motion.energy:energy"),
        Case("simulate", "steps of simulations under controllers, and other engines at the same", "simulate:simulate"),
        Case(
            "coordinator",
            "blocks a second and memory of blocks in flight and waiting on 200 threads of light workers",
            "runs.coordinator:coordinator",
        ),
        Case(
            "small",
            "small sweeps in this process; a million designs planned",
            "runs.small:small",
        ),
        Case("busy", "threads that a run keeps busy on clusters of many shapes, with sleeping tasks", "runs.busy:busy"),
        Case("thousand", "the same on a thousand threads with block tasks, and on paper beyond", "runs.busy:thousand"),
        Case("thousand_limbs", "the same on a thousand threads with limb tasks", "runs.busy:thousand_limbs"),
        Case(
            "dataset", "identification data of many robots, and one of them identified", "runs.identification:dataset"
        ),
        Case("identify", "identification of many designs, beside one at a time", "runs.identification:designs"),
        Case("large", "a run of 1e9 samples with metrics only: time, memory, shares of cores", "runs.pipeline:large"),
        Case("shapes", "memory of a block against its plan, for sweeps of many shapes", "runs.shapes:shapes"),
        Case("memory", "of a run, against the number of blocks", "runs.pipeline:memory"),
    )
}


def main(
    *,
    json: bool = False,
    quick: bool = False,
    record: bool = False,
    names: Sequence[str] = (),
    out: TextIO | None = None,
) -> None:
    """Run the named cases, or all, and print figures as a table or as JSON lines; `quick` checks results, not speed.

    `record` adds the figures to the file of this machine, and tells which of them stand out from earlier runs; see
    `benchmarks.history`. Raises ParameterError for a case that does not exist, CheckError for a wrong result.
    """
    check(names)
    out = out or sys.stdout
    around, size = surroundings(), QUICK if quick else FULL
    if not json:
        print(heading(around), file=out)
    for case in (CASES[name] for name in names or CASES):
        figures = list(case.figures(size)) if record else case.figures(size)
        lines = (json_line(case.name, each, around) for each in figures) if json else _section(case, figures)
        for line in lines:
            print(line, file=out, flush=True)
        if record:
            for line in _recorded(case, list(figures), around):
                print(line, file=sys.stderr, flush=True)


def check(names: Sequence[str]) -> None:
    """Raise ParameterError for the name of a case that does not exist."""
    for name in names:
        if name not in CASES:
            raise ParameterError(f"there is no benchmark {name!r}; {nearest(name, CASES)}")


def _recorded(case: Case, figures: Sequence[Figure], around: dict[str, Any]) -> Iterator[str]:
    """Yield the lines on the figures that differ much from earlier runs; add all figures to the record."""
    file = history.path(around)
    before = history.earlier(file)
    for figure in figures:
        values = before.get((case.name, figure.name), [])
        if figure.value is not None and (words := history.stands_out(figure.value, values, figure.unit)):
            yield f"{case.name}: {figure.name.strip()} {number(figure.value)} {figure.unit}: {words}"
    moment = {"commit": commit(Path(__file__).parent.parent), "time": datetime.now(UTC).isoformat(timespec="seconds")}
    history.append(file, [loads(json_line(case.name, figure, around)) | moment for figure in figures])
    yield f"{len(figures)} figures added to {file}"


def _section(case: Case, figures: Iterable[Figure]) -> Iterator[str]:
    yield ""
    yield f"{case.name}: {case.what}"
    done: list[Figure] = []
    try:
        done.extend(figures)
    finally:  # a wrong result is printed beside right ones
        if done:
            yield from table(done)
