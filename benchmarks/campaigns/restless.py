"""Two hundred workers of which a tenth pauses, dies or joins every minute: how busy the others are, and the results.

A program: `python -m benchmarks.campaigns.restless [--workers 200] [--rounds 20] [--share 0.1] [--seed N]`. Simulated
are the workers, their scheduler and the time: a task takes 30 s of it, 20 % more or less; a worker that dies gives its
tasks to others; one that pauses ends its task, begins no other, and keeps its waiting tasks. Real are the run loop with
its window, late copies, steps for paused workers and time limits, the blocks, which are computed here when their task
ends, the ledger, and the store, which has to be that of an undisturbed run, bit for bit. Exit status 1 where it
differs, or where workers that can compute are busy for less than 75 % of their time.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, cast
from unittest.mock import patch

import dask
from dask.base import named_schedulers

from benchmarks.campaigns.chaos import Campaign, content
from benchmarks.campaigns.lines import print_lines
from pipeline.cluster.connection import ClusterConfig
from pipeline.execution import loop as run_loop
from pipeline.execution.contents import create_store
from pipeline.execution.executor import InProcessExecutor, Key, KeyedGraph, Result
from pipeline.execution.loop import RunLoop
from pipeline.execution.policy.pauses import PausedWorker, Pauses, PauseStep
from pipeline.execution.policy.watchdog import Watchdog
from pipeline.execution.policy.window import window_size
from pipeline.execution.policy.workers import Worker
from pipeline.execution.run import run
from pipeline.monitor.log import Event
from pipeline.plan.plan import plan
from storage.completion import finish
from storage.ledger import Ledger
from storage.places.access import locate
from storage.store import StoreWriter

TASK_SECONDS, VARIED = 30.0, 0.2
BEGIN_SECONDS = 10.0
"""Time from the start of a worker to its admission."""

LEAST_BUSY = 0.75
LIMIT = 1 << 30


class Clock:
    """Simulated time [s], in place of the module `time`."""

    now = 0.0

    def monotonic(self) -> float:
        """Return the simulated time."""
        return self.now

    perf_counter = monotonic


@dataclass
class SimulatedWorker:
    """A worker of one thread: tasks that lie on it, end of the first of them [s; 0: it has not begun], pause."""

    number: int
    begin: float
    tasks: deque[Key] = field(default_factory=deque)
    end: float = 0.0
    paused: bool = False


class RestlessExecutor(InProcessExecutor):
    """Tasks on simulated workers; `share` of them pauses, dies or joins every minute."""

    def __init__(self, clock: Clock, count: int, share: float, chance: random.Random) -> None:
        super().__init__()
        self.clock, self.count, self.share, self.chance = clock, count, share, chance
        self.workers = {number: SimulatedWorker(number, 0.0) for number in range(count)}
        self._numbers = count
        self._graphs: dict[Key, tuple[KeyedGraph, float]] = {}
        self._scheduled: deque[Key] = deque()
        self._changed = 0.0
        self.able = self.busy = 0.0
        """Seconds of workers that were admitted and not paused, and those of them that they computed."""
        self.changes = 0

    @property
    def room(self) -> int:
        """Free places of the window of a run."""
        workers = [Worker(1, LIMIT, LIMIT if worker.paused else 0, not worker.paused) for worker in self._admitted()]
        return max(0, window_size(workers) - len(self._graphs.keys() - self._on_paused()))

    @property
    def keys(self) -> list[Key]:
        """Keys in flight."""
        return list(self._graphs)

    def submit(self, *graphs: KeyedGraph) -> None:
        """Schedule tasks."""
        for graph in graphs:
            self._graphs[graph[1]] = graph, self.clock.now
            self._scheduled.append(graph[1])

    def submit_backup(self, graph: KeyedGraph, key: Key, *, idle: bool = True) -> bool:
        """Schedule a task, which goes to a worker that is not paused."""
        self.submit(graph)
        return True

    def age(self, key: Key) -> float:
        """Return the seconds since a key was submitted."""
        return self.clock.now - self._graphs[key][1] if key in self._graphs else 0.0

    def next(self, seconds: float) -> Result | None:
        """Let time go on until a task ends, at most so long."""
        stop = self.clock.now + seconds
        while True:
            self._begin_tasks()
            ended = next((w for w in self.workers.values() if w.tasks and w.end <= self.clock.now), None)
            if ended is not None:
                if (result := self._end_task(ended)) is not None:
                    return result
                continue
            if self.clock.now >= stop:
                return None
            self._advance(min(stop, min((w.end for w in self.workers.values() if w.tasks), default=stop)))

    def abandon(self, keys: Iterable[Key]) -> None:
        """Forget tasks, wherever they lie."""
        for key in list(keys):
            self._graphs.pop(key, None)

    def forget(self, keys: Iterable[Key]) -> list[Key]:
        """Forget tasks on paused workers."""
        stuck = [key for key in keys if key in self._on_paused() and key in self._graphs]
        self.abandon(stuck)
        return stuck

    def paused(self) -> tuple[list[PausedWorker], int]:
        """Return the paused workers that compute nothing, and the number of the others."""
        idle = [w for w in self._admitted() if w.paused and not w.end]
        return [PausedWorker(str(w.number), LIMIT, LIMIT, nanny=True) for w in idle], len(self.workers) - len(idle)

    def relieve(self, worker: PausedWorker, step: PauseStep) -> list[Key]:
        """Trim helps one of four; a restart makes a new worker."""
        there = self.workers[int(worker.address)]
        if step == "trim" and self.chance.random() < 0.25:
            there.paused = False
        if step == "restart":
            self._die(there)
            self._join()
        return [key for key in there.tasks if key in self._graphs] if step == "move" else []

    def _admitted(self) -> list[SimulatedWorker]:
        return [worker for worker in self.workers.values() if worker.begin <= self.clock.now]

    def _on_paused(self) -> set[Key]:
        return {key for worker in self.workers.values() if worker.paused and not worker.end for key in worker.tasks}

    def _begin_tasks(self) -> None:
        for worker in sorted(self._admitted(), key=lambda worker: len(worker.tasks)):
            if not worker.paused and self._scheduled and len(worker.tasks) < 2:
                worker.tasks.append(self._scheduled.popleft())
            if worker.tasks and not worker.end and not worker.paused:
                worker.end = self.clock.now + TASK_SECONDS * self.chance.uniform(1.0 - VARIED, 1.0 + VARIED)

    def _end_task(self, worker: SimulatedWorker) -> Result | None:
        key, worker.end = worker.tasks.popleft(), 0.0
        if key not in self._graphs:
            return None
        (graph, last), begin = self._graphs.pop(key)
        value = named_schedulers["synchronous"](cast("Mapping[Any, Any]", graph), last)
        return Result(key, value, self.clock.now - begin)

    def _advance(self, until: float) -> None:
        able = [worker for worker in self._admitted() if not worker.paused]
        self.able += len(able) * (until - self.clock.now)
        self.busy += sum(bool(worker.end) for worker in able) * (until - self.clock.now)
        self.clock.now = until
        while self.clock.now - self._changed >= 60.0 / max(1.0, self.share * self.count):
            self._changed += 60.0 / max(1.0, self.share * self.count)
            self._change()

    def _change(self) -> None:
        """Let one worker pause, die, or join."""
        self.changes += 1
        kind, worker = self.chance.randrange(3), self.chance.choice(list(self.workers.values()))
        if kind == 0:
            worker.paused = True
        elif kind == 1 and len(self.workers) > self.count // 2:
            self._die(worker)
        else:
            self._join()

    def _die(self, worker: SimulatedWorker) -> None:
        self._scheduled.extendleft(worker.tasks)
        del self.workers[worker.number]

    def _join(self) -> None:
        self.workers[self._numbers] = SimulatedWorker(self._numbers, self.clock.now + BEGIN_SECONDS)
        self._numbers += 1


@contextmanager
def _simulated_time(clock: Clock) -> Iterator[None]:
    changes: dict[str, Any] = {"time": clock, "Pauses": partial(Pauses, clock=clock.monotonic)}
    changes["Watchdog"] = partial(Watchdog, clock=clock.monotonic)
    with patch.multiple(run_loop, **changes), dask.config.set(scheduler="synchronous"):
        yield


def restless(campaign: Campaign, workers: int, share: float, folder: Path) -> Iterator[str]:
    """Run the blocks; yields lines of figures. Raises AssertionError where the store differs or workers wait."""
    expected, store = folder / "undisturbed.zarr", locate(folder / "restless.zarr")
    run(campaign.sweep(), expected, ClusterConfig.of("threads", threads_per_worker=2), granularity="block")
    sweep_plan, clock, events = plan(campaign.sweep()), Clock(), list[Event]()
    create_store(sweep_plan, store)
    executor = RestlessExecutor(clock, workers, share, random.Random(campaign.seed))
    with _simulated_time(clock), Ledger.open(store, sweep_plan.blocks) as ledger:
        RunLoop(sweep_plan, StoreWriter(store), ledger, executor, events.append, "block").run()
        ledger.sync()
    finish(store)
    kinds = sorted({type(event).__name__ for event in events})
    counts = ", ".join(f"{sum(type(e).__name__ == kind for e in events)} {kind}" for kind in kinds)
    share_busy = executor.busy / executor.able
    yield f"{sweep_plan.blocks} blocks on {workers} simulated workers, {executor.changes} changes in {clock.now:.0f} s"
    yield f"  workers that could compute were busy for {share_busy:.1%}; events: {counts}"
    assert content(folder / "restless.zarr") == content(expected), "the store differs from an undisturbed one"
    yield "  the store is bit-identical to an undisturbed one"
    assert share_busy >= LEAST_BUSY, f"busy for less than {LEAST_BUSY:.0%}"


def main(words: list[str] | None = None) -> int:
    """Run the campaign; 1 where it fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("workers", 200), ("rounds", 20), ("designs", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--share", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    options = parser.parse_args(words)
    campaign = Campaign(options.workers * options.rounds, options.designs, options.seed)
    print(f"seed {campaign.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="limbsweep-restless-") as folder:
        return print_lines(restless(campaign, options.workers, options.share, Path(folder)))


if __name__ == "__main__":
    sys.exit(main())
