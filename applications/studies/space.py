"""The design space of a sweep: its factors, by which results are searched, optimised, ranked, explained and drawn.

A factor is what a user varied: a parameter between bounds or on the values of a grid, or the rows of a table whose
columns go together, such as a motor's inertia, torque constant and resistance. A parameter that follows from others by
a rule of `derive` is never varied, ranked or an axis; `complete` computes it again for every point, with exact
derivatives where points have rates. Operating cases and deviations within tolerances are conditions of every design.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from applications.studies.columns import Array, Mask, refuse
from applications.studies.points import Choice, Continuous, PointSpace, Variable
from pipeline.documents.report import sentence
from pipeline.documents.yaml import parse_yaml
from pipeline.errors import InputError
from pipeline.sweep.axes.columns import LABEL, STORED, TRUTH
from pipeline.sweep.axes.derived import DependentAxis, Derived, Filtered
from pipeline.sweep.axes.kinds import ArrayValues, Axis, Grid, Listed, Product, Sampled
from pipeline.sweep.choices import only_chosen
from pipeline.sweep.gravity import GRAVITY
from pipeline.sweep.model import Sweep
from pipeline.sweep.question.question import DIMS
from pipeline.sweep.question.reader import stored_question
from pipeline.sweep.tolerances.reader import Deviations
from robots.expressions.expression import ParsedExpression
from robots.loads.wrapped import SUFFIX
from robots.parameters import Parameter, nearest
from robots.quantities import FRICTION, GAINS, STATE

Kind = Literal["free", "category", "derived", "fixed", "case", "tolerance"]

ALONG = "swept_along"
"""Attribute of a parameter of designs that was swept along another dim: of friction sets, gains or initial states."""

FRICTION_SET = "friction_set"
"""Coordinate of designs that are stacked with friction sets: the number of the set."""

SECTIONS = ("design", FRICTION, GAINS, STATE)
"""Dims along which parameters are swept."""

MAX_CHOICES = 100_000
"""Values of a grid or rows of a table among which a variable chooses."""

MAX_CASES = 10_000
"""Combinations of operating cases."""

MOST_ROWS = 16
"""Values in a list of designs that may be the rows of a catalogue, even where none is there twice."""


@dataclass(frozen=True, eq=False)
class Factor:
    """A factor: the parameters (and labels) that it sets, its values or bounds, and the section that has it.

    section: the dim along which it was swept, `design`, `friction`, or those of gains and initial states.
    """

    name: str
    kind: Kind
    section: str
    members: tuple[str, ...]
    domain: Variable | None = None

    @property
    def is_varied(self) -> bool:
        """Return whether the factor is chosen: free, or the rows of a table."""
        return self.kind in ("free", "category")


@dataclass(frozen=True, eq=False)
class DesignSpace(PointSpace):
    """Factors of a sweep, operating cases by parameter (case,), rules of derived parameters, conditions on designs.

    `variables` are the domains of the varied factors, a coordinate of a point each.

    >>> space = ls.study.DesignSpace.of(ls.Sweep.from_yaml("sweep.yaml"))
    >>> [factor.name for factor in space.varied()]
    ['upper_arm', 'base_radius']
    """

    factors: tuple[Factor, ...] = ()
    cases: Mapping[str, Array] = field(default_factory=dict)
    rules: tuple[tuple[str, ParsedExpression], ...] = ()
    conditions: tuple[ParsedExpression, ...] = ()
    constants: Mapping[str, Any] = field(default_factory=dict)
    """Values of parameters, and of labels that are numbers, which the varied factors and cases do not set."""
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    """Parameters with their bounds, which derived ones have to meet."""
    texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Texts of labels, such as names of motors, of which points have the places."""
    label_names: frozenset[str] = frozenset()
    """Names that are no parameters: labels of texts or numbers."""
    assumption: str = ""
    """Assumption about a dataset whose sweep cannot be read; empty without an assumption."""

    @classmethod
    def of(cls, sweep: Sweep, cases: Sequence[str] | None = None, *, friction: bool = False) -> DesignSpace:
        """Return the space of a sweep; without `cases` with those of its section `study`. Raises InputError.

        Friction sets and trajectories may be cases as well: all designs have them anyway. friction: with the friction
        that is swept as factors.
        """
        named = tuple(name for name in (sweep.question.cases if cases is None else cases) if not is_dim(sweep, name))
        base, rules, conditions = _unwrapped(sweep.design)
        parts = [table for part in _parts(base) for table in _apart(part, named)]
        _require_swept(named, [name for part in parts for name in part.names])
        factors: list[Factor] = []
        combined: list[dict[str, Array]] = []
        for part in parts:
            factors += _factors("design", part, named)
            combined += _cases(part, named)
        constants = dict(sweep.parameters)
        more = [] if sweep.simulation is None else [(GAINS, sweep.simulation.gains), (STATE, sweep.simulation.state)]
        if friction:
            more.append((FRICTION, sweep.friction.axis))
        for section, axis in more:
            inner, own_rules, own_conditions = _unwrapped(axis)
            factors += [factor for part in _parts(inner) for factor in _factors(section, part, ())]
            rules, conditions = (*rules, *own_rules), (*conditions, *own_conditions)
        factors += [Factor(name, "derived", "design", (name,)) for name, _ in rules]
        set_already = {member for factor in factors for member in factor.members}
        factors += [Factor(name, "fixed", "design", (name,)) for name in constants if name not in set_already]
        variables = tuple(factor.domain for factor in factors if factor.is_varied and factor.domain is not None)
        bounds = {p.name: p for p in sweep.family.parameters} | (dict(sweep.friction.parameters) if friction else {})
        labels = frozenset(name for name in sweep.design.names if name not in constants and name not in GRAVITY)
        return cls(
            variables,
            tuple(factors),
            _combined(combined),
            rules,
            conditions,
            constants,
            bounds,
            sweep.design.texts,
            labels,
        )

    @classmethod
    def to_search(cls, sweep: Sweep, cases: Sequence[str] | None = None) -> DesignSpace:
        """Return the space of a sweep that a search goes through. Raises InputError where it cannot be one."""
        if sweep.simulation is not None:
            raise refuse("sweep", "simulations", "a sweep without the section simulation", "Sample gains in a sweep.")
        axis = sweep.design
        while isinstance(axis, Filtered | Derived):
            axis = axis.base
        if isinstance(axis, DependentAxis):
            raise refuse("design", "a part of an axis", "the whole of it", "Leave out the subset.")
        space = cls.of(sweep, cases)
        for condition in space.conditions:
            if constant := [name for name in condition.names if name not in sweep.design.names]:
                got, rule = f"{constant[0]} in {condition.text!r}", "parameters that vary"
                raise refuse("design.where", got, rule, f"Write the value of {constant[0]} in its place.")
        for factor in space.varied():
            if isinstance(factor.domain, Choice) and len(factor.domain.rows) > MAX_CHOICES:
                got = f"{len(factor.domain.rows):,} values of {factor.name}"
                raise refuse("design", got, f"at most {MAX_CHOICES:,}", "Sample parameters.")
        if not space.variables:
            raise refuse("design", "no parameter that varies", "one beside the cases", "Give it bounds in a sample.")
        return space

    @classmethod
    def of_dataset(cls, ds: xr.Dataset) -> DesignSpace:
        """Return the factors of the designs of a dataset, by the text of its sweep; those that differ are varied.

        Designs may be stacked with friction sets, gains and initial states (`applications.studies.axes.by_design`).
        Files that the sweep names are not read: their columns are those that remain. Without a text that can be read
        each parameter is free unless columns name one another, and `assumption` says so.
        """
        declared, coordinates = _declared(str(ds.attrs.get("sweep", ""))), design_coordinates(ds)
        written = [name for axis in (declared or {}).values() for name in axis.forms]  # opened stores sort by name
        order = {name: place for place, name in enumerate(dict.fromkeys((*written, *coordinates)))}
        coordinates.sort(key=lambda name: order[name])
        differing = [name for name in coordinates if _differs(ds[name])]
        factors = [
            Factor(name, "fixed", section_of(ds[name]), (name,)) for name in coordinates if name not in differing
        ]
        for section in SECTIONS:
            names = [name for name in differing if section_of(ds[name]) == section]
            factors += _stored_factors(ds, section, names, UNKNOWN if declared is None else declared[section])
        factors.sort(key=lambda factor: order[factor.members[0]])
        rule = "its sweep cannot be read: parameters that differ are taken as varied, and derived ones with them"
        return cls((), tuple(factors), assumption=rule if declared is None else "")

    def columns_of(self, ds: xr.Dataset) -> dict[str, Array]:
        """Return the varied factors of a dataset (design,): a parameter's value, of a table the number of its row."""
        result = {}
        for factor in self.varied():
            if factor.kind == "free":
                result[factor.name] = np.asarray(ds[factor.name].values, dtype=float)
            else:
                places = [np.unique(ds[name].values, return_inverse=True)[1].ravel() for name in factor.members]
                rows = np.unique(np.stack(places, axis=1), axis=0, return_inverse=True)[1]
                result[factor.name] = rows.ravel().astype(float)
        return result

    @property
    def names(self) -> tuple[str, ...]:
        """Parameters and labels that the varied factors set."""
        return tuple(name for variable in self.variables for name in variable.names)

    @property
    def where(self) -> tuple[str, ...]:
        """Conditions on designs as texts."""
        return tuple(condition.text for condition in self.conditions)

    @property
    def case_count(self) -> int:
        """Number of operating cases; 1 where there are none."""
        return len(next(iter(self.cases.values()))) if self.cases else 1

    def varied(self) -> tuple[Factor, ...]:
        """Return free factors and categories, which are optimised, ranked and axes."""
        return tuple(factor for factor in self.factors if factor.is_varied)

    def of_kind(self, kind: Kind) -> tuple[str, ...]:
        """Return the names of the factors of a kind."""
        return tuple(factor.name for factor in self.factors if factor.kind == kind)

    def with_columns(self) -> DesignSpace:
        """Return the space in which a table that is all that varies is a list of designs, see `list_factors`.

        A catalogue beside other factors stays one factor.
        """
        varied = [factor for factor in self.varied() if factor.section == "design"]
        if len(varied) != 1 or not isinstance(varied[0].domain, Choice) or len(varied[0].members) == 1:
            return self
        (table,), rows = varied, varied[0].domain.rows
        columns = dict(zip(table.members, rows.T, strict=True))
        parts = []
        shown = {n: np.array(self.texts[n])[x.astype(int)] if n in self.texts else x for n, x in columns.items()}
        for factor in list_factors(shown, self.label_names, table.section):
            unique_rows = np.unique(np.stack([columns[name] for name in factor.members], axis=1), axis=0)
            texts = frozenset(factor.members) & frozenset(self.texts)
            domain = Choice(factor.members, unique_rows, ordered=factor.kind == "free", texts=texts)
            parts.append(replace(factor, domain=domain))
        factors = [each for factor in self.factors for each in (parts if factor is table else [factor])]
        variables = tuple(factor.domain for factor in factors if factor.is_varied and factor.domain is not None)
        return replace(self, factors=tuple(factors), variables=variables)

    def complete(self, points: Mapping[str, Any]) -> dict[str, Any]:
        """Return all parameters of points, given those that vary (n,): constants, then derived ones by their rules.

        The one place that computes derived parameters of a point. Numbers with rates give rates.
        """
        values = {**self.constants, **points}
        for name, rule in self.rules:
            values[name] = rule(values)
        return values

    def admissible(self, table: Mapping[str, Array]) -> Mask:
        """Return which completed points (n,) meet all conditions, with derived parameters within their bounds."""
        result = self.within_bounds(table)
        for condition in self.conditions:
            result &= np.asarray(condition(table), dtype=bool)
        return result

    def within_bounds(self, table: Mapping[str, Array]) -> Mask:
        """Return which completed points (n,) have derived parameters within their bounds: others are no robots."""
        result = np.ones(np.broadcast_shapes(*(np.shape(column) for column in table.values())), dtype=bool)
        for name, _ in self.rules:
            if name in self.parameters:
                value = np.asarray(table[name], dtype=float)
                result &= (value >= self.parameters[name].lower) & (value <= self.parameters[name].upper)
        return result

    def coordinates(self, values: Mapping[str, Array]) -> dict[str, Array]:
        """Return the coordinate of each varied factor (n,) from parameters (n,): of a table the number of its row.

        A row that the table does not have is -1.
        """
        result = {}
        for factor in self.varied():
            if factor.kind == "free" or not isinstance(factor.domain, Choice):
                result[factor.name] = np.asarray(values[factor.name], dtype=float)
                continue
            columns_of_factor = [k for k, name in enumerate(factor.domain.names) if name not in self.texts]
            points = np.stack(
                [np.asarray(values[factor.domain.names[k]], dtype=float) for k in columns_of_factor], axis=1
            )
            same = (points[:, None] == factor.domain.rows[None][..., columns_of_factor]).all(axis=2)
            result[factor.name] = np.where(same.any(axis=1), same.argmax(axis=1), -1).astype(float)
        return result

    def designs(self, points: Array) -> dict[str, Array]:
        """Return parameters (n,) of points (n, variable), without derived ones."""
        columns = zip(self.variables, np.asarray(points, dtype=float).T, strict=True)
        return {name: column for variable, x in columns for name, column in variable.values(x).items()}

    def located(self, columns: Mapping[str, NDArray[Any]]) -> Array:
        """Return the points (n, variable) of parameters and labels (n,), to rounding. Raises ValueError for others."""
        numbers = {
            name: np.array([self.texts[name].index(text) for text in column.tolist()]) if name in self.texts else column
            for name, column in columns.items()
        }
        parts = [
            variable.coordinate(np.asarray(numbers[variable.name], dtype=float))
            if isinstance(variable, Continuous)
            else variable.coordinate(np.stack([np.asarray(numbers[n], dtype=float) for n in variable.names], axis=1))
            for variable in self.variables
        ]
        return np.stack(parts, axis=1)

    def table(self, points: Array) -> dict[str, Array]:
        """Return parameters and cases (n cases,) of points: all cases of the first point, then of the next."""
        count = len(points)
        rows = {name: np.repeat(values, self.case_count) for name, values in self.designs(points).items()}
        return rows | {name: np.tile(values, count) for name, values in self.cases.items()}

    def computable(self, points: Array) -> Mask:
        """Return a mask of the points (n, variable) whose derived parameters are within their bounds in all cases."""
        if not self.rules or not len(points):
            return np.ones(len(points), dtype=bool)
        bounded = self.within_bounds(self.complete(self.table(np.asarray(points, dtype=float))))
        return np.asarray(np.broadcast_to(bounded, len(points) * self.case_count).reshape(len(points), -1).all(axis=1))

    def labels(self, name: str, values: Array) -> list[str] | list[float]:
        """Return the values (n,) of a parameter or label as tables and stores have them: texts where it has texts."""
        texts = self.texts.get(name)
        return values.tolist() if texts is None else [texts[int(place)] for place in values]


