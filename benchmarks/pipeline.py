"""Whole runs, from a sweep to its store on a local cluster: how much of the kernels' speed is left, and what it takes."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import delta
from benchmarks.delta import Solver
from benchmarks.figures import Figure, Size, best, require, surroundings
from benchmarks.footprint import footprint
from benchmarks.storage import plain_array
from pipeline.cluster import ClusterConfig
from pipeline.events import Event, Finished, Started
from pipeline.graph import Granularity
from pipeline.plan import plan
from pipeline.run import run
from pipeline.sweep import Sweep
from robots import catalog
from storage.layout import Layout
from tasks import inverse_dynamics
from tasks.kernels.cache import kernel

TEXT = """\
limbsweep: 1
robot: {robot}
design:
  grid:
    upper_arm: {{start: 0.245, stop: 0.255, num: {arms}}}
    base_radius: {{start: 0.145, stop: 0.155, num: {radii}}}
trajectories:
  line: {{kind: line_sine, amplitude: [0.3, 0.4, 0.1], period: 1.0}}
time: {{stop: 1.0, samples: {samples}}}
outputs: {outputs}
metrics: {metrics}
"""


def text(arms: int, radii: int, samples: int, *, series: bool) -> str:
    """A sweep of `arms` x `radii` designs, with the full time series of the forces or with metrics only."""
    outputs, metrics = ("[actuator_force]", "[]") if series else ("[]", "[peak_force, rms_force]")
    return TEXT.format(robot=delta.ROBOT, arms=arms, radii=radii, samples=samples, outputs=outputs, metrics=metrics)


@dataclass
class Stopwatch:
    """A listener that keeps when a run had its cluster, and when it was through."""

    at: dict[type[Event], float] = field(default_factory=dict)

    def __call__(self, event: Event) -> None:
        """Note the time of an event."""
        self.at[type(event)] = time.perf_counter()

    @property
    def seconds(self) -> float:
        """From the cluster being there to the last block being stored."""
        return self.at[Finished] - self.at[Started]


def efficiency(size: Size) -> Iterator[Figure]:
    """A run with metrics only, in each granularity and in a single thread, against the kernels."""
    cores = surroundings()["cores"]
    kernels = _kernel_seconds(size)
    sweep = Sweep.from_text(text(100, 100, 10_001, series=False) if size.full else text(3, 4, 101, series=False))
    samples = plan(sweep).samples
    yield Figure("run", "kernels", kernels * 1e6, "us/sample/core", "inverse kinematics and dynamics, one thread")
    for granularity, kind, threads in (("limb", "local", cores), ("block", "local", cores), ("block", "synchronous", 1)):
        seconds = _metrics_run(sweep, granularity, ClusterConfig.of(kind))  # type: ignore[arg-type]
        name = f"metrics, {granularity} tasks, {threads} threads"
        yield Figure("run", name, samples / seconds * 1e-6, "million samples/s", f"{samples:,} samples, kind: {kind}")
        part = 100.0 * kernels * samples / (seconds * threads)
        yield Figure("run", f"{name}, efficiency", part, "%", "kernel time over wall time x threads; friction, metrics and writing are extra")


def _kernel_seconds(size: Size) -> float:
    """Time of the kernels for one sample on one core [s]."""
    solver = Solver(delta.work(min(size.designs, 16), size.samples), kernel, 16)
    delta.check(solver.all(), "compiled kernels")
    return best(solver.sweep, size.repeats) / (solver.work.designs * solver.work.samples)


def _metrics_run(sweep: Sweep, granularity: Granularity, config: ClusterConfig) -> float:
    """Wall time of a run, without the start of the cluster [s]. Raises CheckError for a wrong metric."""
    watch = Stopwatch()
    with tempfile.TemporaryDirectory(prefix="limbsweep-bench-") as folder:
        results = run(sweep, Path(folder) / "run.zarr", config, [watch], granularity).load()
    require(int(results["failed_samples"].sum()) == 0, "some samples of the run have failed")
    forces = _alone(sweep)
    peak = np.abs(forces).max(axis=0)
    error = float(np.abs(results["peak_force"].values[-1, 0, 0] - peak).max() / peak.max())
    require(error < 1e-12, f"the peak force of the last design is off by {error:.1e}, relative; expected below 1e-12")
    return watch.seconds


def _alone(sweep: Sweep) -> np.ndarray:
    """Forces (time, actuator) of the last design, computed without the pipeline."""
    count = sweep.design.size
    values = {name: float(value[0]) for name, value in sweep.designs(count - 1, count).items()}
    position, velocity, acceleration = _line(sweep.times, plan(sweep).origin)
    zero = np.zeros_like(position)
    twist, second = np.hstack([zero, velocity]), np.hstack([zero, acceleration])
    robot = catalog.build(sweep.robot, **values)
    return np.asarray(inverse_dynamics(robot, position=position, twist=twist, acceleration=second))


def _line(times: np.ndarray, origin: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Position, velocity and acceleration (time, 3) of the trajectory in TEXT."""
    rate, amplitude = 2.0 * np.pi / delta.PERIOD, np.array(delta.AMPLITUDE)
    sine, cosine = np.sin(rate * times)[:, None], np.cos(rate * times)[:, None]
    return np.asarray(origin) + amplitude * sine, amplitude * rate * cosine, -amplitude * rate**2 * sine


