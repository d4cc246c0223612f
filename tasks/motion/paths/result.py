"""What the shortest time along a path is told by."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class FastestMotion(NamedTuple):
    """The fastest motion along a path: `duration` [s], infinite where it cannot be done.

    At each of the points: `progress` from 0 to 1, `time` [s], `rate` of the progress [1/s], and `force`, `velocity`,
    `power` and `jerk` (point, actuator) of the actuators, with the acceleration that leads to the next point; NaN for
    the jerk where it has no limit. status (point,): of the inverse dynamics of the path, or NOT_CONVERGED.
    """

    duration: float
    progress: np.ndarray
    time: np.ndarray
    rate: np.ndarray
    force: np.ndarray
    velocity: np.ndarray
    status: np.ndarray
    power: np.ndarray
    jerk: np.ndarray

    @classmethod
    def none(cls, duration: float, progress: np.ndarray, status: np.ndarray, actuators: int) -> FastestMotion:
        """No motion, with a duration that says why: infinite where there is none, NaN where none was computed."""
        line, table = np.full(len(progress), np.nan), np.full((len(progress), actuators), np.nan)
        return cls(duration, progress, line, line.copy(), table, table.copy(), status, table.copy(), table.copy())
