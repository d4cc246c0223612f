"""The table of all designs of a store: swept parameters, and for each metric its worst value of a design.

A metric is reduced over everything but the design: energies are added over the actuators, and of friction sets,
trajectories, actuators and joints the worst counts. A design that fails on one trajectory has NaN.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from applications.report.data.display import DisplayUnit, unit_of, with_unit
from applications.report.data.selection import DesignCounts
from applications.studies.cases import labels_of
from applications.studies.columns import JOINTS, Objective, condition, feasible, objective, unit, value_of
from applications.studies.factors import Factor
from applications.studies.pareto import front
from applications.studies.shares import LEAST, Explained, from_samples
from applications.studies.space import DesignSpace
from pipeline.documents.dataset_names import CASE, FRICTION_SET, STORED
from pipeline.errors import InputError
from pipeline.execution.conventions import units_of
from pipeline.sweep.question.question import NO_QUESTION, StudyQuestion
from robots.data_classes import dataclass, field, replace
from robots.derivatives import PARAMETER
from robots.quantities import large_is_good
from storage.schema import DONE

if TYPE_CHECKING:
    from xarray import DataArray, Dataset

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

SUMMED = (
    *("energy", "regenerated_energy", "friction_loss", "work"),
    *("electrical_energy", "braking_energy", "electrical_work"),
)
"""Metrics of which the robot's is the sum over its actuators."""

NO_OBJECTIVES = (
    *("friction_residual", "unsettled_samples", "failed_samples", "worst_status"),
    *("integration_error", "integration_error_share"),
)
"""Variables about the reliability of a result, not about the quality of a design."""

PREFERRED = (
    *("rms_position_error", "rms_tracking_error", "settling_time"),  # which simulations have
    *("peak_force", "energy", "rms_force", "peak_power", "condition"),
)
"""Metrics in the order in which they come first."""

MOST_SHOWN = 5000
"""Designs that static figures show."""

ROUNDING = 1e-9
"""Difference, relative to the largest number, up to which designs have the same one: an axis needs a range."""

MOST_EXPLAINED = 6
"""Number of objectives whose shares of variance are shown."""

NEXT = 16
"""Best designs that are neighbours of the best one."""

SEED = 0


@dataclass(frozen=True)
class DesignColumn:
    """One number of every design, (design,): a parameter or an objective, `how` it was reduced, which way is good."""

    name: str
    units: str
    text: str
    values: Array
    objective: bool = False
    how: str = ""
    sign: float = 1.0
    """1 where small is good, -1 where large is."""
    texts: tuple[str, ...] = ()
    """Texts of a label, such as names of motors; values are places among them."""

    @property
    def label(self) -> str:
        """Name and unit as on an axis."""
        return self.words if self.units in ("", "1") else f"{self.words} [{self.units}]"

    @cached_property
    def shown_in(self) -> DisplayUnit:
        """The unit in which its numbers are shown."""
        return unit_of(self.units, self.values)

    @property
    def title(self) -> str:
        """Name and the unit in which its numbers are shown."""
        return with_unit(self.words, self.shown_in.unit)

    def text_at(self, design: int) -> str:
        """Return the number of a design, rounded, with its unit; of a label its text."""
        if self.texts:
            return self.texts[int(self.values[design])]
        return self.shown_in.text(float(self.values[design]))

    @property
    def words(self) -> str:
        """The name as a text."""
        return self.name.replace("_", " ")

    @property
    def text_of(self) -> str:
        """Description of the column, and of its reduction to one number for each design."""
        return ": ".join(text for text in (self.text, self.how) if text)

    @property
    def attributes(self) -> dict[str, str]:
        """Attributes of the column as a variable of a dataset."""
        return {"units": self.units, "long_name": self.text, "reduced": self.how}

    @cached_property
    def varies(self) -> bool:
        """Return whether the values of designs differ by more than rounding."""
        finite = self.values[np.isfinite(self.values)]
        return bool(finite.size) and bool(np.ptp(finite) > ROUNDING * np.abs(finite).max())


