"""Outlook from a design of a study: its limits, the gain of relaxing each, and how far it is from better designs.

Losses are to first order, by exact derivatives at the design. The worst rows of a metric (actuators, trajectories,
parts of the time) are tangents, and so are the conditions; the least objective within a step along each range is a
linear programme. The design to which it leads is computed; where it breaks a condition or is no better, less of the
step is taken. Some rounds lead to the best design within the step; gains are those of the last programme with a limit
relaxed: all factors follow.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

import numpy as np
from scipy.optimize import OptimizeResult, linprog

from applications.studies.columns import Array, Objective, condition
from applications.studies.optimisation import SLACK, WINDOWS, LocalSearch, check_derivatives, value_with_rates
from applications.studies.problem import DesignProblem
from robots.data_classes import dataclass, replace

STEP = 0.1
"""Largest change of a factor, as a share of its range."""
RELAXED = 0.01
"""Share of its bound by which a condition is relaxed, and of its range by which a range is widened."""
PARTS = (1.0, 0.9, 0.7, 0.4, 0.1)
"""Parts of the step that are tried, until a design is better and meets the conditions."""
OFF = 0.01
"""Share of each value by which a design may be off."""
ROUNDS, ENOUGH = 5, 1e-3
"""Rounds of tangents at most, and the share of the objective below which a round is the last."""
NOTHING = 1e-9
"""Gain, as a share of the objective, that counts as none."""


@dataclass(frozen=True)
class Limit:
    """A condition, an end of a swept range, or a number of a table's row: share that is left, gain of relaxing it.

    It is relaxed by RELAXED. `factor` is the name of a factor whose range ends here, else empty; `gain` has the unit of
    the objective, NaN for a tight condition without a slope, such as one on a share of samples. With `is_number` the
    factor is a number that no design varies.
    """

    text: str
    spare: float
    gain: float
    factor: str = ""
    is_number: bool = False


@dataclass(frozen=True)
class Outlook:
    """Value of the objective, that of a better design within STEP, most value if all factors are OFF to first order.

    limits: tightest first. design: the factors of the better design, by name.
    """

    value: float
    best: float
    off: float
    limits: tuple[Limit, ...]
    design: dict[str, float]


def parts_of(conditions: Sequence[str]) -> tuple[str, ...]:
    """Split conditions that are joined by `and`; one with `or` or `not` stays whole."""
    parts: list[str] = []
    for text in conditions:
        split = [text] if re.search(r"\b(or|not)\b|[()]", text) else re.split(r"\band\b", text)
        parts += [part.strip() for part in split]
    return tuple(parts)


def outlook(
    problem: DesignProblem,
    target: Objective,
    where: Sequence[str],
    design: Array,
    numbers: Mapping[str, float] | None = None,
) -> Outlook:
    """Return the outlook from a design (factor,) that meets the conditions. Raises InputError without derivatives.

    numbers: the last factors, which stay as they are unless one is relaxed, by RELAXED of its range, with the share
    that is left of each; NaN where it is used up if its relaxing gains, and else no limit.
    """
    numbers = numbers or {}
    texts = parts_of(where)
    conditions = tuple(condition(text) for text in texts)
    check_derivatives(problem, target, conditions)
    search = LocalSearch(problem, target, conditions, np.asarray(design, dtype=float), WINDOWS)
    x = search.scaled(search.begin)
    value, tangents = search.value(x)[0], _Tangents.of(search, search.prepare(x), len(x))
    free = np.arange(len(x)) < len(x) - len(numbers)
    sizes = np.where(free, OFF * np.abs(search.begin) / (search.high - search.low), 0.0)
    off = value + search.sign * search.scale * tangents.off(sizes)
    nearby = _nearby(search, x, tangents, np.where(free, STEP, 0.0))
    if nearby is None:  # the design breaks a condition
        return Outlook(value, value, off, (), {})
    limits = [*_conditions(search, texts, nearby), *_ends(search, x[free], nearby), *_numbers(search, numbers, nearby)]
    limits.sort(key=lambda limit: (limit.spare, -np.nan_to_num(limit.gain, nan=np.inf)))
    design = search.low + (search.high - search.low) * nearby.place
    better = {name: float(x) for name, x in zip(problem.names, design, strict=True) if name not in numbers}
    return Outlook(value, nearby.value, off, tuple(limits), better)


@dataclass(frozen=True)
class _Nearby:
    """A better design within STEP of each range: its scaled factors, its value, and the programme of tangents there.

    `bounds` are those of the variables of the programme, the steps of the factors first; `least` is its value.
    """

    place: Array
    value: float
    tangents: _Tangents
    bounds: tuple[tuple[float | None, float | None], ...]
    least: float

    def gain(self, search: LocalSearch, *, rows: slice | None = None, factor: int = 0, end: float = 0.0) -> float:
        """Return the gain if rows, or an end (-1 or 1) of the range of a factor, are relaxed by RELAXED."""
        wider, bounds = self.tangents.bounds.copy(), list(self.bounds)
        if rows is None:
            low, high = bounds[factor]
            assert low is not None
            assert high is not None
            bounds[factor] = (low - RELAXED, high) if end < 0.0 else (low, high + RELAXED)
        else:
            wider[rows] += RELAXED / 2.0  # of a bound, in a margin
        relaxed = _solved(replace(self.tangents, bounds=wider), bounds)
        gain = self.least - float(relaxed.fun) if relaxed.status == 0 else 0.0
        return gain * search.scale if gain > NOTHING else 0.0


def _solved(tangents: _Tangents, bounds: Sequence[tuple[float | None, float | None]]) -> OptimizeResult:
    """Solve the programme of some tangents within bounds of its variables."""
    return linprog(tangents.cost, A_ub=tangents.rows, b_ub=tangents.bounds, bounds=bounds, method="highs")


def _nearby(search: LocalSearch, x: Array, tangents: _Tangents, step: Array) -> _Nearby | None:
    """Return the best design of some rounds of tangents from x, each at the best so far; None where x is not allowed.

    Gains are those of the last round: at x itself other rows of a metric can be the worst than where the design leads.
    """
    low, high = np.minimum(np.maximum(x - step, 0.0), x), np.maximum(np.minimum(x + step, 1.0), x)
    place, value, nearby = x, search.value(x)[0], None
    for _ in range(ROUNDS):
        free = [(None, None)] * search.bounds_t
        bounds = (*zip((low - place).tolist(), (high - place).tolist(), strict=True), *free)
        programme = _solved(tangents, bounds)
        if programme.status != 0:
            break
        before, solved = value, tangents
        value, place = _computed(search, place, programme.x[: len(x)])
        nearby = _Nearby(place, value, solved, bounds, float(programme.fun))
        if abs(value - before) <= ENOUGH * abs(before):
            break
        tangents = _Tangents.of(search, search.prepare(place), len(x))
    return nearby


def _computed(search: LocalSearch, x: Array, step: Array) -> tuple[float, Array]:
    """Return the value and the place of a better design along a step that meets the conditions, else those of x."""
    value = search.value(x)[0]
    for part in PARTS:
        place = x + part * step
        found = search.value(place)[0]
        if search.sign * (found - value) < 0.0 and (search.margins(place).value >= -SLACK).all():
            return found, place
    return value, x


@dataclass(frozen=True)
class _Tangents:
    """The linear programme: least `cost` . z where `rows` . z <= `bounds`, z the steps of factors and the bounds t.

    values (row,) and slopes (row, factor) of the objective, in units of its start.
    """

    cost: Array
    rows: Array
    bounds: Array
    values: Array
    slopes: Array

    @classmethod
    def of(cls, search: LocalSearch, first: Array, factors: int) -> _Tangents:
        """Return the tangents at the first point of a search."""
        spare, slope = search.spare(first), search.spare_rate(first)
        if search.epigraph:
            values, slopes = search.rows(first)
            bound = _held(spare)
            bound[: len(values)] = -values  # t is free: tangents are about d = 0
        else:
            rate = np.asarray(search.goal_rate(first))
            values, slopes, bound = np.array([search.goal(first)]), rate[None, :factors], _held(spare)
        cost = np.asarray(search.goal_rate(first), dtype=float)
        return cls(cost, -slope, bound, values, slopes)

    def off(self, sizes: Array) -> float:
        """Return the largest rise of the objective for changes up to some sizes (factor,)."""
        return float((self.values + np.abs(self.slopes) @ sizes).max() - self.values.max())


def _held(spare: Array) -> Array:
    """Return the margins of conditions; zero where they are met within SLACK."""
    return np.where((spare < 0.0) & (spare >= -2.0 * SLACK), 0.0, spare)


def row_limits(problem: DesignProblem, target: Objective, row: Mapping[str, float]) -> tuple[Limit, ...]:
    """Return numbers of the row of a table, by name, whose change by RELAXED gains; the largest gain first.

    All else stays as it is in the problem at its constants. Raises InputError without derivatives.
    """
    numbers = {name: value for name, value in row.items() if value > 0.0}
    if not numbers:
        return ()
    check_derivatives(problem, target, ())
    spans = {name: ((1.0 - STEP) * value, (1.0 + STEP) * value) for name, value in numbers.items()}
    others = {name: value for name, value in problem.constant.items() if name not in numbers}
    varied = replace(problem, bounds=spans, constant=others)
    value, rates = value_with_rates(varied, target, np.array([*numbers.values()]))
    limits = []
    for (name, number), rate in zip(numbers.items(), -target.sign * rates, strict=True):
        if abs(gain := float(rate) * RELAXED * number) > NOTHING * abs(value):
            limits.append(Limit(f"{'more' if gain > 0.0 else 'less'} {name}", 0.0, abs(gain), name))
    return tuple(sorted(limits, key=lambda limit: -limit.gain))


def _conditions(search: LocalSearch, texts: Sequence[str], nearby: _Nearby) -> list[Limit]:
    """Return the conditions of the question, then those on designs, each by its tightest case."""
    names = (*texts, *(rule.text for rule in search.problem.space.conditions))
    every = search.margins(search.scaled(search.begin))
    margins, slopes = every.value, np.abs(every.rates).max(axis=0)
    first, limits = len(nearby.tangents.bounds) - len(margins), []
    for k, text in enumerate(names):
        cases = slice(k * search.cases, (k + 1) * search.cases)
        margin = float(margins[cases].min())
        gain = nearby.gain(search, rows=slice(first + cases.start, first + cases.stop))
        is_step = margin <= SLACK and not slopes[cases].any()
        limits.append(Limit(text, _share_of_bound(margin, text), math.nan if is_step else gain))
    return limits


def _share_of_bound(margin: float, text: str) -> float:
    """Return a margin as a share of the bound; infinite where the bound is zero, or of the other sign."""
    bound = 1.0 + margin if "<" in text else 1.0 - margin
    return 2.0 * margin / bound if bound > NOTHING else math.copysign(math.inf, margin)


def _ends(search: LocalSearch, x: Array, nearby: _Nearby) -> list[Limit]:
    """Return the ends of ranges that are within a step."""
    limits = []
    for k, name in enumerate(search.problem.names[: len(x)]):
        for words, end, room in (("least", -1.0, x[k]), ("largest", 1.0, 1.0 - x[k])):
            if room < STEP:
                gain = nearby.gain(search, factor=k, end=end)
                limits.append(Limit(f"{words} {name}", max(float(room), 0.0), gain, name))
    return limits


def _numbers(search: LocalSearch, numbers: Mapping[str, float], nearby: _Nearby) -> list[Limit]:
    """Return the numbers that are the last factors and limits."""
    limits, first = [], len(search.problem.names) - len(numbers)
    for k, (name, spare) in enumerate(numbers.items()):
        gain = nearby.gain(search, factor=first + k, end=1.0)
        if gain > 0.0 or not math.isnan(spare):
            limits.append(Limit(name, 0.0 if math.isnan(spare) else spare, gain, name, is_number=True))
    return limits
