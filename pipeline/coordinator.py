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
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.attempts import DEFAULTS, Limits
from pipeline.cluster import ClusterConfig, connect, scalers
from pipeline.control import clear_cancel
from pipeline.drive import Drive
from pipeline.errors import ClusterLostError, RunCancelledError, RunStoppedError
from pipeline.events import ClusterRestarted, Finished, Listener, Started, Stopped, teller
from pipeline.execute import Flight, InProcess
from pipeline.graph import Granularity
from pipeline.on_cluster import OnCluster
from pipeline.own_metrics import Function, UserMetric, with_metrics
from pipeline.plan import Plan, coordinates, plan
from pipeline.preflight import preflight, require_space
from pipeline.provenance import attributes
from pipeline.runlog import RunLog
from pipeline.truth import true_parameters
from pipeline.walltime import require_walltime
from pipeline.window import Window
from robots.model import TRANSLATION, Robot
from robots.status import flags
from storage.completion import finish
from storage.ledger import Ledger, require_complete
from storage.lock import coordinator_lock
from storage.manifest import Manifest, require_same
from storage.place import Location, Place, locate
from storage.schema import Coordinate, units, volume_units
from storage.store import StoreWriter, create, open_results
from tasks.reactions.system import unique

if TYPE_CHECKING:
    from distributed import Client
    from xarray import Dataset

    from pipeline.sweep import Sweep

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
    metrics: Mapping[str, Function | UserMetric] | None = None,
) -> Dataset:
    """Run a sweep into a store, or go on with one that is not finished; the results as a lazy dataset.

    `metrics` are functions of a user's own by name, see `pipeline.own_metrics`: part of what the store is of.
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
            flight(client, self.plan, self.granularity),
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


def flight(client: Client | None, plan: Plan, granularity: Granularity = "limb") -> Flight:
    """The way of blocks to a cluster, or to this process where there is none."""
    if client is None:
        return InProcess()
    parallel = len(plan.limbs) + 1 if granularity == "limb" else 1
    return OnCluster(client, Window(client, parallel, plan.block_memory))


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


def plan_at(sweep: Sweep, place: Place) -> Plan:
    """The plan of a sweep in a store: blocks of one that was made larger are those that it began with."""
    made = plan(sweep)
    if place.exists() and (manifest := Manifest.load(place)).generation > 1:
        return replace(made, layout=replace(made.layout, block=manifest.layout.block))
    return made


def _is_finished(made: Plan, place: Place) -> bool:
    """Whether nothing is left to do in a store.

    Raises StoreError where it is not a store of this sweep, and where its ledger is damaged or lacks receipts.
    """
    sweep = made.sweep
    manifest = require_same(place, fingerprint=sweep.fingerprint, sweep=sweep.text, layout=made.layout)
    if manifest.state == "finished":
        require_complete(place, made.blocks)
    return manifest.state == "finished"


def _needed(made: Plan) -> tuple[int, int]:
    """Bytes before compression and files of the whole store."""
    return sum(made.layout.bytes(name) for name in made.layout.variables), made.layout.files


def _prepare(made: Plan, place: Place) -> None:
    """Create the store where there is none."""
    if place.exists():
        return
    create(place, made.layout, **contents(made))


def contents(made: Plan) -> dict[str, Any]:
    """What a store of a plan says of itself: coordinates, attributes, units, codes of the status."""
    kinds = set(made.mechanism.actuator_kinds)
    chosen = units("revolute" if kinds == {"revolute"} else "prismatic")
    chosen |= volume_units(sum(name in TRANSLATION for name in made.mechanism.platform.mobility))
    return {
        "coordinates": [*(Coordinate(*row) for row in coordinates(made)), *true_parameters(made.sweep)],
        "attributes": attributes(made.sweep) | _uniqueness(made),
        "units": {name: unit for name, unit in chosen.items() if name in made.layout.variables},
        "flags": flags(),
        "sources": made.sweep.sources,
    }


def _dashboard(client: Client | None) -> str | None:
    """The link to Dask's dashboard; none without a cluster, or without the package that draws it."""
    return client.dashboard_link if client and find_spec("bokeh") else None


def _uniqueness(made: Plan) -> dict[str, Any]:
    """Which reactions statics determines, as an attribute: ones and zeros (limb, joint, wrench)."""
    if "joint_reaction" not in made.layout.variables:
        return {}
    return {"joint_reaction_unique": unique(Robot.of(made.sweep.family, made.sweep.fixed)).astype(int).tolist()}


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
