"""The space of designs that a search goes through: what the section `design` of a sweep says.

A parameter of a sample is continuous between its bounds. One of a grid takes the grid's values, in their order. The
rows of a list or of a file go together, as a motor's inertia, constant and resistance do: they are categories.
Operating cases are no part of the space; every design is computed under all their combinations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pipeline.documents.report import sentence
from pipeline.study.columns import Array, refuse
from pipeline.study.problem import is_dim
from pipeline.sweep.axes.derived import Derived, Filtered
from pipeline.sweep.axes.kinds import Axis, Column, Grid, Listed, Product, Sampled
from pipeline.sweep.axes.samples import between
from pipeline.sweep.model import Sweep
from robots.parameters import nearest

MAX_CHOICES = 100_000
"""Values of a grid or rows of a table among which a variable chooses."""

MAX_CASES = 10_000
"""Combinations of operating cases."""


@dataclass(frozen=True)
class Continuous:
    """A parameter between two bounds; as a coordinate of a point from 0 to 1, with `log` evenly by its logarithm."""

    name: str
    low: float
    high: float
    log: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Parameters that it sets."""
        return (self.name,)

    def values(self, coordinate: Array) -> dict[str, Array]:
        """The parameter at coordinates (n,)."""
        return {self.name: np.clip(between(self.low, self.high, coordinate, log=self.log), self.low, self.high)}


@dataclass(frozen=True, eq=False)
class Choice:
    """Rows of a table (row, parameter), one of which a design has; a coordinate of a point is the number of the row.

    `ordered`: neighbouring rows are alike, as of a grid; else rows are categories.
    """

    names: tuple[str, ...]
    rows: Array
    ordered: bool

    def values(self, coordinate: Array) -> dict[str, Array]:
        """The parameters at numbers of rows (n,)."""
        chosen = self.rows[np.asarray(coordinate, dtype=int)]
        return {name: chosen[:, k] for k, name in enumerate(self.names)}


Variable = Continuous | Choice


@dataclass(frozen=True, eq=False)
class PointSpace:
    """What a method asks points of: a point has a coordinate for each variable."""

    variables: tuple[Variable, ...]

    @property
    def is_continuous(self) -> bool:
        """Whether no variable is a choice."""
        return all(isinstance(variable, Continuous) for variable in self.variables)

    @property
    def is_conditional(self) -> bool:
        """Whether some variables count under values of others alone."""
        return False

    def active(self, points: Array) -> NDArray[np.bool_]:
        """Which coordinates of points (n, variable) say something of the design that they stand for: here all."""
        return np.ones(np.shape(points), dtype=bool)

    def parts(self, points: Array) -> tuple[tuple[NDArray[np.intp], Array], ...]:
        """For each robot the places (m,) of its points among all (n, variable), and these points in its own space."""
        return ((np.arange(len(points)), np.asarray(points, dtype=float)),)

    def random(self, generator: np.random.Generator, count: int) -> Array:
        """Points (n, variable), evenly over the space."""
        unit = generator.random((count, len(self.variables)))
        for k, variable in enumerate(self.variables):
            if isinstance(variable, Choice):
                unit[:, k] = np.minimum(np.floor(unit[:, k] * len(variable.rows)), len(variable.rows) - 1)
        return unit


