"""The `Sweep`: the checked content of a sweep file in SI units; `pipeline.plan` cuts it into blocks."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from pipeline.documents.files import read_yaml, write_new
from pipeline.documents.html import table
from pipeline.documents.yaml import parse_yaml
from pipeline.errors import InputError, Problem
from pipeline.sweep.actuators.sharing import describe_sharing
from pipeline.sweep.axes.kinds import Array, Axis, complete
from pipeline.sweep.criteria.reader import describe_criteria
from pipeline.sweep.friction import FrictionAxis
from pipeline.sweep.limits import describe_limits
from pipeline.sweep.measurement import DatasetSplit, describe_sensors
from pipeline.sweep.objects.writing import Writer
from pipeline.sweep.question.reader import NO_QUESTION, StudyQuestion
from pipeline.sweep.reader import read_parts
from pipeline.sweep.robot import GRAVITY
from pipeline.sweep.sections import FORMAT
from pipeline.sweep.side_files import FileSource, Folder, MemoryFiles, source_of
from pipeline.sweep.simulated.axes import SimulationAxes
from pipeline.sweep.time import TimeGrid
from pipeline.sweep.trajectories.reader import describe_trajectory
from pipeline.sweep.user_metric import PreparedMetric
from robots.criteria.parameters import NO_CRITERIA, CriteriaParameters
from robots.criteria.selection import EVERYTHING, SeriesSelection
from robots.formats.description import Description, family_of
from robots.limits import EVEN_SHARING, NO_LIMITS, ActuatorSharing, Limits
from robots.measurement import Sensors
from robots.model import Family
from robots.trajectories.trajectory import Trajectory


@dataclass(frozen=True, eq=False)
class Sweep:
    """A checked sweep; make one with `from_yaml`, `from_text` or `from_dict`. Equal fingerprints mean equal content.

    >>> sweep = ls.Sweep.from_yaml("sweep.yaml")
    >>> sweep.sizes["design"], sweep.sizes["friction"]
    (33, 2)
    """

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
    measurement: Sensors | None = None
    split: DatasetSplit | None = None
    description: Description | None = None
    """The robot where it is none of the catalogue."""
    limits: Limits = NO_LIMITS
    criteria: CriteriaParameters = NO_CRITERIA
    """What criteria of design are told of the robot."""
    user_metrics: tuple[PreparedMetric, ...] = ()
    """Metrics of a user's own; see `pipeline.sweep.user_metrics`."""
    precision: Literal["double", "single"] = "double"
    question: StudyQuestion = NO_QUESTION
    """What reports and studies answer; not part of what is computed, so not of the fingerprint."""
    simulation: SimulationAxes | None = None
    """How the cases are simulated; None where forces follow from motions."""
    selection: SeriesSelection = EVERYTHING
    """Of which joints and links some outputs are stored."""
    base: Trajectory | None = None
    """How the base moves in the world; None where it stands."""
    sharing: ActuatorSharing = EVEN_SHARING
    """How more actuators than freedoms share forces."""
    tolerances: Mapping[str, float] = field(default_factory=dict)
    """Standard deviations of parameters, by name; those that are drawn are part of `design`."""
    sources: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    """The files that the sweep names, by the names that it has for them: what its store keeps."""

    def __repr__(self) -> str:
        """The robot, and the lengths of the axes."""
        return f"Sweep({self.robot}: {', '.join(f'{size:,} {dim}' for dim, size in self.sizes.items())})"

    def _repr_html_(self) -> str:
        """What notebooks show: axes, parameters, what is stored."""
        rows = [
            *((dim, f"{size:,}") for dim, size in self.sizes.items()),
            ("swept", ", ".join(self.swept) or "nothing"),
            ("trajectories", ", ".join(trajectory.name for trajectory in self.trajectories)),
            ("outputs", ", ".join(self.outputs) or "none"),
            ("metrics", ", ".join((*self.metrics, *(metric.name for metric in self.user_metrics))) or "none"),
        ]
        return table(self.title or f"sweep of {self.robot}", rows)

    @classmethod
    def from_yaml(cls, path: str | os.PathLike[str]) -> Sweep:
        """Read a sweep file; files that it names are in its folder. Raises InputError with all problems."""
        if not isinstance(path, str | os.PathLike):
            hint = "Call Sweep.from_dict with a dict, or sweep(robot, ...) with objects."  # type: ignore[unreachable]
            raise InputError([Problem("sweep", 0, 0, "", f"an object of type {type(path).__name__}", "a path", hint)])
        return cls(**read_parts(read_yaml(path), source_of(Path(path).parent)))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], name: str = "sweep", folder: str | os.PathLike[str] = ".") -> Sweep:
        """Make a sweep of what a file would say, as `pipeline.sweep.objects.sweep` takes it. Raises InputError."""
        rest = {key: value for key, value in data.items() if key not in ("robot", "limbsweep")}
        writer = Writer(data.get("robot"), folder)
        if "robot" not in data:
            raise InputError([Problem(name, 0, 0, "", "no key 'robot'", "'robot', which is required", "Add it.")])
        text = writer.text(rest)
        try:
            return cls.from_text(text, name, MemoryFiles(writer.files, Folder(Path(folder))))
        except InputError as error:  # the user has not seen the text: its lines say nothing
            raise InputError(replace(problem, line=0, column=0) for problem in error.problems) from None

    @classmethod
    def from_text(cls, text: str, name: str = "sweep", folder: str | os.PathLike[str] | FileSource = ".") -> Sweep:
        """Read the text of a sweep file; messages call it `name`, files that it names are in `folder`.

        Raises InputError.
        """
        if not isinstance(text, str):
            hint = "Call Sweep.from_dict with a dict, or sweep(robot, ...) with objects."  # type: ignore[unreachable]
            got = f"an object of type {type(text).__name__}"
            raise InputError([Problem(name, 0, 0, "", got, "the text of a sweep file", hint)])
        return cls(**read_parts(parse_yaml(text, name), source_of(folder)))

    @classmethod
    def checked(cls, sweep: object) -> Sweep:
        """The same sweep. Raises InputError for an object that is none, such as the name of its file."""
        if isinstance(sweep, cls):
            return sweep
        got = f"an object of type {type(sweep).__name__}"
        hint = "Read a file with Sweep.from_yaml, or make one with sweep(robot, ...)."
        if isinstance(sweep, str | os.PathLike):
            got = repr(os.fspath(sweep))
            hint = f"Read it: limbsweep.Sweep.from_yaml({got})."
        raise InputError([Problem("sweep", 0, 0, "", got, "a Sweep", hint)])

    def to_yaml(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the text of the sweep file; with a path, also write it there, and the files that it names beside it.

        Files that are there already are not overwritten, unless they have the same content. Raises InputError.
        """
        if path is not None:
            contents = {Path(path).name: self.text.encode(), **self.sources}
            for name, data in contents.items():
                write_new(Path(path).parent / name, data)
        return self.text

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
        return sizes | (self.simulation.sizes if self.simulation else {}) | {"time": self.grid.samples}

    @property
    def swept(self) -> tuple[str, ...]:
        """Names of all parameters that are swept."""
        of_simulation = (*self.simulation.gains.names, *self.simulation.state.names) if self.simulation else ()
        return (*self.design.names, *self.friction.axis.names, *of_simulation)

    @property
    def parameters(self) -> dict[str, float]:
        """Every parameter of the robot in its order: fixed values, defaults for the others (swept ones too)."""
        return {
            parameter.name: self.fixed.get(parameter.name, parameter.scalar) for parameter in self.family.parameters
        }

    def designs(self, start: int, stop: int) -> dict[str, Array]:
        """Every parameter of the robot in its order, (stop - start,), for designs from `start` up to before `stop`."""
        return complete(self.design, self.parameters, start, stop)

    def gravities(self, start: int, stop: int) -> Array | None:
        """Gravity of designs from `start` up to before `stop` (stop - start, 3); None where it is that of all."""
        own = {parameter.name for parameter in self.family.parameters}
        if not any(name in self.design.names and name not in own for name in GRAVITY):
            return None
        values = complete(self.design, dict(zip(GRAVITY, self.gravity, strict=True)), start, stop)
        return np.stack([values[name] for name in GRAVITY], axis=1)

    def gravity_of(self, design: int) -> tuple[float, float, float]:
        """Gravity of a design (3,), swept or not."""
        swept = self.gravities(design, design + 1)
        if swept is None:
            return self.gravity
        x, y, z = swept[0].tolist()
        return x, y, z

    @cached_property
    def canonical(self) -> dict[str, Any]:
        """What the sweep means, in types of JSON: resolved, in SI, without comments or spelling."""
        swept = set(self.design.names)
        metrics = {metric.name: metric.describe() for metric in self.user_metrics}
        return {
            "limbsweep": FORMAT,
            "title": self.title,
            "robot": self.robot,
            **({"description": self.description.digest} if self.description else {}),
            "parameters": {name: value for name, value in self.parameters.items() if name not in swept},
            "design": self.design.describe(),
            "friction": self.friction.describe(),
            "trajectories": {trajectory.name: describe_trajectory(trajectory) for trajectory in self.trajectories},
            "trajectory order": [trajectory.name for trajectory in self.trajectories],
            "time": {"step": self.grid.step, "samples": self.grid.samples},
            "gravity": list(self.gravity),
            **({"base": describe_trajectory(self.base)} if self.base else {}),
            **({"sharing": describe_sharing(self.sharing)} if self.sharing != EVEN_SHARING else {}),
            **({"precision": self.precision} if self.precision != "double" else {}),
            "outputs": list(self.outputs),
            **({"selection": self._selected} if self.selection.series else {}),
            "metrics": list(self.metrics),
            **({"simulation": self.simulation.describe()} if self.simulation else {}),
            **({"limits": describe_limits(self.limits)} if self.limits != NO_LIMITS else {}),
            **({"criteria": describe_criteria(self.criteria)} if self.criteria != NO_CRITERIA else {}),
            **({"own metrics": metrics} if metrics else {}),
            **({"measurement": describe_sensors(self.measurement)} if self.measurement else {}),
            **({"split": self.split.describe()} if self.split else {}),
        }

    @property
    def _selected(self) -> dict[str, list[str]]:
        parts = {"joints": [name for name, _ in self.selection.joints], "outputs": list(self.selection.series)}
        parts |= {"links": [name for name, _ in self.selection.links]}
        rows = [name for name, _ in self.selection.deviations]
        freedoms = [name for name, _ in self.selection.freedoms]
        parts |= {"deviations": rows} if rows else {}
        return parts | ({"freedoms": freedoms} if freedoms else {})

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the canonical content, in hexadecimal; floats count with all their bits."""
        text = json.dumps(self.canonical, sort_keys=True, allow_nan=False, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def difference(self, other: Sweep) -> tuple[str, ...]:
        """Compare with another sweep: a line for each value that differs; empty for equal fingerprints."""
        mine, theirs = dict(_flat(self.canonical)), dict(_flat(other.canonical))
        keys = [*mine, *(key for key in theirs if key not in mine)]
        pairs = ((key, mine.get(key, "nothing"), theirs.get(key, "nothing")) for key in keys)
        return tuple(f"{key}: {here} here, {there} there" for key, here, there in pairs if here != there)


def _flat(value: object, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _flat(item, f"{path}.{key}" if path else str(key))
    else:
        yield path, json.dumps(value)
