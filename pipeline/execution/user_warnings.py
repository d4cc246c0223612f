"""The receipt of a block with what is to be told of it: cases for which metrics of a user's own had no number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from storage.ledger import Receipt
from tasks.blocks.user_metrics import MetricWarning


@dataclass(frozen=True)
class ReceiptWithWarnings:
    """A receipt, and complaints about own metrics."""

    receipt: Receipt
    complaints: tuple[MetricWarning, ...]


def with_warnings(receipt: Receipt, complaints: Sequence[MetricWarning]) -> Receipt | ReceiptWithWarnings:
    """The receipt, with complaints where there are some."""
    return ReceiptWithWarnings(receipt, tuple(complaints)) if complaints else receipt
