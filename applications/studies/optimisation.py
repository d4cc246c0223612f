"""Local optimisation of an objective from several starts, by exact derivatives over the compiled kernels.

The worst of a metric over actuators, trajectories and time has kinks where another becomes the worst. So one number t
is minimised that the objective may not exceed with any row of the metric in the place of its worst, the rows being
actuators, trajectories and parts of the time: a smooth problem with constraints, which sequential quadratic programming
solves. Of an expression over several such metrics the one with the largest share is treated so. Sums and means are
minimised as they are.

Operating cases add rows: one t bounds the worst case. For a mean over cases each case has a t of its own, and
their mean is minimised; for a mean over tolerances of the worst case each deviation has one. Conditions, those of the
question and those of the sweep on its designs, are constraints by their margin.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from applications.studies.columns import Array, Objective, base_of, cases_of_deviations, condition, objective, refuse
from applications.studies.problem import DesignProblem
from robots.arguments import check_arguments
from robots.data_classes import dataclass, field
from robots.derivatives import OF_SIMULATIONS, WITHOUT
from robots.expressions.expression import ParsedExpression
from robots.expressions.rates import NumberWithRates, with_rates
from robots.parameters import LARGEST
from robots.quantities import DIFFERENTIABLE, QUANTITIES, names

WINDOWS = 12
"""Parts of the time that have a row each."""

ROUNDS = 200
FAILED = 10.0
"""Value of rows of a design with failed samples, in units of the start's worst. It makes the search turn back."""

SLACK = 1e-6
"""Distance of a condition from its edge, in its margin; a condition on metrics may be missed by as much."""


@dataclass(frozen=True)
class LocalOptimum:
    """The best design that a search from one start has met: factors by name, value of the objective.

    start is the value there, `feasible` whether all conditions hold, calls counts evaluations with derivatives.
    """

    design: Mapping[str, float]
    value: float
    start: float
    feasible: bool
    calls: int
    seconds: float
    message: str


@check_arguments
def optimise(
    problem: DesignProblem,
    wanted: Objective | str,
    starts: Array,
    where: Sequence[str] = (),
    *,
    threads: int = 1,
    windows: int = WINDOWS,
) -> list[LocalOptimum]:
    """Improve an objective of the study from each of some designs (start, parameter); the best first.

    The objective is an expression over metrics and parameters, over cases as it says: the worst counts, or the mean, or
    the mean over tolerances of the worst over other cases. Conditions `where`, and those of the sweep on designs, hold
    in every case. Raises InputError for starts outside of the bounds, for a start whose samples fail, and for metrics
    that have no derivatives.

        >>> problem = ls.study.DesignProblem.of(ls.Sweep.from_yaml("sweep.yaml"), {"upper_arm": (0.2, 0.3)})
        >>> best, *_ = ls.study.optimise(problem, "peak_force / upper_arm", [[0.25]], ["peak_force < 100"])
        >>> bool(best.value < best.start)
        True
    """
    target = objective(wanted) if isinstance(wanted, str) else wanted
    conditions = tuple(condition(text) for text in where)
    check_derivatives(problem, target, conditions)
    begins = np.atleast_2d(np.asarray(starts, dtype=float))
    if begins.shape[1] != len(problem.names):
        raise refuse("starts", f"{begins.shape[1]} parameters", f"{len(problem.names)}: {', '.join(problem.names)}")
    low, high = (np.array([pair[side] for pair in problem.bounds.values()]) for side in (0, 1))
    if ((begins < low) | (begins > high)).any():
        raise refuse("starts", "a design out of bounds", "designs within the bounds of the problem")
    searches = [LocalSearch(problem, target, conditions, begin, windows) for begin in begins]
    if threads == 1:
        optima = [search.run() for search in searches]
    else:
        with ThreadPoolExecutor(threads) as pool:  # kernels let other threads run
            optima = list(pool.map(LocalSearch.run, searches))
    return sorted(optima, key=lambda optimum: (not optimum.feasible, target.sign * optimum.value))


