"""Commands that plan and run sweeps: check, run, submit, and what follows a run."""

from __future__ import annotations

import shlex
from collections import deque
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipeline.errors import RunCancelledError, RunStoppedError

if TYPE_CHECKING:
    from pipeline.cluster.file import ClusterConfig
    from pipeline.execution.graph import Granularity
    from pipeline.sweep.model import Sweep
    from tasks.kernels.keys import Device
from applications.commands.terminal import (
    CLUSTER,
    DEVICE,
    GRANULARITY,
    SOURCE,
    STORE,
    SUBSET,
    SWEEP,
    TARGET,
    Incomplete,
    cluster_in,
    interrupted,
    print_rows,
    stopped,
    sweeps_in,
)


@click.command()
@SWEEP
@SUBSET
@click.option("--quick", is_flag=True, help="Compute nothing, not even a few designs.")
def check(sweep: Path, subset: str | None, quick: bool) -> None:
    """Validate the sweep file SWEEP, print the plan, and try a few designs: failures are warnings.

    The exit status is 1 if all tried designs fail.
    """
    from pipeline.plan.plan import plan

    sweeps = sweeps_in(sweep, subset)
    for number, sweep_plan in enumerate([plan(parsed) for parsed in sweeps]):
        if number:
            click.echo()
        print_rows(sweep_plan.rows())
    if quick:
        return
    from pipeline.execution.trial import trial

    all_failed = False
    for parsed in sweeps:
        tried = trial(parsed)
        for line in tried.lines():
            click.echo(line if line.startswith(" ") else f"warning: {parsed.robot}: {line}", err=True)
        all_failed |= tried.result.all_failed
    if all_failed:
        raise Incomplete("every sample that was tried failed: the sweep would have no results")


@click.command()
@SOURCE
@SUBSET
@TARGET
@CLUSTER
@GRANULARITY
@DEVICE
def run(
    sweep: str,
    subset: str | None,
    store: str | None,
    cluster: Path | None,
    granularity: Granularity | None,
    device: Device | None,
) -> None:
    """Run the sweep file SWEEP into a store; resume an unfinished store.

    A file with several robots makes a folder with a store for each. SWEEP may be a store: its sweep is then resumed in
    it, or is repeated in the one that --store names.
    """
    from pipeline.monitor.status import failed_cases

    stores, whole = stores_of(sweep, subset, store)
    again = _command("run", sweep, whole, cluster, granularity, subset)
    config = cluster_in(cluster)
    if device is not None:
        again += f" --device {device}"
        config = _with_device(config, device)
    blocks, cases, nothing = 0, 0, False
    for parsed, place in stores:
        given_up = run_sweep("run", parsed, place, config, granularity, again)
        blocks += given_up
        cases += len(failed_cases(place))
        nothing |= say_failed(place)
        click.echo(f"results in {place}")
    end(whole, blocks, cases, again)
    if nothing:
        raise click.exceptions.Exit(1)


@click.command()
@SOURCE
@SUBSET
@TARGET
@CLUSTER
@GRANULARITY
def submit(
    sweep: str, subset: str | None, store: str | None, cluster: Path | None, granularity: Granularity | None
) -> None:
    """Start a run of SWEEP that outlives this terminal, and on a lasting cluster this machine."""
    from pipeline.execution.submit import submit as begin

    config = cluster_in(cluster)
    for parsed, place in stores_of(sweep, subset, store)[0]:
        job = begin(parsed, place, config, granularity)
        will = "waits for its turn to run" if job.waits else "runs"
        click.echo(f"process {job.pid} on {job.host} {will} {sweep} into {place}; it prints to {job.output} there")
        for command in ("status", "attach", "cancel"):
            click.echo(f"  {shlex.join(['limbsweep', command, place])}")


@click.command()
@STORE
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of a table.")
def status(store: str, as_json: bool) -> None:
    """Show the progress of the run of STORE, its process, and its failures."""
    import json

    from pipeline.monitor.status import status as look

    run_status = look(store)
    if as_json:
        click.echo(json.dumps(run_status.as_dict()))
    else:
        print_rows(run_status.rows())


@click.command()
@STORE
def attach(store: str) -> None:
    """Follow the run of STORE until it ends; the exit status is that of the run."""
    from pipeline.monitor.follow import follow
    from pipeline.monitor.log import Finished, Stopped
    from pipeline.monitor.progress import progress
    from pipeline.monitor.status import failed_cases

    with progress() as show_progress:
        for event in follow(store):
            show_progress(event)
    if isinstance(event, Stopped):
        raise stopped(RunCancelledError(event.reason) if event.cancelled else RunStoppedError(event.reason))
    nothing = say_failed(store)
    end(store, event.failed_blocks if isinstance(event, Finished) else 0, len(failed_cases(store)), "the same command")
    if nothing:
        raise click.exceptions.Exit(1)


