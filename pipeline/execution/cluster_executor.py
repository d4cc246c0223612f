"""Submit block graphs to a Dask cluster and receive their results.

Many graphs go in one message. Futures are released at once, so that neither the scheduler's memory nor the client's
grows with the sweep.
"""

from __future__ import annotations

import asyncio
import functools
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from dask.base import annotate, get_annotations

from pipeline.errors import ClusterLostError
from pipeline.execution.advance import HERE, RunningShares, topic
from pipeline.execution.batches import batch_graph
from pipeline.execution.executor import LOST, Key, KeyedGraph, Members, Result, Withdrawn, translated_losses
from pipeline.execution.graph import joined_graph
from pipeline.execution.policy.memory_restarts import MemoryRestart, memory_restarts
from pipeline.execution.policy.pauses import PausedWorker, PauseStep
from pipeline.execution.policy.window import Window
from pipeline.execution.policy.workers import FULL, WorkerTable, worker_table, workers_of
from pipeline.execution.sharing import Share
from pipeline.monitor.log import ClusterState, Event, WorkersLeft
from tasks.blocks.pool import trim

if TYPE_CHECKING:
    from distributed import Client, Future


RESTART_SECONDS = 30.0
HEARTBEAT_SECONDS = 15.0
"""Time since the last heartbeat of a worker [s], after which no backup is sent to it."""

RESTARTED, CONNECTION_LOST = "scheduler-restart", "scheduler-connection-lost"
"""Reasons of Dask for cancelled futures."""


