"""Location of a store: a folder or object storage, behind the few operations that a store needs.

A key is a relative name with "/" between its parts. Bytes written under a key are there whole or not at all, and
stay after a loss of power. Folders are in `storage.places.local`, URLs in `storage.places.objects`. The content of
each key is defined in `storage.store`, `storage.manifest` and `storage.ledger`. Every operation may raise OSError;
`refusals` turns it into a readable error.
"""

from __future__ import annotations

import errno
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from robots.data_classes import dataclass
from storage.errors import StoreError
from storage.places.regular import ForeignFileError


class Journal(Protocol):
    """A log of lines, to which one writer adds; readers may look at any time."""

    name: str

    torn: int
    """Bytes of a line that was cut short, as the last reading of `lines` has found."""

    def lines(self) -> Iterator[bytes]:
        """Yield the complete lines without their ends. A last line that a crash has cut short is left out."""

    def open(self) -> None:
        """Prepare for more lines, after all of `lines` have been read."""

    def append(self, line: bytes) -> None:
        """Add a line with its end, whole or not at all."""

    def sync(self) -> None:
        """Make all lines so far durable."""

    def replace(self, lines: Iterable[bytes]) -> None:
        """Leave these lines and no others, also after a crash; not while it is open."""

    def remove(self) -> None:
        """Remove all lines, and the file that has them."""

    def close(self) -> None:
        """End writing; lines that are not durable yet may be lost."""


@dataclass(frozen=True)
class Room:
    """Free space: bytes, and files that can still be made; None where a file system keeps no count."""

    bytes: int | None
    files: int | None


class Location(ABC):
    """Location of one store. Small to pickle; compares equal where it is the same folder or prefix."""

    name: str
    """Name of the location in messages. Never holds a secret."""

    def __str__(self) -> str:
        return self.name

    def at(self, key: str) -> str:
        """Return the name of a key in messages."""
        return f"{self.name}/{key}"

    def has(self, key: str) -> bool:
        """Return whether there is something under a key."""
        try:
            self.size(key)
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    def folder(self) -> Path | None:
        """Return the folder on a disk, which other machines may not see; None for object storage."""
        return None

    @abstractmethod
    def exists(self) -> bool:
        """Return whether there is anything at the location, be it a store or not."""

    @abstractmethod
    def is_folder(self) -> bool:
        """Return whether the location exists and can hold keys."""

    @abstractmethod
    def read(self, key: str) -> bytes:
        """Return the bytes under a key. Raises FileNotFoundError where there is nothing."""

    @abstractmethod
    def size(self, key: str) -> int:
        """Return the bytes under a key. Raises FileNotFoundError where there is nothing."""

    def read_within(self, key: str, limit: int) -> bytes:
        """Return the bytes under a key, if they are at most `limit`.

        Raises as `read` does, and TooLargeError before anything is read.
        """
        require_size(self.at(key), self.size(key), limit)
        return self.read(key)

    def stamp(self, key: str) -> Hashable | None:
        """Return a value that changes with the content under a key; None where the location cannot tell."""
        return None

    def read_part(self, key: str, start: int, stop: int) -> bytes:
        """Return the bytes under a key from a place to another."""
        return self.read(key)[start:stop]

    @abstractmethod
    def write(self, key: str, parts: Iterable[bytes]) -> None:
        """Put bytes under a key, durably: readers see the old content or the new one, never a part."""

    @abstractmethod
    def holds(self, key: str, parts: list[bytes]) -> bool:
        """Return whether exactly these bytes are under a key, as far as reading them again can tell."""

    @abstractmethod
    def delete(self, key: str) -> None:
        """Remove a key; do nothing if it is missing."""

    @abstractmethod
    def keys(self, folder: str = "") -> Iterator[str]:
        """Yield the keys, or those below a folder, in no order; drafts of unfinished writes are among them."""

    @abstractmethod
    def make(self, files: Mapping[str, bytes], last: str) -> None:
        """Make a new store of these files, in one step for a reader; `last` is the file that makes it a store.

        Raises FileExistsError where there is something already; then nothing has changed.
        """

    @abstractmethod
    def journal(self, name: str) -> Journal:
        """Return the journal of this name; its keys start with the name."""

    @abstractmethod
    def lock(self) -> AbstractContextManager[None]:
        """Hold the location for this process while it writes. Raises StoreError that names the holder."""

    @abstractmethod
    def holder(self) -> str | None:
        """Return the holder of the location, in the words of the lock; None if no process holds it."""

    @abstractmethod
    def used(self) -> int:
        """Return the bytes of all that is here."""

    @abstractmethod
    def tidy(self) -> int:
        """Remove drafts of killed writers and return their number. The caller holds the lock."""

    @abstractmethod
    def room(self) -> Room | None:
        """Return the free space, without the reserve of the administrator; None where it is unknown."""

    def guard(self, key: str) -> None:  # noqa: B027 - most locations need no such check
        """Refuse an entry under a key that could lead out of the store; object storage has no such entries."""

    @abstractmethod
    def zarr_store(self) -> Path | str:
        """Return the path or the URL that Zarr opens for reading."""


