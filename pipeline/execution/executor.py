"""Executors: submit block graphs and receive results; the implementation in this process.

`pipeline.execution.cluster_executor` has the implementation for a cluster. The order of blocks and the answer to a
failure are decided in `pipeline.execution.policy`.
"""

from __future__ import annotations

import itertools
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from pipeline.errors import ClusterLostError, TaskError
from pipeline.execution.advance import HERE, RunningShares
from pipeline.execution.policy.attempts import Failure
from pipeline.execution.policy.memory_restarts import MemoryRestart
from pipeline.execution.policy.pauses import PausedWorker, PauseStep
from pipeline.execution.policy.workers import WorkerTable
from pipeline.monitor.log import ClusterState, Event
from robots.data_classes import dataclass

Key = tuple[Any, ...]
"""Key of a task: its name with that of the run, then the block that it belongs to."""

TaskGraph = dict[Key, Any]
"""Tasks of Dask by their keys."""

KeyedGraph = tuple[TaskGraph, Key]
"""A graph, and the key of the task whose result is wanted."""

LOST = {
    "NoWorkerError": "there are no workers",
    "NoValidWorkerError": "no worker can take the tasks",
    "FutureCancelledError": "the scheduler has gone",
    "FuturesCancelledError": "the scheduler has gone",
    "CancelledError": "the scheduler has gone",
}
"""Kinds of errors whose cause is the cluster, not the block."""


@contextmanager
def translated_losses() -> Iterator[None]:
    """Turn errors of a connection that has broken into ClusterLostError."""
    try:
        yield
    except Exception as error:
        if isinstance(error, OSError | TimeoutError) or type(error).__name__ in (*LOST, "ClosedClientError"):
            raise ClusterLostError(LOST["CancelledError"]) from error
        raise


@dataclass(frozen=True)
class Withdrawn:
    """A task that will not come back, through no fault of its block: the reason in words."""

    reason: str


@dataclass(frozen=True)
class Result:
    """Outcome of a submitted task: value, exception or Withdrawn, and seconds since submission."""

    key: Key
    value: Any
    seconds: float


class Members(Protocol):
    """Workers that may compute, followed while a run lasts."""

    def rows(self) -> WorkerTable:
        """Report of the scheduler on each of them."""

    def addresses(self) -> list[str]:
        """Return the addresses of the workers."""

    @property
    def most(self) -> int:
        """Largest number of blocks in flight, independent of the memory of workers."""

    def news(self) -> list[Event]:
        """Return the workers that came, went or were refused since the last call."""


class Executor(Protocol):
    """Place where graphs are computed, several at once, and their results are received in any order."""

    @property
    def room(self) -> int:
        """Number of further graphs that can be submitted now."""

    @property
    def is_ready(self) -> bool:
        """Return whether at least one worker can compute."""

    @property
    def least_room(self) -> int | None:
        """Bytes for blocks on the smallest worker as of the last look at paused ones; None without limits."""

    def news(self) -> list[Event]:
        """Return the workers that came, went or were refused since the last call. Raises ClusterLostError."""

    @property
    def keys(self) -> Iterable[Key]:
        """Keys in flight."""

    def submit(self, *graphs: KeyedGraph) -> None:
        """Send graphs; the results of their keys will come."""

    def submit_backup(self, graph: KeyedGraph, key: Key, *, idle: bool = True) -> bool:
        """Send a graph to workers that do not yet work on a key; False where there are no such workers.

        `idle`: only to workers that have a thread without a task, so that new blocks do not wait for it.
        """

    def next(self, seconds: float) -> Result | None:
        """Return the next result; None if none came within that time. Raises ClusterLostError."""

    def age(self, key: Key) -> float:
        """Return the seconds since a key was submitted."""

    def abandon(self, keys: Iterable[Key]) -> None:
        """Forget these keys and free the workers that work on them."""

    def forget(self, keys: Iterable[Key]) -> list[Key]:
        """Cancel the keys that lie on paused workers, and return these keys."""

    def paused(self) -> tuple[list[PausedWorker], int]:
        """Return the workers that are paused and idle, and the number of the others."""

    def relieve(self, worker: PausedWorker, step: PauseStep) -> list[Key]:
        """Make a step for a paused worker; returns the keys that have to go to others. Raises ClusterLostError."""

    def describe(self) -> str:
        """Describe the current activity in words."""

    def state(self) -> ClusterState | None:
        """Return the state of the workers; None for an executor without workers. Raises ClusterLostError."""

    def place(self, key: Key) -> str:
        """Return the address of the worker that holds a key; empty if it is unknown. Raises ClusterLostError."""

    def memory_restarts(self) -> list[MemoryRestart]:
        """Return the workers that were ended for their memory since the last call. Raises ClusterLostError."""

    def follow(self, run: str, shares: RunningShares) -> None:
        """Take shares of blocks that tasks tell, under the name of a run, until the executor is closed."""

    def close(self) -> None:
        """Cancel the blocks in flight."""


