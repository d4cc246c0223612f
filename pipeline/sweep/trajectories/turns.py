"""How a platform turns along a trajectory: the section `turn`, kinds as in `robots.trajectories.kinds.TURNS`.

Angles of a file are columns t, roll, pitch, yaw.

`{kind: circle, ..., turn: {kind: harmonic, amplitude: [0.1, 0, 0.2], orientation: {euler: [0, 0, 0.3], order: xyz}}}`
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.documents.report import Got, Report, sentence
from pipeline.documents.yaml import KeyPath
from pipeline.sweep.trajectories.loads import Points
from pipeline.sweep.trajectories.orientation import read_orientation
from pipeline.sweep.trajectories.values import read_values
from robots.parameters import nearest
from robots.trajectories.kinds import TURNS, Turn, Value
from robots.types import IDENTITY, ROTATION, TRANSLATION, Matrix

KEY, ORIENTATION = "turn", "orientation"
TIMES = 1e-9
"""Relative error of times that rounding explains."""


COLUMNS = {"t": "s", "roll": "rad", "pitch": "rad", "yaw": "rad"}
"""Columns of a file of angles, and what each measures."""


def read_turn(
    report: Report,
    trajectory: Mapping[str, Any],
    path: KeyPath,
    mobility: Sequence[str],
    duration: float,
    points: Points,
) -> Turn | None:
    """The turn of a trajectory, None without; `mobility` says which angles are free. What is wrong goes to `report`.

    `points` reads the file of a section; its angles have to last as long as the sweep, `duration` [s].
    """
    if KEY not in trajectory or not may_turn(report, (*path, KEY), mobility):
        return None
    section, path = trajectory[KEY], (*path, KEY)
    kind = section.get("kind") if isinstance(section, Mapping) else None
    if not isinstance(section, Mapping) or not isinstance(kind, str):
        got = Got("no kind") if kind is None and isinstance(section, Mapping) else kind if kind else section
        report(path, got, "a mapping with kind, how the platform turns", f"Known: {', '.join(TURNS)}.")
        return None
    if kind not in TURNS:
        report((*path, "kind"), kind, "a kind of turn of a platform", sentence(nearest(kind, TURNS)))
        return None
    known = ["kind", ORIENTATION, *(parameter.name for parameter in TURNS[kind].parameters)]
    known += ["file"] if TURNS[kind].points_file else []
    for key in section:
        if key not in known:
            report.unknown((*path, key), known)
    values = read_values(report, TURNS[kind], section, path)
    for name, value in values.items():
        _check_free(report, name, value, path, mobility)
    angles = points(section, path, COLUMNS) if TURNS[kind].points_file else None
    if angles is not None:
        _check_angles(report, angles, (*path, "file"), mobility, duration)
    return Turn(kind, values, orientation_of(report, section, path), angles)


def _check_angles(
    report: Report, angles: NDArray[np.float64], path: KeyPath, mobility: Sequence[str], duration: float
) -> None:
    """Refuse angles that do not last as long as the sweep, or that the platform is not free to make."""
    first, last = float(angles[0, 0]), float(angles[-1, 0])
    if first > TIMES * duration or last < (1.0 - TIMES) * duration:
        rule, hint = f"angles for all times of the sweep, 0 s to {duration:g} s", "Repeat its last row later."
        report(path, Got(f"angles from {first:g} s to {last:g} s"), rule, hint)
    for index, name in enumerate(ROTATION):
        if mobility and name not in mobility and abs(angles[:, 1 + index]).max() > 0.0:
            rule = f"0 in all rows: the platform does not turn about {'xyz'[index]}"
            report(path, Got(f"angles in the column {list(COLUMNS)[1 + index]}"), rule)


def may_turn(report: Report, path: KeyPath, mobility: Sequence[str]) -> bool:
    """Whether the platform can turn; where it cannot, that is reported."""
    if mobility and set(mobility) <= set(TRANSLATION):
        report(path, Got("a turn"), "no turn: the platform of this robot only translates", "Remove it.", key=True)
        return False
    return True


def orientation_of(report: Report, section: Mapping[str, Any], path: KeyPath) -> Matrix:
    """The orientation about which a platform turns; that of the reference pose where none is given."""
    return read_orientation(report, section[ORIENTATION], (*path, ORIENTATION)) if ORIENTATION in section else IDENTITY


def _check_free(report: Report, name: str, value: Value, path: KeyPath, mobility: Sequence[str]) -> None:
    """Refuse angles that the platform is not free to make; the defaults of a kind count as given."""
    if not mobility or not isinstance(value, tuple):
        return
    for index, (free, angle) in enumerate(zip(ROTATION, value, strict=True)):
        if free not in mobility and angle:
            rule = f"0 there: the platform does not turn about {'xyz'[index]}"
            report((*path, name), list(value), rule, "Give all angles where defaults are not zero.")
            return
