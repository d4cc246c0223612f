"""Decisions of a run on plain data, without effects: retries, restarts of workers, slow blocks, silence, window.

Retries. A block that raises is tried again. One that raises twice, keeps killing workers or takes too long is isolated:
computed in a separate process and cut in halves there, until the single failing cases are known
(`pipeline.execution.processes.isolation`). Only cases that fail there too are given up. Other blocks never pay for it.

Restarts. Dask ends a worker at a share of its memory limit (`distributed.worker.memory.terminate`) and starts it anew.
A block that needs more memory than a worker has would be tried on one after another, and the next block as well; so a
run stops after repeated restarts without a computed block.

Slow blocks. Their worker swaps, is throttled, or has been stopped. An idle worker is then given the same block, a
backup; the first answer counts, and the other has to agree. A backup never takes the place of a new block: those come
first. Waiting at the end would cost as long as the slowest machine takes. A block that no worker can end is not slow
but overdue.

Silence. `Watchdog` tells when to report that no result comes back, and when to give up.

Window. The number of blocks in flight follows from the threads and the memory of the workers. `Window` asks the cluster
for these data now and then, because workers come and go.
"""

from __future__ import annotations

import itertools
import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, Any, Literal

from pipeline.errors import ClusterLostError, size
from robots.data_classes import dataclass

if TYPE_CHECKING:
    from distributed import Client


AttemptStep = Literal["compute", "isolate"]
FailureKind = Literal["raised", "died", "overdue"]
"""Kind of failure of an attempt: an exception, the death of its worker, or the time limit exceeded."""


@dataclass(frozen=True)
class Timeouts:
    """Limits of attempts and of waiting times in a run.

    compute, isolate: attempts of a block in each way before the next step; hopeless: blocks given up before any was
    done, after which the run stops; block: time limit of an attempt [s]; part: time limit of a part of a block that is
    isolated [s]; isolation: time limit of all parts of a block together [s]; quiet: time without news before the run
    reports the reason of its waiting [s]; patience: time without news before the run gives up [s].
    """

    compute: int = 2
    isolate: int = 2
    hopeless: int = 8
    block: float = 900.0
    part: float = 120.0
    isolation: float = 3600.0
    quiet: float = 60.0
    patience: float = 5400.0

    def seconds(self, step: AttemptStep) -> float:
        """Return the time limit of an attempt."""
        return self.block if step == "compute" else self.isolation + self.block


DEFAULTS = Timeouts()


@dataclass(frozen=True)
class Attempt:
    """One try at a block; `number` counts from 1 within its step."""

    block: int
    step: AttemptStep = "compute"
    number: int = 1


@dataclass(frozen=True)
class Failure:
    """Failure of an attempt: its kind, and the reason in words."""

    kind: FailureKind
    reason: str


def following(attempt: Attempt, failure: Failure, timeouts: Timeouts) -> Attempt | None:
    """Return the attempt after a failed one, or None if the block is given up."""
    if attempt.step == "isolate":
        return Attempt(attempt.block, "isolate", attempt.number + 1) if attempt.number < timeouts.isolate else None
    # Dask has tried several workers before it says that one died, and nothing stops a loop that has no end.
    if failure.kind == "raised" and attempt.number < timeouts.compute:
        return Attempt(attempt.block, "compute", attempt.number + 1)
    return Attempt(attempt.block, "isolate")


class Agenda:
    """Attempts that a run still has to make, in order: a block that failed does not wait behind new blocks."""

    def __init__(self, blocks: Iterator[int], timeouts: Timeouts) -> None:
        self.timeouts = timeouts
        self.done = 0
        self.given_up = 0
        self._blocks = blocks
        self._again: deque[Attempt] = deque()

    def next(self) -> Attempt | None:
        """Return the attempt to make now; None if only attempts in flight are left."""
        if self._again:
            return self._again.popleft()
        block = next(self._blocks, None)
        return None if block is None else Attempt(block)

    @property
    def is_empty(self) -> bool:
        """Return whether no attempt is left to make."""
        if not self._again:
            self._again.extend(map(Attempt, itertools.islice(self._blocks, 1)))
        return not self._again

    def again(self, attempt: Attempt) -> None:
        """Add an attempt that was cut short and did not fail."""
        self._again.append(attempt)

    def succeeded(self) -> None:
        """Count a completed block."""
        self.done += 1

    def failed(self, attempt: Attempt, failure: Failure) -> Attempt | None:
        """Add the attempt that follows a failed one and return it; None where the block is given up."""
        again = following(attempt, failure, self.timeouts)
        if again:
            self._again.append(again)
        else:
            self.given_up += 1
        return again

    @property
    def hopeless(self) -> bool:
        """Return whether the run has only failures: no block done, and too many given up (`Timeouts.hopeless`)."""
        return not self.done and self.given_up >= self.timeouts.hopeless


