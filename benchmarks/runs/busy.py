"""Busy share of threads on clusters of many shapes: workers whose tasks sleep as long as they would compute.

Coordinator and scheduler do all that they do in a run; graphs, window, ledger and the sizes of results that tasks hand
on are those of a run. The time of a task is measured here on a real block, and scaled to one length of a block. The
share of busy threads counts from the first block's submission to the last one's receipt.
"""

from __future__ import annotations

import itertools
import math
import tempfile
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dask._task_spec import Task

from benchmarks.figures import Figure, Size, require
from benchmarks.runs.coordinator import light_cluster, many_blocks
from benchmarks.runs.sweeps import text
from pipeline.cluster.connection import ClusterConfig, connect
from pipeline.execution import work
from pipeline.execution.blocks import block_of
from pipeline.execution.cluster_executor import ClusterExecutor
from pipeline.execution.contents import create_store
from pipeline.execution.executor import KeyedGraph
from pipeline.execution.executors import choose_granularity, make_executor
from pipeline.execution.graph import Granularity
from pipeline.execution.loop import RunLoop
from pipeline.execution.policy.window import batch
from pipeline.plan.model import Plan
from pipeline.plan.plan import plan
from pipeline.sweep.model import Sweep
from storage.ledger import Ledger, Receipt
from storage.places.access import locate
from storage.store import StoreWriter
from tasks.blocks import assembly, limb_results
from tasks.blocks.block import motions

BLOCK_SECONDS = 0.5
"""Time of one core for a block of two million samples of a Delta [s]."""

ROUNDS = 20
"""Blocks for each thread."""

SHAPES = ((2, 1), (1, 4), (8, 1), (8, 4), (64, 1), (1, 64))
"""Workers and the threads of each."""

LARGE = (100, 10)
"""A cluster of 1000 threads."""

FEW_WORKERS = (10, 100)
"""The same for limb tasks, which hand results on: a hundred workers in one process need too many connections."""

LENGTHS = ((5.0, 16), (0.5, 160))
"""Seconds of a block, and blocks for each thread, on the large cluster."""

SAMPLES = (10**9, 10**10, 10**11, 10**12)
"""Sizes of sweeps whose blocks and tasks for a thousand threads are told."""

PAPER = (10, 100, 1000, 10_000)
"""Numbers of cores for which the work of coordinator and scheduler is printed."""

VARIED = 0.2
"""Spread of the times of blocks around their mean."""


@dataclass(frozen=True)
class Parts:
    """Seconds of the tasks of a block: its first one, that of a limb, its last one."""

    root: float
    limb: float
    last: float

    @classmethod
    def measured(cls, made: Plan) -> Parts:
        """Measure the first block of a plan, the second time that it is computed here."""
        block = block_of(made, 0)
        for _ in range(2):
            times = [time.perf_counter()]
            root = motions(block)
            times.append(time.perf_counter())
            limbs = [limb_results.limb_arrays(block, root, k) for k in range(len(made.limbs))]
            times.append(time.perf_counter())
            work.completed(block, assembly.assembled(block, root, limbs).arrays)
            times.append(time.perf_counter())
        first, middle, last = (after - before for before, after in itertools.pairwise(times))
        return cls(first, middle / len(limbs), last)

    def total(self, limbs: int) -> float:
        """Return the seconds of a block."""
        return self.root + limbs * self.limb + self.last

    def scaled(self, seconds: float, limbs: int) -> Parts:
        """Return the same shares of a block that takes so many seconds."""
        factor = seconds / self.total(limbs)
        return Parts(self.root * factor, self.limb * factor, self.last * factor)


def busy(size: Size) -> Iterator[Figure]:
    """Yield the share of busy threads for several shapes of a cluster, limb and block tasks. Raises CheckError."""
    parts, limbs = _measured(size)
    alone = (parts.root + limbs * parts.limb + parts.last) / (parts.root + parts.limb + parts.last)
    what = f"first task {parts.root / parts.total(limbs):.0%}, last one {parts.last / parts.total(limbs):.0%} of it"
    yield Figure("threads that one block of limb tasks keeps busy", alone, "threads", what)
    seconds = BLOCK_SECONDS if size.full else 0.02
    for workers, threads in SHAPES if size.full else SHAPES[:1]:
        granularities: tuple[Granularity, ...] = ("limb", "block")
        for granularity in granularities:
            rounds = ROUNDS if size.full else 2
            run = _simulated(parts.scaled(seconds, limbs), workers, threads, rounds, granularity)
            name = f"{workers} x {threads} threads, {granularity} tasks"
            yield Figure(name, 100.0 * run.share, "%", f"blocks of {seconds:g} s; a run takes {run.chosen} tasks")