@dataclass(frozen=True, eq=False)
class Designs:
    """Table of designs, or rows that represent a larger one.

    `good` (design,) marks designs without a failed sample, in any of their operating cases.
    """

    columns: tuple[DesignColumn, ...]
    good: NDArray[np.bool_]
    meets: NDArray[np.bool_]
    """Mask of the designs that do not fail and meet all conditions."""
    numbers: Indices
    """Numbers in the store, (design, case)."""
    asked: tuple[str, ...] = ()
    """Names of the columns that are the objectives of the question, the first of which decides."""
    labels: tuple[DesignColumn, ...] = ()
    """Texts that designs have, such as the name of a motor."""
    factors: tuple[Factor, ...] = ()
    """Varied factors: the basis of causes, axes and choices."""
    levels: Mapping[str, Array] = field(default_factory=dict)
    """Each factor as a number of every design, (design,): of a table that of its row."""
    named: frozenset[str] = frozenset()
    """Names in objectives and conditions of the question."""
    drawn: NDArray[np.bool_] | None = None
    """Mask of the rows that were drawn at random from a larger table (design,); None where the table is whole."""
    larger: DesignCounts | None = None
    """Counts of the larger table; None where the table is whole."""

    @property
    def count(self) -> int:
        """Number of rows."""
        return len(self.good)

    @property
    def is_whole(self) -> bool:
        """Return whether the table has every design."""
        return self.larger is None

    @property
    def fair(self) -> NDArray[np.bool_]:
        """Mask of the rows that represent all designs (design,): of a part of a table those drawn at random."""
        return np.ones(self.count, bool) if self.drawn is None else self.drawn

    @cached_property
    def totals(self) -> DesignCounts:
        """Counts of all designs."""
        return self.larger or DesignCounts(self.count, int(self.good.sum()), int(self.meets.sum()))

    @property
    def parameters(self) -> tuple[DesignColumn, ...]:
        """Parameters that were varied, and derived parameters in the question."""
        named = {member for factor in self.factors for member in factor.members} | self.named
        every = (column for column in self.columns if not column.objective and column.varies)
        return tuple(column for column in every if column.name in named)

    @property
    def objectives(self) -> tuple[DesignColumn, ...]:
        """Objectives of the question, then the other metrics, the preferred ones first."""
        every = [column for column in self.columns if column.objective]
        first = [self.column(name) for name in self.asked]
        return (*first, *(column for column in every if column.name not in self.asked))

    def column(self, name: str) -> DesignColumn:
        """Return the column of that name."""
        return next(column for column in self.columns if column.name == name)

    def row(self, design: int) -> dict[str, float]:
        """Return the numbers of one design by column."""
        return {column.name: float(column.values[design]) for column in self.columns}

    @property
    def best(self) -> int:
        """The best design by the first objective, among designs that meet all conditions, or among all if none does.

        Of designs that differ in it by rounding alone, the best by the objectives after it, and of these the first.
        Without an objective the first that does not fail.
        """
        usable = self.meets if self.meets.any() else np.ones(self.count, bool)
        first = self.first
        if first is None:
            return int(np.argmax(self.good))
        best, order = None, [first, *(column for column in self.objectives if column is not first)]
        for column in order:
            costs = np.where(usable, column.sign * column.values, np.nan)
            if not np.isfinite(costs).any():
                continue
            least = float(np.nanmin(costs))
            best, usable = int(np.nanargmin(costs)), costs <= least + ROUNDING * abs(least)
        return int(np.argmax(usable)) if best is not None and usable.any() else int(np.argmax(self.good))

    @property
    def outstanding(self) -> Indices:
        """Rows of the best designs and the next, of all fronts, and of the ends of each column, ascending."""
        rows = [*self.fronts.values(), np.array([self.best]), np.flatnonzero(self.meets)[:2]]
        for column in self.columns:
            if np.isfinite(column.values).any():
                rows.append(np.array([np.nanargmin(column.values), np.nanargmax(column.values)]))
        if self.first is not None and self.meets.any():
            costs = np.where(self.meets, self.first.sign * self.first.values, np.inf)
            rows.append(np.argpartition(costs, min(NEXT, self.count) - 1)[:NEXT])
        return np.unique(np.concatenate(rows)).astype(np.int64)

    @property
    def first(self) -> DesignColumn | None:
        """The objective that decides: the first for which any design has a number; None if no objective has one.

        Where none is asked for, one in which designs differ, if there is any.
        """
        finite = [column for column in self.objectives if np.isfinite(column.values).any()]
        differing = [] if self.asked else [column for column in finite if column.varies]
        return next(iter(differing or finite), None)

    def place(self, number: int) -> int | None:
        """Return the row of the design with that number in the store; None where it is not in the table."""
        rows = np.flatnonzero((self.numbers == number).any(axis=1))
        return int(rows[0]) if len(rows) else None

    @cached_property
    def fronts(self) -> Mapping[tuple[str, str], Indices]:
        """Collect for each pair of objectives the designs that no other beats in both, along the front.

        Designs that break a condition are on no front.
        """
        pairs = combinations(self.objectives, 2)
        return {(a.name, b.name): _along_front(a, b, self.meets) for a, b in pairs}

    @cached_property
    def causes(self) -> Mapping[str, DesignColumn]:
        """A column of each varied factor, by its names in words: of a table its first number, called by its label."""
        table = {column.name: column for column in (*self.columns, *self.labels)}
        result: dict[str, DesignColumn] = {}
        for factor in self.factors:
            members = [table[name] for name in factor.members if name in table]
            numbers = [column for column in members if column.varies and not column.texts]
            label = next((column for column in members if column.texts), None)
            words = label.words if label else ", ".join(column.words for column in numbers)
            if numbers or label:
                result[words] = (numbers or [label])[0]  # type: ignore[list-item]
        return result

    @cached_property
    def choices(self) -> tuple[DesignColumn, ...]:
        """Columns that identify a design: labels that differ, then varied parameters that no label determines."""
        labels = [label for label in self.labels if len(label.texts) > 1]
        parameters = [*self.causes.values()]
        return (*labels, *(column for column in parameters if not any(_says(label, column) for label in labels)))

    @cached_property
    def explained(self) -> tuple[tuple[DesignColumn, Explained], ...]:
        """Objectives with the shares of each factor and pair; without those for which there are too few designs."""
        parameters = dict(zip(self.causes, self.levels.values(), strict=True))
        kinds = dict(zip(self.causes, (factor.kind for factor in self.factors), strict=True))
        tables = tuple(name for name, kind in kinds.items() if kind == "category")
        candidates = [column for column in self.objectives if column.varies]
        enough = [column for column in candidates if np.isfinite(column.values).sum() >= LEAST]
        result = []
        for column in enough[:MOST_EXPLAINED] if parameters else ():
            with suppress(InputError):  # too few designs for so many factors
                result.append((column, from_samples(parameters, column.values, tables)))
        return tuple(result)

    def shown(self, most: int = MOST_SHOWN, always: tuple[int, ...] = ()) -> Indices:
        """Return at most `most` designs that do not fail, in order: on fronts, `always`, and others by chance."""
        good = np.flatnonzero(self.good)
        if len(good) <= most:
            return good
        ends = [
            objective.values * objective.sign for objective in self.objectives if np.isfinite(objective.values).any()
        ]
        first = np.unique([*always, *(int(np.nanargmin(values)) for values in ends)]).astype(np.int64)
        is_on_front, is_left = np.zeros(self.count, bool), self.good.copy()
        for line in self.fronts.values():
            is_on_front[line] = True
        is_on_front[first] = False
        is_left[first], is_left[is_on_front] = False, False
        draw = np.random.default_rng(SEED)
        on_fronts, others = (draw.permutation(np.flatnonzero(mask)) for mask in (is_on_front, is_left))
        chosen = np.concatenate([first, on_fronts, others])[:most]
        return np.sort(chosen[self.good[chosen]])


