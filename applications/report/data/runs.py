"""Several runs in one report: robot families on the same task, or runs of one robot against each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from applications.report.data.designs import DesignColumn
from applications.report.data.results import Results
from pipeline.errors import refused
from robots.data_classes import dataclass

MOST_RUNS = 8
MOST_DIFFERENCES = 12
"""Largest number of compared runs, and of listed differences between two sweeps."""


@dataclass(frozen=True, eq=False)
class NamedRun:
    """The results of a run, by the name of its store."""

    name: str
    results: Results

    @property
    def robot(self) -> str:
        """The name of its robot."""
        return str(self.results.dataset.attrs.get("robot", "unknown"))

    @property
    def answers(self) -> bool:
        """Return whether any design of the run meets all requirements."""
        return bool(self.results.designs.meets.any())


@dataclass(frozen=True, eq=False)
class ComparedRuns:
    """Runs that have an objective in common, in the order in which they were named; `columns` are common objectives."""

    runs: tuple[NamedRun, ...]
    columns: tuple[str, ...]

    @property
    def best(self) -> int:
        """The run whose chosen design is the best by the first common objective; one that meets conditions if any."""
        first = self.column(0, self.columns[0])
        values = np.array([first.sign * self.column(k, self.columns[0]).values[run.results.place]
                           for k, run in enumerate(self.runs)])  # fmt: skip
        usable = np.array([run.answers for run in self.runs])
        values = np.where(usable | ~usable.any(), values, np.inf)
        return int(np.argmin(np.where(np.isfinite(values), values, np.inf)))

    def column(self, run: int, name: str) -> DesignColumn:
        """Return the column of a common objective of a run."""
        return self.runs[run].results.designs.column(name)

    def value(self, run: int, name: str) -> float:
        """Return the value of a common objective for the chosen design of a run."""
        return float(self.column(run, name).values[self.runs[run].results.place])


def compared(named: Sequence[tuple[str, Results]]) -> ComparedRuns:
    """Compare runs. Raises InputError for too many, and where they share no objective in equal units."""
    if len(named) > MOST_RUNS:
        raise refused("STORE", f"{len(named)} stores", f"at most {MOST_RUNS} to compare")
    runs = tuple(NamedRun(name, results) for name, results in named)
    first, *further_runs = runs
    columns = [column for column in first.results.designs.objectives if _in_all(column, further_runs)]
    if not columns:
        names = ", ".join(run.name for run in runs)
        rule = "stores with a metric in common, in equal units, with numbers"
        hint = "Give both sweeps the same metrics, such as peak_force."
        raise refused("STORE", names, rule, hint)
    return ComparedRuns(runs, tuple(column.name for column in columns))


def _in_all(column: DesignColumn, further_runs: Sequence[NamedRun]) -> bool:
    tables = [run.results.designs for run in further_runs]
    same = [
        [its for its in table.objectives if its.name == column.name and its.units == column.units] for table in tables
    ]
    every = [column, *(matches[0] for matches in same if matches)]
    return len(every) == len(further_runs) + 1 and all(np.isfinite(its.values).any() for its in every)


def differences(runs: ComparedRuns, one: int, second_run: int) -> tuple[str, ...]:
    """Return the differences between the sweeps of two runs, in lines; empty if they cannot be read again."""
    first, second = (runs.runs[k].results.sweep for k in (one, second_run))
    if first is None or second is None:
        return ()
    lines = first.difference(second)
    more = len(lines) - MOST_DIFFERENCES
    return (*lines[:MOST_DIFFERENCES], *([f"and {more} more"] if more > 0 else []))
