"""Several blocks as one task: those that are alike are computed together, and the scheduler has fewer tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from pipeline.errors import TaskError
from pipeline.execution.executor import KeyedGraph
from pipeline.execution.graph import MORE_TO_DO, Writer, guarded_task, job_graph, whole_block, written
from pipeline.execution.user_warnings import ReceiptWithWarnings
from pipeline.execution.work import computed_if_alike
from robots.data_classes import dataclass
from storage.errors import StoreError
from storage.ledger import Receipt
from tasks.blocks.block import Block
from tasks.blocks.pool import Arrays


def batch_graph(graphs: Sequence[KeyedGraph], together: int = 1) -> KeyedGraph:
    """Return one task for graphs of one task each; its result is a list of their values, or of their errors.

    So many that follow each other are computed `together`, where they are whole blocks that are alike.
    """
    name, index = graphs[0][1][0], graphs[0][1][1]
    calls = tuple((graph[task].func, tuple(graph[task].args)) for graph, task in graphs)
    return job_graph(BlockBatch(calls, together), f"blocks-{str(name).rpartition('-')[2]}", index)


@dataclass(frozen=True)
class BlockBatch:
    """Functions with their arguments, which Dask does not look into; they are computed together."""

    calls: tuple[tuple[Callable[..., object], tuple[object, ...]], ...]
    together: int = 1

    def run(self) -> list[object]:
        """Return the values of calls, made one after another; an error is a value: it affects no other block."""
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
    """Yield the calls of a batch; calls that store replace those of blocks that are computed together."""
    for start in range(0, len(batch.calls), batch.together):
        calls = batch.calls[start : start + batch.together]
        blocks = [call[1][0] for call in calls if call[0] is whole_block]
        computed = computed_if_alike([block for block in blocks if isinstance(block, Block)], len(calls))
        if computed is None:
            yield from calls
            continue
        for _, (block, writer, *_) in calls:
            yield _store, (block, writer, computed.pop(0))


@guarded_task
def _store(block: Block, writer: Writer, arrays: Arrays) -> Receipt | ReceiptWithWarnings:
    return written(block, writer, arrays)
