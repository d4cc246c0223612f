"""The design space of a sweep: its factors, by which results are searched, optimised, ranked, explained and drawn.

A factor is an input that a user varied: a parameter between bounds or on the values of a grid, or the rows of a table
whose columns go together, such as a motor's inertia, torque constant and resistance. A parameter that follows from
others by a rule of `derive` is never varied, ranked or an axis; `complete` computes it again for every point, with
exact derivatives where points have rates. Operating cases and deviations within tolerances are conditions of every
design.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from applications.studies.columns import Array, Mask, refuse
from applications.studies.factors import Choice, Continuous, Factor, Kind, list_factors
from applications.studies.points import PointSpace
from applications.studies.stored_factors import stored_factors
from applications.studies.swept_factors import axis_factors, combined
from pipeline.documents.dataset_names import GRAVITY
from pipeline.sweep.axes.derived import DependentAxis, Derived, Filtered
from pipeline.sweep.model import Sweep
from pipeline.sweep.question.question import DIMS
from robots.data_classes import dataclass, field, replace
from robots.dims import FRICTION, GAINS, STATE
from robots.expressions.expression import ParsedExpression
from robots.parameters import Parameter

MAX_CHOICES = 100_000
"""Values of a grid or rows of a table among which a variable chooses."""


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
        axes = [axis_factors("design", sweep.design, named)]
        if sweep.simulation is not None:
            axes += [axis_factors(GAINS, sweep.simulation.gains), axis_factors(STATE, sweep.simulation.state)]
        if friction:
            axes.append(axis_factors(FRICTION, sweep.friction.axis))
        rules = tuple(rule for axis in axes for rule in axis.rules)
        factors, constants = [factor for axis in axes for factor in axis.factors], dict(sweep.parameters)
        factors += [Factor(name, "derived", "design", (name,)) for name, _ in rules]
        set_already = {member for factor in factors for member in factor.members}
        factors += [Factor(name, "fixed", "design", (name,)) for name in constants if name not in set_already]
        variables = tuple(factor.domain for factor in factors if factor.is_varied and factor.domain is not None)
        bounds = {p.name: p for p in sweep.family.parameters} | (dict(sweep.friction.parameters) if friction else {})
        labels = frozenset(name for name in sweep.design.names if name not in constants and name not in GRAVITY)
        return cls(
            variables,
            tuple(factors),
            combined(axes[0].cases),
            rules,
            tuple(condition for axis in axes for condition in axis.conditions),
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
        """Return the factors of the designs of a dataset, by the text of its sweep; factors that differ are varied.

        Without a text that can be read each parameter is free unless columns name one another, and `assumption` says
        so.
        """
        factors, assumption = stored_factors(ds)
        return cls((), tuple(factors), assumption=assumption)

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
        """Number of operating cases; 1 without cases."""
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
        """Return all parameters of points, given the varied ones (n,): constants, then derived ones by their rules.

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
