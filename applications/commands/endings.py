"""The end of a run on the screen: failures, and the exit status."""

from __future__ import annotations

import shlex

import click

import storage
from pipeline.monitor.progress import counted
from pipeline.monitor.samples import FAILED, failed_samples, none_failed


def end(store: str, blocks: int, cases: int, again: str) -> None:
    """Exit with 1 where something is missing in a store."""
    if blocks:
        click.echo(f"{counted(blocks, 'block')} failed; try again with: {again}", err=True)
    if cases:
        command = shlex.join(["limbsweep", "status", store])
        click.echo(
            f"{counted(cases, 'case')} cannot be computed: NaN in the store; {command} says which and why", err=True
        )
    if blocks or cases:
        raise click.exceptions.Exit(1)


def say_failed(store: str) -> bool:
    """Print how many samples of a store failed, and why; return whether all of them did."""
    from storage.store import read_parts  # loads Zarr

    if none_failed(read_parts(store, FAILED)):  # one variable, without xarray
        return False
    failed = failed_samples(storage.open_results(store, unfinished=True))
    for line in failed.lines():
        click.echo(line, err=True)
    return failed.all_failed
