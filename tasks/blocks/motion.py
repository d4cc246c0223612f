"""The root of a block's graph: the motion of its trajectories, the same for all designs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tasks import programs
from tasks.blocks import trajectories, turns
from tasks.blocks.block import Arrays, Block, time_first


@dataclass(frozen=True)
class Motions:
    """The root of a block's graph: motion inputs (trajectory, component, padded time), the same for all designs."""

    motion: np.ndarray


def motions(block: Block) -> Motions:
    """Evaluate the trajectories of a block."""
    made = programs.structure(block.family)
    joints, home = made.freedoms if made.mechanism.is_chain else 0, block.family.reference.platform.home.rotation
    rows = []
    for each in block.trajectories:
        moved = trajectories.motion(each.kind, each.values, block.times, each.points, joints)
        if not joints:
            moved[:3] += np.reshape(block.origin, (3, 1))
            turned = turns.turning(each.turn, home, block.times) if made.motion_size != 9 else None
            moved = trajectories.motion_vector(moved, made.motion_size, turned)
        rows.append(moved)
    return Motions(np.stack(rows))


def platform_series(block: Block, root: Motions) -> Arrays:
    """The platform's motion in the dims of the dataset, for those of `block.series` that are of the platform."""
    t, motion = len(block.times), root.motion
    out: Arrays = {}
    small = motion.shape[1] == 9
    if "platform_position" in block.series:
        out["platform_position"] = np.ascontiguousarray(time_first(motion[:, :3], t))
    if "platform_rotation" in block.series:
        home = np.array(block.family.reference.platform.home.rotation, dtype=float).reshape(1, 9, 1)
        rotation = np.repeat(np.repeat(home, len(motion), axis=0), t, axis=2) if small else motion[:, 3:12]
        out["platform_rotation"] = np.ascontiguousarray(time_first(rotation, t)).reshape(len(motion), t, 3, 3)
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
