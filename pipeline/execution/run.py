"""Run a sweep: plan, connect to a cluster, check it, create the store, compute the blocks, finish.

The coordinator alone writes the ledger. A block is done when its receipt is in the ledger; a run that is interrupted,
here or by force, goes on with the blocks that have none.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from pipeline.cluster.arguments import (
    ClusterLike,
    Connectable,
    UserCluster,
    as_cluster,
    in_task,
    one_of,
    require_walltime,
)
from pipeline.cluster.connection import connect, scalers
from pipeline.cluster.file import ClusterConfig, device_of
from pipeline.errors import ClusterLostError, RunCancelledError, RunStoppedError, refused
from pipeline.execution.admission import Membership, admit, require_memory
from pipeline.execution.contents import create_store, is_finished, plan_at, stored_size
from pipeline.execution.conventions import with_conventions
from pipeline.execution.device import on_device
from pipeline.execution.executor import translated_losses
from pipeline.execution.executors import choose_granularity, make_executor
from pipeline.execution.graph import Granularity
from pipeline.execution.handle import PendingRun, RunHandle
from pipeline.execution.loop import RunLoop
from pipeline.execution.policy.attempts import DEFAULTS, Timeouts
from pipeline.execution.preparation import computed, require_space
from pipeline.execution.processes.signals import orderly_end
from pipeline.execution.shared_blocks import SharedBlocks, together
from pipeline.execution.user_warnings import FailedMetrics
from pipeline.monitor.log import ClusterRestarted, Finished, Listener, RunLog, Started, Stopped, broadcast, clear_cancel
from pipeline.monitor.notebook import NotebookProgress, in_notebook
from pipeline.monitor.progress import LineProgress
from pipeline.monitor.samples import failed_samples
from pipeline.plan.model import Plan
from pipeline.plan.plan import plan as plan_sweep
from pipeline.sweep.model import Sweep
from pipeline.sweep.user_metrics import UserFunction, UserMetric, with_metrics
from robots.arguments import check_arguments
from robots.data_classes import dataclass, replace
from storage.completion import finish
from storage.ledger import Ledger
from storage.places.access import coordinator_lock, locate
from storage.places.location import Location, LocationLike, refusals
from storage.places.reach import Mark, marked
from storage.store import StoreWriter, open_results

if TYPE_CHECKING:
    from distributed import Client
    from xarray import Dataset


CLOSE_SECONDS = 2.0

SMALL_SECONDS = 5.0
"""Seconds of one core below which a run computes in this process: processes of their own take longer to begin."""
SMALL_CALLS = 1000
"""Calls of functions of a user up to which a run computes in this process."""


@check_arguments
def run(
    sweep: Sweep,
    store: LocationLike | None = None,
    cluster: ClusterLike = None,
    listeners: Sequence[Listener] = (),
    granularity: Granularity | None = None,
    timeouts: Timeouts = DEFAULTS,
    metrics: Mapping[str, UserFunction | UserMetric] | None = None,
    *,
    client: ClusterLike = None,
    progress: bool | None = None,
) -> Dataset:
    """Run a sweep into a store, or resume an unfinished one; return the results as a lazy dataset.

    `metrics` are functions of a user's own by name, see `pipeline.sweep.user_metrics`: part of the fingerprint of the
    store. Without a store the results are in memory. `client`, or `cluster`, is a client of Dask, a cluster object, the
    address of a scheduler or a cluster file; without one it is the cluster of the task that calls, or of the default
    client. If neither exists, it is this process for small work, else a cluster on this machine for the run. The
    cluster of a user is never shut down. With an asynchronous client of the running event loop the results are to be
    awaited. `granularity`: one task for each limb or one for each block; absent: limbs where that keeps the cluster as
    busy. `progress`: show it below the cell of a notebook, or as lines on standard error (absent: in notebooks).

    Raises InputError or StoreError for a sweep that cannot be run, before anything is computed; StoreError also where
    the store cannot be written any more, RunStoppedError where the cluster is lost, nothing comes back, or somebody
    cancels: stored results are kept. Cases that cannot be computed hold NaN and are reported to the listeners, and
    without these errors of `metrics` as a RuntimeWarning;
    blocks that fail altogether are reported too and left out of the dataset, whose attribute `finished` is then False.

        >>> results = ls.run(ls.Sweep.from_yaml("sweep.yaml"), "again.zarr", progress=False)
        >>> dict(results.sizes)
        {'design': 33, 'friction': 2, 'trajectory': 1, 'time': 501, 'actuator': 3}
    """
    sweep = Sweep.checked(sweep)
    _check_granularity(granularity)
    task = _Task(
        with_metrics(sweep, metrics) if metrics else sweep,
        store,
        as_cluster(one_of(cluster, client)),
        tuple(listeners),
        granularity,
        timeouts,
        _shown(progress),
    )
    if task.asynchronous:
        return PendingRun(task.begin())  # type: ignore[return-value]  # to be awaited, as all that Dask returns there
    return task.complete()


def run_into(
    store: LocationLike,
    sweep: Sweep,
    cluster: ClusterLike = None,
    listeners: Sequence[Listener] = (),
    granularity: Granularity | None = None,
) -> None:
    """Run a sweep into a store as `run` does, without opening the store.

    Opening it needs Dask's arrays, whose import takes longer than a small run. Raises as `run` does.
    """
    _check_granularity(granularity)
    _Task(Sweep.checked(sweep), store, as_cluster(cluster), tuple(listeners), granularity, DEFAULTS).into(store)


@check_arguments
def compute(
    sweep: Sweep,
    listeners: Sequence[Listener] = (),
    metrics: Mapping[str, UserFunction | UserMetric] | None = None,
    *,
    progress: bool | None = None,
) -> Dataset:
    """Run a sweep in this process, a thread for each core, without cluster and store; return the results in memory.

    `run` does the same with small work; the arguments are those of `run`. Raises InputError.

        >>> results = ls.compute(ls.Sweep.from_yaml("sweep.yaml"))
        >>> results["peak_force"].dims
        ('design', 'friction', 'trajectory', 'actuator')
    """
    return run(sweep, None, ClusterConfig.of("threads"), listeners, metrics=metrics, progress=progress)


@check_arguments
def submit(
    sweep: Sweep,
    store: LocationLike | None = None,
    cluster: ClusterLike = None,
    listeners: Sequence[Listener] = (),
    granularity: Granularity | None = None,
    timeouts: Timeouts = DEFAULTS,
    metrics: Mapping[str, UserFunction | UserMetric] | None = None,
    *,
    client: ClusterLike = None,
) -> RunHandle:
    """Start `run` in a thread of this process and return at once a handle with status, result and cancel.

    For a run that outlives this process see `limbsweep submit`. Raises InputError for an argument that names no
    cluster, and in a task of Dask, which may end before its run does.

        >>> handle = ls.submit(ls.Sweep.from_yaml("sweep.yaml"))
        >>> handle.result().sizes["design"]
        33
    """
    if in_task():
        hint = "Call run in a task, and submit the task: client.submit(function)."
        raise refused("submit", "a call in a task of Dask", "run", hint)
    sweep = Sweep.checked(sweep)
    _check_granularity(granularity)
    sweep = with_metrics(sweep, metrics) if metrics else sweep
    chosen = as_cluster(one_of(cluster, client))
    return _Task(sweep, store, chosen, tuple(listeners), granularity, timeouts).begin()


def _check_granularity(granularity: str | None) -> None:
    names = get_args(Granularity)
    if granularity is not None and granularity not in names:
        hint = "Leave it out: then the run chooses."
        raise refused("granularity", repr(granularity), f"one of {', '.join(names)}", hint)


@dataclass(frozen=True)
class _Task:
    """Arguments of a call of `run`."""

    sweep: Sweep
    store: LocationLike | None
    cluster: Connectable
    listeners: tuple[Listener, ...]
    granularity: Granularity | None
    timeouts: Timeouts
    progress: NotebookProgress | LineProgress | None = None

    @property
    def asynchronous(self) -> bool:
        """Return whether waiting in this thread would stop the cluster."""
        return isinstance(self.cluster, UserCluster) and self.cluster.asynchronous

    def begin(self) -> RunHandle:
        """Complete it in a thread of its own."""

        def action(listen: Listener, stop: Callable[[], bool]) -> Dataset:
            return replace(self, listeners=(listen, *self.listeners)).complete(stop)

        return RunHandle(action, asyncio.get_running_loop() if self.asynchronous else None)

    def complete(self, stop: Callable[[], bool] = lambda: False) -> Dataset:
        """Run to the end, and show the progress."""
        if self.progress is None and self.listeners:  # which are told of all failures
            return self._complete(stop)
        if self.progress is None:
            failed = FailedMetrics()
            results = replace(self, listeners=(failed,))._complete(stop)
            failed.warn()
            return results
        try:
            results = replace(self, listeners=(*self.listeners, self.progress))._complete(stop)
        except BaseException as error:
            self.progress.stopped(error)
            raise
        self.progress.results(failed_samples(results))
        return results

    def _complete(self, stop: Callable[[], bool]) -> Dataset:
        if self.store is None:
            return self._in_memory(stop)
        self.into(self.store, stop)
        return with_conventions(open_results(self.store, unfinished=True), self.sweep)

    def into(self, store: LocationLike, stop: Callable[[], bool] = lambda: False) -> None:
        """Run to the end into a store, where it is not finished yet."""
        place = locate(store)
        plan = plan_at(self.sweep, place)
        if not (place.exists() and is_finished(plan, place)):
            cluster = near(plan) if self.cluster == ClusterConfig() else self.cluster
            _Run(plan, place, cluster, self.listeners, self.granularity, self.timeouts, stop).complete()

    def _in_memory(self, stop: Callable[[], bool]) -> Dataset:
        plan = plan_sweep(self.sweep)
        cluster = near(plan) if self.cluster == ClusterConfig() else self.cluster
        if isinstance(cluster, ClusterConfig) and cluster.cluster.kind == "threads":
            plan = on_device(plan, device_of(cluster), cluster.source, None)
            try:
                return computed(plan, self.listeners, stop, cluster.cluster.threads_per_worker)
            except RunCancelledError:
                raise
            except Exception:  # a case that cannot be computed: a run finds out which, and leaves it out
                logging.getLogger(__name__).debug("a block failed in memory", exc_info=True)
        folder = Path(tempfile.mkdtemp(prefix="limbsweep-"))
        try:
            here = replace(self, store=folder / "results.zarr", cluster=cluster)
            return here._complete(stop).load(scheduler=_loading(cluster))
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _shown(progress: bool | None) -> NotebookProgress | LineProgress | None:
    """Return the progress display: below the cell of a notebook, or as lines where they are asked for; else None."""
    if progress is False:
        return None
    if in_notebook():
        return NotebookProgress()
    return LineProgress(lambda text: print(text, file=sys.stderr, flush=True)) if progress else None


def _loading(cluster: Connectable) -> str:
    """Return Dask's scheduler for reading the results: threads, or none for a run that asked for none."""
    alone = isinstance(cluster, ClusterConfig) and cluster.cluster.kind == "synchronous"
    return "synchronous" if alone else "threads"


