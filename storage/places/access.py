"""Finds the location of a store by path or URL, and holds it for one coordinator."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

from storage.errors import StoreError
from storage.places.location import Location, LocationLike, refusals

_URL = re.compile(r"(?P<protocol>[A-Za-z][A-Za-z0-9+.-]*)://(?P<rest>.*)", re.DOTALL)


def locate(store: LocationLike) -> Location:
    """The location that a path or URL names. Raises StoreError for a URL that cannot be used, or holds a secret."""
    if isinstance(store, Location):
        return store
    text = os.fspath(store)
    found = _URL.fullmatch(text)
    if found is None and "://" in text:
        raise StoreError("a store's URL is a chain of protocols; expected one, such as s3://bucket/path")
    if found is None or found["protocol"].lower() in ("file", "local"):
        from storage.places.local import LocalFolder

        if found and not found["rest"].startswith("/"):
            raise StoreError(
                f"{text}: got a URL without an absolute path; expected file:///folder/name, or a plain path"
            )
        return LocalFolder(found["rest"] if found else text)
    from storage.places.objects import ObjectPrefix

    return ObjectPrefix(found["protocol"].lower(), found["rest"])


@contextmanager
def coordinator_lock(store: LocationLike) -> Iterator[None]:
    """Holds a store for this process, after removing what killed writers have left.

    Raises StoreError that says who holds it.
    """
    location = locate(store)
    with location.lock():
        with refusals(location):
            location.tidy()
        yield


def holder(store: LocationLike) -> str | None:
    """Who holds a store, in the words of the lock; None where nobody does."""
    location = locate(store)
    with refusals(location):
        return location.holder()
