"""Body of the command submit."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from applications.commands.cluster_inputs import cluster_in
from applications.commands.sweep_inputs import stores_of
from pipeline.execution import submit as process

if TYPE_CHECKING:
    from pipeline.execution.graph import Granularity


def submit(
    sweep: str, subset: str | None, store: str | None, cluster: Path | None, granularity: Granularity | None
) -> None:
    """Start a run that outlives this terminal."""
    config = cluster_in(cluster)
    for parsed, place in stores_of(sweep, subset, store)[0]:
        job = process.submit(parsed, place, config, granularity)
        will = "waits for its turn to run" if job.waits else "runs"
        click.echo(f"process {job.pid} on {job.host} {will} {sweep} into {place}; it prints to {job.output} there")
        for command in ("status", "attach", "cancel"):
            click.echo(f"  {shlex.join(['limbsweep', command, place])}")
