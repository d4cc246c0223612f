"""Arms of links: straight lines between joints of a link, along which it is a beam, and around which it is a capsule.

A link with two joints is one arm. One with more is a star: its arms meet at the joint whose distances to the others
have the least sum, at the reference pose of the reference design, so that a bar with a joint in its middle has two
arms.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from robots.model import Family
from tasks.kernels.expression import Array
from tasks.mechanics.kinematics import HOME
from tasks.mechanics.loops import Tips
from tasks.mechanics.solving import mounted_limb
from tasks.mechanics.structure import mount_values, structure_of, with_parameters

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


@functools.cache
def arms(family: Family, limb_index: int) -> tuple[Arm, ...]:
    """The arms of all links of a limb."""
    structure = structure_of(family)
    values = {p.name: p.scalar for p in family.parameters}
    number = next(k for k, each in enumerate(structure.mechanism.instances) if each.limb == limb_index)
    mount = mount_values(family, values)[number][0]
    still = np.zeros(structure.motion_size)
    mounted, home, *_ = mounted_limb(structure, limb_index, with_parameters(family, values)[0], mount, still)
    tips = mounted.tips([HOME] * len(mounted.limb.links), home)
    return tuple(arm for link in range(len(mounted.limb.links)) for arm in _of_link(tips, link))


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