def near(plan: Plan) -> ClusterConfig:
    """Return the cluster of this machine that finishes a plan first: threads of this process for a small plan.

    The time of user functions is unknown, and they hold the lock of Python: only few of their calls count as small.
    """
    calls = len(plan.sweep.user_metrics) * plan.cases
    small = plan.work.seconds < SMALL_SECONDS and calls <= SMALL_CALLS
    return ClusterConfig.of("threads") if small else ClusterConfig()


@dataclass(frozen=True)
class _Run:
    """Run of a plan into a store, with its settings."""

    plan: Plan
    place: Location
    cluster: Connectable
    listeners: tuple[Listener, ...]
    granularity: Granularity | None
    timeouts: Timeouts
    stop: Callable[[], bool]

    def complete(self) -> None:
        """Run to the end. A cluster of the run's own that is lost is started again, once."""
        import dask

        if isinstance(self.cluster, ClusterConfig):
            require_walltime(self.cluster, self.plan)
            require_memory(self.cluster, self.plan)
        default = dask.config.get("scheduler", None)
        restarts = 0 if self.cluster.runs_already else 1
        lost: str | None = None
        while True:
            try:
                with orderly_end():
                    return self._on_cluster(lost)
            except ClusterLostError as error:
                # A client whose scheduler has gone stays behind as the default of all that Dask computes.
                dask.config.set(scheduler=default)
                if not restarts:
                    raise RunStoppedError(f"{error}; stored results are kept") from error
                restarts, lost = restarts - 1, str(error)

    def _on_cluster(self, lost: str | None) -> None:
        """Run every stage on one cluster; `lost` says why the previous cluster was lost, if one was."""
        with (
            connect(self.cluster, broadcast(self.listeners)) as client,
            marked(self.place) if self._is_far(client) else nullcontext() as mark,
        ):
            plan, members = self._checked(client, mark)
            create_store(plan, self.place)
            with (
                coordinator_lock(self.place),
                Ledger.open(self.place, self.plan.blocks) as ledger,
                RunLog.open(self.place) as log,
            ):
                if is_finished(self.plan, self.place):  # by another run, since it was looked at
                    return
                clear_cancel(self.place)
                notify = broadcast((log, *scalers(client), *self.listeners))
                if lost:
                    notify(ClusterRestarted(lost))
                if mark is not None:
                    mark.enter()
                replace(self, plan=plan)._compute(ledger, client, members, notify)
                self._finish(ledger)

    def _is_far(self, client: Client | None) -> bool:
        """Return whether workers may be on other machines than this one."""
        is_ours = isinstance(self.cluster, ClusterConfig) and self.cluster.kind.family == "local"
        return client is not None and not is_ours

    def _checked(self, client: Client | None, mark: Mark | None) -> tuple[Plan, Membership | None]:
        """Check workers and disk; return the plan that fits into the workers, and the workers. Raises InputError."""
        plan = self.plan
        with self._losses(client):
            plan = on_device(plan, device_of(self.cluster), self.cluster.source, client)
            members = admit(client, plan, self.cluster.source, broadcast(self.listeners), mark)
            if client is not None and not self.cluster.runs_already:
                _prepare(client)
        plan = plan if members is None else members.plan
        if not self.place.exists():
            require_space(self.place, *stored_size(plan))
        return plan, members

    @contextmanager
    def _losses(self, client: Client | None) -> Iterator[None]:
        """Turn errors of a lost cluster into ClusterLostError, and close the client, which would look for it."""
        try:
            with translated_losses():
                yield
        except ClusterLostError:
            if client is not None and isinstance(self.cluster, ClusterConfig):
                _close(client)
            raise

    def _compute(self, ledger: Ledger, client: Client | None, members: Membership | None, notify: Listener) -> None:
        """Compute every block without a receipt, and notify of the beginning and the end."""
        start = time.perf_counter()
        plan, shared = self.plan, SharedBlocks(self.plan)
        with self._losses(client):
            threads = None if members is None else members.threads
            if threads is not None and self.granularity != "limb" and not plan.is_parted:
                shared = together(plan, threads)
            chosen = choose_granularity(plan, threads)
            granularity = "block" if shared.count > 1 else self.granularity or chosen
            left = plan.blocks - ledger.count
            executor = make_executor(client, plan, granularity, None, left, shared.count, members)
        writer = StoreWriter(self.place)
        blocks = shared.order(ledger.remaining())
        loop = RunLoop(plan, writer, ledger, executor, notify, granularity, self.timeouts, self.stop, blocks)
        loop.task_writer = None if members is None else members.writer(writer)
        try:
            sizes = plan.blocks, ledger.count, plan.block_samples
            notify(Started(*sizes, _dashboard(client), granularity, plan.parts_per_block))
            loop.run()
        except BaseException as error:
            if client is not None and isinstance(error, ClusterLostError) and isinstance(self.cluster, ClusterConfig):
                _close(client)
            with suppress(OSError):  # of a listener that writes to a terminal that has gone; the log comes first
                notify(Stopped(_reason(error), isinstance(error, RunCancelledError | KeyboardInterrupt)))
            clear_cancel(self.place)
            raise
        notify(Finished(loop.samples, time.perf_counter() - start, loop.agenda.given_up, loop.failed_cases))

    def _finish(self, ledger: Ledger) -> None:
        """Mark the store as finished if every block has a receipt, and remove drafts of killed workers."""
        if ledger.count == self.plan.blocks:
            ledger.sync()
            finish(self.place)
            with refusals(self.place):
                self.place.tidy()


def _prepare(client: Client) -> None:
    """Prepare the workers of a cluster of our own, and later workers as well."""
    from pipeline.execution.processes.worker import WorkerSetup

    client.register_plugin(WorkerSetup())


def _dashboard(client: Client | None) -> str | None:
    """Return the link to Dask's dashboard; None without a cluster, or without the package that draws it."""
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
    """Return the reason why a run stops, in one line."""
    text = " ".join(str(error).split())
    return text or "interrupted" if isinstance(error, KeyboardInterrupt) else text
