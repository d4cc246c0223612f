"""Blocks a second of a coordinator on a cluster of 200 threads, and memory of blocks in flight and of those that wait.

The workers are light: all live in one process, and their tasks compute nothing. All else is as in a real run: the
graphs of the blocks, the window, the ledger. Coordinator, scheduler and workers are a process each, so that the
processor time of each for a block can be measured; with few cores the light workers are the slow part. A program:
`python -m benchmarks.runs.coordinator scheduler` and `... workers ADDRESS COUNT` are the other two.
"""

from __future__ import annotations

import asyncio
import functools
import gc
import logging
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from dask._task_spec import Task
from numpy.typing import NDArray

from benchmarks.figures import Figure, Size, require
from benchmarks.runs.sweeps import text
from pipeline.cluster.connection import ClusterConfig, connect
from pipeline.execution.cluster_executor import ClusterExecutor
from pipeline.execution.contents import create_store
from pipeline.execution.executor import Executor, InProcessExecutor, KeyedGraph, Result
from pipeline.execution.graph import Granularity
from pipeline.execution.loop import RunLoop
from pipeline.execution.policy.window import Window
from pipeline.execution.policy.workers import worker_table
from pipeline.plan.model import Plan
from pipeline.plan.plan import plan
from pipeline.sweep.model import Sweep
from storage.ledger import Ledger, Receipt
from storage.places.access import locate
from storage.store import StoreWriter

KILOBYTE = 1024
THREADS = 5
"""Threads of each light worker: 200 of a single thread in one process would keep each other from their heartbeats."""
WAITING = 100
"""Blocks of the run whose window is full, in those that are in flight at once to measure their memory."""
PATIENCE = 60.0
"""Longest time until the scheduler has made the tasks of a message [s]."""


