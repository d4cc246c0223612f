"""Coordinates of the dataset of a plan."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from pipeline.plan.model import Plan
from pipeline.sweep.axes.columns import LABEL, PartColumn, columns
from pipeline.sweep.dataset_split import part_name
from pipeline.sweep.gravity import gravity_parameters
from pipeline.sweep.trajectories.swept import COORDINATE
from robots.criteria.selection import deviation_names
from robots.derivatives import PARAMETER, SIDE, SIDES
from robots.quantities import FREEDOMS, GAINS, PLACED, STATE


def coordinates(plan: Plan) -> Iterator[tuple[str, str, Any, str, str]]:
    """Coordinates of the dataset: name, dim, values, units, long name."""
    sweep, mechanism = plan.sweep, plan.mechanism
    swept = (*gravity_parameters(sweep.gravity).values(), *sweep.family.parameters)
    units = {p.name: (p.unit, p.text) for p in swept}
    for name, values in columns(sweep.design).items():
        yield name, "design", values, *units.get(name, (sweep.design.units.get(name, ""), LABEL))
    law = {name: (p.unit, p.text) for name, p in sweep.friction.parameters.items()}
    for name, values in columns(sweep.friction.axis).items():
        yield name, "friction", values, *law[name]
    if sweep.simulation is not None:
        for dim, axis, known in (
            (GAINS, sweep.simulation.gains, sweep.simulation.gain_parameters),
            (STATE, sweep.simulation.state, sweep.simulation.state_parameters),
        ):
            for name, values in columns(axis).items():
                yield name, dim, values, known[name].unit, known[name].text
    yield "trajectory", "trajectory", [each.name for each in sweep.trajectories], "", "trajectory"
    rows = [row for trajectory in sweep.trajectories for row in trajectory.swept]
    for name, unit in {row.coordinate: row.unit for row in rows}.items():
        numbers = [{row.coordinate: row.value for row in one.swept}.get(name, math.nan) for one in sweep.trajectories]
        yield name, "trajectory", numbers, unit, name.removeprefix(COORDINATE).replace("_", " ") + " of the trajectory"
    if sweep.split is not None:
        motion = "trajectory" if sweep.simulation is None or not sweep.simulation.is_release else STATE
        for dim, count in sweep.sizes.items():
            if dim in ("design", motion):
                text = f"part of the dataset that the {dim} belongs to"
                yield part_name(dim), dim, PartColumn(sweep.split, count), "", text
    yield "time", "time", sweep.times, "s", "time"
    yield "actuator", "actuator", list(mechanism.actuators), "", "actuator"
    named = {"actuator_column": mechanism.actuators} | dict.fromkeys(FREEDOMS, mechanism.freedoms)
    named |= dict.fromkeys(("deviation", "deviation_column"), deviation_names(mechanism))
    for dim, labels in named.items():
        if dim in plan.layout.sizes:
            yield dim, dim, list(labels), "", dim.replace("_", " ")
    yield from _derivatives(plan)
    if any("limb" in plan.layout.variable(name).dims for name in plan.layout.variables):
        yield "limb", "limb", list(plan.limbs), "", "limb"
        text = "joint of a limb: of its tree, at the platform, then the cut joints of its loops"
        yield "joint", "joint", list(max(mechanism.limbs, key=lambda limb: len(limb.joints)).joints), "", text
    for dim, name in PLACED.items():
        if name in plan.layout.sizes:
            text = f"{dim.replace('_', ' ')} that was asked for"
            yield name, name, [label for label, _ in sweep.selection.of(dim)], "", text
    if "link" in plan.layout.sizes:
        yield (
            "link",
            "link",
            [link.body for link in max(mechanism.limbs, key=lambda limb: len(limb.links)).links],
            "",
            "link of a limb",
        )


def _derivatives(plan: Plan) -> Iterator[tuple[str, str, Any, str, str]]:
    """Coordinates of the dims of derivatives, where there are any."""
    labels = {PARAMETER: plan.sweep.derivatives.parameters, SIDE: SIDES}
    texts = {PARAMETER: "parameter that a derivative is taken by", SIDE: "side of the point, along its parameter"}
    for dim in (dim for dim in labels if dim in plan.layout.sizes):
        yield dim, dim, list(labels[dim]), "", texts[dim]
