"""Read a sweep file section by section, and report all its problems together.

The robot, its designs, times and trajectories are read first, then the sections of
`pipeline.sweep.sweep_file`. Neither Dask nor xarray is imported: checks are quick.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pipeline.documents.document import Document
from pipeline.documents.files import FileSource
from pipeline.documents.report import Got, Report, sentence
from pipeline.documents.validation import validate_keys
from pipeline.sweep import plausibility
from pipeline.sweep.actuators.sharing import SharingContent
from pipeline.sweep.axes.kinds import MAX_SAMPLES, MAX_SIMULATED
from pipeline.sweep.choices import Swept, take_subset
from pipeline.sweep.content import FORMAT
from pipeline.sweep.friction import FrictionContent, FrictionSection
from pipeline.sweep.model import Sweep, SweepText
from pipeline.sweep.needs import check_quantities
from pipeline.sweep.question.reader import swept_beside_designs
from pipeline.sweep.reading import SweepReading
from pipeline.sweep.robot import check_swept_once, inline, read_description, read_designs
from pipeline.sweep.sections import CoreFile, DerivativeOutput
from pipeline.sweep.several import one_robot
from pipeline.sweep.side_files import SideFiles
from pipeline.sweep.simulated.reader import SimulationContent
from pipeline.sweep.sweep_file import SECTIONS, model_of
from pipeline.sweep.tolerances.fitted import fitted_tolerances
from pipeline.sweep.tolerances.reader import TolerancesContent
from pipeline.sweep.trajectories import expansions
from pipeline.sweep.trajectories.base import BaseContent
from pipeline.sweep.trajectories.cycles import check_cycles
from pipeline.sweep.trajectories.reader import TrajectoryReader, check_points
from pipeline.sweep.trajectories.times import read_grid, with_grids
from pipeline.sweep.trajectories.values import Mover
from pipeline.sweep.trajectories.workspaces import check_volumes, check_workspaces
from robots.derivatives import OF_GIVEN_MOTIONS, OF_SIMULATIONS, is_series
from robots.limits import EVEN_SHARING
from robots.model import Mechanism
from robots.parameter_errors import nearest
from robots.quantities import QUANTITIES
from robots.requested import QuantityNames
from robots.trajectories.time_grid import TimeGrid, longest
from robots.trajectories.trajectory import Trajectory


def read_sections(document: Document, source: FileSource) -> Sweep:
    """Read a sweep from its file. Raises InputError with all problems.

    A section with a wrong key does not hide the problems of the others.
    """
    reading = _begin(document, source)
    _read_core(reading)
    for section in SECTIONS:
        if content := section.read(reading):
            reading.contents[section.key] = content
    _check_together(reading)
    report, friction = reading.report, reading.value(FrictionContent)
    whole = Swept(reading.design, friction, reading.trajectories, reading.grid, reading.file.precision)
    part = take_subset(reading, whole)
    sweep = _sweep(reading, part)
    _check_size(report, sweep.sizes, simulated=sweep.simulation is not None)
    more = *plausibility.empty_parts(report, sweep), *plausibility.energies_of_grids(report, sweep)
    return replace(sweep, warnings=(*sweep.warnings, *more))


def _begin(document: Document, source: FileSource) -> SweepReading:
    """Validate the keys of a file, and read its robot with the parameters that sections add to it."""
    whole, document = document, one_robot(document)
    report = Report(document)
    _require_format(report)
    file, problems = validate_keys(model_of(document.data.get("simulation")), document)
    report.take(problems)
    if document is not whole:
        several = [problem for problem in validate_keys(CoreFile, whole)[1] if problem.key.startswith("robots")]
        report.take(problem for problem in several if problem not in report.problems)
    file, files = _with_differentiated(file), SideFiles(source)
    tolerances = fitted_tolerances(report, getattr(file, TolerancesContent.key), files)
    file = file.model_copy(update={TolerancesContent.key: tolerances})
    description, robot = read_description(report, file, source.root)
    reading = SweepReading(report, file, files, robot, description)
    for section in SECTIONS:
        reading.description = section.extend(reading) or reading.description
    return reading


def _with_differentiated(file: CoreFile) -> CoreFile:
    """Add the metrics and series whose derivatives are outputs, which are stored beside these."""
    derivatives = [entry for entry in getattr(file, "outputs", ()) if isinstance(entry, DerivativeOutput)]
    wanted = dict.fromkeys(name for entry in derivatives for name in entry.quantities)
    smooth = [name for name in wanted if name in (*OF_GIVEN_MOTIONS, *OF_SIMULATIONS)]
    metrics = [name for name in smooth if not is_series(name) and name not in file.metrics]
    series = [name for name in smooth if is_series(name) and name not in file.outputs]
    update = {"metrics": (*file.metrics, *metrics), "outputs": (*file.outputs, *series)}
    return file.model_copy(update=update) if metrics or series else file


def _read_core(reading: SweepReading) -> None:
    """Read designs, outputs, times and trajectories, which all other sections stand on."""
    report, file = reading.report, reading.file
    sound = file.model_fields_set
    tolerances = reading.said(TolerancesContent)
    reading.design = read_designs(report, file, reading.robot, reading.families, reading.files, tolerances)
    mechanism = reading.mechanism
    _check_names(report, file, reading.said(FrictionContent))
    _check_outputs(report, file)
    check_quantities(reading)
    grid = read_grid(report, file.time) if file.time is not None and "time" in sound else None
    trajectories: tuple[Trajectory, ...] = ()
    if "trajectories" in sound:
        trajectories = _read_trajectories(report, file.trajectories, reading.files, mechanism, grid)
        reading.trajectories = trajectories
    if report.document.data.get("time") is None:
        grid = _longest_own(report, trajectories)
    reading.grid = grid
    if "trajectories" in sound:
        check_points(report, trajectories, grid)
        check_workspaces(report, trajectories, grid)
        check_volumes(reading)


def _longest_own(report: Report, trajectories: tuple[Trajectory, ...]) -> TimeGrid | None:
    """Return the longest grid that trajectories have of their own; None where one has none, which is reported."""
    grids = [one.grid for one in trajectories if one.grid is not None]
    if grids and len(grids) == len(trajectories):
        return longest(grids)
    hint = "Add it, such as time: {stop: 1.0, step: 0.01}; it may lack where each trajectory has a time of its own."
    report((), Got("no key 'time'"), "'time', which is required", hint)
    return None


def _check_together(reading: SweepReading) -> None:
    """Refuse combinations of sections that are impossible together."""
    report, sharing = reading.report, reading.value(SharingContent) or EVEN_SHARING
    based = reading.value(BaseContent) is not None
    check_cycles(reading, sharing, based=based)
    simulation = reading.value(SimulationContent)
    names = (*swept_beside_designs(reading), *(simulation.names if simulation else ()))
    check_swept_once(report, reading.file, reading.design, names)


def _sweep(reading: SweepReading, part: Swept) -> Sweep:
    """Make the sweep of a file, or of the subset of it that it names. Raises InputError with all problems."""
    file, grid, report = reading.file, part.grid, reading.report
    text = SweepText(inline(report, reading.description), report.document.name, reading.files.contents)
    report.raise_if_any()
    assert part.design is not None  # without one of these three, a problem was reported
    assert part.friction is not None
    assert grid is not None
    x, y, z = file.gravity
    whole, trajectories = with_grids(grid, part.trajectories)
    return Sweep(
        title=file.title,
        robot=part.design.family.name,
        description=reading.description,
        fixed=part.design.fixed,
        design=part.design.axis,
        trajectories=trajectories,
        grid=whole,
        gravity=(x, y, z),
        precision=part.precision,
        quantities=QuantityNames(
            tuple(str(name) for name in file.outputs if not isinstance(name, DerivativeOutput)), file.metrics
        ),
        sections=reading.contents | {FrictionContent.key: FrictionContent(part.friction)},
        file=text,
        warnings=tuple(plausibility.warnings(reading)),
    )


def _check_names(report: Report, file: CoreFile, friction: FrictionSection | None) -> None:
    """Refuse names that differ in capitals alone: many file systems, and people, take them for one."""
    for path, names in (
        (("trajectories",), file.trajectories if "trajectories" in file.model_fields_set else {}),
        (("subsets",), file.subsets),
        (("friction", "groups"), (friction and friction.groups) or {}),
    ):
        first: dict[str, str] = {}
        for name in names:
            if (other := first.setdefault(name.casefold(), name)) != name:
                report((*path, name), name, f"a name that differs from {other} in more than capitals", key=True)


def _require_format(report: Report) -> None:
    """Refuse a file of another version at once, because its keys are unknown. Raises InputError."""
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


def _check_outputs(report: Report, file: CoreFile) -> None:
    """Refuse unknown or repeated names of outputs and metrics, and a sweep that stores nothing."""
    for section, names, kinds in (
        ("outputs", file.outputs, ("series", "motion")),
        ("metrics", file.metrics, ("metric",)),
    ):
        known = [variable.name for variable in QUANTITIES.values() if variable.kind in kinds]
        for index, name in enumerate(names):
            if isinstance(name, DerivativeOutput):
                continue
            if name not in known:
                report((section, index), name, f"one of the {section}", _other_list(name, section, known))
            elif name in names[:index]:
                report((section, index), Got(f"{name} again"), "every name once", "Remove one.")
    if {"outputs", "metrics"} <= file.model_fields_set and not (file.outputs or file.metrics):
        report((), Got("no outputs and no metrics"), "at least one of them", "Add for instance metrics: [peak_force].")


def _other_list(name: str, section: str, known: list[str]) -> str:
    right = "metrics" if section == "outputs" else "outputs"
    if name in QUANTITIES and QUANTITIES[name].kind != "status":
        return f"It belongs under {right}."
    return "It is always stored." if name in QUANTITIES else sentence(nearest(name, known))


def _check_size(report: Report, sizes: Mapping[str, int], *, simulated: bool) -> None:
    """Refuse more samples than a sweep may have. Raises InputError."""
    samples, most = math.prod(sizes.values()), MAX_SIMULATED if simulated else MAX_SAMPLES
    if samples > most:
        lengths = ", ".join(f"{size} along {name}" for name, size in sizes.items())
        hint = "Take fewer values along the longest axis, or a sample instead of a grid."
        report((), Got(f"{samples:.4g} samples ({lengths})"), f"at most {most:.4g}", hint)
        report.raise_if_any()
