"""The trajectories of a sweep file: kinds as in `robots.trajectories.kinds`, points from CSV files."""

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
from pipeline.documents.yaml import KeyPath
from pipeline.errors import InputError
from pipeline.sweep.side_files import SideFiles
from pipeline.sweep.trajectories.mobility import check_held
from pipeline.sweep.trajectories.turns import describe, read_turn
from pipeline.sweep.trajectories.values import read_values
from robots.parameters import nearest
from robots.trajectories.kinds import JOINT_MOTIONS, MOTIONS, Motion
from robots.trajectories.trajectory import Trajectory

AXES = ("x", "y", "z")


def describe_trajectory(trajectory: Trajectory) -> dict[str, Any]:
    """What defines a motion, in types of JSON; points by their hash."""
    values = {name: list(value) if isinstance(value, tuple) else value for name, value in trajectory.values.items()}
    points, turn = trajectory.points, trajectory.turn
    return {
        "kind": trajectory.kind,
        "values": values,
        **({} if points is None else {"points": hashlib.sha256(points.astype("<f8").tobytes()).hexdigest()}),
        **({} if turn is None else {"turn": describe(turn)}),
    }


@dataclass(frozen=True)
class Mover:
    """What moves in a sweep: the independent `joints` of a chain, or a platform where there are none; how long [s].

    `mobility` are the free components of the platform's twist; none: not known.
    """

    joints: tuple[str, ...] = ()
    mobility: tuple[str, ...] = ()
    duration: float = 1.0

    @property
    def motions(self) -> Mapping[str, Motion]:
        """The kinds of trajectory that it can have."""
        return JOINT_MOTIONS if self.joints else MOTIONS

    def __str__(self) -> str:
        """For messages."""
        return "the joints of a chain" if self.joints else "a platform"


@dataclass(frozen=True)
class TrajectoryReader:
    """Reads the trajectories of a mover, whose points are in `files`. What is wrong goes to `report`."""

    report: Report
    files: SideFiles
    mover: Mover = Mover()

    def one(self, name: str, section: Mapping[str, Any], path: KeyPath) -> Trajectory | None:
        """The trajectory of that name, unless something is wrong."""
        kind, report, mover = section.get("kind"), self.report, self.mover
        if not isinstance(kind, str):
            got = Got("no kind") if kind is None else kind
            report(path, got, "kind, the name of a motion", f"Known: {', '.join(mover.motions)}.")
            return None
        if kind not in mover.motions:
            report((*path, "kind"), kind, f"a kind of motion of {mover}", sentence(nearest(kind, mover.motions)))
            return None
        motion = mover.motions[kind]
        known = [
            "kind",
            *(parameter.name for parameter in motion.parameters),
            *(["file"] if motion.points_file else []),
            *([] if mover.joints else ["turn"]),
        ]
        for key in section:
            if key not in known:
                report.unknown((*path, key), known)
        values = read_values(report, motion, section, path, len(mover.joints))
        turn = None if mover.joints else read_turn(report, section, path, mover.mobility)
        before = len(report.problems)
        trajectory = Trajectory(kind, values, self._points(motion, section, path), turn, name)
        if values.keys() == {parameter.name for parameter in motion.parameters} and len(report.problems) == before:
            check_held(report, trajectory, path, mover.mobility)
        return trajectory

    def _points(self, motion: Motion, section: Mapping[str, Any], path: KeyPath) -> NDArray[np.float64] | None:
        if not motion.points_file:
            return None
        file = section.get("file")
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
            return parse_points(text, shown, ("t", *(self.mover.joints or AXES)))
        except InputError as error:
            self.report.problems += error.problems
            return None