MOST_RESTARTS = 12
"""Restarts without a block between: those of three blocks, each of which Dask tries on four workers."""

LISTED = 4
"""Blocks in flight that are named."""


@dataclass(frozen=True)
class MemoryRestart:
    """A worker that was ended for its memory: its address, and the bytes that it had then."""

    worker: str
    memory: int


MEMORY_EVENTS = "worker-restart-memory"
"""Topic of the scheduler under which nannies say that they end a worker for its memory."""


def memory_restarts(client: Client, since: float | None) -> tuple[list[MemoryRestart], float]:
    """Return the workers that nannies have ended for their memory, and the time of the last by the scheduler's clock.

    `since`: the time of the last that is known; None: all that were before are those of another run, and left out.
    """
    events = client.get_events(MEMORY_EVENTS)
    last = max((at for at, _ in events), default=0.0)
    new = [] if since is None else [event for at, event in events if at > since]
    return [MemoryRestart(str(event["worker"]), int(event["rss"])) for event in new], last


class MemoryRestarts:
    """Count of restarts since the last block that was computed on a worker."""

    def __init__(self, most: int = MOST_RESTARTS) -> None:
        self.most, self.count = most, 0
        self._last: MemoryRestart | None = None

    def add(self, restarts: Iterable[MemoryRestart]) -> None:
        """Count restarts for memory."""
        for restart in restarts:
            self.count, self._last = self.count + 1, restart

    def succeeded(self) -> None:
        """Reset the count after a block was computed: its worker has enough memory."""
        self.count = 0

    def stop(self, blocks: Sequence[int], planned: int) -> str:
        """Return the reason to stop the run: blocks in flight, bytes planned for one; "" if it can continue."""
        if self._last is None or self.count < self.most:
            return ""
        names = ", ".join(map(str, sorted(blocks)[:LISTED])) + (", ..." if len(blocks) > LISTED else "")
        flight = f" while blocks {names} were in flight, for each of which {size(planned)} are planned"
        held = f"held {size(self._last.memory)}{flight if blocks else ' before it was given a block'}"
        return (
            f"workers were ended {self.count} times because their memory was full, and no block was computed between; "
            f"the last, {self._last.worker}, {held}; give workers more memory (memory-limit) or fewer threads, or "
            "ask for fewer outputs; stored results are kept"
        )


@dataclass(frozen=True)
class PausedWorker:
    """A worker that gets no task because its memory is full, and computes none, so that its memory stays as it is.

    `nanny`: a process beside it would start it anew.
    """

    address: str
    used: int
    limit: int
    nanny: bool

    def __str__(self) -> str:
        return f"{self.address} with {size(self.used)} of {size(self.limit)}"

    @classmethod
    def of(cls, address: str, row: Mapping[str, Any]) -> PausedWorker:
        """Return a paused worker from the report of a scheduler on it."""
        used, limit = row.get("metrics", {}).get("memory"), row.get("memory_limit")
        return cls(address, int(used or 0), int(limit or 0), bool(row.get("nanny")))


PauseStep = Literal["trim", "move", "restart"]

PAUSE_STEPS: Mapping[PauseStep, float] = {"trim": 0.0, "move": 5.0, "restart": 15.0}
"""Seconds of an idle pause after which a worker gives free memory back, its blocks go to others, it is started anew."""

PAUSE_END = 90.0
"""Seconds after which a run ends whose workers are all paused."""


PAUSE_RESTARTS = 3
"""Workers that are started anew because they are paused and idle, without a block that is done between."""


