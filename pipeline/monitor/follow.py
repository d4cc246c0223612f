"""Follow a run by its log from any process that sees its store, and ask it to end."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import islice

from pipeline.errors import RunStoppedError
from pipeline.monitor.log import Event, Started, has_ended, records, request_cancel
from storage.errors import StoreError
from storage.manifest import Manifest
from storage.places.access import holder
from storage.places.location import LocationLike

POLL_SECONDS = 0.5
CANCEL_SECONDS = 120.0
"""Time that a run is given to end; it looks for requests once a second, and may be held up by a worker."""


def follow(store: LocationLike) -> Iterator[Event]:
    """Yield the events of the last run of a store, past ones first, until the run ends.

    Raises StoreError where there was no run, RunStoppedError where it has died without a last word.
    """
    Manifest.load(store)
    if not any(records(store)):
        raise StoreError(f"{store}: no run has begun; begin one with limbsweep run or submit")
    seen = _last_start(store)
    while True:
        alive = holder(store) is not None  # asked first: the last records of the run are read below
        news = list(islice(records(store), seen, None))
        seen += len(news)
        for record in news:
            yield record.event
            if has_ended(record.event):
                return
        if not alive and not news:
            raise RunStoppedError(f"{store}: the run has died; its stored blocks stay")
        if not news:
            time.sleep(POLL_SECONDS)


def _last_start(store: LocationLike) -> int:
    """Return the number of records before the last run."""
    return max((number for number, record in enumerate(records(store)) if isinstance(record.event, Started)), default=0)


def cancel(store: LocationLike, seconds: float = CANCEL_SECONDS) -> None:
    """Ask the run that writes to a store to end, and wait until it has.

    Raises StoreError where no run writes to the store, RunStoppedError where the run does not end in time.
    """
    Manifest.load(store)
    if (owner := holder(store)) is None:
        raise StoreError(f"{store}: no run is writing to this store; there is nothing to cancel")
    request_cancel(store)
    deadline = time.monotonic() + seconds
    while holder(store) is not None:
        if time.monotonic() > deadline:
            raise RunStoppedError(f"{store}: the run ({owner}) has not ended within {seconds:g} s; end its process")
        time.sleep(POLL_SECONDS / 5)
