"""The constant-velocity friction test as trajectories of a sweep.

`{kind: friction_test, joint: NAME, speeds: [...]}` stands for two trajectories at each speed, forward and reverse
through the same positions, while all other joints are locked; `applications.identification.friction_curve` has the
curve that they give. Source: joint-friction paper, section 3.3.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from pipeline.documents.document import KeyPath
from pipeline.documents.report import Report
from pipeline.sweep.trajectories.values import Mover
from robots.parameters import LARGEST
from robots.trajectories.trajectory import Trajectory

KIND = "friction_test"
KEYS = ("kind", "joint", "speeds", "at")
MAX_SPEEDS = 1000


def trajectories(
    report: Report, name: str, section: Mapping[str, Any], path: KeyPath, mover: Mover
) -> Iterator[Trajectory]:
    """Yield the pairs of one test, each over the whole time of the sweep; problems go to `report`.

    `at` (joint,) are the positions of the locked joints and the middle of the way of the one that moves [rad or m].
    """
    joints = mover.joints
    report.require_known_keys(path, section, KEYS)
    joint, at = section.get("joint"), section.get("at", [0.0] * len(joints))
    speeds: Any = section.get("speeds")
    before = len(report.problems)
    place = (*path, "joint") if "joint" in section else path
    report.require_known(place, joint, joints, "an independent joint of the robot")
    if not _numbers(speeds) or not 0 < len(speeds) <= MAX_SPEEDS or min(speeds) <= 0:
        rule = f"a list of numbers above zero, {MAX_SPEEDS} at most, each of at most {LARGEST:g} in size"
        report((*path, "speeds") if "speeds" in section else path, speeds, rule)
    elif len({*speeds}) < len(speeds):
        report((*path, "speeds"), speeds, "speeds that differ", "Equal ones are one and the same test.")
    if not _numbers(at) or len(at) != len(joints):
        report((*path, "at"), at, f"a list of {len(joints)} numbers, one for each independent joint")
    if len(report.problems) > before:
        return
    moving = np.array([name == joint for name in joints], dtype=float)
    for number, speed in enumerate(speeds):
        for direction, sign in (("forward", 1.0), ("reverse", -1.0)):
            rate = sign * float(speed) * moving
            start = np.array(at, dtype=float) - rate * (0.5 * mover.duration)
            values = {"start": tuple(map(float, start)), "velocity": tuple(map(float, rate))}
            yield Trajectory("constant_velocity", values, name=f"{name}_{direction}_{number}")


def _numbers(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(x, int | float) and not isinstance(x, bool) and abs(x) <= LARGEST for x in value
    )
