"""Bodies of the commands status and cancel."""

from __future__ import annotations

import json

import click

from applications.commands.terminal import print_rows
from pipeline.monitor import follow
from pipeline.monitor import status as monitor


def status(store: str, as_json: bool) -> None:
    """Show the progress of the run of a store."""
    run_status = monitor.status(store)
    if as_json:
        click.echo(json.dumps(run_status.as_dict()))
    else:
        print_rows(run_status.rows())


def cancel(store: str) -> None:
    """Ask the run of a store to end, and wait until it has."""
    follow.cancel(store)
    click.echo(f"cancelled; stored blocks stay in {store}, and limbsweep run resumes the sweep")
