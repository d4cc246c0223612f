"""Parameters of designs as functions of some factors of the design space of a sweep, with exact derivatives."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
from xarray import Dataset

from applications.studies.columns import Array, Mask, refuse
from applications.studies.factors import Choice
from applications.studies.space import DesignSpace
from pipeline.documents.dataset_names import GRAVITY
from pipeline.documents.report import sentence
from pipeline.sweep.gravity import gravity_parameters
from pipeline.sweep.model import Sweep
from robots.data_classes import dataclass, field, replace
from robots.expressions.rates import NumberWithRates
from robots.parameter_errors import nearest
from robots.parameters import Parameter


@dataclass(frozen=True, eq=False)
class ParameterRows:
    """Rows of all parameters of designs, alone and under cases, as functions of the factors that vary.

    `bounds` are those of each factor, in their order, of the rows of a table 0 and their number; all other parameters
    keep the values of the sweep's first design, and derived ones follow by their rules. Of simulations these are
    parameters of the controller and of the initial state, too. `cases` are operating conditions, by parameter the
    values (case,) under which every design is computed.
    """

    sweep: Sweep
    space: DesignSpace
    bounds: Mapping[str, tuple[float, float]]
    cases: Mapping[str, Array] = field(default_factory=dict)
    constant: Mapping[str, float] = field(default_factory=dict)
    """Values of parameters that do not vary, in place of those of the first design."""

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters that vary."""
        return tuple(self.bounds)

    @property
    def rows_of_tables(self) -> tuple[str, ...]:
        """Names of the factors that are rows of tables, which vary and have no derivative."""
        return tuple(name for name in self.names if name in self._tables)

    @property
    def case_count(self) -> int:
        """Number of operating cases; 1 without operating cases."""
        return len(next(iter(self.cases.values()))) if self.cases else 1

    @cached_property
    def first_parameters(self) -> dict[str, float]:
        """Parameters, and labels that are numbers, of the sweep's first design."""
        labels = {name: float(column[0]) for name, column in self.sweep.design.values(0, 1).items()}
        friction = {name: float(column[0]) for name, column in self.sweep.friction.values(0, 1).items()}
        own = dict(zip(self._order, self._first.tolist(), strict=True))
        return {**labels, **(friction if self.friction_names else {}), **self.constant, **own}

    @cached_property
    def friction_names(self) -> tuple[str, ...]:
        """Parameters of friction, where some of them vary: then every design has a friction set of its own."""
        own = tuple(self.sweep.friction.parameters)
        members = {member for f in self.space.varied() if f.name in self.names for member in f.members}
        return own if {*own} & {*self.names, *members} else ()

    @property
    def _tables(self) -> dict[str, Choice]:
        """The tables among the varied factors, by name."""
        tables = {factor.name: factor.domain for factor in self.space.varied() if factor.kind == "category"}
        return {name: domain for name, domain in tables.items() if isinstance(domain, Choice)}

    @cached_property
    def _parameters(self) -> dict[str, Parameter]:
        """Parameters by name, in their order."""
        family = {p.name: p for p in self.sweep.family.parameters}
        return {**family, **self._field, **_of_simulation(self.sweep)}

    @cached_property
    def _field(self) -> dict[str, Parameter]:
        """The components of gravity as parameters, where cases or designs have their own."""
        if not {*GRAVITY} & {*self.cases, *self.sweep.design.names} or self.sweep.simulation is not None:
            return {}
        own = {p.name for p in self.sweep.family.parameters}
        return {name: p for name, p in gravity_parameters(self.sweep.gravity).items() if name not in own}

    @cached_property
    def _order(self) -> list[str]:
        """Names of all parameters: of the robot, then of the controller, then of the start."""
        return [*self._parameters]

    @cached_property
    def _first(self) -> Array:
        """Parameters of the sweep's first design: of the robot, its controller, its start."""
        axes = self.sweep.simulation
        more = [] if axes is None else [axes.gain_table(slice(0, 1))[0], axes.state_table(slice(0, 1))[0]]
        if self._field:
            gravity = np.array(self.sweep.gravity_of(0))
            more.append(gravity[[GRAVITY.index(name) for name in self._field]])
        first = np.concatenate([*self.sweep.designs(0, 1).values(), *more])
        fixed = {name: value for name, value in self.constant.items() if name in self._parameters}  # else a label
        first[[self._order.index(name) for name in fixed]] = list(fixed.values())
        return first

    def at(self, constant: Mapping[str, float]) -> Self:
        """Return the problem with some parameters at these values, of which none varies. Raises InputError.

        A motor, whose inertia, torque constant and resistance are the row of a table, is named as the factor it is,
        with the number of its row.
        """
        fixed: dict[str, float] = {}
        for name, value in constant.items():
            if name in self._tables:
                fixed |= {key: float(column[0]) for key, column in self._tables[name].values(np.array([value])).items()}
                continue
            if name not in self._parameters or name in self.cases:
                known = [name for name in (*self._parameters, *self._tables) if name not in self.cases]
                hint = sentence(nearest(name, known))
                raise refuse(f"constant.{name}", "no such parameter", "one that is no case", hint)
            self._require_free(f"constant.{name}", name)
            if self._parameters[name].problem(value):
                raise refuse(f"constant.{name}", f"{value:g}", self._parameters[name].bounds)
            fixed[name] = value
        of_tables = {name for name, domain in self._tables.items() if {*domain.names} & {*fixed}}
        bounds = {name: span for name, span in self.bounds.items() if name not in fixed and name not in of_tables}
        if not bounds:
            raise refuse("constant", "all parameters that vary", "some of them", "Leave one out.")
        return replace(self, bounds=bounds, constant={**self.constant, **fixed})

    def about(self, names: Collection[str], design: Mapping[str, object]) -> Self:
        """Return the problem of the named factors only, with all other numbers from a design by name."""
        bounds = {name: span for name, span in self.bounds.items() if name in names}
        set_elsewhere = {*bounds, *self.cases, *(name for name, _ in self.space.rules)}
        numbers = {name: design[name] for name in self.first_parameters if name in design and name not in set_elsewhere}
        fixed = {name: float(x) for name, x in numbers.items() if isinstance(x, int | float | np.number)}
        return replace(self, bounds=bounds, constant={**self.constant, **fixed})

    def under(self, case: Mapping[str, float]) -> Self:
        """Return the problem under the cases with these values only. Raises InputError for values of no case.

        Sensitivities of it are conditional on the case.

            >>> sweep = ls.sweep("five_bar", design={"payload_mass": [0.0, 1.0], "distal_length": [0.5, 0.56]},
            ...     trajectories={"c": {"kind": "circle", "radius": 0.05, "normal": [0, 1, 0]}}, time=(1, 0.1),
            ...     metrics="peak_force")
            >>> ls.study.DesignProblem.of(sweep, cases=["payload_mass"]).under({"payload_mass": 1.0}).case_count
            1
        """
        kept = np.ones(self.case_count, bool)
        for name, value in case.items():
            if name not in self.cases:
                hint = sentence(nearest(name, self.cases)) if self.cases else "Name it as a case of the problem, too."
                raise refuse(f"case.{name}", "no such case", f"one of {', '.join(self.cases) or 'none'}", hint)
            kept &= np.isclose(self.cases[name], value, rtol=1e-9, atol=0.0)
            if not kept.any():
                known = ", ".join(f"{x:g}" for x in np.unique(self.cases[name]))
                raise refuse(f"case.{name}", f"{value:g}", f"one of {known}")
        return replace(self, cases={name: values[kept] for name, values in self.cases.items()})

    def _require_free(self, field: str, name: str) -> None:
        """Refuse a derived parameter. Raises InputError."""
        for derived, rule in self.space.rules:
            if derived == name:
                hint = f"Vary {' or '.join(rule.names)}, or take the rule out of derive." if rule.names else ""
                raise refuse(field, f"{name}, which follows as {rule.text}", "a parameter that no rule derives", hint)

    def table(self, designs: Array, rates: bool = False) -> dict[str, Any]:
        """Compute the parameters (row,) by name from the varied factors (design, factor), derived ones by their rules.

        A row is a design, or a design under a case: all cases of the first design, then of the next. With `rates` they
        are numbers with rates, by each factor that varies.
        """
        points = np.atleast_2d(np.asarray(designs, dtype=float))
        count, tables = len(points) * self.case_count, self._tables
        varied: dict[str, Any] = {}
        for k, (name, column) in enumerate(zip(self.names, points.T, strict=True)):
            coordinate = np.repeat(column, self.case_count)
            if name in tables:
                last = len(tables[name].rows) - 1
                varied |= tables[name].values(np.clip(np.floor(coordinate), 0, last))
            else:
                varied[name] = coordinate
                if rates:
                    direction = np.zeros((len(self.names), 1))
                    direction[k] = 1.0
                    varied[name] = NumberWithRates(coordinate, np.broadcast_to(direction, (len(direction), count)))
        varied |= {name: np.tile(values, len(points)) for name, values in self.cases.items()}
        constants = {name: np.full(count, value) for name, value in self.first_parameters.items() if name not in varied}
        return replace(self.space, constants=constants).complete({**varied, **self._fixed(count)})

    def _fixed(self, count: int) -> dict[str, Array]:
        return {name: np.full(count, value) for name, value in self.constant.items()}

    def rows(self, designs: Array) -> Array:
        """Compute the parameters (row, all) from the varied factors: of the robot, then of simulations; see `table`."""
        return self._stacked(self.table(designs))

    def _stacked(self, table: Mapping[str, Array]) -> Array:
        return np.stack([np.asarray(table[name], dtype=float) for name in self._order], axis=1)

    def directions(self, designs: Array) -> Array:
        """Return the exact derivatives of all parameters of the rows by the varied factors (row, factor, all)."""
        return self._rates_of(self.table(designs, rates=True), self._order)

    def _rates_of(self, table: Mapping[str, Array | NumberWithRates], names: Sequence[str]) -> Array:
        """Return the rates (row, factor, name) of some numbers of a table with rates."""
        count = len(values_of(next(iter(table.values()))))
        result = np.zeros((count, len(self.names), len(names)))
        for k, name in enumerate(names):
            if isinstance(value := table[name], NumberWithRates):
                result[:, :, k] = np.broadcast_to(value.rates, (len(self.names), count)).T
        return result

    def derived_bounds(self) -> dict[str, Parameter]:
        """Return the parameters that rules derive, with their bounds."""
        return {name: self._parameters[name] for name, _ in self.space.rules if name in self._parameters}

    def admissible(self, designs: Array) -> Mask:
        """Return a mask of the designs (design,) that meet the conditions of the sweep on designs in every case."""
        each = self.space.admissible(self.table(designs)).reshape(-1, self.case_count)
        return np.asarray(each.all(axis=1), dtype=bool)

    @property
    def first(self) -> dict[str, float]:
        """The factors that vary in the sweep's first design; of a table the number of its row."""
        own = {name: np.array([value]) for name, value in self.first_parameters.items()}
        rows = self.space.coordinates({name: own[name] for name in own}) if self._tables else {}
        return {
            name: float(rows[name][0]) if name in self._tables else self.first_parameters[name] for name in self.names
        }

    def stored_design(self, ds: Dataset, number: int) -> dict[str, float]:
        """Return the factors of a design of a dataset, with friction as in its first set. Raises InputError."""
        if number >= ds.sizes["design"]:
            raise refuse("base", str(number), f"a design from 0 to {ds.sizes['design'] - 1}")
        row = ds.isel(design=[number])
        columns = {name: np.array([value]) for name, value in self.first_parameters.items()}
        columns |= {str(name): x.values for name, x in row.coords.items() if x.dims == ("design",)}
        points = self.space.coordinates(columns)
        return {name: float(points[name][0]) for name in self.names}

    def default_design(self) -> Array:
        """Return the factors (factor,) at the defaults of the robot; NaN for a factor without a default."""
        return np.array([self._parameters[name].default if name in self._parameters else np.nan for name in self.names])


def values_of(number: Array | NumberWithRates) -> Array:
    """Return the values (row,) of numbers, with rates or without."""
    return np.atleast_1d(np.asarray(number.value if isinstance(number, NumberWithRates) else number, dtype=float))


def _of_simulation(sweep: Sweep) -> dict[str, Parameter]:
    """Return a simulation's parameters with a value, by name: of the controller, then of the initial state."""
    axes = sweep.simulation
    return {} if axes is None else {**axes.gain_parameters, **axes.state_parameters}
