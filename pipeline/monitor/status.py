"""Status of a store and its run, from the files of the store alone: nothing is computed and no cluster is asked."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from statistics import mean, stdev
from typing import Any, Literal, TypeVar

from pipeline.documents.writing import table
from pipeline.errors import size
from pipeline.monitor.log import (
    BlockDone,
    BlockFailed,
    BlockRetried,
    BlocksDone,
    BlocksRecalled,
    CaseFailed,
    ClusterState,
    LogRecord,
    MetricFailed,
    ResultsSent,
    Started,
    Stopped,
    Waiting,
    WorkerPaused,
    WorkerRefused,
    WorkersLeft,
    cancel_requested,
    of_last_run,
    records,
)
from pipeline.monitor.progress import clock, counted, note
from robots.arguments import check_arguments
from robots.data_classes import asdict, dataclass
from storage.ledger import Ledger
from storage.manifest import Manifest
from storage.places.access import holder
from storage.places.location import LocationLike

RunState = Literal["finished", "running", "cancelling", "stopped"]
EventKind = TypeVar("EventKind")
RECENT = 120.0
"""Span that the rate is taken over [s]."""

PARTS = 8
"""Parts of that span whose rates give the spread of the time left."""

MOST_SPREAD = 10.0
"""The longest time left relative to the expected one."""


@dataclass(frozen=True)
class StuckBlock:
    """A block that was slow or failed and is not done: since when [s since 1970], attempts since, the last reason."""

    block: int
    since: float
    attempts: int
    step: str
    reason: str

    def __str__(self) -> str:
        begin = datetime.fromtimestamp(self.since, UTC).isoformat(timespec="seconds")
        action = {"help": "given to another worker too", "isolate": "computed alone"}.get(self.step, "tried again")
        return f"not done since {begin}: {self.reason}; {action}, {counted(self.attempts, 'time')}"


@dataclass(frozen=True)
class RunStatus:
    """The state of a store and of the run that writes to it, or wrote last.

    rate: blocks per second of late; left: time left [s], None without a run or without a known rate; owner: who holds
    the lock, as the lock says; failed: reasons by block that was given up in the last run; cases: the cases that hold
    NaN; metrics: cases in which user metrics are NaN; news: the last thing that went wrong or was waited for; last:
    when the run last wrote [s since 1970].

    spread: shortest and longest time left by the rates of the last while [s]; stuck: blocks that were slow or failed
    and are not done; workers: their last reported state.
    """

    state: RunState
    blocks: int
    done: int
    rate: float
    left: float | None
    owner: str | None
    failed: dict[int, str]
    cases: tuple[CaseFailed, ...]
    metrics: tuple[MetricFailed, ...]
    news: str | None
    last: float | None
    spread: tuple[float, float] | None = None
    stuck: tuple[StuckBlock, ...] = ()
    workers: ClusterState | None = None

    @property
    def remaining(self) -> int:
        """Blocks without a receipt that were not given up."""
        return self.blocks - self.done - len(self.failed)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data, for JSON."""
        return {**asdict(self), "remaining": self.remaining}

    def _repr_html_(self) -> str:
        """Return the HTML table that notebooks show."""
        return table("status of a run", self.rows())

    def rows(self) -> Iterator[tuple[str, str]]:
        """Yield the rows that `limbsweep status` prints."""
        yield "state", self.state
        counts = f"{self.done:,} done, {len(self.failed):,} failed, {self.remaining:,} remaining"
        yield "blocks", f"{self.blocks:,}: {counts}"
        yield "rate", f"{self.rate:.3g} blocks/s"
        if self.left is not None:
            between = f", {clock(self.spread[0])} to {clock(self.spread[1])}" if self.spread else ""
            yield "time left", clock(self.left) + between
        if self.workers is not None:
            yield "workers", described(self.workers)
        yield "run by", _words(self.owner) if self.owner else "no process now"
        if self.last is not None:
            yield "last event", datetime.fromtimestamp(self.last, UTC).isoformat(timespec="seconds")
        if self.news:
            yield "news", self.news
        for block in self.stuck:
            yield f"block {block.block}", str(block)
        for number, reason in sorted(self.failed.items()):
            yield f"block {number}", f"given up: {reason}"
        for case in self.cases:
            place = f"design {case.design}, friction {case.friction}, trajectory {case.trajectory}"
            yield f"block {case.block}", f"{place} holds NaN: {case.reason}"
        for metric in self.metrics:
            place = f"the first in design {metric.design}, friction {metric.friction}, trajectory {metric.trajectory}"
            yield (
                f"metric {metric.metric}",
                f"NaN in {metric.cases} cases of block {metric.block}, {place}: {metric.reason}",
            )


@check_arguments
def status(store: LocationLike, now: float | None = None) -> RunStatus:
    """Read the status of a store. Raises StoreError where no store exists.

    >>> status = ls.status("out.zarr")
    >>> status.done == status.blocks
    True
    """
    return status_with_run(store, now)[0]