def thousand(size: Size) -> Iterator[Figure]:
    """Yield figures of a thousand threads with block tasks of several lengths, and estimates for larger clusters."""
    parts, limbs = _measured(size)
    cost = (0.0, 0.0)
    for seconds, rounds in LENGTHS if size.full else ((0.02, 2),):
        cost = yield from _large(parts, limbs, size, (seconds, rounds, "block"))
    yield from _on_paper(*cost)
    yield from _sweeps(math.prod(LARGE), size)


def thousand_limbs(size: Size) -> Iterator[Figure]:
    """Yield figures of a thousand threads with limb tasks, and estimates for larger clusters."""
    parts, limbs = _measured(size)
    cost = yield from _large(parts, limbs, size, (*(LENGTHS[0] if size.full else (0.02, 2)), "limb"))
    yield from _limbs_on_paper(*cost, limbs + 2)


def _measured(size: Size) -> tuple[Parts, int]:
    """Measure the seconds of the tasks of a block, and count the limbs of its robot."""
    small = plan(Sweep.from_text(text(10, 10, 10_001 if size.full else 101, series=False)))
    return Parts.measured(small), len(small.limbs)


def _large(
    parts: Parts, limbs: int, size: Size, blocks: tuple[float, int, Granularity]
) -> Generator[Figure, None, tuple[float, float]]:
    """Measure busy threads of the large cluster; return coordinator seconds per block, scheduler seconds per task.

    blocks: seconds of one, number for each thread, and the unit of their tasks.
    """
    seconds, rounds, granularity = blocks
    whole = granularity == "block"
    workers, threads = (LARGE if whole else FEW_WORKERS) if size.full else (2, 2)
    together = batch(workers * threads, seconds, workers * threads * rounds) if whole else 1
    run = _simulated(parts.scaled(seconds, limbs), workers, threads, rounds, granularity)
    tasks = run.tasks if whole else run.blocks * (limbs + 2)
    what = f"blocks of {seconds:g} s, {granularity} tasks, {together} blocks in a task; {rounds} blocks a thread"
    yield Figure(f"{workers * threads} threads", 100.0 * run.share, "%", what)
    what = f"time that its process computed, {together} blocks in a task"
    yield Figure("  coordinator", 1e3 * run.coordinator / run.blocks, "ms/block", what)
    yield Figure("  scheduler", 1e3 * run.scheduler / tasks, "ms/task", what)
    return run.coordinator / run.blocks, run.scheduler / tasks


def _on_paper(block: float, task: float) -> Iterator[Figure]:
    """Compute the load of coordinator and scheduler on larger clusters, from seconds of a block and of a task."""
    for cores in PAPER:
        together = batch(cores, BLOCK_SECONDS, cores * 10_000)
        blocks = cores / BLOCK_SECONDS
        what = f"of a core for the coordinator, {100.0 * task * blocks / together:.2g} % for the scheduler: "
        what += f"{blocks:g} blocks of {BLOCK_SECONDS:g} s each second, {together} in a task"
        yield Figure(f"{cores} cores, on paper", 100.0 * block * blocks, "%", what)


def _limbs_on_paper(block: float, task: float, tasks: int) -> Iterator[Figure]:
    """Compute the shortest blocks whose limb tasks keep clusters busy, at half load of coordinator and scheduler."""
    for cores in PAPER:
        seconds = 2.0 * cores * max(block, task * tasks)
        what = f"shortest blocks of {tasks} tasks that keep all cores busy, by {1e3 * max(block, task * tasks):.2g} ms"
        yield Figure(f"{cores} cores, limb tasks, on paper", seconds, "s", f"{what} of one process for each")