@dataclass(frozen=True, eq=False)
class SearchSpace(PointSpace):
    """Variables of a search, operating cases by parameter (case,), and conditions on designs as texts.

    >>> space = ls.study.SearchSpace.of(ls.Sweep.from_yaml("sweep.yaml"))
    >>> space.names
    ('upper_arm', 'base_radius')
    """

    cases: Mapping[str, Array] = field(default_factory=dict)
    where: tuple[str, ...] = ()
    texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Texts of labels, such as names of motors, of which points have the places."""

    @classmethod
    def of(cls, sweep: Sweep, cases: Sequence[str] | None = None) -> SearchSpace:
        """The space of the designs of a sweep; without `cases` those of its section `study`. Raises InputError.

        Friction sets and trajectories may be cases as well: all designs have them anyway.
        """
        if sweep.simulation is not None:
            raise refuse("sweep", "simulations", "a sweep without the section simulation", "Sample gains in a sweep.")
        asked = tuple(name for name in (sweep.question.cases if cases is None else cases) if not is_dim(sweep, name))
        axis, where = sweep.design, []
        while isinstance(axis, Filtered | Derived):
            where += _conditions(axis) if isinstance(axis, Filtered) else []
            axis = axis.base
        varied = [name for part in _parts(axis) for name in part.names]
        for name in asked:
            if name not in varied:
                hint = sentence(nearest(name, varied))
                raise refuse(f"cases.{name}", "no such parameter", "a parameter that is swept under design", hint)
        variables: list[Variable] = []
        conditions: list[dict[str, Array]] = []
        for part in _parts(axis):
            if isinstance(part, Grid):
                values = {name: column.take(np.arange(column.size)) for name, column in _columns(part)}
                conditions += [{name: column} for name, column in values.items() if name in asked]
                free = {name: column for name, column in values.items() if name not in asked}
                variables += [Choice((name,), column[:, None], ordered=True) for name, column in free.items()]
            elif isinstance(part, Listed) and set(part.names) <= set(asked):
                conditions.append(part.values())  # their values go together, as deviations within tolerances do
            elif set(part.names) & set(asked):
                hint = "Move it to the grid: all designs have all cases."
                raise refuse(f"cases.{asked[0]}", "a case that is no parameter of the grid", "cases in the grid", hint)
            else:
                variables += _of_part(part)
        if not variables:
            raise refuse("design", "no parameter that varies", "one beside the cases", "Give it bounds in a sample.")
        return cls(tuple(variables), _combined(conditions), tuple(where), sweep.design.texts)

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters that vary."""
        return tuple(name for variable in self.variables for name in variable.names)

    @property
    def case_count(self) -> int:
        """How many operating cases there are; 1 where there are none."""
        return len(next(iter(self.cases.values()))) if self.cases else 1

    def designs(self, points: Array) -> dict[str, Array]:
        """Parameters (n,) of points (n, variable)."""
        columns = zip(self.variables, np.asarray(points, dtype=float).T, strict=True)
        return {name: column for variable, x in columns for name, column in variable.values(x).items()}

    def table(self, points: Array) -> dict[str, Array]:
        """Parameters and cases (n cases,): all cases of the first point, then of the next."""
        count = len(points)
        rows = {name: np.repeat(values, self.case_count) for name, values in self.designs(points).items()}
        return rows | {name: np.tile(values, count) for name, values in self.cases.items()}

    def labels(self, name: str, values: Array) -> list[str] | list[float]:
        """The values (n,) of a parameter, or of a label, as tables and stores have them: texts where it has texts."""
        texts = self.texts.get(name)
        return values.tolist() if texts is None else [texts[int(place)] for place in values]


def _conditions(axis: Filtered) -> list[str]:
    """The conditions on designs as texts, which have to be on what varies. Raises InputError."""
    for condition in axis.conditions:
        if constant := [name for name in condition.names if name not in axis.names]:
            got, rule = f"{constant[0]} in {condition.text!r}", "parameters that vary"
            raise refuse("design.where", got, rule, f"Write the value of {constant[0]} in its place.")
    return [condition.text for condition in axis.conditions]


def _parts(axis: Axis) -> tuple[Axis, ...]:
    return axis.parts if isinstance(axis, Product) else (axis,)


def _columns(part: Grid) -> Iterator[tuple[str, Column]]:
    yield from zip(part.names, part.columns, strict=True)


def _of_part(part: Axis) -> list[Variable]:
    """The variables of a sample, or the one that chooses among the rows of a list or a file."""
    if isinstance(part, Sampled):
        logs = part.log or (False,) * len(part.names)
        return [Continuous(*row) for row in zip(part.names, part.low, part.high, logs, strict=True)]
    if not isinstance(part, Listed):
        raise refuse("design", "a part of an axis", "the whole of it", "Leave out the subset.")
    if part.size > MAX_CHOICES:
        raise refuse("design", f"a table of {part.size:,} rows", f"at most {MAX_CHOICES:,}", "Sample parameters.")
    values = part.values()
    return [Choice(part.names, np.stack([values[name] for name in part.names], axis=1), ordered=False)]


def _combined(conditions: Sequence[Mapping[str, Array]]) -> dict[str, Array]:
    """All combinations of the rows of tables of cases."""
    sizes = [len(next(iter(table.values()))) for table in conditions]
    if (count := int(np.prod(sizes, dtype=float))) > MAX_CASES:
        raise refuse("cases", f"{count:,} combinations", f"at most {MAX_CASES:,}", "Take fewer values of them.")
    places = np.meshgrid(*(np.arange(size) for size in sizes), indexing="ij")
    pairs = zip(conditions, places, strict=True)
    return {name: values[place.ravel()] for table, place in pairs for name, values in table.items()}
