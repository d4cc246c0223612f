"""Warnings about valid numbers that are most likely mistakes: degrees, grams, a wrong sign."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from pipeline.documents.document import KeyPath
from pipeline.documents.report import Report
from pipeline.errors import Problem
from pipeline.sweep.axes.derived import DependentAxis
from pipeline.sweep.axes.kinds import Axis, Sampled, part_with
from pipeline.sweep.design_axis import DesignAxis
from pipeline.sweep.loads.reader import LoadsContent
from pipeline.sweep.question.reader import QuestionContent
from pipeline.sweep.reading import SweepReading
from robots.criteria.shapes import Line, joint_points, lines_of
from robots.drives import COUPLED, SLOW, uncoupled
from robots.formats import checks
from robots.joint_kinds import JOINT_KINDS
from robots.limits import joints
from robots.model import Limb, Mechanism
from robots.quantities import QUANTITIES
from robots.trajectories.kinds import JOINT_MOTIONS, is_grid
from robots.trajectories.trajectory import Trajectory

if TYPE_CHECKING:
    from pipeline.sweep.model import Sweep

LARGEST_ANGLE = 4.0 * math.pi
"""Angle of a joint [rad] beyond which degrees are suspected: two turns."""

HEAVY = 20.0
"""Payload over the mass of all bodies of a robot, beyond which another unit is suspected."""

PAYLOAD = "payload_mass"
LOOKED_AT = 10_000
"""Designs whose payloads and lengths are looked at."""

FORCES = ("actuation", "reactions", "path", "linear", "simulation")
"""Stages whose quantities depend on masses."""

LONGER = 1.2
"""Ratio of the lengths of a link up to which the same mass is plausible."""


def warnings(reading: SweepReading) -> Iterator[Problem]:
    """Yield a problem for each number that is allowed and not plausible; all of them are warnings."""
    if reading.file.gravity[2] > 0:
        hint = "Gravity is a vector of the world, by default [0, 0, -9.81]."
        got, expected = "gravity that points up", "a vector that points down"
        yield reading.report.document.problem(("gravity",), got, expected, hint)
    if reading.mechanism is not None and reading.mechanism.is_chain:
        for trajectory in reading.trajectories:
            yield from _large_angles(reading, trajectory, reading.mechanism)
    if reading.mechanism is not None:
        yield from _uncoupled_spins(reading, reading.mechanism)
        yield from _moments_of_no_body(reading, reading.mechanism)
    if reading.design is not None:
        yield from _heavy_payloads(reading, reading.design)
        yield from _equal_masses(reading, reading.design)
        yield from _drawn_cases(reading, reading.design.axis)


def _drawn_cases(reading: SweepReading, axis: Axis) -> Iterator[Problem]:
    """Warn of operating cases that are drawn together with other parameters: no design would have all of them."""
    section = reading.said(QuestionContent)
    cases = () if section is None else section.cases
    while isinstance(axis, DependentAxis):
        axis = axis.base
    for number, name in enumerate(cases):
        part = part_with(axis, name) if name in axis.names else axis
        others = [other for other in part.names if other not in cases]
        if isinstance(part, Sampled) and name in part.names and others:
            got = f"{name}, which is drawn together with {', '.join(others)}"
            hint = "Move it from the sample into a grid beside it, such as grid: {" + name + ": {values: [...]}}."
            yield reading.report.document.problem(
                ("study", "cases", number), got, "cases that every design has, for its worst to be known", hint
            )


def empty_parts(report: Report, sweep: Sweep) -> Iterator[Problem]:
    """Yield a problem where a part of a split has a share and no case, so that it would be empty."""
    if sweep.split is None or not (parts := sweep.split.empty(sweep.parted)):
        return
    sizes = " and ".join(f"{size:,} along {dim}" for dim, size in sweep.parted.items())
    got = f"no case for {' and none for '.join(parts)}, of {sizes}"
    hint = "Give larger shares or more of them, or divide one of them alone: by: design, or by: motion."
    yield report.document.problem(("split",), got, "a case in each part with a share", hint)


def energies_of_grids(report: Report, sweep: Sweep) -> Iterator[Problem]:
    """Yield a problem where a question asks for an energy that grids of points at rest have, too."""
    grids = [trajectory.name for trajectory in sweep.trajectories if is_grid(trajectory.kind)]
    motions = [trajectory.name for trajectory in sweep.trajectories if not is_grid(trajectory.kind)]
    for key, texts in (("objectives", sweep.question.objectives), ("where", sweep.question.where)):
        names = dict.fromkeys(name for text in texts for name in re.findall(r"\w+", text))
        for name in names if grids else ():
            row = QUANTITIES.get(name.removesuffix("_sum").removesuffix("_mean"))
            if row is not None and row.units == "J" and row.reduction == "sum":
                got = f"{name}, also of {grids[0]}, whose points are no motion: it depends on its time alone"
                hint = f"Write {name}_on_{motions[0]}." if motions else "Add a motion."
                yield report.document.problem(("study", key), got, "the energy of a motion", hint)


def _uncoupled_spins(reading: SweepReading, mechanism: Mechanism) -> Iterator[Problem]:
    """Warn of rotors that turn about as fast as their joints, without their moments on the links that carry them."""
    for limb in mechanism.limbs:
        for name in dict.fromkeys(uncoupled(limb.drives)):
            got = f"a rotor of drive {name} without its gyroscopic moment on the link that carries it"
            rule = f"coupling above 0 where a rotor turns at most {SLOW:g} times as fast as its joint"
            yield reading.report.document.problem(("robot",), got, rule, COUPLED)


def _moments_of_no_body(reading: SweepReading, mechanism: Mechanism) -> Iterator[Problem]:
    """Warn of moments that no body has, of bodies that turn about one axis alone."""
    for limb in mechanism.limbs:
        for k, link in enumerate(limb.links):
            if checks.counts_about_one_axis(limb, k):
                got = f"moments of {link.body} that no body has"
                yield reading.report.document.problem(("robot",), got, "those of a body", checks.ONE_AXIS)


def _large_angles(reading: SweepReading, trajectory: Trajectory, mechanism: Mechanism) -> Iterator[Problem]:
    """Warn of positions of joints that turn which look like degrees."""
    if trajectory.kind not in JOINT_MOTIONS:
        return
    known = joints(mechanism)
    turns = [name in known and JOINT_KINDS[known[name].kind].turns for name in mechanism.given]
    for parameter in JOINT_MOTIONS[trajectory.kind].parameters:
        value = trajectory.values.get(parameter.name)
        if parameter.unit != "rad or m" or value is None:
            continue
        angles = np.where(turns, np.broadcast_to(np.asarray(value, dtype=float), len(turns)), 0.0)
        largest = float(angles[np.argmax(np.abs(angles))])
        if abs(largest) > LARGEST_ANGLE:
            got = f"a joint that turns by {largest:g} rad, {abs(largest) / (2.0 * math.pi):.3g} turns"
            hint = f"Angles are in rad; {largest:g} deg are {math.radians(largest):.6g}."
            path = ("trajectories", trajectory.name, parameter.name)
            yield reading.report.document.problem(path, got, "angles within two turns", hint)


def _heavy_payloads(reading: SweepReading, design: DesignAxis) -> Iterator[Problem]:
    """Warn of a carried mass that is much heavier than the robot."""
    carried = _carried(reading, design)
    values = {name: design.fixed.get(name, row.scalar) for name, row in design.parameters.items()}
    swept = design.axis.values(0, min(design.axis.size, LOOKED_AT)) if {*carried} & {*design.axis.names} else {}
    masses = {name: float(np.max(swept[name])) if name in swept else values[name] for name in carried}
    if not any(masses.values()):
        return
    own = _mass(design.family.assemble(values | dict.fromkeys(carried, 0.0)))
    for name, mass in masses.items():
        if mass > HEAVY * own > 0.0:
            rule = f"at most {HEAVY:g} times the mass of the bodies of the robot, {own:.4g} kg"
            yield reading.report.document.problem(carried[name], f"{name} of {mass:g} kg", rule, "Masses are in kg.")


def _equal_masses(reading: SweepReading, design: DesignAxis) -> Iterator[Problem]:
    """Warn of links that are longer in some designs than in others, and as heavy, where forces are computed."""
    lengths = [name for name in design.axis.names if name in design.parameters and design.parameters[name].unit == "m"]
    forces = any(
        QUANTITIES[str(name)].stage in FORCES
        for name in (*reading.file.outputs, *reading.file.metrics)
        if str(name) in QUANTITIES
    )
    if not lengths or not forces:
        return
    found: dict[str, str] = {}
    values = design.axis.values(0, min(design.axis.size, LOOKED_AT))
    rest = {name: design.fixed.get(name, row.scalar) for name, row in design.parameters.items()}
    for name in lengths:
        ends = [int(np.argmin(values[name])), int(np.argmax(values[name]))]
        pair = [rest | {key: float(x[k]) for key, x in values.items() if key in rest} for k in ends]
        alone = pair[0] | {name: pair[1][name]}  # another swept parameter may be the one that stretches a link
        short, long, moved = (design.family.assemble(numbers) for numbers in (*pair, alone))
        by_it = {*_stretched(short, moved)}
        found |= {link: name for link in _stretched(short, long) if link in by_it and link not in found}
    if found:
        links = ", ".join(f"{link} (with {name})" for link, name in found.items())
        rule = "masses that follow from lengths"
        hint = "Give the links profiles and materials in a section shapes, or derive their masses."
        got = f"links whose length changes, and whose mass does not: {links}"
        yield reading.report.document.problem(("design",), got, rule, hint)


def _stretched(short: Mechanism, long: Mechanism) -> Iterator[str]:
    """Yield the names of links with mass that are longer in one of two mechanisms, and as heavy."""
    for one, second in zip(short.limbs, long.limbs, strict=True):
        for k, link in enumerate(one.links):
            masses = [float(limb.links[k].inertia.mass) for limb in (one, second)]
            if masses[0] == masses[1] > 0.0:
                sizes = [sum(_length(limb, k, line) for line in lines_of(one, k)) for limb in (one, second)]
                if max(sizes) > LONGER * min(sizes):
                    yield link.body.rpartition(".")[2]


def _length(limb: Limb, link: int, line: Line) -> float:
    start, end = (joint_points(limb, link)[joint] for joint in line)
    return math.dist([float(x) for x in start], [float(x) for x in end])


def _carried(reading: SweepReading, design: DesignAxis) -> Mapping[str, KeyPath]:
    """Return the masses of payload and objects among the parameters, with the place in the file of each."""
    objects = {
        f"{name}_mass": ("loads", name, "mass") for name, load in reading.said(LoadsContent).items() if load.mass
    }
    places: dict[str, KeyPath] = {PAYLOAD: ("parameters", PAYLOAD), **objects}
    for name in places:
        if name in design.axis.names:
            places[name] = ("design",)
    return {name: place for name, place in places.items() if name in design.parameters}


def _mass(mechanism: Mechanism) -> float:
    """Return the mass of all bodies of a robot [kg]."""
    limbs = [sum(float(link.inertia.mass) for link in limb.links) for limb in mechanism.limbs]
    return float(mechanism.platform.inertia.mass) + sum(limbs[instance.limb] for instance in mechanism.instances)
