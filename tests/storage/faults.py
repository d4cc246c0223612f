"""A location whose n-th operation fails, for trying every step of a protocol: the seam is the one door to files."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any

from storage.places.location import Journal, Location, Room

ERRORS: dict[str, Callable[[], OSError]] = {
    name: (lambda code=code: OSError(code, os.strerror(code)))  # type: ignore[misc]
    for name, code in {
        "no space": errno.ENOSPC,
        "I/O error": errno.EIO,
        "quota": errno.EDQUOT,
        "permission": errno.EACCES,
        "read-only": errno.EROFS,
        "stale handle": errno.ESTALE,
    }.items()
} | {
    "timeout": lambda: TimeoutError("the service does not answer"),
    "throttled": lambda: OSError(errno.EBUSY, "Please reduce your request rate."),  # what s3fs makes of 503 SlowDown
}


class FaultyLocation(Location):
    """Passes everything on to another location, but the operation with number `fail_at`, which raises `error`.

    With `cut`, a write at that number stores only half and says nothing, as a disk may do.
    """

    def __init__(self, base: Location, fail_at: int, error: Callable[[], OSError], *, cut: bool = False) -> None:
        self.base, self.name, self.fail_at, self.error, self.cut = base, base.name, fail_at, error, cut
        self.count = 0

    def step(self) -> bool:
        self.count += 1
        if self.count == self.fail_at and not self.cut:
            raise self.error()
        return self.count == self.fail_at

    def exists(self) -> bool:
        return self.base.exists()

    def is_folder(self) -> bool:
        return self.base.is_folder()

    def read(self, key: str) -> bytes:
        self.step()
        return self.base.read(key)

    def size(self, key: str) -> int:
        return self.base.size(key)

    def write(self, key: str, parts: Iterable[bytes]) -> None:
        data = b"".join(parts)
        self.base.write(key, (data[: len(data) // 2],) if self.step() else (data,))

    def holds(self, key: str, parts: list[bytes]) -> bool:
        if not self.cut:
            self.step()
        return self.base.holds(key, parts)

    def delete(self, key: str) -> None:
        self.step()
        self.base.delete(key)

    def keys(self, folder: str = "") -> Iterator[str]:
        self.step()
        return self.base.keys(folder)

    def make(self, files: Mapping[str, bytes], last: str) -> None:
        self.step()
        self.base.make(files, last)

    def journal(self, name: str) -> Journal:
        return FaultyJournal(self.base.journal(name), self)

    def lock(self) -> AbstractContextManager[None]:
        return self.base.lock()

    def holder(self) -> str | None:
        return self.base.holder()

    def used(self) -> int:
        return self.base.used()

    def tidy(self) -> int:
        self.step()
        return self.base.tidy()

    def room(self) -> Room | None:
        return self.base.room()

    def zarr_store(self) -> Any:
        return self.base.zarr_store()


class FaultyJournal:
    """A journal whose operations count as those of its location."""

    def __init__(self, base: Journal, location: FaultyLocation) -> None:
        self.base, self.location, self.name = base, location, base.name

    @property
    def torn(self) -> int:
        return self.base.torn

    def lines(self) -> Iterator[bytes]:
        self.location.step()
        return self.base.lines()

    def open(self) -> None:
        self.location.step()
        self.base.open()

    def append(self, line: bytes) -> None:
        self.location.step()
        self.base.append(line)

    def sync(self) -> None:
        self.location.step()
        self.base.sync()

    def replace(self, lines: Iterable[bytes]) -> None:
        self.location.step()
        self.base.replace(lines)

    def remove(self) -> None:
        self.location.step()
        self.base.remove()

    def close(self) -> None:
        self.base.close()
