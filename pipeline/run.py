"""Run a sweep: prepare the store, drive its blocks through a cluster in a bounded window, finish.

The coordinator alone writes the ledger. A block is done when its receipt is in the ledger; a run that is interrupted, here or
by force, goes on with the blocks that have none.
"""

from __future__ import annotations

import shutil
import tempfile
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.cluster import ClusterConfig, connect
from pipeline.events import BlockDone, BlockFailed, Event, Finished, Listener, Started
from pipeline.execute import Result, Work, in_process, on_cluster, window
from pipeline.graph import Granularity, block_graph
from pipeline.plan import Plan, coordinates, plan
from pipeline.provenance import attributes
from robots.status import flags
from storage.ledger import Ledger
from storage.lock import coordinator_lock
from storage.manifest import finish, require_same
from storage.schema import Coordinate, units
from storage.store import StoreWriter, create, open_results

if TYPE_CHECKING:
    from xarray import Dataset

    from pipeline.sweep import Sweep


def run(
    sweep: Sweep,
    store: str | Path | None = None,
    cluster: str | Path | ClusterConfig | None = None,
    listeners: Sequence[Listener] = (),
    granularity: Granularity = "limb",
) -> Dataset:
    """Run a sweep into a store, or go on with one that is not finished; the results as a lazy dataset.

    Without a store the results are in memory. `cluster` is a cluster file; without one a cluster is made on this machine for
    the run. Raises InputError, StoreError for what cannot be run, before anything is computed.
    """
    if store is None:
        return _in_memory(sweep, cluster, listeners, granularity)
    made = plan(sweep)
    path = Path(store)
    config = cluster if isinstance(cluster, ClusterConfig) else ClusterConfig() if cluster is None else ClusterConfig.from_yaml(cluster)
    _prepare(made, path)
    with coordinator_lock(path), Ledger.open(path, made.blocks) as ledger:
        if ledger.count < made.blocks:
            _drive(made, path, ledger, config, listeners, granularity)
        if ledger.count == made.blocks:
            finish(path)
    return open_results(path, unfinished=ledger.count < made.blocks)


def _in_memory(sweep: Sweep, cluster: Any, listeners: Sequence[Listener], granularity: Granularity) -> Dataset:
    folder = Path(tempfile.mkdtemp(prefix="limbsweep-"))
    try:
        return run(sweep, folder / "results.zarr", cluster, listeners, granularity).load()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _prepare(made: Plan, path: Path) -> None:
    """Create the store, or see that it belongs to this sweep."""
    sweep = made.sweep
    if path.exists():
        require_same(path, fingerprint=sweep.fingerprint, sweep=sweep.text, layout=made.layout)
        return
    axes = [Coordinate(*row) for row in coordinates(made)]
    kinds = {link.kind for limb in made.mechanism.limbs for link in limb.links if link.joint in limb.actuated}
    chosen = units("revolute" if kinds == {"revolute"} else "prismatic")
    stored = {name: unit for name, unit in chosen.items() if name in made.layout.variables}
    create(path, made.layout, axes, attributes(sweep), units=stored, flags=flags())


def _drive(
    made: Plan, path: Path, ledger: Ledger, config: ClusterConfig, listeners: Sequence[Listener], granularity: Granularity
) -> None:
    """Compute every block without a receipt."""
    run_name, start = uuid.uuid4().hex[:8], time.perf_counter()
    writer = StoreWriter(path)
    samples = failed = 0

    def tell(event: Event) -> None:
        for listener in listeners:
            listener(event)

    todo = (block_graph(made, index, writer, run_name, granularity) for index in ledger.remaining())
    with _results(config, todo) as (dashboard, results):
        tell(Started(made.blocks, ledger.count, made.block_samples, dashboard))
        for (_, index), receipt, seconds in results:
            if isinstance(receipt, BaseException):
                failed += 1
                tell(BlockFailed(index, _reason(receipt)))
                continue
            ledger.append(receipt)
            samples += made.samples_of(index)
            tell(BlockDone(index, made.samples_of(index), seconds))
    tell(Finished(samples, time.perf_counter() - start, failed))


@contextmanager
def _results(config: ClusterConfig, work: Iterator[Work]) -> Iterator[tuple[str | None, Iterator[Result]]]:
    """The link to the dashboard, and results of all work as they come; what is in flight is cancelled on leaving."""
    with connect(config) as client:
        if client is None:
            yield None, in_process(work)
            return
        results = on_cluster(client, work, window(client))
        try:
            yield client.dashboard_link, results
        finally:
            results.close()


def _reason(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:500]}"

