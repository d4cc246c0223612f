"""Bodies of the commands status and cancel."""

from __future__ import annotations

import json
import time
from pathlib import Path

import click

from applications.commands.terminal import print_rows
from pipeline.documents.outputs import write_text
from pipeline.monitor import follow
from pipeline.monitor import status as monitor

PAUSE = 10.0
"""Time between two pages of a run, as a multiple of the time that one takes: a store of 1e8 designs takes seconds."""


def status(store: str, as_json: bool, page: Path | None) -> None:
    """Show the progress of the run of a store, or write a page of it until it ends."""
    if page is not None:
        write_page(store, page)
        return
    run_status = monitor.status(store)
    if as_json:
        click.echo(json.dumps(run_status.as_dict()))
    else:
        print_rows(run_status.rows())


def write_page(store: str, page: Path) -> None:
    """Write the page of a run, again and again while the run goes on."""
    from pipeline.monitor.page import RELOAD_SECONDS, is_page, run_page  # needs xarray

    begin = time.monotonic()
    text, goes_on = run_page(store)
    write_text(page, text, force=is_page(page), option="--page")
    click.echo(f"page of the run in {page}")
    while goes_on:
        time.sleep(max(RELOAD_SECONDS, PAUSE * (time.monotonic() - begin)))
        begin = time.monotonic()
        text, goes_on = run_page(store)
        write_text(page, text, force=True, option="--page")


def cancel(store: str) -> None:
    """Ask the run of a store to end, and wait until it has."""
    follow.cancel(store)
    click.echo(f"cancelled; stored blocks stay in {store}, and limbsweep run resumes the sweep")
