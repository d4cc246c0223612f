"""Run graphs of blocks through a bounded window, on a cluster or in this process, and hand back results as they come.

A result is (key, value or exception, seconds since it was submitted). Futures are let go at once, so that neither the
scheduler's memory nor the client's grows with the sweep.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable
from typing import TYPE_CHECKING, Any

from pipeline.provenance import require_same_versions, versions

if TYPE_CHECKING:
    from distributed import Client

Work = tuple[dict[Any, Any], Any]
Result = tuple[Any, Any, float]
Results = Generator[Result, None, None]

SPARE_BLOCKS = 2
"""Blocks in flight beyond those that all threads can work on at once: one is being stored, one begins."""

RETRIES = 2


def run_all(client: Client | None, work: Iterable[Work], parallel: int = 1) -> Results:
    """Results of all work as they come; without a client, computed in this process.

    `parallel` is the number of tasks of one block that can run at once.
    """
    return in_process(work) if client is None else on_cluster(client, work, window(client, parallel))


def in_process(work: Iterable[Work]) -> Results:
    """One block after another, through the scheduler of Dask that its settings name."""
    from dask.base import get_scheduler

    get = get_scheduler()
    for graph, key in work:
        start = time.perf_counter()
        try:
            value = get(graph, key)
        except Exception as error:
            value = error
        yield key, value, time.perf_counter() - start


def on_cluster(client: Client, work: Iterable[Work], window: int) -> Results:
    """Blocks on a cluster, at most `window` at once; closing the iterator cancels what is in flight."""
    from distributed import as_completed

    source = iter(work)
    flying: dict[Any, tuple[Any, float]] = {}
    # Results are fetched behind the scenes: one that lay on a worker that has died holds up no other.
    pending = as_completed(loop=client.loop, with_results=True, raise_errors=False)

    def submit() -> None:
        for graph, key in source:
            future = client.get(graph, key, sync=False, retries=RETRIES)
            flying[key] = future, time.perf_counter()
            pending.add(future)
            return

    for _ in range(window):
        submit()
    try:
        for future, result in pending:
            key, value = future.key, result[1] if future.status == "error" else result
            _, start = flying.pop(key)
            future.release()
            yield key, value, time.perf_counter() - start
            submit()
    finally:
        client.cancel([future for future, _ in flying.values()])


def window(client: Client, parallel: int = 1) -> int:
    """Blocks in flight for the threads that a cluster has now: few, because each takes memory."""
    threads = sum(worker["nthreads"] for worker in client.scheduler_info(n_workers=-1)["workers"].values())
    return SPARE_BLOCKS + -(-max(threads, 1) // parallel)


def check_versions(client: Client, cluster: str) -> None:
    """See that all workers have the packages that are here. Raises InputError about `cluster` with what differs."""
    require_same_versions(cluster, client.run(versions, on_error="return"))
