"""Metrics and their exact derivatives as functions of the design parameters of a sweep, computed in this process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from applications.studies.columns import JOINTS, Array, Objective, base_of, joints_there, reduced, refuse
from applications.studies.factors import Choice
from applications.studies.parameter_rows import ParameterRows, values_of
from applications.studies.space import DesignSpace, is_dim
from pipeline.documents.dataset_names import GRAVITY
from pipeline.documents.report import sentence
from pipeline.execution import work
from pipeline.execution.blocks import block_of
from pipeline.plan.plan import plan
from pipeline.sweep.axes.kinds import Axis
from pipeline.sweep.model import Sweep
from pipeline.sweep.needs import lacking_of
from pipeline.sweep.question.question import split_trajectory
from robots.data_classes import dataclass, replace
from robots.expressions.rates import NumberWithRates
from robots.parameter_errors import nearest
from robots.quantities import QUANTITIES, Need, large_is_good, needs
from robots.quantities import names as names_of_stage
from robots.requested import NO_QUANTITIES, QuantityNames
from tasks.blocks.block import Block
from tasks.blocks.derived_series import MetricRates
from tasks.blocks.designs import BlockDesigns
from tasks.blocks.ended import by_grid
from tasks.blocks.gradients import Directions, metric_rates
from tasks.mathematics.extrapolation import OFFSETS, POINTS, Slopes

STRIP = 1 << 16
"""Samples times directions that are computed at a time."""

PART = 1 << 20
"""Designs of a sweep whose parameters are looked at together."""

SIDE_BY_SIDE = 256
"""Designs that are simulated at a time, at least."""


@dataclass(frozen=True, eq=False)
class DesignProblem(ParameterRows):
    """A sweep as functions of some factors of its design space: the motions, friction sets and metrics of the sweep.

    `bounds` are those of each factor, in their order, of the rows of a table 0 and their number; all other parameters
    keep the values of the sweep's first design, and derived ones follow by their rules. Of simulations these are
    parameters of the controller and of the initial state, too. `cases` are operating conditions, by parameter the
    values (case,) under which every design is computed.

        >>> problem = ls.study.DesignProblem.of(ls.Sweep.from_yaml("sweep.yaml"), {"upper_arm": (0.2, 0.3)})
        >>> problem.names
        ('upper_arm',)
    """

    @classmethod
    def of(
        cls,
        sweep: Sweep,
        bounds: Mapping[str, tuple[float, float]] | None = None,
        cases: Sequence[str] = (),
        *,
        friction: bool = False,
    ) -> DesignProblem:
        """Return the problem of a sweep; without bounds, within the ranges of its own designs. Raises InputError.

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

    @cached_property
    def _block(self) -> Block:
        """The whole sweep of one design as a block; its parameters are replaced before use."""
        sweep, sets = self.sweep, self.sweep.sizes["friction"]
        return replace(
            block_of(plan(sweep), 0),
            designs=BlockDesigns(np.stack(list(sweep.designs(0, 1).values()), axis=1), np.array([sweep.gravity])),
            friction=sweep.friction.table(0, sets),
            trajectories=sweep.trajectories,
            quantities=NO_QUANTITIES,
            own=(),
            extra=(),
            derivatives=None,
            measurement=None,
        )

    def values(self, designs: Array, columns: Sequence[str]) -> dict[str, Array]:
        """Compute columns of `applications.studies.columns` (design,) by the kernels of a run; NaN if a sample fails.

        Of cases the worst counts.
        """
        return {
            name: values.min(axis=1) if large_is_good(base_of(name)[0]) else values.max(axis=1)
            for name, values in self.by_case(designs, columns).items()
        }

    def by_case(self, designs: Array, columns: Sequence[str]) -> dict[str, Array]:
        """Return columns (design, case) by the kernels of a run; NaN for failed samples or parameters out of bounds."""
        base = {name: _metric(name, self._lacks) for name in columns}
        metrics = tuple(dict.fromkeys(metric for metric, _ in base.values()))
        table = self.table(designs)
        values = self._metrics(table, metrics)
        of_joints = {at for at, _ in base.values() if QUANTITIES[at].dims[-2:] == JOINTS}
        reductions = {name: reduced(values[at], how, joints=at in of_joints) for name, (at, how) in base.items()}
        wrong = ~self.space.within_bounds(table)
        return {name: np.where(wrong, np.nan, x).reshape(-1, self.case_count) for name, x in reductions.items()}

    def by_actuator(self, metric: str) -> Array:
        """Return the largest value of a metric for each actuator (actuator,) at the constants of the problem."""
        values = self._metrics(self.table(np.empty((1, 0))), (metric,))[metric]
        return np.asarray(values.max(axis=tuple(range(values.ndim - 1))))

    def _metrics(self, table: Mapping[str, Array], metrics: tuple[str, ...]) -> dict[str, Array]:
        """Return metrics (row, ...) for parameters (row,) by name; rows of equal friction are computed together."""
        rows = self._stacked(table)
        if not self.friction_names:
            return self._of_rows(rows, metrics, self._block.friction)
        every = np.stack([np.asarray(table[name], dtype=float) for name in self.friction_names], axis=1)
        sets, number = np.unique(every, axis=0, return_inverse=True)
        found = [self._of_rows(rows[number.ravel() == k], metrics, one[None]) for k, one in enumerate(sets)]
        order = np.argsort(np.argsort(number.ravel(), kind="stable"), kind="stable")
        return {name: np.concatenate([part[name] for part in found])[order] for name in metrics}

    def _of_rows(self, rows: Array, metrics: tuple[str, ...], friction: Array) -> dict[str, Array]:
        """Return the metrics (row, ...) for all parameters (row, all) under friction sets (set, parameter)."""
        step = max(1, STRIP // sum(grid.samples for grid in self.sweep.grids))
        if self.sweep.simulation is not None:
            step = max(step, SIDE_BY_SIDE)
        parts = [self._computed(rows[i : i + step], metrics, friction) for i in range(0, len(rows), step)]
        return {name: np.concatenate([part[name] for part in parts]) for name in metrics}

    def _computed(self, rows: Array, metrics: tuple[str, ...], friction: Array) -> Mapping[str, Array]:
        block, axes = replace(self._block, friction=friction), self.sweep.simulation
        quantities = QuantityNames((), metrics)
        if axes is None or block.simulation is None:
            return work.whole(replace(self._with_rows(rows), quantities=quantities, friction=friction))
        robot = block.designs.parameters.shape[1]
        parameters, gains, state = np.split(rows, [robot, robot + len(axes.gain_parameters)], axis=1)
        simulation = replace(block.simulation, gains=gains, state=state, dims=(), paired=True)
        designs = block.designs.moved(parameters)
        return work.whole(replace(block, designs=designs, quantities=quantities, simulation=simulation))

    def _with_rows(self, rows: Array) -> Block:
        """Return the block with all parameters of some rows, and their gravity if they have their own."""
        block, count = self._block, len(self.sweep.family.parameters)
        if not self._field:
            return replace(block, designs=block.designs.moved(rows))
        gravity = np.tile(np.array(self.sweep.gravity), (len(rows), 1))
        gravity[:, [GRAVITY.index(name) for name in self._field]] = rows[:, count:]
        return replace(block, designs=BlockDesigns(np.ascontiguousarray(rows[:, :count]), gravity))

    def require_columns(self, names: Sequence[str]) -> list[str]:
        """Return those of the names in expressions that are columns of metrics. Raises InputError for no such names."""
        known = {*self.first_parameters, *self.cases}
        return [name for name in names if name not in known and _metric(name, self._lacks)]

    @property
    def _lacks(self) -> dict[Need, str]:
        """Needs of metrics that the sweep does not meet, each with its reason."""
        return lacking_of(self.sweep.family.reference, self.sweep.simulation)

    def objective(self, designs: Array, wanted: Objective) -> Array:
        """Return an objective (design,) over columns, varied parameters and cases. Raises InputError for others."""
        varied = np.atleast_2d(np.asarray(designs, dtype=float))
        table = self.table(varied)
        columns = [name for name in wanted.expression.names if name not in table]
        values: dict[str, Array] = self.by_case(varied, columns) if columns else {}
        values |= {name: table[name].reshape(-1, self.case_count) for name in wanted.expression.names if name in table}
        results = np.broadcast_to(wanted.expression(values), (len(varied), self.case_count)).astype(float)
        return wanted.over_cases(results, self.cases) if self.cases or wanted.tolerances else results[:, 0]

    def rates(self, design: Array, metrics: Sequence[str], windows: int = 1) -> dict[str, tuple[Array, Array]]:
        """Return the metrics of one design (parameter,): values (row,) and derivatives (row, parameter).

        A row is a friction set, trajectory, actuator or joint and, of a peak, part of the time; with cases the rows of
        the first case, then as many of the next. Derivatives are exact, by parameters of friction and gravity too.
        Those of simulations, with friction that has a state, and of metrics of paths such as `cycle_time`, are
        extrapolated differences, and rows have no parts of the time. Raises ValueError for metrics that are not
        differentiated.
        """
        remembers = any(group.remembers for group in self.sweep.friction.groups)
        if self.sweep.simulation is not None or remembers:
            return self._differences(np.asarray(design, dtype=float), tuple(metrics))
        if of_paths := tuple(name for name in metrics if name in names_of_stage("path")):
            others = [name for name in metrics if name not in of_paths]
            known = self.rates(design, others, windows) if others else {}
            return known | self._differences(np.asarray(design, dtype=float), of_paths)
        self._require_smooth()
        table = self.table(design, rates=True)
        block = replace(self._with_rows(self.rows(design)), quantities=QuantityNames((), tuple(metrics)))
        along, count = self._rates_of(table, self._order), block.designs.parameters.shape[1]
        gravity = np.zeros((*along.shape[:2], len(GRAVITY)))
        gravity[:, :, [GRAVITY.index(name) for name in self._field]] = along[:, :, count:]
        directions = Directions(np.ascontiguousarray(along[:, :, :count]), gravity=gravity)
        parts = self._by_friction(block, directions, table)
        found = [metric_rates(one, way, windows) for whole, way in parts for one in by_grid(whole)]
        return {
            name: _joined(
                [_rows(name, part[name].take(slice(k, k + 1))) for part in found for k in range(len(part[name].values))]
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
        sets = np.stack([values_of(table[name]) for name in self.friction_names], axis=-1).reshape(self.case_count, -1)
        rates = self._rates_of(table, self.friction_names)
        for case in range(self.case_count):
            part = slice(case, case + 1)
            one = replace(block, designs=block.designs.take(part), friction=sets[part])
            assert directions.gravity is not None
            yield one, Directions(directions.parameters[part], rates[part], directions.gravity[part])

    def _require_smooth(self) -> None:
        """Refuse derivatives by rows of tables. Raises InputError."""
        if rows := self.rows_of_tables:
            hint = "Fix it with --fix, or DesignProblem.at."
            raise refuse(f"bounds.{rows[0]}", "rows of a table, which have no derivatives", "a parameter", hint)

    def _differences(self, design: Array, metrics: tuple[str, ...]) -> dict[str, tuple[Array, Array]]:
        """Evaluate simulations with extrapolated differences, all designs side by side; at a bound from one side."""
        self._require_smooth()
        low, high = np.array(list(self.bounds.values())).T
        count, lengths = len(design), high - low
        ends = design + OFFSETS[:, None, None] * np.diag(lengths)  # (point, factor, factor)
        outside = ((ends < low) | (ends > high)).any(axis=-1)[..., None]
        ends = np.where(outside, design, ends).reshape(-1, count)
        values = self._metrics(self.table(np.concatenate([design[None], ends])), metrics)
        return {name: _sloped(array, lengths, outside) for name, array in values.items()}


def _sloped(values: Array, lengths: Array, outside: Array) -> tuple[Array, Array]:
    """Return values (row,) and derivatives (row, factor), from values at a design and at the points of all factors."""
    whole = values.reshape(1 + POINTS * len(lengths), -1)
    middle = np.broadcast_to(whole[0], (len(lengths), whole.shape[1]))
    slopes = Slopes.of(middle, whole[1:].reshape(POINTS, *middle.shape), lengths[:, None], outside)
    return whole[0], slopes.both.values.T


def _joined(parts: Sequence[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Return the values (row,) and derivatives (row, parameter) of all cases, equally many rows for each.

    A case that fails has NaN for joints that a limb does not have, too: they are left out.
    """
    rows = min(len(values) for values, _ in parts)
    return np.concatenate([values[:rows] for values, _ in parts]), np.concatenate([rates[:rows] for _, rates in parts])


def _conditions(sweep: Sweep, cases: Sequence[str]) -> dict[str, Array]:
    """Return the values (case,) of the parameters that are cases, in all combinations of a sweep. Raises InputError."""
    if not cases:
        return {}
    for name in cases:
        if is_dim(sweep, name):
            hint = "Their worst counts; name parameters under design with --cases."
            raise refuse(f"cases.{name}", "friction sets or trajectories", "a parameter under design", hint)
        if name not in sweep.design.names:
            hint = sentence(nearest(name, sweep.design.names))
            raise refuse(f"cases.{name}", "no such parameter", "a parameter that is swept under design", hint)
    parts = (np.stack([np.asarray(part[name], float) for name in cases], axis=1) for part in _parts(sweep.design))
    combinations = np.unique(np.concatenate([np.unique(part, axis=0) for part in parts]), axis=0)
    return {name: combinations[:, k] for k, name in enumerate(cases)}


def _spanned(sweep: Sweep, space: DesignSpace) -> dict[str, tuple[float, float]]:
    """Return the ranges of the varied factors of a sweep; for a table the numbers of its rows."""
    axes = [sweep.friction.axis, sweep.design]
    if sweep.simulation is not None:
        axes += [sweep.simulation.gains, sweep.simulation.state]
    ends = {name: pair for axis in axes for name, pair in _ends(axis).items()}
    spans = {}
    for factor in space.varied():
        if factor.kind == "category" and isinstance(factor.domain, Choice):
            spans[factor.name] = 0.0, float(len(factor.domain.rows))
        elif ends[factor.name][1] > ends[factor.name][0]:
            spans[factor.name] = ends[factor.name]
    if not spans:
        raise refuse("bounds", "a sweep of one design", "bounds of the parameters that vary", "Give them as bounds.")
    return spans


def _parts(axis: Axis) -> Iterator[Mapping[str, Any]]:
    """Yield the values of an axis in parts, so that memory does not grow with its length."""
    for start in range(0, axis.size, PART):
        yield axis.values(start, min(start + PART, axis.size))


def _ends(axis: Axis) -> dict[str, tuple[float, float]]:
    """Return the least and the largest value of each parameter of an axis."""
    ends: dict[str, tuple[float, float]] = {}
    for part in _parts(axis):
        for name, values in part.items():
            low, high = ends.get(name, (np.inf, -np.inf))
            ends[name] = min(low, float(np.min(values))), max(high, float(np.max(values)))
    return ends


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
    """Return the values (row,) and derivatives (row, parameter) of the metric of one design."""
    values, rates = result.values, result.rates
    if QUANTITIES[metric].dims[-2:] == JOINTS:
        there = joints_there(np.moveaxis(values, -1, 0))
        values, rates = values[..., there, :], rates[..., there, :]
    return values.ravel(), rates.reshape(len(rates), -1).T
