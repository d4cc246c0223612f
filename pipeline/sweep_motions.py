"""The trajectories of a sweep file: kinds and parameters as `robots.motions` lists them, points from CSV files."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.document import Path as Keys
from pipeline.errors import InputError
from pipeline.files import read_points
from pipeline.sweep_axes import check_bounds
from pipeline.validation import Got, Report, number_hint, sentence
from robots.motions import MOTIONS, Motion
from robots.parameters import Parameter, nearest

Value = float | tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Trajectory:
    """A motion of the platform: its kind, all parameters of that kind (SI, defaults included), its points.

    `points` is (points, 4): t [s], x, y, z [m]; None for a kind that reads no file.
    """

    name: str
    kind: str
    values: Mapping[str, Value]
    points: NDArray[np.float64] | None = None

    def describe(self) -> dict[str, Any]:
        """What defines the motion, in types of JSON; points by their hash."""
        values = {name: list(each) if isinstance(each, tuple) else each for name, each in self.values.items()}
        points = (
            {} if self.points is None else {"points": hashlib.sha256(self.points.astype("<f8").tobytes()).hexdigest()}
        )
        return {"kind": self.kind, "values": values} | points


def read_trajectories(report: Report, section: Mapping[str, dict[str, Any]], folder: Path) -> tuple[Trajectory, ...]:
    """All trajectories of a file; what is wrong with them goes to `report`. Files are looked up in `folder`."""
    read = (_read(report, name, given, ("trajectories", name), folder) for name, given in section.items())
    return tuple(trajectory for trajectory in read if trajectory is not None)


def _read(report: Report, name: str, given: Mapping[str, Any], path: Keys, folder: Path) -> Trajectory | None:
    kind = given.get("kind")
    if not isinstance(kind, str):
        report(
            path,
            Got("no kind") if kind is None else kind,
            "kind, the name of a motion",
            f"Known: {', '.join(MOTIONS)}.",
        )
        return None
    if kind not in MOTIONS:
        report((*path, "kind"), kind, "a kind of motion", sentence(nearest(kind, MOTIONS)))
        return None
    motion = MOTIONS[kind]
    known = ["kind", *(parameter.name for parameter in motion.parameters), *(["file"] if motion.points_file else [])]
    for key in given:
        if key not in known:
            report.unknown((*path, key), known)
    values = {each.name: _value(report, each, given, path) for each in motion.parameters}
    return Trajectory(name, kind, values, _points(report, motion, given, path, folder))


def _value(report: Report, parameter: Parameter, given: Mapping[str, Any], path: Keys) -> Value:
    if parameter.name not in given:
        return parameter.default
    value, path = given[parameter.name], (*path, parameter.name)
    if parameter.shape:
        return _vector(report, parameter, value, path)
    if _is_number(report, value, path):
        check_bounds(report, parameter, value, path)
        return float(value)
    return parameter.default


def _vector(report: Report, parameter: Parameter, value: Any, path: Keys) -> Value:
    length = parameter.shape[0]
    if not isinstance(value, list) or len(value) != length:
        report(path, value, f"a list of {length} numbers [{parameter.unit}]")
        return parameter.default
    # A list, not a generator: every component that is wrong is reported.
    numbers = [_is_number(report, each, (*path, index)) for index, each in enumerate(value)]
    if not all(numbers):
        return parameter.default
    if parameter.unit == "1" and not any(value):
        report(path, value, "a direction, so not all zero")
    for index, each in enumerate(value):
        check_bounds(report, parameter, each, (*path, index))
    return tuple(map(float, value))


def _is_number(report: Report, value: Any, path: Keys) -> bool:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return True
    report(path, value, "a number", number_hint(value) if isinstance(value, str) else "")
    return False


def _points(
    report: Report, motion: Motion, given: Mapping[str, Any], path: Keys, folder: Path
) -> NDArray[np.float64] | None:
    if not motion.points_file:
        return None
    file = given.get("file")
    if not isinstance(file, str) or not file:
        report(
            path if file is None else (*path, "file"),
            Got("no file") if file is None else file,
            "file, the name of a CSV",
        )
        return None
    root = folder.resolve()
    if "\0" in file or not (root / file).resolve().is_relative_to(root):
        hint = "Copy it there: a sweep reads no files from elsewhere."
        report((*path, "file"), file, "a file in the folder of the sweep or below", hint)
        return None
    try:
        return read_points(folder / file)
    except InputError as error:
        report.problems += error.problems
        return None
