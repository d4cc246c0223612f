"""One coordinator per store: a lock that the operating system releases when its holder dies, however it dies.

`flock` holds on local disks and on NFS of the last decade; a file system without it says so, and the run is refused.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from storage.errors import StoreError
from storage.manifest import refusals

LOCK = "coordinator.lock"


@contextmanager
def coordinator_lock(path: Path) -> Iterator[None]:
    """Holds the store at `path` for this process. Raises StoreError that says who holds it."""
    with refusals(path):
        descriptor = os.open(path / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        with refusals(path / LOCK):
            _acquire(descriptor, path)
        yield
    finally:
        # The file stays: removing it would let a third process lock a new file while a second holds the old one.
        os.close(descriptor)


def holder(path: Path) -> str | None:
    """Who holds the store at `path`, in the words of the lock; None where nobody does."""
    try:
        descriptor = os.open(path / LOCK, os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        # A shared lock is given back at once; a run that begins in that instant is refused and can be begun again.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return os.pread(descriptor, 4096, 0).decode(errors="replace").strip() or "it has not said who it is"
    finally:
        os.close(descriptor)
    return None


def _acquire(descriptor: int, path: Path) -> None:
    """Takes the lock and writes the owner into the file."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        owner = os.pread(descriptor, 4096, 0).decode(errors="replace").strip() or "it has not said who it is"
        raise StoreError(
            f"{path}: another run is writing to this store ({owner}); wait for it, stop it, or choose another store"
        ) from None
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, _owner().encode(), 0)


def _owner() -> str:
    """Who holds the lock, for the message that others get."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "since": now}) + "\n"
