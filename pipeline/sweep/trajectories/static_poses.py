"""The gravity test as trajectories of a sweep: random poses that are held, so that weight alone causes the forces.

`{kind: gravity_test, count: 30, seed: 1, position: 0.2, turn: {position: 0.1}}` stands for `count` trajectories, each
at rest for the whole time of the sweep. Keys as in `pipeline.sweep.trajectories.random_fourier`, without those of
motion.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from pipeline.documents.document import KeyPath
from pipeline.documents.report import Report
from pipeline.sweep.trajectories import random_fourier
from pipeline.sweep.trajectories.random_fourier import AXES
from pipeline.sweep.trajectories.values import Mover
from robots.trajectories.kinds import Turn
from robots.trajectories.trajectory import Trajectory

KIND = "gravity_test"


def trajectories(
    report: Report, name: str, section: Mapping[str, Any], path: KeyPath, mover: Mover
) -> Iterator[Trajectory]:
    """Yield the poses of one entry, evenly spread within limits; problems go to `report`."""
    entry = random_fourier.read(report, section, path, mover, still=True)
    if entry is None:
        return
    for number in range(entry.count):
        random = np.random.default_rng(np.random.SeedSequence(entry.seed, spawn_key=(number,)))
        limits = entry.limits
        pose = limits.centre + random.uniform(-1.0, 1.0, len(limits.free)) * limits.most[0] * limits.free
        yield _held(f"{name}_{number}", tuple(pose.tolist()), entry, bool(mover.joints))


def _held(name: str, pose: tuple[float, ...], entry: random_fourier.Entry, chain: bool) -> Trajectory:
    if chain:
        return Trajectory("constant_velocity", {"start": pose, "velocity": 0.0}, name=name)
    position, angles = pose[:AXES], pose[AXES:]
    turn = None
    if entry.orientation is not None:
        turn = Turn("quintic", {"start": angles, "end": angles, "duration": 1.0}, entry.orientation)
    return Trajectory("quintic", {"start": position, "end": position, "duration": 1.0}, turn=turn, name=name)
