"""Body of the command report."""

from __future__ import annotations

from pathlib import Path

import click

from applications.commands.terminal import forced
from applications.report.writing import write_report


def report(stores: tuple[str, ...], output: Path, **choices: object) -> None:
    """Write the report of one or several stores.

    choices: the arguments of `limbsweep.report` with these names.
    """
    page = write_report(stores, output, force=forced(), **choices)  # type: ignore[arg-type]  # of the types of options
    click.echo(f"wrote {page}")
