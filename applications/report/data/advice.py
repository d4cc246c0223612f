"""Answers to four questions about the chosen design: gain, certainty, limits, and next steps."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property

import numpy as np

from applications.report.data.answer import KeyNumber, condition_words, key_numbers
from applications.report.data.designs import DesignColumn
from applications.report.data.display import display_unit, percent, quantity
from applications.report.data.results import Results
from applications.studies.columns import Objective, base_of, condition, objective
from applications.studies.limit_numbers import LimitNumber, scaled_limits, spares
from applications.studies.link_masses import weightless
from applications.studies.outlook import OFF, RELAXED, STEP, Limit, Outlook, outlook, parts_of, row_limits
from applications.studies.problem import DesignProblem
from applications.studies.space import is_dim
from pipeline.errors import InputError
from pipeline.sweep.model import Sweep
from robots.data_classes import dataclass, replace
from robots.quantities import QUANTITIES, names

EDGE = 0.02
"""Distance from the end of a swept range, as a share of it, up to which a design counts as at the edge."""
MOST_SAMPLES = 200_000
"""Samples of a design, over all its cases and trajectories, up to which derivatives are computed for a page."""
MOST_STEPS = 5_000
"""Steps of a simulated design, up to which differences are: they take thousands of simulations of it."""
MOST_ROWS, MOST_LIMITS = 4, 6
PATHS = names("path")
WITHIN_RANGES = "1 - limit_margin <= 1"
"""The condition that joints stay within their ranges; else samples fail."""
LEAST_GAIN = 1e-3
"""Share of the objective below which a better design nearby is not recommended."""


@dataclass(frozen=True)
class Advice:
    """Answers about the chosen design of results, from stored designs and, where there are any, exact derivatives."""

    results: Results

    @property
    def column(self) -> DesignColumn | None:
        """Column of the objective that decides."""
        return self.results.designs.first

    @cached_property
    def _target(self) -> Objective | None:
        question = self.results.question
        if question.objectives:
            return objective(question.objectives[0])
        return objective(self.column.name) if self.column is not None else None

    @cached_property
    def _scaled(self) -> tuple[Sweep | None, tuple[LimitNumber, ...]]:
        """The sweep with the numbers of its limits as parameters, and these."""
        return (None, ()) if self.results.sweep is None else scaled_limits(self.results.sweep, self._design)

    @cached_property
    def _problem(self) -> tuple[DesignProblem | None, str]:
        """The sweep as functions of its factors, rows of tables as in the design, or the reason why it has none."""
        sweep, target = self._scaled[0], self._target
        if sweep is None or target is None:
            return None, self.results.why_no_sweep or "no metric decides"
        try:
            problem = self._under_cases(sweep, target)
            if why := _too_long(problem):
                return None, why
            free = [name for name in problem.names if name in self._free]
            if not free:
                return None, "no parameter varies between bounds"
            problem.require_columns(target.expression.names)
            if cases := [name for name in self.results.question.cases if is_dim(sweep, name)]:
                expressions = (target.expression, *map(condition, parts_of(self.results.question.where)))
                if any(len(problem.require_columns(each.names)) > 1 for each in expressions):
                    return None, f"several metrics in one expression under the cases {' and '.join(cases)}"
            return problem.about(free, self._design), ""
        except InputError as error:
            return None, str(error.problems[0].got)

    @property
    def _design(self) -> dict[str, object]:
        """The numbers of the design by name."""
        place, coordinates = self.results.place, self.results.by_case.coords
        return {str(name): x.values[place] for name, x in coordinates.items() if x.dims == ("design",)}

    @cached_property
    def _metrics(self) -> list[str]:
        """Metrics of the question."""
        expressions = [] if self._target is None else [self._target.expression]
        names = [name for each in (*expressions, *map(condition, self.results.question.where)) for name in each.names]
        return [name for name, _ in map(base_of, names) if name in QUANTITIES]

    @cached_property
    def _spares(self) -> dict[str, float]:
        """Remaining share of each number of the limits, by its parameter; NaN where only its gain is known."""
        (sweep, numbers), cases = self._scaled, self.results.question.cases
        if sweep is None or not self._has_number:
            return {}
        kept = [number for number in numbers if number.on_paths] if {*PATHS} & {*self._metrics} else []
        kept += [number for number in numbers if number.places and not number.margin]
        on_paths = {number.parameter: math.nan for number in kept if not number.is_swept}  # a row has its gains
        measured = [number for number in numbers if number not in kept and number.margin]
        if not measured:
            return on_paths
        of_designs = tuple(name for name in cases if not is_dim(sweep, name))
        try:
            problem = DesignProblem.of(
                sweep, {number.parameter: (0.5 * number.value, 2.0 * number.value) for number in numbers}, of_designs
            )
            return on_paths if _too_long(problem) else on_paths | spares(problem.about([], self._design), measured)
        except InputError:
            return on_paths

    @property
    def _deciding(self) -> dict[str, float]:
        """The shares left of numbers of the limits on which the question depends, or whether samples fail."""
        names = {n.parameter for n in self._scaled[1] if n.decides(self._metrics) or (n.fails and self._may_fail)}
        return {name: share for name, share in self._spares.items() if name in names}

    @property
    def _may_fail(self) -> bool:
        """Return whether no sample of the design may fail; shares of samples are results."""
        return "usable_share" not in self.results.by_case

    def _under_cases(self, sweep: Sweep, target: Objective) -> DesignProblem:
        """Return the problem of a sweep; where the worst counts, friction sets and trajectories are no cases of it."""
        cases = self.results.question.cases
        if target.over == "worst" and not target.tolerances:
            cases = tuple(name for name in cases if not is_dim(sweep, name))
        return DesignProblem.of(sweep, cases=cases)

    @property
    def _free(self) -> frozenset[str]:
        """Names of the parameters that vary by themselves, not as rows of a table or with a label."""
        table = self.results.designs
        return frozenset(f.name for f in table.factors if f.kind == "free") & {column.name for column in table.choices}

    def _stored(self, problem: DesignProblem) -> dict[str, float]:
        return problem.stored_design(self.results.by_case, self.results.place)

    @cached_property
    def prospect(self) -> tuple[Outlook | None, str]:
        """The outlook from the design, or the reason why none exists."""
        (problem, why), target = self._problem, self._target
        if problem is None or target is None:
            return None, why
        if not self.results.designs.meets[self.results.place]:
            return None, "the design breaks a condition"
        numbers, where = self._deciding, [*self.results.question.where]
        if any(number.fails and number.parameter in numbers for number in self._scaled[1]) and self._may_fail:
            where.append(WITHIN_RANGES)
        try:
            values = {number.parameter: number.value for number in self._scaled[1]}
            scales = {name: (0.5 * values[name], 1.5 * values[name]) for name in numbers}
            point = np.array([*self._stored(problem).values(), *(values[name] for name in numbers)])
            wider = replace(problem, bounds={**problem.bounds, **scales})
            return outlook(wider, target, where, point, numbers), ""
        except InputError as error:
            first = error.problems[0]
            return None, f"{first.got}"

    @cached_property
    def _row(self) -> tuple[Limit, ...]:
        """Numbers in the table rows of the design whose change improves the objective."""
        (problem, _), target, sweep = self._problem, self._target, self.results.sweep
        if problem is None or target is None or sweep is None:
            return ()
        members = {name for factor in problem.space.varied() if factor.kind == "category" for name in factor.members}
        numbers = [p.name for p in sweep.family.parameters if p.name in members and p.name in problem.constant]
        factors = {**problem.constant, **self._stored(problem)}
        return row_limits(problem.about((), factors), target, {name: problem.constant[name] for name in numbers})

    def better(self) -> str:
        """Compare the design with the next, the median of all, and the robot's defaults."""
        column, place, table = self.column, self.results.place, self.results.designs
        if column is None or not np.isfinite(column.values[place]):
            return "Not known: this design has no number."
        mine = float(column.values[place])
        rivals = np.flatnonzero(table.meets & (np.arange(table.count) != place))
        if not len(rivals):
            other = "other " if table.meets[place] else ""
            return f"No {other}design meets all conditions." if table.count > 1 else "There is no other design."
        order = rivals[np.argsort(column.sign * column.values[rivals], kind="stable")]
        usable = column.values[table.meets & table.fair & np.isfinite(column.values)]
        next_one, middle = int(order[0]), float(np.median(usable)) if len(usable) else np.nan
        number = self.results.name_of(self.results.hardest(next_one))
        parts = [f"{_compared(column, mine, float(column.values[next_one]))} the next, design {number}"]
        parts.append(f"{_compared(column, mine, middle)} the median of {self._usable}")
        if (usual := self._usual()) is not None:
            parts.append(f"{_compared(column, mine, usual)} the robot with its default parameters")
        shown = ", ".join([*parts[:-1], f"and {parts[-1]}"] if len(parts) > 1 else parts)
        return f"{_capital(column.words)} {column.text_at(place)}: {shown}."

    @property
    def _usable(self) -> str:
        """Description of the designs that count."""
        return "designs that meet all conditions" if self.results.question.where else "all without a failed sample"

    @property
    def _has_number(self) -> bool:
        column = self.column
        return column is not None and bool(np.isfinite(column.values[self.results.place]))

    def _usual(self) -> float | None:
        """Return the objective of a design with the robot's defaults; None if it fails."""
        (problem, _), target = self._problem, self._target
        if problem is None or target is None or self.results.designs.numbers.shape[1] < problem.case_count:
            return None
        if not {*problem.names} <= {p.name for p in problem.sweep.family.parameters}:
            return None  # gains have no usual values
        point = problem.default_design()
        value = float(problem.objective(point, target)[0]) if np.isfinite(point).all() else np.nan
        return value if np.isfinite(value) else None

    def sure(self) -> str:
        """Describe the certainty: deviations of parameters, ends of swept ranges, variance that is not explained."""
        column, prospect = self.column, self.prospect[0]
        if not self._has_number:
            return "Not known: this design has no number."
        parts = []
        if column is not None and prospect is not None and prospect.value:
            rise = abs(prospect.off - prospect.value) / abs(prospect.value)
            worse = f"{column.words} is at most {percent(rise)} worse, to first order"
            parts.append(f"If every parameter is off by {percent(OFF)}, {worse}")
        parts += [f"{text} is at the edge of its swept range" for text in self._edges()]
        if (problem := self._problem[0]) is not None:
            light = weightless(problem, np.array([*self._stored(problem).values()]))
            named = " and ".join(name.replace("_", " ") for name in light)
            parts += [f"no mass follows {named}: longer links weigh as much as shorter ones here"] if light else []
        shares = self.results.runs.explained
        if shares and 0.0 < shares[0][1].unexplained < 1.0:
            explained, share = shares[0][0], percent(shares[0][1].unexplained)
            parts.append(f"a polynomial fitted to the designs leaves {share} of the variance of {explained.words} open")
        return _sentences(parts) or "No errors are known: the dataset has the stored numbers alone."

    def _edges(self) -> Iterator[str]:
        for column, low, high in self._spans():
            value, unit = float(column.values[self.results.place]), column.shown_in
            if min(value - low, high - value) <= EDGE * (high - low):
                yield f"{column.words} {unit.text(value)} ({unit.number(low)} to {unit.text(high)})"

    def _ends(self) -> Iterator[tuple[float, str]]:
        """Give the ends of ranges at which the design lies: the room that is left, as a share, and words."""
        for column, low, high in self._spans():
            value = float(column.values[self.results.place])
            for end, bound in (("least", low), ("largest", high)):
                if (room := abs(bound - value) / (high - low)) <= EDGE:
                    yield room, f"{end} {column.words} {column.shown_in.text(bound)}"

    def _spans(self) -> Iterator[tuple[DesignColumn, float, float]]:
        """Give the varied parameters with the ends of their ranges; those of two values alone have no inside."""
        for column in filter(lambda column: column.name in self._free, self.results.designs.choices):
            values = np.unique(column.values[np.isfinite(column.values)])
            if len(values) > 2:
                yield column, float(values[0]), float(values[-1])

    def limits(self) -> list[tuple[str, str, str]]:
        """Return rows for the design's limits, tightest first: limit, share left, gain where it is relaxed by 1 %.

        Numbers of its rows of tables are first: a better row would have other such numbers.
        """
        prospect, column = self.prospect[0], self.column
        numbers = {number.parameter: number for number in self._scaled[1]}
        if prospect is None or column is None:
            spare = [(number, number.spare(self.results.place)) for number in key_numbers(self.results)]
            held = [(share, self._bound(number)) for number, share in spare if share is not None]
            held += [(share, _in_words(numbers[name])) for name, share in self._spares.items()]
            margins = [(share, words) for share, words in held if np.isfinite(share)]
            margins += self._ends() if self._has_number else ()
            return [(words, percent(share), "not known") for share, words in sorted(margins)]
        rows = [(self._of_row(limit), "a row", quantity(limit.gain, column.units)) for limit in self._row[:MOST_ROWS]]
        unused = {name: share for name, share in self._spares.items() if name not in self._deciding}
        limits = [limit for limit in prospect.limits if limit.text != WITHIN_RANGES]
        limits += [Limit(name, share, 0.0, name, is_number=True) for name, share in unused.items() if share == share]
        for limit in sorted(limits, key=lambda limit: (limit.spare, -np.nan_to_num(limit.gain, nan=np.inf)))[
            :MOST_LIMITS
        ]:
            if limit.is_number:
                text = _in_words(numbers[limit.factor])
            else:
                text = (
                    self._end(limit.text, limit.factor) if limit.factor else condition_words(self.results, limit.text)
                )
            share = percent(limit.spare) if np.isfinite(limit.spare) else "no share of it"
            rows.append((text, share, self._gain(limit, column, decides=limit.factor not in unused)))
        return rows

    def _bound(self, number: KeyNumber) -> str:
        """Return the condition that bounds a number, in words."""
        texts = (text for text in parts_of(self.results.question.where) if text.split()[0] == number.column.name)
        return next((condition_words(self.results, text) for text in texts), number.column.words)

    def _gain(self, limit: Limit, column: DesignColumn, *, decides: bool) -> str:
        """Return what relaxing a limit gains, in words."""
        if not decides:
            return "nothing: no condition needs it" if self._may_fail else "not known"
        if np.isnan(limit.gain):
            return "not known"
        gain = quantity(limit.gain, column.units) if limit.gain else "nothing"
        gain += " (1 % of the swept range)" if limit.gain and limit.factor and not limit.is_number else ""
        return gain + (self._if_steps_hold if limit.gain > 0.0 else "")

    @property
    def _if_steps_hold(self) -> str:
        """Tight conditions without a slope, which gains do not see, in words; empty without one."""
        prospect = self.prospect[0]
        steps = [] if prospect is None else [limit.text for limit in prospect.limits if np.isnan(limit.gain)]
        return f", if {' and '.join(condition_words(self.results, text) for text in steps)} holds" if steps else ""

    def unlimited(self) -> str:
        """Return the sentence for a design without limits."""
        if not self._has_number:
            return "Not known: this design has no number."
        return "No condition with a margin was given, and no range ends near it."

    def _of_row(self, limit: Limit) -> str:
        """Return the words for a number of a row: whether more or less of it gains, and how much it is."""
        problem, sweep = self._problem[0], self.results.sweep
        assert problem is not None
        assert sweep is not None
        unit = next(p.unit for p in sweep.family.parameters if p.name == limit.factor)
        return f"{limit.text.replace('_', ' ')} than {quantity(problem.constant[limit.factor], unit)}"

    def _end(self, text: str, factor: str) -> str:
        problem = self._problem[0]
        assert problem is not None
        value = problem.bounds[factor][0 if text.startswith("least") else 1]
        unit = next((c.units for c in self.results.designs.columns if c.name == factor), "")
        return f"{text.replace('_', ' ')} {quantity(value, unit)}"

    def next_step(self) -> list[str]:
        """Return the next steps as sentences, the most promising first."""
        (prospect, why), column = self.prospect, self.column
        steps: list[str] = []
        if not self.results.designs.good.any() and not self._has_number:
            return ["Samples of every design fail: Failures has the reasons and a remedy for each."]
        if column is None:
            return ["Give metrics, such as peak_force: no number decides here."]
        if not self.results.designs.meets.any():
            return ["No design meets all conditions: loosen the one that most break (see Failures), or widen ranges."]
        if prospect is not None:
            share = abs(prospect.value - prospect.best) / (abs(prospect.value) or 1.0)
            if share > LEAST_GAIN:
                value = column.shown_in.text(prospect.best)
                steps.append(
                    f"Improve it by derivatives (limbsweep study optimise): a design within {percent(STEP)} of each "
                    f"range, computed, has {column.words} {value}, {percent(share)} better."
                )
            ends = (limit for limit in prospect.limits if limit.factor and not limit.is_number)
            for limit in sorted(ends, key=lambda limit: -limit.gain):
                if limit.gain > 0.0 and limit.spare <= EDGE:
                    steps.append(
                        f"Sweep {limit.factor.replace('_', ' ')} beyond its {limit.text.split()[0]} value: "
                        f"{percent(RELAXED)} of the range gains {quantity(limit.gain, column.units)} where "
                        f"the others follow{self._if_steps_hold}."
                    )
            if not steps:
                nothing = f"Nothing near this design is more than {percent(max(share, LEAST_GAIN))} better"
                steps.append(f"{nothing}, to first order; look elsewhere by limbsweep study search.")
        else:
            steps = [f"Sweep beyond the edge: {text}." for text in self._edges()]
            steps.append(self._without_derivatives(why))
        return steps

    def _without_derivatives(self, why: str) -> str:
        """Return the step from a design without derivatives; none exist between the rows of a table."""
        choices = self.results.designs.choices
        if not choices:
            return "Sweep a parameter: no other design is there to compare with."
        if not any(column.name in self._free for column in choices):
            return "Only rows of tables vary, and no design lies between them: compute more of them by study search."
        sweep = self.results.sweep
        is_refused = bool(self.results.question.cases) or sweep is None or sweep.simulation is not None
        refine = "narrow the ranges about this one in a copy of the sweep" if is_refused else "study rank --refine"
        return f"Derivatives are not known here: {why}. Add designs about this one: {refine}."


