"""Find the location of a store by its path or URL, and lock it for one coordinator."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

from storage.errors import StoreError
from storage.places.location import Location, LocationLike, refusals

LONGEST = 4096
"""Characters of a path or URL, at most."""

_URL = re.compile(r"(?P<protocol>[A-Za-z][A-Za-z0-9+.-]*)://(?P<rest>.*)", re.DOTALL)


def locate(store: LocationLike) -> Location:
    """Return the location named by a path or URL. Raises StoreError for a URL that is unusable or holds a secret."""
    if isinstance(store, Location):
        return store
    if not isinstance(store, str | os.PathLike):
        raise StoreError(f"store: got an object of type {type(store).__name__}; expected its path or URL")
    if isinstance(store, str) and ("\0" in store or len(store) > LONGEST):
        raise StoreError(f"store: got {store[:40]!r}, which is no path; expected its path or URL, without NUL")
    text = os.fspath(store)
    url = _URL.fullmatch(text)
    if url is None and "://" in text:
        raise StoreError("a store's URL is a chain of protocols; expected one, such as s3://bucket/path")
    if url is None or url["protocol"].lower() in ("file", "local"):
        from storage.places.local import LocalFolder

        if url and not url["rest"].startswith("/"):
            raise StoreError(
                f"{text}: got a URL without an absolute path; expected file:///folder/name, or a plain path"
            )
        return LocalFolder(url["rest"] if url else text)
    from storage.places.objects import ObjectPrefix

    return ObjectPrefix(url["protocol"].lower(), url["rest"])


@contextmanager
def coordinator_lock(store: LocationLike) -> Iterator[None]:
    """Lock a store for this process, and remove drafts of killed writers.

    Raises StoreError that says who holds it.
    """
    location = locate(store)
    with location.lock():
        with refusals(location):
            location.tidy()
        yield


def holder(store: LocationLike) -> str | None:
    """Return the holder of a store, in the words of the lock; None for a store without a holder."""
    location = locate(store)
    with refusals(location):
        return location.holder()
