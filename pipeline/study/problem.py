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
from robots.parameters import nearest
from robots.quantities import QUANTITIES
from tasks.blocks import compute
from tasks.blocks.block import Block
from tasks.blocks.gradients import DIFFERENTIABLE, Rates, metric_rates

STRIP = 1 << 16
"""Samples times directions that are computed at a time."""


@dataclass(frozen=True, eq=False)
class DesignProblem:
    """A sweep as functions of some of its parameters: the motions, friction sets and metrics of the sweep.

    `bounds` are those of each parameter, in their order; all others keep the values of the sweep's first design.

        >>> problem = ls.study.DesignProblem.of(ls.Sweep.from_yaml("sweep.yaml"), {"upper_arm": (0.2, 0.3)})
        >>> problem.names
        ('upper_arm',)
    """

    sweep: Sweep
    bounds: Mapping[str, tuple[float, float]]

    @classmethod
    def of(cls, sweep: Sweep, bounds: Mapping[str, tuple[float, float]] | None = None) -> DesignProblem:
        """The problem of a sweep; without bounds those that its own designs span. Raises InputError."""
        chosen = dict(bounds) if bounds is not None else _spanned(sweep)
        table = {p.name: p for p in sweep.family.parameters}
        for name, (low, high) in chosen.items():
            if name not in table:
                raise refuse(f"bounds.{name}", "no such parameter", "one of the robot", sentence(nearest(name, table)))
            if not low < high or table[name].problem(low) or table[name].problem(high):
                raise refuse(f"bounds.{name}", f"({low:g}, {high:g})", f"low < high, each {table[name].bounds}")
        return cls(sweep, chosen)

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters that vary."""
        return tuple(self.bounds)

    @cached_property
    def _places(self) -> list[int]:
        order = [p.name for p in self.sweep.family.parameters]
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
        )

    def rows(self, designs: Array) -> Array:
        """All parameters of the robot (design, parameter of the robot) from those that vary (design, parameter)."""
        varied = np.atleast_2d(np.asarray(designs, dtype=float))
        result = np.repeat(self._block.parameters, len(varied), axis=0)
        result[:, self._places] = varied
        return result

    def values(self, designs: Array, columns: Sequence[str]) -> dict[str, Array]:
        """Columns (design,) as `study.columns` names them, by the kernels of a run; NaN where a sample fails."""
        base = {name: _metric(name) for name in columns}
        metrics = tuple(dict.fromkeys(metric for metric, _ in base.values()))
        rows = self.rows(designs)
        step = max(1, STRIP // (len(self._block.times) * len(self._block.trajectories)))
        parts = [self._computed(rows[i : i + step], metrics) for i in range(0, len(rows), step)]
        values = {name: np.concatenate([part[name] for part in parts]) for name in metrics}
        return {name: reduced(values[at], how, joints=_of_joints(at)) for name, (at, how) in base.items()}

    def _computed(self, rows: Array, metrics: tuple[str, ...]) -> Mapping[str, Array]:
        return compute.whole(replace(self._block, parameters=rows, metrics=metrics))

    @property
    def first(self) -> dict[str, float]:
        """The parameters that vary in the sweep's first design."""
        values = self.sweep.designs(0, 1)
        return {name: float(values[name][0]) for name in self.names}

    def objective(self, designs: Array, wanted: Objective) -> Array:
        """An objective (design,) over columns and the parameters that vary. Raises InputError for other names."""
        varied = np.atleast_2d(np.asarray(designs, dtype=float))
        parameters = {name: varied[:, k] for k, name in enumerate(self.names)}
        columns = [name for name in wanted.expression.names if name not in parameters]
        values = parameters | (self.values(varied, columns) if columns else {})
        return np.broadcast_to(wanted.expression(values), (len(varied),)).astype(float)

    def rates(self, design: Array, metrics: Sequence[str], windows: int = 1) -> dict[str, tuple[Array, Array]]:
        """Metrics of one design (parameter,): values (row,) and derivatives (row, parameter).

        A row is a friction set, trajectory, actuator or joint and, of a peak, part of the time. Raises ValueError for
        metrics that are not differentiated.
        """
        block = replace(self._block, parameters=self.rows(design), metrics=tuple(metrics))
        directions = np.zeros((len(self.names), block.parameters.shape[1]))
        directions[np.arange(len(self.names)), self._places] = 1.0
        return {name: _rows(name, rates) for name, rates in metric_rates(block, directions, windows).items()}


def _spanned(sweep: Sweep) -> dict[str, tuple[float, float]]:
    """The ranges of the swept parameters."""
    values: Mapping[str, Any] = sweep.design.values(0, sweep.design.size)
    spans = {name: (float(np.min(column)), float(np.max(column))) for name, column in values.items()}
    spans = {name: (low, high) for name, (low, high) in spans.items() if low < high}
    if not spans:
        raise refuse("bounds", "a sweep of one design", "bounds of the parameters that vary", "Give them as bounds.")
    return spans


def _metric(column: str) -> tuple[str, str]:
    """The metric and the reduction of a column. Raises InputError."""
    metric, how = base_of(column)
    if metric not in QUANTITIES or QUANTITIES[metric].kind != "metric":
        raise refuse(column, "no such metric", "a metric", sentence(nearest(metric, DIFFERENTIABLE)))
    return metric, how


def _of_joints(metric: str) -> bool:
    return QUANTITIES[metric].dims[-2:] == JOINTS


def _rows(metric: str, result: Rates) -> tuple[Array, Array]:
    """Values (row,) and derivatives (row, parameter) of the metric of one design."""
    values, rates = result.values, result.rates
    if _of_joints(metric):
        there = joints_there(np.moveaxis(values, -1, 0))
        values, rates = values[..., there, :], rates[..., there, :]
    return values.ravel(), rates.reshape(len(rates), -1).T
