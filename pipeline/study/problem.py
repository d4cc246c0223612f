"""Metrics and their exact derivatives as functions of the design parameters of a sweep, computed in this process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from pipeline.documents.report import sentence
from pipeline.execution.graph import block_of, table
from pipeline.plan.plan import plan
from pipeline.study.columns import JOINTS, LARGE_IS_GOOD, Array, Objective, base_of, joints_there, reduced, refuse
from pipeline.sweep.gravity import GRAVITY, gravity_parameters
from pipeline.sweep.model import Sweep
from pipeline.sweep.question.question import DIMS
from robots.parameters import Parameter, nearest
from robots.quantities import QUANTITIES, SIMULATED, Quantity
from robots.quantities import names as names_of_stage
from tasks.blocks import compute
from tasks.blocks.block import Block
from tasks.blocks.gradients import DIFFERENTIABLE, Rates, metric_rates

STRIP = 1 << 16
"""Samples times directions that are computed at a time."""

SIDE_BY_SIDE = 256
"""Designs that are simulated at a time, at least."""

DIFFERENCE = 1e-4
"""Share of a range by which differences of simulations go to each side."""


@dataclass(frozen=True, eq=False)
class DesignProblem:
    """A sweep as functions of some of its parameters: the motions, friction sets and metrics of the sweep.

    `bounds` are those of each parameter, in their order; all others keep the values of the sweep's first design. Of
    simulations these are parameters of the controller and of the initial state, too. `cases` are operating conditions,
    by parameter the values (case,) under which every design is computed.

        >>> problem = ls.study.DesignProblem.of(ls.Sweep.from_yaml("sweep.yaml"), {"upper_arm": (0.2, 0.3)})
        >>> problem.names
        ('upper_arm',)
    """

    sweep: Sweep
    bounds: Mapping[str, tuple[float, float]]
    cases: Mapping[str, Array] = field(default_factory=dict)
    constant: Mapping[str, float] = field(default_factory=dict)
    """Values of parameters that do not vary, in place of those of the first design."""

    @classmethod
    def of(
        cls, sweep: Sweep, bounds: Mapping[str, tuple[float, float]] | None = None, cases: Sequence[str] = ()
    ) -> DesignProblem:
        """The problem of a sweep; without bounds those that its own designs span. Raises InputError.

        cases: swept parameters that are operating conditions; all combinations of them that the sweep has count.
        """
        conditions = _conditions(sweep, cases)
        spans = dict(bounds) if bounds is not None else _spanned(sweep, cases)
        if both := [name for name in conditions if name in spans]:
            raise refuse(f"bounds.{both[0]}", "a case", "parameters that are no cases", "Take it out of one of them.")
        table = cls(sweep, spans)._parameters
        owner = "one of the robot" if sweep.simulation is None else "one of the robot, its controller or its start"
        for name, (low, high) in spans.items():
            if name not in table:
                raise refuse(f"bounds.{name}", "no such parameter", owner, sentence(nearest(name, table)))
            if not low < high or table[name].problem(low) or table[name].problem(high):
                raise refuse(f"bounds.{name}", f"({low:g}, {high:g})", f"low < high, each {table[name].bounds}")
        return cls(sweep, spans, conditions)

    def at(self, constant: Mapping[str, float]) -> DesignProblem:
        """The problem with some parameters at these values, of which none varies. Raises InputError.

        So a motor stays, whose inertia, torque constant and resistance belong together, while lengths vary.
        """
        for name, value in constant.items():
            if name not in self._parameters or name in self.cases:
                known = [name for name in self._parameters if name not in self.cases]
                hint = sentence(nearest(name, known))
                raise refuse(f"constant.{name}", "no such parameter", "one that is no case", hint)
            if self._parameters[name].problem(value):
                raise refuse(f"constant.{name}", f"{value:g}", self._parameters[name].bounds)
        bounds = {name: span for name, span in self.bounds.items() if name not in constant}
        if not bounds:
            raise refuse("constant", "all parameters that vary", "some of them", "Leave one out.")
        return DesignProblem(self.sweep, bounds, self.cases, {**self.constant, **constant})

    def under(self, case: Mapping[str, float]) -> DesignProblem:
        """The problem under those of its cases alone that have these values. Raises InputError for what is none.

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
        """All parameters by name, in their order."""
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
    def _places(self) -> list[int]:
        """Columns of the parameters that vary among all."""
        return [self._order.index(name) for name in self.names]

    @cached_property
    def _block(self) -> Block:
        """The whole sweep of one design as a block; its parameters are replaced before use."""
        sweep, sets = self.sweep, self.sweep.sizes["friction"]
        return replace(
            block_of(plan(sweep), 0),
            parameters=table(sweep.designs(0, 1), 1),
            friction=table(sweep.friction.values(0, sets), sets),
            trajectories=sweep.trajectories,
            series=(),
            metrics=(),
            own=(),
            extra=(),
            measurement=None,
        )

    @cached_property
    def _first(self) -> Array:
        """All parameters of the sweep's first design: of the robot, its controller, its start."""
        axes = self.sweep.simulation
        more = [] if axes is None else [axes.gain_table()[0], axes.state_table()[0]]
        if self._field:
            gravity = np.array(self.sweep.gravity_of(0))
            more.append(gravity[[GRAVITY.index(name) for name in self._field]])
        first = np.concatenate([self._block.parameters[0], *more])
        first[[self._order.index(name) for name in self.constant]] = list(self.constant.values())
        return first

    @property
    def case_count(self) -> int:
        """How many operating cases there are; 1 where there are none."""
        return len(next(iter(self.cases.values()))) if self.cases else 1

    def rows(self, designs: Array) -> Array:
        """All parameters (row, all) from those that vary (design, parameter): of the robot, then of simulations.

        A row is a design, or a design under a case: all cases of the first design, then of the next.
        """
        varied = np.atleast_2d(np.asarray(designs, dtype=float))
        result = np.repeat(self._first[None], len(varied) * self.case_count, axis=0)
        result[:, self._places] = np.repeat(varied, self.case_count, axis=0)
        for name, values in self.cases.items():
            result[:, self._order.index(name)] = np.tile(values, len(varied))
        return result

    def values(self, designs: Array, columns: Sequence[str]) -> dict[str, Array]:
        """Columns (design,) as `study.columns` names them, by the kernels of a run; NaN where a sample fails.

        Of cases the worst counts.
        """
        return {
            name: values.min(axis=1) if base_of(name)[0] in LARGE_IS_GOOD else values.max(axis=1)
            for name, values in self.by_case(designs, columns).items()
        }

    def by_case(self, designs: Array, columns: Sequence[str]) -> dict[str, Array]:
        """Columns (design, case) by the kernels of a run; NaN where a sample fails."""
        base = {name: _metric(name, self._quantities) for name in columns}
        metrics = tuple(dict.fromkeys(metric for metric, _ in base.values()))
        rows = self.rows(designs)
        values = self._metrics(rows, metrics)
        reductions = {name: reduced(values[at], how, joints=self._of_joints(at)) for name, (at, how) in base.items()}
        return {name: column.reshape(-1, self.case_count) for name, column in reductions.items()}

    def _metrics(self, rows: Array, metrics: tuple[str, ...]) -> dict[str, Array]:
        """Metrics (design, ...) for all parameters (design, all)."""
        step = max(1, STRIP // (len(self._block.times) * len(self._block.trajectories)))
        if self.sweep.simulation is not None:
            step = max(step, SIDE_BY_SIDE)
        parts = [self._computed(rows[i : i + step], metrics) for i in range(0, len(rows), step)]
        return {name: np.concatenate([part[name] for part in parts]) for name in metrics}

    def _computed(self, rows: Array, metrics: tuple[str, ...]) -> Mapping[str, Array]:
        block, axes = self._block, self.sweep.simulation
        if axes is None or block.simulation is None:
            return compute.whole(replace(self._with_rows(rows), metrics=metrics))
        robot = block.parameters.shape[1]
        parameters, gains, state = np.split(rows, [robot, robot + len(axes.gain_parameters)], axis=1)
        simulation = replace(block.simulation, gains=gains, state=state, dims=(), paired=True)
        return compute.whole(replace(block, parameters=parameters, metrics=metrics, simulation=simulation))

    def _with_rows(self, rows: Array) -> Block:
        """The block with all parameters of some rows, and their gravity where they have their own."""
        block, count = self._block, len(self.sweep.family.parameters)
        if not self._field:
            return replace(block, parameters=rows)
        gravity = np.tile(np.array(self.sweep.gravity), (len(rows), 1))
        gravity[:, [GRAVITY.index(name) for name in self._field]] = rows[:, count:]
        return replace(block, parameters=np.ascontiguousarray(rows[:, :count]), gravities=gravity)

    @property
    def _quantities(self) -> Mapping[str, Quantity]:
        return QUANTITIES if self.sweep.simulation is None else SIMULATED

    def _of_joints(self, metric: str) -> bool:
        return self._quantities[metric].dims[-2:] == JOINTS

    @property
    def first(self) -> dict[str, float]:
        """The parameters that vary in the sweep's first design."""
        return dict(zip(self.names, self._first[self._places].tolist(), strict=True))

    def objective(self, designs: Array, wanted: Objective) -> Array:
        """An objective (design,) over columns, parameters that vary, and cases. Raises InputError for other names."""
        varied = np.atleast_2d(np.asarray(designs, dtype=float))
        parameters = {name: varied[:, k, None] for k, name in enumerate(self.names)}
        parameters |= {name: values[None, :] for name, values in self.cases.items()}
        columns = [name for name in wanted.expression.names if name not in parameters]
        values = parameters | (self.by_case(varied, columns) if columns else {})
        results = np.broadcast_to(wanted.expression(values), (len(varied), self.case_count)).astype(float)
        return wanted.over_cases(results, self.cases) if self.cases or wanted.tolerances else results[:, 0]

    def rates(self, design: Array, metrics: Sequence[str], windows: int = 1) -> dict[str, tuple[Array, Array]]:
        """Metrics of one design (parameter,): values (row,) and derivatives (row, parameter).

        A row is a friction set, trajectory, actuator or joint and, of a peak, part of the time; with cases the rows of
        the first case, then as many of the next. Derivatives are exact. Those of simulations, and of metrics of paths
        such as `cycle_time`, are central differences, and rows have no parts of the time. Raises ValueError for metrics
        that are not differentiated.
        """
        if self.sweep.simulation is not None:
            return self._differences(np.asarray(design, dtype=float), tuple(metrics))
        if of_paths := tuple(name for name in metrics if name in names_of_stage("path")):
            others = [name for name in metrics if name not in of_paths]
            known = self.rates(design, others, windows) if others else {}
            return known | self._differences(np.asarray(design, dtype=float), of_paths)
        block = replace(self._with_rows(self.rows(design)), metrics=tuple(metrics))
        if strange := [name for name in self._field if name in self.names]:
            raise refuse(f"bounds.{strange[0]}", "gravity, which is not differentiated", "a case", "Add it to cases.")
        directions = np.zeros((len(self.names), block.parameters.shape[1]))
        directions[np.arange(len(self.names)), self._places] = 1.0
        rates = metric_rates(block, directions, windows)  # of all cases together
        return {
            name: _joined([_rows(name, _of_case(rates[name], case)) for case in range(self.case_count)])
            for name in metrics
        }

    def _differences(self, design: Array, metrics: tuple[str, ...]) -> dict[str, tuple[Array, Array]]:
        """The same of simulations, all designs side by side; at an end of the bounds from one side."""
        low, high = np.array(list(self.bounds.values())).T
        away = np.diag(DIFFERENCE * (high - low))
        ahead, behind = np.minimum(design + away, high), np.maximum(design - away, low)
        values = self._metrics(self.rows(np.concatenate([design[None], ahead, behind])), metrics)
        count, way = len(design), np.diag(ahead - behind)
        flat = {name: array.reshape(2 * count + 1, -1) for name, array in values.items()}
        return {
            name: (rows[0], ((rows[1 : count + 1] - rows[count + 1 :]) / way[:, None]).T) for name, rows in flat.items()
        }


def _of_case(rates: Rates, case: int) -> Rates:
    """The rates of one of the cases, which take the place of designs."""
    return Rates(rates.values[case : case + 1], rates.rates[:, case : case + 1])


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


def is_dim(sweep: Sweep, name: str) -> bool:
    """Whether the name of a case stands for friction sets or trajectories, rather than for a parameter of the robot."""
    swept = {row.coordinate for trajectory in sweep.trajectories for row in trajectory.swept}
    return name in DIMS or name in sweep.friction.axis.names or name in swept


def _spanned(sweep: Sweep, cases: Sequence[str] = ()) -> dict[str, tuple[float, float]]:
    """The ranges of the swept parameters, without those that are cases."""
    values: Mapping[str, Any] = sweep.design.values(0, sweep.design.size)
    if (axes := sweep.simulation) is not None:
        values = {**values, **axes.gains.values(0, axes.gains.size), **axes.state.values(0, axes.state.size)}
    spans = {name: (float(np.min(column)), float(np.max(column))) for name, column in values.items()}
    known = DesignProblem(sweep, {})._parameters  # labels of designs are none of them
    spans = {name: span for name, span in spans.items() if name in known and name not in cases}
    spans = {name: (low, high) for name, (low, high) in spans.items() if low < high}
    if not spans:
        raise refuse("bounds", "a sweep of one design", "bounds of the parameters that vary", "Give them as bounds.")
    return spans


def _of_simulation(sweep: Sweep) -> dict[str, Parameter]:
    """Parameters of a simulation that have a value, by name: of the controller, then of the initial state."""
    axes = sweep.simulation
    return {} if axes is None else {**axes.gain_parameters, **axes.state_parameters}


def _metric(column: str, known: Mapping[str, Quantity]) -> tuple[str, str]:
    """The metric and the reduction of a column. Raises InputError."""
    metric, how = base_of(column, known)
    if metric not in known or known[metric].kind != "metric":
        names = DIFFERENTIABLE if known is QUANTITIES else [name for name, row in known.items() if row.kind == "metric"]
        raise refuse(column, "no such metric", "a metric", sentence(nearest(metric, names)))
    return metric, how


def _rows(metric: str, result: Rates) -> tuple[Array, Array]:
    """Values (row,) and derivatives (row, parameter) of the metric of one design."""
    values, rates = result.values, result.rates
    if QUANTITIES[metric].dims[-2:] == JOINTS:
        there = joints_there(np.moveaxis(values, -1, 0))
        values, rates = values[..., there, :], rates[..., there, :]
    return values.ravel(), rates.reshape(len(rates), -1).T
