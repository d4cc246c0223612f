"""Unit quaternions, scalar first, as (4, samples): the orientation of a platform while its motion is integrated."""

from __future__ import annotations

import numpy as np


def rotation_matrix(q: np.ndarray) -> np.ndarray:
    """Rotations (3, 3, samples) of quaternions of any length but zero; orthonormal to rounding."""
    w, x, y, z = q / np.linalg.norm(q, axis=0)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def of_rotation(rows: np.ndarray) -> np.ndarray:
    """Quaternions (4, samples) of rotations (9, samples), row by row."""
    from scipy.spatial.transform import Rotation  # takes as long to import as a small sweep to compute

    found = Rotation.from_matrix(rows.T.reshape(-1, 3, 3)).as_quat()  # scalar last
    return np.ascontiguousarray(np.roll(found, 1, axis=1).T)


def rate(q: np.ndarray, omega: np.ndarray) -> np.ndarray:
    """Time derivatives (4, samples) for angular velocities (3, samples) in world axes."""
    w, v = q[0], q[1:]
    return 0.5 * np.concatenate([-(omega * v).sum(axis=0)[None], omega * w + np.cross(omega, v, axis=0)])
