"""Work of a block: its outputs by the source of its motion, then the quantities that follow from all outputs.

Bodies that few sweeps need are loaded where a block asks for them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robots.quantities import names
from tasks.blocks.assembly import computed_together
from tasks.blocks.block import Block
from tasks.blocks.ended import by_grid, joined, with_ended
from tasks.blocks.pool import Arrays
from tasks.blocks.user_metrics import MetricWarning, with_own
from tasks.kernels.advance import span

FIRST_SHARE = 0.05
"""Share of the time of a block that its outputs take where derivatives or metrics of paths follow."""


def computed(block: Block) -> Arrays:
    """Compute all outputs of a block's tasks, strip by strip, in the dims of the dataset.

    User metrics are not included.
    """
    if block.simulation is not None:
        from tasks.blocks.simulated import simulated  # with all that moves in time, which few sweeps need

        return simulated(block)
    return computed_together([block])[0]


def completed(block: Block, arrays: Arrays) -> tuple[Arrays, tuple[MetricWarning, ...]]:
    """Return the arrays that a block stores: its computed arrays, with metrics of paths and derivatives.

    They include user metrics; the second result are the warnings of these metrics.
    """
    arrays = arrays | _of_paths(block)
    if block.derivatives is not None:
        from tasks.blocks.derived_quantities import derivative_arrays  # with differentiation, which few sweeps need

        arrays = arrays | derivative_arrays(block, lambda moved: computed(moved) | _of_paths(moved))
    stored, warnings = with_own(block, arrays)
    return with_ended(block, stored), warnings


def _of_paths(block: Block) -> Arrays:
    """Return the metrics of paths that a block asks for."""
    if not {*names("path")} & {*block.metrics}:
        return {}
    from tasks.blocks.cycles import cycle_metrics  # with all that moves along paths, which few sweeps need

    return cycle_metrics(block)


def first_share(block: Block) -> float:
    """Return the share of the time of a block that its outputs take, about; the rest follows from them."""
    more = block.derivatives is not None or {*names("path")} & {*block.metrics}
    return FIRST_SHARE if more else 1.0


def stored(block: Block) -> tuple[Arrays, tuple[MetricWarning, ...]]:
    """Compute the arrays that a block stores, in the dims of the dataset, and the warnings of user metrics."""
    with span(0.0, first_share(block)):
        arrays = computed(block)
    with span(first_share(block), 1.0):
        return completed(block, arrays)


def whole(block: Block) -> Arrays:
    """Compute the variables that a block stores, in the dims of the dataset; trajectories may have different times."""
    return _whole(block)[0]


def _whole(block: Block) -> tuple[Arrays, tuple[MetricWarning, ...]]:
    """Compute the variables that a block stores, and the warnings of user metrics."""
    blocks = by_grid(block)
    parts = [stored(part) for part in blocks]
    warnings = (row.moved((0, 0, number)) for number, (_, rows) in enumerate(parts) for row in rows)
    return joined(blocks, [arrays for arrays, _ in parts]), tuple(warnings)


def computed_if_alike(blocks: Sequence[Block], count: int) -> list[Arrays] | None:
    """Compute blocks together that differ in designs alone.

    Return None where others are among them, or where that fails.
    """
    if not 1 < len(blocks) == count or any(not _alike(blocks[0], block) for block in blocks):
        return None
    try:
        return computed_together(blocks)
    except Exception:  # of one of them: computed alone, each raises its own error
        return None


def whole_blocks(blocks: Sequence[Block]) -> list[tuple[Arrays, tuple[MetricWarning, ...]]]:
    """Compute the variables that blocks store, together where the blocks are alike, and warnings of user metrics."""
    computed = computed_if_alike(blocks, len(blocks))
    if computed is None:
        return [_whole(block) for block in blocks]
    return [completed(block, arrays) for block, arrays in zip(blocks, computed, strict=True)]


def _alike(one: Block, other: Block) -> bool:
    """Return whether two blocks of a plan differ in their designs alone."""
    wanted = [(block.series, block.metrics, [t.name for t in block.trajectories]) for block in (one, other)]
    return wanted[0] == wanted[1] and np.array_equal(one.friction, other.friction)
