"""Warnings of user metrics, the cases for which they had no number: in receipts, as events, as warnings of Python."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from pipeline.monitor.log import Event, MetricFailed
from pipeline.monitor.progress import counted
from robots.data_classes import dataclass
from storage.layout import Layout
from storage.ledger import Receipt
from tasks.blocks.user_metrics import MetricWarning


@dataclass(frozen=True)
class ReceiptWithWarnings:
    """A receipt, and warnings of user metrics; their places count within the block."""

    receipt: Receipt
    warnings: tuple[MetricWarning, ...]


def with_warnings(receipt: Receipt, warnings: Sequence[MetricWarning]) -> Receipt | ReceiptWithWarnings:
    """Return the receipt, with warnings where there are some."""
    return ReceiptWithWarnings(receipt, tuple(warnings)) if warnings else receipt


def metric_failures(layout: Layout, block: int, metric_warnings: Sequence[MetricWarning]) -> list[MetricFailed]:
    """Return the events for the warnings of a block."""
    return [
        MetricFailed(block, row.metric, row.cases, *layout.place(block, row.first), row.reason)
        for row in metric_warnings
    ]


class FailedMetrics:
    """A listener that keeps the failures of user metrics, for a warning of Python at the end of a run."""

    def __init__(self) -> None:
        self.events: list[MetricFailed] = []

    def __call__(self, event: Event) -> None:
        """Keep a failure."""
        if isinstance(event, MetricFailed):
            self.events.append(event)

    def warn(self) -> None:
        """Warn of each metric that has no number for some cases, with the reason of the first of them."""
        for metric in dict.fromkeys(event.metric for event in self.events):
            events = sorted((row for row in self.events if row.metric == metric), key=lambda row: row.block)
            first = events[0]
            cases = counted(sum(row.cases for row in events), "case")
            place = f"design {first.design}, friction {first.friction}, trajectory {first.trajectory}"
            text = f"metric {metric} is NaN in {cases}, the first in {place}: {first.reason}"
            warnings.warn(text, RuntimeWarning, stacklevel=5)
