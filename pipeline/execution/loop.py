"""Run loop: keep the window full, handle results, retry failed blocks, watch slow ones.

The decisions are pure functions of `pipeline.execution.policy`; their effects are here. The ledger is written here and
nowhere else.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing

from pipeline.errors import RunCancelledError, RunStoppedError
from pipeline.execution.advance import RunningShares
from pipeline.execution.executor import Executor, Key, KeyedGraph, Result, Withdrawn, failure
from pipeline.execution.graph import Granularity, Writer, block_graph, isolated_graph
from pipeline.execution.policy.attempts import DEFAULTS, Agenda, Attempt, Failure, Timeouts
from pipeline.execution.policy.memory_restarts import MemoryRestarts
from pipeline.execution.policy.pace import Pace
from pipeline.execution.policy.pauses import Pauses
from pipeline.execution.policy.watchdog import Watchdog
from pipeline.execution.processes.isolation import ReceiptWithFailures
from pipeline.execution.user_warnings import ReceiptWithWarnings, metric_failures
from pipeline.monitor.log import (
    BlockDone,
    BlockFailed,
    BlockRetried,
    BlocksRecalled,
    CaseFailed,
    Listener,
    MetricFailed,
    Waiting,
    WorkerPaused,
    cancel_requested,
)
from pipeline.plan.model import Plan
from pipeline.plan.plan import fitted
from robots.data_classes import dataclass, field, replace
from storage.errors import StoreError
from storage.ledger import Ledger, Receipt
from storage.sending import delivered
from storage.store import StoreWriter

MOST_BACKUPS = 5
"""Times that a block is given to another worker as well."""

TICK = 1.0
"""Seconds between two looks at time limits, the watchdog and requests to cancel."""


STATE_SECONDS = 10.0
"""Seconds between two records of the state of workers."""


@dataclass
class RunLoop:
    """One run over the blocks without a receipt, and its results so far."""

    plan: Plan
    writer: StoreWriter
    ledger: Ledger
    executor: Executor
    notify: Listener
    granularity: Granularity = "limb"
    timeouts: Timeouts = DEFAULTS
    stop: Callable[[], bool] = lambda: False
    """Function that returns True if somebody in this process has asked the run to end."""
    blocks: Iterable[int] | None = None
    """Blocks without a receipt in the order in which they are computed; absent: that of their numbers."""
    task_writer: Writer | None = None
    """Writer of the tasks; absent: that of the run, for workers that all reach the store."""
    samples: int = 0
    failed_cases: int = 0
    agenda: Agenda = field(init=False)

    def __post_init__(self) -> None:
        self.agenda = Agenda(iter(self.ledger.remaining() if self.blocks is None else self.blocks), self.timeouts)
        self._watchdog, self._pace, self._memory = Watchdog(self.timeouts), Pace(self._planned), MemoryRestarts()
        self._pauses = Pauses()
        self._in_flight: dict[Key, Attempt] = {}
        self._open: set[int] = set()
        """Blocks in flight that are not done: of two attempts at one, one may be in flight when the other is done."""
        self._backed_up: dict[int, list[float]] = {}
        """Times at which blocks were given to another worker as well, by block."""
        self._run = uuid.uuid4().hex[:8]
        self._recalled: dict[str, list[int]] = {}
        """Blocks to send again, by the reason, as of the last results."""
        self._renamed: set[int] = set()
        """Blocks whose tasks get new keys, because Dask may still hold state of the first keys."""
        self._shares = RunningShares(self.plan.samples_of, self.notify)
        self._checked = time.monotonic()
        self._stated = -STATE_SECONDS

    @property
    def _planned(self) -> float:
        """Seconds that the plan says of a block."""
        return self.plan.work.computing / self.plan.blocks

    def run(self) -> None:
        """Compute every block.

        Raises StoreError where one cannot be stored, no other could be; RunStoppedError where nothing comes any more or
        somebody asked for it; ClusterLostError.
        """
        with closing(self.executor):
            self.executor.follow(self._run, self._shares)
            self._look_after_workers()
            while True:
                self.submit()
                if not self._open and self.agenda.is_empty:
                    return
                self._handle_results()
                if time.monotonic() - self._checked >= TICK:
                    self._check()

    def submit(self) -> None:
        """Submit the next attempts, as many as there is room for; one at least, if nothing but late copies is left."""
        graphs = []
        is_forced = not self._open and self.executor.is_ready
        for _ in range(max(self.executor.room, int(is_forced))):
            if (attempt := self.agenda.next()) is None:
                break
            graphs.append(self.graph(attempt))
            self._in_flight[graphs[-1][1]] = attempt
            self._open.add(attempt.block)
        self.executor.submit(*graphs)

    def graph(self, attempt: Attempt) -> KeyedGraph:
        """Return the graph of an attempt; keys of a second one differ, so that Dask never confuses the two."""
        first = attempt.step == "compute" and attempt.number == 1 and attempt.block not in self._renamed
        run = self._run if first else uuid.uuid4().hex[:8]
        writer = self.task_writer or self.writer
        if attempt.step == "isolate":
            return isolated_graph(self.plan, attempt.block, writer, run, self.timeouts)
        return block_graph(self.plan, attempt.block, writer, run, self.granularity)

    def _handle_results(self) -> None:
        """Wait for a result, and handle all that are ready before more is submitted."""
        result = self.executor.next(TICK)
        while result is not None:
            self._handle_result(result)
            result = self.executor.next(0.0) if self._in_flight else None
        for reason, blocks in self._recalled.items():
            self.notify(BlocksRecalled(len(blocks), reason))
        self._recalled.clear()

    def _handle_result(self, result: Result) -> None:
        attempt = self._in_flight.pop(result.key)
        self._watchdog.news()
        match result.value:
            case Receipt() as receipt:
                self._handle_receipt(attempt, receipt, result.seconds)
            case ReceiptWithFailures(receipt, failures):
                self._handle_receipt(attempt, receipt, result.seconds, failures)
            case ReceiptWithWarnings(receipt, warnings):
                without_number = metric_failures(self.plan.layout, attempt.block, warnings)
                self._handle_receipt(attempt, receipt, result.seconds, without_number)
            case Withdrawn(reason):
                self._recall(attempt, reason)
            case StoreError() as error:
                raise stopped_at(attempt.block, error) from error
            case BaseException() as error:
                self._handle_failure(attempt, failure(error))
            case value:
                reason = f"a task gave a {type(value).__name__} instead of a receipt"
                self._handle_failure(attempt, Failure("raised", reason))

    def _handle_receipt(
        self,
        attempt: Attempt,
        receipt: Receipt,
        seconds: float,
        failures: Sequence[CaseFailed | MetricFailed] = (),
    ) -> None:
        if attempt.block not in self._open:
            self.ledger.append(receipt)  # it has to agree with that of the attempt that was quicker
            return
        for event in failures:
            self.failed_cases += isinstance(event, CaseFailed)
            self.notify(event)
        try:
            stored = delivered(receipt, self.writer)
        except StoreError as error:
            raise stopped_at(attempt.block, error) from error
        self.ledger.append(stored)
        self.agenda.succeeded()
        self._pauses.succeeded()
        if attempt.step == "compute":
            self._memory.succeeded()
        self._pace.done(seconds)
        self._open.discard(attempt.block)
        if self._backed_up.pop(attempt.block, None):
            rivals = [key for key, other in self._in_flight.items() if other.block == attempt.block]
            for key in self.executor.forget(rivals):
                del self._in_flight[key]
        samples = self.plan.samples_of(attempt.block)
        self._shares.done(attempt.block)
        self.samples += samples
        self.notify(BlockDone(attempt.block, samples, seconds))

    def _handle_failure(self, attempt: Attempt, cause: Failure) -> None:
        if attempt.block not in self._open or any(attempt.block == rival.block for rival in self._in_flight.values()):
            return  # another attempt has brought its result, or still may
        self._open.discard(attempt.block)
        retry = self.agenda.failed(attempt, cause)
        if retry is not None:
            self.notify(BlockRetried(attempt.block, retry.step, cause.reason))
            return
        self.notify(BlockFailed(attempt.block, cause.reason))
        if self.agenda.hopeless:
            raise RunStoppedError(
                f"{self.agenda.given_up} blocks were given up and none was done; the last: {cause.reason}"
            )

    def _recall(self, attempt: Attempt, reason: str) -> None:
        """Send a block again whose task will not come back, unless another attempt at it is in flight."""
        if attempt.block not in self._open or any(attempt.block == rival.block for rival in self._in_flight.values()):
            return
        self._open.discard(attempt.block)
        self._renamed.add(attempt.block)
        self.agenda.again(attempt)
        self._recalled.setdefault(reason, []).append(attempt.block)

    def _check(self) -> None:
        """Take all steps of `CHECKS`."""
        self._checked = time.monotonic()
        for step in CHECKS:
            step(self)

    def _end_on_request(self) -> None:
        """End the run if this was requested. Raises RunCancelledError."""
        if self.stop() or cancel_requested(self.writer.location):
            raise RunCancelledError("cancelled; stored results are kept")

    def _end_without_memory(self) -> None:
        """End the run if workers are restarted again and again. Raises RunStoppedError."""
        self._memory.add(self.executor.memory_restarts())
        if reason := self._memory.stop(sorted(self._open), self.plan.block_memory):
            raise RunStoppedError(reason)

    def _end_in_silence(self) -> None:
        """Tell the user that no result arrives, and end the run if none arrives for long. Raises RunStoppedError."""
        silence = self._watchdog.silence
        match self._watchdog.look():
            case "quiet":
                self.notify(Waiting(silence, self.executor.describe()))
            case "hopeless":
                raise RunStoppedError(f"nothing came back for {silence:.0f} s: {self.executor.describe()}")

    def _tell_state(self) -> None:
        """Tell the state of the workers now and then."""
        if self._checked - self._stated >= STATE_SECONDS and (state := self.executor.state()) is not None:
            self._stated = self._checked
            self.notify(state)

    def _tell_advance(self) -> None:
        """Tell how much of the blocks in flight is done."""
        self._shares.tell()

    def _abandon_overdue(self) -> None:
        """Isolate blocks that take too long; restart the workers that still compute them."""
        overdue = {
            key: attempt for key, attempt in self._in_flight.items() if self.executor.age(key) > self._limit(attempt)
        }
        if not overdue:
            return
        self.executor.abandon(overdue)
        for key, attempt in overdue.items():
            del self._in_flight[key]
            reason = f"no result within {self._limit(attempt):.0f} s"
            self._handle_failure(attempt, Failure("overdue", reason))

    def _limit(self, attempt: Attempt) -> float:
        """Return the time limit of an attempt [s]; for a block computed as a whole it follows measured times."""
        limit = self.timeouts.seconds(attempt.step)
        return self._pace.limit(limit) if attempt.step == "compute" else limit

    def _look_after_workers(self) -> None:
        """Tell who came and went, help workers that are paused and idle, and give their blocks to others.

        Raises RunStoppedError.
        """
        for event in self.executor.news():
            self.notify(event)
        paused, others = self.executor.paused()
        for worker, step in self._pauses.due(paused):
            self.notify(WorkerPaused(worker.address, worker.used, worker.limit, step))
            for key in self.executor.relieve(worker, step):
                self._back_up(key, f"worker {worker.address} is paused", idle=False)
        if reason := self._pauses.stop(paused, others):
            raise RunStoppedError(reason)
        self._fit()

    def _fit(self) -> None:
        """Compute further blocks in parts where a worker has joined that has less room than those before."""
        room = self.executor.least_room
        if room is not None and room < self.plan.room:
            self.plan = fitted(self.plan, room) or replace(self.plan, room=room)

    def _back_up_slow(self) -> None:
        """Give blocks that are slow to an idle worker as well, and again where that does not help.

        Workers are idle once no new block waits, or once slow blocks have taken all places of the window.
        """
        for key in list(self._in_flight):
            seconds = self.executor.age(key)
            if seconds <= self._pace.slow:
                return  # the keys that follow were sent later
            if self._is_helped(key):
                continue
            place = self.executor.place(key)
            where = f" from {place}" if place else ""
            if not self._back_up(key, f"no result{where} after {seconds:.0f} s, far more than usual"):
                return

    def _is_helped(self, key: Key) -> bool:
        """Return whether a block needs no other worker: it is done, isolated, was just given away, or often enough."""
        attempt, times = self._in_flight[key], self._backed_up.get(self._in_flight[key].block, [])
        is_recent = bool(times) and time.monotonic() - times[-1] <= self._pace.slow
        return attempt.step == "isolate" or attempt.block not in self._open or is_recent or len(times) >= MOST_BACKUPS

    def _back_up(self, key: Key, reason: str, *, idle: bool = True) -> bool:
        """Give a block in flight to another worker as well, unless it just was; False where there is no other.

        `idle`: the other worker must have a thread without a task.
        """
        if self._is_helped(key):
            return True
        attempt = self._in_flight[key]
        backup = replace(attempt, number=attempt.number + 1)
        graph = self.graph(backup)
        if not self.executor.submit_backup(graph, key, idle=idle):
            return False
        self._in_flight[graph[1]] = backup
        self._backed_up.setdefault(attempt.block, []).append(time.monotonic())
        self.notify(BlockRetried(attempt.block, "help", reason))
        return True


def stopped_at(block: int, error: StoreError) -> StoreError:
    """Return the error of a run that ends because a block cannot be stored."""
    return StoreError(f"{error}\nthe run stopped at block {block}; run it again to go on")


CHECKS: Sequence[Callable[[RunLoop], None]] = (
    RunLoop._end_on_request,
    RunLoop._end_without_memory,
    RunLoop._look_after_workers,
    RunLoop._tell_state,
    RunLoop._tell_advance,
    RunLoop._abandon_overdue,
    RunLoop._back_up_slow,
    RunLoop._end_in_silence,
)
"""Steps of a run every `TICK` seconds, in this order."""
