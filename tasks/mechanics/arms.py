"""Arms of links: straight lines between joints of a link, along which it is a beam, and around which it is a capsule.

A link with two joints is one arm. One with more is a star: its arms meet at the joint whose distances to the others
have the least sum, at the reference pose of the reference design, so that a bar with a joint in its middle has two
arms.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from robots.data_classes import dataclass
from tasks.kernels.expression import Array
from tasks.mechanics.loops import Tips

TIE = 1e-9
"""Relative difference of distances up to which the joint that is first in `Limb.joints` is taken."""


@dataclass(frozen=True)
class Arm:
    """A line of link number `link`, from the joint `hub` to the joint `end`, by their numbers in `Limb.joints`."""

    link: int
    hub: int
    end: int


def joint_point(tips: Tips, joint: int) -> Array:
    """Return the reference point of a joint's wrench, in the axes of the limb's mount frame."""
    tree = len(tips.limb.links)
    return tips.at[joint].position if joint < tree else tips.cut_joints[joint - tree].point


def _of_link(tips: Tips, link: int) -> Iterator[Arm]:
    limb = tips.limb
    tree = len(limb.links)
    ends = [link, *(i for i, each in enumerate(limb.links) if each.parent == link)]
    ends += [tree + i for i, cut in enumerate(limb.cuts) if link in (cut.a, cut.b)]
    points = np.array([joint_point(tips, joint) for joint in ends], dtype=float)
    total = np.linalg.norm(points[:, None] - points[None], axis=-1).sum(axis=1)
    nearest = next(k for k, length in enumerate(total) if length <= total.min() * (1.0 + TIE))
    for k, joint in enumerate(ends):
        if k != nearest:
            yield Arm(link, ends[nearest], joint)
