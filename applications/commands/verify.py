"""Body of the command verify."""

from __future__ import annotations

from pathlib import Path

import click

from applications.commands.terminal import print_rows
from pipeline.stores.verify import verify as verify_store


def verify(
    store: str, recompute: float, seed: int | None, repair: bool, signed_by: Path | None, cluster: Path | None
) -> None:
    """Check all of a store against its checksums and receipts."""
    verification = verify_store(store, recompute, seed, repair=repair, cluster=cluster, signed_by=signed_by)
    print_rows(verification.rows())
    if not verification.is_sound:
        raise click.exceptions.Exit(1)
