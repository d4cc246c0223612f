"""Submit block graphs to a Dask cluster and receive their results as they are ready.

Many graphs go in one message. Futures are released at once, so that neither the scheduler's memory nor the client's
grows with the sweep.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pipeline.errors import ClusterLostError
from pipeline.execution.batches import batch_graph
from pipeline.execution.executor import LOST, Executor, InProcessExecutor, Key, KeyedGraph, Result
from pipeline.execution.graph import Granularity
from pipeline.execution.policy.memory_restarts import MemoryRestart
from pipeline.execution.policy.window import LIMB_THREADS, Window, batch, workers_of
from pipeline.plan.model import Plan

if TYPE_CHECKING:
    from distributed import Client, Future

RESTART_SECONDS = 30.0
HEARTBEAT_SECONDS = 15.0
"""Since the last heartbeat of a worker, after which no backup is sent to it."""

MEMORY_EVENTS = "worker-restart-memory"
"""Topic of the scheduler under which nannies say that they end a worker for its memory."""


class ClusterExecutor:
    """Graphs on a cluster, as many at once as `window` says at the time; blocks of one task in a `batch` of so many."""

    def __init__(self, client: Client, window: Callable[[], int], batch: Callable[[], int] = lambda: 1) -> None:
        from distributed import as_completed

        self.client, self.window, self.batch = client, window, batch
        self.together = 1
        """Blocks of a batch that are computed together."""
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
        # Results are fetched behind the scenes: one that lay on a worker that has died holds up no other.
        self._pending = as_completed(loop=client.loop, with_results=True, raise_errors=False)
        self._restarts_until: float | None = None
        """When the last restart was that has been told, by the clock of the scheduler."""

    @property
    def room(self) -> int:
        """How many fewer are in flight than the window has room for."""
        with _translated_losses():
            return max(0, self.window() - len(self._tasks)) * self.batch()

    @property
    def keys(self) -> list[Key]:
        """Keys in flight."""
        return list(self._in_flight)

    def submit(self, *graphs: KeyedGraph) -> None:
        """Send graphs in one message: each message costs the scheduler as much as several blocks."""
        self.submitted += len(graphs)
        with _translated_losses():
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

    def submit_backup(self, graph: KeyedGraph, key: Key) -> bool:
        """Send a graph to workers that show signs of life and do not work on a key, if there are any."""
        with _translated_losses():
            processing = self.client.processing()
            workers = self.client.scheduler_info(n_workers=-1)["workers"]
        heartbeats = {address: float(worker["last_seen"]) for address, worker in workers.items()}
        alive = {address for address, at in heartbeats.items() if max(heartbeats.values()) - at < HEARTBEAT_SECONDS}
        idle = [address for address in alive if not _works_on(processing.get(address, ()), [key])]
        if idle:
            self._send((graph,), idle)
        return bool(idle)

    def _send(self, graphs: Sequence[KeyedGraph], workers: list[str] | None) -> None:
        merged = {name: task for graph, _ in graphs for name, task in graph.items()}
        keys = [key for _, key in graphs]
        with _translated_losses():
            futures = self.client.get(merged, keys, workers=workers, allow_other_workers=bool(workers), sync=False)
        now = time.perf_counter()
        self._tasks |= set(keys)
        self.futures += len(keys)
        for key, future in zip(keys, futures, strict=True):
            self._in_flight |= dict.fromkeys(self._batches.get(key, [key]), (future, now))
        for future in futures:
            self._pending.add(future)

    def next(self, seconds: float) -> Result | None:
        """The next result of a key that was not abandoned."""
        deadline = time.perf_counter() + seconds
        while not self._ready and self._wait(deadline):
            future, value = next(self._pending)
            key: Any = future.key
            self._tasks.discard(key)
            keys = [key for key in self._batches.pop(key, [key]) if self._in_flight.get(key, (None,))[0] is future]
            if keys:
                self._ready.extend(self._receive(keys, future, value))
        return self._ready.popleft() if self._ready else None

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

    def _receive(self, keys: Sequence[Key], future: Future, value: object) -> Iterator[Result]:
        """The results of a task: one, or those of all blocks of a batch."""
        starts = [self._in_flight.pop(key)[1] for key in keys]
        if future.status in ("cancelled", "lost"):
            raise ClusterLostError(LOST["CancelledError"])
        # Of an error `as_completed` gives the kind, the exception and its traceback.
        value = value[1] if future.status == "error" and isinstance(value, tuple) else value
        future.release()
        values = value if isinstance(value, list) else [value] * len(keys)
        for key, start, own in zip(keys, starts, values, strict=True):
            yield Result(key, own, time.perf_counter() - start)

    def age(self, key: Key) -> float:
        """Seconds since a key was submitted."""
        return time.perf_counter() - self._in_flight[key][1]

    def abandon(self, keys: Iterable[Key]) -> None:
        """Restart the workers that work on these keys: nothing else ends a thread that does not return.

        Workers without a nanny would end and not come back; they are left alone.
        """
        abandoned = {key: self._in_flight.pop(key)[0] for key in list(keys)}
        self._tasks -= {future.key for future in abandoned.values()}
        with _translated_losses():
            known = self.client.scheduler_info(n_workers=-1)["workers"]
            started = {address for address, worker in known.items() if worker.get("nanny")}
            processing = self.client.processing().items()
            busy = [worker for worker, tasks in processing if worker in started and _works_on(tasks, abandoned)]
            self.client.cancel(list(abandoned.values()), force=True)
            if busy:
                self.client.restart_workers(busy, timeout=RESTART_SECONDS, raise_for_error=False)

    def describe(self) -> str:
        """Workers, what they do, and how full they are."""
        with _translated_losses():
            information = self.client.scheduler_info(n_workers=-1)
            tasks = sum(map(len, self.client.processing().values()))
        workers = information["workers"]
        paused = sum(worker.get("status") == "paused" for worker in workers.values())
        full = max((worker.used / worker.limit for worker in workers_of(information) if worker.limit), default=0.0)
        state = f"{len(workers)} workers, {paused} of them paused, memory at most {full:.0%} of its limit"
        return f"{state}; {len(self._in_flight)} blocks in flight, {tasks} of their tasks on workers"

    def memory_restarts(self) -> list[MemoryRestart]:
        """Workers whose nannies have ended them for their memory, by what these have told the scheduler."""
        with _translated_losses():
            events = self.client.get_events(MEMORY_EVENTS)
        told, self._restarts_until = self._restarts_until, max((at for at, _ in events), default=0.0)
        if told is None:  # those of another run on this cluster
            return []
        return [MemoryRestart(str(event["worker"]), int(event["rss"])) for at, event in events if at > told]

    def close(self) -> None:
        """Cancel what is in flight."""
        futures = [future for future, _ in self._in_flight.values()]
        self._in_flight.clear()
        self._tasks.clear()
        if self.client.status == "running":
            self.client.cancel(futures)


def make_executor(
    client: Client | None,
    plan: Plan,
    granularity: Granularity = "limb",
    seconds: float | None = None,
    blocks: int | None = None,
    together: int = 1,
) -> Executor:
    """The executor of a plan's blocks: on a cluster, or in this process where there is none.

    `seconds` is what a block takes on one core (absent: what the plan expects), `blocks` how many are to be computed
    (absent: all), `together` how many a task computes at least.
    """
    if client is None:
        return InProcessExecutor()
    if granularity == "limb":
        return ClusterExecutor(client, Window(client, LIMB_THREADS, plan.block_memory))
    window = Window(client, 1.0, together * plan.task_memory if together > 1 else plan.block_memory)
    executor, length = ClusterExecutor(client, window), seconds or plan.work.computing / plan.blocks
    count, executor.together = plan.blocks if blocks is None else blocks, together
    executor.batch = lambda: together * -(-batch(window.threads, length, count - executor.submitted) // together)
    return executor


def choose_granularity(plan: Plan, client: Client | None) -> Granularity:
    """Choose tasks for limbs, unless a cluster has so many threads that its scheduler could not keep them busy.

    Nor for peaks of reactions alone: limbs would hand on all that these are made of, and take twice to three times as
    long as one task does that has it in its cache.
    """
    if not plan.by_limb:
        return "block"
    if client is None:
        return "limb"
    if plan.memory.request.peaks_alone:
        return "block"
    return "limb" if threads_of(client) <= plan.work.limb_threads else "block"


def threads_of(client: Client) -> int:
    """Threads of all workers that a cluster has now."""
    return sum(worker.threads for worker in workers_of(client.scheduler_info(n_workers=-1)))


def _works_on(tasks: Iterable[Any], keys: Iterable[Key]) -> bool:
    """Whether some task belongs to the block of some key; (name-run, block) is the form of both."""
    wanted = {(str(key[0]).rpartition("-")[2], key[1]) for key in keys}
    return any((str(task[0]).rpartition("-")[2], task[1]) in wanted for task in tasks if isinstance(task, tuple))


@contextmanager
def _translated_losses() -> Iterator[None]:
    """Turns errors of a connection that has broken into ClusterLostError."""
    try:
        yield
    except Exception as error:
        if isinstance(error, OSError | TimeoutError) or type(error).__name__ in (*LOST, "ClosedClientError"):
            raise ClusterLostError(LOST["CancelledError"]) from error
        raise
