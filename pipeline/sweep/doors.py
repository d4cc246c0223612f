"""Doors of sweeps: read them from files, texts and dicts, or make one from objects."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict, Unpack

from numpy.typing import ArrayLike

from pipeline.documents.files import FileSource
from pipeline.documents.yaml import parse_yaml, read_yaml
from pipeline.errors import InputError, Problem, refused
from pipeline.sweep.choices import choose
from pipeline.sweep.model import Sweep
from pipeline.sweep.objects.columns import TableLike
from pipeline.sweep.objects.writing import Writer
from pipeline.sweep.reader import read_sections
from pipeline.sweep.side_files import Folder, MemoryFiles, source_of
from robots.formats.description import Description
from robots.model import Family, Robot

RobotLike = str | os.PathLike[str] | Robot | Family | Description | Mapping[str, object]
"""A robot: its name, its file, itself, or the content of a robot file."""


class Sections(TypedDict, total=False):
    """Sections of a sweep from objects, by their keys in a file; each may be a dict.

    simulation: a dict as in a file, with `controller` and `gains`, or `forces`, and `state`, `step`, `method`.
    loads: by name, dicts as in a file, or records such as `limbsweep.robots.SpringLoad`; tables over time are arrays.
    base: motion of the base in the world, a dict as in a file or points as those of a trajectory.
    sharing: rule by which more actuators than freedoms share forces: `rule`, `weights`, `preload`, `off`.
    motors: temperature and supply of the motors: `temperature`, `voltage`, `current`.
    variables: further parameters of designs, of which numbers of limits, criteria and shapes are expressions.
    shapes: profiles and materials of links, from which their masses follow.
    tolerances: deviations of parameters: `parameters`, `count`, `seed`.
    warming: growth of links with `link_temperature`: `expansion`.
    study: the question that reports answer: `objectives`, `where` and `cases`.
    publication: of a dataset: `licence`, `authors`, `version`, `date`, `address`, `citation`, `summary`.
    """

    outputs: Sequence[str] | str
    metrics: Sequence[str] | str
    parameters: Mapping[str, float] | None
    gravity: Sequence[float] | None
    title: str
    precision: str | None
    limits: Mapping[str, Any] | None
    simulation: Mapping[str, Any] | None
    criteria: Mapping[str, Any] | None
    loads: Mapping[str, Any] | None
    base: Mapping[str, Any] | None
    sharing: Mapping[str, Any] | None
    motors: Mapping[str, float] | None
    variables: Mapping[str, Any] | None
    shapes: Mapping[str, Any] | None
    tolerances: Mapping[str, Any] | None
    warming: Mapping[str, Any] | None
    branch: Mapping[str, Any] | None
    study: Mapping[str, Any] | None
    seed: int | None
    measurement: Mapping[str, float] | None
    split: Mapping[str, float] | None
    publication: Mapping[str, Any] | None
    subsets: Mapping[str, Any] | None
    subset: str | None


def read_sweep(path: str | os.PathLike[str]) -> Sweep:
    """Read a sweep file; files that it names are in its folder. Raises InputError with all problems."""
    if not isinstance(path, str | os.PathLike):
        raise InputError([_no_text(path, "sweep", "a path")])
    return read_sections(read_yaml(path), source_of(Path(path).parent))


def sweep_of_text(text: str, name: str = "sweep", folder: str | os.PathLike[str] | FileSource = ".") -> Sweep:
    """Read the text of a sweep file; messages call it `name`. Raises InputError."""
    if not isinstance(text, str):
        raise InputError([_no_text(text, name, "the text of a sweep file")])
    return read_sections(parse_yaml(text, name), source_of(folder))


def _no_text(value: object, name: str, expected: str) -> Problem:
    hint = "Call Sweep.from_dict with a dict, or sweep(robot, ...) with objects."
    return Problem(name, 0, 0, "", f"an object of type {type(value).__name__}", expected, hint)


def sweep_of_dict(data: Mapping[str, Any], name: str = "sweep", folder: str | os.PathLike[str] = ".") -> Sweep:
    """Make a sweep of the content of a file, with objects as `sweep` takes them. Raises InputError."""
    if not isinstance(folder, str | os.PathLike):
        raise refused(name, type(folder).__name__, "a path", "Name a folder.", key="folder")
    sections = {key: value for key, value in data.items() if key not in ("robot", "limbsweep")}
    writer = Writer(data.get("robot"), folder)
    if "robot" not in data:
        raise refused(name, "no key 'robot'", "'robot', which is required", "Add it.")
    text = writer.text(sections)
    try:
        return sweep_of_text(text, name, MemoryFiles(writer.files, Folder(Path(folder))))
    except InputError as error:  # the user has not seen the text: its line numbers would mislead
        raise InputError(replace(problem, line=0, column=0) for problem in error.problems) from None


def sweep(
    robot: RobotLike,
    *,
    time: ArrayLike | Mapping[str, float] | None = None,
    trajectories: Mapping[str, object] | Sequence[object] | TableLike | None = None,
    design: TableLike | None = None,
    friction: Mapping[str, Any] | None = None,
    folder: str | os.PathLike[str] = ".",
    **sections: Unpack[Sections],
) -> Sweep:
    """Make a sweep from objects; keys are those of a sweep file, and each section of a file may be a dict here.

    robot: the name of a robot, a robot, the path of a robot file, or its content.
    design: columns of parameters with a row for each design, as a dict of arrays, a pandas DataFrame, an xarray Dataset
    (all combinations of its dims), a structured array or a list of dicts; or a dict with `grid`, `list`, `sample`,
    `file`, `derive`, `where` as in a file. A name may end with a unit, `upper_arm [mm]`; default SI. Long tables are
    kept as arrays.
    friction: a dict with `law`, `joints` and so on as in a file; `list` may be a table too.
    trajectories: by name, dicts as in a file, or points: (times, positions), a table with t, x, y, z or t and the
    independent joints of a chain, a DataArray (time, axis). Positions count from the reference position [m], as in
    files; (times, positions, rotations) has rotations (point, 3, 3) from the reference orientation too. Splines go
    through positions, and through roll, pitch and yaw (kind `waypoints`). Only a simulation without a controller does
    without.
    time: times (time,) from zero on, evenly spaced [s]; (stop, step); or a dict as in a file. It may lack where each
    trajectory has a time of its own.
    folder: of the files that are named.
    sections: the other keys of a sweep file, such as `outputs`, `metrics`, `limits` or `seed`; see
    `Sections`.

    Raises InputError with every problem and its argument. `Sweep.to_yaml` writes the file.

        >>> circle = {"kind": "circle", "radius": 0.05, "normal": [0, 1, 0]}
        >>> lengths = {"proximal_length": np.linspace(0.5, 0.56, 7)}
        >>> sweep = ls.sweep(
        ...     "five_bar", design=lengths, trajectories={"c": circle}, time=(1.0, 0.1), metrics="peak_force")
        >>> print(sweep.to_yaml(), end="")
        limbsweep: 1
        robot: five_bar
        design: {list: {proximal_length: [0.5, 0.51, 0.52, 0.53, 0.54, 0.55, 0.56]}}
        trajectories: {c: {kind: circle, radius: 0.05, normal: [0, 1, 0]}}
        time: {stop: 1.0, step: 0.1}
        metrics: [peak_force]
    """
    title = sections.get("title")
    head: dict[str, Any] = {"title": None if isinstance(title, str) and not title else title}
    head |= {"parameters": sections.get("parameters"), "design": design, "friction": friction}
    head |= {"trajectories": trajectories, "time": time}
    content = {**head, **{name: value for name, value in sections.items() if name not in head}}
    content = {name: value for name, value in content.items() if value is not None}
    return sweep_of_dict({"robot": robot, **content}, folder=folder)


def read_sweeps(path: str | os.PathLike[str], subset: str | None = None) -> tuple[Sweep, ...]:
    """Read the sweeps of a file, in the order of its robots; `subset` is the name of a part to take.

    Each sweep keeps its own text, from which it can be read again. Raises InputError with the problems of all of them.

        >>> [sweep.robot for sweep in ls.read_sweeps("sweep.yaml")]
        ['delta_3rr2rrr']
    """
    document = read_yaml(path)
    text = choose(document.text, "subset", subset, document.name) if subset else document.text
    robots = document.data.get("robots")
    several = robots if "robot" not in document.data and isinstance(robots, list | dict) and len(robots) > 1 else ()
    names = [name for name in several if isinstance(name, str)]
    texts = [choose(text, "robot", name, document.name) for name in names] or [text]
    sweeps: list[Sweep] = []
    problems: dict[Problem, list[str]] = {}
    for robot, robot_text in zip(names or [""], texts, strict=True):
        try:
            whole = document if robot_text == document.text else parse_yaml(robot_text, document.name)
            sweeps.append(read_sections(whole, source_of(Path(path).parent)))
        except InputError as error:
            for problem in error.problems:
                problems.setdefault(problem, []).append(robot)
    if problems:
        raise InputError(_with_robots(problem, robots, len(texts)) for problem, robots in problems.items())
    stores = [sweep.robot for sweep in sweeps]
    if len({*stores}) < len(stores):
        got = f"robots of the names {', '.join(stores)}"
        raise refused(document.name, got, "a name of its own for each", "Change the key name of a file.", key="robots")
    return tuple(sweeps)


def _with_robots(problem: Problem, robots: Sequence[str], count: int) -> Problem:
    """Return a problem with the names of its robots, unless all have it or its section is that of a robot."""
    if len(robots) == count or problem.key.startswith("robots."):
        return problem
    return replace(problem, hint=f"{problem.hint} This is so for {', '.join(robots)}.".strip())
