"""Run a sweep: plan, connect to a cluster, check it, create the store, compute the blocks, finish.

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

from pipeline.cluster.connection import connect, scalers
from pipeline.cluster.file import ClusterConfig, ClusterLike, as_config
from pipeline.cluster.walltime import require_walltime
from pipeline.errors import ClusterLostError, RunCancelledError, RunStoppedError
from pipeline.execution.cluster_executor import make_executor
from pipeline.execution.contents import create_store, is_finished, plan_at, stored_size
from pipeline.execution.graph import Granularity
from pipeline.execution.loop import RunLoop
from pipeline.execution.opening import with_conventions
from pipeline.execution.policy.attempts import DEFAULTS, Timeouts
from pipeline.execution.preflight import preflight, require_space
from pipeline.monitor.cancel import clear_cancel
from pipeline.monitor.events import ClusterRestarted, Finished, Listener, Started, Stopped, broadcast
from pipeline.monitor.log import RunLog
from pipeline.plan.plan import Plan
from pipeline.sweep.user_metrics import UserFunction, UserMetric, with_metrics
from storage.completion import finish
from storage.ledger import Ledger
from storage.places.access import coordinator_lock, locate
from storage.places.location import Location, LocationLike
from storage.store import StoreWriter, open_results

if TYPE_CHECKING:
    from distributed import Client
    from xarray import Dataset

    from pipeline.sweep.model import Sweep

CLOSE_SECONDS = 2.0


def run(
    sweep: Sweep,
    store: LocationLike | None = None,
    cluster: ClusterLike = None,
    listeners: Sequence[Listener] = (),
    granularity: Granularity = "limb",
    timeouts: Timeouts = DEFAULTS,
    metrics: Mapping[str, UserFunction | UserMetric] | None = None,
) -> Dataset:
    """Run a sweep into a store, or go on with one that is not finished; the results as a lazy dataset.

    `metrics` are functions of a user's own by name, see `pipeline.sweep.user_metrics`: part of what the store is of.
    Without a store the results are in memory. `cluster` is a cluster file; without one a cluster is made on this
    machine for the run. Raises InputError, StoreError for what cannot be run, before anything is computed; StoreError
    also where the store cannot be written any more, RunStoppedError where the cluster is lost, nothing comes back, or
    somebody cancels: what has been stored stays. Cases that cannot be computed hold NaN and are told to the listeners;
    blocks that fail altogether are told too and left out of the dataset, whose attribute `finished` is then 0.
    """
    sweep = with_metrics(sweep, metrics) if metrics else sweep
    if store is None:
        return _run_in_memory(sweep, cluster, listeners, granularity, timeouts)
    place, config = locate(store), as_config(cluster)
    plan = plan_at(sweep, place)
    if not (place.exists() and is_finished(plan, place)):
        _Run(plan, place, config, tuple(listeners), granularity, timeouts).complete()
    return with_conventions(open_results(place, unfinished=True), sweep)


def _run_in_memory(
    sweep: Sweep,
    cluster: ClusterLike,
    listeners: Sequence[Listener],
    granularity: Granularity,
    timeouts: Timeouts,
) -> Dataset:
    folder = Path(tempfile.mkdtemp(prefix="limbsweep-"))
    try:
        return run(sweep, folder / "results.zarr", cluster, listeners, granularity, timeouts).load()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True)
class _Run:
    """A plan, the store that it is run into, and how."""

    plan: Plan
    place: Location
    config: ClusterConfig
    listeners: tuple[Listener, ...]
    granularity: Granularity
    timeouts: Timeouts

    def complete(self) -> None:
        """Run to the end. A cluster of the run's own that is lost is started again, once."""
        import dask

        require_walltime(self.config, self.plan)
        default = dask.config.get("scheduler", None)
        restarts = 0 if self.config.runs_already else 1
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
        """Every stage of a run on one cluster; `lost` says why that before it was lost, if one was."""
        with connect(self.config) as client:
            self._check(client)
            create_store(self.plan, self.place)
            with (
                coordinator_lock(self.place),
                Ledger.open(self.place, self.plan.blocks) as ledger,
                RunLog.open(self.place) as log,
            ):
                clear_cancel(self.place)
                notify = broadcast((log, *scalers(client), *self.listeners))
                if lost:
                    notify(ClusterRestarted(lost))
                self._compute(ledger, client, notify)
                self._finish(ledger)

    def _check(self, client: Client | None) -> None:
        """See that workers and disk can do it. Raises InputError."""
        if client is not None:
            preflight(client, self.plan, self.config.source)
        if not self.place.exists():
            require_space(self.place, *stored_size(self.plan))

    def _compute(self, ledger: Ledger, client: Client | None, notify: Listener) -> None:
        """Compute every block without a receipt, and say how that begins and ends."""
        start = time.perf_counter()
        notify(Started(self.plan.blocks, ledger.count, self.plan.block_samples, _dashboard(client)))
        executor = make_executor(client, self.plan, self.granularity)
        loop = RunLoop(self.plan, StoreWriter(self.place), ledger, executor, notify, self.granularity, self.timeouts)
        try:
            loop.run()
        except BaseException as error:
            if client is not None and isinstance(error, ClusterLostError):
                _close(client)
            notify(Stopped(_reason(error), isinstance(error, RunCancelledError | KeyboardInterrupt)))
            clear_cancel(self.place)
            raise
        notify(Finished(loop.samples, time.perf_counter() - start, loop.agenda.given_up, loop.failed_cases))

    def _finish(self, ledger: Ledger) -> None:
        """Mark the store as finished where every block has a receipt."""
        if ledger.count == self.plan.blocks:
            ledger.sync()
            finish(self.place)


def _dashboard(client: Client | None) -> str | None:
    """The link to Dask's dashboard; none without a cluster, or without the package that draws it."""
    return client.dashboard_link if client and find_spec("bokeh") else None


def _close(client: Client) -> None:
    """Close a client whose scheduler has gone; it would look for it for half a minute, and log every try."""
    logger = logging.getLogger("distributed.client")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        client.close(timeout=CLOSE_SECONDS)
    finally:
        logger.setLevel(level)


def _reason(error: BaseException) -> str:
    """Why a run stops, in one line."""
    return "interrupted" if isinstance(error, KeyboardInterrupt) else " ".join(str(error).split())
