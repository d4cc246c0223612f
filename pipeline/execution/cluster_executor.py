"""Flights to a cluster: graphs go to its scheduler in one message for many blocks, results come as they are ready.

Futures are let go at once, so that neither the scheduler's memory nor the client's grows with the sweep.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pipeline.errors import ClusterLostError
from pipeline.execution.executor import LOST, Executor, InProcessExecutor, KeyedGraph, Result
from pipeline.execution.graph import Granularity
from pipeline.execution.policy.window import Window, workers_of
from pipeline.plan.plan import Plan

if TYPE_CHECKING:
    from distributed import Client


if TYPE_CHECKING:
    from distributed import Client

RESTART_SECONDS = 30.0
HEARD_SECONDS = 15.0
"""Since the scheduler has heard of a worker, after which no help is expected of it."""


class ClusterExecutor:
    """Graphs on a cluster, as many at once as `window` says at the time."""

    def __init__(self, client: Client, window: Callable[[], int]) -> None:
        from distributed import as_completed

        self.client, self.window = client, window
        self._in_flight: dict[Any, tuple[Any, float]] = {}
        # Results are fetched behind the scenes: one that lay on a worker that has died holds up no other.
        self._pending = as_completed(loop=client.loop, with_results=True, raise_errors=False)

    @property
    def room(self) -> int:
        """How many fewer are on their way than the window has room for."""
        with _losses():
            return max(0, self.window() - len(self._in_flight))

    @property
    def keys(self) -> list[Any]:
        """Keys of what is on its way."""
        return list(self._in_flight)

    def submit(self, *work: KeyedGraph) -> None:
        """Send graphs in one message: each message costs the scheduler as much as several blocks."""
        if work:
            self._send(work, None)

    def help(self, work: KeyedGraph, key: Any) -> bool:
        """Send a graph to workers that show signs of life and do not work on a key, if there are any."""
        with _losses():
            processing = self.client.processing()
            seen = {
                worker: float(each["last_seen"])
                for worker, each in self.client.scheduler_info(n_workers=-1)["workers"].items()
            }
        alive = {worker for worker, when in seen.items() if max(seen.values()) - when < HEARD_SECONDS}
        others = [worker for worker in alive if not _works_on(processing.get(worker, ()), [key])]
        if others:
            self._send((work,), others)
        return bool(others)

    def _send(self, work: tuple[KeyedGraph, ...], workers: list[str] | None) -> None:
        together = {name: task for graph, _ in work for name, task in graph.items()}
        keys = [key for _, key in work]
        with _losses():
            futures = self.client.get(together, keys, workers=workers, allow_other_workers=bool(workers), sync=False)
        now = time.perf_counter()
        self._in_flight |= {key: (future, now) for key, future in zip(keys, futures, strict=True)}
        for future in futures:
            self._pending.add(future)

    def next(self, seconds: float) -> Result | None:
        """The next result of a key that was not abandoned."""
        deadline = time.perf_counter() + seconds
        while self._wait(deadline):
            future, value = next(self._pending)
            if future.key in self._in_flight and self._in_flight[future.key][0] is future:
                return self._receive(future, value)
        return None

    def _wait(self, deadline: float) -> bool:
        """Whether a result lies ready before the deadline [s, perf_counter]."""
        while not self._pending.has_ready():
            if self.client.status not in ("running", "connecting"):
                raise ClusterLostError(LOST["CancelledError"])
            if (left := deadline - time.perf_counter()) <= 0.0:
                return False
            with self._pending.thread_condition:
                self._pending.thread_condition.wait(timeout=min(left, 0.1))
        return True

    def _receive(self, future: Any, value: Any) -> Result:
        _, start = self._in_flight.pop(future.key)
        if future.status in ("cancelled", "lost"):
            raise ClusterLostError(LOST["CancelledError"])
        value = value[1] if future.status == "error" else value
        future.release()
        return Result(future.key, value, time.perf_counter() - start)

    def age(self, key: Any) -> float:
        """Seconds since a key was submitted."""
        return time.perf_counter() - self._in_flight[key][1]

    def abandon(self, keys: Iterable[Any]) -> None:
        """Restart the workers that work on these keys: nothing else ends a thread that does not return."""
        dropped = {key: self._in_flight.pop(key)[0] for key in list(keys)}
        with _losses():
            busy = [worker for worker, tasks in self.client.processing().items() if _works_on(tasks, dropped)]
            self.client.cancel(list(dropped.values()), force=True)
            if busy:
                self.client.restart_workers(busy, timeout=RESTART_SECONDS, raise_for_error=False)

    def describe(self) -> str:
        """Workers, what they do, and how full they are."""
        with _losses():
            workers = self.client.scheduler_info(n_workers=-1)["workers"]
            tasks = sum(map(len, self.client.processing().values()))
        paused = sum(each.get("status") == "paused" for each in workers.values())
        shares = (each.used / each.limit for each in workers_of({"workers": workers}) if each.limit)
        full = max(shares, default=0.0)
        told = f"{len(workers)} workers, {paused} of them paused, memory at most {full:.0%} of its limit"
        return f"{told}; {len(self._in_flight)} blocks in flight, {tasks} of their tasks on workers"

    def close(self) -> None:
        """Cancel what is on its way."""
        futures = [future for future, _ in self._in_flight.values()]
        self._in_flight.clear()
        if self.client.status == "running":
            self.client.cancel(futures)


def _works_on(tasks: Iterable[Any], keys: Iterable[Any]) -> bool:
    """Whether some task belongs to the block of some key; (name-run, block) is the form of both."""
    wanted = {(str(key[0]).rpartition("-")[2], key[1]) for key in keys}
    return any((str(task[0]).rpartition("-")[2], task[1]) in wanted for task in tasks if isinstance(task, tuple))


@contextmanager
def _losses() -> Iterator[None]:
    """Turns errors of a connection that has broken into ClusterLostError."""
    try:
        yield
    except Exception as error:
        if isinstance(error, OSError | TimeoutError) or type(error).__name__ in (*LOST, "ClosedClientError"):
            raise ClusterLostError(LOST["CancelledError"]) from error
        raise


def make_executor(client: Client | None, plan: Plan, granularity: Granularity = "limb") -> Executor:
    """The way of blocks to a cluster, or to this process where there is none."""
    if client is None:
        return InProcessExecutor()
    parallel = len(plan.limbs) + 1 if granularity == "limb" else 1
    return ClusterExecutor(client, Window(client, parallel, plan.block_memory))
