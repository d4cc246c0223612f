"""Blocks of a plan as data: the input of the tasks that compute a block."""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping

import numpy as np

from pipeline.plan.derivatives import (
    design_directions,
    friction_directions,
    gain_directions,
    start_directions,
    start_offsets,
)
from pipeline.plan.model import Plan
from pipeline.sweep.model import Sweep
from pipeline.sweep.user_metric import PreparedMetric
from robots.derivatives import derivative
from robots.dims import GAINS, STATE
from robots.requested import QuantityNames
from storage.variables import SPLIT
from tasks.blocks.block import Block, BlockDerivatives, BlockMetric, BlockSimulation
from tasks.blocks.designs import BlockDesigns
from tasks.blocks.measured import Measurement


def block_of(plan: Plan, index: int) -> Block:
    """Return the description of one block: inputs and outputs of its tasks."""
    sweep, bounds = plan.sweep, plan.layout.grid.bounds(index)
    design = bounds["design"]
    of_sections = [content.block_inputs(bounds) for content in sweep.sections.values()]
    stored, metrics = plan.owned(index)
    extra = tuple(name for name in plan.extra if name not in stored)
    own = {metric.name for metric in sweep.user_metrics} | {*sweep.derivatives.names}
    return Block(
        index=index,
        robot=sweep.robot,
        designs=designs_of(plan, design),
        trajectories=sweep.trajectories[bounds["trajectory"]],
        times=sweep.grids[bounds["trajectory"].start].values,
        length=len(sweep.times),
        origin=plan.origin,
        single=sweep.precision == "single",
        device=plan.device,
        quantities=QuantityNames(
            (*(name for name in stored if name not in own), *extra), tuple(name for name in metrics if name not in own)
        ),
        own=tuple(_user_metric(plan, metric) for metric in sweep.user_metrics),
        extra=extra,
        derivatives=_derivatives(plan, index),
        measurement=_measurement(sweep, bounds),
        description=sweep.description,
        simulation=_simulation(sweep, bounds),
        features=sweep.features,
        **functools.reduce(operator.or_, of_sections, {}),
    )


def designs_of(plan: Plan, places: slice) -> BlockDesigns:
    """Return some designs of a plan."""
    return BlockDesigns(plan.designs(places), plan.sweep.gravities(places.start, places.stop))


def _simulation(sweep: Sweep, bounds: Mapping[str, slice]) -> BlockSimulation | None:
    """Return the simulation of a sweep with the gains and initial states of a block: all of them if not cut."""
    axes = sweep.simulation
    if axes is None:
        return None
    gains, state = (bounds.get(dim, slice(None)) for dim in (GAINS, STATE))
    tables = axes.gain_table(gains), axes.state_table(state)
    return BlockSimulation(axes.simulation, *tables, tuple(axes.state_parameters), tuple(axes.sizes))


def _derivatives(plan: Plan, index: int) -> BlockDerivatives | None:
    """Return the derivatives among the variables that a block stores, and how its numbers move with parameters."""
    sweep, bounds, requested = plan.sweep, plan.layout.grid.bounds(index), plan.sweep.derivatives
    owned = {name for names in plan.owned(index) for name in names}
    quantities = tuple(name for name in requested.quantities if derivative(name) in owned)
    if not quantities:
        return None
    design, sets, count = bounds["design"], bounds["friction"], len(sweep.family.parameters)
    moved = design_directions(sweep, design.start, design.stop)
    gravity = moved[..., count:] if moved.shape[-1] == count + 3 else np.zeros((1, moved.shape[1], 3))
    friction = friction_directions(sweep, sets.start, sets.stop)
    gains, state = (bounds.get(dim, slice(None)) for dim in (GAINS, STATE))
    return BlockDerivatives(
        quantities, moved[..., :count], friction, gravity, requested.sides, gain_directions(sweep, gains),
        start_directions(sweep, state), start_offsets(sweep),
    )  # fmt: skip


def _measurement(sweep: Sweep, bounds: Mapping[str, slice]) -> Measurement | None:
    dims = SPLIT if sweep.simulation is None else (*SPLIT, GAINS, STATE)
    place = tuple(bounds[dim].start if dim in bounds else 0 for dim in dims)
    return Measurement(sweep.measurement, place) if sweep.measurement else None


def _user_metric(plan: Plan, metric: PreparedMetric) -> BlockMetric:
    """Return a user metric with the dims that its inputs have in the plan."""
    dims = map(plan.dims, metric.function.series)
    varied = plan.sweep.simulation.sizes if plan.sweep.simulation else ()
    depends = tuple(tuple(dim in row for dim in (*SPLIT, *varied)) for row in dims)
    return BlockMetric(metric.name, metric.function, depends, metric.per_actuator)
