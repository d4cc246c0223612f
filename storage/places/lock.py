"""One coordinator per store: locks that end with their holder, however it dies.

In a folder the operating system keeps the lock (`flock`), which holds on local disks and on NFS of the last decade; a
file system without `flock` reports that, and the run is refused. Some shared file systems lock on each machine for
itself. So the holder also writes a sign of life into the file, a number that it raises. A process that finds a holder
on another machine watches that number before it takes the holder for dead. Clocks are never compared: they jump, and
machines disagree about them. Object storage has no locks; there the lock is an object that only one can make, with the
same sign of life (`storage.places.objects`).
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Self

from robots.data_classes import asdict, dataclass, replace
from storage.encoding.documents import parse_json
from storage.errors import StoreError
from storage.places.location import refusals
from storage.places.regular import open_regular

LOCK = "coordinator.lock"

BEAT_SECONDS = 5.0
"""Time between two signs of life [s]."""

WATCH_SECONDS = 25.0
"""Time without a sign of life [s], before a holder on another machine is taken for dead."""

ATTEMPTS, ATTEMPT_SECONDS = 50, 0.005
"""Attempts to lock a file that others look at, and the time between them [s]."""

UNKNOWN = "it has not said who it is"


@dataclass(frozen=True)
class Owner:
    """Holder of a store. `machine` tells running kernels apart, `started` processes that had the same number."""

    pid: int
    host: str
    machine: str
    started: str
    since: str
    beat: int = 0

    @classmethod
    def here(cls) -> Self:
        """Return this process as an owner."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        return cls(os.getpid(), socket.gethostname(), _machine(), _started(os.getpid()), now)

    @classmethod
    def parse(cls, data: bytes) -> Self | None:
        """Return the owner in a file; None where it does not say."""
        try:
            owner = cls(**parse_json(data))
        except (ValueError, TypeError):
            return None
        numbers, texts = (owner.pid, owner.beat), (owner.host, owner.machine, owner.started, owner.since)
        # the number of a process becomes a path below /proc
        is_own = all(type(number) is int for number in numbers) and all(type(text) is str for text in texts)
        return owner if is_own else None

    def dump(self) -> bytes:
        """Return the owner as a line of JSON."""
        return json.dumps(asdict(self)).encode() + b"\n"

    @property
    def is_near(self) -> bool:
        """Return whether the owner runs, or ran, on a machine whose processes this process can see."""
        return self.machine == _machine()

    @property
    def is_here(self) -> bool:
        """Return whether the owner is this process."""
        return (self.pid, self.machine, self.started) == (os.getpid(), _machine(), _started(os.getpid()))

    @property
    def is_dead(self) -> bool:
        """Return whether the owner surely has ended; False also where that cannot be seen from here."""
        return self.is_near and _started(self.pid) != self.started

    def __str__(self) -> str:
        return json.dumps({"pid": self.pid, "host": self.host, "since": self.since})


def holder_of(file: Path) -> str | None:
    """Return the holder of a store, found through a file in it."""
    try:
        descriptor = open_regular(file, os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        # A shared lock is given back at once; a run that begins in that instant tries again.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return str(Owner.parse(_read(descriptor)) or UNKNOWN)
    finally:
        os.close(descriptor)
    return None


def busy(name: str, owner: object) -> StoreError:
    """Return the error for a store that another run is using."""
    return StoreError(
        f"{name}: another run is writing to this store ({owner or UNKNOWN}); "
        "wait for it, stop it, or choose another store"
    )


@contextmanager
def locked_file(file: Path, name: str) -> Iterator[None]:
    """Holds a store through a file in it, which shows who we are and that we live."""
    with refusals(file):
        descriptor = open_regular(file, os.O_RDWR | os.O_CREAT)
    owner = Owner.here()
    try:
        with refusals(file):
            _acquire(descriptor, name)
            _show(descriptor, owner)
        with beating(lambda beat: _show(descriptor, replace(owner, beat=beat))):
            yield
        with suppress(OSError):
            os.ftruncate(descriptor, 0)  # left in order: no process has to check whether the holder lives
    finally:
        # The file stays: removing it would let a third process lock a new file while a second holds the old one.
        os.close(descriptor)


def _acquire(descriptor: int, name: str) -> None:
    """Take the lock of the system, and check that no holder lives to whom it does not apply."""
    for attempt in range(1, ATTEMPTS + 1):
        if _take(descriptor, fcntl.LOCK_EX):
            break
        if attempt == ATTEMPTS or not _take(descriptor, fcntl.LOCK_SH):
            raise busy(name, Owner.parse(_read(descriptor)))
        # a shared lock can be taken, so the store has no holder: another process just reads the holder (`holder_of`)
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        time.sleep(ATTEMPT_SECONDS)
    owner = Owner.parse(_read(descriptor))
    if owner is not None and not owner.is_near and lives(lambda: _read(descriptor)):
        raise busy(name, owner)


def _take(descriptor: int, kind: int) -> bool:
    """Take a lock of the system of this kind, if no other process holds it."""
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def lives(look: Callable[[], bytes]) -> bool:
    """Return whether the bytes that `look` reads change while they are watched, by this process's clock alone."""
    first, start = look(), time.monotonic()
    while time.monotonic() - start < WATCH_SECONDS:
        time.sleep(min(BEAT_SECONDS, WATCH_SECONDS) / 10)
        if look() != first:
            return True
    return False


@contextmanager
def beating(show: Callable[[int], None]) -> Iterator[None]:
    """Calls `show` in a thread, with a number that grows from 1; an error is not the end: the next may pass."""
    over = threading.Event()

    def beat() -> None:
        count = 0
        while not over.wait(BEAT_SECONDS):
            count += 1
            with suppress(OSError):
                show(count)

    thread = threading.Thread(target=beat, name="limbsweep-lock", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _read(descriptor: int) -> bytes:
    return os.pread(descriptor, 4096, 0)


def _show(descriptor: int, owner: Owner) -> None:
    text = owner.dump()
    os.pwrite(descriptor, text, 0)
    os.ftruncate(descriptor, len(text))


@lru_cache(maxsize=1)
def _machine() -> str:
    """Return an id of the running kernel, and of the processes that see each other on it; elsewhere the host name."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return socket.gethostname()


def _started(pid: int) -> str:
    """Return the start of a process in ticks since the machine's start; "" if it does not exist, "?" if unknown."""
    # Not psutil's `create_time`: seconds since the epoch, from a start of the machine that moves when its clock is set,
    # would make a living holder look dead. Ticks never change, and locks of older versions hold them.
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[19]
    except FileNotFoundError:
        return "" if Path("/proc/self/stat").exists() else "?"
    except (OSError, IndexError):
        return "?"
