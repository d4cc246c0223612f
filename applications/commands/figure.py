"""Body of the command figure."""

from __future__ import annotations

from pathlib import Path

import click

from applications.commands.terminal import forced
from applications.report.data.recomputed import results_of
from applications.report.figures import case


def figure(
    store: str, kind: str, output: Path | None, design: int | None, friction: int | None, files: Path | None
) -> None:
    """Draw a figure of a store."""
    path = output or Path(f"{kind}.png")
    case.check(kind, path, force=forced())
    case.save(results_of(store, design, friction, files), kind, path, force=forced())
    click.echo(f"wrote {path}")
