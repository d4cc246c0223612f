"""The root of a block's graph: the motion of its trajectories, the same for all designs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from robots.motions import WORKSPACE
from tasks import programs
from tasks.blocks import trajectories
from tasks.blocks.block import Arrays, Block, Trajectory, time_first


@dataclass(frozen=True)
class Motions:
    """The root of a block's graph: motion inputs (trajectory, component, padded time), the same for all designs."""

    motion: np.ndarray


def motions(block: Block) -> Motions:
    """Evaluate the trajectories of a block."""
    made = programs.structure(block.family)
    joints = made.freedoms if made.mechanism.is_chain else 0
    rows = []
    for each in block.trajectories:
        moved = trajectories.motion(each.kind, each.values, block.times, each.points, joints)
        if not joints:
            moved[:3] += np.reshape(block.origin, (3, 1))
            moved = trajectories.motion_vector(moved, made.motion_size)
        rows.append(moved)
    return Motions(np.stack(rows))


def volume_of(trajectory: Trajectory) -> float:
    """Product of the edges along which a workspace has several points [m^3, or m^2 in a plane]; NaN for a motion."""
    if trajectory.kind != WORKSPACE:
        return math.nan
    edges = zip(trajectory.values["size"], trajectory.values["counts"], strict=True)
    return math.prod(float(length) for length, count in edges if count > 1)


def platform_series(block: Block, root: Motions) -> Arrays:
    """The platform's motion in the dims of the dataset, for those of `block.series` that are of the platform."""
    t, motion = len(block.times), root.motion
    out: Arrays = {}
    small = motion.shape[1] == 9
    if "platform_position" in block.series:
        out["platform_position"] = np.ascontiguousarray(time_first(motion[:, :3], t))
    for name, rows, full in (
        ("platform_twist", slice(3, 6), slice(12, 18)),
        ("platform_acceleration", slice(6, 9), slice(18, 24)),
    ):
        if name in block.series:
            out[name] = np.zeros((len(motion), t, 6))
            if small:
                out[name][..., 3:] = time_first(motion[:, rows], t)
            else:
                out[name][...] = time_first(motion[:, full], t)
    return out
