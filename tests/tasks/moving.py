"""Random motions of any parallel robot near its reference pose, for tests of whole robots."""

from __future__ import annotations

from typing import Any

import numpy as np

from robots.model import Robot
from robots.types import TWIST
from tasks.mathematics.rotations import roll_pitch_yaw


def motion(robot: Robot, count: int, seed: int = 0, time: Any = 0.0, reach: float = 0.05) -> dict[str, np.ndarray]:
    """Keyword arguments for `count` states of random smooth motions, at `time` from each state.

    Quadratic in time in position and in roll, pitch, yaw, so that differences in time check derivatives.
    """
    random, platform = np.random.default_rng(seed), robot.mechanism.platform
    free = np.array([name in platform.mobility for name in TWIST])
    home, size = np.array(platform.home.position), max(float(np.linalg.norm(platform.home.position)), 0.1)
    angles, rates, changes = random.normal(size=(3, count, 3)) * np.array([0.1, 1.0, 5.0])[:, None, None] * free[:3]
    away = random.uniform(-reach, reach, (count, 3)) * size * free[3:]
    velocity, acceleration = random.normal(size=(2, count, 3)) * np.array([1.0, 5.0])[:, None, None] * free[3:]
    turning = roll_pitch_yaw(
        angles + rates * time + 0.5 * changes * time**2, rates + changes * time, np.broadcast_to(changes, rates.shape)
    )
    return {
        "position": home + away + velocity * time + 0.5 * acceleration * time**2,
        "rotation": turning.rotation @ np.array(platform.home.rotation),
        "twist": np.concatenate([turning.omega, velocity + acceleration * time], axis=-1),
        "acceleration": np.concatenate([turning.alpha, acceleration], axis=-1),
    }