def coordinator(size: Size) -> Iterator[Figure]:
    """Measure blocks per second in both granularities; memory of a block in both processes."""
    workers, blocks = (40, 2000) if size.full else (2, 40)
    with light_cluster(workers) as address, connect(ClusterConfig.of("address", address=address)) as client:
        assert client is not None
        granularities: tuple[Granularity, ...] = ("block", "limb")
        for granularity in granularities:
            made = many_blocks(blocks if granularity == "block" else blocks // 4)
            busy = -_busy(client)
            seconds = _drive(made, client, granularity)
            busy += _busy(client)
            what = f"{made.blocks} blocks of empty tasks on {workers} workers of {THREADS} threads in one process"
            yield Figure(f"{granularity} tasks", made.blocks / seconds, "blocks/s", what)
            for name, each in zip(("coordinator", "scheduler"), busy, strict=True):
                yield Figure(
                    f"  {name}, {granularity}", 1e3 * each / made.blocks, "ms/block", "time that its process computed"
                )
            remark = "coordinator and scheduler in turn on one core that they have to themselves"
            yield Figure(f"  both on one core, {granularity}", made.blocks / busy.sum(), "blocks/s", remark)
            begin = time.process_time()
            _drive(made, None, granularity)
            alone = 1e3 * (time.process_time() - begin) / made.blocks
            remark = "the same without a cluster: graphs, decisions, ledger"
            yield Figure(f"  coordinator alone, {granularity}", alone, "ms/block", remark)
        yield from _pending(client, blocks)


def many_blocks(blocks: int) -> Plan:
    """Return a plan with a block for every design."""
    made = plan(Sweep.from_text(text(blocks // 4, 4, 1001, series=False)))
    return replace(made, layout=made.layout.moved(block={"design": 1, "friction": 1, "trajectory": 1}))


class _Empty(RunLoop):
    """A run loop whose tasks compute nothing."""

    def graph(self, attempt: Any) -> KeyedGraph:
        graph, key = super().graph(attempt)
        return _emptied(graph, key)


def _emptied(graph: dict[Any, Any], key: Any) -> KeyedGraph:
    made = {name: Task(name, _nothing, *each.args) for name, each in graph.items()}
    return made | {key: Task(key, _receipt, key[1], *graph[key].args)}, key


def _nothing(*arguments: Any) -> None:
    return None


def _receipt(index: int, *arguments: Any) -> Receipt:
    return Receipt(index, {"peak_force": 0, "rms_force": 0, "failed_samples": 0, "worst_status": 0}, 0)


def _drive(made: Plan, client: Any, granularity: Granularity) -> float:
    """Return the seconds for all blocks of a plan. Raises CheckError if one is missing."""
    with tempfile.TemporaryDirectory(prefix="limbsweep-bench-") as folder:
        path = locate(Path(folder) / "run.zarr")
        create_store(made, path)
        parallel = len(made.limbs) + 1 if granularity == "limb" else 1
        with Ledger.open(path, made.blocks) as ledger:
            executor: Executor = (
                ClusterExecutor(
                    client,
                    Window(functools.partial(worker_table, client), parallel, made.block_memory, made.base_memory),
                )
                if client
                else _Instant(made.blocks)
            )
            start = time.perf_counter()
            _Empty(made, StoreWriter(path), ledger, executor, lambda event: None, granularity).run()
            seconds = time.perf_counter() - start
            require(ledger.count == made.blocks, f"{ledger.count} of {made.blocks} blocks have a receipt")
    return seconds


class _Instant(InProcessExecutor):
    """An executor from which every result is back at once."""

    def __init__(self, blocks: int) -> None:
        super().__init__()
        self.most = blocks

    @property
    def room(self) -> int:
        return self.most - len(self._waiting)

    def next(self, seconds: float) -> Result | None:
        if not self._waiting:
            return None
        _, key = self._waiting.popleft()
        return Result(key, _receipt(key[1]), 0.0)


def _busy(client: Any) -> NDArray[np.float64]:
    """Return the seconds that the processes of coordinator and scheduler have computed (2,)."""
    return np.array([time.process_time(), client.run_on_scheduler(time.process_time)])


def _pending(client: Any, blocks: int) -> Iterator[Figure]:
    """Measure the memory of a block in flight, and of one that waits because the window is full."""
    for many, window, state in ((blocks, blocks, "in flight"), (WAITING * blocks, blocks // 10, "that waits")):
        made = many_blocks(many)
        for name, each in zip(("coordinator", "scheduler"), _held(client, made, window), strict=True):
            what = f"{made.blocks} blocks of {made.tasks_per_block} tasks, {window} of them in flight"
            yield Figure(f"{name}, each block {state}", each / made.blocks / KILOBYTE, "KiB", what)


def _held(client: Any, made: Plan, window: int) -> NDArray[np.int64]:
    """Return the bytes that coordinator and scheduler hold for a run whose tasks wait for one that does not end soon.

    Its processes free the rest of what they took to send the blocks; all objects of Python and NumPy count.
    """
    with tempfile.TemporaryDirectory(prefix="limbsweep-bench-") as folder:
        path = locate(Path(folder) / "run.zarr")
        create_store(made, path)
        tracemalloc.start()
        client.run_on_scheduler(tracemalloc.start)
        with Ledger.open(path, made.blocks) as ledger:
            executor = ClusterExecutor(client, lambda: window)
            loop = _Waiting(made, StoreWriter(path), ledger, executor, lambda event: None)
            loop.submit()
            _await_tasks(client, window * made.tasks_per_block)
            held = np.array([_traced(), client.run_on_scheduler(_traced)])
            require(len(list(executor.keys)) == window, f"not {window} blocks are in flight")
            executor.close()
    return held


def _await_tasks(client: Any, count: int) -> None:
    """Wait until the scheduler has so many tasks. Raises CheckError."""
    deadline = time.monotonic() + PATIENCE
    while (found := client.run_on_scheduler(_tasks)) < count:
        require(time.monotonic() < deadline, f"the scheduler has {found} of {count} tasks")
        time.sleep(0.1)


def _tasks(dask_scheduler: Any) -> int:
    return len(dask_scheduler.tasks)


def _traced() -> int:
    """Return the bytes of the objects that this process has made since it was asked to count, and end counting."""
    gc.collect()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return held


class _Waiting(RunLoop):
    """A run loop whose roots do not end before they are cancelled."""

    def graph(self, attempt: Any) -> KeyedGraph:
        graph, key = _emptied(*super().graph(attempt))
        root = next(iter(graph))
        return graph | {root: Task(root, time.sleep, 5.0)}, key


@contextmanager
def light_cluster(workers: int, threads: int = THREADS) -> Iterator[str]:
    """The address of a scheduler in a process of its own; its light workers, of so many threads, share another one."""
    with _process("scheduler") as scheduler, _process("workers", scheduler, str(workers), str(threads)):
        yield scheduler


@contextmanager
def _process(*words: str) -> Iterator[str]:
    """Start this program with other words; yield the line that it prints once it is ready, and end it."""
    command = [sys.executable, "-m", "benchmarks.runs.coordinator", *words]
    root = str(Path(__file__).parents[2])
    with subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.stdin.close()
            process.kill()


def _schedule() -> None:
    from distributed import LocalCluster

    with LocalCluster(n_workers=0, protocol="tcp", host="127.0.0.1", dashboard_address=None) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()


async def _work(address: str, count: int, threads: int) -> None:
    from distributed import Worker

    logging.getLogger("distributed").setLevel(logging.ERROR)
    async with AsyncExitStack() as stack:
        for number in range(count):
            await stack.enter_async_context(
                Worker(address, nthreads=threads, name=number, memory_limit=0, host="127.0.0.1", dashboard=False)
            )
        print("ready", flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


def _serve(role: str, *words: str) -> None:
    import resource

    import dask

    from pipeline.cluster.settings import SETTINGS
    from pipeline.execution.processes.garbage import collect_rarely

    # Each worker has several connections.
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with dask.config.set(dict(SETTINGS)):  # those of a cluster that a run starts
        if role == "scheduler":
            collect_rarely()  # as in the process of a run that starts its cluster
            _schedule()
        else:
            asyncio.run(_work(words[0], int(words[1]), int(words[2])))


if __name__ == "__main__":
    _serve(*sys.argv[1:])