class TooLargeError(OSError):
    """A file that is larger than any that we would write in its place."""


def require_size(name: str, size: int, limit: int) -> None:
    """Refuse a file before it is read. Raises TooLargeError."""
    if size > limit:
        raise TooLargeError(errno.EFBIG, f"{size} bytes; expected at most {limit}", name)


DRAFT = ".draft"
"""Ending of the names of files that are being written. These names start with a dot."""

LocationLike = str | os.PathLike[str] | Location
"""Argument of a user for a store: a path, a URL, or its location."""


@contextmanager
def refusals(name: object) -> Iterator[None]:
    """Turn an error of the operating system or of a service into a StoreError that names the file and the reason."""
    try:
        yield
    except ForeignFileError as error:
        raise StoreError(f"{error.filename}: {error.strerror}; use no store that others have made so") from error
    except TooLargeError as error:
        raise StoreError(f"{error.filename}: {error.strerror}; use no store that others have made so") from error
    except OSError as error:
        reason = error.strerror or str(error) or type(error).__name__
        raise StoreError(f"{error.filename or name}: {reason}; {_advice(error)}") from error


ADVICE = {
    r"NoSuchBucket|bucket does not exist": "make the bucket first, or choose another store",
    r"EndpointConnection|[Cc]ould not connect|Cannot connect|ConnectTimeout|ReadTimeout|getaddrinfo|Name or service": (
        "check the address of the service (AWS_ENDPOINT_URL, or the configuration of fsspec) and the network, here and "
        "on all workers"
    ),
    r"NoCredentials|[Uu]nable to locate credentials|DefaultCredentials": (
        "give credentials where the tools of the service look for them (such as AWS_ACCESS_KEY_ID, a profile, a role), "
        "here and on all workers"
    ),
    r"[Ee]xpired": "renew the credentials, here and on all workers, then run it again to go on",
    # all that a service says of a request for the size of an object with a token that has expired
    r"Bad Request": "renew the credentials, and check the region, here and on all workers, then run it again to go on",
    r"InvalidAccessKeyId|SignatureDoesNotMatch|AccessDenied|Access Denied|Forbidden|InvalidToken": (
        "check the credentials, here and on all workers, and that they may list, read, write and delete there"
    ),
    r"No such file or directory|Stale file handle": (
        "see that the store was not moved or removed, and that its disk is there, then run it again to go on"
    ),
    r"SlowDown|reduce your request rate|ServiceUnavailable": "wait a while, then run it again to go on",
}
"""Remedy for an error of a service, by a pattern of its text."""


def known_advice(error: BaseException | None) -> str:
    """Return advice about an error of a service, which may be its cause; empty for an error of no known kind."""
    while error is not None:
        text = f"{type(error).__name__}: {error}"
        if advice := next((advice for pattern, advice in ADVICE.items() if re.search(pattern, text)), None):
            return advice
        error = error.__cause__ or error.__context__
    return ""


def _advice(error: BaseException) -> str:
    """Return advice about an error of the operating system, or of a service."""
    name = str(getattr(error, "filename", "") or "")
    refused = name.endswith(DRAFT) and os.path.isdir(os.path.dirname(name) or ".")  # a folder that takes no files
    return ("" if refused else known_advice(error)) or "check free space and permissions, or choose another store"
