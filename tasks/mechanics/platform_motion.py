"""Motion of a platform from the inputs of a kernel, for one sample: pose, motion, and their free components."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robots.model import Platform
from robots.types import TRANSLATION, TWIST
from tasks.kernels.expression import Array, Scalar
from tasks.mathematics.algebra import array
from tasks.mathematics.rotations import roll_pitch_yaw
from tasks.mechanics.kinematics import Pose, SpatialMotion


def motion_size(mobility: Sequence[str]) -> int:
    """Return the length of the motion vector of one sample: 9 for translation only, 24 with rotation; see `unpack`."""
    return 9 if set(mobility) <= set(TRANSLATION) else 24


def unpack(motion: Array, platform: Platform) -> tuple[Pose, SpatialMotion]:
    """Return the pose and motion of the platform from a motion vector.

    Translation only: position, velocity, acceleration (3 each). Otherwise position (3), rotation (9, row by row), twist
    (6), its derivative (6); all in world axes, twists (angular, linear) of the platform's reference point.
    """
    m, zero = array(motion), np.zeros(3)
    if motion_size(platform.mobility) == 9:
        return Pose(array(platform.home.rotation), m[0:3]), SpatialMotion(zero, m[3:6], zero, m[6:9])
    return Pose(m[3:12].reshape(3, 3), m[0:3]), SpatialMotion(m[12:15], m[15:18], m[18:21], m[21:24])


def still(platform: Platform, turn: Array, shift: Array) -> np.ndarray:
    """Return the motion vector at rest, at roll, pitch and yaw [rad] and a shift [m] from the reference pose."""
    home = platform.home
    position = np.array(home.position, dtype=float) + shift
    if motion_size(platform.mobility) == 9:
        return np.concatenate([position, np.zeros(6)])
    rotation = roll_pitch_yaw(turn).rotation @ np.array(home.rotation, dtype=float)
    return np.concatenate([position, rotation.ravel(), np.zeros(12)])


def free_twist(platform: Platform, motion: SpatialMotion) -> np.ndarray:
    """Return the free components of the platform's twist, V_t of Eq. (82)."""
    return _free(platform, (*motion.omega, *motion.v))


def free_acceleration(platform: Platform, motion: SpatialMotion) -> np.ndarray:
    """Return the acceleration vector of the freedoms, V_t'."""
    return _free(platform, (*motion.alpha, *motion.a))


def _free(platform: Platform, twist: Sequence[Scalar]) -> np.ndarray:
    return array([twist[TWIST.index(name)] for name in platform.mobility])


def held_directions(mobility: Sequence[str]) -> tuple[str, ...]:
    """Return the components of the platform's twist that are not free; none of a chain, which has no platform."""
    return tuple(name for name in TWIST if name not in mobility) if mobility else ()
