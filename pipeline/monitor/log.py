"""Log and events of the runs of a store, and the request to end a run.

Events are small records that a run sends to its listeners; progress, log and history are built from them. The log has
them as JSON lines, for `status`, `attach` and later readers. Finished blocks are counted and written at most once a
second, so that the log of a million blocks stays small; the ledger tells which blocks are done. The coordinator writes
the log while it holds the lock of the store.

Any process that sees the store can ask a run to end, by a small file that the coordinator looks for. A file works
between machines that share the store, where signals do not, and needs no open port.
"""

from __future__ import annotations

import json
import math
import os
import socket
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import Field
from typing import Any, Self, get_args

from pipeline.errors import visible
from robots.data_classes import asdict, dataclass, fields
from storage.encoding.documents import parse_json
from storage.places.access import locate
from storage.places.location import Journal, LocationLike, refusals

CANCEL = "cancel"


def request_cancel(store: LocationLike) -> None:
    """Ask the run that writes to a store to end. Raises StoreError where the file cannot be written."""
    place = locate(store)
    with refusals(place):
        place.write(CANCEL, (b"",))


def cancel_requested(store: LocationLike) -> bool:
    """Return whether somebody has asked the run to end."""
    place = locate(store)
    with refusals(place):
        return place.has(CANCEL)


def clear_cancel(store: LocationLike) -> None:
    """Forget requests: they were for another run, or this one has heeded them."""
    place = locate(store)
    with refusals(place):
        place.delete(CANCEL)


@dataclass(frozen=True)
class Started:
    """Beginning of a run: blocks of the plan, number of finished blocks, samples of a full block, dashboard link.

    granularity: the unit of a task, "limb" or "block"; empty in logs of older versions. parts: number of parts into
    which a task cuts its block, if workers have no room for all of it.
    """

    total_blocks: int
    done_blocks: int
    samples_per_block: int
    dashboard: str | None
    granularity: str = ""
    parts: int = 1


@dataclass(frozen=True)
class BlockDone:
    """A block is computed and stored: its index, its samples, the time that it took [s]."""

    block: int
    samples: int
    seconds: float


@dataclass(frozen=True)
class BlocksDone:
    """Blocks and samples that are done since the last such record: many BlockDone in one, as a log has them."""

    blocks: int
    samples: int


@dataclass(frozen=True)
class BlocksAdvanced:
    """Blocks in flight are partly computed: the samples of all of them together that are done now, about."""

    samples: int


@dataclass(frozen=True)
class BlockRetried:
    """An attempt at a block failed, or is slow, and another follows: the way of the next one, the reason in words."""

    block: int
    step: str
    reason: str


@dataclass(frozen=True)
class CaseFailed:
    """A case of a block cannot be computed and holds NaN: its place along the dims of the dataset, and the reason."""

    block: int
    design: int
    friction: int
    trajectory: int
    reason: str


@dataclass(frozen=True)
class MetricFailed:
    """A metric of a user's own is NaN in cases of a block: how many, the place of the first of them, its reason."""

    block: int
    metric: str
    cases: int
    design: int
    friction: int
    trajectory: int
    reason: str


@dataclass(frozen=True)
class BlockFailed:
    """A block was given up: its index and the reason in words."""

    block: int
    reason: str


@dataclass(frozen=True)
class Waiting:
    """Record of a wait without any result for some time [s]: the present state, in words."""

    seconds: float
    what: str


@dataclass(frozen=True)
class WorkerPaused:
    """A worker is paused and idle because its memory is full [bytes]: its address, and the action taken.

    step: "trim" (it gives free memory back), "move" (its blocks go to others), "restart" (it is started anew).
    """

    worker: str
    used: int
    limit: int
    step: str


@dataclass(frozen=True)
class ClusterState:
    """Workers of a run at one time: number, paused ones, threads, blocks in flight, bytes in use and allowed in all.

    share: part of the cluster that the run takes, by its weight, where others use it as well.
    """

    workers: int
    paused: int
    threads: int
    in_flight: int
    memory: int
    limit: int
    share: float = 1.0


@dataclass(frozen=True)
class WorkersJoined:
    """Workers were admitted: how many, their threads, the first of them by address."""

    workers: int
    threads: int
    names: str


@dataclass(frozen=True)
class ResultsSent:
    """Workers cannot write to the store and send their results: how many, the first of them by address, the cause."""

    workers: int
    names: str
    reason: str


@dataclass(frozen=True)
class WorkerRefused:
    """A worker gets no blocks: its address, and the reason with advice."""

    worker: str
    reason: str


@dataclass(frozen=True)
class WorkersLeft:
    """Workers have gone: how many, the first of them by address."""

    workers: int
    names: str


@dataclass(frozen=True)
class BlocksRecalled:
    """Blocks in flight will not come back and are sent again: how many, and the reason in words."""

    blocks: int
    reason: str


@dataclass(frozen=True)
class ClusterRestarted:
    """The run's own cluster was lost and has been made anew: the reason in words."""

    reason: str


