"""How a platform turns along a trajectory: the section `turn`, kinds as in `robots.trajectories.kinds.TURNS`.

`{kind: circle, ..., turn: {kind: harmonic, amplitude: [0.1, 0, 0.2], orientation: {euler: [0, 0, 0.3], order: xyz}}}`
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.documents.report import Got, Report, sentence
from pipeline.documents.yaml import KeyPath
from pipeline.sweep.trajectories.orientation import read_orientation
from pipeline.sweep.trajectories.values import read_values
from robots.parameters import nearest
from robots.trajectories.kinds import TURNS, Turn, Value
from robots.types import IDENTITY, TRANSLATION, TWIST, Matrix

KEY, ORIENTATION = "turn", "orientation"
ROTATION = TWIST[:3]


def read_turn(report: Report, trajectory: Mapping[str, Any], path: KeyPath, mobility: Sequence[str]) -> Turn | None:
    """The turn of a trajectory, None without; `mobility` says which angles are free. What is wrong goes to `report`."""
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
    for key in section:
        if key not in known:
            report.unknown((*path, key), known)
    values = read_values(report, TURNS[kind], section, path)
    for name, value in values.items():
        _check_free(report, name, value, path, mobility)
    return Turn(kind, values, orientation_of(report, section, path))


def may_turn(report: Report, path: KeyPath, mobility: Sequence[str]) -> bool:
    """Whether the platform can turn; where it cannot, that is reported."""
    if mobility and set(mobility) <= set(TRANSLATION):
        report(path, Got("a turn"), "no turn: the platform of this robot only translates", "Remove it.", key=True)
        return False
    return True


def orientation_of(report: Report, section: Mapping[str, Any], path: KeyPath) -> Matrix:
    """The orientation about which a platform turns; that of the reference pose where none is given."""
    return read_orientation(report, section[ORIENTATION], (*path, ORIENTATION)) if ORIENTATION in section else IDENTITY


def describe(turn: Turn) -> dict[str, Any]:
    """What defines the turn, in types of JSON."""
    values = {name: list(value) if isinstance(value, tuple) else value for name, value in turn.values.items()}
    return {"kind": turn.kind, "values": values, "orientation": [list(row) for row in turn.orientation]}


def _check_free(report: Report, name: str, value: Value, path: KeyPath, mobility: Sequence[str]) -> None:
    """Refuse angles that the platform is not free to make; the defaults of a kind count as given."""
    if not mobility or not isinstance(value, tuple):
        return
    for index, (free, angle) in enumerate(zip(ROTATION, value, strict=True)):
        if free not in mobility and angle:
            rule = f"0 there: the platform does not turn about {'xyz'[index]}"
            report((*path, name), list(value), rule, "Give all angles where defaults are not zero.")
            return
