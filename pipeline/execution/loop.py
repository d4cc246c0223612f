"""The loop of a run: fill the window, take what comes back, decide what follows, look around.

Decisions are in `pipeline.execution.policy.attempts`, `pipeline.execution.policy.window`,
`pipeline.execution.policy.stragglers` and `pipeline.execution.policy.watchdog`; this is where they have effects. The
ledger is written here and nowhere else.
"""

from __future__ import annotations

import time
import uuid
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

from pipeline.errors import RunCancelledError, RunStoppedError
from pipeline.execution.executor import Executor, KeyedGraph, Result, failure
from pipeline.execution.graph import Granularity, block_graph, isolated_graph
from pipeline.execution.isolation import ReceiptWithFailures
from pipeline.execution.policy.attempts import DEFAULTS, Agenda, Attempt, Failure, Timeouts
from pipeline.execution.policy.stragglers import Pace
from pipeline.execution.policy.watchdog import Watchdog
from pipeline.execution.user_warnings import ReceiptWithWarnings
from pipeline.monitor.cancel import cancel_requested
from pipeline.monitor.events import BlockDone, BlockFailed, BlockRetried, CaseFailed, Listener, MetricFailed, Waiting
from pipeline.plan.plan import Plan
from storage.errors import StoreError
from storage.ledger import Ledger, Receipt
from storage.store import StoreWriter

TICK = 1.0
"""Seconds between two looks at time limits, the watchdog and requests to cancel."""


@dataclass
class RunLoop:
    """One run over the blocks without a receipt, and what has come of it so far."""

    plan: Plan
    writer: StoreWriter
    ledger: Ledger
    executor: Executor
    notify: Listener
    granularity: Granularity = "limb"
    timeouts: Timeouts = DEFAULTS
    samples: int = 0
    failed_cases: int = 0
    agenda: Agenda = field(init=False)

    def __post_init__(self) -> None:
        self.agenda = Agenda(self.ledger.remaining(), self.timeouts)
        self._watchdog, self._pace = Watchdog(self.timeouts), Pace()
        self._in_flight: dict[Any, Attempt] = {}
        self._open: set[int] = set()
        """Blocks in flight that are not done: of two attempts at one, one may still fly when the other has landed."""
        self._helped: set[int] = set()
        self._run = uuid.uuid4().hex[:8]
        self._looked = time.monotonic()

    def run(self) -> None:
        """Compute every block.

        Raises StoreError where one cannot be stored, no other could be; RunStoppedError where nothing comes any more or
        somebody asked for it; ClusterLostError.
        """
        with closing(self.executor):
            while True:
                self._fill()
                if not self._open:
                    return
                result = self.executor.next(TICK)
                while result is not None:
                    self._handle_result(result)
                    result = (
                        self.executor.next(0.0) if self._in_flight else None
                    )  # what lies ready lands before more leaves
                if time.monotonic() - self._looked >= TICK:
                    self._look_around()

    def _fill(self) -> None:
        submitted = []
        for _ in range(self.executor.room):
            if (attempt := self.agenda.next()) is None:
                break
            submitted.append(self.work(attempt))
            self._in_flight[submitted[-1][1]] = attempt
            self._open.add(attempt.block)
        self.executor.submit(*submitted)

    def work(self, attempt: Attempt) -> KeyedGraph:
        """The graph of an attempt; keys of a second one differ, so that Dask never takes one for the other."""
        first = attempt.step == "compute" and attempt.number == 1
        run = self._run if first else uuid.uuid4().hex[:8]
        if attempt.step == "isolate":
            return isolated_graph(self.plan, attempt.block, self.writer, run, self.timeouts)
        return block_graph(self.plan, attempt.block, self.writer, run, self.granularity)

    def _handle_result(self, result: Result) -> None:
        attempt = self._in_flight.pop(result.key)
        self._watchdog.news()
        match result.value:
            case Receipt() as receipt if attempt.block not in self._open:
                self.ledger.append(receipt)  # it has to agree with that of the attempt that was quicker
            case Receipt() as receipt:
                self._done(attempt, receipt, result.seconds)
            case ReceiptWithFailures(receipt, flags):
                for flag in flags:
                    self.failed_cases += 1
                    self.notify(CaseFailed(attempt.block, flag.design, flag.friction, flag.trajectory, flag.reason))
                self._done(attempt, receipt, result.seconds)
            case ReceiptWithWarnings(receipt, complaints):
                for each in complaints:
                    place = self.plan.layout.place(attempt.block, each.first)
                    self.notify(MetricFailed(attempt.block, each.metric, each.cases, *place, each.reason))
                self._done(attempt, receipt, result.seconds)
            case StoreError() as error:
                raise StoreError(f"{error}\nthe run stopped at block {attempt.block}; run it again to go on") from error
            case BaseException() as error:
                self._failed(attempt, failure(error))
            case other:
                self._failed(attempt, Failure("raised", f"a task gave a {type(other).__name__} instead of a receipt"))

    def _done(self, attempt: Attempt, receipt: Receipt, seconds: float) -> None:
        self.ledger.append(receipt)
        self.agenda.succeeded()
        self._pace.done(seconds)
        self._open.discard(attempt.block)
        self._helped.discard(attempt.block)
        samples = self.plan.samples_of(attempt.block)
        self.samples += samples
        self.notify(BlockDone(attempt.block, samples, seconds))

    def _failed(self, attempt: Attempt, reason: Failure) -> None:
        if attempt.block not in self._open or any(each.block == attempt.block for each in self._in_flight.values()):
            return  # another attempt has brought its result, or still may
        self._open.discard(attempt.block)
        again = self.agenda.failed(attempt, reason)
        if again is not None:
            self.notify(BlockRetried(attempt.block, again.step, reason.reason))
            return
        self.notify(BlockFailed(attempt.block, reason.reason))
        if self.agenda.hopeless:
            raise RunStoppedError(
                f"{self.agenda.given_up} blocks were given up and none was done; the last: {reason.reason}"
            )

    def _look_around(self) -> None:
        self._looked = time.monotonic()
        if cancel_requested(self.writer.location):
            raise RunCancelledError("cancelled; what has been stored stays")
        self._drop_late()
        self._help_slow()
        silence = self._watchdog.silence
        match self._watchdog.look():
            case "quiet":
                self.notify(Waiting(silence, self.executor.describe()))
            case "hopeless":
                raise RunStoppedError(f"nothing came back for {silence:.0f} s: {self.executor.describe()}")

    def _drop_late(self) -> None:
        """Isolate blocks that take too long; the workers that still compute them are restarted."""
        late = {
            key: attempt
            for key, attempt in self._in_flight.items()
            if self.executor.age(key) > self.timeouts.seconds(attempt.step)
        }
        if not late:
            return
        self.executor.abandon(late)
        for key, attempt in late.items():
            del self._in_flight[key]
            self._failed(attempt, Failure("late", f"no result within {self.timeouts.seconds(attempt.step):g} s"))

    def _help_slow(self) -> None:
        """Give blocks that are slow to another worker as well."""
        for key, attempt in list(self._in_flight.items()):
            seconds = self.executor.age(key)
            if seconds <= self._pace.slow:
                return  # those that follow were sent later
            if attempt.step == "isolate" or attempt.block in self._helped or attempt.block not in self._open:
                continue
            second = replace(attempt, number=attempt.number + 1)
            work = self.work(second)
            if not self.executor.help(work, key):
                return
            self._in_flight[work[1]] = second
            self._helped.add(attempt.block)
            self.notify(BlockRetried(attempt.block, "help", f"no result after {seconds:.0f} s, far more than usual"))
