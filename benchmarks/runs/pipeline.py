"""Whole runs, from a sweep to its store: how much of the kernels' speed is left, and how much memory it takes."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks import delta
from benchmarks.delta import Solver
from benchmarks.figures import Figure, Size, best, require, surroundings
from benchmarks.runs import lost, sweeps
from benchmarks.runs.footprint import footprint
from benchmarks.runs.sweeps import Stopwatch, text
from pipeline.cluster.file import ClusterConfig
from pipeline.cluster.kinds import ClusterKindName
from pipeline.execution.graph import Granularity
from pipeline.execution.run import run
from pipeline.plan.plan import plan
from pipeline.sweep.model import Sweep
from tasks.kernels.kernel import kernel

GRANULARITIES: tuple[Granularity, ...] = ("limb", "block")

FULL_BLOCK = 374
"""Designs of 10 001 samples that fill a block: by so many more a sweep has a block more."""


@dataclass(frozen=True)
class Setting:
    """A way to run: one task for each limb or for each block, the kind of cluster, and how many threads that has."""

    granularity: Granularity
    kind: ClusterKindName
    threads: int

    @property
    def name(self) -> str:
        """Return the name in the table."""
        return f"{self.granularity} tasks, {self.kind}, {self.threads} threads"


def efficiency(size: Size) -> Iterator[Figure]:
    """Measure a run with metrics only, in each granularity and in a single thread, against the kernels."""
    cores = surroundings()["cores"]
    sweep = Sweep.from_text(text(100, 100, 10_001, series=False) if size.full else text(3, 4, 5001, series=False))
    what = f"{plan(sweep).samples:,} samples in {plan(sweep).blocks} blocks, from the cluster being there to the end"
    kernels = 1.0 / kernel_seconds(size)
    yield Figure("kernels, 1 thread", kernels * 1e-6, "million samples/s", "inverse kinematics and dynamics, best")
    for setting in (
        Setting("limb", "local", cores),
        Setting("block", "local", cores),
        Setting("block", "synchronous", 1),
    ):
        now, watch = _kernels_at_once(size, setting.threads), metrics_run(sweep, setting)
        yield Figure(setting.name, watch.whole * 1e-6, "million samples/s", what)
        yield from _shares(watch, kernels * setting.threads, now)
        remark = "computing time of the process that coordinates" + (
            " and schedules" if setting.kind == "local" else ""
        )
        yield Figure("  for each block", watch.busy / len(watch.done) * 1e3, "ms", remark)


def _shares(watch: Stopwatch, ideal: float, now: float) -> Iterator[Figure]:
    """Compare a run with the best of the kernels, and with kernels in all threads just before, under equal load."""
    yield Figure("  efficiency", 100.0 * watch.whole / ideal, "%", "kernel time over wall time x threads")
    yield Figure("  efficiency when steady", 100.0 * watch.steady / ideal, "%", "first block done to last block done")
    remark = f"kernels in all threads just before: {now * 1e-6:.3g} million samples/s"
    yield Figure("  steady, of kernels just before", 100.0 * watch.steady / now, "%", remark)


def kernel_seconds(size: Size) -> float:
    """Return the time of the kernels for one sample on one core [s]."""
    solver = _solver(size)
    return best(solver.in_strips(), size.repeats) / solver.work.count


def _kernels_at_once(size: Size, threads: int) -> float:
    """Return the samples per second of kernels alone in some threads: on the machine as it is now, not the best."""
    solvers, rounds = [_solver(size) for _ in range(threads)], size.repeats * 3
    sweeps_of_all = [solver.in_strips() for solver in solvers]
    with ThreadPoolExecutor(threads) as pool:
        start = time.perf_counter()
        list(pool.map(lambda compute: [compute() for _ in range(rounds)], sweeps_of_all))
        seconds = time.perf_counter() - start
    return rounds * sum(each.work.count for each in solvers) / seconds


def _solver(size: Size) -> Solver:
    solver = Solver(delta.work(min(size.designs, 16), size.samples), kernel, 16)
    delta.check(solver.all(), "compiled kernels")
    return solver


def metrics_run(sweep: Sweep, setting: Setting) -> Stopwatch:
    """Return the times of a run. Raises CheckError for a wrong metric."""
    watch = Stopwatch()
    with tempfile.TemporaryDirectory(prefix="limbsweep-bench-") as folder:
        config = ClusterConfig.of(setting.kind)
        results = run(sweep, Path(folder) / "run.zarr", config, [watch], setting.granularity).load()
    watch.require_undisturbed()
    require(int(results["failed_samples"].sum()) == 0, "some samples of the run have failed")
    forces = sweeps.alone(sweep)
    peak = np.abs(forces).max(axis=0)
    error = float(np.abs(results["peak_force"].values[-1, 0, 0] - peak).max() / peak.max())
    require(error < 1e-12, f"the peak force of the last design is off by {error:.1e}, relative; expected below 1e-12")
    return watch


def large(size: Size) -> Iterator[Figure]:
    """Measure 1e9 samples from start to end, in each granularity: time, peak memory, and where the cores' time went."""
    sweep = text(1000, 100, 10_001, series=False) if size.full else text(3, 4, 5001, series=False)
    made, cores = plan(Sweep.from_text(sweep)), surroundings()["cores"]
    for granularity in GRANULARITIES:
        before = kernel_seconds(size)
        found = footprint(sweep, granularity)
        ideal = min(before, kernel_seconds(size)) * made.samples / cores
        what = f"{made.samples:,} samples in {made.blocks} blocks, from the cluster being there to the end"
        yield Figure(f"{granularity} tasks", found.seconds, "s", what)
        yield Figure("  efficiency", 100.0 * ideal / found.seconds, "%", "kernel time over wall time x cores")
        yield Figure("  coordinator and scheduler", found.coordinator / 2**20, "MiB", "peak, resident")
        yield Figure("  worker", found.worker / 2**20, "MiB", f"peak, resident; {cores} threads")
        yield from lost.figures(found.shares)


def memory(size: Size) -> Iterator[Figure]:
    """Measure the peak memory of coordinator and scheduler process, for few and many blocks, and of the worker."""
    counts = (size.blocks // 10, size.blocks) if size.full else (1, size.blocks)
    peaks = []
    for blocks in counts:
        sweep = text(FULL_BLOCK, blocks, 10_001, series=False) if size.full else text(blocks, 20, 1001, series=False)
        made = plan(Sweep.from_text(sweep))
        peaks.append(footprint(sweep))
        what = f"{made.blocks} blocks, {made.samples:,} samples"
        yield Figure(f"coordinator and scheduler, {made.blocks} blocks", peaks[-1].coordinator / 2**20, "MiB", what)
        stated = f"stated: {made.block_memory / 2**20:.0f} MiB for each block in flight, and Python itself"
        yield Figure(f"worker, {made.blocks} blocks", peaks[-1].worker / 2**20, "MiB", stated)
    grown = (peaks[1].coordinator - peaks[0].coordinator) / (counts[1] - counts[0])
    yield Figure("coordinator and scheduler, each block more", grown / 2**10, "KiB")
