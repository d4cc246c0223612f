"""A whole run that stores full time series, against plain Zarr that writes the same arrays from memory."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import runs
from benchmarks.figures import Figure, Size, best, require, surroundings
from benchmarks.runs import SERIES, Stopwatch, text
from benchmarks.storage import plain_array
from pipeline.coordinator import run
from pipeline.plan import plan
from pipeline.sweep import Sweep
from storage.layout import Layout


def series(size: Size) -> Iterator[Figure]:
    """A run that stores full time series, against plain Zarr that writes the same arrays from memory."""
    sweep = Sweep.from_text(text(20, 10, 10_001, series=True) if size.full else text(3, 4, 5001, series=True))
    watch = Stopwatch()
    with tempfile.TemporaryDirectory(prefix="limbsweep-bench-") as folder:
        results = run(sweep, Path(folder) / "run.zarr", None, [watch])
        arrays = {name: results[name].values for name in SERIES}
        alone = runs.alone(sweep)
        error = float(np.abs(arrays["actuator_force"][-1, 0, 0] - alone).max() / np.abs(alone).max())
        require(error < 1e-12, f"forces of the last design are off by {error:.1e}, relative; expected below 1e-12")
        seconds = _plain_seconds(Path(folder), plan(sweep).layout, arrays, 3 if size.full else 1)
    megabytes = sum(each.nbytes for each in arrays.values()) * 1e-6
    plain = megabytes / seconds
    yield Figure("plain Zarr", plain, "MB/s", "same shards, chunks and codecs, from memory, a thread for each core")
    for name, rate in (("run", watch.whole), ("run when steady", watch.steady)):
        speed = megabytes * rate / plan(sweep).samples
        yield Figure(name, speed, "MB/s", f"computed and stored, {megabytes:.0f} MB, limb tasks")
        yield Figure(f"{name}, of plain Zarr", 100.0 * speed / plain, "%")


def _plain_seconds(folder: Path, layout: Layout, arrays: dict[str, np.ndarray], repeats: int) -> float:
    """Best time of plain Zarr to write all arrays to new files [s], each in the way that is quicker for it.

    The ways: shard by shard, in a thread for each core, or all at once.
    """
    return sum(
        min(_plain(folder / f"{name}-{k}", layout, name, array) for k in range(repeats))
        for name, array in arrays.items()
    )


def _plain(folder: Path, layout: Layout, name: str, values: np.ndarray) -> float:
    shards = [layout.region(index, name) for index in range(layout.blocks) if layout.owns(index, name)]
    times: list[float] = []
    for parts in (shards, [tuple(slice(0, length) for length in values.shape)]):
        array = plain_array(folder / f"{len(times)}", layout, name)
        times.append(best(partial(_write, array, values, parts), 1))
        require(bool(np.array_equal(array[...], values)), f"plain Zarr has not stored {name}")
    shutil.rmtree(folder)
    return min(times)


def _write(array: Any, values: np.ndarray, regions: list[tuple[slice, ...]]) -> None:
    with ThreadPoolExecutor(surroundings()["cores"]) as pool:
        for done in [pool.submit(array.__setitem__, region, values[region]) for region in regions]:
            done.result()