class Pauses:
    """Workers that are paused and idle: steps that are due for each, and the time at which the run has to end."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._since: dict[str, float] = {}
        self._made: dict[str, set[PauseStep]] = {}
        self._restarts = 0

    def succeeded(self) -> None:
        """Reset the restarts after a block was computed: it is worth while to start workers anew."""
        self._restarts = 0

    def due(self, paused: Iterable[PausedWorker]) -> list[tuple[PausedWorker, PauseStep]]:
        """Return the steps due now, each once for a pause; workers that are no longer among `paused` are forgotten."""
        now, here = self._clock(), {worker.address: worker for worker in paused}
        self._since = {address: self._since.get(address, now) for address in here}
        self._made = {address: self._made.get(address, set()) for address in here}
        steps: list[tuple[PausedWorker, PauseStep]] = []
        for address, worker in here.items():
            for step, seconds in PAUSE_STEPS.items():
                is_possible = step != "restart" or (worker.nanny and self._restarts < PAUSE_RESTARTS)
                if is_possible and step not in self._made[address] and now - self._since[address] >= seconds:
                    self._made[address].add(step)
                    self._restarts += step == "restart"
                    steps.append((worker, step))
        return steps

    def stop(self, paused: Sequence[PausedWorker], others: int) -> str:
        """Return the reason to stop the run, in words; "" while `others`, workers that are not paused, may continue."""
        first = max(self._since.values(), default=math.inf)
        if others or not paused or self._clock() - first < PAUSE_END:
            return ""
        return (
            f"all {len(paused)} workers are paused, because their memory stays full though they compute nothing: "
            f"{', '.join(map(str, paused[:LISTED]))}; give workers more memory (memory-limit), or end other work with "
            "results there; stored results are kept"
        )


FACTOR = 5.0
LEAST_SECONDS = 30.0
KNOWN = 10
"""Completed blocks from which on the usual time of a block is known."""

REMEMBERED = 100


UNKNOWN = 20.0
"""Time over the planned one after which a block is slow while few are done: plans are good to a factor of three."""

LEAST_OVERDUE, OVERDUE = 120.0, 60.0
"""Shortest time limit of an attempt that follows from measured times [s], and the limit relative to their median."""


class Pace:
    """Recent times of blocks from submission to result; `planned`: seconds that the plan says."""

    def __init__(self, planned: float = math.inf) -> None:
        self._seconds: deque[float] = deque(maxlen=REMEMBERED)
        self._planned = planned

    def done(self, seconds: float) -> None:
        """Record the time of a block."""
        self._seconds.append(seconds)

    @property
    def slow(self) -> float:
        """Return the seconds after which a block is slow: several times the usual time, at least some seconds."""
        if len(self._seconds) < KNOWN:
            return max(2.0 * LEAST_SECONDS, UNKNOWN * self._planned)
        return max(LEAST_SECONDS, FACTOR * median(self._seconds))

    def limit(self, most: float) -> float:
        """Return the time limit of an attempt [s], by measured times, never longer than `most`."""
        if len(self._seconds) < KNOWN:
            return most
        return min(most, max(LEAST_OVERDUE, OVERDUE * median(self._seconds)))


Alarm = Literal["fine", "quiet", "hopeless"]


class Watchdog:
    """Alarm for the time since the last news of a run: `quiet` once for each silence, `hopeless` at the end."""

    def __init__(self, timeouts: Timeouts, clock: Callable[[], float] = time.monotonic) -> None:
        self.timeouts = timeouts
        self._clock = clock
        self.news()

    def news(self) -> None:
        """Take note of a sign of life."""
        self._last = self._said = self._clock()

    @property
    def silence(self) -> float:
        """Seconds without news."""
        return self._clock() - self._last

    def look(self) -> Alarm:
        """Return the alarm for the time without news: hopeless, quiet or fine."""
        now = self._clock()
        if now - self._last >= self.timeouts.patience:
            return "hopeless"
        if now - self._said >= self.timeouts.quiet:
            self._said = now
            return "quiet"
        return "fine"


SPARE_BLOCKS = 1
"""Blocks in flight beyond the number that all threads compute at once: one begins while another is stored."""

LIMB_SPARE_BLOCKS = 2
"""The same for blocks of limb tasks on workers of several threads, where memory holds them.

