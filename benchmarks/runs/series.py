"""A whole run that stores full time series, against plain Zarr that writes the same arrays from memory."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from benchmarks.figures import Figure, Size, best, require, surroundings
from benchmarks.runs import lost, sweeps
from benchmarks.runs.footprint import footprint
from benchmarks.runs.sweeps import SERIES, Stopwatch, text
from benchmarks.storage import plain_array
from pipeline.execution import work
from pipeline.execution.blocks import block_of
from pipeline.execution.run import run
from pipeline.plan.model import Plan
from pipeline.plan.plan import plan
from pipeline.sweep.model import Sweep
from storage import open_results
from storage.layout import Layout
from storage.places.local import sync_directory

ROUNDS = 3
"""Runs, and repeats of plain Zarr: each has its best, because the first to use some memory of a machine pays for it."""
TIMES = 10
"""Ratio of the bytes of the large run to those of the small one."""


def series(size: Size) -> Iterator[Figure]:
    """Measure a run that stores full time series, and reading them, against plain Zarr on the same arrays.

    A run leaves its files on the disk, plain Zarr in the memory of the system; so there is a second figure of plain
    Zarr, whose files are forced to the disk too.
    """
    sweep = Sweep.from_text(text(20, 20, 10_001, series=True) if size.full else text(3, 4, 5001, series=True))
    watches = [Stopwatch() for _ in range(ROUNDS if size.full else 1)]
    with tempfile.TemporaryDirectory(prefix="limbsweep-bench-") as folder:
        for watch in watches:
            shutil.rmtree(Path(folder) / "run.zarr", ignore_errors=True)
            results = run(sweep, Path(folder) / "run.zarr", None, [watch])
        arrays = {name: results[name].values for name in SERIES}
        alone = sweeps.alone(sweep)
        error = float(np.abs(arrays["actuator_force"][-1, 0, 0] - alone).max() / np.abs(alone).max())
        require(error < 1e-12, f"forces of the last design are off by {error:.1e}, relative; expected below 1e-12")
        reading = [
            min(_reading(how, Path(folder) / "run.zarr") for _ in watches) for how in (_read_checked, _read_plain)
        ]
        seconds = [
            _plain_seconds(Path(folder), plan(sweep).layout, arrays, len(watches), each) for each in (False, True)
        ]
    megabytes = sum(each.nbytes for each in arrays.values()) * 1e-6
    plain, synced = (megabytes / each for each in seconds)
    yield Figure("plain Zarr", plain, "MB/s", "same shards, chunks and codecs, from memory, a thread for each core")
    yield Figure(
        "plain Zarr, then fsync", synced, "MB/s", "the same, its files forced to the disk as those of a run are"
    )
    for name, rate in (("run", max(w.whole for w in watches)), ("run when steady", max(w.steady for w in watches))):
        speed = megabytes * rate / plan(sweep).samples
        yield Figure(name, speed, "MB/s", f"computed and stored, {megabytes:.0f} MB, limb tasks, on the disk")
        yield Figure(f"{name}, of plain Zarr", 100.0 * speed / plain, "%")
        yield Figure(f"{name}, of plain Zarr with fsync", 100.0 * speed / synced, "%")
    computing = _computing(plan(sweep)) * megabytes / plan(sweep).samples
    yield Figure("computing alone", computing, "MB/s", "blocks in a thread for each core, nothing stored")
    both = 1.0 / (1.0 / computing + 1.0 / synced)
    yield Figure("computing, then plain Zarr with fsync", both, "MB/s", "the bound where both need all cores")
    checked, unchecked = (megabytes / each for each in reading)
    yield Figure("reading", checked, "MB/s", "a dataset, all numbers held against receipts; time of the processor")
    yield Figure("reading, of plain Zarr", 100.0 * checked / unchecked, "%", "the same store as a dataset of Zarr")


def series_large(size: Size) -> Iterator[Figure]:
    """Measure ten times as much, which fits into no memory: speed and memory; plain Zarr ten times."""
    arms, *others = (20, 20, 10_001) if size.full else (1, 4, 1001)
    few, many = (text(count * arms, *others, series=True) for count in (1, TIMES))
    with tempfile.TemporaryDirectory(prefix="limbsweep-bench-") as folder:
        results, layout = run(Sweep.from_text(few)), plan(Sweep.from_text(few)).layout
        arrays = {name: results[name].values for name in SERIES}
        megabytes = TIMES * sum(each.nbytes for each in arrays.values()) * 1e-6
        synced = sum(_plain_kept(Path(folder) / str(k), layout, arrays) for k in range(TIMES))
    yield Figure(
        "plain Zarr, then fsync", megabytes / synced, "MB/s", f"{TIMES} times the same {megabytes / TIMES:.0f} MB"
    )
    del results, arrays
    for granularity in ("limb", "block"):
        small, large = (footprint(each, granularity) for each in (few, many))
        speed, what = megabytes / large.seconds, f"computed and stored, {megabytes:.0f} MB"
        yield Figure(f"{granularity} tasks", speed, "MB/s", what)
        yield Figure("  of plain Zarr with fsync", 100.0 * speed * synced / megabytes, "%")
        for who in ("worker", "coordinator"):
            tenth, whole = (getattr(each, who) / 2**20 for each in (small, large))
            yield Figure(f"  {who}", whole, "MiB", f"peak, resident; {tenth:.0f} MiB with a tenth of the data")
        yield from lost.figures(large.shares)


def _computing(made: Plan) -> float:
    """Return the samples per second of all cores that compute blocks and store nothing."""
    cores = surroundings()["cores"]
    blocks = [block_of(made, index) for index in range(min(made.blocks, 2 * cores))]
    with ThreadPoolExecutor(cores) as pool:
        seconds = best(lambda: list(pool.map(work.computed, blocks)), ROUNDS)
    return sum(block.samples for block in blocks) / seconds


def _plain_seconds(
    folder: Path, layout: Layout, arrays: dict[str, np.ndarray], repeats: int, synced: bool = False
) -> float:
    """Return the best time of plain Zarr to write all arrays to new files [s], each in its faster way.

    The ways: shard by shard, in a thread for each core, or all at once.
    """
    return sum(
        min(_plain(folder / f"{name}-{k}", layout, name, array, synced) for k in range(repeats))
        for name, array in arrays.items()
    )


def _shards(layout: Layout, name: str) -> list[tuple[slice, ...]]:
    """Return the regions of a variable, each once."""
    variable = layout.variables[name]
    return [variable.region(index) for index in range(layout.blocks) if variable.is_owned(index)]


def _plain(folder: Path, layout: Layout, name: str, values: np.ndarray, synced: bool = False) -> float:
    shards = _shards(layout, name)
    times: list[float] = []
    for parts in (shards, [tuple(slice(0, length) for length in values.shape)]):
        place = folder / f"{len(times)}"
        array = plain_array(place, layout.variables[name])
        work = [partial(_write, array, values, parts), *([partial(_sync, place)] if synced else [])]
        times.append(sum(best(each, 1) for each in work))
        require(bool(np.array_equal(array[...], values)), f"plain Zarr has not stored {name}")
    shutil.rmtree(folder)
    return min(times)


def _plain_kept(folder: Path, layout: Layout, arrays: dict[str, np.ndarray]) -> float:
    """Return the time of plain Zarr to write all arrays by shards and force them to the disk [s]; they stay there."""
    seconds = 0.0
    for name, values in arrays.items():
        shards = _shards(layout, name)
        array = plain_array(folder / name, layout.variables[name])
        seconds += best(partial(_write, array, values, shards), 1) + best(partial(_sync, folder / name), 1)
    return seconds


def _reading(read: Callable[[Path], xr.Dataset], store: Path) -> float:
    """Return the processor time to open a store and to read all its series, all threads [s]."""
    start = time.process_time()
    data = read(store)
    for name in SERIES:
        require(data[name].values.size > 0, f"{name} is empty")
    return time.process_time() - start


def _read_checked(store: Path) -> xr.Dataset:
    return open_results(store)


def _read_plain(store: Path) -> xr.Dataset:
    return xr.open_zarr(store, consolidated=True, decode_times=False)


def _sync(folder: Path) -> None:
    """Force all files to the disk, a thread for each core."""
    with ThreadPoolExecutor(surroundings()["cores"]) as pool:
        list(pool.map(sync_directory, folder.rglob("*")))


def _write(array: Any, values: np.ndarray, regions: list[tuple[slice, ...]]) -> None:
    with ThreadPoolExecutor(surroundings()["cores"]) as pool:
        for done in [pool.submit(array.__setitem__, region, values[region]) for region in regions]:
            done.result()
