"""Run a sweep: connect to a cluster, prepare the store, drive the blocks through a bounded window, finish.

The coordinator alone writes the ledger. A block is done when its receipt is in the ledger; a run that is interrupted,
here or by force, goes on with the blocks that have none.
"""

from __future__ import annotations

import shutil
import tempfile
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.cluster import ClusterConfig, connect
from pipeline.events import BlockDone, BlockFailed, Event, Finished, Listener, Started
from pipeline.execute import check_versions, run_all
from pipeline.graph import Granularity, TaskError, block_graph
from pipeline.plan import Plan, coordinates, plan
from pipeline.provenance import attributes
from robots.model import Robot
from robots.status import flags
from storage.errors import StoreError
from storage.ledger import Ledger
from storage.lock import coordinator_lock
from storage.manifest import finish, require_same
from storage.schema import Coordinate, units
from storage.store import StoreWriter, create, open_results
from tasks.newton_euler_system import unique

if TYPE_CHECKING:
    from distributed import Client
    from xarray import Dataset

    from pipeline.sweep import Sweep

Cluster = str | Path | ClusterConfig | None


def run(
    sweep: Sweep,
    store: str | Path | None = None,
    cluster: Cluster = None,
    listeners: Sequence[Listener] = (),
    granularity: Granularity = "limb",
) -> Dataset:
    """Run a sweep into a store, or go on with one that is not finished; the results as a lazy dataset.

    Without a store the results are in memory. `cluster` is a cluster file; without one a cluster is made on this
    machine for the run. Raises InputError, StoreError for what cannot be run, before anything is computed; StoreError
    also where the store cannot be written any more, what has been stored stays. Blocks that fail for other reasons are
    told to the listeners and left out of the dataset, whose attribute `finished` is then False.
    """
    if store is None:
        return _in_memory(sweep, cluster, listeners, granularity)
    made, path, config = plan(sweep), Path(store), _config(cluster)
    if not (path.exists() and _is_finished(made, path)):
        with connect(config) as client:
            if client is not None:
                check_versions(client, config.source)
            _prepare(made, path)
            with coordinator_lock(path), Ledger.open(path, made.blocks) as ledger:
                _drive(made, path, ledger, client, listeners, granularity)
                if ledger.count == made.blocks:
                    finish(path)
    return open_results(path, unfinished=True)


def _config(cluster: Cluster) -> ClusterConfig:
    if isinstance(cluster, ClusterConfig):
        return cluster
    return ClusterConfig() if cluster is None else ClusterConfig.from_yaml(cluster)


def _in_memory(sweep: Sweep, cluster: Cluster, listeners: Sequence[Listener], granularity: Granularity) -> Dataset:
    folder = Path(tempfile.mkdtemp(prefix="limbsweep-"))
    try:
        return run(sweep, folder / "results.zarr", cluster, listeners, granularity).load()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _is_finished(made: Plan, path: Path) -> bool:
    """Whether nothing is left to do in a store. Raises StoreError where it is not a store of this sweep."""
    sweep = made.sweep
    manifest = require_same(path, fingerprint=sweep.fingerprint, sweep=sweep.text, layout=made.layout)
    return manifest.state == "finished"


def _prepare(made: Plan, path: Path) -> None:
    """Create the store where there is none."""
    if path.exists():
        return
    axes = [Coordinate(*row) for row in coordinates(made)]
    kinds = {link.kind for limb in made.mechanism.limbs for link in limb.links if link.joint in limb.actuated}
    chosen = units("revolute" if kinds == {"revolute"} else "prismatic")
    stored = {name: unit for name, unit in chosen.items() if name in made.layout.variables}
    described = attributes(made.sweep) | _uniqueness(made)
    create(path, made.layout, axes, described, units=stored, flags=flags())


def _dashboard(client: Client | None) -> str | None:
    """The link to Dask's dashboard; none without a cluster, or without the package that draws it."""
    return client.dashboard_link if client and find_spec("bokeh") else None


def _uniqueness(made: Plan) -> dict[str, Any]:
    """Which reactions statics determines, as an attribute: ones and zeros (limb, joint, wrench)."""
    if "joint_reaction" not in made.layout.variables:
        return {}
    return {"joint_reaction_unique": unique(Robot.of(made.sweep.family, made.sweep.fixed)).astype(int).tolist()}


def _drive(
    made: Plan,
    path: Path,
    ledger: Ledger,
    client: Client | None,
    listeners: Sequence[Listener],
    granularity: Granularity,
) -> None:
    """Compute every block without a receipt. Raises StoreError where one cannot be stored: no other could be."""
    run_name, start = uuid.uuid4().hex[:8], time.perf_counter()
    writer, tell = StoreWriter(path), _teller(listeners)
    samples = failed = 0
    todo = (block_graph(made, index, writer, run_name, granularity) for index in ledger.remaining())
    tell(Started(made.blocks, ledger.count, made.block_samples, _dashboard(client)))
    parallel = len(made.limbs) + 1 if granularity == "limb" else 1
    with closing(run_all(client, todo, parallel)) as results:
        for (_, index), receipt, seconds in results:
            if isinstance(receipt, StoreError):
                raise StoreError(f"{receipt}\nthe run stopped at block {index}; run it again to go on") from receipt
            if isinstance(receipt, BaseException):
                failed += 1
                tell(BlockFailed(index, _reason(receipt)))
                continue
            ledger.append(receipt)
            samples += made.samples_of(index)
            tell(BlockDone(index, made.samples_of(index), seconds))
    tell(Finished(samples, time.perf_counter() - start, failed))


def _teller(listeners: Sequence[Listener]) -> Callable[[Event], None]:
    def tell(event: Event) -> None:
        for listener in listeners:
            listener(event)

    return tell


def _reason(error: BaseException) -> str:
    return str(error) if isinstance(error, TaskError) else str(TaskError.of(error))