def is_dim(sweep: Sweep, name: str) -> bool:
    """Return whether the name of a case stands for friction sets or trajectories, not for a parameter of designs."""
    swept = {row.coordinate for trajectory in sweep.trajectories for row in trajectory.swept}
    return name in DIMS or name in sweep.friction.axis.names or name in swept


def section_of(coordinate: xr.DataArray) -> str:
    """Return the dim along which a parameter of designs was swept."""
    return str(coordinate.attrs.get(ALONG, "design"))


def design_coordinates(ds: xr.Dataset) -> list[str]:
    """Return the names of the values of designs: parameters, and labels that are numbers or texts."""
    coordinates = [
        str(name)
        for name, x in ds.coords.items()
        if x.dims == ("design",) and name not in ("design", STORED, FRICTION_SET) and not str(name).startswith(TRUTH)
    ]
    return [name for name in coordinates if ds[name].dtype.kind in "fiu" or ds[name].attrs.get("long_name") == LABEL]


def varied_numbers(ds: xr.Dataset) -> list[str]:
    """Return the names of the numbers that the varied factors of a dataset set, without labels."""
    labels = {
        name for name in ds.coords if ds[name].dtype.kind not in "fiu" or ds[name].attrs.get("long_name") == LABEL
    }
    factors = DesignSpace.of_dataset(ds).varied()
    return [name for factor in factors for name in factor.members if name not in labels]


