"""The mechanism of a case along its trajectories, as frames of points: what a view in three dimensions draws.

A frame is what `pipeline.picture.sketch` says of the mechanism at the joint positions of one time. The force in each
joint stands at the point where the joint is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.picture import LimbSketch, sketch
from pipeline.report.case import Case

Array = NDArray[np.float64]

MOST_FRAMES = 101
ARROW = 0.3
"""Length of the arrow of the largest force, relative to the size of the mechanism."""


@dataclass(frozen=True, eq=False)
class Motion:
    """Frames of one trajectory; NaN where a sample failed.

    times (frame,) [s]; limbs: for each limb (frame, 3 n, 3) [m], start, end and a gap of every line; platform
    (frame, corner, 3) [m], a closed outline, or none; joints (frame, joint, 3) [m] of all limbs; force [N] and moment
    [N m], both (frame, joint, 3), in each of them.
    """

    name: str
    times: Array
    limbs: tuple[Array, ...]
    platform: Array
    joints: Array
    force: Array
    moment: Array


def joint_names(case: Case) -> list[str]:
    """Names of the joints in the order of `Motion.joints`."""
    mechanism = case.mechanism
    pairs = [(each.name, joint) for each in mechanism.instances for joint in mechanism.limbs[each.limb].joints]
    return [joint if mechanism.is_chain else f"{limb}.{joint}" for limb, joint in pairs]


def mounts(case: Case) -> Array:
    """Where the limbs stand on the base, (n, 3) [m]."""
    return np.concatenate([limb.mounts for limb in sketch(case.mechanism)])


def motions(case: Case) -> tuple[Motion, ...]:
    """The frames of every trajectory of a case, at most `MOST_FRAMES` each."""
    step = max(1, -(-(case.results.sizes["time"] - 1) // (MOST_FRAMES - 1)))
    return tuple(_motion(case, index, name, step) for index, name in enumerate(case.trajectories))


def _motion(case: Case, index: int, name: str, step: int) -> Motion:
    part = case.results.isel(trajectory=index, time=slice(None, None, step))
    frames = [sketch(case.mechanism, joints) for joints in part["joint_position"].values]
    wrench = _reactions(case, part["joint_reaction"].values)
    return Motion(
        name,
        part["time"].values,
        tuple(np.stack([_lines(frame[k]) for frame in frames]) for k in range(len(frames[0]))),
        np.stack([_outline(frame) for frame in frames]),
        np.stack([np.concatenate([_points(limb) for limb in frame]) for frame in frames]),
        wrench[..., 3:],
        wrench[..., :3],
    )


def _lines(limb: LimbSketch) -> Array:
    gaps = np.full((len(limb.lines), 1, 3), np.nan)
    return np.concatenate([limb.lines, gaps], axis=1).reshape(-1, 3)


def _points(limb: LimbSketch) -> Array:
    """All joints of a limb, as `Limb.joints` orders them: of the tree, at the platform, cut ones."""
    return np.concatenate([np.array([joint.point for joint in limb.joints]), limb.tips, limb.cuts])


def _outline(frame: tuple[LimbSketch, ...]) -> Array:
    tips = np.concatenate([limb.platform_tips for limb in frame])
    if len(tips) < 2 or not np.isfinite(tips).all():
        return np.full((len(tips) + 1, 3), np.nan) if len(tips) else np.zeros((0, 3))
    outline = tips[order_around(tips)]
    return np.concatenate([outline, outline[:1]])


def order_around(corners: Array) -> NDArray[np.int64]:
    """The order of points (n, 3) around their centre, in the plane that fits them best."""
    offsets = corners - corners.mean(axis=0)
    along, across = np.linalg.svd(offsets)[2][:2] @ offsets.T
    return np.argsort(np.arctan2(across, along))


def _reactions(case: Case, stored: Array) -> Array:
    """Wrenches (frame, joint, 6) of the joints of all limbs, in the order of `joint_names`."""
    mechanism = case.mechanism
    counts = [len(mechanism.limbs[each.limb].joints) for each in mechanism.instances]
    return np.concatenate([stored[:, k, :count] for k, count in enumerate(counts)], axis=1)


def scale(all_motions: tuple[Motion, ...]) -> tuple[float, float]:
    """The size of what moves [m], and the largest force in a joint [N]; zero where nothing is finite."""
    points = np.concatenate([each.joints.reshape(-1, 3) for each in all_motions])
    points = points[np.isfinite(points).all(axis=1)]
    force = max((float(f.max()) for each in all_motions if (f := _length(each.force)).size), default=0.0)
    return float(np.ptp(points, axis=0).max()) if len(points) else 0.0, force


def _length(vectors: Array) -> Array:
    lengths = np.linalg.norm(vectors, axis=-1)
    return lengths[np.isfinite(lengths)]
