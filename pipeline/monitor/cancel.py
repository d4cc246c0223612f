"""Ask a run to end, from any process that sees its store: a small file that the coordinator looks for.

A file works between machines that share the store, where signals do not, and needs no open port.
"""

from __future__ import annotations

from storage.places.access import locate
from storage.places.location import LocationLike, refusals

CANCEL = "cancel"


def request_cancel(store: LocationLike) -> None:
    """Ask the run that writes to a store to end. Raises StoreError where the file cannot be written."""
    place = locate(store)
    with refusals(place):
        place.write(CANCEL, (b"",))


def cancel_requested(store: LocationLike) -> bool:
    """Whether somebody has asked."""
    place = locate(store)
    with refusals(place):
        return place.has(CANCEL)


def clear_cancel(store: LocationLike) -> None:
    """Forget requests: they were for another run, or this one has heeded them."""
    place = locate(store)
    with refusals(place):
        place.delete(CANCEL)
