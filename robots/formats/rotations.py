"""Rotation matrices from the angles, quaternions and axes of files."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Array = np.ndarray


def of_angles(angles: Sequence[float] | Array) -> Array:
    """Return the rotation (3, 3) by roll, pitch and yaw [rad] about fixed axes, in this order."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(angles), np.sin(angles)
    roll = np.array([[1.0, 0.0, 0.0], [0.0, cr, -sr], [0.0, sr, cr]])
    pitch = np.array([[cp, 0.0, sp], [0.0, 1.0, 0.0], [-sp, 0.0, cp]])
    yaw = np.array([[cy, -sy, 0.0], [sy, cy, 0.0], [0.0, 0.0, 1.0]])
    turned: Array = yaw @ pitch @ roll
    return turned


def of_quaternion(quaternion: Sequence[float] | Array) -> Array:
    """Return the rotation (3, 3) of a quaternion (w, x, y, z), which is made of length 1."""
    w, x, y, z = np.asarray(quaternion, dtype=float) / np.linalg.norm(quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def with_z(direction: Sequence[float] | Array) -> Array:
    """Return axes (3, 3) the last of which is a direction of length 1; of z itself, none is turned."""
    z = np.array(direction, dtype=float)
    if np.array_equal(z, [0.0, 0.0, 1.0]):
        return np.eye(3)
    x = np.cross(np.eye(3)[np.argmin(np.abs(z))], z)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)


def with_x_y(first: Sequence[float] | Array, second: Sequence[float] | Array) -> Array:
    """Return axes (3, 3) with x along one direction and y as near to another as it can be."""
    x = np.array(first, dtype=float) / np.linalg.norm(first)
    y = np.array(second, dtype=float) - x * (x @ np.array(second, dtype=float))
    y = y / np.linalg.norm(y)
    return np.stack([x, y, np.cross(x, y)], axis=1)
