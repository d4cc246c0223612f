"""Metrics and their exact derivatives as functions of the design parameters of a sweep, computed in this process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from pipeline.documents.report import sentence
from pipeline.execution.graph import block_of, table
from pipeline.plan.plan import plan
from pipeline.study.columns import JOINTS, Array, Objective, base_of, joints_there, reduced, refuse
from pipeline.sweep.model import Sweep
from robots.parameters import Parameter, nearest
from robots.quantities import QUANTITIES, SIMULATED, Quantity
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
    simulations these are parameters of the controller and of the initial state, too.
    """

    sweep: Sweep
    bounds: Mapping[str, tuple[float, float]]

    @classmethod
    def of(cls, sweep: Sweep, bounds: Mapping[str, tuple[float, float]] | None = None) -> DesignProblem:
        """The problem of a sweep; without bounds those that its own designs span. Raises InputError."""
        chosen = dict(bounds) if bounds is not None else _spanned(sweep)
        table = {p.name: p for p in sweep.family.parameters} | _of_simulation(sweep)
        owner = "one of the robot" if sweep.simulation is None else "one of the robot, its controller or its start"
        for name, (low, high) in chosen.items():
            if name not in table:
                raise refuse(f"bounds.{name}", "no such parameter", owner, sentence(nearest(name, table)))
            if not low < high or table[name].problem(low) or table[name].problem(high):
                raise refuse(f"bounds.{name}", f"({low:g}, {high:g})", f"low < high, each {table[name].bounds}")
        return cls(sweep, chosen)

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters that vary."""
        return tuple(self.bounds)

    @cached_property
    def _places(self) -> list[int]:
        """Columns of the parameters that vary among those of the robot, then the controller's, then the start's."""
        order = [*(p.name for p in self.sweep.family.parameters), *_of_simulation(self.sweep)]
        return [order.index(name) for name in self.names]

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
        return np.concatenate([self._block.parameters[0], *more])

    def rows(self, designs: Array) -> Array:
        """All parameters (design, all) from those that vary (design, parameter): of the robot, then of simulations."""
        varied = np.atleast_2d(np.asarray(designs, dtype=float))
        result = np.repeat(self._first[None], len(varied), axis=0)
        result[:, self._places] = varied
        return result

    def values(self, designs: Array, columns: Sequence[str]) -> dict[str, Array]:
        """Columns (design,) as `study.columns` names them, by the kernels of a run; NaN where a sample fails."""
        base = {name: _metric(name, self._quantities) for name in columns}
        metrics = tuple(dict.fromkeys(metric for metric, _ in base.values()))
        rows = self.rows(designs)
        values = self._metrics(rows, metrics)
        return {name: reduced(values[at], how, joints=self._of_joints(at)) for name, (at, how) in base.items()}

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
            return compute.whole(replace(block, parameters=rows, metrics=metrics))
        robot = block.parameters.shape[1]
        parameters, gains, state = np.split(rows, [robot, robot + len(axes.gain_parameters)], axis=1)
        simulation = replace(block.simulation, gains=gains, state=state, dims=(), paired=True)
        return compute.whole(replace(block, parameters=parameters, metrics=metrics, simulation=simulation))

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
        """An objective (design,) over columns and the parameters that vary. Raises InputError for other names."""
        varied = np.atleast_2d(np.asarray(designs, dtype=float))
        parameters = {name: varied[:, k] for k, name in enumerate(self.names)}
        columns = [name for name in wanted.expression.names if name not in parameters]
        values = parameters | (self.values(varied, columns) if columns else {})
        return np.broadcast_to(wanted.expression(values), (len(varied),)).astype(float)

    def rates(self, design: Array, metrics: Sequence[str], windows: int = 1) -> dict[str, tuple[Array, Array]]:
        """Metrics of one design (parameter,): values (row,) and derivatives (row, parameter).

        A row is a friction set, trajectory, actuator or joint and, of a peak, part of the time; derivatives are exact.
        Those of simulations are central differences, and rows have no parts of the time. Raises ValueError for metrics
        that are not differentiated.
        """
        if self.sweep.simulation is not None:
            return self._differences(np.asarray(design, dtype=float), tuple(metrics))
        block = replace(self._block, parameters=self.rows(design), metrics=tuple(metrics))
        directions = np.zeros((len(self.names), block.parameters.shape[1]))
        directions[np.arange(len(self.names)), self._places] = 1.0
        return {name: _rows(name, rates) for name, rates in metric_rates(block, directions, windows).items()}

    def _differences(self, design: Array, metrics: tuple[str, ...]) -> dict[str, tuple[Array, Array]]:
        """The same of simulations, all designs side by side; at an end of the bounds from one side."""
        low, high = np.array(list(self.bounds.values())).T
        away = np.diag(DIFFERENCE * (high - low))
        ahead, behind = np.minimum(design + away, high), np.maximum(design - away, low)
        values = self._metrics(self.rows(np.concatenate([design[None], ahead, behind])), metrics)
        count, way = len(design), np.diag(ahead - behind)
        flat = {name: array.reshape(len(array), -1) for name, array in values.items()}
        return {
            name: (rows[0], ((rows[1 : count + 1] - rows[count + 1 :]) / way[:, None]).T) for name, rows in flat.items()
        }


def _spanned(sweep: Sweep) -> dict[str, tuple[float, float]]:
    """The ranges of the swept parameters."""
    values: Mapping[str, Any] = sweep.design.values(0, sweep.design.size)
    if (axes := sweep.simulation) is not None:
        values = {**values, **axes.gains.values(0, axes.gains.size), **axes.state.values(0, axes.state.size)}
    spans = {name: (float(np.min(column)), float(np.max(column))) for name, column in values.items()}
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
