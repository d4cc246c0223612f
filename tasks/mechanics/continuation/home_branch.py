"""Whether joints are on the branch of the reference pose, as far as their states alone can tell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robots.model import Limb
from tasks.kernels.expression import Dual
from tasks.kernels.types import Mask, Scalar
from tasks.mathematics.algebra import array, cross, dot, every, opposite, sqrt, where
from tasks.mechanics.embedding import Tips
from tasks.mechanics.kinematics import JointState, path

FAR_COSINE = 0.0  # of the angle of a joint, above which no other branch is looked for
FAR_SHARE = 0.6  # the same of a slide, relative to the least lever of the tips about joints before it
LEAST_VOLUME = Dual(1e-5, 1e-3)  # of the columns of L_t, relative to a box: nearer to a singularity nothing is found


def near_home(limb: Limb, start: Tips, size: Scalar, states: Sequence[JointState]) -> Mask:
    """Whether all joints are so near to the reference pose that Newton steps cannot have passed to another branch."""
    near: list[Mask] = []
    for i, (link, state) in enumerate(zip(limb.links, states, strict=True)):
        if link.joint_kind.periodic:
            near.append(state.cos > FAR_COSINE)
        elif not link.joint_kind.turns:
            near.append(abs(state.value) < FAR_SHARE * lever(limb, start, size, i))
    return every(near)


def loops_kept(tips: Tips, start: Tips) -> list[Mask]:
    """Whether each cluster of loops is assembled as at the reference pose."""
    clusters = zip(tips.embedding.clusters, start.embedding.clusters, strict=True)
    return [opposite(now.determinant * before.determinant < 0.0) for now, before in clusters]


def lever(limb: Limb, start: Tips, size: Scalar, slide: int) -> Scalar:
    """Least distance at the reference pose, from the axes before a joint that slides, of the tips beyond it [m].

    Where a leg has shrunk to nothing it may come out on the other side.
    """
    least: Scalar = np.inf
    for tip, joined in zip(limb.tips, start.joined, strict=True):
        joints = path(limb.links, tip.a)
        before = joints[: joints.index(slide)] if slide in joints else ()
        for i in before:
            if limb.links[i].joint_kind.turns:
                arm = cross(start.at[i].rotation @ array(limb.links[i].axis), joined.a.origin - start.at[i].position)
                reach = sqrt(dot(arm, arm))
                least = where(every([reach > 1e-3 * size, reach < least]), reach, least)
    return least


def regular(tips: Tips) -> Mask:
    """Whether the limb is far enough from a singularity for joints to follow from residuals that are small."""
    box: Scalar = LEAST_VOLUME * LEAST_VOLUME
    for column in tips.compound.T:
        box = box * sum(x * x for x in column)
    return tips.determinant * tips.determinant > box
