"""Compute blocks of a store once more to compare bits, without storing them."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from contextlib import closing
from itertools import product

from pipeline.execution.executor import Executor, failure, results
from pipeline.execution.graph import block_graph
from pipeline.execution.user_warnings import ReceiptWithWarnings
from pipeline.monitor.status import failed_cases
from pipeline.plan.model import Plan
from storage.encoding.checksums import Hashing
from storage.ledger import Receipt
from storage.places.location import LocationLike
from storage.variables import SPLIT
from storage.writer import Comparer


def differing(
    plan: Plan, receipts: Mapping[int, Receipt], executor: Executor, hashing: Hashing
) -> Iterator[tuple[int, str]]:
    """Compute blocks again and return those with other bits than their receipts, and the differences.

    Raises ClusterLostError.
    """
    run, comparer = uuid.uuid4().hex[:8], Comparer(plan.layout, hashing)
    graphs = (block_graph(plan, index, comparer, run) for index in receipts)
    with closing(executor):
        for result in results(graphs, executor):
            index, value = result.key[1], result.value
            if isinstance(value, BaseException):
                yield index, f"cannot be computed again: {failure(value).reason}"
                continue
            computed = value.receipt if isinstance(value, ReceiptWithWarnings) else value
            if computed != receipts[index]:
                yield index, f"computed again it has other bits in {', '.join(_other(receipts[index], computed))}"


def _other(stored: Receipt, computed: Receipt) -> list[str]:
    return [name for name, value in computed.checksums.items() if stored.checksums.get(name) != value]


def uncomputable(store: LocationLike, plan: Plan) -> set[int]:
    """Return the blocks with cases that no attempt could compute: another attempt cannot confirm their bits."""
    layout = plan.layout
    cases = ((case.design, case.friction, case.trajectory) for case in failed_cases(store))
    lost = {tuple(at // layout.block[dim] for dim, at in zip(SPLIT, case, strict=True)) for case in cases}
    inner = [range(count) for count in layout.grid.counts[len(SPLIT) :]]  # of which gains a case was is not noted
    return {layout.grid.index((*place, *rest)) for place in lost for rest in product(*inner)}
