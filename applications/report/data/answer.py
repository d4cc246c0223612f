"""The answer to the question of a study in words and key numbers: the chosen design, its values, its margins."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from applications.report.data.designs import SUMMED, DesignColumn
from applications.report.data.display import display_unit, quantity, rounded
from applications.report.data.results import Results
from applications.studies.columns import objective
from pipeline.execution.conventions import units_of
from robots.data_classes import dataclass

BOUND = re.compile(r"\s*(\w+)\s*(<=?|>=?)\s*(?:([-+]?\d*\.?\d+(?:[eE][-+]?\d+)?)|([A-Za-z]\w*))\s*")
WORST = ("worst", "max", "min")
"""Rules over operating cases by which one of them decides."""
MOST_NUMBERS = 6
MOST_WORDS = 6
"""Key numbers, and parameters that the answer names."""


@dataclass(frozen=True)
class KeyNumber:
    """A number of the chosen design: its column, and the bound that a condition sets, if any.

    The bound is a number, or that of another column `by`, such as the rated torque of a motor.
    """

    column: DesignColumn
    bound: float | None = None
    least: bool = False
    by: DesignColumn | None = None

    def bound_of(self, design: int) -> float | None:
        """Return the bound of a design, if there is one."""
        return self.bound if self.by is None else float(self.by.values[design])

    def spare(self, design: int) -> float | None:
        """Return the share of the bound that is left, below 0 if the bound is exceeded; None without a bound."""
        bound = self.bound_of(design)
        if not bound:
            return None
        value = float(self.column.values[design])
        return (value - bound if self.least else bound - value) / abs(bound)

    def note(self, results: Results, design: int) -> str:
        """Describe the number: the margin that is left to its bound, or its rank among designs."""
        spare, bound = self.spare(design), self.bound_of(design)
        if spare is not None and bound is not None:
            limit = f"{self.column.shown_in.text(bound)} at {'least' if self.least else 'most'}"
            if not np.isfinite(spare):
                return f"{limit}; no number: a sample failed"
            return f"{limit}: {rounded(100 * abs(spare), 2)} % {'to spare' if spare >= 0 else 'beyond it'}"
        mine = self.column.sign * self.column.values[design]
        if not np.isfinite(mine):
            return "no number: a sample failed"
        better, among = results.ranks(design)[self.column.name]
        which = "" if results.designs.meets.any() else ", none of which meets all conditions"
        return f"{_ordinal(better + 1)} of {among:,}{which}"


def _ordinal(place: int) -> str:
    if place == 1:
        return "best"
    ending = "th" if 10 <= place % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return f"{place:,}{ending} best"


def key_numbers(results: Results) -> tuple[KeyNumber, ...]:
    """Return the key numbers: objectives of the question, numbers with bounds, then other metrics."""
    table = results.designs
    bounds = dict(_bounds(results))
    requested_columns = [table.column(name) for name in table.asked]
    further_columns = [
        column for column in table.objectives if column.name in bounds and column not in requested_columns
    ]
    further = [
        column
        for column in table.objectives
        if column not in requested_columns and column not in further_columns and column.varies
    ]
    names = [*requested_columns, *further_columns, *further][:MOST_NUMBERS]
    return tuple(KeyNumber(column, *bounds.get(column.name, (None, False, None))) for column in names)


def _bounds(results: Results) -> Iterator[tuple[str, tuple[float | None, bool, DesignColumn | None]]]:
    """Yield the bounds on metrics by name, from conditions such as `condition < 6 and rms_force <= rated_torque`.

    The name of a metric that the table adds over actuators means the hardest of them in a condition: no column has it.
    """
    table = {column.name: column for column in results.designs.columns if not column.objective}
    for text in results.question.where:
        if re.search(r"\b(or|not)\b", text):
            continue  # a bound of one branch does not bound the whole
        for part in re.split(r"\band\b", text):
            if (match := BOUND.fullmatch(part.strip(" ()"))) is not None:
                least, name = match[2].startswith(">"), _column_of(match[1])
                if match[4] is None:
                    yield name, (float(match[3]), least, None)
                elif match[4] in table:
                    yield name, (None, least, table[match[4]])


def _column_of(name: str) -> str:
    """Return the column of the table that has the values of a name in a condition; empty where none has."""
    if name in SUMMED:
        return ""
    base = name.removesuffix("_sum")
    return base if base in SUMMED else name


def condition_words(results: Results, text: str) -> str:
    """Return a condition in words, its bounds on numbers of the table with their units: peak velocity < 0.6 m/s."""
    columns = {column.name: column for column in results.designs.columns if not column.texts}

    def words(part: str) -> str:
        plain, match = part.strip().replace("_", " "), BOUND.fullmatch(part)
        column = columns.get(_column_of(match[1])) if match and match[3] else None
        if match is None or column is None:
            return plain
        return f"{match[1].replace('_', ' ')} {match[2]} {quantity(float(match[3]), column.units)}"

    return " and ".join(map(words, re.split(r"\band\b", text)))


def question_words(results: Results) -> str:
    """Describe the question of the study in a sentence or two: objectives, cases and conditions."""
    table = results.designs
    named = [table.column(name) for name in table.asked] or [column for column in (table.first,) if column is not None]
    if not named:
        return ""
    words = ", then ".join(f"{'least' if column.sign > 0 else 'largest'} {column.words}" for column in named)
    text = f"Objectives: {words}" if table.asked else f"No objective was given; the first metric decides: {words}"
    if results.question.cases:
        cases = "; ".join(_span(results, name) for name in results.question.cases)
        text += f". The worst of {table.numbers.shape[1]} operating cases ({cases}) counts{_unless(results)}"
    if (sets := results.by_case.sizes.get("friction", 1)) > 1:
        text += f". {_over_sets(results, sets)}"
    if results.question.where:
        text += (
            f". Conditions: {'; '.join(condition_words(results, condition) for condition in results.question.where)}"
        )
    return f"{text}."


def _unless(results: Results) -> str:
    """Return the exception of objectives with a rule of their own over the cases."""
    every = all(_is_worst(text) for text in results.question.objectives)
    return "" if every else ", unless an objective says otherwise"


def _is_worst(text: str) -> bool:
    """Return whether an objective is the worst over its cases, so that one of them decides."""
    target = objective(text)
    return target.over in WORST and (not target.tolerances or target.tolerances in WORST)


def _over_sets(results: Results, sets: int) -> str:
    """Describe the rule over several friction sets: the worst counts; sums and means take all of them."""
    names = [name for text in results.question.objectives for name in objective(text).expression.names]
    rules = [f"{name.replace('_', ' ')} is over all of them" for name in names if name.endswith(("_sum", "_mean"))]
    return ", but ".join([f"The worst of {sets} friction sets counts", *dict.fromkeys(rules)])


def _span(results: Results, name: str) -> str:
    values = results.by_case[name]
    if values.dtype.kind not in "fiu":
        return f"{len(np.unique(values))} {name.replace('_', ' ')} names".replace("trajectory names", "trajectories")
    low, high = float(values.min()), float(values.max())
    unit = display_unit(units_of(values.attrs), high)
    return f"{name.replace('_', ' ')} {unit.number(low)} to {unit.text(high)}"


def answer_words(results: Results) -> str:
    """Format the chosen design as a sentence: parameters, the first objective, and the deciding case."""
    table, place = results.designs, results.place
    decide = table.choices[:MOST_WORDS] or table.parameters[:MOST_WORDS]
    names = ", ".join(f"{column.words} {column.text_at(place)}" for column in decide)
    text = f"Design {results.name_of(results.design)}" + (f": {names}" if names else "")
    first = table.first
    if first is not None and np.isfinite(first.values[place]):
        text += f". Its {first.words} is {first.text_at(place)}"
        if results.question.cases and _decides(results):
            text += f", reached with {results.case_words(results.worst_case(place))}"
        if table.count > 1 and not first.varies:
            text += ", as that of all designs"
    used = [
        f"{number.column.words} {rounded(100.0 * (1.0 - spare), 2)} % of {number.by.words}"
        for number in key_numbers(results)
        if number.by is not None and not number.least and (spare := number.spare(place)) is not None
    ]
    return f"{text}; {', '.join(used)}." if used else f"{text}."


def _decides(results: Results) -> bool:
    """Return whether one case decides the first objective, as for the worst of them; a mean is reached in none."""
    return all(_is_worst(text) for text in results.question.objectives[:1])


def verdict(results: Results) -> tuple[bool, str]:
    """Return whether the chosen design meets all requirements, and a text with the number of such designs."""
    table = results.designs
    count, good = table.totals.meets, table.totals.good
    if results.question.where:
        have = "meet all conditions"
    else:  # a sample that fails is a result where the share of usable ones is a metric
        have = "have usable samples" if "usable_share" in results.by_case else "have no failed sample"
    total = f"{count:,} of {table.totals.designs:,} designs {have}"
    if results.incomplete:
        total += f"; {results.incomplete:,} more lack an operating case"
    if not count:
        why = "no design meets all conditions" if good else "every design has a failed sample"
        first = table.first
        has_number = first is not None and bool(np.isfinite(first.values[results.place]))
        shown = "the design with the best first number is shown" if has_number else "this one is no better than others"
        return False, f"{why[0].upper()}{why[1:]}: {shown}."
    if not table.meets[results.place]:
        return False, f"This design does not meet all conditions; {total}."
    best = "The best by the first objective" if table.asked else "The best by the first metric"
    if table.count > 1 and table.first is not None and not table.first.varies:
        best = "The first, because this number is the same for all"
    return True, f"{best if results.place == table.best else 'Chosen by number'}: {total}."