def _differs(coordinate: xr.DataArray) -> bool:
    values = coordinate.values
    return bool(len(values) and (values != values[0]).any())


@dataclass(frozen=True)
class DeclaredAxis:
    """Axis as declared in a section of the text of a sweep: the form of each parameter, and the number of files."""

    forms: Mapping[str, str]
    files: int = 0


UNKNOWN = DeclaredAxis({}, 1)
"""Any names, as of a file: of a sweep that cannot be read."""


@lru_cache(maxsize=16)
def _declared(text: str) -> Mapping[str, DeclaredAxis] | None:
    """Return the content of each axis section in the text of a sweep; None where it cannot be read."""
    try:
        data: dict[str, Any] = dict(parse_yaml(text, "the sweep in the store").data)
        only_chosen(data)
        simulation = data.get("simulation") or {}
        axes = {FRICTION: data.get(FRICTION), GAINS: simulation.get(GAINS), STATE: simulation.get(STATE)}
        drawn = (data.get("tolerances") or {}).get("parameters") or {}
        design = _declared_axis(data.get("design") or {}, {f"{name}{SUFFIX}": "tolerance" for name in drawn})
        result = {"design": design, **{section: _declared_axis(axis or {}, {}) for section, axis in axes.items()}}
    except (InputError, AttributeError, TypeError):
        return None
    return result if "robot" in data else None


