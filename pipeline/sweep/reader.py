"""Reads a sweep file section by section, and reports every problem in it together.

Keys and types are in `pipeline.sweep.sections`, axes are read by `pipeline.sweep.axes.reader`, trajectories by
`pipeline.sweep.trajectories.reader`. Imports neither Dask nor xarray, so that a file is checked at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from pipeline.documents.report import Got, Report, sentence, validate_keys
from pipeline.documents.yaml import Document
from pipeline.errors import InputError, Problem
from pipeline.sweep.axes.kinds import MAX_SAMPLES
from pipeline.sweep.axes.reader import AxisReader, check_fixed
from pipeline.sweep.choices import is_empty, robot_of, sections_of, take_subset
from pipeline.sweep.friction import read_friction
from pipeline.sweep.limits import check_metrics, read_limits, section_of
from pipeline.sweep.measurement import read_measurement, read_split
from pipeline.sweep.robot import families, inline, take_description
from pipeline.sweep.sections import FORMAT, SweepFile, TimeSection
from pipeline.sweep.side_files import FileSource, SideFiles
from pipeline.sweep.time import TimeGrid
from pipeline.sweep.trajectories import constant_velocity, random_fourier, static_poses
from pipeline.sweep.trajectories.reader import Trajectory, TrajectoryReader
from pipeline.sweep.trajectories.workspaces import check_volumes, check_workspaces
from robots.model import Family, Mechanism
from robots.parameters import nearest
from storage.schema import OF_MOTORS, VARIABLES

DRAWN = {random_fourier.KIND: random_fourier.trajectories, static_poses.KIND: static_poses.trajectories}
"""Kinds that stand for several random trajectories."""

MAX_TIMES = 10**7
"""Points of the time grid: a trajectory is never cut along time, so a block holds all of them."""


def read_parts(document: Document, source: FileSource) -> dict[str, Any]:
    """The fields of a `Sweep` from its file. Raises InputError with all problems.

    Reads section by section; a section with a wrong key does not hide the problems of the others.
    """
    report = Report(document)
    if (version := document.data.get("limbsweep")) != FORMAT and isinstance(version, int):
        report(
            ("limbsweep",),
            version,
            f"version {FORMAT} of the format",
            "Use the limbsweep that wrote it, or a newer one.",
        )
        report.raise_if_any()
    file, problems = validate_keys(SweepFile, document)
    report.take(problems)
    parts: dict[str, Any] = {name: file[name] for name in ("title", "gravity", "precision") if name in file}
    parts["description"] = take_description(report, file, source.root)
    parts |= _read_designs(report, file, families(parts["description"]))
    parts |= _read_outputs(report, file, _mechanism(parts))
    _check_motors(report, file, _mechanism(parts))
    limits, path = section_of(file, parts.get("robot"))
    parts["limits"] = read_limits(report, limits, _mechanism(parts), path)
    check_metrics(report, file, limits)
    if "friction" in file:
        mechanism = _mechanism(parts)
        parts["friction"] = read_friction(report, file["friction"], mechanism, file.get("seed"))
    if "time" in file:
        parts["grid"] = _read_time(report, file["time"])
    if "trajectories" in file:
        files = SideFiles(source)
        parts["trajectories"] = _read_trajectories(report, file["trajectories"], files, parts)
        parts["sources"] = files.taken
        check_workspaces(report, parts["trajectories"], parts["grid"].samples if "grid" in parts else None)
        check_volumes(report, file, parts["trajectories"], _mechanism(parts))
    parts["split"] = read_split(report, file.get("split"))
    if "grid" in parts:
        grid, outputs = parts["grid"], parts.get("outputs") or ()
        parts["measurement"] = read_measurement(report, file, outputs, grid.step, grid.samples)
    take_subset(report, file, parts)
    text = inline(report, parts["description"])
    report.raise_if_any()
    _check_size(report, parts)
    return parts | {"text": text, "name": document.name, "warnings": tuple(_warnings(document, parts))}


def _read_designs(report: Report, file: Mapping[str, Any], known: Mapping[str, Family]) -> dict[str, Any]:
    robot, own = robot_of(report, file, known)
    if robot is None or robot not in known:
        return {}  # without a robot, nothing can be said about its parameters
    table = {parameter.name: parameter for parameter in known[robot].parameters}
    sections = sections_of(file, robot, own)
    fixed = check_fixed(report, table, *sections["parameters"])
    section, path = sections["design"]
    design = AxisReader(report, table, fixed, file.get("seed")).axis(section, path)
    if is_empty(section):
        report(path, Got("no axis"), "grid, list or sample", "Leave design out for a single design.")
    return {"robot": robot, "fixed": fixed, "design": design}


def _read_trajectories(
    report: Report, section: Mapping[str, dict[str, Any]], files: SideFiles, parts: Mapping[str, Any]
) -> tuple[Trajectory, ...]:
    joints, mechanism = _joints(parts), _mechanism(parts)
    mobility = mechanism.platform.mobility if mechanism else ()
    reader = TrajectoryReader(report, files, joints, mobility)
    found: list[Trajectory] = []
    for name, given in section.items():
        path = ("trajectories", name)
        if given.get("kind") == constant_velocity.KIND and joints:
            duration = float(parts["grid"].values[-1]) if "grid" in parts else 1.0
            found += constant_velocity.trajectories(report, name, given, path, joints, duration)
        elif isinstance(kind := given.get("kind"), str) and kind in DRAWN:
            found += DRAWN[kind](report, name, given, path, joints, mobility)
        elif (one := reader.one(name, given, path)) is not None:
            found.append(one)
    names = [each.name for each in found]
    for name in {each for each in names if names.count(each) > 1}:
        report(("trajectories",), Got(f"{name} twice"), "every name once", "Rename one of them.")
    return tuple(found)


def _joints(parts: Mapping[str, Any]) -> tuple[str, ...]:
    """The joints whose motion a sweep gives: the independent ones of a chain, none of a robot with a platform."""
    mechanism = _mechanism(parts)
    return mechanism.freedoms if mechanism and mechanism.is_chain else ()


def _mechanism(parts: Mapping[str, Any]) -> Mechanism | None:
    """The robot at its defaults; None where it is not known."""
    return families(parts["description"])[parts["robot"]].reference if "robot" in parts else None


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


def _read_outputs(report: Report, file: Mapping[str, Any], mechanism: Mechanism | None) -> dict[str, Any]:
    """The names of what is stored: known ones, each once, and at least one."""
    for section, kinds in (("outputs", ("series", "motion")), ("metrics", ("metric",))):
        names: tuple[str, ...] = file.get(section, ())
        known = [variable.name for variable in VARIABLES.values() if variable.kind in kinds]
        for index, name in enumerate(names):
            if name not in known:
                report((section, index), name, f"one of the {section}", _other_list(name, section, known))
            elif name in names[:index]:
                report((section, index), Got(f"{name} again"), "every name once", "Remove one.")
            elif VARIABLES[name].kind == "motion" and mechanism is not None and mechanism.is_chain:
                hint = "It has no platform; take joint_position, joint_velocity or joint_acceleration."
                report((section, index), name, "an output of a chain", hint)
    if file.get("outputs") == () and file.get("metrics") == ():
        report((), Got("no outputs and no metrics"), "at least one of them", "Add for instance metrics: [peak_force].")
    return {section: file.get(section) for section in ("outputs", "metrics")}


def _check_motors(report: Report, file: Mapping[str, Any], mechanism: Mechanism | None) -> None:
    """Refuse what motors have of a robot without."""
    if mechanism is None or mechanism.motors:
        return
    for section in ("outputs", "metrics"):
        for index, name in enumerate(file.get(section, ())):
            if name in OF_MOTORS:
                hint = "Its actuators are not all drives with a motor; take for instance actuator_force or energy."
                report((section, index), name, "a variable that this robot has", hint)


def _other_list(name: str, section: str, known: list[str]) -> str:
    other = "metrics" if section == "outputs" else "outputs"
    if name in VARIABLES and VARIABLES[name].kind != "status":
        return f"It belongs under {other}."
    return "It is always stored." if name in VARIABLES else sentence(nearest(name, known))


def _check_size(report: Report, parts: Mapping[str, Any]) -> None:
    sizes = {"design": parts["design"].size, "friction": parts["friction"].size}
    sizes |= {"trajectory": len(parts["trajectories"]), "time": parts["grid"].samples}
    samples = math.prod(sizes.values())
    if samples > MAX_SAMPLES:
        lengths = ", ".join(f"{size} along {name}" for name, size in sizes.items())
        hint = "Take fewer values along the longest axis, or a sample instead of a grid."
        report((), Got(f"{samples:.4g} samples ({lengths})"), f"at most {MAX_SAMPLES:.4g}", hint)
        raise InputError(report.problems)


def _warnings(document: Document, parts: Mapping[str, Any]) -> Iterator[Problem]:
    if parts["gravity"][2] > 0:
        hint = "Gravity is a vector of the world, by default [0, 0, -9.81]."
        yield document.problem(("gravity",), "gravity that points up", "a vector that points down", hint)
