"""Regions of states in which the robots of the catalogue are benchmarked, and random states in them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from robots.model import Robot
from robots.types import TWIST

ACCELERATION = 10.0
"""Size of the accelerations [m/s^2 and rad/s^2]; speeds are of size one."""


class Region(NamedTuple):
    """Half widths (3,) [m] around the reference position, and the largest turn about each axis [rad]."""

    half_widths: tuple[float, float, float]
    turn: float = 0.0


class JointRegion(NamedTuple):
    """Lowest and highest position of every independent joint of a chain [rad or m]."""

    low: float
    high: float


DELTA = Region((0.35, 0.35, 0.15))
HEXAPOD = Region((0.10, 0.10, 0.10), 0.5)
TURN = JointRegion(-math.pi, math.pi)
BOX = Region((0.15, 0.15, 0.15))
SMALL, NEAR = JointRegion(-0.1, 0.1), JointRegion(-0.3, 0.3)

REGIONS: Mapping[str, Region | JointRegion] = {
    "delta_3rr2rrr": DELTA,
    "delta_rl5_1450": DELTA,
    "delta_rl5_1450_motors": DELTA,
    "delta_4rr2rrr": DELTA,
    "delta_3r2us": DELTA,
    "irsbot2": Region((0.30, 0.0, 0.15)),
    "five_bar": Region((0.28, 0.0, 0.10)),
    "gough_stewart": Region((0.8, 0.8, 0.5), 0.4),
    "hexapod_6rrrprr": HEXAPOD,
    "hexapod_ball_screws": HEXAPOD,
    "planar_3r": TURN,
    "rover_rocker": TURN,
    "five_axis_tree": TURN,
    "three_loop_leg": JointRegion(-2.5, 1.5),
    "irb6": JointRegion(-0.7, 0.7),
    **dict.fromkeys(("linear_delta", "tripteron"), BOX),
    "orthoglide": Region((0.12, 0.12, 0.12)),  # corners of the box are beyond a singularity of the platform
    "planar_3rrr": Region((0.05, 0.05, 0.0), 0.1),
    "agile_eye": Region((0.0, 0.0, 0.0), 0.5),
    "hexa": Region((0.05, 0.05, 0.05), 0.3),
    "hexaglide": Region((0.1, 0.1, 0.1), 0.1),
    "schoenflies_4ruu": Region((0.02, 0.02, 0.1), 0.05),
    **dict.fromkeys(("h4", "par4"), SMALL),
    **dict.fromkeys(("coupled_3rps", "coupled_3prs", "tricept", "palletiser", "ankle"), NEAR),
    **dict.fromkeys(("scara", "six_bar", "ur5e", "panda", "iiwa14"), TURN),
}
"""Regions by name of the robot at its default parameters."""


def states(robot: Robot, count: int, seed: int = 3) -> dict[str, np.ndarray]:
    """Return random states in the robot's region, one a row, as keywords for the functions of `tasks`."""
    random, region, platform = np.random.default_rng(seed), REGIONS[robot.name], robot.mechanism.platform
    if isinstance(region, JointRegion):
        shape = (count, len(robot.mechanism.freedoms))
        rates, changes = random.normal(size=(2, *shape))
        return {"q": random.uniform(*region, shape), "qd": rates, "qdd": ACCELERATION * changes}
    position = np.array(platform.home.position) + random.uniform(-1, 1, (count, 3)) * region.half_widths
    free = np.array([name in platform.mobility for name in TWIST], dtype=float)
    turn = Rotation.from_rotvec(region.turn * random.uniform(-1, 1, (count, 3)) * free[:3]).as_matrix()
    twist, acceleration = random.normal(size=(2, count, 6)) * free
    return {
        "position": position,
        "rotation": turn @ np.array(platform.home.rotation),
        "twist": twist,
        "acceleration": ACCELERATION * acceleration,
    }
