"""Read a sweep file section by section, and report all its problems together.

Keys and types are in `pipeline.sweep.sections`; the robot and its designs are read by `pipeline.sweep.robot`, axes by
`pipeline.sweep.axes.reader`, trajectories by `pipeline.sweep.trajectories.reader`. Imports neither Dask nor xarray, so
that a file is checked at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from pipeline.documents.report import Got, Report, sentence
from pipeline.documents.validation import validate_keys
from pipeline.documents.yaml import Document
from pipeline.errors import Problem
from pipeline.sweep.actuators import motors
from pipeline.sweep.actuators.sharing import read_sharing
from pipeline.sweep.axes.kinds import MAX_SAMPLES, MAX_SIMULATED
from pipeline.sweep.choices import Swept, take_subset
from pipeline.sweep.criteria.reader import check_metrics as check_criteria
from pipeline.sweep.criteria.reader import read_criteria
from pipeline.sweep.friction import read_friction
from pipeline.sweep.limits import check_metrics, read_limits, section_of
from pipeline.sweep.loads import reader as loads
from pipeline.sweep.measurement import read_measurement, read_split
from pipeline.sweep.outputs.selection import read_selection
from pipeline.sweep.question.reader import read_question
from pipeline.sweep.robot import check_labels, families, inline, read_description, read_designs
from pipeline.sweep.sections import FORMAT, SweepFile, TimeSection
from pipeline.sweep.side_files import FileSource, SideFiles
from pipeline.sweep.simulated.reader import SimulationReader, check_quantities, model_of
from pipeline.sweep.time import TimeGrid
from pipeline.sweep.tolerances.reader import read_tolerances, spread_of, tolerances_of
from pipeline.sweep.tolerances.warming import read_warming
from pipeline.sweep.trajectories import expansions
from pipeline.sweep.trajectories.base import check_standing, read_base
from pipeline.sweep.trajectories.cycles import check_cycles
from pipeline.sweep.trajectories.reader import Mover, PointsReader, TrajectoryReader, check_points
from pipeline.sweep.trajectories.workspaces import check_volumes, check_workspaces
from robots.formats.description import Description
from robots.model import Mechanism
from robots.parameters import nearest
from robots.quantities import QUANTITIES, SIMULATED, Need, Quantity, needs
from robots.trajectories.trajectory import Trajectory

MAX_TIMES = 10**7
"""Points of the time grid: a trajectory is never cut along time, so a block holds all of them."""


def read_parts(document: Document, source: FileSource) -> dict[str, Any]:
    """Read the fields of a `Sweep` from its file. Raises InputError with all problems.

    Reads section by section; a section with a wrong key does not hide the problems of the others.
    """
    report = Report(document)
    _require_format(report)
    file, problems = validate_keys(model_of(document), document)
    report.take(problems)
    sound = file.model_fields_set
    description, robot = read_description(report, file, source.root)
    files = SideFiles(source)
    description = _extended(report, file, description, robot, "tolerances")
    description = _extended(report, file, description, robot, "motors")
    description = _extended(report, file, description, robot, "warming")
    description = _with_loads(report, file, description, robot, files)
    design = read_designs(report, file, robot, families(description), files)
    mechanism = design.family.reference if design else None
    _check_names(report, file)
    _check_outputs(report, file, mechanism)
    selection = read_selection(report, file, mechanism)
    if file.simulation is None:
        _check_drives(report, file, mechanism)
    else:
        check_quantities(report, file, mechanism)
    section, path = section_of(file, design.family.name if design else None)
    limits = read_limits(report, section, mechanism, path)
    check_metrics(report, file.metrics, section)
    motors.check_supply(report, file.metrics, file.motors, limits.actuators.values())
    parameters = read_criteria(report, file.criteria, design.family if design else None)
    check_criteria(report, file.metrics, file.criteria, mechanism)
    friction = read_friction(report, file.friction, mechanism, file.seed, files) if "friction" in sound else None
    grid = _read_time(report, file.time) if "time" in sound else None
    trajectories = tuple[Trajectory, ...]()
    if "trajectories" in sound:
        trajectories = _read_trajectories(report, file.trajectories, files, mechanism, grid)
        check_points(report, trajectories, grid.duration if grid else 0.0)
        check_workspaces(report, trajectories, grid.samples if grid else None)
        check_volumes(report, () if file.simulation else file.metrics, trajectories, mechanism)
    duration = grid.duration if grid else 0.0
    base = read_base(report, file.base, files, duration)
    if file.base is not None:
        _check_base(report, file)
    sharing = read_sharing(report, file, mechanism, friction)
    family = design.family if design else None
    check_cycles(report, file.metrics, family, trajectories, sharing, based=base is not None)
    loads.check_tables(report, file.loads, description, duration)
    simulation = None
    if file.simulation is not None:
        simulated = SimulationReader(report, file, mechanism, grid, files, limits)
        trajectories = simulated.trajectories(trajectories)
        simulation = simulated.axes(friction)
    split = read_split(report, file.split)
    further = () if friction is None else friction.axis.names
    further += tuple(row.coordinate for trajectory in trajectories for row in trajectory.swept)
    check_labels(report, design, (*further, *(simulation.names if simulation else ())))
    names = design.axis.names if design else None
    question = read_question(report, file.study, names, file.metrics, further, tolerances_of(file.tolerances))
    measurement = (
        read_measurement(report, file, grid, len(mechanism.actuators) if mechanism else None) if grid else None
    )
    part = take_subset(report, file, Swept(design, friction, trajectories))
    text = inline(report, description)
    report.raise_if_any()
    assert part.design is not None  # without one of these three, a problem was reported
    assert part.friction is not None
    assert grid is not None
    sizes = {"design": part.design.axis.size, "friction": part.friction.size, "trajectory": len(part.trajectories)}
    sizes |= (simulation.sizes if simulation else {}) | {"time": grid.samples}
    _check_size(report, sizes, simulated=simulation is not None)
    return {
        "title": file.title,
        "robot": part.design.family.name,
        "description": description,
        "fixed": part.design.fixed,
        "design": part.design.axis,
        "friction": part.friction,
        "trajectories": part.trajectories,
        "sources": files.contents,
        "grid": grid,
        "gravity": file.gravity,
        "base": base,
        "sharing": sharing,
        "tolerances": spread_of(file.tolerances),
        "precision": file.precision,
        "outputs": tuple(map(str, file.outputs)),
        "selection": selection,
        "metrics": file.metrics,
        "limits": limits,
        "criteria": parameters,
        "measurement": measurement,
        "split": split,
        "question": question,
        "simulation": simulation,
        "text": text,
        "name": document.name,
        "warnings": tuple(_warnings(document, file)),
    }


def _extended(
    report: Report,
    file: SweepFile,
    description: Description | None,
    robot: str | None,
    key: Literal["tolerances", "motors", "warming"],
) -> Description | None:
    """Read the robot with the further parameters of a section, where the file has it."""
    section = getattr(file, key)
    if section is not None and file.robots is not None:
        report((key,), Got(f"{key} beside several robots"), "one robot", "Make a sweep of its own for it.", key=True)
        return description
    family = families(description).get(robot or "")
    if key == "motors":
        return motors.read_motors(report, file.motors, family) or description
    if key == "warming":
        return read_warming(report, file.warming, family) or description
    return read_tolerances(report, file.tolerances, family) or description


def _with_loads(
    report: Report, file: SweepFile, description: Description | None, robot: str | None, files: SideFiles
) -> Description | None:
    """Read the robot with its loads, where the file has some."""
    if file.loads and file.robots is not None:
        hint = "Make a sweep of its own for it."
        report((loads.KEY,), Got("loads beside several robots"), "one robot", hint, key=True)
        return description
    family = families(description).get(robot or "")
    return loads.read_loads(report, file.loads, family, PointsReader(report, files)) or description


def _check_base(report: Report, file: SweepFile) -> None:
    """Refuse what needs a base that stands."""
    for section, names in (("outputs", file.outputs), ("metrics", file.metrics)):
        check_standing(report, section, names)


def _check_names(report: Report, file: SweepFile) -> None:
    """Refuse names that differ in capitals alone: many file systems, and people, take them for one."""
    groups = file.friction.groups if file.friction is not None and file.friction.groups else {}
    for path, names in (
        (("trajectories",), file.trajectories if "trajectories" in file.model_fields_set else {}),
        (("subsets",), file.subsets),
        (("friction", "groups"), groups),
    ):
        first: dict[str, str] = {}
        for name in names:
            if (other := first.setdefault(name.casefold(), name)) != name:
                report((*path, name), name, f"a name that differs from {other} in more than capitals", key=True)


def _require_format(report: Report) -> None:
    """Refuse a file of another version at once: what its keys mean is not known. Raises InputError."""
    if (version := report.document.data.get("limbsweep")) != FORMAT and isinstance(version, int):
        hint = "Use the limbsweep that wrote it, or a newer one."
        report(("limbsweep",), version, f"version {FORMAT} of the format", hint)
        report.raise_if_any()


def _read_trajectories(
    report: Report,
    sections: Mapping[str, dict[str, Any]],
    files: SideFiles,
    mechanism: Mechanism | None,
    grid: TimeGrid | None,
) -> tuple[Trajectory, ...]:
    joints = mechanism.given if mechanism and mechanism.is_chain else ()
    duration = (grid or TimeGrid(1.0, 2)).duration
    mobility = mechanism.platform.mobility if mechanism else ()
    reader = TrajectoryReader(report, files, Mover(joints, mobility, duration))
    trajectories: list[Trajectory] = []
    for name, section in sections.items():
        trajectories += expansions.read(reader, name, section, ("trajectories", name))
    names = [trajectory.name for trajectory in trajectories]
    for name in {name for name in names if names.count(name) > 1}:
        report(("trajectories",), Got(f"{name} twice"), "every name once", "Rename one of them.")
    return tuple(trajectories)


def _read_time(report: Report, time: TimeSection) -> TimeGrid:
    path = ("time",)
    if (time.step is None) == (time.samples is None):
        got = "neither step nor samples" if time.step is None else "both step and samples"
        report(path, Got(got), "one of step and samples", "Both ends of the time are included.")
        return TimeGrid(1.0, 1)
    intervals = time.stop / time.step if time.step else (time.samples or 0) - 1
    if intervals + 1 > MAX_TIMES:
        report(path, Got(f"{intervals + 1:.4g} points of time"), f"at most {MAX_TIMES}", "Take a longer step.")
        return TimeGrid(1.0, 1)
    if intervals < 1:
        report((*path, "step"), time.step, f"at most stop, {time.stop!r}", "A step in seconds.")
    elif abs(intervals - round(intervals)) > 1e-9 * intervals:
        hint = f"Stop at {round(intervals) * (time.step or 0):.10g}, or give samples instead of step."
        report((*path, "step"), time.step, f"a divisor of stop, {time.stop!r}", hint)
    samples = round(intervals) + 1
    return TimeGrid(time.step or time.stop / intervals, samples)


def _check_outputs(report: Report, file: SweepFile, mechanism: Mechanism | None) -> None:
    """Refuse unknown names of outputs and metrics, those that stand twice, and a sweep that stores nothing."""
    table = QUANTITIES if file.simulation is None else SIMULATED
    for section, names, kinds in (
        ("outputs", file.outputs, ("series", "motion")),
        ("metrics", file.metrics, ("metric",)),
    ):
        known = [variable.name for variable in table.values() if variable.kind in kinds]
        for index, name in enumerate(names):
            if name not in known:
                what = f"one of the {section}" + ("" if table is QUANTITIES else " of a simulation")
                report((section, index), name, what, _other_list(name, section, known, table))
            elif name in names[:index]:
                report((section, index), Got(f"{name} again"), "every name once", "Remove one.")
            elif table[name].kind == "motion" and mechanism is not None and mechanism.is_chain:
                hint = "It has no platform; take joint_position, joint_velocity or joint_acceleration."
                report((section, index), name, "an output of a chain", hint)
    if {"outputs", "metrics"} <= file.model_fields_set and not (file.outputs or file.metrics):
        report((), Got("no outputs and no metrics"), "at least one of them", "Add for instance metrics: [peak_force].")


def _check_drives(report: Report, file: SweepFile, mechanism: Mechanism | None) -> None:
    """Refuse outputs and metrics that need other drives than the robot has."""
    if mechanism is None:
        return
    lacks: dict[Need, str] = {}
    if not mechanism.motors:
        lacks["motors"] = "Its actuators are not all drives with a motor; take for instance actuator_force or energy."
    if len(mechanism.actuators) != len(mechanism.freedoms):
        lacks["as many actuators as freedoms"] = (
            f"It has {len(mechanism.actuators)} actuators for {len(mechanism.freedoms)} freedoms; take mass_matrix."
        )
    if mechanism.is_chain:
        lacks["constraints"] = "It has no platform that limbs hold; a chain says CONSTRAINT_SINGULAR without it."
    for section, names in (("outputs", file.outputs), ("metrics", file.metrics)):
        for index, name in enumerate(names):
            for need in lacks.keys() & needs(name):
                report((section, index), name, "a variable that this robot has", lacks[need])


def _other_list(name: str, section: str, known: list[str], table: Mapping[str, Quantity]) -> str:
    right = "metrics" if section == "outputs" else "outputs"
    if name in table and table[name].kind != "status":
        return f"It belongs under {right}."
    return "It is always stored." if name in table else sentence(nearest(name, known))


def _check_size(report: Report, sizes: Mapping[str, int], *, simulated: bool) -> None:
    """Refuse more samples than a sweep may have. Raises InputError."""
    samples, most = math.prod(sizes.values()), MAX_SIMULATED if simulated else MAX_SAMPLES
    if samples > most:
        lengths = ", ".join(f"{size} along {name}" for name, size in sizes.items())
        hint = "Take fewer values along the longest axis, or a sample instead of a grid."
        report((), Got(f"{samples:.4g} samples ({lengths})"), f"at most {most:.4g}", hint)
        report.raise_if_any()


def _warnings(document: Document, file: SweepFile) -> Iterator[Problem]:
    if file.gravity[2] > 0:
        hint = "Gravity is a vector of the world, by default [0, 0, -9.81]."
        yield document.problem(("gravity",), "gravity that points up", "a vector that points down", hint)
