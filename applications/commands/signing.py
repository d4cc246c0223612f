"""Body of the command sign."""

from __future__ import annotations

from pathlib import Path

import click

from storage import signature


def sign(store: str, key: Path) -> None:
    """Sign a store."""
    click.echo(f"wrote {signature.sign(store, key)}")
