"""Body of the command attach."""

from __future__ import annotations

import click

from applications.commands.endings import end, say_failed
from applications.commands.refusals import stopped
from pipeline.errors import RunCancelledError, RunStoppedError
from pipeline.monitor.follow import follow
from pipeline.monitor.log import Finished, Stopped
from pipeline.monitor.progress import progress
from pipeline.monitor.status import failed_cases


def attach(store: str) -> None:
    """Follow the run of a store until it ends."""
    with progress() as show_progress:
        for event in follow(store):
            show_progress(event)
    if isinstance(event, Stopped):
        raise stopped(RunCancelledError(event.reason) if event.cancelled else RunStoppedError(event.reason))
    nothing = say_failed(store)
    blocks = event.failed_blocks if isinstance(event, Finished) else 0
    end(store, blocks, len(failed_cases(store)), "the command that began the run")
    if nothing:
        raise click.exceptions.Exit(1)
