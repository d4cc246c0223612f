"""Local optimisation of a metric from several starts, by exact derivatives over the compiled kernels.

The worst of a metric over actuators, trajectories and time has kinks where another becomes the worst. So one number t
is minimised that no row of the metric may exceed, the rows being actuators, trajectories and parts of the time: a
smooth problem with constraints, which sequential quadratic programming solves. Sums and means are minimised as they
are.

Operating cases add rows: the worst case is what one t bounds. For a mean over cases each case has a t of its own, and
their mean is minimised; for a mean over tolerances of the worst case each deviation has one.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from pipeline.study.columns import LARGE_IS_GOOD, Array, base_of, cases_of_deviations, refuse
from pipeline.study.problem import DesignProblem
from robots.quantities import QUANTITIES, names
from tasks.blocks.gradients import DIFFERENTIABLE

WINDOWS = 12
"""Parts of the time that have a row each."""

ROUNDS = 200
FAILED = 10.0
"""What rows of a design with failed samples count, in units of the start's worst: the search turns back from it."""

SLACK = 1e-6
"""By how much of itself a limit may be missed."""


Over = Literal["worst", "mean", "mean of worst"]
"""What counts over cases: the worst, the mean, or of each deviation within tolerances the worst, and their mean."""


@dataclass(frozen=True)
class Limit:
    """What a column may be at most, or at least where large is good, or where `least` says so.

    >>> ls.study.Limit("peak_velocity", 5.0)
    Limit(column='peak_velocity', bound=5.0, least=False)
    """

    column: str
    bound: float
    least: bool = False


@dataclass(frozen=True)
class LocalOptimum:
    """The best design that a search from one start has met: parameters (parameter,), value of the objective.

    start is the value there, `feasible` whether all limits hold, calls counts evaluations with derivatives.
    """

    design: Mapping[str, float]
    value: float
    start: float
    feasible: bool
    calls: int
    seconds: float
    message: str


def optimise(
    problem: DesignProblem,
    column: str,
    starts: Array,
    limits: Sequence[Limit] = (),
    *,
    threads: int = 1,
    windows: int = WINDOWS,
    over: Over = "worst",
) -> list[LocalOptimum]:
    """Improve a column of the study from each of some designs (start, parameter); the best first.

    The column is made small, or large where large is good: its worst, `NAME_mean` or `NAME_sum`; `over` the cases of
    the problem the worst counts, or the mean, or the mean over tolerances of the worst over other cases. Limits hold in
    every case. Raises InputError for starts outside of the bounds, for a start whose samples fail, and for columns that
    have no derivatives.

        >>> problem = ls.study.DesignProblem.of(ls.Sweep.from_yaml("sweep.yaml"), {"upper_arm": (0.2, 0.3)})
        >>> best, *_ = ls.study.optimise(problem, "peak_force", [[0.25]])
        >>> bool(best.value < best.start)
        True
    """
    if over not in get_args(Over):
        raise refuse("objective", f"{over} over cases", "worst or mean over cases", "Rank stored designs by others.")
    smooth = (*DIFFERENTIABLE, *names("path")) if problem.sweep.simulation is None else None
    for name in (column, *(limit.column for limit in limits)):
        if smooth is not None and base_of(name)[0] in QUANTITIES and base_of(name)[0] not in smooth:
            raise refuse("objective", f"{name}, which has no derivatives", f"one of {', '.join(smooth)}")
    begins = np.atleast_2d(np.asarray(starts, dtype=float))
    if begins.shape[1] != len(problem.names):
        raise refuse("starts", f"{begins.shape[1]} parameters", f"{len(problem.names)}: {', '.join(problem.names)}")
    low, high = (np.array([pair[side] for pair in problem.bounds.values()]) for side in (0, 1))
    if ((begins < low) | (begins > high)).any():
        raise refuse("starts", "a design out of bounds", "designs within the bounds of the problem")
    searches = [_LocalSearch(problem, column, tuple(limits), begin, windows, over) for begin in begins]
    if threads == 1:
        optima = [search.run() for search in searches]
    else:
        with ThreadPoolExecutor(threads) as pool:  # kernels let other threads run
            optima = list(pool.map(_LocalSearch.run, searches))
    sign = -1.0 if _better_large(column) else 1.0
    return sorted(optima, key=lambda optimum: (not optimum.feasible, sign * optimum.value))


def _better_large(column: str) -> bool:
    return base_of(column)[0] in LARGE_IS_GOOD


