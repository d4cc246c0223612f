"""The trajectories of a sweep file: kinds as in `robots.trajectories.kinds`, points from CSV files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.documents.document import KeyPath
from pipeline.documents.files import decode
from pipeline.documents.points import parse_points, time_problems
from pipeline.documents.report import Got, Report
from pipeline.documents.tables.columns import POINTS
from pipeline.documents.tables.reader import SIDE_FILES
from pipeline.documents.tables.table import Table
from pipeline.documents.units import UNITS, check_unit
from pipeline.errors import InputError, Problem, show
from pipeline.sweep.side_files import SideFiles
from pipeline.sweep.trajectories import loads
from pipeline.sweep.trajectories.mobility import check_held
from pipeline.sweep.trajectories.turns import TIMES, read_turn
from pipeline.sweep.trajectories.values import Mover, read_values
from robots.data_classes import dataclass, field
from robots.trajectories.kinds import JOINT_MOTIONS, Turn, is_grid
from robots.trajectories.time_grid import TimeGrid
from robots.trajectories.trajectory import Trajectory


def check_points(report: Report, trajectories: Sequence[Trajectory], grid: TimeGrid | None) -> None:
    """Refuse points that do not reach from the first sample to the last [s]: beyond them nothing moves.

    grid: times of trajectories that have none of their own; None where they are not known.
    """
    for trajectory in trajectories:
        if trajectory.points is None or is_grid(trajectory.kind):
            continue
        times, path = trajectory.grid or grid, ("trajectories", trajectory.name, "file")
        check_reach(report, trajectory.points, path, times.duration if times else 0.0)


def check_reach(report: Report, points: NDArray[np.float64], path: KeyPath, duration: float) -> None:
    """Refuse points of the file at `path` that do not reach from the first sample to the last [s]."""
    first, last = float(points[0, 0]), float(points[-1, 0])
    if first > TIMES * duration:
        report(path, Got(f"points from {first!r} s on"), "points from 0 s on, where the sweep begins")
    elif last < (1 - TIMES) * duration:
        hint = f"Add a point at {duration!r}, or write time: {{stop: {last!r}}}."
        report(path, Got(f"points until {last!r} s"), f"points until {duration!r} s, where the sweep stops", hint)


@dataclass(frozen=True)
class PointsReader:
    """Reader of points over time from `files`. Problems go to `report`."""

    report: Report
    files: SideFiles

    def points(
        self, section: Mapping[str, Any], path: KeyPath, columns: Mapping[str, str]
    ) -> NDArray[np.float64] | None:
        """Return the points of the file that a section names; `columns` has their SI units."""
        file = section.get("file")
        if not isinstance(file, str) or not file:
            got = Got("no file") if file is None else file
            self.report(path if file is None else (*path, "file"), got, "file, the name of a CSV")
            return None
        here = (*path, "file")
        if not file.lower().endswith(tuple(ending for ending in SIDE_FILES if ending != ".csv")):
            return self._text_points(file, here, columns)
        table = self.files.table(self.report, file, here, POINTS, tuple(columns))
        return None if table is None else self._ordered(table, file, here, columns)

    def _text_points(self, file: str, path: KeyPath, columns: Mapping[str, str]) -> NDArray[np.float64] | None:
        if not self.files.source.holds(file):
            hint = "Copy it there: a sweep reads no files from elsewhere."
            self.report(path, file, "a file in the folder of the sweep or below", hint)
            return None
        try:
            shown = self.files.source.shown(file)
            text = decode(self.files.read(file, POINTS.file), shown)
            return parse_points(text, shown, tuple(columns), tuple(columns.values()))
        except InputError as error:
            self.report.problems += error.problems
            return None

    def _ordered(
        self, table: Table, file: str, path: KeyPath, columns: Mapping[str, str]
    ) -> NDArray[np.float64] | None:
        """Return the columns of a table in order and in SI, with times that increase."""
        shown = self.files.source.shown(file)
        if {*table.columns} != {*columns}:
            got = ",".join(table.columns)
            self.report.problems.append(Problem(shown, 0, 0, "", show(got), f"the columns {','.join(columns)}"))
            return None
        points = []
        for name, measured in columns.items():
            unit = table.units.get(name, "1")
            if name in table.units and (wrong := check_unit(unit, measured)):
                self.report(path, Got(f"the unit {unit!r} of the column {name}"), *wrong)
                return None
            points.append(table.columns[name] * UNITS[unit].factor / UNITS[unit].divisor)
        if problems := list(time_problems(points[0], shown, first_row=0)):
            self.report.problems += problems[:1]
            return None
        return np.ascontiguousarray(np.stack(points, axis=1))


@dataclass(frozen=True)
class TrajectoryReader(PointsReader):
    """Reader of the trajectories of a mover."""

    mover: Mover = field(default_factory=Mover)

    def one(self, name: str, section: Mapping[str, Any], path: KeyPath) -> Trajectory | None:
        """Return the trajectory of that name, unless something is wrong."""
        kind, report, mover = section.get("kind"), self.report, self.mover
        if not isinstance(kind, str):
            got = Got("no kind") if kind is None else kind
            report(path, got, "kind, the name of a motion", f"Known: {', '.join(mover.motions)}.")
            return None
        if not (mover.joints or mover.mobility) and kind in JOINT_MOTIONS:
            return None  # of an unknown robot, which is reported
        if not report.require_known((*path, "kind"), kind, mover.motions, f"a kind of motion of {mover}"):
            return None
        motion = mover.motions[kind]
        known = [
            "kind",
            *(parameter.name for parameter in motion.parameters),
            *(["file"] if motion.points_file else []),
            *([] if mover.joints else ["turn", loads.KEY]),
            "time",
        ]
        report.require_known_keys(path, section, known)
        values = read_values(report, motion, section, path, len(mover.joints))
        turn = None if mover.joints else self._turn(section, path)
        load = None if mover.joints else loads.read_load(report, section, path, mover.duration, self.points)
        before = len(report.problems)
        points = self.points(section, path, mover.columns) if motion.points_file else None
        trajectory = Trajectory(kind, values, points, turn, load, name)
        if values.keys() == {parameter.name for parameter in motion.parameters} and len(report.problems) == before:
            check_held(report, trajectory, path, mover.mobility)
        return trajectory

    def _turn(self, section: Mapping[str, Any], path: KeyPath) -> Turn | None:
        return read_turn(self.report, section, path, self.mover.mobility, self.mover.duration, self.points)
