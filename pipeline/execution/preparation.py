"""Checks before the first block (versions, memory and bits of workers, space for the store), and runs without a store.

Wrong settings can stay unnoticed for hours: other versions give other bits, a block that does not fit kills worker
after worker, a full disk stops the last block. Each check raises InputError with the finding and the remedy.

Results without a store are computed in this process, or are arrays of Dask, computed on demand.
"""

from __future__ import annotations

import math
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pipeline.cluster.arguments import cores
from pipeline.errors import ClusterLostError, InputError, Problem, RunCancelledError, size
from pipeline.execution.blocks import block_of
from pipeline.execution.contents import contents, require_same_versions, versions
from pipeline.execution.conventions import with_conventions
from pipeline.execution.executor import LOST
from pipeline.execution.graph import canary_graph, lazy_arrays
from pipeline.execution.policy import FULL, Worker, worker_table, workers_of
from pipeline.execution.shared_blocks import together
from pipeline.monitor.log import BlockDone, Finished, Listener, Started, broadcast
from pipeline.plan.memory import BASE_MEMORY
from pipeline.plan.model import Plan
from pipeline.plan.plan import fitted, least_memory
from pipeline.plan.plan import plan as plan_sweep
from storage.places.access import locate
from storage.places.location import LocationLike
from storage.store import template
from tasks.blocks.compute import whole_blocks

if TYPE_CHECKING:
    from dask.array import Array
    from distributed import Client, Future
    from xarray import Dataset

    from pipeline.sweep.model import Sweep


COMPRESSION = 2.0
"""The most that compression is counted on when the space for a store is judged."""

SPARE_FILES = 64
SPARE = 1.02
"""Share of memory that a refusal adds to the need: the memory of a worker before its first block varies."""

CANARY_SECONDS = 300.0
CANARY_LOOK_SECONDS = 2.0
"""Time after which is looked whether the worker of a canary is there still."""

CANARIES = 2


def preflight(client: Client, plan: Plan, cluster: str) -> Plan:
    """See that the workers of a cluster can compute a plan, all with the same result. Raises InputError.

    Returns the plan, which computes blocks in parts where the memory of workers asks for that.
    """
    require_same_versions(cluster, client.run(versions, on_error="return"))
    plan = admitted(client, plan, cluster)
    workers = worker_table(client)
    chosen = canaries({address: str(worker.get("host", "")) for address, worker in workers.items()})
    if len(chosen) > 1 and len(results := dict(_canary_results(client, plan, chosen))) > 1:
        require_same_bits(cluster, results)
    return plan


def admitted(client: Client, plan: Plan, cluster: str) -> Plan:
    """The plan as it fits into the memory of all workers. Raises InputError where they have no room for one case.

    Counted is what each worker holds beside blocks: modules, and whatever others keep there.
    """
    from pipeline.execution.processes.worker import held_memory  # with all of Dask's workers

    table = worker_table(client)
    workers = dict(zip(table, workers_of(table), strict=True))
    resident = client.run(held_memory, on_error="return")
    code = plan.base_memory - BASE_MEMORY
    bases = {
        address: code + (memory if isinstance(memory := resident.get(address), int) else BASE_MEMORY)
        for address in workers
    }
    rooms = [int(FULL * worker.limit) - bases[address] for address, worker in workers.items() if worker.limit]
    if not rooms:
        return plan
    if (fitting := fitted(plan, min(rooms))) is not None:
        return fitting
    least = least_memory(plan)
    require_memory(cluster, workers, {address: base + least for address, base in bases.items()})
    return plan


def require_memory(cluster: str, workers: Mapping[str, Worker], memory: Mapping[str, int]) -> None:
    """See that every worker has room for so many bytes, those beside its block included. Raises InputError."""
    hint = "Give workers more memory, or ask for fewer outputs or shorter trajectories."
    small = [(address, memory[address]) for address, worker in workers.items() if worker.limit]
    small = [(address, need) for address, need in small if FULL * workers[address].limit < need]
    if small:
        raise InputError(
            Problem(
                cluster,
                0,
                0,
                f"worker {address}",
                f"a memory limit of {size(workers[address].limit)}",
                f"at least {size(math.ceil(SPARE * need / FULL))}, with which one case does not make Dask pause it",
                hint,
            )
            for address, need in small
        )


def canaries(hosts: Mapping[str, str]) -> list[str]:
    """Workers that are to compute the same: on different hosts where there are several, by address."""
    first = {host: address for address, host in sorted(hosts.items(), reverse=True)}
    others = sorted(set(hosts) - set(first.values()))
    return [*sorted(first.values()), *others][:CANARIES]


def _canary_results(client: Client, plan: Plan, workers: Iterable[str]) -> Iterator[tuple[str, Any]]:
    """Yield checksums of the first case of the first block, computed on each of these workers that does not end."""
    run, futures = uuid.uuid4().hex[:8], {}
    for number, address in enumerate(workers):
        graph, key = canary_graph(plan, 0, number, run)
        futures[address] = client.get(graph, key, workers=[address], allow_other_workers=False, sync=False)
    for address, future in futures.items():
        if (result := _canary_result(client, address, future)) is not None:
            yield address, result
        future.release()


