"""The bodies of the Dask tasks of one block: each limb, the assembly with the platform, the reactions."""

from __future__ import annotations

from collections.abc import Sequence

from tasks.blocks import sensors
from tasks.blocks.assembly import Assembled, Assembly
from tasks.blocks.block import Arrays, Block
from tasks.blocks.commanded import Motions, motions, platform_series
from tasks.blocks.reactions import gathered, reactions
from tasks.blocks.shares import Kept, Share, limb_part
from tasks.blocks.user_metrics import completed

__all__ = ["assembled", "completed", "computed", "gathered", "limb", "motions", "reactions", "whole"]


def limb(block: Block, root: Motions, index: int) -> Arrays:
    """Inverse kinematics and dynamics of limb `index` for all designs and trajectories of a block."""
    return limb_part(block, index).all(block, root)


def assembled(block: Block, root: Motions, limbs: Sequence[Arrays]) -> Assembled:
    """Forces, friction, metrics, and what limbs have computed: everything but reactions."""
    return _assembled(block, root, [Kept(each) for each in limbs])


def _assembled(block: Block, root: Motions, limbs: Sequence[Share] | None) -> Assembled:
    made = Assembly(block.with_clean, root, limbs).run()
    arrays = made.arrays | platform_series(block, root)
    if block.measurement is not None:
        arrays |= sensors.series(block.measurement, block.series, block.times, arrays)
    return Assembled({name: each for name, each in arrays.items() if name in block.variables}, made.loads)


def computed(block: Block) -> Arrays:
    """What the tasks of a block compute, strip by strip, in the dims of the dataset; no metrics of a user's own."""
    root = motions(block)
    made = _assembled(block, root, None)
    limbs = range(len(block.family.reference.instances)) if block.reactions else ()
    return made.arrays | gathered([reactions(block, root, made.loads, k) for k in limbs])


def whole(block: Block) -> Arrays:
    """All variables that a block stores, in the dims of the dataset."""
    return completed(block, computed(block))[0]