def check_derivatives(problem: DesignProblem, wanted: Objective, conditions: Sequence[ParsedExpression]) -> None:
    """Refuse metrics without derivatives, and rules over cases that cannot be followed. Raises InputError."""
    smooth = (*DIFFERENTIABLE, *names("path")) if problem.sweep.simulation is None else OF_SIMULATIONS
    column_names = dict.fromkeys(name for each in (wanted.expression, *conditions) for name in each.names)
    for name in problem.require_columns([*column_names]):
        metric = base_of(name)[0]
        if metric in QUANTITIES and metric not in smooth:
            metrics = [candidate for candidate in smooth if QUANTITIES[candidate].kind == "metric"]
            reason = f"It has none because {WITHOUT[metric]}." if metric in WITHOUT else ""
            raise refuse("objective", f"{name}, which has no derivatives", f"one of {', '.join(metrics)}", reason)
    followed = {"worst", "mean", "max" if wanted.direction == "min" else "min"}
    if not {wanted.over, wanted.tolerances or "worst"} <= followed:
        got = f"{wanted.over} over cases" + (f", {wanted.tolerances} over tolerances" if wanted.tolerances else "")
        got = f"an objective that is {got}"
        raise refuse("objective", got, "worst or mean over cases and tolerances", "Rank stored designs by others.")
    if wanted.tolerances and wanted.over == "mean" and wanted.tolerances != "mean" and _other_cases(problem):
        rule = "the same over tolerances, or the mean of the worst"
        raise refuse("objective", f"mean over cases, {wanted.tolerances} over tolerances", rule, "Rank stored designs.")


def _other_cases(problem: DesignProblem) -> bool:
    """Return whether there are operating cases beside deviations within tolerances."""
    return bool({*problem.cases} - {*problem.space.of_kind("tolerance")})


def value_with_rates(problem: DesignProblem, wanted: Objective, design: Array) -> tuple[float, Array]:
    """Return an objective at a design (factor,), over its cases as it says, and its derivatives (factor,)."""
    search = LocalSearch(problem, wanted, (), np.asarray(design, dtype=float), 1)
    return search.value(search.scaled(search.begin), in_range=False)