def _says(label: DesignColumn, column: DesignColumn) -> bool:
    """Return whether a label determines a column: all designs with the same text have the same value."""
    pairs = np.unique(np.stack([label.values, column.values], axis=1), axis=0)
    return len(pairs) == len(np.unique(label.values))


def _along_front(a: DesignColumn, b: DesignColumn, meets: NDArray[np.bool_]) -> Indices:
    """Find the designs on the front of two objectives, ordered by the first."""
    costs = np.where(meets[:, None], np.stack([a.sign * a.values, b.sign * b.values], axis=1), np.nan)
    designs = np.flatnonzero(front(costs))
    return designs[np.lexsort(costs[designs].T[::-1])]


def designs(dataset: Dataset, question: StudyQuestion = NO_QUESTION) -> Designs:
    """Make the table of a dataset as `by_cases` gives it; reads every metric once. Raises InputError."""
    import xarray

    objective_names = [str(name) for name, variable in dataset.data_vars.items() if _is_objective(str(name), variable)]
    objective_names.sort(key=lambda name: PREFERRED.index(name) if name in PREFERRED else len(PREFERRED))
    reduced = xarray.Dataset({name: worst(dataset[name]) for name in objective_names}).compute()
    good = _good(dataset, [np.asarray(reduced[name].values, float) for name in objective_names])
    parameters = [
        DesignColumn(str(name), units_of(x.attrs), x.attrs.get("long_name", ""), np.asarray(x.values, float))
        for name, x in dataset.coords.items()
        if x.dims == ("design",) and name not in ("design", FRICTION_SET) and x.dtype.kind in "fiu"
    ]
    labels = []
    for name in labels_of(dataset):
        texts = [str(text) for text in dataset[name].values]
        places = {text: float(place) for place, text in enumerate(sorted(set(texts)))}
        about = dataset[name].attrs.get("long_name", "")
        labels.append(DesignColumn(name, "", about, np.array([places[text] for text in texts]), texts=tuple(places)))
    objectives = [_objective(dataset[name], np.where(good, reduced[name].values, np.nan)) for name in objective_names]
    meets = good & feasible(dataset, question.where) if question.where else good
    count = dataset.sizes["design"]
    numbers = dataset[STORED].values if STORED in dataset.coords else np.arange(count)[:, None]
    columns = []
    for text in question.objectives:
        wanted = _asked(dataset, objective(text), good, objectives)
        objectives = [column for column in objectives if column.name != wanted.name] + [wanted]
        columns.append(wanted.name)
    space = DesignSpace.of_dataset(dataset)
    factors = tuple(factor for factor in space.varied() if _is_shown(factor, parameters, labels))
    asked_of = [*(objective(text).expression for text in question.objectives), *map(condition, question.where)]
    return Designs(
        (*parameters, *objectives),
        good,
        meets,
        numbers,
        tuple(dict.fromkeys(columns)),
        tuple(labels),
        factors,
        {
            factor.name: values
            for factor, values in zip(space.varied(), space.columns_of(dataset).values(), strict=True)
            if factor in factors
        },
        frozenset(name for expression in asked_of for name in expression.names),
    )


