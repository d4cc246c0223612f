"""Rotations for batches in plain NumPy or for one traced sample: from angles, with rates, and as unit quaternions.

Quaternions (4, samples), scalar first, are the orientation of a platform while its motion is integrated.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tasks.kernels.expression import Array


class Turning(NamedTuple):
    """rotation (*batch, 3, 3) from body to world axes; omega [rad/s] and alpha [rad/s^2], (*batch, 3), world axes."""

    rotation: np.ndarray
    omega: np.ndarray
    alpha: np.ndarray


def roll_pitch_yaw(angles: ArrayLike, rates: ArrayLike = 0.0, accelerations: ArrayLike = 0.0) -> Turning:
    """Return a rotation by roll, pitch and yaw about fixed axes x, y, z, in this order: R = Rz(yaw) Ry(pitch) Rx(roll).

    angles (*batch, 3) as (roll, pitch, yaw) [rad], their first and second derivatives of the same shape or zero. The
    angles of the hexapod paper, phi, theta, psi of Eqs. (4) and (28), are taken in this order.
    """
    q = np.asarray(angles, dtype=float)
    qd, qdd = (np.broadcast_to(np.asarray(x, dtype=float), q.shape) for x in (rates, accelerations))
    return from_sines(np.sin(q), np.cos(q), qd, qdd)


def from_sines(sin: Array, cos: Array, rates: Array, accelerations: Array) -> Turning:
    """Return the same from sines and cosines of the angles (*batch, 3), which may be traced."""
    (sr, sp, sy), (cr, cp, cy) = (np.split(x, 3, axis=-1) for x in (sin, cos))
    zero, one = np.zeros_like(cr), np.ones_like(cr)
    yaw_axis = np.concatenate([zero, zero, one], axis=-1)
    pitch_axis = np.concatenate([-sy, cy, zero], axis=-1)
    roll_axis = np.concatenate([cy * cp, sy * cp, -sp], axis=-1)
    side = cr * pitch_axis + sr * np.cross(roll_axis, pitch_axis)
    rotation = np.stack([roll_axis, side, np.cross(roll_axis, side)], axis=-1)
    # each axis is carried by the turns that come after its own
    yaw, pitch, roll = (rates[..., k : k + 1] * axis for k, axis in ((2, yaw_axis), (1, pitch_axis), (0, roll_axis)))
    second = (
        accelerations[..., 2:] * yaw_axis + accelerations[..., 1:2] * pitch_axis + accelerations[..., :1] * roll_axis
    )
    return Turning(rotation, yaw + pitch + roll, second + np.cross(yaw, pitch) + np.cross(yaw + pitch, roll))


def rotation_matrix(q: np.ndarray) -> np.ndarray:
    """Return the rotations (3, 3, samples) of quaternions of any non-zero length; orthonormal to rounding."""
    w, x, y, z = q / np.linalg.norm(q, axis=0)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def of_rotation(rows: np.ndarray) -> np.ndarray:
    """Return quaternions (4, samples) of rotations (9, samples), row by row; NaN for matrices that are not finite."""
    from scipy.spatial.transform import Rotation  # takes as long to import as a small sweep to compute

    finite = np.isfinite(rows).all(axis=0)
    matrices = np.where(finite[:, None, None], rows.T.reshape(-1, 3, 3), np.eye(3))
    found = np.where(finite[:, None], Rotation.from_matrix(matrices).as_quat(), np.nan)  # scalar last
    return np.ascontiguousarray(np.roll(found, 1, axis=1).T)


def rate(q: np.ndarray, omega: np.ndarray) -> np.ndarray:
    """Return the time derivatives (4, samples) of quaternions for angular velocities (3, samples) in world axes."""
    w, v = q[0], q[1:]
    return 0.5 * np.concatenate([-(omega * v).sum(axis=0)[None], omega * w + np.cross(omega, v, axis=0)])