def _canary_result(client: Client, address: str, future: Future) -> Any:
    """Return the checksums of a worker, or the words of its error; None if it has gone, and nobody else may do it.

    Raises ClusterLostError.
    """
    deadline = time.monotonic() + CANARY_SECONDS
    while True:
        try:
            return future.result(timeout=CANARY_LOOK_SECONDS)
        except Exception as error:  # A case that cannot be computed is the run's to deal with.
            if type(error).__name__ in LOST:
                raise ClusterLostError(LOST[type(error).__name__]) from error
            if future.status != "pending" or time.monotonic() > deadline:
                return f"{type(error).__name__}: {error}"
            if address not in worker_table(client):
                return None


def require_same_bits(cluster: str, results: Mapping[str, Any]) -> None:
    """See that workers agree on the same case, variable by variable. Raises InputError that names two that do not."""
    first, *others = results
    reference = results[first]
    for address in others:
        if results[address] == reference:
            continue
        got = f"other results than {first} {_differing(reference, results[address])}"
        hint = "Compare the two machines: one of them computes wrongly, or has other packages than it says."
        raise InputError([Problem(cluster, 0, 0, f"worker {address}", got, "the same bits for the same block", hint)])


def _differing(reference: object, result: object) -> str:
    """In which variables two results differ; where one of them is an error, that error."""
    if not isinstance(result, Mapping):
        return f"({result})"
    if not isinstance(reference, Mapping):
        return f"({reference})"
    return "in " + ", ".join(name for name in reference if reference[name] != result.get(name))


def require_space(store: LocationLike, stored: int, files: int) -> None:
    """See that a disk has room for so many bytes, before compression, and files. Raises InputError about the store."""
    place, problems = locate(store), []
    if (room := place.room()) is None:
        return
    if room.bytes is not None and room.bytes < stored / COMPRESSION:
        rule = f"at least {size(int(stored / COMPRESSION))}, half of the stored bytes before compression"
        got = f"{size(room.bytes)} of free space"
        problems.append(Problem(str(place), 0, 0, "", got, rule, "Choose another disk."))
    if room.files is not None and room.files < files + SPARE_FILES:
        rule = f"at least {files + SPARE_FILES:,}, one for each file of the store"
        problems.append(Problem(str(place), 0, 0, "", f"room for {room.files:,} files", rule, "Choose another disk."))
    if problems:
        raise InputError(problems)


def lazy(sweep: Sweep) -> Dataset:
    """Return the results of a sweep as a dataset of Dask arrays, computed on demand.

    A chunk is a block of the plan. Its limb tasks become part of the graph in which they are asked for, on the cluster
    or scheduler that computes that, so that `xarray.map_blocks`, reductions and `to_zarr` compose with them. The bits
    are those of `run`. A block that cannot be computed raises TaskError there. Raises InputError.

        >>> results = ls.lazy(ls.Sweep.from_yaml("sweep.yaml"))  # nothing is computed yet
        >>> bool(results["peak_force"].max().compute() > 1.0)
        True
    """
    plan = plan_sweep(sweep)
    return dataset(plan, lazy_arrays(plan))


def computed(
    plan: Plan, listeners: Sequence[Listener] = (), stop: Callable[[], bool] = lambda: False, threads: int | None = None
) -> Dataset:
    """The results of a plan in memory, by threads of this process (absent: one a core); the bits are those of a run.

    Raises what a block raises, and RunCancelledError where `stop` says so.
    """
    layout, notify, start = plan.layout, broadcast(tuple(listeners)), time.perf_counter()
    arrays = {name: np.empty(layout.shape(name), layout.variable(name).dtype) for name in layout.variables}

    def fill(indices: tuple[int, ...]) -> int:
        begin = time.perf_counter()
        if stop():
            raise RunCancelledError("cancelled")
        for index, values in zip(indices, whole_blocks([block_of(plan, index) for index in indices]), strict=True):
            for name, array in values.items():
                arrays[name][layout.region(index, name)] = array
            notify(BlockDone(index, plan.samples_of(index), time.perf_counter() - begin))
        return sum(map(plan.samples_of, indices))

    notify(Started(plan.blocks, 0, plan.block_samples, None, "block"))
    threads = threads or cores()
    with ThreadPoolExecutor(threads) as pool:
        samples = sum(pool.map(fill, together(plan, threads).groups(range(plan.blocks))))
    results = dataset(plan, arrays)
    notify(Finished(samples, time.perf_counter() - start, 0))
    return results


def dataset(plan: Plan, arrays: Mapping[str, NDArray[Any] | Array]) -> Dataset:
    """The dataset of a plan as `open` would give it from a store, with these arrays as its variables."""
    from xarray import Variable

    empty = template(plan.layout, contents(plan))
    dims = {name: plan.layout.variable(name).dims for name in plan.layout.variables}
    # what they are is known: xarray would import the arrays of Dask to ask whether they are such
    whole = empty.assign({name: Variable(dims[name], arrays[name], empty[name].attrs, fastpath=True) for name in dims})
    return with_conventions(whole, plan.sweep)