def _too_long(problem: DesignProblem) -> str:
    """Return why derivatives of a design take too long for a page; empty where they do not."""
    sweep = problem.sweep
    samples = sum(grid.samples for grid in sweep.grids) * sweep.sizes["friction"] * problem.case_count
    if sweep.simulation is None:
        return f"a design has {samples:,} samples" if samples > MOST_SAMPLES else ""
    steps = samples * sweep.simulation.simulation.every
    return f"a design has {steps:,} steps of a simulation" if steps > MOST_STEPS else ""


def _in_words(number: LimitNumber) -> str:
    """Return the words for a number of the limits: range of elbow, -40 to 60°."""
    unit = display_unit(number.unit, max(map(abs, number.ends)))
    *first, last = number.ends
    return f"{number.words}, {''.join(f'{unit.number(end)} to ' for end in first)}{unit.text(last)}"


def _compared(column: DesignColumn, mine: float, reference: float) -> str:
    """Compare two values of a column in words."""
    if not np.isfinite(reference) or reference == 0.0:
        return "not comparable with"
    share = abs(mine - reference) / abs(reference)
    return f"{percent(share)} {'below' if mine < reference else 'above'}" if share >= 5e-5 else "the same as"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _sentences(parts: list[str]) -> str:
    return " ".join(f"{_capital(part)}." for part in parts)
