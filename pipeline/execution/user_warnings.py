"""The receipt of a block with what is to be told of it: cases for which metrics of a user's own had no number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from storage.ledger import Receipt
from tasks.blocks.user_metrics import MetricWarning


@dataclass(frozen=True)
class Noted:
    """A receipt, and complaints about own metrics."""

    receipt: Receipt
    complaints: tuple[MetricWarning, ...]


def noted(receipt: Receipt, complaints: Sequence[MetricWarning]) -> Receipt | Noted:
    """The receipt, with complaints where there are some."""
    return Noted(receipt, tuple(complaints)) if complaints else receipt