def series(size: Size) -> Iterator[Figure]:
    """A run that stores all forces, against plain Zarr that writes the same arrays from memory."""
    sweep = Sweep.from_text(text(40, 40, 10_001, series=True) if size.full else text(3, 4, 101, series=True))
    watch = Stopwatch()
    with tempfile.TemporaryDirectory(prefix="limbsweep-bench-") as folder:
        results = run(sweep, Path(folder) / "run.zarr", None, [watch])
        forces = results["actuator_force"].values
        alone = _alone(sweep)
        error = float(np.abs(forces[-1, 0, 0] - alone).max() / np.abs(alone).max())
        require(error < 1e-12, f"stored forces of the last design are off by {error:.1e}, relative; expected below 1e-12")
        seconds = _plain_seconds(Path(folder), plan(sweep).layout, forces, 3 if size.full else 1)
    ours, theirs = forces.nbytes / watch.seconds * 1e-6, forces.nbytes / seconds * 1e-6
    yield Figure("series", "run", ours, "MB/s", f"computed and stored, {forces.nbytes / 2**20:.0f} MiB, limb tasks")
    yield Figure("series", "plain Zarr", theirs, "MB/s", "same array, shards, chunks and codecs, from memory, a thread for each core")
    yield Figure("series", "run of plain Zarr", 100.0 * ours / theirs, "%")


def _plain_seconds(folder: Path, layout: Layout, forces: np.ndarray, repeats: int) -> float:
    """Best time of plain Zarr to write new files [s], shard by shard in threads, or in one call, whichever is quicker."""
    times = []
    regions = [layout.region(index, "actuator_force") for index in range(layout.blocks)]
    with ThreadPoolExecutor(surroundings()["cores"]) as pool:
        for k in range(repeats):
            array, other = (plain_array(folder / f"plain-{k}{way}", layout, "actuator_force") for way in "ab")

            def put(region: tuple[slice, ...], array: Any = array) -> None:
                array[region] = forces[region]

            def whole(other: Any = other) -> None:
                other[...] = forces

            times.append(best(lambda put=put: list(pool.map(put, regions)), 1))  # type: ignore[misc]
            times.append(best(whole, 1))
            require(bool(np.array_equal(array[...], forces)), "plain Zarr has not stored the forces")
    return min(times)


def memory(size: Size) -> Iterator[Figure]:
    """Peak memory of the process that coordinates and schedules, for few and for many blocks, and of the worker."""
    counts = (size.blocks // 10, size.blocks) if size.full else (1, size.blocks)
    peaks = []
    for blocks in counts:
        # 13 designs of 10 001 samples are a full block
        sweep = text(13, blocks, 10_001, series=False) if size.full else text(blocks, 20, 1001, series=False)
        made = plan(Sweep.from_text(sweep))
        peaks.append(footprint(sweep))
        what = f"{made.blocks} blocks, {made.samples:,} samples"
        yield Figure("memory", f"coordinator and scheduler, {blocks}", peaks[-1]["coordinator"] / 2**20, "MiB", what)
        stated = f"stated: {made.block_memory / 2**20:.0f} MiB for each block in flight, plus Python"
        yield Figure("memory", f"worker, {blocks}", peaks[-1]["worker"] / 2**20, "MiB", stated)
    grown = (peaks[1]["coordinator"] - peaks[0]["coordinator"]) / (counts[1] - counts[0])
    yield Figure("memory", "growth with every block", grown / 2**10, "KiB/block")
