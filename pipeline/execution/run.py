"""Run a sweep: connect to a cluster, prepare the store, drive the blocks through a bounded window, finish.

The coordinator alone writes the ledger. A block is done when its receipt is in the ledger; a run that is interrupted,
here or by force, goes on with the blocks that have none.
"""

from __future__ import annotations

import logging
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.cluster.connection import ClusterConfig, connect, scalers
from pipeline.cluster.walltime import require_walltime
from pipeline.errors import ClusterLostError, RunCancelledError, RunStoppedError
from pipeline.execution.cluster_executor import executor
from pipeline.execution.contents import _is_finished, _needed, _prepare, plan_at
from pipeline.execution.graph import Granularity
from pipeline.execution.loop import Drive
from pipeline.execution.policy.attempts import DEFAULTS, Limits
from pipeline.execution.preflight import preflight, require_space
from pipeline.monitor.cancel import clear_cancel
from pipeline.monitor.events import ClusterRestarted, Finished, Listener, Started, Stopped, teller
from pipeline.monitor.log import RunLog
from pipeline.plan.plan import Plan
from pipeline.sweep.user_metrics import MetricFunction, UserMetric, with_metrics
from storage.completion import finish
from storage.ledger import Ledger
from storage.places.access import coordinator_lock, locate
from storage.places.place import Location, Place
from storage.store import StoreWriter, open_results

if TYPE_CHECKING:
    from distributed import Client
    from xarray import Dataset

    from pipeline.sweep.model import Sweep

Cluster = str | Path | ClusterConfig | None

CLOSE_SECONDS = 2.0
EXTERNAL = ("address", "scheduler-file")
"""Kinds of clusters that are not the run's own."""


def run(
    sweep: Sweep,
    store: Location | None = None,
    cluster: Cluster = None,
    listeners: Sequence[Listener] = (),
    granularity: Granularity = "limb",
    limits: Limits = DEFAULTS,
    metrics: Mapping[str, MetricFunction | UserMetric] | None = None,
) -> Dataset:
    """Run a sweep into a store, or go on with one that is not finished; the results as a lazy dataset.

    `metrics` are functions of a user's own by name, see `pipeline.sweep.user_metrics`: part of what the store is of.
    Without a store the results are in memory. `cluster` is a cluster file; without one a cluster is made on this
    machine for the run. Raises InputError, StoreError for what cannot be run, before anything is computed; StoreError
    also where the store cannot be written any more, RunStoppedError where the cluster is lost, nothing comes back, or
    somebody cancels: what has been stored stays. Cases that cannot be computed hold NaN and are told to the listeners;
    blocks that fail altogether are told too and left out of the dataset, whose attribute `finished` is then False.
    """
    sweep = with_metrics(sweep, metrics) if metrics else sweep
    if store is None:
        return _in_memory(sweep, cluster, listeners, granularity, limits)
    place, config = locate(store), settings(cluster)
    made = plan_at(sweep, place)
    if not (place.exists() and _is_finished(made, place)):
        Run(made, place, config, tuple(listeners), granularity, limits).go()
    return open_results(place, unfinished=True)


@dataclass(frozen=True)
class Run:
    """One run of a plan into a store: what it is made of."""

    plan: Plan
    place: Place
    config: ClusterConfig
    listeners: tuple[Listener, ...]
    granularity: Granularity
    limits: Limits

    def go(self) -> None:
        """Run to the end. A cluster of the run's own that is lost is made again, once."""
        import dask

        require_walltime(self.config, self.plan)
        default = dask.config.get("scheduler", None)
        restarts = 0 if self.config.cluster.kind in EXTERNAL else 1
        lost: str | None = None
        while True:
            try:
                return self._on_cluster(lost)
            except ClusterLostError as error:
                # A client whose scheduler has gone stays behind as the default of all that Dask computes.
                dask.config.set(scheduler=default)
                if not restarts:
                    raise RunStoppedError(f"{error}; what has been stored stays") from error
                restarts, lost = restarts - 1, str(error)

    def _on_cluster(self, lost: str | None) -> None:
        with connect(self.config) as client:
            if client is not None:
                preflight(client, self.plan, self.config.source)
            if not self.place.exists():
                require_space(self.place, *_needed(self.plan))
            _prepare(self.plan, self.place)
            with (
                coordinator_lock(self.place),
                Ledger.open(self.place, self.plan.blocks) as ledger,
                RunLog.open(self.place) as log,
            ):
                clear_cancel(self.place)
                tell = teller((log, *scalers(client), *self.listeners))
                if lost:
                    tell(ClusterRestarted(lost))
                self._drive(ledger, client, tell)
                if ledger.count == self.plan.blocks:
                    ledger.sync()
                    finish(self.place)

    def _drive(self, ledger: Ledger, client: Client | None, tell: Listener) -> None:
        """Compute every block without a receipt, and tell how that begins and ends."""
        start = time.perf_counter()
        tell(Started(self.plan.blocks, ledger.count, self.plan.block_samples, _dashboard(client)))
        drive = Drive(
            self.plan,
            StoreWriter(self.place),
            ledger,
            executor(client, self.plan, self.granularity),
            tell,
            self.granularity,
            self.limits,
        )
        try:
            drive.run()
        except BaseException as error:
            if client is not None and isinstance(error, ClusterLostError):
                _leave(client)
            tell(Stopped(_reason(error), isinstance(error, RunCancelledError | KeyboardInterrupt)))
            clear_cancel(self.place)
            raise
        tell(Finished(drive.samples, time.perf_counter() - start, drive.agenda.given_up, drive.failed_cases))


def settings(cluster: Cluster) -> ClusterConfig:
    """The settings in a cluster file, or those of this machine."""
    if isinstance(cluster, ClusterConfig):
        return cluster
    return ClusterConfig() if cluster is None else ClusterConfig.from_yaml(cluster)


def _in_memory(
    sweep: Sweep, cluster: Cluster, listeners: Sequence[Listener], granularity: Granularity, limits: Limits
) -> Dataset:
    folder = Path(tempfile.mkdtemp(prefix="limbsweep-"))
    try:
        return run(sweep, folder / "results.zarr", cluster, listeners, granularity, limits).load()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _dashboard(client: Client | None) -> str | None:
    """The link to Dask's dashboard; none without a cluster, or without the package that draws it."""
    return client.dashboard_link if client and find_spec("bokeh") else None


def _leave(client: Client) -> None:
    """Close a client whose scheduler has gone; it would look for it for half a minute, and tell of every try."""
    logger = logging.getLogger("distributed.client")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        client.close(timeout=CLOSE_SECONDS)
    finally:
        logger.setLevel(before)


def _reason(error: BaseException) -> str:
    """Why a run stops, in one line."""
    return "interrupted" if isinstance(error, KeyboardInterrupt) else " ".join(str(error).split())