def _is_shown(factor: Factor, parameters: Sequence[DesignColumn], labels: Sequence[DesignColumn]) -> bool:
    """Return whether a factor differs between designs by more than rounding."""
    table = {column.name: column for column in (*parameters, *labels)}
    return any(table[name].varies for name in factor.members if name in table)


def _asked(
    dataset: Dataset, wanted_objective: Objective, good: NDArray[np.bool_], columns: list[DesignColumn]
) -> DesignColumn:
    """Return the column of an objective: that of the metric where it is the same, else one of its own."""
    values = np.where(good, value_of(dataset, wanted_objective), np.nan)
    sign = -1.0 if wanted_objective.direction == "max" else 1.0
    same = next((column for column in columns if column.name == wanted_objective.text), None)
    if same is not None and np.array_equal(same.values, values, equal_nan=True):
        return replace(same, sign=sign)
    rules = [f"{wanted_objective.over} over cases"]
    rules += [f"{wanted_objective.tolerances} over tolerances"] if wanted_objective.tolerances else []
    words = ", ".join(rules[wanted_objective.over == "worst" :])
    name = wanted_objective.text + (f" ({words})" if words else " of the hardest actuator" * (same is not None))
    how = ", ".join(rules) if CASE in dataset.dims else "as the question says"
    return DesignColumn(
        name, unit(dataset, wanted_objective.text), "objective of the question", values, True, how, sign
    )


def worst(metric: DataArray) -> DataArray:
    """Reduce a metric to one value for each design: energies added over the actuators, else the worst."""
    name = str(metric.name)
    if name in SUMMED and "actuator" in metric.dims:
        metric = metric.sum("actuator", skipna=False, keep_attrs=True)
    # Joints that a limb does not have are NaN: those are no failures. A trajectory or case that fails is one.
    joints = [dim for dim in metric.dims if dim in JOINTS]
    others = [dim for dim in metric.dims if dim != "design" and dim not in JOINTS]
    if large_is_good(name):
        return metric.min(joints).min(others, skipna=False)
    return metric.max(joints).max(others, skipna=False)


def _objective(variable: DataArray, values: Array) -> DesignColumn:
    name = str(variable.name)
    attributes, sign = variable.attrs, -1.0 if large_is_good(name) else 1.0
    summed = name in SUMMED and "actuator" in variable.dims
    dims = [str(dim) for dim in variable.dims if dim != "design" and not (summed and dim == "actuator")]
    parts = ["sum of all actuators"] * summed + [f"worst over {', '.join(dims)}"] * bool(dims)
    text = attributes.get("long_name", "")
    return DesignColumn(name, units_of(attributes), text, values, True, ", ".join(parts), sign)


def _is_objective(name: str, variable: DataArray) -> bool:
    """Return whether a variable is a metric; derivatives have numbers of several units."""
    return (
        "design" in variable.dims
        and not {"time", PARAMETER} & {*variable.dims}
        and variable.dtype.kind == "f"
        and name not in NO_OBJECTIVES
    )


def _good(dataset: Dataset, metrics: list[Array]) -> NDArray[np.bool_]:
    """Return a mask of designs with every sample OK; in a dataset without statuses, with numbers as metrics.

    Where the share of usable samples is a metric, a sample that fails is a result: then designs with any share are.
    """
    good = np.ones(dataset.sizes["design"], bool)
    if counted := "usable_share" in dataset:
        usable = dataset["usable_share"] > 0
        good = usable.any([dim for dim in usable.dims if dim != "design"]).values
    elif "worst_status" in dataset:
        usable = dataset["worst_status"] == 0
        good = usable.all([dim for dim in usable.dims if dim != "design"]).values
    if DONE in dataset.coords:
        good = good & dataset[DONE].values.all(axis=1)
    return np.asarray(good & np.isfinite(metrics).all(axis=0) if metrics and not counted else good, bool)