class ClusterExecutor:
    """Graphs on a cluster, as many at once as `window` allows; one-task blocks go in batches of size `batch`."""

    def __init__(
        self,
        client: Client,
        window: Callable[[], int],
        batch: Callable[[], int] = lambda: 1,
        members: Members | None = None,
    ) -> None:
        """Set up the executor. `members`: workers that are given blocks, and no others; if absent, all workers."""
        self.client, self.window, self.batch, self.members = client, window, batch, members
        self.resources: Mapping[str, float] | None = None
        """Resources of a worker that each task takes."""
        self.together = 1
        """Blocks of a batch that are computed together."""
        self.share: Share | None = None
        """Share of the run in the cluster; absent: all of it."""
        self._in_flight: dict[Key, tuple[Future, float]] = {}
        self._batches: dict[Key, list[Key]] = {}
        """Keys of the blocks of each batch in flight."""
        self._tasks: set[Key] = set()
        """Keys of the futures in flight: one for a block, or for a batch."""
        self.submitted = 0
        """Blocks that have been sent, each time that they have."""
        self.futures = 0
        """Futures for them: fewer where several blocks are one task."""
        self._ready: deque[Result] = deque()
        self._arrived: SimpleQueue[tuple[Future, object]] = SimpleQueue()
        self._stuck: set[Key] = set()
        """Keys of futures on workers that are paused and idle, as of the last look."""
        self.least_room: int | None = None
        """Bytes for blocks on the smallest worker as of the last look; None where none has a limit."""
        self._places: dict[Key, frozenset[str]] = {}
        """Workers that may compute each task in flight, where not all may."""
        self._followed = ""
        """Name of the run whose shares of blocks are taken."""
        self._restarts_until: float | None = None
        """Time of the last reported restart, by the clock of the scheduler."""

    @property
    def room(self) -> int:
        """Number of blocks that can be submitted now: free places of the window, times blocks of a batch.

        Blocks on a worker that is paused and idle take no place: otherwise the other workers would be idle.
        """
        with translated_losses():
            if not self.is_ready:
                return 0
            length = self.batch()
            window = self.window() if self.members is None else min(self.window(), max(1, self.members.most // length))
            return max(0, window - len(self._tasks - self._stuck)) * length

    @property
    def is_ready(self) -> bool:
        """Return whether there is a worker that may compute."""
        return self.members is None or bool(self.members.addresses())

    def news(self) -> list[Event]:
        """Return the events of workers since the last call; withdraw tasks whose workers have all gone."""
        if self.members is None:
            return []
        news = self.members.news()
        if any(isinstance(event, WorkersLeft) for event in news):
            here = set(self.members.addresses())
            for key in [key for key, places in self._places.items() if places.isdisjoint(here)]:
                self._withdraw(key)
        return news

    def _withdraw(self, key: Key) -> None:
        """Take back a task that no worker can compute any more."""
        blocks = [block for block in self._batches.pop(key, [key]) if block in self._in_flight]
        self._settle(key)
        for future in {self._in_flight[block][0] for block in blocks}:
            with translated_losses():
                self.client.cancel([future], force=True)
        for block in blocks:
            self._in_flight.pop(block)
            self._ready.append(Result(block, Withdrawn("the workers that it was given to have gone"), 0.0))

    def _settle(self, key: Any) -> None:
        """Forget a task that is not in flight any more."""
        self._tasks.discard(key)
        self._places.pop(key, None)

    def _table(self) -> WorkerTable:
        """Report of the scheduler on the workers that may compute."""
        return worker_table(self.client) if self.members is None else self.members.rows()

    @property
    def keys(self) -> list[Key]:
        """Keys in flight."""
        return list(self._in_flight)

    def submit(self, *graphs: KeyedGraph) -> None:
        """Send graphs in one message: each message costs the scheduler as much as several blocks."""
        self.submitted += len(graphs)
        with translated_losses():
            length = self.batch()
        blocks = [
            keyed for keyed in graphs if length > 1 and len(keyed[0]) == 1 and str(keyed[1][0]).startswith("store")
        ]
        sent = [keyed for keyed in graphs if keyed not in blocks]
        for start in range(0, len(blocks), length):
            part = blocks[start : start + length]
            batch = batch_graph(part, self.together)
            self._batches[batch[1]] = [key for _, key in part]
            sent.append(batch)
        if sent:
            self._send(sent, None)

    def submit_backup(self, graph: KeyedGraph, key: Key, *, idle: bool = True) -> bool:
        """Send a graph to workers that show signs of life and do not work on a key, if there are any.

        `idle`: only to workers that have fewer tasks than threads.
        """
        with translated_losses():
            processing = self.client.processing()
            workers = self._table()
        heartbeats = {address: float(worker["last_seen"]) for address, worker in workers.items()}
        latest = max(heartbeats.values(), default=0.0)
        alive = {address for address, at in heartbeats.items() if latest - at < HEARTBEAT_SECONDS}
        running = {address for address in alive if workers[address].get("status", "running") == "running"}
        helpers = [address for address in running if not _works_on(processing.get(address, ()), [key])]
        if idle:
            helpers = [
                worker for worker in helpers if len(processing.get(worker, ())) < int(workers[worker]["nthreads"])
            ]
        if helpers:
            self._send((graph,), helpers)
        return bool(helpers)

    def _send(self, graphs: Sequence[KeyedGraph], workers: list[str] | None) -> None:
        keys = [key for _, key in graphs]
        graph = joined_graph(graphs)
        if workers is None and self.members is not None:
            workers = self.members.addresses()
        taken = {**(get_annotations().get("resources") or {}), **(self.resources or {})}
        with translated_losses(), annotate(allow_other_workers=False):
            futures = self.client.get(graph, keys, workers=workers, resources=taken or None, sync=False)
        now = time.perf_counter()
        self._tasks |= set(keys)
        if workers is not None:
            self._places |= dict.fromkeys(keys, frozenset(workers))
        self.futures += len(keys)
        for key, future in zip(keys, futures, strict=True):
            self._in_flight |= dict.fromkeys(self._batches.get(key, [key]), (future, now))
        assert self.client.loop is not None
        self.client.loop.add_callback(_expect, futures, self._arrived)

    def next(self, seconds: float) -> Result | None:
        """Return the next result of a key that was not abandoned."""
        deadline = time.perf_counter() + seconds
        while not self._ready and (arrived := self._wait(deadline)):
            future, value = arrived
            key: Any = future.key
            self._settle(key)
            keys = [key for key in self._batches.pop(key, [key]) if self._in_flight.get(key, (None,))[0] is future]
            if keys:
                self._ready.extend(self._receive(keys, future, value))
        return self._ready.popleft() if self._ready else None

    def _wait(self, deadline: float) -> tuple[Future, object] | None:
        """Return the next future that has come, with its result or error; None at the deadline [s, perf_counter]."""
        while True:
            with suppress(Empty):
                return self._arrived.get_nowait()
            if self.client.status not in ("running", "connecting"):
                raise ClusterLostError(LOST["CancelledError"])
            if (left := deadline - time.perf_counter()) <= 0.0:
                return None
            with suppress(Empty):
                return self._arrived.get(timeout=min(left, 0.1))

    def _receive(self, keys: Sequence[Key], future: Future, value: object) -> Iterator[Result]:
        """Yield the results of a task: one, or one for each block of a batch."""
        starts = [self._in_flight.pop(key)[1] for key in keys]
        if future.status in ("cancelled", "lost"):
            value = self._withdrawn(value)
        future.release()
        values = value if isinstance(value, list) else [value] * len(keys)
        for key, start, own in zip(keys, starts, values, strict=True):
            yield Result(key, own, time.perf_counter() - start)

    def _withdrawn(self, error: object) -> Withdrawn:
        """Return the cause of a cancellation by others. Raises ClusterLostError where the scheduler has gone."""
        cause = str(getattr(error, "reason", ""))
        if self.client.status != "running" or cause == CONNECTION_LOST:
            raise ClusterLostError(LOST["CancelledError"])
        with translated_losses():
            worker_table(self.client)
        return Withdrawn("client.restart()" if cause == RESTARTED else "client.cancel() by another")

    def age(self, key: Key) -> float:
        """Return the seconds since a key was submitted; zero for a key whose result is ready."""
        return time.perf_counter() - self._in_flight[key][1] if key in self._in_flight else 0.0

    def abandon(self, keys: Iterable[Key]) -> None:
        """Restart the workers that work on these keys: nothing else ends a thread that does not return.

        Workers without a nanny would end and not come back; they are left alone.
        """
        abandoned = {key: self._in_flight.pop(key)[0] for key in list(keys)}
        for future in abandoned.values():
            self._settle(future.key)
        with translated_losses():
            table = self._table()
            started = {address for address, worker in table.items() if worker.get("nanny")}
            processing = self.client.processing().items()
            busy = [worker for worker, tasks in processing if worker in started and _works_on(tasks, abandoned)]
            self.client.cancel(list(abandoned.values()), force=True)
            if busy:
                self.client.restart_workers(busy, timeout=RESTART_SECONDS, raise_for_error=False)

    def forget(self, keys: Iterable[Key]) -> list[Key]:
        """Cancel those of these keys that lie on workers that are paused and idle."""
        stuck = [key for key in keys if key in self._stuck and key in self._in_flight]
        futures = [self._in_flight.pop(key)[0] for key in stuck]
        for key in stuck:
            self._settle(key)
        with translated_losses():
            self.client.cancel(futures, force=True)
        return stuck

    def paused(self) -> tuple[list[PausedWorker], int]:
        """Return the workers that are paused and compute nothing, and the number of the others."""
        with translated_losses():
            workers = self._table()
            paused = [PausedWorker.of(address, worker) for address, worker in workers.items() if _is_idle_pause(worker)]
            processing = self.client.processing([worker.address for worker in paused]) if paused else {}
        limited = [worker for worker in workers_of(workers) if worker.limit]
        self.least_room = min((int(FULL * worker.limit) - worker.base for worker in limited), default=None)
        tasks = {_block(task) for keys in processing.values() for task in keys if isinstance(task, tuple)}
        self._stuck = {key for key in self._tasks if _block(key) in tasks}
        return paused, len(workers) - len(paused)

    def relieve(self, worker: PausedWorker, step: PauseStep) -> list[Key]:
        """Make a step for a paused worker without waiting for it; return the keys whose blocks have to go to others."""
        if step == "move":
            with translated_losses():
                tasks = next(iter(self.client.processing([worker.address]).values()), ())
            names: dict[Key, Any] = {key: future.key for key, (future, _) in self._in_flight.items()}
            return [key for key, name in names.items() if _works_on(tasks, [name])]
        action = functools.partial(self._trim if step == "trim" else self._restart, [worker.address])
        threading.Thread(target=action, daemon=True).start()
        return []

    def _trim(self, workers: list[str]) -> None:
        with suppress(Exception):  # of a worker that has gone meanwhile
            self.client.run(trim, workers=workers, on_error="ignore")

    def _restart(self, workers: list[str]) -> None:
        with suppress(Exception):
            self.client.restart_workers(workers, timeout=RESTART_SECONDS, raise_for_error=False)

    def describe(self) -> str:
        """Describe the workers, their tasks, and the use of their memory."""
        with translated_losses():
            workers = self._table()
            tasks = sum(map(len, self.client.processing().values()))
        paused = sum(worker.get("status") == "paused" for worker in workers.values())
        full = max((worker.used / worker.limit for worker in workers_of(workers) if worker.limit), default=0.0)
        state = f"{len(workers)} workers, {paused} of them paused, memory at most {full:.0%} of its limit"
        return f"{state}; {len(self._in_flight)} blocks in flight, {tasks} of their tasks on workers"

    def state(self) -> ClusterState:
        """Return the state of the workers that may compute. Raises ClusterLostError."""
        with translated_losses():
            table = self._table()
        workers = workers_of(table)
        return ClusterState(
            len(workers),
            sum(row.get("status") == "paused" for row in table.values()),
            sum(worker.threads for worker in workers),
            len(self._in_flight),
            sum(worker.used for worker in workers),
            sum(worker.limit for worker in workers),
            self.window.share if isinstance(self.window, Window) else 1.0,
        )

    def place(self, key: Key) -> str:
        """Return the address of the worker that holds a key; empty if none does. Raises ClusterLostError."""
        if key not in self._in_flight:
            return ""
        with translated_losses():
            processing = self.client.processing()
        name: Any = self._in_flight[key][0].key
        return next((address for address, tasks in processing.items() if _works_on(tasks, [name])), "")

    def memory_restarts(self) -> list[MemoryRestart]:
        """Return the workers that were ended by their nannies for their memory, as reported to the scheduler."""
        with translated_losses():
            restarts, self._restarts_until = memory_restarts(self.client, self._restarts_until)
        return restarts

    def follow(self, run: str, shares: RunningShares) -> None:
        """Take shares of blocks that workers tell, under the name of a run, until the executor is closed."""

        def take(event: tuple[float, Any]) -> None:
            block, share = event[1]
            shares.put(int(block), float(share))

        HERE[run] = shares.put  # of workers in this process
        self._followed = run
        with suppress(Exception):  # of a client that cannot wait here: then blocks are reported when they are done
            self.client.subscribe_topic(topic(run), take)

    def close(self) -> None:
        """Cancel the blocks in flight."""
        if self._followed:
            HERE.pop(self._followed, None)
            with suppress(Exception):  # of a client that has lost its scheduler
                self.client.unsubscribe_topic(topic(self._followed))
        futures = [future for future, _ in self._in_flight.values()]
        self._in_flight.clear()
        self._tasks.clear()
        if self.client.status == "running":
            self.client.cancel(futures)
            if self.share is not None:
                self.share.close()


def _expect(futures: Iterable[Future], arrived: SimpleQueue[tuple[Future, object]]) -> None:
    """Fetch results in the background, each by itself: one on a worker that has died does not delay the others.

    Called in the loop of the client. Dask's `as_completed` does the same with four coroutines for each future.
    """
    for future in futures:
        task = asyncio.get_running_loop().create_task(_arrival(future, arrived))
        EXPECTED.add(task)
        task.add_done_callback(EXPECTED.discard)


async def _arrival(future: Future, arrived: SimpleQueue[tuple[Future, object]]) -> None:
    try:
        value: object = await future
    except Exception as error:
        if future.status == "finished":  # of the connection, and no result: the client tells if it is lost
            raise
        value = error
    arrived.put((future, value))


EXPECTED: set[asyncio.Task[None]] = set()
"""Tasks that wait for results. The event loop has only weak references to them."""


def _is_idle_pause(worker: Mapping[str, Any]) -> bool:
    """Return whether a worker is paused and computes nothing, by the report of a scheduler."""
    counts = worker.get("metrics", {}).get("task_counts", {})
    return worker.get("status") == "paused" and not any(counts.get(state) for state in ("executing", "long-running"))


def _block(key: Key) -> tuple[str, Any]:
    """Return the run and the block of a key of the form (name-run, block)."""
    return str(key[0]).rpartition("-")[2], key[1]


def _works_on(tasks: Iterable[Any], keys: Iterable[Key]) -> bool:
    """Return whether any task belongs to the block of any key. Both have the form (name-run, block)."""
    wanted = {_block(key) for key in keys}
    return any(_block(task) in wanted for task in tasks if isinstance(task, tuple))
