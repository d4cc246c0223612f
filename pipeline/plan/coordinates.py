"""Coordinates of the dataset of a plan, and the number of files that they take with all else of a store."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from pipeline.documents.dataset_names import COORDINATE, part_name
from pipeline.sweep.axes.columns import LABEL, PartColumn, columns
from pipeline.sweep.gravity import gravity_parameters
from pipeline.sweep.model import Sweep
from robots.criteria.selection import deviation_names
from robots.derivatives import PARAMETER, SIDE, SIDES
from robots.dims import FREEDOMS, GAINS, PLACED, STATE
from robots.model import Mechanism
from storage.layout import COORDINATE_CHUNK, Layout
from storage.schema import LABELS, SAMPLES, STEP
from storage.variables import SPLIT

Coordinate = tuple[str, str, Any, str, str]
"""Name, dim, values, units and long name."""


def coordinates(sweep: Sweep, layout: Layout, mechanism: Mechanism) -> Iterator[Coordinate]:
    """Yield the coordinates of the dataset."""
    yield from _axes(sweep)
    yield from _trajectories(sweep)
    yield from _split(sweep)
    yield from _times(sweep)
    yield from _freedoms(layout, mechanism)
    yield from _derivatives(sweep, layout)
    yield from _limbs(layout, mechanism)
    yield from _selections(sweep, layout)
    if "link" in layout.sizes:
        longest = max(mechanism.limbs, key=lambda limb: len(limb.links))
        yield "link", "link", [link.body for link in longest.links], "", "link of a limb"


def _axes(sweep: Sweep) -> Iterator[Coordinate]:
    """Yield the coordinates along the axes of cases, trajectories apart."""
    swept = (*gravity_parameters(sweep.gravity).values(), *sweep.family.parameters)
    units = {p.name: (p.unit, p.text) for p in swept}
    for name, values in columns(sweep.design).items():
        yield name, "design", values, *units.get(name, (sweep.design.units.get(name, ""), LABEL))
    axes = [("friction", sweep.friction.axis, sweep.friction.parameters)]
    if (simulation := sweep.simulation) is not None:
        axes += [(GAINS, simulation.gains, simulation.gain_parameters)]
        axes += [(STATE, simulation.state, simulation.state_parameters)]
    for dim, axis, parameters in axes:
        for name, values in columns(axis).items():
            yield name, dim, values, parameters[name].unit, parameters[name].text


def _trajectories(sweep: Sweep) -> Iterator[Coordinate]:
    """Yield the names of trajectories, and the numbers that they were swept by."""
    yield "trajectory", "trajectory", [each.name for each in sweep.trajectories], "", "trajectory"
    rows = [row for trajectory in sweep.trajectories for row in trajectory.swept]
    for name, unit in {row.coordinate: row.unit for row in rows}.items():
        numbers = [{row.coordinate: row.value for row in one.swept}.get(name, math.nan) for one in sweep.trajectories]
        yield name, "trajectory", numbers, unit, name.removeprefix(COORDINATE).replace("_", " ") + " of the trajectory"


def _split(sweep: Sweep) -> Iterator[Coordinate]:
    """Yield the parts of a dataset along dims with more than one place."""
    if sweep.split is None:
        return
    for dim, shares in sweep.split.along(sweep.parted).items():
        if dim in sweep.sizes:
            text = f"part of the dataset that the {dim} belongs to"
            yield part_name(dim), dim, PartColumn(shares, sweep.parted[dim]), "", text


def _times(sweep: Sweep) -> Iterator[Coordinate]:
    """Yield the coordinates of times: one for all trajectories, or if their steps differ the step of each."""
    if not sweep.has_one_grid:
        yield SAMPLES, "trajectory", [grid.samples for grid in sweep.grids], "1", "samples of the trajectory"
    if sweep.has_one_step:
        yield "time", "time", sweep.times, "s", "time"
    else:
        yield STEP, "trajectory", [grid.step for grid in sweep.grids], "s", "time between samples of the trajectory"


def _freedoms(layout: Layout, mechanism: Mechanism) -> Iterator[Coordinate]:
    """Yield the names of actuators, and of the freedoms of vectors, matrices and deviations."""
    yield "actuator", "actuator", list(mechanism.actuators), "", "actuator"
    named = {"actuator_column": mechanism.actuators} | dict.fromkeys(FREEDOMS, mechanism.freedoms)
    named |= dict.fromkeys(("deviation", "deviation_column"), deviation_names(mechanism))
    for dim, labels in named.items():
        if dim in layout.sizes:
            yield dim, dim, list(labels), "", dim.replace("_", " ")


def _limbs(layout: Layout, mechanism: Mechanism) -> Iterator[Coordinate]:
    """Yield the names of limbs and joints, if a quantity has them."""
    if "limb" in layout.dims:
        yield "limb", "limb", [each.name for each in mechanism.instances], "", "limb"
        text = "joint of a limb: of its tree, at the platform, then the cut joints of its loops"
        yield "joint", "joint", list(max(mechanism.limbs, key=lambda limb: len(limb.joints)).joints), "", text


def _selections(sweep: Sweep, layout: Layout) -> Iterator[Coordinate]:
    """Yield the names of selected joints, links and freedoms."""
    for dim, name in PLACED.items():
        if name in layout.sizes:
            text = f"{dim.replace('_', ' ')} that was asked for"
            yield name, name, [label for label, _ in sweep.selection.of(dim)], "", text


def _derivatives(sweep: Sweep, layout: Layout) -> Iterator[Coordinate]:
    """Yield the coordinates of the dims of derivatives, if there are any."""
    labels = {PARAMETER: sweep.derivatives.parameters, SIDE: SIDES}
    texts = {PARAMETER: "parameter that a derivative is taken by", SIDE: "side of the point, along its parameter"}
    for dim in (dim for dim in labels if dim in layout.sizes):
        yield dim, dim, list(labels[dim]), "", texts[dim]


def file_count(sweep: Sweep, layout: Layout, mechanism: Mechanism) -> int:
    """Return the file count of the finished store in a folder, without true parameters of a dataset."""
    files, names = layout.files + len(sweep.sources), set()
    for name, dim, values, *_ in coordinates(sweep, layout, mechanism):
        names.add(name)
        files += 1 + chunks(dim, len(values))
    return files + 2 * len((layout.dims & LABELS.keys()) - names)


def chunks(dim: str, length: int) -> int:
    """Return the number of files with the values of a coordinate: several along axes that may grow."""
    return max(1, math.ceil(length / COORDINATE_CHUNK)) if dim in SPLIT else 1