def _worst(column: str, rows: tuple[Array, Array]) -> tuple[float, Array]:
    """A column from the rows of its metric, with its derivative (parameter,)."""
    values, rates = rows
    how = base_of(column)[1]
    if how in ("mean", "sum"):
        share = 1.0 / len(values) if how == "mean" else 1.0
        return float(values.sum() * share), rates.sum(axis=0) * share
    at = int(np.argmin(values) if how == "min" else np.argmax(values))
    return float(values[at]), rates[at]


def _by_case(column: str, rows: tuple[Array, Array], cases: int) -> tuple[Array, Array]:
    """A column under each case (case,), with derivatives (case, parameter), from rows that are sorted by case."""
    parts = zip(np.split(rows[0], cases), np.split(rows[1], cases), strict=True)
    values, rates = zip(*(_worst(column, part) for part in parts), strict=True)
    return np.array(values), np.array(rates)


def _over_cases(column: str, rows: tuple[Array, Array], cases: int, over: str) -> tuple[float, Array]:
    """A column from the rows of its metric over all cases: the worst, the mean, or the least or largest."""
    if cases == 1:
        return _worst(column, rows)
    values, rates = _by_case(column, rows, cases)
    if over == "mean":
        return float(values.mean()), rates.mean(axis=0)
    least = over == "min" or (over == "worst" and _better_large(column))
    at = int(np.argmin(values) if least else np.argmax(values))
    return float(values[at]), rates[at]


def _extreme(column: str, values: Array, cases: NDArray[np.intp]) -> int:
    """The number of the case, of some of them, in which a column is worst."""
    chosen = values[cases]
    return int(cases[np.argmin(chosen) if _better_large(column) else np.argmax(chosen)])


def worst_of(problem: DesignProblem, column: str, design: Array) -> tuple[float, Array]:
    """A column at a design (parameter,), the worst over its cases, and its derivatives (parameter,)."""
    metric = base_of(column)[0]
    return _over_cases(column, problem.rates(design, (metric,))[metric], problem.case_count, "worst")