def _sweeps(threads: int, size: Size) -> Iterator[Figure]:
    """Count the blocks and tasks into which large sweeps of a Delta are cut, without a run."""
    for samples in SAMPLES if size.full else SAMPLES[:1]:
        made = plan(Sweep.from_text(text(1000, samples // 10**6, 1001, series=False)))
        seconds = made.work.computing / made.blocks
        together = batch(threads, seconds, made.blocks)
        what = f"of {seconds:.2g} s each, at first {together} in a task of {threads} threads; "
        what += f"limb tasks up to {made.work.limb_threads:.3g} threads"
        yield Figure(f"sweep of {samples:.0e} samples, on paper", made.blocks, "blocks", what)


@dataclass(frozen=True)
class SimulatedRun:
    """The share of busy threads, its blocks and tasks, the seconds that two processes computed."""

    share: float
    chosen: str
    """The granularity that a run would choose."""
    blocks: int
    tasks: int
    coordinator: float
    scheduler: float


def _simulated(parts: Parts, workers: int, threads: int, rounds: int, granularity: Granularity) -> SimulatedRun:
    """Run blocks whose tasks sleep on a cluster of this shape. Raises CheckError."""
    made = many_blocks(4 * math.ceil(workers * threads * rounds / 4))
    with light_cluster(workers, threads) as address, connect(ClusterConfig.of("address", address=address)) as client:
        assert client is not None
        client.wait_for_workers(workers, timeout=120)
        with tempfile.TemporaryDirectory(prefix="limbsweep-bench-") as folder:
            path = locate(Path(folder) / "run.zarr")
            create_store(made, path)
            with Ledger.open(path, made.blocks) as ledger:
                executor = make_executor(client, made, granularity, parts.total(len(made.limbs)))
                assert isinstance(executor, ClusterExecutor)
                loop = Sleeping(made, StoreWriter(path), ledger, executor, lambda event: None, granularity)
                loop.parts = parts
                before = time.process_time(), client.run_on_scheduler(time.process_time)
                begin = time.perf_counter()
                loop.run()
                seconds = time.perf_counter() - begin
                after = time.process_time(), client.run_on_scheduler(time.process_time)
                require(ledger.count == made.blocks, f"{ledger.count} of {made.blocks} blocks have a receipt")
        work = sum(_varied(index) for index in range(made.blocks)) * parts.total(len(made.limbs))
        share = work / (workers * threads * seconds)
        computed = [end - start for start, end in zip(before, after, strict=True)]
        granularity = choose_granularity(made, workers * threads)
        return SimulatedRun(share, granularity, made.blocks, executor.futures, *computed)


class Sleeping(RunLoop):
    """A run loop whose tasks sleep as long as they would compute."""

    parts: Parts

    def graph(self, attempt: Any) -> KeyedGraph:
        """Return the graph of a block, with the arguments and dependencies of its tasks."""
        graph, key = super().graph(attempt)
        factor, limbs = _varied(attempt.block), len(self.plan.limbs)
        handed = self.plan.block_samples * self.plan.memory.limbs // (limbs + 1)
        tasks = {}
        for name, task in graph.items():
            seconds = self.parts.limb
            if name == key:
                seconds = self.parts.last if len(graph) > 1 else self.parts.total(limbs)
            elif str(name[0]).startswith("trajectories"):
                seconds = self.parts.root
            tasks[name] = Task(name, _sleep, seconds * factor, handed, name == key, key[1], *task.args)
        return tasks, key


def _varied(index: int) -> float:
    """Return the time of a block relative to the mean, by a fixed rule that looks random."""
    return 1.0 + VARIED * (2.0 * (index * 0.6180339887 % 1.0) - 1.0)


class _Weight:
    """A result that takes no memory and says that it does."""

    def __init__(self, size: int) -> None:
        self.size = size

    def __sizeof__(self) -> int:
        return self.size


def _sleep(seconds: float, size: int, last: bool, index: int, *arguments: Any) -> Any:
    time.sleep(seconds)
    names = ("peak_force", "rms_force", "failed_samples", "worst_status")
    return Receipt(index, dict.fromkeys(names, 0), 0) if last else _Weight(size)
