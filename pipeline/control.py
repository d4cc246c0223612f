"""Asking a run to end, from any process that sees its store: a small file that the coordinator looks for.

A file works between machines that share the store, where signals do not, and needs no open port.
"""

from __future__ import annotations

from pathlib import Path

from storage.manifest import refusals

CANCEL = "cancel"


def request_cancel(store: Path) -> None:
    """Ask the run that writes to a store to end. Raises StoreError where the file cannot be written."""
    with refusals(store):
        (store / CANCEL).touch()


def cancel_requested(store: Path) -> bool:
    """Whether somebody has asked."""
    return (store / CANCEL).exists()


def clear_cancel(store: Path) -> None:
    """Forget requests: they were for another run, or this one has heeded them."""
    with refusals(store):
        (store / CANCEL).unlink(missing_ok=True)
