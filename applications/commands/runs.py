"""Body of the command run, with the progress and the end of a run into a store."""

from __future__ import annotations

import shlex
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from applications.commands.cluster_inputs import cluster_in
from applications.commands.endings import end, say_failed
from applications.commands.refusals import interrupted, stopped
from applications.commands.sweep_inputs import options, stores_of
from pipeline.cluster.file import ClusterConfig
from pipeline.errors import RunStoppedError
from pipeline.monitor.log import Event, Finished, Listener
from pipeline.monitor.progress import progress
from pipeline.monitor.status import failed_cases
from pipeline.sweep.model import Sweep

if TYPE_CHECKING:
    from pipeline.execution.graph import Granularity
    from robots.devices import Device

Action = Callable[[str, Sweep, "ClusterConfig | None", Sequence[Listener], "Granularity | None"], None]
"""Compute a sweep into a store: `run_into` or `append_to`."""


def run(
    sweep: str,
    subset: str | None,
    store: str | None,
    cluster: Path | None,
    granularity: Granularity | None,
    device: Device | None = None,
    action: Action | None = None,
) -> None:
    """Run a sweep into a store, or one for each robot; resume unfinished stores.

    action: in place of `pipeline.execution.run.run_into`.
    """
    stores, whole = stores_of(sweep, subset, store)
    again = _command("run", sweep, whole, cluster, granularity, subset)
    config = cluster_in(cluster)
    if device is not None:
        again += f" --device {device}"
        config = _with_device(config, device)
    from pipeline.execution.run import run_into  # all modules that compute; mistakes in files are reported before

    blocks, cases, nothing = 0, 0, False
    for parsed, place in stores:
        blocks += run_sweep(action or run_into, parsed, place, config, granularity, again)
        cases += len(failed_cases(place))
        nothing |= say_failed(place)
        click.echo(f"results in {place}")
    end(whole, blocks, cases, again)
    if nothing:
        raise click.exceptions.Exit(1)


def _with_device(config: ClusterConfig | None, device: Device) -> ClusterConfig:
    """Return a cluster that computes on a device: without a configuration, threads of this process."""
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


def run_sweep(
    action: Action, sweep: Sweep, store: str, cluster: ClusterConfig | None, granularity: Granularity | None, again: str
) -> int:
    """Run or append with progress, and return the number of blocks that were given up."""
    last: deque[Event] = deque(maxlen=1)
    try:
        with progress() as show_progress:
            action(store, sweep, cluster, (show_progress, last.append), granularity)
    except KeyboardInterrupt as error:
        raise interrupted(error, again) from None
    except RunStoppedError as error:
        raise stopped(error, again) from None
    return sum(event.failed_blocks for event in last if isinstance(event, Finished))
