"""Run graphs of blocks through a bounded window, on a cluster or in this process, and hand back results as they come.

A result is (key, value or exception, seconds since it was submitted). Futures are let go at once, so that neither the
scheduler's memory nor the client's grows with the sweep.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from distributed import Client

Work = tuple[dict[Any, Any], Any]
Result = tuple[Any, Any, float]

BLOCKS_PER_THREAD = 2
"""Blocks in flight for each thread of the cluster: enough that none waits, few enough that memory stays small."""

RETRIES = 2


def in_process(work: Iterable[Work]) -> Iterator[Result]:
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


def on_cluster(client: Client, work: Iterable[Work], window: int) -> Iterator[Result]:
    """Blocks on a cluster, at most `window` at once; closing the iterator cancels what is in flight."""
    from distributed import as_completed

    source = iter(work)
    since: dict[Any, float] = {}
    pending = as_completed(loop=client.loop)

    def submit() -> None:
        for graph, key in source:
            since[key] = time.perf_counter()
            pending.add(client.get(graph, key, sync=False, retries=RETRIES))
            return

    for _ in range(window):
        submit()
    try:
        for future in pending:
            error = future.exception() if future.status != "finished" else None
            value = future.result() if error is None else error
            key = future.key
            future.release()
            yield key, value, time.perf_counter() - since.pop(key)
            submit()
    finally:
        client.cancel(list(since))


def window(client: Client) -> int:
    """Blocks in flight for the threads that a cluster has now."""
    threads = sum(worker["nthreads"] for worker in client.scheduler_info(n_workers=-1)["workers"].values())
    return max(2, BLOCKS_PER_THREAD * max(threads, 1))
