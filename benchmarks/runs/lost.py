"""Shares of a run's cores: kernels, other work in tasks, Dask's worker, coordinator, scheduler, start, system, waiting.

The run is one of a local cluster with one worker. That has meters around tasks and around calls of kernels; all other
times are those that the system keeps of processes and threads, from the first task to the last receipt. Linux only.
"""

from __future__ import annotations

import functools
import os
import resource
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.figures import Figure, require
from pipeline.monitor.log import Event, Finished, Started

if TYPE_CHECKING:
    from distributed import Client

SHARES = {
    "kernels": "user time of machine code in tasks",
    "tasks beside kernels": "user time of tasks in Python, NumPy and storage",
    "Dask's worker": "user time of the worker outside tasks",
    "scheduler": "user time of the process that coordinates, but its main thread: scheduler and connections",
    "coordinator": "user time of the main thread of that process",
    "system": "time of both processes in the system, as for fresh pages of memory",
    "start": "all cores, from the start of the cluster to the first task",
    "end": "all cores, from the last receipt to the opened results",
    "waiting": "the rest: cores without work, or with that of other programs",
}
"""Meaning of each share."""

TICKS = os.sysconf("SC_CLK_TCK")


class Clocks(NamedTuple):
    """Processor seconds of a process: in user code, in that of its main thread, and in the system."""

    user: float
    main: float
    system: float

    @classmethod
    def of(cls, process: int) -> Clocks:
        """Read the clocks of a process."""
        folder = Path(f"/proc/{process}")
        main, _ = _seconds(folder / "task" / folder.name)  # first: a tick between the two belongs to other threads
        user, system = _seconds(folder)
        return cls(user, min(main, user), system)

    def since(self, before: Clocks) -> Clocks:
        """Return the seconds between two readings."""
        return Clocks(*(now - then for now, then in zip(self, before, strict=True)))


def _seconds(folder: Path) -> tuple[float, float]:
    """Return the seconds of a process or thread in user code and in the system."""
    fields = (folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return int(fields[11]) / TICKS, int(fields[12]) / TICKS


@dataclass(frozen=True)
class Told:
    """Report of a worker: when its first task began, both processes' clocks then, its own now, user time in calls."""

    began: float
    coordinator: Clocks
    before: Clocks
    after: Clocks
    spent: Mapping[str, float]


class Meters:
    """User time of a worker's tasks and kernels."""

    def __init__(self, coordinator: int) -> None:
        self._coordinator, self._lock = coordinator, threading.Lock()
        self._first: tuple[float, Clocks, Clocks] | None = None
        self._spent = {"tasks": 0.0, "kernels": 0.0}

    def around(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that does the same, and adds its time to that of a name."""

        @functools.wraps(call)
        def metered(*arguments: Any, **options: Any) -> Any:
            with self._lock:
                self._first = self._first or (time.perf_counter(), Clocks.of(self._coordinator), Clocks.of(os.getpid()))
            start = resource.getrusage(resource.RUSAGE_THREAD).ru_utime
            try:
                return call(*arguments, **options)
            finally:
                spent = resource.getrusage(resource.RUSAGE_THREAD).ru_utime - start
                with self._lock:
                    self._spent[name] += spent

        return metered

    def told(self) -> Told:
        """Return what has been counted."""
        assert self._first is not None, "no task has run"
        return Told(*self._first, Clocks.of(os.getpid()), self._spent)


def install(coordinator: int) -> None:
    """Measure tasks and kernels in this process, a worker of the process that coordinates."""
    from dask._task_spec import Task

    from tasks.kernels.kernel import Call
    from tasks.kernels.lanes import Round

    told.meters = meters = Meters(coordinator)  # type: ignore[attr-defined]
    for name, owner, method in (("tasks", Task, "__call__"), ("kernels", Call, "make"), ("kernels", Round, "run")):
        setattr(owner, method, meters.around(name, getattr(owner, method)))


def told() -> Told:
    """Return what the meters of this process have counted."""
    return told.meters.told()  # type: ignore[attr-defined]


class Lost:
    """A listener of a run on a client's cluster of one worker; `shares` are asked for just after the run.

    begin: time at which the cluster began to start.
    """

    def __init__(self, client: Client, begin: float) -> None:
        self._client, self._begin = client, begin
        self._finished = 0.0
        self._worker: Told | None = None
        self._own: Clocks | None = None

    def __call__(self, event: Event) -> None:
        """Install the meters when the cluster is there, and read them at the end."""
        if isinstance(event, Started):
            self._client.run(install, os.getpid())
        elif isinstance(event, Finished):
            self._finished, self._own = time.perf_counter(), Clocks.of(os.getpid())
            workers = self._client.run(told)
            require(len(workers) == 1, f"{len(workers)} workers; expected one")
            (self._worker,) = workers.values()

    def shares(self, cores: int) -> dict[str, float]:
        """Return the shares of all cores from the begin to now, in percent, by their names in SHARES."""
        assert self._worker is not None
        assert self._own is not None
        now, own = time.perf_counter(), self._own.since(self._worker.coordinator)
        worker, spent = self._worker.after.since(self._worker.before), self._worker.spent
        seconds = {
            "kernels": spent["kernels"],
            "tasks beside kernels": spent["tasks"] - spent["kernels"],
            "Dask's worker": worker.user - spent["tasks"],
            "scheduler": own.user - own.main,
            "coordinator": own.main,
            "system": own.system + worker.system,
            "start": cores * (self._worker.began - self._begin),
            "end": cores * (now - self._finished),
        }
        whole = cores * (now - self._begin)
        seconds["waiting"] = whole - sum(seconds.values())
        return {name: 100.0 * each / whole for name, each in seconds.items()}


def figures(shares: Mapping[str, float]) -> Iterator[Figure]:
    """Yield a line for each share."""
    for name, what in SHARES.items():
        yield Figure(f"  share of {name}", shares[name], "%", what)
