"""The motion of a base along a trajectory, and what bodies of a robot feel of it; see `tasks.mechanics.field`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robots.trajectories.trajectory import Trajectory
from robots.types import IDENTITY
from tasks.trajectories import turns
from tasks.trajectories.closed_forms import Numbers, motion


def base_motion(base: Trajectory, times: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Rotation (time, 3, 3) of a base that moves, its twist (time, 6), the rate of that, as `MovingBase` has them."""
    count = len(times)
    moved = motion(base.kind, base.values, times, base.points)[:, :count]
    turned = turns.turning(base.turn, IDENTITY, times)[:, :count]
    twist, change = (np.concatenate([turned[k : k + 3], moved[j : j + 3]]).T for k, j in ((9, 3), (12, 6)))
    return turned[:9].T.reshape(count, 3, 3), np.ascontiguousarray(twist), np.ascontiguousarray(change)


def base_field(base: Trajectory, gravity: Sequence[float], times: Numbers) -> Numbers:
    """The `gravity` input of kernels on a base that moves (9, padded samples): in the axes of the base.

    Gravity less the acceleration of the base's origin, its angular velocity and angular acceleration; gravity (3,) and
    the motion are those of the world, where the axes of the base are at its reference orientation.
    """
    moved = motion(base.kind, base.values, times, base.points)
    turned = turns.turning(base.turn, IDENTITY, times)
    falling = np.reshape(np.asarray(gravity, dtype=float), (3, 1)) - moved[6:9]
    rows = turned[:9].reshape(3, 3, -1)
    parts = (falling, turned[9:12], turned[12:15])
    inward = [
        rows[0, i] * part[0] + rows[1, i] * part[1] + rows[2, i] * part[2]  # in one order, for the same bits everywhere
        for part in parts
        for i in range(3)
    ]
    return np.ascontiguousarray(np.stack(inward))