@dataclass
class LocalSearch:
    """One start. Variables are the parameters on [0, 1] and, for a worst, t in units of the start's worst."""

    problem: DesignProblem
    wanted: Objective
    conditions: tuple[ParsedExpression, ...]
    begin: Array
    windows: int
    known: dict[bytes, Any] = field(default_factory=dict)
    best: tuple[bool, float, Array] | None = None

    def __post_init__(self) -> None:
        self.low, self.high = (np.array([pair[side] for pair in self.problem.bounds.values()]) for side in (0, 1))
        self.cases, self.sign = self.problem.case_count, self.wanted.sign
        self.groups = self._groups()
        expressions = (self.wanted.expression, *self.conditions, *self.problem.space.conditions)
        table = self.problem.table(self.begin)
        self.columns = [name for name in dict.fromkeys(n for e in expressions for n in e.names) if name not in table]
        self.metrics = tuple(dict.fromkeys(base_of(name)[0] for name in self.columns))

    def run(self) -> LocalOptimum:
        """Search for the best design; the result is the best one met, not the last."""
        clock = time.perf_counter()
        x = self.scaled(self.begin)
        first, start = self.prepare(x), self.value(x)[0]
        bounds: list[tuple[float | None, float | None]] = [(0.0, 1.0)] * len(x) + [(None, None)] * self.bounds_t
        solution = minimize(
            self.goal, first, jac=self.goal_rate, method="SLSQP", bounds=bounds,
            constraints={"type": "ineq", "fun": self.spare, "jac": self.spare_rate},
            options={"maxiter": ROUNDS, "ftol": 1e-9},
        )  # fmt: skip
        assert self.best is not None
        broken, value, design = self.best
        named = dict(zip(self.problem.names, design.tolist(), strict=True))
        seconds = time.perf_counter() - clock
        return LocalOptimum(
            named, self.sign * value, start, not broken, len(self.known), seconds, str(solution.message)
        )

    def prepare(self, x: Array) -> Array:
        """Return the variables at a start, and keep its scale. Raises InputError for one whose samples fail."""
        start = self.value(x)[0]
        if not np.isfinite(start):
            raise refuse("starts", f"a design without {self.wanted.text}", "designs whose samples are OK")
        self.scale = abs(start) or 1.0
        self.epigraph = self.leading is not None or (self.cases > 1 and len(self.groups) < self.cases)
        self.bounds_t = len(self.groups) if self.epigraph else 0  # variables t
        by_case = self.sign * self._per_case(x).value
        return np.append(x, [by_case[cases].max() / self.scale for cases in self.groups] if self.epigraph else [])

    def scaled(self, design: Array) -> Array:
        """Return a design in units of the ranges of its factors."""
        return np.asarray((design - self.low) / (self.high - self.low))

    def _design(self, x: Array) -> Array:
        return np.clip(self.low + (self.high - self.low) * x, self.low, self.high)

    def _at(self, x: Array) -> dict[str, NumberWithRates]:
        """Return metrics (case, row) and parameters (case, 1) with rates by the factors; computed once per design."""
        x = x[: len(self.low)]
        key = x.tobytes()
        if key not in self.known:
            design = self._design(x)
            rows = self.problem.rates(design, self.metrics, self.windows) if self.metrics else {}
            shaped = {name: _by_case(values, rates, self.cases) for name, (values, rates) in rows.items()}
            table = self.problem.table(design, rates=True)
            self.known[key] = shaped | {name: _column(value, len(x)) for name, value in table.items()}
            self._remember(x)
        return dict(self.known[key])

    def _remember(self, x: Array) -> None:
        design = self._design(x)
        value, holds = self.sign * self.value(x)[0], bool(self.problem.admissible(design).all())
        holds = holds and bool((self.margins(x).value >= -SLACK)[: len(self.conditions)].all())
        better = self.best is None or (not holds, value) < self.best[:2]
        if np.isfinite(value) and better:
            self.best = not holds, value, design

    def _groups(self) -> list[NDArray[np.intp]]:
        """Return the cases of which the worst counts, before their mean is taken."""
        every = np.arange(self.cases)
        how = (self.wanted.over, self.wanted.tolerances)
        if self.wanted.tolerances == "mean" and self.wanted.over != "mean" and _other_cases(self.problem):
            return cases_of_deviations(self.problem.cases)
        return list(every[:, None]) if "mean" in (how[1] or how[0],) else [every]

    @cached_property
    def leading(self) -> str | None:
        """The column whose rows t bounds: the steepest among worst values in the direction of the objective."""
        values, found = self._values(self.scaled(self.begin)), {}
        for name in (name for name in self.wanted.expression.names if name in self.columns):
            alone = {key: _along(value, float(key == name)) for key, value in values.items()}
            slope = np.mean(with_rates(self.wanted.expression, alone).rates)
            how = {"max": 1.0, "min": -1.0}.get(base_of(name)[1], 0.0)
            if self.sign * slope * how > 0.0:
                found[name] = abs(slope) * float(np.mean(np.abs(values[name].value)))
        return max(found, key=lambda name: found[name]) if found else None

    def _values(self, x: Array, whole: str | None = None) -> dict[str, NumberWithRates]:
        """Return the columns (case, 1) and parameters; all rows (case, row) of the column `whole`."""
        at = self._at(x)
        reduced = {name: _reduced(at[base_of(name)[0]], base_of(name)[1]) for name in self.columns if name != whole}
        return at | reduced | ({whole: at[base_of(whole)[0]]} if whole else {})

    def _per_case(self, x: Array) -> NumberWithRates:
        """Return the objective under each case (case,)."""
        return _flat(with_rates(self.wanted.expression, self._values(x)), self.cases, len(self.low))

    def value(self, x: Array, *, in_range: bool = True) -> tuple[float, Array]:
        """Compute the objective at a design, over cases by its rule, and its derivatives by scaled parameters."""
        each = self._per_case(x)
        worst = [cases[np.argmax(self.sign * each.value[cases])] for cases in self.groups]
        rates = each.rates[:, worst].mean(axis=1)
        return float(each.value[worst].mean()), rates * (self.high - self.low) if in_range else rates

    def margins(self, x: Array) -> NumberWithRates:
        """Return margins of all conditions under each case (condition case,): of the question, designs, bounds."""
        values, directions = self._values(x), len(self.low)
        conditions = (*self.conditions, *self.problem.space.conditions)
        parts = [_flat(with_rates(each, values, margin=True), self.cases, directions) for each in conditions]
        for name, parameter in self.problem.derived_bounds().items():
            for bound, sign in ((parameter.lower, 1.0), (parameter.upper, -1.0)):
                if abs(bound) < LARGEST:
                    room = (values[name] - bound) * (sign / max(abs(bound), 1e-9))
                    parts.append(_flat(room, self.cases, directions))
        if not parts:
            return NumberWithRates(np.zeros(0), np.zeros((directions, 0)))
        return NumberWithRates(
            np.concatenate([p.value for p in parts]), np.concatenate([p.rates for p in parts], axis=1)
        )

    def rows(self, x: Array) -> tuple[Array, Array]:
        """Return rows to keep below t, case by case, in units of the start's worst; far above for a failed design."""
        each = with_rates(self.wanted.expression, self._values(x, self.leading))
        shape = np.broadcast_shapes((self.cases, 1), np.shape(each.value))
        values = np.broadcast_to(each.value, shape).ravel()
        rates = np.broadcast_to(each.rates, (len(self.low), *shape)).reshape(len(self.low), -1).T
        if not np.isfinite(values).all() or not np.isfinite(rates).all():
            return np.full(self.rows_at_start, FAILED), np.zeros((self.rows_at_start, len(self.low)))
        factor = self.sign / self.scale
        return factor * values, factor * rates * (self.high - self.low)

    @cached_property
    def rows_at_start(self) -> int:
        """Number of rows that t bounds."""
        leading = self._values(self.scaled(self.begin), self.leading).get(self.leading or "")
        return self.cases * (1 if leading is None else leading.value.shape[1])

    @cached_property
    def _slots(self) -> Array:
        """Matrix (row, t) of ones and zeros: one where the variable t bounds the row."""
        group = np.empty(self.cases, dtype=int)
        for number, cases in enumerate(self.groups):
            group[cases] = number
        return np.asarray(np.eye(self.bounds_t)[np.repeat(group, self.rows_at_start // self.cases)])

    def goal(self, z: Array) -> float:
        """Return the objective at some variables, in units of the start's."""
        if self.epigraph:
            return float(z[len(self.low) :].mean())
        value = self.sign * self.value(z)[0] / self.scale
        return value if np.isfinite(value) else FAILED

    def goal_rate(self, z: Array) -> Array:
        """Return the derivatives of the objective by the variables."""
        if self.epigraph:
            return np.append(np.zeros(len(self.low)), np.full(self.bounds_t, 1.0 / self.bounds_t))
        rate = self.sign * self.value(z)[1] / self.scale
        return rate if np.isfinite(rate).all() else np.zeros(len(z))

    def spare(self, z: Array) -> Array:
        """Return the constraints, which have to be at least 0: t less each row, then margins of conditions."""
        margins = self.margins(z).value - SLACK
        margins = np.where(np.isfinite(margins), margins, -FAILED)
        if not self.epigraph:
            return margins
        return np.concatenate([self._slots @ z[len(self.low) :] - self.rows(z)[0], margins])

    def spare_rate(self, z: Array) -> Array:
        """Return the derivatives of `spare` by the variables (row, variable)."""
        margins = np.nan_to_num(self.margins(z).rates.T * (self.high - self.low), posinf=0.0, neginf=0.0)
        lower = np.concatenate([margins, np.zeros((len(margins), self.bounds_t))], axis=1)
        if not self.epigraph:
            return lower
        upper = np.concatenate([-self.rows(z)[1], self._slots], axis=1)
        return np.concatenate([upper, lower])


def _by_case(values: Array, rates: Array, cases: int) -> NumberWithRates:
    """Return a metric (case, row) with rates (factor, case, row), from rows (row,) that are sorted by case."""
    return NumberWithRates(values.reshape(cases, -1), rates.T.reshape(rates.shape[1], cases, -1))


def _column(value: Any, factors: int) -> NumberWithRates:
    """Return a parameter (case, 1) with rates (factor, case, 1)."""
    if not isinstance(value, NumberWithRates):
        return NumberWithRates(np.asarray(value, dtype=float)[:, None], np.zeros((factors, 1, 1)))
    return NumberWithRates(value.value[:, None], np.broadcast_to(value.rates, (factors, len(value.value)))[..., None])


def _reduced(metric: NumberWithRates, how: str) -> NumberWithRates:
    """Return the column of a metric (case, 1): the mean or sum of its rows, or the largest or least of them."""
    if how in ("mean", "sum"):
        share = 1.0 / metric.value.shape[1] if how == "mean" else 1.0
        value, rates = (np.sum(x, axis=-1, keepdims=True) * share for x in (metric.value, metric.rates))
        return NumberWithRates(value, rates)
    at = (np.argmin if how == "min" else np.argmax)(metric.value, axis=1)[:, None]
    rates = np.take_along_axis(metric.rates, np.broadcast_to(at, (len(metric.rates), *at.shape)), axis=2)
    return NumberWithRates(np.take_along_axis(metric.value, at, axis=1), rates)


def _along(value: NumberWithRates, rate: float) -> NumberWithRates:
    """Return the same numbers with one and the same rate."""
    return NumberWithRates(value.value, np.full((1, *np.shape(value.value)), rate))


def _flat(number: NumberWithRates, cases: int, factors: int) -> NumberWithRates:
    """Return the numbers (case,) with rates (factor, case) from those of shape (case, 1), or from one for all cases."""
    value = np.broadcast_to(number.value, (cases, 1))[:, 0]
    return NumberWithRates(value, np.broadcast_to(number.rates, (factors, cases, 1))[..., 0])
