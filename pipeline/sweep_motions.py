"""The trajectories of a sweep file: kinds and parameters as `robots.motions` lists them, points from CSV files."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.document import Path as Keys
from pipeline.errors import InputError
from pipeline.files import POINTS_BYTES, decode, parse_points
from pipeline.side_files import SideFiles
from pipeline.sweep_axes import check_bounds
from pipeline.validation import Got, Report, number_hint, sentence
from robots.motions import JOINT_MOTIONS, MOTIONS, Motion
from robots.parameters import Parameter, nearest

Value = float | tuple[float, ...]

AXES = ("x", "y", "z")


@dataclass(frozen=True, eq=False)
class Trajectory:
    """A motion of the robot: its kind, all parameters of that kind (SI, defaults included), its points.

    `points` is (points, 1 + coordinates): t [s], then x, y, z [m] or the independent joints of a chain; None for a kind
    that reads no file.
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


@dataclass(frozen=True)
class TrajectoryReader:
    """Reads trajectories of a platform, or of the independent `joints` of a chain, whose points are in `files`.

    What is wrong goes to `report`.
    """

    report: Report
    files: SideFiles
    joints: tuple[str, ...] = ()

    @property
    def motions(self) -> Mapping[str, Motion]:
        """The kinds that the robot can be given."""
        return JOINT_MOTIONS if self.joints else MOTIONS

    def one(self, name: str, given: Mapping[str, Any], path: Keys) -> Trajectory | None:
        """The trajectory of that name, unless something is wrong."""
        kind, report = given.get("kind"), self.report
        if not isinstance(kind, str):
            got = Got("no kind") if kind is None else kind
            report(path, got, "kind, the name of a motion", f"Known: {', '.join(self.motions)}.")
            return None
        if kind not in self.motions:
            report((*path, "kind"), kind, f"a kind of motion of {self._mover}", sentence(nearest(kind, self.motions)))
            return None
        motion = self.motions[kind]
        known = [
            "kind",
            *(parameter.name for parameter in motion.parameters),
            *(["file"] if motion.points_file else []),
        ]
        for key in given:
            if key not in known:
                report.unknown((*path, key), known)
        values = {each.name: self._value(each, given, path) for each in motion.parameters}
        return Trajectory(name, kind, values, self._points(motion, given, path))

    @property
    def _mover(self) -> str:
        return "the joints of a chain" if self.joints else "a platform"

    def _value(self, parameter: Parameter, given: Mapping[str, Any], path: Keys) -> Value:
        if parameter.name not in given:
            return parameter.default
        value, path = given[parameter.name], (*path, parameter.name)
        if parameter.shape:
            return _vector(self.report, parameter, value, path, parameter.shape[0])
        if self.joints and isinstance(value, list):
            return _vector(self.report, parameter, value, path, len(self.joints))
        if _is_number(self.report, value, path):
            check_bounds(self.report, parameter, value, path)
            return float(value)
        return parameter.default

    def _points(self, motion: Motion, given: Mapping[str, Any], path: Keys) -> NDArray[np.float64] | None:
        if not motion.points_file:
            return None
        file = given.get("file")
        if not isinstance(file, str) or not file:
            got = Got("no file") if file is None else file
            self.report(path if file is None else (*path, "file"), got, "file, the name of a CSV")
            return None
        if not self.files.source.holds(file):
            hint = "Copy it there: a sweep reads no files from elsewhere."
            self.report((*path, "file"), file, "a file in the folder of the sweep or below", hint)
            return None
        try:
            shown = self.files.source.shown(file)
            text = decode(self.files.read(file, POINTS_BYTES), shown)
            return parse_points(text, shown, ("t", *(self.joints or AXES)))
        except InputError as error:
            self.report.problems += error.problems
            return None


def _vector(report: Report, parameter: Parameter, value: Any, path: Keys, length: int) -> Value:
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