def failure(error: BaseException) -> Failure:
    """Convert an exception to the failure of its block. Raises ClusterLostError if it concerns the cluster."""
    name = type(error).__name__
    if name in LOST:
        raise ClusterLostError(LOST[name])
    if name == "KilledWorker":
        return Failure("died", "every worker that computed it died")
    return Failure("raised", str(TaskError.of(error)))


def reason(error: BaseException) -> str:
    """Return the reason why a graph failed, in words. Raises ClusterLostError if the cluster is the reason."""
    return failure(error).reason


class InProcessExecutor:
    """One graph after another, through the scheduler of Dask that its settings name."""

    def __init__(self) -> None:
        import dask.config
        from dask.base import named_schedulers  # to ask for the scheduler in force would import Dask's distributed

        self._get: Callable[..., Any] = named_schedulers[dask.config.get("scheduler", None) or "threads"]
        self._waiting: deque[KeyedGraph] = deque()
        self._followed = ""

    @property
    def room(self) -> int:
        """Return 1 if no graph waits, else 0: graphs made ahead would save no time."""
        return 0 if self._waiting else 1

    @property
    def is_ready(self) -> bool:
        """Return True: this process is always there."""
        return True

    @property
    def least_room(self) -> int | None:
        """Return no room: there are no workers."""
        return None

    def news(self) -> list[Event]:
        """Return no events: there are no workers."""
        return []

    @property
    def keys(self) -> list[Key]:
        """Keys of the waiting blocks."""
        return [key for _, key in self._waiting]

    def submit(self, *graphs: KeyedGraph) -> None:
        """Keep graphs until their results are asked for."""
        self._waiting.extend(graphs)

    def submit_backup(self, graph: KeyedGraph, key: Key, *, idle: bool = True) -> bool:
        """Return False: there are no other workers."""
        return False

    def next(self, seconds: float) -> Result | None:
        """Compute the next graph, however long that takes."""
        if not self._waiting:
            return None
        graph, key = self._waiting.popleft()
        start = time.perf_counter()
        try:
            value = self._get(graph, key)
        except Exception as error:
            value = error
        return Result(key, value, time.perf_counter() - start)

    def age(self, key: Key) -> float:
        """Return zero: no task is under way between two results."""
        return 0.0

    def abandon(self, keys: Iterable[Key]) -> None:
        """Forget graphs that wait."""
        abandoned = set(keys)
        self._waiting = deque(keyed for keyed in self._waiting if keyed[1] not in abandoned)

    def forget(self, keys: Iterable[Key]) -> list[Key]:
        """Return no keys: there are no paused workers."""
        return []

    def paused(self) -> tuple[list[PausedWorker], int]:
        """Return no paused workers and one other, this process."""
        return [], 1

    def relieve(self, worker: PausedWorker, step: PauseStep) -> list[Key]:
        """Return no keys: there are no workers."""
        return []

    def describe(self) -> str:
        """Describe the place of the computation: this process."""
        return "computing in this process"

    def state(self) -> None:
        """Return None: there are no workers."""
        return

    def place(self, key: Key) -> str:
        """Return an empty address: there are no workers."""
        return ""

    def memory_restarts(self) -> list[MemoryRestart]:
        """Return no restarts: there are no workers."""
        return []

    def follow(self, run: str, shares: RunningShares) -> None:
        """Tell at once of shares of blocks: the run waits while its tasks compute."""
        HERE[run] = shares.put_and_tell
        self._followed = run

    def close(self) -> None:
        """Drop the waiting blocks."""
        HERE.pop(self._followed, None)
        self._waiting.clear()


def results(graphs: Iterable[KeyedGraph], executor: Executor, seconds: float = 1.0) -> Iterator[Result]:
    """Yield the results of graphs as they come, in any order, as many in flight as there is room for.

    `seconds` is how long one look for a result takes at most. Raises ClusterLostError.
    """
    waiting, ready, in_flight = iter(graphs), deque[KeyedGraph](), dict[Key, KeyedGraph]()
    while True:
        ready.extend(itertools.islice(waiting, 0 if ready else 1))
        while ready and executor.room:
            graph = ready.popleft()
            executor.submit(graph)
            in_flight[graph[1]] = graph
            ready.extend(itertools.islice(waiting, 0 if ready else 1))
        if not in_flight and not ready:
            return
        executor.news()  # follows who comes and goes
        result = executor.next(seconds)
        if result is not None and isinstance(result.value, Withdrawn):
            ready.append(_renamed(*in_flight.pop(result.key)))
        elif result is not None:
            del in_flight[result.key]
            yield result


def _renamed(graph: TaskGraph, last: Key) -> KeyedGraph:
    """Return the graph with other names: a worker may still compute the withdrawn one, and would continue with it."""
    run = uuid.uuid4().hex[:8]
    keys = {key: (f"{key[0]}-{run}", *key[1:]) for key in graph}
    return {keys[key]: task.substitute(keys, key=keys[key]) for key, task in graph.items()}, keys[last]