def _declared_axis(axis: Mapping[str, Any], more: Mapping[str, str]) -> DeclaredAxis:
    parts = {form: axis.get(form) or {} for form in ("grid", "list", "derive")}
    parts["sample"] = (axis.get("sample") or {}).get("parameters") or {}
    files = axis.get("file") or []
    forms = {str(name): form for form, names in parts.items() for name in names}
    return DeclaredAxis({**forms, **more}, 1 if isinstance(files, str) else len(files))


def _stored_factors(ds: xr.Dataset, section: str, names: Sequence[str], axis: DeclaredAxis) -> list[Factor]:
    """Return the factors of the differing parameters of a dataset that were swept along one dim."""
    forms = {name: axis.forms.get(name, "file" if axis.files else "derive") for name in names}
    of_form = {form: [name for name in names if forms[name] == form] for form in forms.values()}
    factors = [Factor(name, "derived", section, (name,)) for name in of_form.get("derive", [])]
    factors += [Factor(name, "tolerance", section, (name,)) for name in of_form.get("tolerance", [])]
    free = [*of_form.get("grid", []), *of_form.get("sample", [])]
    factors += [Factor(name, "free", section, (name,)) for name in free]
    filed = of_form.get("file", [])
    tables = [of_form.get("list", []), *([filed] if axis.files == 1 else _tables(ds, filed))]
    tables = [table for table in tables if table]
    cases = stored_question(ds.attrs, ds.coords).cases
    labels = {name for name in names if ds[name].attrs.get("long_name") == LABEL}
    if len(tables) == 1 and {*free} <= {*cases}:
        return factors + list_factors({name: ds[name].values for name in tables[0]}, labels, section)
    return factors + [
        table_factor(table, [n for n in table if ds[n].dtype.kind not in "fiu"], section) for table in tables
    ]


