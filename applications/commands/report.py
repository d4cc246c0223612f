"""Body of the command report."""

from __future__ import annotations

from pathlib import Path

import click

from applications.commands.terminal import forced
from applications.report.writing import write_report


def report(
    stores: tuple[str, ...],
    output: Path,
    design: int | None,
    friction: int | None,
    files: Path | None,
    texts: tuple[str, ...],
    conditions: tuple[str, ...],
    cases: tuple[str, ...],
) -> None:
    """Write the report of one or several stores."""
    page = write_report(
        stores,
        output,
        design=design,
        friction=friction,
        files=files,
        force=forced(),
        objectives=texts,
        where=conditions,
        cases=cases,
    )
    click.echo(f"wrote {page}")
