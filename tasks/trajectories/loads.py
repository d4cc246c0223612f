"""Loads on the platform along a trajectory, in world axes."""

from __future__ import annotations

import numpy as np

from robots.trajectories.load import PlatformLoad
from tasks.trajectories.closed_forms import Numbers, padded_times


def along(load: PlatformLoad | None, rotation: Numbers, times: Numbers) -> Numbers:
    """Moment and force (6, padded samples) in world axes at `times`, zero without a load.

    rotation (9, padded samples or 1) turns from the axes of the platform to those of the world, row by row.
    """
    stamps = padded_times(times)
    if load is None:
        return np.zeros((6, len(stamps)))
    wrench = _interpolated(load.points, stamps)
    if load.axes == "world":
        return wrench
    rows = rotation.reshape(3, 3, -1)
    turned = [
        sum((rows[i, k] * part[k] for k in range(1, 3)), start=rows[i, 0] * part[0])
        for part in (wrench[:3], wrench[3:])
        for i in range(3)
    ]
    return np.stack(turned)


def _interpolated(points: Numbers, times: Numbers) -> Numbers:
    """Values (columns - 1, samples) on lines between points (points, columns), held beyond the ends."""
    stamps, values = points[:, 0], points[:, 1:].T
    if len(stamps) == 1:
        return np.repeat(values, len(times), axis=1)
    after = np.clip(np.searchsorted(stamps, times, side="right"), 1, len(stamps) - 1)
    share = np.clip((times - stamps[after - 1]) / (stamps[after] - stamps[after - 1]), 0.0, 1.0)
    result: Numbers = values[:, after - 1] * (1.0 - share) + values[:, after] * share
    return result