@dataclass(frozen=True)
class Finished:
    """The run is over: samples computed in it, its wall time [s], blocks that were given up, cases that hold NaN."""

    samples: int
    seconds: float
    failed_blocks: int
    failed_cases: int = 0


@dataclass(frozen=True)
class Stopped:
    """The run ended before its sweep did: the reason in words, and whether somebody asked for it."""

    reason: str
    cancelled: bool = False


Event = (
    Started
    | BlockDone
    | BlocksDone
    | BlocksAdvanced
    | BlockRetried
    | CaseFailed
    | MetricFailed
    | BlockFailed
    | Waiting
    | WorkerPaused
    | ClusterState
    | WorkersJoined
    | ResultsSent
    | WorkerRefused
    | WorkersLeft
    | BlocksRecalled
    | ClusterRestarted
    | Finished
    | Stopped
)
Listener = Callable[[Event], None]


def broadcast(listeners: tuple[Listener, ...]) -> Listener:
    """Return one listener that passes events to many, in order."""

    def notify(event: Event) -> None:
        for listener in listeners:
            listener(event)

    return notify


LOG = "log"
"""Name of the journal, beside the ledger."""

LATEST = 2.0**33
"""Times after this [s since 1970] are of no run; dates end there on some systems."""

_TYPES: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (int, float),
    "str": (str,),
    "bool": (bool,),
    "None": (type(None),),
}

EVERY = 1.0
"""Least time between two records of progress [s]."""

KINDS: dict[str, type[Any]] = {kind.__name__: kind for kind in get_args(Event) if kind is not BlockDone}
"""Events that a log can hold, by name."""


@dataclass(frozen=True)
class LogRecord:
    """A line of the log: time [s since 1970], process and host, event."""

    time: float
    pid: int
    host: str
    event: Event

    @classmethod
    def parse(cls, line: bytes) -> LogRecord | None:
        """Return the record in a line; None for a line that a crash cut short, or that another version wrote."""
        try:
            data = parse_json(line)
            event = KINDS[data["event"]](**{key: _plain(value) for key, value in data["what"].items()})
            time = float(data["time"])
            is_own = 0 <= time <= LATEST and all(_is_of(event, field) for field in fields(event))
            return cls(time, int(data["pid"]), visible(str(data["host"])), event) if is_own else None
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
            return None


def _plain(value: object) -> object:
    """Return a value of a record; a text without characters that a terminal would obey."""
    return visible(value) if isinstance(value, str) else value


def _is_of(event: Event, field: Field[Any]) -> bool:
    """Return whether the value of an event field has the type of its annotation. A log may come from anybody."""
    value = getattr(event, field.name)
    return any(
        type(value) in _TYPES[name] and (name != "float" or math.isfinite(value))
        for name in str(field.type).split(" | ")
    )


class RunLog:
    """A listener that writes to the log of a store."""

    def __init__(self, journal: Journal, clock: Callable[[], float] = time.time) -> None:
        self.journal = journal
        self._clock = clock
        self._blocks = self._samples = 0
        self._written = float("-inf")

    @classmethod
    def open(cls, store: LocationLike) -> Self:
        """Open the log of a store for writing. The caller holds the coordinator's lock."""
        journal = locate(store).journal(LOG)
        with refusals(journal.name):
            deque(journal.lines(), maxlen=0)  # to find the end
            journal.open()
        return cls(journal)

    def __call__(self, event: Event) -> None:
        """Write an event, or count it."""
        if isinstance(event, BlockDone):
            self._blocks, self._samples = self._blocks + 1, self._samples + event.samples
            if self._clock() - self._written >= EVERY:
                self._flush()
            return
        self._flush()
        self._write(event)

    def _flush(self) -> None:
        if self._blocks:
            self._write(BlocksDone(self._blocks, self._samples))
            self._blocks = self._samples = 0

    def _write(self, event: Event) -> None:
        self._written = self._clock()
        owner = {"time": round(self._written, 3), "pid": os.getpid(), "host": socket.gethostname()}
        line = json.dumps({**owner, "event": type(event).__name__, "what": asdict(event)})
        with refusals(self.journal.name):
            self.journal.append(line.encode())
            self.journal.sync()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.journal.close()


def records(store: LocationLike) -> Iterator[LogRecord]:
    """Yield the records of the log of a store; none where there is no log."""
    journal = locate(store).journal(LOG)
    with refusals(journal.name):
        yield from filter(None, map(LogRecord.parse, journal.lines()))


def last_run(store: LocationLike) -> list[LogRecord]:
    """Return the records of the last run."""
    return of_last_run(records(store))


def of_last_run(every: Iterable[LogRecord]) -> list[LogRecord]:
    """Return the records of the run that began last, of all records of a log."""
    run: list[LogRecord] = []
    for record in every:
        if isinstance(record.event, Started):
            run.clear()
        run.append(record)
    return run


def has_ended(event: Event) -> bool:
    """Return whether this is the last event of a run."""
    return isinstance(event, Finished | Stopped)
