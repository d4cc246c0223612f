"""Receipts with warnings of user metrics: the cases for which they had no number."""

from __future__ import annotations

from collections.abc import Sequence

from robots.data_classes import dataclass
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
