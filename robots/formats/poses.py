"""Poses as arrays: of angles, quaternions and axes of files, one in another, and as frames of the model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from robots.joint_kinds import JOINT_KINDS
from robots.model import Frame
from robots.types import Vector

Array = np.ndarray
Pose = tuple[np.ndarray, np.ndarray]
"""Rotation (3, 3) and position (3,) [m] in an outer frame."""

HERE: Pose = (np.eye(3), np.zeros(3))


def in_degrees(angles: Iterable[float]) -> bool:
    """Return whether angles that are read as radians [rad] look like degrees: beyond two turns, within two of 360."""
    largest = max(map(abs, angles), default=0.0)
    return 13.0 < largest <= 720.0


AS_RADIANS = "It is read in radians: 90 degrees are 1.5708."
"""Advice about angles that look like degrees."""


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


def compose(outer: Pose, inner: Pose) -> Pose:
    """Return a pose in an outer pose."""
    return outer[0] @ inner[0], outer[1] + outer[0] @ inner[1]


def inverse(pose: Pose) -> Pose:
    """Return the pose of the outer frame in the inner one."""
    return pose[0].T, -(pose[0].T @ pose[1])


def vector(values: np.ndarray) -> Vector:
    """Return three numbers as floats."""
    x, y, z = map(float, values)
    return x, y, z


def rows(matrix: np.ndarray) -> tuple[Vector, Vector, Vector]:
    """Return a matrix (3, 3) as floats."""
    a, b, c = map(vector, matrix)
    return a, b, c


def frame_of(pose: Pose) -> Frame:
    """Return a pose as a frame of the model."""
    return Frame(rows(pose[0]), vector(pose[1]))


def pose_of(frame: Frame) -> Pose:
    """Return a frame in numbers as a pose."""
    return np.array(frame.rotation, dtype=float), np.array(frame.position, dtype=float)


def moved(kind: str, axis: Sequence[float], value: float) -> Pose:
    """Return the pose of a joint at a value of its variable."""
    direction = np.array(axis)
    if not JOINT_KINDS[kind].turns:
        return np.eye(3), direction * value
    x, y, z = direction
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + math.sin(value) * cross + (1.0 - math.cos(value)) * (cross @ cross), np.zeros(3)
