"""The log of the runs of a store: events as JSON lines, for `status`, `attach` and whoever looks later.

Blocks that are done are counted and written at most once a second, so that the log of a million blocks stays small;
which blocks are done is the ledger's to say. The coordinator writes it while it holds the lock of the store.
"""

from __future__ import annotations

import json
import math
import os
import socket
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import Field, asdict, dataclass, fields
from types import TracebackType
from typing import Any, Self

from pipeline.errors import visible
from pipeline.monitor import events
from pipeline.monitor.events import BlockDone, BlocksDone, Event, Finished, Started, Stopped
from storage.encoding.documents import parse_json
from storage.places.access import locate
from storage.places.location import Journal, LocationLike, refusals

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

KINDS: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        events.Started,
        events.BlocksDone,
        events.BlockRetried,
        events.CaseFailed,
        events.MetricFailed,
        events.BlockFailed,
        events.Waiting,
        events.ClusterRestarted,
        events.Finished,
        events.Stopped,
    )
}
"""Events that a log can hold, by name."""


@dataclass(frozen=True)
class Record:
    """A line of the log: when [s since 1970], whose (process, host), what."""

    time: float
    pid: int
    host: str
    event: Event

    @classmethod
    def parse(cls, line: bytes) -> Record | None:
        """The record in a line; None for one that was cut short by a crash, or that another version wrote."""
        try:
            data = parse_json(line)
            event = KINDS[data["event"]](**{key: _plain(value) for key, value in data["what"].items()})
            time = float(data["time"])
            is_own = 0 <= time <= LATEST and all(_is_of(event, field) for field in fields(event))
            return cls(time, int(data["pid"]), visible(str(data["host"])), event) if is_own else None
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
            return None


def _plain(value: object) -> object:
    """A value of a record; a text as a terminal may show it."""
    return visible(value) if isinstance(value, str) else value


def _is_of(event: Event, field: Field[Any]) -> bool:
    """Whether a field of an event holds what its annotation says: a log may come from anybody."""
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
        """The log of a store, to be written on. The caller holds the coordinator's lock."""
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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.journal.close()


def records(store: LocationLike) -> Iterator[Record]:
    """All records of the log of a store; none where there is no log."""
    journal = locate(store).journal(LOG)
    with refusals(journal.name):
        yield from filter(None, map(Record.parse, journal.lines()))


def last_run(store: LocationLike) -> list[Record]:
    """Records of the run that began last."""
    run: list[Record] = []
    for record in records(store):
        if isinstance(record.event, Started):
            run.clear()
        run.append(record)
    return run


def has_ended(event: Event) -> bool:
    """Whether this is the last event of a run."""
    return isinstance(event, Finished | Stopped)