def _tables(ds: xr.Dataset, names: Sequence[str]) -> list[list[str]]:
    """Return the names of columns by the table that they are in: columns of different tables have all combinations."""
    places = {name: np.unique(ds[name].values, return_inverse=True)[1].ravel() for name in names}
    tables: list[list[str]] = []
    for name in names:
        near = [table for table in tables if any(_depends(places[name], places[column]) for column in table)]
        tables = [table for table in tables if table not in near] + [[*(n for table in near for n in table), name]]
    return tables


def _depends(one: NDArray[np.intp], second: NDArray[np.intp]) -> bool:
    """Return whether two columns do not occur in all combinations of their values."""
    size = int(one.max() + 1) * int(second.max() + 1)
    return len(np.unique(one * (int(second.max()) + 1) + second)) < size


def _require_swept(cases: Sequence[str], varied: Sequence[str]) -> None:
    for name in cases:
        if name not in varied:
            hint = sentence(nearest(name, varied))
            raise refuse(f"cases.{name}", "no such parameter", "a parameter that is swept under design", hint)


def _unwrapped(axis: Axis) -> tuple[Axis, tuple[tuple[str, ParsedExpression], ...], tuple[ParsedExpression, ...]]:
    """Return the axis that others are made from, their rules of derived parameters, and their conditions."""
    rules: tuple[tuple[str, ParsedExpression], ...] = ()
    conditions: tuple[ParsedExpression, ...] = ()
    while isinstance(axis, DependentAxis):
        rules = axis.rules + rules if isinstance(axis, Derived) else rules
        conditions = axis.conditions + conditions if isinstance(axis, Filtered) else conditions
        axis = axis.base
    return axis, rules, conditions