The tasks of two blocks share two threads so evenly that both blocks end at one time, and nothing is left to begin.
"""

SPARE_SHARE = 4
"""Workers per additional spare block: on a large cluster several end between two looks of the client."""

LIMB_THREADS = 2.0
"""Threads that a block of limb tasks keeps busy: its limbs run side by side, its first and its last task alone."""

FULL = 0.75
"""Share of its memory limit beyond which a worker gets no further blocks; Dask would pause it at 0.8."""
TASK_RATE = 200.0
"""Tasks a second that scheduler and client do with half of their time."""

LAST_ROUNDS = 3
"""Tasks of full length for each thread from which on they are cut shorter: while the last of them end, threads wait."""

SHORTEST = 4
"""Number of parts into which a task of full length is cut, at most."""

SPARE_TASKS = 4
"""Threads per additional task of whole blocks in flight: a worker begins it without waiting for the client."""

REFRESH_SECONDS = 2.0
MOST = 20_000
"""Largest number of blocks in flight of which the client keeps track."""


@dataclass(frozen=True)
class Worker:
    """State of a worker: threads, memory limit (0: none) and memory in use [bytes], and whether it takes tasks.

    `base`: bytes that it takes beside its blocks.
    """

    threads: int
    limit: int = 0
    used: int = 0
    running: bool = True
    base: int = 0

    def holds(self, memory: int) -> float:
        """Return the number of blocks of a size that fit into the worker's memory: at least one if it runs."""
        if not self.running or (self.limit and self.used > FULL * self.limit):
            return 0.0
        if not (self.limit and memory):
            return float("inf")
        return max(1.0, (FULL * self.limit - self.base) // memory)


def window_size(workers: Iterable[Worker], parallel: float = 1.0, memory: int = 0, share: float = 1.0) -> int:
    """Return the number of blocks in flight, at least 1: each keeps `parallel` threads busy and takes `memory` bytes.

    A worker has at least one block, however few threads it has: its limb tasks then run one after another. `share`: of
    the cluster, where several runs use it.
    """
    workers = list(workers)
    wanted = math.ceil(sum(min(max(1.0, worker.threads / parallel), worker.holds(memory)) for worker in workers))
    # a task of a whole block that waits on a worker takes no memory yet; tasks of limbs would begin
    waits = parallel <= 1.0 and all(worker.holds(memory) >= worker.threads for worker in workers)
    more = max(len(workers) // SPARE_SHARE, wanted // SPARE_TASKS if waits else 0)
    is_shared = parallel > 1.0 and any(worker.threads > 1 for worker in workers)
    least = LIMB_SPARE_BLOCKS if is_shared else SPARE_BLOCKS
    spare = least + more if wanted and all(worker.running for worker in workers) else 0
    room = MOST if waits else min(MOST, sum(worker.holds(memory) for worker in workers))
    return max(1, round(share * min(wanted + spare, int(room))))


def batch(threads: int, seconds: float, left: int) -> int:
    """Return the number of one-task blocks to send as one; each takes `seconds`, and `left` remain.

    One on clusters of usual size. On large ones enough that the scheduler keeps up with their ends, and fewer at the
    end of the run, so that all threads end at nearly the same time.
    """
    full = math.ceil(threads / (TASK_RATE * max(seconds, 1e-3)))
    return max(1, math.ceil(full / SHORTEST), min(full, left // (threads * LAST_ROUNDS))) if threads else 1


WorkerTable = Mapping[str, Mapping[str, Any]]
"""Report of a scheduler on each worker, by address."""


def worker_table(client: Client) -> WorkerTable:
    """Return the report of a scheduler on each worker, by address. Raises ClusterLostError where it has gone.

    The scheduler itself is asked, because the method of the client may return information that the client fetched for
    its own use, which has no workers.
    """
    information = client.sync(client.scheduler.identity, n_workers=-1) if client.scheduler else {}
    if "workers" not in information:
        raise ClusterLostError("the scheduler has gone")
    return dict(information["workers"])


def workers_of(table: WorkerTable, base: int = 0) -> list[Worker]:
    """Return the workers of a table, each of which takes `base` bytes beside its blocks if the table has no number."""
    return [
        Worker(
            worker["nthreads"],
            int(worker.get("memory_limit") or 0),
            int(worker.get("metrics", {}).get("memory") or 0),
            worker.get("status", "running") == "running",
            int(worker.get("base", base)),
        )
        for worker in table.values()
    ]


class Window:
    """The number of blocks in flight for the workers that a cluster has now."""

    def __init__(
        self,
        table: Callable[[], WorkerTable],
        parallel: float = 1.0,
        memory: int = 0,
        base: int = 0,
        clock: Callable[[], float] = time.monotonic,
        share: Callable[[], float] = lambda: 1.0,
    ) -> None:
        """Set up the window. `table`: workers; `memory`: bytes of a block; `base`: a worker's bytes besides blocks.

        `share`: asked for the share of the run in the cluster as of now.
        """
        self.table, self.parallel, self.memory, self.base = table, parallel, memory, base
        self.share = 1.0
        """Share of the run in the cluster, as of the last look."""
        self._share = share
        self._clock = clock
        self._asked = float("-inf")
        self._size = 1
        self._threads = 0

    def __call__(self) -> int:
        """Return the size of the window as of a moment ago."""
        self._refresh()
        return self._size

    @property
    def threads(self) -> int:
        """Threads of all workers, as of a moment ago."""
        self._refresh()
        return self._threads

    def _refresh(self) -> None:
        if self._clock() - self._asked >= REFRESH_SECONDS:
            workers = workers_of(self.table(), self.base)
            self.share = self._share()
            self._size = window_size(workers, self.parallel, self.memory, self.share)
            self._threads = sum(worker.threads for worker in workers)
            self._asked = self._clock()
