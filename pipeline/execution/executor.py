"""Flights: graphs of blocks on their way, and their results as they come: what one is, and that in this process.

That to a cluster is in `pipeline.execution.cluster_executor`. What is flown and what becomes of a failure is decided
elsewhere (`pipeline.execution.policy.attempts`, `pipeline.execution.policy.stragglers`).
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from pipeline.errors import ClusterLostError, TaskError
from pipeline.execution.policy.attempts import Failure, FailureKind

KeyedGraph = tuple[dict[Any, Any], Any]

LOST = {
    "NoWorkerError": "there are no workers",
    "NoValidWorkerError": "no worker can take the tasks",
    "FutureCancelledError": "the scheduler has gone",
    "FuturesCancelledError": "the scheduler has gone",
    "CancelledError": "the scheduler has gone",
}
"""Kinds of errors that say nothing of a block, only of the cluster."""


@dataclass(frozen=True)
class Result:
    """What came back for a key: a value or an exception, and the seconds since it was submitted."""

    key: Any
    value: Any
    seconds: float


class Executor(Protocol):
    """KeyedGraph on its way."""

    @property
    def room(self) -> int:
        """How many more can be submitted now."""

    @property
    def keys(self) -> Iterable[Any]:
        """Keys of what is on its way."""

    def submit(self, *work: KeyedGraph) -> None:
        """Send graphs; the results of their keys will come."""

    def help(self, work: KeyedGraph, key: Any) -> bool:
        """Send a graph to other workers than those that work on a key; False where there are no others."""

    def next(self, seconds: float) -> Result | None:
        """The next result; None where none came within that time. Raises ClusterLostError."""

    def age(self, key: Any) -> float:
        """Seconds since a key was submitted."""

    def abandon(self, keys: Iterable[Any]) -> None:
        """Forget these keys and free the workers that work on them."""

    def describe(self) -> str:
        """What is going on, in words."""

    def close(self) -> None:
        """Drop what is on its way."""


def failure(error: BaseException) -> Failure:
    """What an exception says of its block. Raises ClusterLostError where it is about the cluster."""
    name = type(error).__name__
    if name in LOST:
        raise ClusterLostError(LOST[name])
    kind: FailureKind = "died" if name == "KilledWorker" else "raised"
    if kind == "died":
        return Failure(kind, "every worker that computed it died")
    return Failure(kind, str(error) if isinstance(error, TaskError) else str(TaskError.of(error)))


class InProcessExecutor:
    """One graph after another, through the scheduler of Dask that its settings name."""

    def __init__(self) -> None:
        from dask.base import get_scheduler

        self._get = get_scheduler()
        self._work: deque[KeyedGraph] = deque()

    @property
    def room(self) -> int:
        """One at a time: nothing is gained by making graphs ahead."""
        return 0 if self._work else 1

    @property
    def keys(self) -> list[Any]:
        """Keys of what waits."""
        return [key for _, key in self._work]

    def submit(self, *work: KeyedGraph) -> None:
        """Keep graphs until their results are asked for."""
        self._work.extend(work)

    def help(self, work: KeyedGraph, key: Any) -> bool:
        """There is nobody else."""
        return False

    def next(self, seconds: float) -> Result | None:
        """Compute the next graph, however long that takes."""
        if not self._work:
            return None
        graph, key = self._work.popleft()
        start = time.perf_counter()
        try:
            value = self._get(graph, key)
        except Exception as error:
            value = error
        return Result(key, value, time.perf_counter() - start)

    def age(self, key: Any) -> float:
        """Nothing is under way between two results."""
        return 0.0

    def abandon(self, keys: Iterable[Any]) -> None:
        """Forget graphs that wait."""
        dropped = set(keys)
        self._work = deque(each for each in self._work if each[1] not in dropped)

    def describe(self) -> str:
        """Where blocks are computed."""
        return "computing in this process"

    def close(self) -> None:
        """Drop what waits."""
        self._work.clear()


def results(work: Iterable[KeyedGraph], in_flight: Executor, seconds: float = 1.0) -> Iterator[Result]:
    """The results of graphs as they come, in any order, as many on their way as there is room for.

    `seconds` is how long one look for a result takes at most. Raises ClusterLostError.
    """
    waiting, under_way = iter(work), 0
    while True:
        while in_flight.room and (graph := next(waiting, None)) is not None:
            in_flight.submit(graph)
            under_way += 1
        if not under_way:
            return
        if (result := in_flight.next(seconds)) is not None:
            under_way -= 1
            yield result


def reason(error: BaseException) -> str:
    """Why a graph failed, in words. Raises ClusterLostError where it is about the cluster."""
    return str(error) if isinstance(error, TaskError) else failure(error).reason