def _parts(axis: Axis) -> tuple[Axis, ...]:
    return axis.parts if isinstance(axis, Product) else (axis,) if axis.names else ()


def _apart(part: Axis, cases: Sequence[str]) -> tuple[Axis, ...]:
    """Return a table of designs under all cases, as stores of searches have it, as two: of designs, and of cases."""
    sides = [[k for k, name in enumerate(part.names) if (name in cases) is inside] for inside in (False, True)]
    if not isinstance(part, Listed) or not all(sides):
        return (part,)
    values = np.stack([*part.values().values()], axis=1)
    firsts = [np.sort(np.unique(values[:, side], axis=0, return_index=True)[1]) for side in sides]
    if len(np.unique(values, axis=0)) != len(firsts[0]) * len(firsts[1]):
        return (part,)
    return tuple(_table(part, side, rows) for side, rows in zip(sides, firsts, strict=True))


def _table(part: Listed, columns: Sequence[int], rows: NDArray[np.intp]) -> Listed:
    """Return some rows of some columns of a table."""
    parts = []
    for k in columns:
        column = part.columns[k]
        numbers = column.take(rows.astype(np.int64))
        parts.append(
            replace(column, numbers=numbers)
            if isinstance(column, ArrayValues)
            else ArrayValues(np.asarray(numbers, dtype=float))
        )
    return Listed(tuple(part.names[k] for k in columns), tuple(parts))


def _factors(section: str, part: Axis, cases: Sequence[str]) -> Iterator[Factor]:
    """Give the factors of a part of an axis: each parameter of a grid or sample, the rows of a table."""
    if isinstance(part, Sampled):
        logs = part.log or (False,) * len(part.names)
        for row in zip(part.names, part.low, part.high, logs, strict=True):
            yield Factor(row[0], "free", section, (row[0],), Continuous(*row))
    elif isinstance(part, Grid):
        for name, column in zip(part.names, part.columns, strict=True):
            values = column.take(np.arange(column.size))
            yield Factor(
                name,
                "case" if name in cases else "free",
                section,
                (name,),
                Choice((name,), values[:, None], ordered=True),
            )
    elif isinstance(part, Deviations) or {*part.names} <= {*cases}:
        for name in part.names:
            yield Factor(name, "tolerance" if isinstance(part, Deviations) else "case", section, (name,))
    elif isinstance(part, Listed):
        rows = part.values()
        table = np.stack([rows[name] for name in part.names], axis=1)
        domain = Choice(part.names, table, ordered=False, texts=frozenset(part.texts))
        yield replace(table_factor(part.names, part.texts, section), domain=domain)


