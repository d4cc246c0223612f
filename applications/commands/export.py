"""Body of the command export."""

from __future__ import annotations

from pathlib import Path

import click

from applications.export import tables


def export(store: str, form: str, output: Path | None) -> None:
    """Write a store as files of another format."""
    folder = output or Path(f"{store.rstrip('/').removesuffix('.zarr')}-{form}")
    click.echo(f"{len(tables.export(store, folder, form))} files in {folder}")
