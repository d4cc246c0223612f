"""Turns of a platform along a trajectory: the section `turn`, kinds as in `robots.trajectories.kinds.TURNS`.

Angles of a file are columns t, roll, pitch, yaw. An orientation is a quaternion, a matrix, or Euler angles with their
order.

`{kind: circle, ..., turn: {kind: harmonic, amplitude: [0.1, 0, 0.2], orientation: {euler: [0, 0, 0.3], order: xyz}}}`
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.documents.document import KeyPath
from pipeline.documents.report import Got, Report
from pipeline.documents.validation import check_bounds
from pipeline.sweep.trajectories.loads import Points
from pipeline.sweep.trajectories.values import read_values, vector
from robots.geometry import about, cross, dot, product, unit
from robots.parameters import Parameter
from robots.trajectories.kinds import TURNS, Turn, Value
from robots.types import IDENTITY, ROTATION, TRANSLATION, Matrix, Vector

KEY, ORIENTATION = "turn", "orientation"
TIMES = 1e-9
"""Relative error of times that rounding explains."""


COLUMNS = {"t": "s", "roll": "rad", "pitch": "rad", "yaw": "rad"}
"""Columns of a file of angles, and their units."""

NEAR = 1e-6
"""Tolerance of a rotation matrix, and of the length of a quaternion, for numbers written with six digits."""

ORDERS = tuple(a + b + c for a in "xyz" for b in "xyz" for c in "xyz" if a != b != c)
"""Orders of Euler angles about fixed axes; in capitals about the axes that turn with the body."""

_QUATERNION = Parameter("quaternion", "w, x, y, z", (1.0, 0.0, 0.0, 0.0), text="w, x, y, z")
_ROW = Parameter("row", "a row of a matrix", (0.0, 0.0, 0.0))
_EULER = Parameter("euler", "rad", (0.0, 0.0, 0.0), -2 * math.pi, 2 * math.pi)


def read_turn(
    report: Report,
    trajectory: Mapping[str, Any],
    path: KeyPath,
    mobility: Sequence[str],
    duration: float,
    points: Points,
) -> Turn | None:
    """Return a trajectory's turn, None without one; `mobility` names the free angles. Errors go to `report`.

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
    if not report.require_known((*path, "kind"), kind, TURNS, "a kind of turn of a platform"):
        return None
    known = ["kind", ORIENTATION, *(parameter.name for parameter in TURNS[kind].parameters)]
    known += ["file"] if TURNS[kind].points_file else []
    report.require_known_keys(path, section, known)
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
    """Return whether the platform can turn; report a problem if it cannot."""
    if mobility and set(mobility) <= set(TRANSLATION):
        report(path, Got("a turn"), "no turn: the platform of this robot only translates", "Remove it.", key=True)
        return False
    return True


def orientation_of(report: Report, section: Mapping[str, Any], path: KeyPath) -> Matrix:
    """Return the orientation about which a platform turns; that of the reference pose where none is given."""
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


def read_orientation(report: Report, section: Any, path: KeyPath) -> Matrix:
    """Return the rotation of a section with one of `quaternion`, `matrix`, `euler` with `order`; else identity."""
    if not isinstance(section, Mapping):
        report(path, section, "a mapping with quaternion, matrix, or euler and order")
        return IDENTITY
    report.require_known_keys(path, section, (*READERS, "order"))
    forms = [key for key in READERS if key in section]
    if len(forms) != 1:
        report(path, Got(" and ".join(forms) or "no orientation"), "one of quaternion, matrix and euler")
        return IDENTITY
    return READERS[forms[0]](report, section, path)


def _quaternion(report: Report, section: Mapping[str, Any], path: KeyPath) -> Matrix:
    path = (*path, "quaternion")
    w, x, y, z = _numbers(report, _QUATERNION, section["quaternion"], path)
    size = math.sqrt(w * w + x * x + y * y + z * z)
    if abs(size - 1.0) > NEAR:
        report(path, Got(f"a quaternion of length {size:.6g}"), f"length 1 within {NEAR:g}, scalar first: w, x, y, z")
        return IDENTITY
    w, x, y, z = (component / size for component in (w, x, y, z))
    return (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )


def _matrix(report: Report, section: Mapping[str, Any], path: KeyPath) -> Matrix:
    rows, path = section["matrix"], (*path, "matrix")
    if not isinstance(rows, list) or len(rows) != 3:
        report(path, rows, "a list of 3 rows of 3 numbers")
        return IDENTITY
    before = len(report.problems)
    x, y, z = (_triple(_numbers(report, _ROW, row, (*path, k))) for k, row in enumerate(rows))
    if len(report.problems) > before:
        return IDENTITY
    sizes = (dot(x, x) - 1.0, dot(y, y) - 1.0, dot(z, z) - 1.0, dot(x, y), dot(y, z), dot(z, x))
    if max(map(abs, sizes)) > NEAR:
        off = max(map(abs, sizes))
        report(path, Got(f"rows that are {off:.3g} off orthogonal unit vectors"), f"a rotation within {NEAR:g}")
        return IDENTITY
    if dot(cross(x, y), z) < 0.0:
        report(path, Got("a matrix with determinant -1"), "a rotation, determinant +1", "A reflection is no rotation.")
        return IDENTITY
    first = unit(x)
    along = dot(first, y)
    second = unit((y[0] - along * first[0], y[1] - along * first[1], y[2] - along * first[2]))
    return (first, second, cross(first, second))


def _euler(report: Report, section: Mapping[str, Any], path: KeyPath) -> Matrix:
    angles = _numbers(report, _EULER, section["euler"], (*path, "euler"))
    for index, angle in enumerate(angles):
        check_bounds(report, _EULER, angle, (*path, "euler", index))
    order = section.get("order")
    if not isinstance(order, str) or order.lower() not in ORDERS or order not in (order.lower(), order.upper()):
        got = Got("no order") if order is None else order
        rule = f"order, one of {', '.join(ORDERS)} about fixed axes, or in capitals about turned ones"
        report(path if order is None else (*path, "order"), got, rule)
        return IDENTITY
    turns = [about(axis, math.cos(angle), math.sin(angle)) for axis, angle in zip(order.lower(), angles, strict=True)]
    a, b, c = turns if order.isupper() else reversed(turns)
    return product(a, product(b, c))


READERS: Mapping[str, Callable[[Report, Mapping[str, Any], KeyPath], Matrix]] = {
    "quaternion": _quaternion,
    "matrix": _matrix,
    "euler": _euler,
}


def _numbers(report: Report, parameter: Parameter, value: Any, path: KeyPath) -> tuple[float, ...]:
    numbers = vector(report, parameter, value, path, parameter.shape[0])
    assert isinstance(numbers, tuple), "parameters with a shape have values of that shape"
    return numbers


def _triple(values: tuple[float, ...]) -> Vector:
    x, y, z = values
    return (x, y, z)