def _cases(part: Axis, cases: Sequence[str]) -> list[dict[str, Array]]:
    """Return tables of the values of operating cases in a part of an axis; values that go together are one table."""
    if isinstance(part, Grid):
        columns = zip(part.names, part.columns, strict=True)
        return [{name: column.take(np.arange(column.size))} for name, column in columns if name in cases]
    if {*part.names} <= {*cases}:
        return [part.values()]  # as deviations within tolerances do
    if inner := {*part.names} & {*cases}:
        hint = "Move it to the grid: all designs have all cases."
        raise refuse(f"cases.{min(inner)}", "a case that is no parameter of the grid", "cases in the grid", hint)
    return []


def _combined(tables: Sequence[Mapping[str, Array]]) -> dict[str, Array]:
    """Return all combinations of the rows of tables of cases."""
    sizes = [len(next(iter(table.values()))) for table in tables]
    if (count := int(np.prod(sizes, dtype=float))) > MAX_CASES:
        raise refuse("cases", f"{count:,} combinations", f"at most {MAX_CASES:,}", "Take fewer values of them.")
    places = np.meshgrid(*(np.arange(size) for size in sizes), indexing="ij")
    pairs = zip(tables, places, strict=True)
    return {name: values[place.ravel()] for table, place in pairs for name, values in table.items()}


def list_factors(columns: Mapping[str, NDArray[Any]], labels: Container[str], section: str) -> list[Factor]:
    """Return the factors of a list of designs, columns (n,) by name: independent ones, and groups that vary together.

    Columns that a label with few texts decides are one factor, the label's; so are columns that name one another. All
    others are free, labels of many texts, such as names of designs, and labels that are numbers none.
    """
    texts = [name for name in columns if name in labels and columns[name].dtype.kind not in "fiu"]
    numeric = [name for name in columns if name not in texts]
    groups: list[tuple[str, ...]] = []
    for label in texts:
        if _few(len(np.unique(columns[label])), len(columns[label])):
            decided = [name for name in numeric if _decides(columns[label], columns[name])]
            groups.append((label, *decided))
            numeric = [name for name in numeric if name not in decided]
    pairs = len(groups)
    for name in numeric:
        alike = (k for k in range(pairs, len(groups)) if go_together([columns[groups[k][0]], columns[name]]))
        if (twins := next(alike, None)) is None:
            groups.append((name,))
        else:
            groups[twins] = (*groups[twins], name)
    groups_shown = [group for k, group in enumerate(groups) if k < pairs or any(name not in labels for name in group)]
    return [table_factor(group, texts, section) for group in groups_shown]


def table_factor(names: Sequence[str], labels: Container[str], section: str) -> Factor:
    """Return the factor of columns that go together, called by their label, or of a column alone."""
    label = next((name for name in names if name in labels), None)
    kind: Kind = "free" if label is None and len(names) == 1 else "category"
    return Factor(label or ", ".join(names), kind, section, tuple(names))


def _decides(label: NDArray[Any], column: NDArray[Any]) -> bool:
    """Return whether all rows with the same text have the same value."""
    pairs = [np.unique(x, return_inverse=True)[1].ravel() for x in (label, column)]
    return len(np.unique(np.stack(pairs), axis=1).T) == int(pairs[0].max()) + 1


def go_together(columns: Sequence[NDArray[Any]]) -> bool:
    """Return whether columns (n,) of numbers or texts name one another: few values, in a one-to-one relation."""
    places = [np.unique(column, return_inverse=True)[1].ravel() for column in columns]
    counts = {int(place.max()) + 1 for place in places}
    one_to_one = len(counts) == 1 and len(np.unique(np.stack(places), axis=1).T) == max(counts)
    return one_to_one and _few(max(counts), len(columns[0]))


def _few(values: int, rows: int) -> bool:
    """Return whether so many values among rows are those of a catalogue, rather than names of designs or a sample."""
    return values <= max(MOST_ROWS, rows // 2)
