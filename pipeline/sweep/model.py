"""The `Sweep`: the checked content of a sweep file in SI units; `pipeline.plan` cuts it into blocks."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from pipeline.documents.dataset_names import GRAVITY
from pipeline.documents.files import FileSource, write_new
from pipeline.documents.writing import table
from pipeline.errors import Problem, refused
from pipeline.sweep.axes.kinds import Array, Axis, complete
from pipeline.sweep.content import FORMAT, Content, HasSections, SectionValue
from pipeline.sweep.dataset_split import DatasetSplit
from pipeline.sweep.friction_sets import FrictionAxis
from pipeline.sweep.publication.publication import Publication
from pipeline.sweep.question.question import StudyQuestion
from pipeline.sweep.simulated.axes import SimulationAxes
from pipeline.sweep.tolerances.spread import JointSpread
from pipeline.sweep.trajectories.description import describe_grid, describe_trajectory
from pipeline.sweep.user_metric import PreparedMetric
from robots.criteria.parts import CriteriaParameters
from robots.criteria.selection import SeriesSelection
from robots.data_classes import dataclass, field, replace
from robots.derivatives import RequestedDerivatives
from robots.dims import STATE
from robots.formats.description import Description
from robots.formats.families import family_of
from robots.formulas import replaced
from robots.limits import ActuatorSharing, Limits
from robots.loading import load_module
from robots.loads.wrapped import moved_values
from robots.measurement import Sensors
from robots.model import Family
from robots.requested import QuantityNames
from robots.trajectories.time_grid import TimeGrid, longest
from robots.trajectories.trajectory import Trajectory

DOORS = "pipeline.sweep.doors"
"""The module that reads sweeps. It is found by its name, because all readers import this record."""


@dataclass(frozen=True)
class SweepText:
    """Text of a sweep file, its name in messages, and the files that it names, by their names in it."""

    text: str
    name: str = "sweep"
    sources: Mapping[str, bytes] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, eq=False)
class Sweep(HasSections):
    """A checked sweep; make one with `from_yaml`, `from_text` or `from_dict`. Equal fingerprints mean equal content.

    >>> sweep = ls.Sweep.from_yaml("sweep.yaml")
    >>> sweep.sizes["design"], sweep.sizes["friction"]
    (33, 2)
    """

    title: str
    robot: str
    fixed: Mapping[str, float]
    design: Axis
    trajectories: tuple[Trajectory, ...]
    grid: TimeGrid
    """Times of all trajectories; where these have grids of their own, that with the most samples."""
    gravity: tuple[float, float, float]
    quantities: QuantityNames
    """Outputs and metrics by name."""
    sections: Mapping[str, Content[Any]]
    """Content of all other sections by key; the attributes below have the values of some."""
    file: SweepText
    warnings: tuple[Problem, ...] = ()
    description: Description | None = None
    """The robot, if it is not in the catalogue."""
    user_metrics: tuple[PreparedMetric, ...] = ()
    """Metrics of a user's own; see `pipeline.sweep.user_metrics`."""
    precision: Literal["double", "single"] = "double"

    friction = SectionValue[FrictionAxis]()
    limits = SectionValue[Limits]()
    criteria = SectionValue[CriteriaParameters]()
    """Elasticity and sizes of parts, for criteria of design."""
    sharing = SectionValue[ActuatorSharing]()
    """Rule by which more actuators than freedoms share forces."""
    base = SectionValue[Trajectory | None]()
    """Motion of the base in the world; None where it stands."""
    simulation = SectionValue[SimulationAxes | None]()
    """Simulation of the cases; None where forces follow from motions."""
    selection = SectionValue[SeriesSelection]()
    """Joints, links and freedoms of which some outputs are stored."""
    derivatives = SectionValue[RequestedDerivatives]()
    """Derivatives of metrics by parameters."""
    tolerances = SectionValue[JointSpread]()
    """Standard deviations of parameters and their covariance; deviations that are drawn are part of `design`."""
    measurement = SectionValue[Sensors | None]()
    split = SectionValue[DatasetSplit | None]()
    publication = SectionValue[Publication]()
    """Licence, authors and version of the dataset; they are not part of the fingerprint."""
    question = SectionValue[StudyQuestion]("study")
    """Question that reports and studies answer; it changes no result, so it is not part of the fingerprint."""

    @property
    def features(self) -> tuple[Any, ...]:
        """Features of the dynamics that sections make whole, see `Content.is_feature`."""
        return tuple(content.value for content in self.sections.values() if content.is_feature)

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the outputs."""
        return self.quantities.series

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of the metrics."""
        return self.quantities.metrics

    @property
    def text(self) -> str:
        """Text of the sweep file."""
        return self.file.text

    @property
    def name(self) -> str:
        """Name of the file in messages. Not part of the content."""
        return self.file.name

    @property
    def sources(self) -> Mapping[str, bytes]:
        """The files that the sweep names, by their names in it; its store keeps them."""
        return self.file.sources

    def __repr__(self) -> str:
        """Format the robot, and the lengths of the axes."""
        return f"Sweep({self.robot}: {', '.join(f'{size:,} {dim}' for dim, size in self.sizes.items())})"

    def _repr_html_(self) -> str:
        """Return the HTML table that notebooks show: axes, parameters, outputs and metrics."""
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
        return _read("read_sweep", path)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], name: str = "sweep", folder: str | os.PathLike[str] = ".") -> Sweep:
        """Make a sweep of the content of a file, with objects as `limbsweep.sweep` takes them. Raises InputError."""
        return _read("sweep_of_dict", data, name, folder)

    @classmethod
    def from_text(cls, text: str, name: str = "sweep", folder: str | os.PathLike[str] | FileSource = ".") -> Sweep:
        """Read the text of a sweep file; messages call it `name`, files that it names are in `folder`.

        Raises InputError.
        """
        return _read("sweep_of_text", text, name, folder)

    @classmethod
    def checked(cls, sweep: object) -> Sweep:
        """Return the same sweep. Raises InputError for another object, such as the name of its file."""
        if isinstance(sweep, cls):
            return sweep
        got = f"an object of type {type(sweep).__name__}"
        hint = "Read a file with Sweep.from_yaml, or make one with sweep(robot, ...)."
        if isinstance(sweep, str | os.PathLike):
            got = repr(os.fspath(sweep))
            hint = f"Read it: limbsweep.Sweep.from_yaml({got})."
        raise refused("sweep", got, "a Sweep", hint)

    def with_sections(self, **values: object) -> Sweep:
        """Return the sweep with other values of some sections, by their keys."""
        changed = {key: replace(self.sections[key], value=value) for key, value in values.items()}
        return replace(self, sections={**self.sections, **changed})

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
        """Times of every trajectory [s], (time,); where they have grids of their own, of that with the most samples."""
        return self.grid.values

    def grid_of(self, trajectory: Trajectory) -> TimeGrid:
        """Return the times of a trajectory of the sweep."""
        return trajectory.grid or self.grid

    @cached_property
    def grids(self) -> tuple[TimeGrid, ...]:
        """Times of each trajectory."""
        return tuple(map(self.grid_of, self.trajectories))

    @cached_property
    def has_one_grid(self) -> bool:
        """Return whether all trajectories have the same times."""
        return all(grid == self.grid for grid in self.grids)

    @property
    def has_one_step(self) -> bool:
        """Return whether the time between samples is the same for all trajectories."""
        return all(grid.step == self.grid.step for grid in self.grids)

    def with_grids(self, changed: Callable[[TimeGrid], TimeGrid]) -> Sweep:
        """Return the sweep with other times, of all its trajectories."""
        timed = (replace(one, grid=one.grid and changed(one.grid)) for one in self.trajectories)
        return replace(self, grid=changed(longest(self.grids)), trajectories=tuple(timed))

    @property
    def sizes(self) -> dict[str, int]:
        """Lengths of the axes by the name of their dim, slowest first."""
        sizes = {"design": self.design.size, "friction": self.friction.size, "trajectory": len(self.trajectories)}
        return sizes | (self.simulation.sizes if self.simulation else {}) | {"time": self.grid.samples}

    @property
    def parted(self) -> dict[str, int]:
        """Lengths of the axes that a dataset is split along: designs, and the axis that decides the motion."""
        is_release = self.simulation is not None and self.simulation.is_release
        return {dim: self.sizes.get(dim, 1) for dim in ("design", STATE if is_release else "trajectory")}

    @property
    def swept(self) -> tuple[str, ...]:
        """Names of all parameters that are swept."""
        of_simulation = self.simulation.names if self.simulation else ()
        return (*self.design.names, *self.friction.axis.names, *of_simulation)

    @property
    def parameters(self) -> dict[str, float]:
        """Every parameter of the robot in its order: fixed values, defaults for the others (swept ones too)."""
        return {
            parameter.name: self.fixed.get(parameter.name, parameter.scalar) for parameter in self.family.parameters
        }

    def designs(self, start: int, stop: int) -> dict[str, Array]:
        """Return each parameter of the robot in order, (stop - start,), for designs from `start` to before `stop`."""
        return complete(self.design, self.parameters, start, stop)

    @property
    def sweeps_gravity(self) -> bool:
        """Return whether designs have gravity of their own."""
        own = {parameter.name for parameter in self.family.parameters}
        return any(name in self.design.names and name not in own for name in GRAVITY)

    def gravities(self, start: int, stop: int) -> Array:
        """Return the gravity of designs from `start` to before `stop` (stop - start, 3); one row if all are equal."""
        if not self.sweeps_gravity:
            return np.array([self.gravity], dtype=float)
        values = complete(self.design, dict(zip(GRAVITY, self.gravity, strict=True)), start, stop)
        return np.stack([values[name] for name in GRAVITY], axis=1)

    def gravity_of(self, design: int) -> tuple[float, float, float]:
        """Return the gravity of a design (3,), swept or not."""
        x, y, z = self.gravities(design, design + 1)[0].tolist()
        return x, y, z

    def limits_of(self, design: int) -> Limits:
        """Return the limits of a design, with the numbers of formulas."""
        values = {name: float(x[0]) for name, x in self.designs(design, design + 1).items()}
        limits: Limits = replaced(self.limits, moved_values(self.family, values))
        return limits

    @property
    def canonical(self) -> dict[str, Any]:
        """Content of the sweep in types of JSON: resolved, in SI, without comments or spelling."""
        swept = set(self.design.names)
        metrics = {metric.name: metric.describe() for metric in self.user_metrics}
        core = {
            "limbsweep": FORMAT,
            "title": self.title,
            "robot": self.robot,
            **({"description": self.description.digest} if self.description else {}),
            "parameters": {name: value for name, value in self.parameters.items() if name not in swept},
            "design": self.design.describe(),
            "trajectories": {trajectory.name: describe_trajectory(trajectory) for trajectory in self.trajectories},
            "trajectory order": [trajectory.name for trajectory in self.trajectories],
            "time": describe_grid(self.grid),
            "gravity": list(self.gravity),
            **({"precision": self.precision} if self.precision != "double" else {}),
            "outputs": list(self.outputs),
            "metrics": list(self.metrics),
            **({"own metrics": metrics} if metrics else {}),
        }
        for content in self.sections.values():
            core |= content.describe()
        return core

    @cached_property
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


def _read(door: str, *arguments: object) -> Sweep:
    """Call a function of the module that reads sweeps."""
    sweep: Sweep = getattr(load_module(DOORS), door)(*arguments)
    return sweep


def _flat(value: object, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _flat(item, f"{path}.{key}" if path else str(key))
    else:
        yield path, json.dumps(value)
