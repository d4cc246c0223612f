"""The bodies of the Dask tasks of one block: each limb, the assembly with the platform, the reactions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from robots.quantities import names
from tasks.blocks import measured
from tasks.blocks.assembly import Assembled, Assembly
from tasks.blocks.block import Block, motions
from tasks.blocks.limb_results import limb_arrays, sharing
from tasks.blocks.motions import Motions
from tasks.blocks.pool import Arrays
from tasks.blocks.reactions import reactions
from tasks.blocks.series import gathered, platform_series
from tasks.blocks.user_metrics import MetricWarning, with_own

__all__ = [
    "assembled",
    "completed",
    "computed",
    "computed_together",
    "gathered",
    "limb",
    "motions",
    "reactions",
    "whole",
]


def limb(block: Block, root: Motions, index: int) -> Arrays:
    """Inverse kinematics and dynamics of limb `index` for all designs and trajectories of a block."""
    return limb_arrays(block, root, index)


def assembled(block: Block, root: Motions, limbs: Sequence[Arrays]) -> Assembled:
    """Forces, friction, metrics and limb results: everything but reactions."""
    return _assembled(block, root, limbs)


def _assembled(block: Block, root: Motions, limbs: Sequence[Arrays] | None) -> Assembled:
    assembled = Assembly(block, root, limbs).run()
    arrays = assembled.arrays | platform_series(
        block.family.reference.platform, len(block.times), root.motion, block.series
    )
    if block.measurement is not None:
        arrays |= measured.series(block.measurement, block.series, block.times, arrays)
    return Assembled({name: array for name, array in arrays.items() if name in block.variables}, assembled.loads)


def computed(block: Block) -> Arrays:
    """Compute all outputs of a block's tasks, strip by strip, in the dims of the dataset.

    Metrics of a user's own are not included.
    """
    if block.simulation is not None:
        from tasks.blocks.simulated import simulated  # with all that moves in time, which few sweeps need

        return simulated(block)
    return computed_together([block])[0]


def computed_together(blocks: Sequence[Block]) -> list[Arrays]:
    """Compute blocks that are equal but for their designs.

    The results of each block have the same bits as if it were computed alone.

    Designs whose limbs and platform are equal follow each other meanwhile, at whatever place they stand, so that
    these are computed once: in a grid with the payload as its first key they are far apart.
    """
    whole = _joined(blocks)
    # what sensors make of a design depends on its place
    order = np.arange(whole.designs) if whole.measurement is not None else sharing(whole)
    if (np.diff(order) == 1).all():  # equal ones stand together
        arrays = _in_order(whole)
    else:
        arrays, back = _in_order(_taken(whole, order)), np.argsort(order)
        for name, axis in _design_axes(whole, arrays).items():
            arrays[name] = np.take(arrays[name], back, axis=axis)
    if len(blocks) == 1:
        return [arrays]
    ends = np.cumsum([block.designs for block in blocks])[:-1]
    axes = _design_axes(whole, arrays)
    parts = {name: np.split(array, ends, axis=axes[name]) for name, array in arrays.items() if name in axes}
    alike = {name: array for name, array in arrays.items() if name not in axes}
    return [{name: np.ascontiguousarray(part[k]) for name, part in parts.items()} | alike for k in range(len(blocks))]


def _joined(blocks: Sequence[Block]) -> Block:
    """One block with the designs of several."""
    first = blocks[0]
    if len(blocks) == 1:
        return first
    gravities = [block.gravities for block in blocks if block.gravities is not None]
    return replace(
        first,
        parameters=np.concatenate([block.parameters for block in blocks]),
        gravities=np.concatenate(gravities) if gravities else None,
    )


def _taken(block: Block, order: NDArray[np.intp]) -> Block:
    """Return a block with its designs in another order."""
    gravities = None if block.gravities is None else block.gravities[order]
    return replace(block, parameters=block.parameters[order], gravities=gravities)


def _design_axes(block: Block, arrays: Arrays) -> dict[str, int]:
    """Return the axis of designs of each array that has one."""
    dims = {name: block.dims(name) for name in arrays}
    return {name: axes.index("design") for name, axes in dims.items() if "design" in axes}


def _in_order(block: Block) -> Arrays:
    """Compute a block, with its designs in the given order."""
    root = motions(block)
    assembled = _assembled(block, root, None)
    limbs = range(len(block.family.reference.instances)) if assembled.loads else ()
    return assembled.arrays | gathered([reactions(block, root, assembled.loads, k) for k in limbs])


def completed(block: Block, arrays: Arrays) -> tuple[Arrays, tuple[MetricWarning, ...]]:
    """Return the arrays that a block stores, from those that it has computed, with metrics of paths and derivatives.

    Those of a user's metrics are among them, and beside them what these could not do.
    """
    if {*names("path")} & {*block.metrics}:
        from tasks.blocks.cycles import cycle_metrics  # with all that moves along paths, which few sweeps need

        arrays = arrays | cycle_metrics(block)
    if block.derivatives is not None:
        from tasks.blocks.derived_quantities import derivative_arrays  # with differentiation, which few sweeps need

        arrays = arrays | derivative_arrays(block, computed)
    return with_own(block, arrays)


def stored(block: Block) -> tuple[Arrays, tuple[MetricWarning, ...]]:
    """Compute what a block stores, in the dims of the dataset, and what metrics of a user could not do."""
    return completed(block, computed(block))


def whole(block: Block) -> Arrays:
    """Compute the variables that a block stores, in the dims of the dataset."""
    return stored(block)[0]


def computed_if_alike(blocks: Sequence[Block], count: int) -> list[Arrays] | None:
    """Compute blocks together that differ in designs alone.

    Return None where others are among them, or where that fails.
    """
    if not 1 < len(blocks) == count or any(not _alike(blocks[0], block) for block in blocks):
        return None
    try:
        return computed_together(blocks)
    except Exception:  # of one of them: each says by itself what is wrong
        return None


def whole_blocks(blocks: Sequence[Block]) -> list[Arrays]:
    """Compute the variables that blocks store, together where the blocks are alike."""
    computed = computed_if_alike(blocks, len(blocks))
    if computed is None:
        return [whole(block) for block in blocks]
    return [completed(block, arrays)[0] for block, arrays in zip(blocks, computed, strict=True)]


def _alike(one: Block, other: Block) -> bool:
    """Return whether two blocks of a plan differ in nothing but their designs."""
    wanted = [(block.series, block.metrics, [t.name for t in block.trajectories]) for block in (one, other)]
    return wanted[0] == wanted[1] and np.array_equal(one.friction, other.friction)