@dataclass
class _LocalSearch:
    """One start. Variables are the parameters on [0, 1] and, for a worst, t in units of the start's worst."""

    problem: DesignProblem
    column: str
    limits: tuple[Limit, ...]
    begin: Array
    windows: int
    over: str = "worst"
    known: dict[bytes, Any] = field(default_factory=dict)
    best: tuple[bool, float, Array] | None = None

    def __post_init__(self) -> None:
        self.low, self.high = (np.array([pair[side] for pair in self.problem.bounds.values()]) for side in (0, 1))
        self.metric, how = base_of(self.column)
        self.sign = -1.0 if _better_large(self.column) else 1.0
        self.cases = self.problem.case_count
        self.groups = self._groups()
        self.epigraph = how in ("min", "max") or (self.cases > 1 and self.over != "mean")
        self.bounds_t = len(self.groups) if self.epigraph else 0  # variables t
        self.metrics = tuple(dict.fromkeys([self.metric, *(base_of(limit.column)[0] for limit in self.limits)]))

    def run(self) -> LocalOptimum:
        """Search; what counts is the best design met, not the last."""
        clock = time.perf_counter()
        x = (self.begin - self.low) / (self.high - self.low)
        start = self._worst_at(x)
        if not np.isfinite(start):
            raise refuse("starts", f"a design without {self.column}", "designs whose samples are OK")
        self.scale = abs(start) or 1.0
        self.rows_at_start = len(self._bounded(x)[0])
        by_case = _by_case(self.column, self._at(x)[self.metric], self.cases)[0]
        at_start = [by_case[_extreme(self.column, by_case, cases)] for cases in self.groups] if self.bounds_t else []
        first = np.append(x, self.sign * np.array(at_start) / self.scale)
        bounds: list[tuple[float | None, float | None]] = [(0.0, 1.0)] * len(x) + [(None, None)] * self.bounds_t
        solution = minimize(
            self._goal, first, jac=self._goal_rate, method="SLSQP", bounds=bounds,
            constraints={"type": "ineq", "fun": self._spare, "jac": self._spare_rate},
            options={"maxiter": ROUNDS, "ftol": 1e-9},
        )  # fmt: skip
        assert self.best is not None
        feasible, value, design = self.best
        named = dict(zip(self.problem.names, design.tolist(), strict=True))
        seconds = time.perf_counter() - clock
        return LocalOptimum(named, self.sign * value, start, feasible, len(self.known), seconds, str(solution.message))

    def _design(self, x: Array) -> Array:
        return np.clip(self.low + (self.high - self.low) * x, self.low, self.high)

    def _at(self, x: Array) -> dict[str, tuple[Array, Array]]:
        """Rows of all metrics, derivatives by variables on [0, 1]; computed once for each design."""
        x = x[: len(self.low)]
        key = x.tobytes()
        if key not in self.known:
            rows = self.problem.rates(self._design(x), self.metrics, self.windows)
            self.known[key] = {name: (values, rates * (self.high - self.low)) for name, (values, rates) in rows.items()}
            self._remember(x)
        return self.known[key]

    def _remember(self, x: Array) -> None:
        value = self.sign * self._worst_at(x)
        holds = all(self._room(limit, x)[0] >= -SLACK * max(abs(limit.bound), 1e-9) for limit in self.limits)
        better = self.best is None or (not holds, value) < (not self.best[0], self.best[1])
        if np.isfinite(value) and better:
            self.best = holds, value, self._design(x)

    def _worst_at(self, x: Array) -> float:
        return self._value(x)[0]

    def _groups(self) -> list[NDArray[np.intp]]:
        """The cases of which the worst counts, before their mean is taken."""
        if self.over == "mean of worst":
            return cases_of_deviations(self.problem.cases)
        every = np.arange(self.cases)
        return list(every[:, None]) if self.over == "mean" else [every]

    def _value(self, x: Array) -> tuple[float, Array]:
        """The objective at a design, over cases as it says, and its derivative."""
        if self.over == "mean of worst":
            values, rates = _by_case(self.column, self._at(x)[self.metric], self.cases)
            worst = [_extreme(self.column, values, cases) for cases in self.groups]
            return float(values[worst].mean()), rates[worst].mean(axis=0)
        return _over_cases(self.column, self._at(x)[self.metric], self.cases, self.over)

    def _bounded(self, x: Array) -> tuple[Array, Array]:
        """Rows that a t bounds, case by case: those of a worst, or one of each case, and their derivatives."""
        rows = self._at(x)[self.metric]
        return rows if base_of(self.column)[1] in ("min", "max") else _by_case(self.column, rows, self.cases)

    def _slots(self) -> Array:
        """Which t bounds which row (row, t), of ones and zeros."""
        group = np.empty(self.cases, dtype=int)
        for number, cases in enumerate(self.groups):
            group[cases] = number
        return np.asarray(np.eye(self.bounds_t)[np.repeat(group, self.rows_at_start // self.cases)])

    def _room(self, limit: Limit, x: Array) -> tuple[float, Array]:
        """How far a column is from its limit, and its derivative."""
        rows = self._at(x)[base_of(limit.column)[0]]
        least = limit.least or _better_large(limit.column)
        value, rate = _over_cases(limit.column, rows, self.cases, "min" if least else "max")
        sign = -1.0 if least else 1.0
        return sign * (limit.bound - value), -sign * rate

    def _rows(self, x: Array) -> tuple[Array, Array]:
        """Rows that are not to exceed t, in units of the start's worst; of a failed design far above."""
        values, rates = self._bounded(x)
        if not np.isfinite(values).all() or not np.isfinite(rates).all():
            return np.full(self.rows_at_start, FAILED), np.zeros((self.rows_at_start, len(self.low)))
        return self.sign * values / self.scale, self.sign * rates / self.scale

    def _goal(self, z: Array) -> float:
        if self.epigraph:
            return float(z[len(self.low) :].mean())
        value = self.sign * self._worst_at(z) / self.scale
        return value if np.isfinite(value) else FAILED

    def _goal_rate(self, z: Array) -> Array:
        if self.epigraph:
            return np.append(np.zeros(len(self.low)), np.full(self.bounds_t, 1.0 / self.bounds_t))
        rate = self.sign * self._value(z)[1] / self.scale
        return rate if np.isfinite(rate).all() else np.zeros(len(z))

    def _spare(self, z: Array) -> Array:
        rooms = [self._room(limit, z)[0] / max(abs(limit.bound), 1e-9) for limit in self.limits]
        rooms = [room if np.isfinite(room) else -FAILED for room in rooms]
        if not self.epigraph:
            return np.array(rooms)
        return np.concatenate([self._slots() @ z[len(self.low) :] - self._rows(z)[0], rooms])

    def _spare_rate(self, z: Array) -> Array:
        pairs = [(self._room(limit, z)[1], limit) for limit in self.limits]
        rooms = [np.nan_to_num(rate / max(abs(limit.bound), 1e-9)) for rate, limit in pairs]
        if not self.epigraph:
            return np.array(rooms).reshape(len(rooms), len(z))
        rates = self._rows(z)[1]
        upper = np.concatenate([-rates, self._slots()], axis=1)
        lower = [np.append(rate, np.zeros(self.bounds_t)) for rate in rooms]
        return np.concatenate([upper, np.array(lower).reshape(len(lower), len(z))])
