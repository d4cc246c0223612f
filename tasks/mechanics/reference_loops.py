"""Loops of a closed chain that are rigid, or have lost rank at its reference pose, where samples have no numbers."""

from __future__ import annotations

from collections.abc import Iterator

from robots.data_classes import dataclass
from robots.model import Family, Frame
from tasks.mechanics.chain import Chain, loop_size
from tasks.mechanics.families import structure_of
from tasks.mechanics.kinematics import HOME, mount_pose
from tasks.mechanics.matrices import is_flat
from tasks.mechanics.tolerances import LOOP_SINGULAR


@dataclass(frozen=True)
class StuckLoop:
    """Joints of loops that share them, and whether their conditions leave none of them free; else they are singular."""

    joints: tuple[str, ...]
    is_rigid: bool


def stuck_loops(family: Family) -> Iterator[StuckLoop]:
    """Yield the loops of a closed chain that are rigid, or singular at its reference pose, for default parameters."""
    mechanism = family.reference
    if not mechanism.is_chain or not mechanism.limbs[0].loops:
        return
    seat = mount_pose(Frame())
    chain = Chain(mechanism.limbs[0], structure_of(family).choices[0], seat, seat, ())
    tips = chain.tips([HOME] * len(chain.limb.links))
    size, names = loop_size(tips), [link.joint for link in chain.limb.links]
    for cluster in tips.embedding.clusters:
        if set(cluster.joints) <= set(cluster.choice.dependent):
            yield StuckLoop(tuple(names[k] for k in cluster.joints), True)
            continue
        for block in cluster.regular_blocks:
            if is_flat(block, float(LOOP_SINGULAR), size):
                yield StuckLoop(tuple(names[k] for k in block.joints), False)
