"""The trajectories of a sweep file: kinds and parameters as `robots.motions` lists them, points from CSV files."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.documents.files import decode
from pipeline.documents.points import POINTS_BYTES, parse_points
from pipeline.documents.report import Got, Report, sentence
from pipeline.documents.yaml import KeyPath as Keys
from pipeline.errors import InputError
from pipeline.sweep.side_files import SideFiles
from pipeline.sweep.trajectories.turns import describe, read_turn
from pipeline.sweep.trajectories.values import Value, read_values
from robots.motions import JOINT_MOTIONS, MOTIONS, Motion, Turn
from robots.parameters import nearest

AXES = ("x", "y", "z")


@dataclass(frozen=True, eq=False)
class Trajectory:
    """A motion of the robot: its kind, all parameters of that kind (SI, defaults included), its points.

    `points` is (points, 1 + coordinates): t [s], then x, y, z [m] or the independent joints of a chain; None for a kind
    that reads no file. `turn` is how a platform turns meanwhile; None: it does not.
    """

    name: str
    kind: str
    values: Mapping[str, Value]
    points: NDArray[np.float64] | None = None
    turn: Turn | None = None

    def describe(self) -> dict[str, Any]:
        """What defines the motion, in types of JSON; points by their hash."""
        values = {name: list(each) if isinstance(each, tuple) else each for name, each in self.values.items()}
        points = (
            {} if self.points is None else {"points": hashlib.sha256(self.points.astype("<f8").tobytes()).hexdigest()}
        )
        turn = {} if self.turn is None else {"turn": describe(self.turn)}
        return {"kind": self.kind, "values": values} | points | turn


@dataclass(frozen=True)
class TrajectoryReader:
    """Reads trajectories of a platform, or of the independent `joints` of a chain, whose points are in `files`.

    `mobility` are the free components of the platform's twist. What is wrong goes to `report`.
    """

    report: Report
    files: SideFiles
    joints: tuple[str, ...] = ()
    mobility: tuple[str, ...] = ()

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
            *([] if self.joints else ["turn"]),
        ]
        for key in given:
            if key not in known:
                report.unknown((*path, key), known)
        values = read_values(report, motion, given, path, len(self.joints))
        turn = None if self.joints else read_turn(report, given, path, self.mobility)
        return Trajectory(name, kind, values, self._points(motion, given, path), turn)

    @property
    def _mover(self) -> str:
        return "the joints of a chain" if self.joints else "a platform"

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
