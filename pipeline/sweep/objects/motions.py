"""Trajectories as arrays: times with positions of the platform or of the independent joints of a chain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeGuard

import numpy as np
from numpy.typing import NDArray

from pipeline.documents.tables.table import Table, table
from pipeline.errors import refused
from pipeline.sweep.objects.columns import columns_of, has_numbers, header, is_table, numbers_of, unit_of

if TYPE_CHECKING:
    import xarray as xr

AXES = ("x", "y", "z")
TIMES = ("t", "time", "times")
WHOLE = ("position", "positions", "joints", "q")
"""Keys of arrays (point, coordinate)."""


def points_of(value: object, key: str, joints: Sequence[str] = ()) -> Table:
    """Return the table of waypoints in an object: t [s], then x, y, z [m] or the independent `joints` of a chain.

    An object is a table with these columns, a pair of times and positions (point, coordinate), a dict with `t` and
    `position` or `joints`, a DataArray along time, or an array (point, 1 + coordinate). Raises InputError.
    """
    names = joints or AXES
    if is_table(value):
        return _renamed(columns_of(value, key, TIMES), key)
    if isinstance(value, Mapping):
        return _mapping(value, key, names)
    if _is_data_array(value):
        return _data_array(value, key, names)
    if isinstance(value, tuple) and len(value) == 2:
        return _table(value[0], value[1], key, names)
    array = np.asarray(value, dtype=float) if isinstance(value, list | np.ndarray) else np.empty(())
    if array.ndim != 2:
        got = f"an object of type {type(value).__name__} of shape {array.shape}"
        rule = f"times and positions: (times, positions), or columns t, {', '.join(names)}"
        raise refused(key, got, rule)
    return _table(array[:, 0], array[:, 1:], key, names)


ROTATIONS = ("rotation", "rotations")
ANGLES = ("roll", "pitch", "yaw")
SQUARE = 1e-6
"""Largest deviation of a rotation from an orthogonal matrix."""

STEEPEST = np.deg2rad(85.0)
"""Pitch up to which roll and yaw can be told apart."""


def with_rotations(value: object) -> tuple[object, object, object]:
    """Return times and rotations of an object that has them, and the object without: (times, rotations, rest).

    That is a triple of times, positions and rotations, or a dict with the key `rotation`; otherwise rotations are None.
    """
    if isinstance(value, tuple) and len(value) == 3:
        return value[0], value[2], value[:2]
    if isinstance(value, Mapping) and not is_table(value) and (keys := [key for key in ROTATIONS if key in value]):
        times = next((value[name] for name in TIMES if name in value), None)
        return times, value[keys[0]], {name: entry for name, entry in value.items() if name != keys[0]}
    return None, None, value


def angles_of(times: object, rotations: object, key: str) -> Table:
    """Return the table t, roll, pitch, yaw [s, rad] of rotations (point, 3, 3) from the reference orientation.

    Angles go on over full turns. Raises InputError for matrices that are no rotations, and for a pitch near 90 degrees.
    """
    from scipy.spatial.transform import Rotation

    t = np.asarray(numbers_of(times, key) if has_numbers(times) else times, dtype=float)
    matrices = np.asarray(rotations, dtype=float)
    if t.ndim != 1 or matrices.shape != (len(t), 3, 3):
        got = f"times of shape {t.shape} with rotations of shape {matrices.shape}"
        raise refused(key, got, "shapes (points,) and (points, 3, 3)")
    error = np.abs(matrices @ np.swapaxes(matrices, 1, 2) - np.eye(3)).max(axis=(1, 2))
    wrong = ~(error <= SQUARE) | ~(np.linalg.det(np.where(error[:, None, None] <= SQUARE, matrices, np.eye(3))) > 0.0)
    if wrong.any():
        got = f"a matrix in row {int(np.flatnonzero(wrong)[0])} that is no rotation"
        raise refused(key, got, "orthogonal matrices of determinant 1")
    angles = np.unwrap(Rotation.from_matrix(matrices).as_euler("xyz"), axis=0)
    steep = np.abs(angles[:, 1]) > STEEPEST
    if steep.any():
        row = int(np.flatnonzero(steep)[0])
        got = f"a rotation in row {row} with a pitch of {np.rad2deg(angles[row, 1]):.0f} degrees"
        rule = f"a pitch of at most {np.rad2deg(STEEPEST):.0f} degrees: a spline goes through roll, pitch and yaw"
        hint = "Say it by turn, with an orientation about which it turns."
        raise refused(key, got, rule, hint)
    return table((("t", t), *zip(ANGLES, angles.T, strict=True)), key)


def _is_data_array(value: object) -> TypeGuard[xr.DataArray]:
    return hasattr(value, "dims") and hasattr(value, "coords")


def _mapping(value: Mapping[str, object], key: str, names: Sequence[str]) -> Table:
    times = next((name for name in TIMES if name in value), None)
    whole = next((name for name in WHOLE if name in value), None)
    known = {times, whole} if whole else {times, *names}
    if times is None or {*value} != known:
        rule = f"t with position, or with {', '.join(names)}; or kind with its keys"
        raise refused(key, f"the keys {', '.join(map(str, value))}", rule)
    if whole:
        return _table(value[times], value[whole], key, names)
    columns = {"t": value[times], **{name: value[name] for name in names}}
    return table(((header(name, unit_of(numbers)), numbers) for name, numbers in columns.items()), key)


def _data_array(value: xr.DataArray, key: str, names: Sequence[str]) -> Table:
    dim = next((name for name in TIMES if name in value.coords and value.coords[name].dims == (name,)), None)
    if dim is None or value.ndim != 2:
        got = f"a DataArray with dims {', '.join(map(str, value.dims))}"
        raise refused(key, got, "dims (time, axis) with a coordinate time")
    (other,) = (name for name in value.dims if name != dim)
    moved = value.transpose(dim, other)
    if other in value.coords and {*map(str, value.coords[other].values)} == {*names}:
        moved = moved.sel({other: list(names)})
    return _table(value.coords[dim], moved, key, names)


def _renamed(columns: Table, key: str) -> Table:
    """Return the table with its times under their short name."""
    long = next((name for name in TIMES[1:] if name in columns.columns), None)
    if long is None or "t" in columns.columns:
        return columns
    change = {long: "t"}
    return Table(
        {change.get(name, name): values for name, values in columns.columns.items()},
        {change.get(name, name): unit for name, unit in columns.units.items()},
    )


def _table(times: object, positions: object, key: str, names: Sequence[str]) -> Table:
    t: NDArray[np.float64] = np.asarray(times)
    places: NDArray[np.float64] = np.asarray(positions)
    if t.ndim != 1 or places.shape != (len(t), len(names)):
        got = f"times of shape {t.shape} with positions of shape {places.shape}"
        rule = f"shapes (points,) and (points, {len(names)}): {', '.join(names)}"
        raise refused(key, got, rule)
    headers = [header(name, unit_of(positions)) for name in names]
    return table(((header("t", unit_of(times)), t), *zip(headers, places.T, strict=True)), key)
