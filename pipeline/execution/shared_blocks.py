"""Blocks that share limbs: how many a task computes, and in which order.

Limbs do not depend on a payload, so designs that differ in it alone share the results of limbs. In a grid whose last
key is the payload they follow each other in a block; where it is the first key they lie in different blocks. The order
of designs in a store is that of the file, so one task takes several blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from pipeline.execution.blocks import block_of, designs_of
from pipeline.plan.model import BLOCK_MEMORY, Plan
from pipeline.sweep.axes.derived import Derived
from pipeline.sweep.axes.kinds import Axis, Grid, Product
from robots.data_classes import dataclass, replace
from tasks.blocks.designs import BlockDesigns
from tasks.blocks.limb_results import shares_limbs

LITTLE = 1.0
"""Seconds of one core up to which nothing is gained: to see what limbs depend on takes a tenth of a second."""
TRIED = 3
"""Values of a key that are looked at to see whether limbs depend on it: where it is wrong, work is done twice."""
SECONDS = 60.0
"""Largest expected time of the blocks of a task [s], one by one on one core. Their time limit is that of one block."""
WORTH = 0.2
"""Limbs that differ within a block, as a share of its designs, below which there is nothing to gain by other blocks."""


@dataclass(frozen=True)
class SharedBlocks:
    """Number of blocks that a task computes, and number of designs after which limbs repeat (0: never)."""

    plan: Plan
    count: int = 1
    period: int = 0

    def order(self, blocks: Iterable[int]) -> Iterable[int]:
        """Return the blocks in the order of computation: blocks that share limbs follow each other."""
        return sorted(blocks, key=self._place) if self.count > 1 else blocks

    def _place(self, block: int) -> tuple[int, ...]:
        design, *others = self.plan.layout.grid.unravel(block)
        start = design * self.plan.layout.block["design"]
        return (*others, start % self.period, start)

    def groups(self, blocks: Iterable[int]) -> Iterator[tuple[int, ...]]:
        """Yield the blocks of each task, in their order."""
        waiting: list[int] = []
        for block in self.order(blocks):
            waiting.append(block)
            if len(waiting) == self.count:
                yield tuple(waiting)
                waiting = []
        if waiting:
            yield tuple(waiting)


def together(plan: Plan, threads: int = 1) -> SharedBlocks:
    """Group the blocks of a plan that share limbs: blocks that differ in leading grid keys that limbs do not depend on.

    At least as many tasks as threads remain, if the blocks suffice.
    """
    axis, size = plan.sweep.design, plan.layout.sizes["design"]
    while isinstance(axis, Derived):
        axis = axis.base
    blocks = plan.layout.grid.counts[plan.layout.grid.split.index("design")]
    is_little = plan.work.computing < LITTLE
    if is_little or blocks < 2 or plan.sweep.simulation is not None or plan.sweep.measurement:
        return SharedBlocks(plan)
    period = size
    for length in _lengths(axis):
        stride = period // length
        places = np.unique(np.linspace(0, length - 1, TRIED).astype(int)) * stride
        if length > 1 and not _same_limbs(plan, places.tolist()):
            break
        period = stride
    lasting = int(SECONDS * plan.blocks / max(plan.work.computing, SECONDS / blocks))
    room = min(BLOCK_MEMORY, plan.room)
    count = min(size // period, blocks, lasting, room // plan.task_memory, plan.blocks // max(1, threads))
    is_worth_it = count > 1 and period > WORTH * plan.layout.block["design"]
    return SharedBlocks(plan, count, period) if is_worth_it else SharedBlocks(plan)


def _lengths(axis: Axis) -> Iterator[int]:
    """Yield the lengths of the keys of a grid and of other sets, slowest first; none if conditions omit sets."""
    if isinstance(axis, Grid):
        yield from (column.size for column in axis.columns)
    elif isinstance(axis, Product):
        for part in axis.parts:
            yield from _lengths(part) if isinstance(part, Grid) else (part.size,)


def _same_limbs(plan: Plan, designs: list[int]) -> bool:
    """Return whether limbs are the same for all given designs."""
    chosen = BlockDesigns.joined([designs_of(plan, slice(k, k + 1)) for k in designs])
    return shares_limbs(replace(block_of(plan, 0), designs=chosen))
