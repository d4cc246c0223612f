"""Check of the space for a store before the first block, and runs without a store.

Results without a store are computed in this process, or are arrays of Dask, computed on demand.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pipeline.cluster.arguments import cores
from pipeline.errors import InputError, Problem, RunCancelledError, size
from pipeline.execution.advance import RunningShares
from pipeline.execution.blocks import block_of
from pipeline.execution.contents import contents
from pipeline.execution.conventions import with_conventions
from pipeline.execution.graph import lazy_arrays
from pipeline.execution.shared_blocks import together
from pipeline.execution.user_warnings import metric_failures
from pipeline.execution.work import whole_blocks
from pipeline.monitor.log import BlockDone, Finished, Listener, Started, broadcast
from pipeline.plan.model import Plan
from pipeline.plan.plan import plan as plan_sweep
from storage.places.access import locate
from storage.places.location import LocationLike
from storage.store import template
from tasks.kernels.advance import listening

if TYPE_CHECKING:
    from dask.array import Array
    from xarray import Dataset

    from pipeline.sweep.model import Sweep


COMPRESSION = 2.0
"""Largest factor of compression that the check of the space for a store assumes."""

SPARE_FILES = 64


def require_space(store: LocationLike, stored: int, files: int) -> None:
    """Check that a disk has room for a number of bytes (before compression) and of files. Raises InputError."""
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
    """Compute the results of a plan in memory, by threads of this process (absent: one per core); same bits as a run.

    Raises the errors of a block, and RunCancelledError where `stop` returns True.
    """
    layout, notify, start = plan.layout, broadcast(tuple(listeners)), time.perf_counter()
    arrays = {name: np.empty(variable.shape, variable.row.dtype) for name, variable in layout.variables.items()}

    def fill(indices: tuple[int, ...]) -> int:
        begin = time.perf_counter()
        if stop():
            raise RunCancelledError("cancelled")
        with listening(lambda share: shares.put_and_tell(indices[0], share)):
            computed_blocks = whole_blocks([block_of(plan, index) for index in indices])
        shares.done(indices[0])
        for index, (values, warnings) in zip(indices, computed_blocks, strict=True):
            for name, array in values.items():
                arrays[name][layout.variables[name].region(index)] = array
            for failed in metric_failures(layout, index, warnings):
                notify(failed)
            notify(BlockDone(index, plan.samples_of(index), time.perf_counter() - begin))
        return sum(map(plan.samples_of, indices))

    notify(Started(plan.blocks, 0, plan.block_samples, None, "block"))
    threads = threads or cores()
    groups = [*together(plan, threads).groups(range(plan.blocks))]
    sizes = {indices[0]: sum(map(plan.samples_of, indices)) for indices in groups}
    shares = RunningShares(sizes.__getitem__, notify)
    with ThreadPoolExecutor(threads) as pool:
        samples = sum(pool.map(fill, groups))
    results = dataset(plan, arrays)
    notify(Finished(samples, time.perf_counter() - start, 0))
    return results


def dataset(plan: Plan, arrays: Mapping[str, NDArray[Any] | Array]) -> Dataset:
    """Return the dataset of a plan as `open` would give it from a store, with these arrays as its variables."""
    from xarray import Variable

    empty = template(plan.layout, contents(plan))
    dims = {name: variable.dims for name, variable in plan.layout.variables.items()}
    # the types are known: without `fastpath` xarray would import Dask to find out whether these are Dask arrays
    whole = empty.assign({name: Variable(dims[name], arrays[name], empty[name].attrs, fastpath=True) for name in dims})
    return with_conventions(whole, plan.sweep)
