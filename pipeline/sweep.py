"""A sweep: what a user asked for, checked and in SI units. Pure data; how it is cut into blocks is in `pipeline.plan`.

The keys of a sweep file are in `pipeline.sweep_file`, its axes are read by `pipeline.sweep_axes`, its trajectories by
`pipeline.sweep_motions`. Imports neither Dask nor xarray, so that a file is checked at once.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from pipeline import friction_test, gravity_test, random_motions
from pipeline.axes import MAX_SAMPLES, Array, Axis, complete
from pipeline.document import Document, parse_yaml
from pipeline.errors import InputError, Problem
from pipeline.files import read_yaml
from pipeline.prepared_metric import Prepared
from pipeline.side_files import SideFiles, Source, source_of
from pipeline.sweep_axes import AxisReader, check_fixed
from pipeline.sweep_choices import is_empty, robot_of, sections_of, take_subset
from pipeline.sweep_dataset import Measured, Parts, read_measurement, read_split
from pipeline.sweep_file import FORMAT, SweepFile, Time
from pipeline.sweep_friction import FrictionAxis, read_friction
from pipeline.sweep_limits import check_metrics, describe, read_limits, section_of
from pipeline.sweep_motions import Trajectory, TrajectoryReader
from pipeline.sweep_robot import families, inline, take_description
from pipeline.sweep_workspaces import check_volumes, check_workspaces
from pipeline.validation import Got, Report, sentence, validate_keys
from robots.formats.description import Description, family_of
from robots.limits import NO_LIMITS, Limits
from robots.model import Family, Mechanism
from robots.parameters import nearest
from storage.schema import OF_MOTORS, VARIABLES

DRAWN = {random_motions.KIND: random_motions.trajectories, gravity_test.KIND: gravity_test.trajectories}
"""Kinds that stand for several random trajectories."""

MAX_TIMES = 10**7
"""Points of the time grid: a trajectory is never cut along time, so a block holds all of them."""


@dataclass(frozen=True)
class TimeGrid:
    """Times k * step for k = 0 ... samples - 1 [s]."""

    step: float
    samples: int

    @cached_property
    def values(self) -> Array:
        """The times, (samples,), each computed by one product, so that no error grows along the grid."""
        return np.asarray(np.arange(self.samples) * self.step, np.float64)


@dataclass(frozen=True, eq=False)
class Sweep:
    """A checked sweep; make one with `from_yaml` or `from_text`. Equal fingerprints mean equal content."""

    title: str
    robot: str
    fixed: Mapping[str, float]
    design: Axis
    friction: FrictionAxis
    trajectories: tuple[Trajectory, ...]
    grid: TimeGrid
    gravity: tuple[float, float, float]
    outputs: tuple[str, ...]
    metrics: tuple[str, ...]
    text: str
    name: str = "sweep"
    """What messages call the file. Not part of the content."""
    warnings: tuple[Problem, ...] = ()
    measurement: Measured | None = None
    split: Parts | None = None
    description: Description | None = None
    """The robot where it is none of the catalogue."""
    limits: Limits = NO_LIMITS
    own: tuple[Prepared, ...] = ()
    """Metrics of a user's own; see `pipeline.own_metrics`."""
    precision: Literal["double", "single"] = "double"
    sources: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    """The files that the sweep names, by the names that it has for them: what its store keeps."""

    @classmethod
    def from_yaml(cls, path: str | os.PathLike[str]) -> Sweep:
        """The sweep in a file; files that it names are looked up beside it. Raises InputError with all problems."""
        return _read(read_yaml(path), source_of(Path(path).parent))

    @classmethod
    def from_text(cls, text: str, name: str = "sweep", folder: str | os.PathLike[str] | Source = ".") -> Sweep:
        """The sweep in a text; messages call it `name`, files that it names are in `folder`, or another source.

        Raises InputError.
        """
        return _read(parse_yaml(text, name), source_of(folder))

    @property
    def family(self) -> Family:
        """The robot's family."""
        return family_of(self.robot, self.description)

    @property
    def times(self) -> Array:
        """Times of every trajectory [s], (time,)."""
        return self.grid.values

    @property
    def sizes(self) -> dict[str, int]:
        """Lengths of the axes by the name of their dim, slowest first."""
        sizes = {"design": self.design.size, "friction": self.friction.size, "trajectory": len(self.trajectories)}
        return sizes | {"time": self.grid.samples}

    @property
    def parameters(self) -> dict[str, float]:
        """Every parameter of the robot in its order: fixed values, defaults for the others (swept ones too)."""
        return {each.name: self.fixed.get(each.name, each.scalar) for each in self.family.parameters}

    def designs(self, start: int, stop: int) -> dict[str, Array]:
        """Every parameter of the robot in its order, (stop - start,), for designs from `start` up to before `stop`."""
        return complete(self.design, self.parameters, start, stop)

    @cached_property
    def canonical(self) -> dict[str, Any]:
        """What the sweep means, in types of JSON: resolved, in SI, without comments or spelling."""
        swept = set(self.design.names)
        return {
            "limbsweep": FORMAT,
            "title": self.title,
            "robot": self.robot,
            **({"description": self.description.digest} if self.description else {}),
            "parameters": {name: value for name, value in self.parameters.items() if name not in swept},
            "design": self.design.describe(),
            "friction": self.friction.describe(),
            "trajectories": {each.name: each.describe() for each in self.trajectories},
            "trajectory order": [each.name for each in self.trajectories],
            "time": {"step": self.grid.step, "samples": self.grid.samples},
            "gravity": list(self.gravity),
            **({"precision": self.precision} if self.precision != "double" else {}),
            "outputs": list(self.outputs),
            "metrics": list(self.metrics),
            **({"limits": describe(self.limits)} if self.limits != NO_LIMITS else {}),
            **({"own metrics": {each.name: each.describe() for each in self.own}} if self.own else {}),
            **({"measurement": self.measurement.describe()} if self.measurement else {}),
            **({"split": self.split.describe()} if self.split else {}),
        }

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the canonical content, in hexadecimal; floats count with all their bits."""
        text = json.dumps(self.canonical, sort_keys=True, allow_nan=False, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def difference(self, other: Sweep) -> tuple[str, ...]:
        """One line for every value that `other` has otherwise; empty where the fingerprints are equal."""
        mine, theirs = dict(_flat(self.canonical)), dict(_flat(other.canonical))
        keys = [*mine, *(key for key in theirs if key not in mine)]
        pairs = ((key, mine.get(key, "nothing"), theirs.get(key, "nothing")) for key in keys)
        return tuple(f"{key}: {here} here, {there} there" for key, here, there in pairs if here != there)


def _read(document: Document, source: Source) -> Sweep:
    """Reads section by section; a section with a wrong key does not hide the problems of the others."""
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
    sweep = Sweep(**parts, text=text, name=document.name, warnings=tuple(_warnings(document, parts)))
    _check_size(report, sweep)
    return sweep


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
        if given.get("kind") == friction_test.KIND and joints:
            duration = float(parts["grid"].values[-1]) if "grid" in parts else 1.0
            found += friction_test.trajectories(report, name, given, path, joints, duration)
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


def _read_time(report: Report, time: Time) -> TimeGrid:
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


def _check_size(report: Report, sweep: Sweep) -> None:
    samples = 1
    for size in sweep.sizes.values():
        samples *= size
    if samples > MAX_SAMPLES:
        sizes = ", ".join(f"{size} along {name}" for name, size in sweep.sizes.items())
        hint = "Take fewer values along the longest axis, or a sample instead of a grid."
        report((), Got(f"{samples:.4g} samples ({sizes})"), f"at most {MAX_SAMPLES:.4g}", hint)
        raise InputError(report.problems)


def _warnings(document: Document, parts: Mapping[str, Any]) -> Iterator[Problem]:
    if parts["gravity"][2] > 0:
        hint = "Gravity is a vector of the world, by default [0, 0, -9.81]."
        yield document.problem(("gravity",), "gravity that points up", "a vector that points down", hint)


def _flat(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _flat(item, f"{path}.{key}" if path else str(key))
    else:
        yield path, json.dumps(value)
