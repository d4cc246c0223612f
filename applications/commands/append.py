"""Body of the command append."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from applications.commands.cluster_inputs import cluster_in
from applications.commands.endings import end, say_failed
from applications.commands.runs import run_sweep
from applications.commands.sweep_inputs import options, sweeps_in
from pipeline.execution.graph import Granularity
from pipeline.monitor.status import failed_cases
from pipeline.stores.append import append_to
from pipeline.stores.append import drop as drop_growth
from pipeline.sweep.model import Sweep
from storage.manifest import Manifest


def append(
    store: str,
    sweep: Path | None,
    subset: str | None,
    cluster: Path | None,
    granularity: Granularity | None,
    drop: bool,
) -> None:
    """Add further designs or friction sets to a store, or drop an append that was interrupted."""
    if drop == (sweep is not None):
        raise click.UsageError("append needs a SWEEP, or --drop without one")
    if sweep is None:
        drop_growth(store)
        click.echo(f"{store} is as it was before the append")
        return
    again = shlex.join(["limbsweep", "append", store, str(sweep), *options(subset, cluster, granularity)])
    parsed = _of_robot(sweeps_in(sweep, subset), store)
    blocks = run_sweep(append_to, parsed, store, cluster_in(cluster), granularity, again)
    nothing = say_failed(store)
    click.echo(f"results in {store}")
    end(store, blocks, len(failed_cases(store)), again)
    if nothing:
        raise click.exceptions.Exit(1)


def _of_robot(sweeps: tuple[Sweep, ...], store: str) -> Sweep:
    """Choose the sweep of the store's robot, or any one, which is then refused with the difference."""
    robot = Manifest.load(store).attributes.values.get("robot")
    return next((sweep for sweep in sweeps if sweep.robot == robot), sweeps[0])
