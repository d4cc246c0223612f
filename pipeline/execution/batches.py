"""Blocks that one task computes: one after another, or together because their designs share limbs.

Limbs do not depend on a payload, so designs that differ in it alone share what limbs compute. In a grid whose last key
is the payload they follow each other in a block; where it is the first key they lie in different blocks. The order of
designs in a store is that of the file, so it is the task that takes several blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pipeline.errors import TaskError
from pipeline.execution.executor import KeyedGraph
from pipeline.execution.graph import MORE_TO_DO, Writer, block_of, guarded_task, job_graph, whole_block, written
from pipeline.execution.user_warnings import ReceiptWithWarnings
from pipeline.plan.model import BLOCK_MEMORY, Plan
from pipeline.sweep.axes.derived import Derived
from pipeline.sweep.axes.kinds import Axis, Grid, Product
from storage.errors import StoreError
from storage.ledger import Receipt
from tasks.blocks import compute
from tasks.blocks.block import Arrays, Block
from tasks.blocks.shares import shares_limbs

TRIED = 3
"""Values of a key that are looked at to see whether limbs depend on it: where it is wrong, work is done twice."""

SECONDS = 60.0
"""What the blocks of a task are expected to take at most, on one core and each by itself: they have the time of one."""

WORTH = 0.2
"""Limbs that differ within a block, as a share of its designs, below which there is nothing to gain by other blocks."""


@dataclass(frozen=True)
class SharedBlocks:
    """How many blocks a task computes, and after how many designs limbs come again (0: never)."""

    plan: Plan
    count: int = 1
    period: int = 0

    def order(self, blocks: Iterable[int]) -> Iterable[int]:
        """Blocks in the order in which they are computed: those that share limbs follow each other."""
        return sorted(blocks, key=self._place) if self.count > 1 else blocks

    def _place(self, block: int) -> tuple[int, ...]:
        design, *others = self.plan.layout.unravel(block)
        start = design * self.plan.layout.block["design"]
        return (*others, start % self.period, start)

    def groups(self, blocks: Iterable[int]) -> Iterator[tuple[int, ...]]:
        """The blocks of each task, in their order."""
        waiting: list[int] = []
        for block in self.order(blocks):
            waiting.append(block)
            if len(waiting) == self.count:
                yield tuple(waiting)
                waiting = []
        if waiting:
            yield tuple(waiting)


def together(plan: Plan, threads: int = 1) -> SharedBlocks:
    """Which blocks of a plan share limbs: those of the first keys of a grid on which limbs do not depend.

    As many tasks as there are threads are left where there are so many blocks.
    """
    axis, size = plan.sweep.design, plan.layout.sizes["design"]
    while isinstance(axis, Derived):
        axis = axis.base
    blocks = plan.layout.grid[plan.layout.split.index("design")]
    if blocks < 2 or plan.sweep.simulation is not None or plan.sweep.measurement:
        return SharedBlocks(plan)
    period = size
    for length in _lengths(axis):
        stride = period // length
        places = np.unique(np.linspace(0, length - 1, TRIED).astype(int)) * stride
        if length > 1 and not _same_limbs(plan, places.tolist()):
            break
        period = stride
    lasting = int(SECONDS * plan.blocks / max(plan.work.computing, SECONDS / blocks))
    count = min(size // period, blocks, lasting, BLOCK_MEMORY // plan.task_memory, plan.blocks // max(1, threads))
    is_worth_it = count > 1 and period > WORTH * plan.layout.block["design"]
    return SharedBlocks(plan, count, period) if is_worth_it else SharedBlocks(plan)


def _lengths(axis: Axis) -> Iterator[int]:
    """Lengths of the keys of a grid and of what multiplies with it, the slowest first; none where sets are left out."""
    if isinstance(axis, Grid):
        yield from (column.size for column in axis.columns)
    elif isinstance(axis, Product):
        for part in axis.parts:
            yield from _lengths(part) if isinstance(part, Grid) else (part.size,)


def _same_limbs(plan: Plan, designs: list[int]) -> bool:
    """Whether limbs are the same for some designs."""
    parameters = np.concatenate([plan.designs(slice(k, k + 1)) for k in designs])
    swept = [gravity for k in designs if (gravity := plan.sweep.gravities(k, k + 1)) is not None]
    gravities = np.concatenate(swept) if swept else None
    return shares_limbs(replace(block_of(plan, 0), parameters=parameters, gravities=gravities))


def batch_graph(graphs: Sequence[KeyedGraph], together: int = 1) -> KeyedGraph:
    """One task for graphs of one task each; its result is a list of their values, of errors where they raise.

    So many that follow each other are computed `together`, where they are whole blocks that are alike.
    """
    name, index = graphs[0][1][0], graphs[0][1][1]
    calls = tuple((graph[task].func, tuple(graph[task].args)) for graph, task in graphs)
    return job_graph(BlockBatch(calls, together), f"blocks-{str(name).rpartition('-')[2]}", index)


@dataclass(frozen=True)
class BlockBatch:
    """Functions with their arguments, which Dask does not look into; so many of them computed together."""

    calls: tuple[tuple[Callable[..., object], tuple[object, ...]], ...]
    together: int = 1

    def run(self) -> list[object]:
        """The values of calls, one after another; an error is a value, so that it takes no other block with it."""
        values: list[object] = []
        for number, (function, arguments) in enumerate(_sharing(self), 1):
            more = MORE_TO_DO.set(number < len(self.calls))
            try:
                values.append(function(*arguments))
            except (StoreError, TaskError) as error:
                values.append(error)
            finally:
                MORE_TO_DO.reset(more)
        return values


def _sharing(batch: BlockBatch) -> Iterator[tuple[Callable[..., object], tuple[object, ...]]]:
    """Calls of a batch; in place of those of blocks that are computed together calls that store them."""
    for start in range(0, len(batch.calls), batch.together):
        calls = batch.calls[start : start + batch.together]
        blocks = [call[1][0] for call in calls if call[0] is whole_block]
        computed = _computed_together([block for block in blocks if isinstance(block, Block)], len(calls))
        if computed is None:
            yield from calls
            continue
        for _, (block, writer) in calls:
            yield _store, (block, writer, computed.pop(0))


def _computed_together(blocks: Sequence[Block], count: int) -> list[Arrays] | None:
    """What blocks compute that differ in designs alone; None where others are among them, or where that fails."""
    if not 1 < len(blocks) == count or any(not _alike(blocks[0], block) for block in blocks):
        return None
    try:
        return compute.computed_together(blocks)
    except Exception:  # of one of them: each says by itself what is wrong
        return None


def whole_blocks(blocks: Sequence[Block]) -> list[Arrays]:
    """All variables that blocks store, computed together where they are alike."""
    computed = _computed_together(blocks, len(blocks))
    if computed is None:
        return [compute.whole(block) for block in blocks]
    return [compute.completed(block, arrays)[0] for block, arrays in zip(blocks, computed, strict=True)]


def _alike(one: Block, other: Block) -> bool:
    """Whether two blocks of a plan differ in nothing but their designs."""
    wanted = [(block.series, block.metrics, [t.name for t in block.trajectories]) for block in (one, other)]
    return wanted[0] == wanted[1] and np.array_equal(one.friction, other.friction)


@guarded_task
def _store(block: Block, writer: Writer, arrays: Arrays) -> Receipt | ReceiptWithWarnings:
    return written(block, writer, arrays)
