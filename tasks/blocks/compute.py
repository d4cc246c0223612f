"""The bodies of the Dask tasks of one block: each limb, the assembly with the platform, the reactions."""

from __future__ import annotations

from collections.abc import Sequence

from tasks.blocks import sensors
from tasks.blocks.assembly import Assembled, Assembly
from tasks.blocks.block import Arrays, Block
from tasks.blocks.commanded import Motions, motions, platform_series
from tasks.blocks.reactions import gathered, reactions
from tasks.blocks.shares import limb_arrays
from tasks.blocks.user_metrics import completed

__all__ = ["assembled", "completed", "computed", "gathered", "limb", "motions", "reactions", "whole"]


def limb(block: Block, root: Motions, index: int) -> Arrays:
    """Inverse kinematics and dynamics of limb `index` for all designs and trajectories of a block."""
    return limb_arrays(block, root, index)


def assembled(block: Block, root: Motions, limbs: Sequence[Arrays]) -> Assembled:
    """Forces, friction, metrics, and what limbs have computed: everything but reactions."""
    return _assembled(block, root, limbs)


def _assembled(block: Block, root: Motions, limbs: Sequence[Arrays] | None) -> Assembled:
    assembled = Assembly(block, root, limbs).run()
    arrays = assembled.arrays | platform_series(block, root)
    if block.measurement is not None:
        arrays |= sensors.series(block.measurement, block.series, block.times, arrays)
    return Assembled({name: array for name, array in arrays.items() if name in block.variables}, assembled.loads)


def computed(block: Block) -> Arrays:
    """What the tasks of a block compute, strip by strip, in the dims of the dataset; no metrics of a user's own."""
    if block.simulation is not None:
        from tasks.blocks.simulated import simulated  # with all that moves in time, which few sweeps need

        return simulated(block)
    root = motions(block)
    assembled = _assembled(block, root, None)
    limbs = range(len(block.family.reference.instances)) if block.request.reactions else ()
    return assembled.arrays | gathered([reactions(block, root, assembled.loads, k) for k in limbs])


def whole(block: Block) -> Arrays:
    """All variables that a block stores, in the dims of the dataset."""
    return completed(block, computed(block))[0]