@click.command()
@STORE
def cancel(store: str) -> None:
    """Ask the run of STORE to end, and wait until it has ended; `limbsweep run` resumes it."""
    from pipeline.monitor.follow import cancel as ask

    ask(store)
    click.echo(f"cancelled; stored blocks stay in {store}, and limbsweep run resumes the sweep")


def stores_of(source: str, subset: str | None, store: str | None) -> tuple[list[tuple[Sweep, str]], str]:
    """List the sweeps of a file, or that of a store, with the store of each, and the place of all of them.

    One store, or one for each of several robots in a folder.
    """
    if _is_store(source):
        from pipeline.stores.recompute import stored_sweep

        if subset:
            raise click.UsageError("--subset chooses a part of a sweep file; in a store the choice is made")
        return [(stored_sweep(source), store or source)], store or source
    sweeps, name = sweeps_in(Path(source), subset), f"{Path(source).stem}-{subset}" if subset else Path(source).stem
    several = len(sweeps) > 1
    whole = store or (name if several else f"{name}.zarr")
    _check_name(whole)
    return [(sweep, f"{whole}/{sweep.robot}.zarr" if several else whole) for sweep in sweeps], whole


def _is_store(text: str) -> bool:
    """Return whether an argument names a store: a folder or a URL. A sweep is a file."""
    return "://" in text or Path(text).is_dir()


def _check_name(store: str) -> None:
    from pipeline.stores.names import check_store_name

    if "://" not in store:
        check_store_name(Path(store))


def _with_device(config: ClusterConfig | None, device: Device) -> ClusterConfig:
    """Return a cluster that computes on a device: threads of this process where there is none."""
    from pipeline.cluster.file import ClusterConfig

    if config is None:
        return ClusterConfig.of("threads", device=device) if device == "gpu" else ClusterConfig()
    if "device" not in config.kind.keys:
        raise config.problem("device", device, f"no device with kind: {config.cluster.kind}", "Leave --device out.")
    return replace(config, cluster=config.cluster.model_copy(update={"device": device}))


def _command(
    name: str, sweep: str, store: str, cluster: Path | None, granularity: Granularity | None, subset: str | None
) -> str:
    """Write the command line that continues a run."""
    words = ["limbsweep", name, sweep, *(["--store", store] if store != sweep else [])]
    return shlex.join(words + options(subset, cluster, granularity))


def options(subset: str | None, cluster: Path | None, granularity: str | None) -> list[str]:
    """Write the options that were given, to be given again."""
    words = ["--cluster", str(cluster)] if cluster else []
    words += ["--granularity", granularity] if granularity else []
    return words + (["--subset", subset] if subset else [])


def end(store: str, blocks: int, cases: int, again: str) -> None:
    """Exit with 1 where something is missing in a store."""
    if blocks:
        click.echo(f"{blocks} blocks failed; try them again with: {again}", err=True)
    if cases:
        command = shlex.join(["limbsweep", "status", store])
        click.echo(f"{cases} cases cannot be computed and hold NaN; {command} says which and why", err=True)
    if blocks or cases:
        raise click.exceptions.Exit(1)


def say_failed(store: str) -> bool:
    """Say how many samples of a store failed, and why; whether all of them did."""
    from pipeline.monitor.samples import failed_samples, none_failed

    if none_failed(store):
        return False
    from storage import open_results

    failed = failed_samples(open_results(store, unfinished=True))
    for line in failed.lines():
        click.echo(line, err=True)
    return failed.all_failed


def run_sweep(
    what: str, sweep: Sweep, store: str, cluster: ClusterConfig | None, granularity: Granularity | None, again: str
) -> int:
    """Run or append with progress; the number of blocks that were given up."""
    from pipeline.monitor.log import Event, Finished
    from pipeline.monitor.progress import progress

    if what == "append":
        from pipeline.stores.append import append_to as action
    else:
        from pipeline.execution.run import run_into as action

    last: deque[Event] = deque(maxlen=1)
    try:
        with progress() as show_progress:
            listeners = (show_progress, last.append)
            action(sweep=sweep, store=store, cluster=cluster, listeners=listeners, granularity=granularity)
    except KeyboardInterrupt as error:
        raise interrupted(error, again) from None
    except RunStoppedError as error:
        raise stopped(error, again) from None
    return sum(event.failed_blocks for event in last if isinstance(event, Finished))
