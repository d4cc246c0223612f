"""Regions in which each parallel robot of the catalogue must work, and random motions there."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from robots.model import Robot
from robots.types import TWIST


class Region(NamedTuple):
    """Region of a robot: half widths (3,) [m] about the reference position, largest turn [rad]; mobility.

    All of it is on this side of the singularities of the platform (type 2).

    `freedoms` counts all motions of the assembled mechanism, that of a part that carries nothing included.
    """

    half_widths: tuple[float, float, float]
    turn: float
    freedoms: int


REGIONS = {
    "delta_3rr2rrr": Region((0.35, 0.35, 0.15), 0.0, 3),
    "delta_rl5_1450": Region((0.35, 0.35, 0.15), 0.0, 3),
    "delta_4rr2rrr": Region((0.35, 0.35, 0.15), 0.0, 3),
    "delta_3r2us": Region((0.35, 0.35, 0.15), 0.0, 3),
    "irsbot2": Region((0.30, 0.0, 0.15), 0.0, 2),
    "five_bar": Region((0.28, 0.0, 0.10), 0.0, 3),  # the platform is a point: its turn about the joints is free
    "gough_stewart": Region((0.8, 0.8, 0.5), 0.4, 6),
    "hexapod_6rrrprr": Region((0.10, 0.10, 0.10), 0.5, 6),
}


class States(NamedTuple):
    """Motions of a platform, one per row: twist and acceleration (n, 6) as (angular, linear)."""

    position: Any
    rotation: Any
    twist: Any
    acceleration: Any

    @property
    def at_rest(self) -> dict[str, Any]:
        """The poses alone, as keyword arguments."""
        return {"position": self.position, "rotation": self.rotation}

    @property
    def moving(self) -> dict[str, Any]:
        """Poses and twists, as keyword arguments."""
        return {**self.at_rest, "twist": self.twist}

    def at(self, time: float) -> dict[str, Any]:
        """The motion with these values at time zero, at another time."""
        turn, push = np.split(self.twist, 2, axis=1), np.split(self.acceleration, 2, axis=1)
        angle, way = (rate * time + change * (0.5 * time * time) for rate, change in zip(turn, push, strict=True))
        return {
            "position": self.position + way,
            "rotation": Rotation.from_rotvec(angle).as_matrix() @ self.rotation,
        }


def states(robot: Robot, count: int, seed: int = 3) -> States:
    """Random states in the region of a robot, speeds of 1 and accelerations of 10 in SI units."""
    random, region, platform = np.random.default_rng(seed), REGIONS[robot.name], robot.mechanism.platform
    position = np.array(platform.home.position) + random.uniform(-1, 1, (count, 3)) * region.half_widths
    turn = Rotation.from_rotvec(region.turn * random.uniform(-1, 1, (count, 3))).as_matrix()
    free = np.array([name in platform.mobility for name in TWIST], dtype=float)
    twist, acceleration = random.normal(size=(2, count, 6)) * free
    return States(position, turn @ np.array(platform.home.rotation), twist, 10.0 * acceleration)


def freedoms(robot: Robot) -> list[int]:
    """Places of the free components in the twist of a robot's platform."""
    return [TWIST.index(name) for name in robot.mechanism.platform.mobility]


def close(found: Any, expected: Any, share: float) -> None:
    """Every sample (n, ...) agrees to a share of its own largest component."""
    axes = tuple(range(1, np.ndim(expected)))
    size = np.abs(expected).max(axis=axes, keepdims=True)
    worst = (np.abs(found - expected) / size).max()
    assert worst < share, worst
