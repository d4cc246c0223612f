"""Metrics and their exact derivatives as functions of the design parameters of a sweep, computed in this process."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from xarray import Dataset

from applications.studies.columns import JOINTS, Array, Mask, Objective, base_of, joints_there, reduced, refuse
from applications.studies.points import Choice
from applications.studies.space import DesignSpace, is_dim
from pipeline.documents.report import sentence
from pipeline.execution import work
from pipeline.execution.blocks import block_of
from pipeline.plan.plan import plan
from pipeline.sweep.gravity import GRAVITY, gravity_parameters
from pipeline.sweep.model import Sweep
from pipeline.sweep.needs import lacking_of
from pipeline.sweep.question.question import split_trajectory
from robots.expressions.rates import NumberWithRates
from robots.parameters import Parameter, nearest
from robots.quantities import QUANTITIES, Need, large_is_good, needs
from robots.quantities import names as names_of_stage
from tasks.blocks.block import Block
from tasks.blocks.derived_series import MetricRates
from tasks.blocks.gradients import Directions, metric_rates

STRIP = 1 << 16
"""Samples times directions that are computed at a time."""

SIDE_BY_SIDE = 256
"""Designs that are simulated at a time, at least."""

DIFFERENCE = 1e-4
"""Share of a range by which differences of simulations go to each side."""


@dataclass(frozen=True, eq=False)
class DesignProblem:
    """A sweep as functions of some factors of its design space: the motions, friction sets and metrics of the sweep.

    `bounds` are those of each factor, in their order, of the rows of a table 0 and their number; all other parameters
    keep the values of the sweep's first design, and derived ones follow by their rules. Of simulations these are
    parameters of the controller and of the initial state, too. `cases` are operating conditions, by parameter the
    values (case,) under which every design is computed.

        >>> problem = ls.study.DesignProblem.of(ls.Sweep.from_yaml("sweep.yaml"), {"upper_arm": (0.2, 0.3)})
        >>> problem.names
        ('upper_arm',)
    """

    sweep: Sweep
    space: DesignSpace
    bounds: Mapping[str, tuple[float, float]]
    cases: Mapping[str, Array] = field(default_factory=dict)
    constant: Mapping[str, float] = field(default_factory=dict)
    """Values of parameters that do not vary, in place of those of the first design."""

    @classmethod
    def of(
        cls,
        sweep: Sweep,
        bounds: Mapping[str, tuple[float, float]] | None = None,
        cases: Sequence[str] = (),
        *,
        friction: bool = False,
    ) -> DesignProblem:
        """The problem of a sweep; without bounds those that its own designs span. Raises InputError.

        cases: swept parameters that are operating conditions; all combinations of them that the sweep has count.
        friction: the friction that is swept varies as designs do; else all its sets count, by their worst.
        """
        named = friction or any(name in sweep.friction.parameters for name in bounds or ())
        space, conditions = DesignSpace.of(sweep, cases, friction=named).with_columns(), _conditions(sweep, cases)
        spans = dict(bounds) if bounds is not None else _spanned(sweep, space)
        if both := [name for name in conditions if name in spans]:
            raise refuse(f"bounds.{both[0]}", "a case", "parameters that are no cases", "Take it out of one of them.")
        problem = cls(sweep, space, spans, conditions)
        table, tables = {**problem._parameters, **(sweep.friction.parameters if named else {})}, problem._tables
        owner = "one of the robot" if sweep.simulation is None else "one of the robot, its controller or its start"
        for name, (low, high) in spans.items():
            if name in tables:
                continue
            if name not in table:
                raise refuse(f"bounds.{name}", "no such parameter", owner, sentence(nearest(name, table)))
            problem._require_free(f"bounds.{name}", name)
            if not low < high or table[name].problem(low) or table[name].problem(high):
                raise refuse(f"bounds.{name}", f"({low:g}, {high:g})", f"low < high, each {table[name].bounds}")
        return problem

    def _require_free(self, field: str, name: str) -> None:
        """Refuse a derived parameter. Raises InputError."""
        for derived, rule in self.space.rules:
            if derived == name:
                hint = f"Vary {' or '.join(rule.names)}, or take the rule out of derive." if rule.names else ""
                raise refuse(field, f"{name}, which follows as {rule.text}", "a parameter that no rule derives", hint)

    @property
    def _tables(self) -> dict[str, Choice]:
        """The tables among the varied factors, by name."""
        tables = {factor.name: factor.domain for factor in self.space.varied() if factor.kind == "category"}
        return {name: domain for name, domain in tables.items() if isinstance(domain, Choice)}

    @property
    def rows_of_tables(self) -> tuple[str, ...]:
        """Names of the factors that are rows of tables, which vary and have no derivative."""
        return tuple(name for name in self.names if name in self._tables)

    def at(self, constant: Mapping[str, float]) -> DesignProblem:
        """The problem with some parameters at these values, of which none varies. Raises InputError.

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

    def about(self, names: Collection[str], design: Mapping[str, object]) -> DesignProblem:
        """The problem of those of its factors that are named, all other numbers as those of a design by name."""
        bounds = {name: span for name, span in self.bounds.items() if name in names}
        set_elsewhere = {*bounds, *self.cases, *(name for name, _ in self.space.rules)}
        numbers = {name: design[name] for name in self.first_parameters if name in design and name not in set_elsewhere}
        fixed = {name: float(x) for name, x in numbers.items() if isinstance(x, int | float | np.number)}
        return replace(self, bounds=bounds, constant={**self.constant, **fixed})

    def under(self, case: Mapping[str, float]) -> DesignProblem:
        """The problem under the cases with these values alone. Raises InputError for values of no case.

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
                hint = sentence(nearest(name, self.cases)) or "Name it as a case of the problem, too."
                raise refuse(f"case.{name}", "no such case", f"one of {', '.join(self.cases) or 'none'}", hint)
            kept &= np.isclose(self.cases[name], value, rtol=1e-9, atol=0.0)
            if not kept.any():
                known = ", ".join(f"{x:g}" for x in np.unique(self.cases[name]))
                raise refuse(f"case.{name}", f"{value:g}", f"one of {known}")
        return replace(self, cases={name: values[kept] for name, values in self.cases.items()})

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters that vary."""
        return tuple(self.bounds)

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
    def _block(self) -> Block:
        """The whole sweep of one design as a block; its parameters are replaced before use."""
        sweep, sets = self.sweep, self.sweep.sizes["friction"]
        return replace(
            block_of(plan(sweep), 0),
            parameters=np.stack(list(sweep.designs(0, 1).values()), axis=1),
            friction=sweep.friction.table(0, sets),
            trajectories=sweep.trajectories,
            series=(),
            metrics=(),
            own=(),
            extra=(),
            derivatives=None,
            measurement=None,
        )

    @cached_property
    def _first(self) -> Array:
        """Parameters of the sweep's first design: of the robot, its controller, its start."""
        axes = self.sweep.simulation
        more = [] if axes is None else [axes.gain_table(slice(0, 1))[0], axes.state_table(slice(0, 1))[0]]
        if self._field:
            gravity = np.array(self.sweep.gravity_of(0))
            more.append(gravity[[GRAVITY.index(name) for name in self._field]])
        first = np.concatenate([self._block.parameters[0], *more])
        fixed = {name: value for name, value in self.constant.items() if name in self._parameters}  # else a label
        first[[self._order.index(name) for name in fixed]] = list(fixed.values())
        return first

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
        """Derivatives of all parameters of the rows by the factors that vary (row, factor, all), exact."""
        return self._rates_of(self.table(designs, rates=True), self._order)

    def _rates_of(self, table: Mapping[str, Array | NumberWithRates], names: Sequence[str]) -> Array:
        """Return the rates (row, factor, name) of some numbers of a table with rates."""
        count = len(_values(next(iter(table.values()))))
        result = np.zeros((count, len(self.names), len(names)))
        for k, name in enumerate(names):
            if isinstance(value := table[name], NumberWithRates):
                result[:, :, k] = np.broadcast_to(value.rates, (len(self.names), count)).T
        return result

    def derived_bounds(self) -> dict[str, Parameter]:
        """Parameters that rules derive, with their bounds."""
        return {name: self._parameters[name] for name, _ in self.space.rules if name in self._parameters}

    def admissible(self, designs: Array) -> Mask:
        """Return a mask of the designs (design,) that meet the conditions of the sweep on designs in every case."""
        each = self.space.admissible(self.table(designs)).reshape(-1, self.case_count)
        return np.asarray(each.all(axis=1), dtype=bool)

    def values(self, designs: Array, columns: Sequence[str]) -> dict[str, Array]:
        """Compute columns of `applications.studies.columns` (design,) by the kernels of a run; NaN if a sample fails.

        Of cases the worst counts.
        """
        return {
            name: values.min(axis=1) if large_is_good(base_of(name)[0]) else values.max(axis=1)
            for name, values in self.by_case(designs, columns).items()
        }

    def by_case(self, designs: Array, columns: Sequence[str]) -> dict[str, Array]:
        """Columns (design, case) by the kernels of a run; NaN for a failed sample or a parameter out of bounds."""
        base = {name: _metric(name, self._lacks) for name in columns}
        metrics = tuple(dict.fromkeys(metric for metric, _ in base.values()))
        table = self.table(designs)
        values = self._metrics(table, metrics)
        of_joints = {at for at, _ in base.values() if QUANTITIES[at].dims[-2:] == JOINTS}
        reductions = {name: reduced(values[at], how, joints=at in of_joints) for name, (at, how) in base.items()}
        wrong = ~self.space.within_bounds(table)
        return {name: np.where(wrong, np.nan, x).reshape(-1, self.case_count) for name, x in reductions.items()}

    def _metrics(self, table: Mapping[str, Array], metrics: tuple[str, ...]) -> dict[str, Array]:
        """Metrics (row, ...) for all parameters (row,) by name; rows of the same friction are computed together."""
        rows = self._stacked(table)
        if not self.friction_names:
            return self._of_rows(rows, metrics, self._block.friction)
        every = np.stack([np.asarray(table[name], dtype=float) for name in self.friction_names], axis=1)
        sets, number = np.unique(every, axis=0, return_inverse=True)
        found = [self._of_rows(rows[number.ravel() == k], metrics, one[None]) for k, one in enumerate(sets)]
        order = np.argsort(np.argsort(number.ravel(), kind="stable"), kind="stable")
        return {name: np.concatenate([part[name] for part in found])[order] for name in metrics}

    def _of_rows(self, rows: Array, metrics: tuple[str, ...], friction: Array) -> dict[str, Array]:
        """Metrics (row, ...) for all parameters (row, all) under friction sets (set, parameter)."""
        step = max(1, STRIP // (len(self._block.times) * len(self._block.trajectories)))
        if self.sweep.simulation is not None:
            step = max(step, SIDE_BY_SIDE)
        parts = [self._computed(rows[i : i + step], metrics, friction) for i in range(0, len(rows), step)]
        return {name: np.concatenate([part[name] for part in parts]) for name in metrics}

    def _computed(self, rows: Array, metrics: tuple[str, ...], friction: Array) -> Mapping[str, Array]:
        block, axes = replace(self._block, friction=friction), self.sweep.simulation
        if axes is None or block.simulation is None:
            return work.whole(replace(self._with_rows(rows), metrics=metrics, friction=friction))
        robot = block.parameters.shape[1]
        parameters, gains, state = np.split(rows, [robot, robot + len(axes.gain_parameters)], axis=1)
        simulation = replace(block.simulation, gains=gains, state=state, dims=(), paired=True)
        return work.whole(replace(block, parameters=parameters, metrics=metrics, simulation=simulation))

    def _with_rows(self, rows: Array) -> Block:
        """The block with all parameters of some rows, and their gravity where they have their own."""
        block, count = self._block, len(self.sweep.family.parameters)
        if not self._field:
            return replace(block, parameters=rows)
        gravity = np.tile(np.array(self.sweep.gravity), (len(rows), 1))
        gravity[:, [GRAVITY.index(name) for name in self._field]] = rows[:, count:]
        return replace(block, parameters=np.ascontiguousarray(rows[:, :count]), gravities=gravity)

    def require_columns(self, names: Sequence[str]) -> list[str]:
        """Return those of the names in expressions that are columns of metrics. Raises InputError for no such names."""
        known = {*self.first_parameters, *self.cases}
        return [name for name in names if name not in known and _metric(name, self._lacks)]

    @property
    def _lacks(self) -> dict[Need, str]:
        """Needs of metrics that the sweep does not meet, each with its reason."""
        return lacking_of(self.sweep.family.reference, self.sweep.simulation)

    @property
    def first(self) -> dict[str, float]:
        """The factors that vary in the sweep's first design; of a table the number of its row."""
        own = {name: np.array([value]) for name, value in self.first_parameters.items()}
        rows = self.space.coordinates({name: own[name] for name in own}) if self._tables else {}
        return {
            name: float(rows[name][0]) if name in self._tables else self.first_parameters[name] for name in self.names
        }

    def stored_design(self, ds: Dataset, number: int) -> dict[str, float]:
        """The factors of a design of a dataset, with friction as in its first set. Raises InputError."""
        if number >= ds.sizes["design"]:
            raise refuse("base", str(number), f"a design from 0 to {ds.sizes['design'] - 1}")
        row = ds.isel(design=[number])
        columns = {name: np.array([value]) for name, value in self.first_parameters.items()}
        columns |= {str(name): x.values for name, x in row.coords.items() if x.dims == ("design",)}
        points = self.space.coordinates(columns)
        return {name: float(points[name][0]) for name in self.names}

    def default_design(self) -> Array:
        """The factors (factor,) at the defaults of the robot; NaN for one that has none."""
        return np.array([self._parameters[name].default if name in self._parameters else np.nan for name in self.names])

    def objective(self, designs: Array, wanted: Objective) -> Array:
        """An objective (design,) over columns, parameters that vary, and cases. Raises InputError for other names."""
        varied = np.atleast_2d(np.asarray(designs, dtype=float))
        table = self.table(varied)
        columns = [name for name in wanted.expression.names if name not in table]
        values: dict[str, Array] = self.by_case(varied, columns) if columns else {}
        values |= {name: table[name].reshape(-1, self.case_count) for name in wanted.expression.names if name in table}
        results = np.broadcast_to(wanted.expression(values), (len(varied), self.case_count)).astype(float)
        return wanted.over_cases(results, self.cases) if self.cases or wanted.tolerances else results[:, 0]

    def rates(self, design: Array, metrics: Sequence[str], windows: int = 1) -> dict[str, tuple[Array, Array]]:
        """Metrics of one design (parameter,): values (row,) and derivatives (row, parameter).

        A row is a friction set, trajectory, actuator or joint and, of a peak, part of the time; with cases the rows of
        the first case, then as many of the next. Derivatives are exact, by parameters of friction and gravity too.
        Those of simulations, and of metrics of paths such as `cycle_time`, are central differences, and rows have no
        parts of the time. Raises ValueError for metrics that are not differentiated.
        """
        if self.sweep.simulation is not None:
            return self._differences(np.asarray(design, dtype=float), tuple(metrics))
        if of_paths := tuple(name for name in metrics if name in names_of_stage("path")):
            others = [name for name in metrics if name not in of_paths]
            known = self.rates(design, others, windows) if others else {}
            return known | self._differences(np.asarray(design, dtype=float), of_paths)
        self._require_smooth()
        table = self.table(design, rates=True)
        block = replace(self._with_rows(self.rows(design)), metrics=tuple(metrics))
        along, count = self._rates_of(table, self._order), block.parameters.shape[1]
        gravity = np.zeros((*along.shape[:2], len(GRAVITY)))
        gravity[:, :, [GRAVITY.index(name) for name in self._field]] = along[:, :, count:]
        directions = Directions(np.ascontiguousarray(along[:, :, :count]), gravity=gravity)
        found = [metric_rates(*part, windows) for part in self._by_friction(block, directions, table)]
        return {
            name: _joined(
                [_rows(name, _of_case(part[name], k)) for part in found for k in range(len(part[name].values))]
            )
            for name in metrics
        }

    def _by_friction(
        self, block: Block, directions: Directions, table: Mapping[str, Array | NumberWithRates]
    ) -> Iterator[tuple[Block, Directions]]:
        """Yield a block of all cases with its directions; where friction varies, one for each case."""
        if not self.friction_names:
            yield block, directions
            return
        sets = np.stack([_values(table[name]) for name in self.friction_names], axis=-1).reshape(self.case_count, -1)
        rates = self._rates_of(table, self.friction_names)
        for case in range(self.case_count):
            part = slice(case, case + 1)
            gravities = None if block.gravities is None else block.gravities[part]
            one = replace(block, parameters=block.parameters[part], friction=sets[part], gravities=gravities)
            assert directions.gravity is not None
            yield one, Directions(directions.parameters[part], rates[part], directions.gravity[part])

    def _require_smooth(self) -> None:
        """Refuse derivatives by rows of tables. Raises InputError."""
        if rows := self.rows_of_tables:
            hint = "Fix it with --fix, or DesignProblem.at."
            raise refuse(f"bounds.{rows[0]}", "rows of a table, which have no derivatives", "a parameter", hint)

    def _differences(self, design: Array, metrics: tuple[str, ...]) -> dict[str, tuple[Array, Array]]:
        """The same of simulations, all designs side by side; at an end of the bounds from one side."""
        self._require_smooth()
        low, high = np.array(list(self.bounds.values())).T
        away = np.diag(DIFFERENCE * (high - low))
        ahead, behind = np.minimum(design + away, high), np.maximum(design - away, low)
        values = self._metrics(self.table(np.concatenate([design[None], ahead, behind])), metrics)
        count, way = len(design), np.diag(ahead - behind)
        flat = {name: array.reshape(2 * count + 1, -1) for name, array in values.items()}
        return {
            name: (rows[0], ((rows[1 : count + 1] - rows[count + 1 :]) / way[:, None]).T) for name, rows in flat.items()
        }


def _values(number: Array | NumberWithRates) -> Array:
    """Return the values (row,) of numbers, with rates or without."""
    return np.atleast_1d(np.asarray(number.value if isinstance(number, NumberWithRates) else number, dtype=float))


def _of_case(rates: MetricRates, case: int) -> MetricRates:
    """The rates of one of the cases, which take the place of designs."""
    part = slice(case, case + 1)
    return MetricRates(rates.values[part], rates.rates[:, part], rates.sizes[:, part])


def _joined(parts: Sequence[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Values (row,) and derivatives (row, parameter) of all cases, as many rows of each.

    A case that fails has NaN for joints that a limb does not have, too: they are left out.
    """
    rows = min(len(values) for values, _ in parts)
    return np.concatenate([values[:rows] for values, _ in parts]), np.concatenate([rates[:rows] for _, rates in parts])


def _conditions(sweep: Sweep, cases: Sequence[str]) -> dict[str, Array]:
    """Values (case,) of the parameters that are cases, in all combinations that the sweep has. Raises InputError."""
    if not cases:
        return {}
    values: Mapping[str, Any] = sweep.design.values(0, sweep.design.size)
    for name in cases:
        if is_dim(sweep, name):
            hint = "Their worst counts; name parameters under design with --cases."
            raise refuse(f"cases.{name}", "friction sets or trajectories", "a parameter under design", hint)
        if name not in values:
            hint = sentence(nearest(name, values))
            raise refuse(f"cases.{name}", "no such parameter", "a parameter that is swept under design", hint)
    combinations = np.unique(np.stack([np.asarray(values[name], float) for name in cases], axis=1), axis=0)
    return {name: combinations[:, k] for k, name in enumerate(cases)}


def _spanned(sweep: Sweep, space: DesignSpace) -> dict[str, tuple[float, float]]:
    """The ranges of the varied factors of a sweep: of a table the numbers of its rows."""
    values: Mapping[str, Any] = sweep.design.values(0, sweep.design.size)
    if (axes := sweep.simulation) is not None:
        values = {**values, **axes.gains.values(0, axes.gains.size), **axes.state.values(0, axes.state.size)}
    values = {**sweep.friction.axis.values(0, sweep.friction.size), **values}
    spans = {}
    for factor in space.varied():
        if factor.kind == "category" and isinstance(factor.domain, Choice):
            spans[factor.name] = 0.0, float(len(factor.domain.rows))
        elif np.ptp(values[factor.name]) > 0.0:
            spans[factor.name] = float(np.min(values[factor.name])), float(np.max(values[factor.name]))
    if not spans:
        raise refuse("bounds", "a sweep of one design", "bounds of the parameters that vary", "Give them as bounds.")
    return spans


def _of_simulation(sweep: Sweep) -> dict[str, Parameter]:
    """Parameters of a simulation that have a value, by name: of the controller, then of the initial state."""
    axes = sweep.simulation
    return {} if axes is None else {**axes.gain_parameters, **axes.state_parameters}


def _metric(column: str, lacks: Mapping[Need, str]) -> tuple[str, str]:
    """Return the metric and the reduction of a column. Raises InputError, also for one that a sweep does not have."""
    metric, how = base_of(column)
    if trajectory := split_trajectory(column)[1]:
        hint = f"Make a sweep of {trajectory} alone."
        raise refuse(column, "the metric of one of several trajectories", "one of all that are computed here", hint)
    if metric not in QUANTITIES or QUANTITIES[metric].kind != "metric":
        known = [name for name, row in QUANTITIES.items() if row.kind == "metric" and not {*row.needs} & {*lacks}]
        raise refuse(column, "no such metric", "a metric", sentence(nearest(metric, known)))
    for need in needs(metric):
        if need in lacks:
            raise refuse(column, metric, "a metric that this sweep has", lacks[need])
    return metric, how


def _rows(metric: str, result: MetricRates) -> tuple[Array, Array]:
    """Values (row,) and derivatives (row, parameter) of the metric of one design."""
    values, rates = result.values, result.rates
    if QUANTITIES[metric].dims[-2:] == JOINTS:
        there = joints_there(np.moveaxis(values, -1, 0))
        values, rates = values[..., there, :], rates[..., there, :]
    return values.ravel(), rates.reshape(len(rates), -1).T