def status_with_run(store: LocationLike, now: float | None = None) -> tuple[RunStatus, list[LogRecord]]:
    """Return the status of a store, and the records of the run that began last; the log is read once.

    Raises StoreError where there is no store.
    """
    manifest = Manifest.load(store)
    ledger = Ledger.read(store, manifest.layout.blocks)
    owner, every = holder(store), list(records(store))
    run = of_last_run(every)
    speed = _rate(run, time.time() if now is None else now)
    failed = {event.block: event.reason for event in _events(run, BlockFailed) if not ledger.is_done(event.block)}
    left = ledger.blocks - ledger.count - len(failed)
    run_status = RunStatus(
        state=_state(manifest, store, owner),
        blocks=ledger.blocks,
        done=ledger.count,
        rate=speed,
        left=left / speed if owner and speed else None,
        owner=owner,
        failed=failed,
        cases=_cases(every),
        metrics=tuple(record.event for record in every if isinstance(record.event, MetricFailed)),
        news=_news(run),
        last=run[-1].time if run else None,
        spread=_spread(run, left) if owner and speed else None,
        stuck=_stuck(run, ledger, failed),
        workers=next((each.event for each in reversed(run) if owner and isinstance(each.event, ClusterState)), None),
    )
    return run_status, run


def _words(owner: str) -> str:
    """Return the process that holds a lock in words; as the lock says where that is something else."""
    try:
        told = json.loads(owner)
        return f"process {told['pid']} on {told['host']}, since {told['since']}"
    except (ValueError, KeyError, TypeError):
        return owner


def described(state: ClusterState) -> str:
    """Describe the state of workers in words."""
    paused = f", {state.paused} of them paused" if state.paused else ""
    memory = f", memory {size(state.memory)} of {size(state.limit)}" if state.limit else ""
    shared = f"; shared with other runs, {state.share:.0%} for this one" if state.share < 1.0 else ""
    threads = counted(state.threads, "thread")
    return f"{state.workers} with {threads}{paused}; {state.in_flight} blocks in flight{memory}{shared}"


def _stuck(run: list[LogRecord], ledger: Ledger, failed: Mapping[int, str]) -> tuple[StuckBlock, ...]:
    """Return the blocks that were tried again and are neither done nor given up, the longest waiting first."""
    tries: dict[int, list[LogRecord]] = {}
    for record in run:
        if isinstance(record.event, BlockRetried):
            tries.setdefault(record.event.block, []).append(record)
    blocks = []
    for block, retries in tries.items():
        last = retries[-1].event
        if 0 <= block < ledger.blocks and not ledger.is_done(block) and block not in failed:
            assert isinstance(last, BlockRetried), "only such were gathered"
            blocks.append(StuckBlock(block, retries[0].time, len(retries), last.step, last.reason))
    return tuple(sorted(blocks, key=lambda block: block.since))


def _spread(run: list[LogRecord], left: int) -> tuple[float, float] | None:
    """Return the shortest and longest time left, by rates of parts of the last while, two standard errors each way."""
    since, until = max(run[0].time, run[-1].time - RECENT), run[-1].time
    width = (until - since) / PARTS
    if width < 1.0:
        return None
    rates = [0.0] * PARTS
    for record in run:
        if record.time > since:
            rates[min(PARTS - 1, int((record.time - since) / width))] += _blocks(record) / width
    if not any(rates):  # the clock was set back meanwhile
        return None
    middle, error = mean(rates), stdev(rates) / math.sqrt(PARTS)
    return left / (middle + 2 * error), left / max(middle - 2 * error, middle / MOST_SPREAD)


def failed_cases(store: LocationLike) -> tuple[CaseFailed, ...]:
    """Return the cases of a store that hold NaN because computing them failed, in whichever run that was found."""
    return _cases(records(store))


def _cases(every: Iterable[LogRecord]) -> tuple[CaseFailed, ...]:
    events = (record.event for record in every if isinstance(record.event, CaseFailed))
    cases = {(case.block, case.design, case.friction, case.trajectory): case for case in events}
    return tuple(cases[key] for key in sorted(cases))


def _state(manifest: Manifest, store: LocationLike, owner: str | None) -> RunState:
    if manifest.state == "finished":
        return "finished"
    if not owner:
        return "stopped"
    return "cancelling" if cancel_requested(store) else "running"


def _rate(run: list[LogRecord], now: float) -> float:
    """Return the blocks per second over the recent time of a run."""
    if not run:
        return 0.0
    since = max(run[0].time, min(now, run[-1].time) - RECENT)
    blocks = sum(_blocks(record) for record in run if record.time > since)
    return blocks / (run[-1].time - since) if run[-1].time > since else 0.0


def _blocks(record: LogRecord) -> int:
    return record.event.blocks if isinstance(record.event, BlocksDone) else isinstance(record.event, BlockDone)


def _events(run: list[LogRecord], kind: type[EventKind]) -> Iterator[EventKind]:
    return (record.event for record in run if isinstance(record.event, kind))


def _news(run: list[LogRecord]) -> str | None:
    """Return the last unusual event of a run, in words."""
    for record in reversed(run):
        match record.event:
            case Stopped(reason):
                return f"stopped: {reason}"
            case Waiting(seconds, what):
                return f"nothing came back for {clock(seconds)}: {what}"
            case WorkerPaused() | WorkerRefused() | ResultsSent() | WorkersLeft() | BlocksRecalled() as event:
                return note(event)
            case BlockRetried(block, step, reason):
                return f"block {block} is tried again ({step}): {reason}"
            case Started():
                return None
    return None
