"""Stores in object storage, through fsspec: `s3://`, `gs://`, `abfs://` ..., and `memory://` for tests.

An object is there whole or not at all, so drafts are not needed; there is no renaming and no appending, so a journal is
a row of objects. Keys and passwords are never taken from us: they come from where the service's own tools look for
them, or from fsspec's configuration, so none can be stored or printed.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Any

from storage.errors import StoreError
from storage.places.location import Location, Room, refusals
from storage.places.lock import Owner, beating, busy, lives

LEASE = "coordinator.lease"
MAKERS = f"{LEASE}.making"
"""Leases of runs, and of processes that make a store."""
MAKING = "limbsweep.making"
"""First object of a new store: it marks the objects around it as ours."""

SEGMENT = 1 << 20
"""Bytes of a journal's object before the next one is begun."""

EXTRAS = {"s3": "s3", "s3a": "s3", "gs": "gcs", "gcs": "gcs", "abfs": "azure", "az": "azure"}
"""Extras with the package that fsspec needs for a protocol."""

NO_STORES = frozenset(
    [
        "http",
        "https",
        "ftp",
        "zip",
        "tar",
        "libarchive",
        "data",
        "github",
        "git",
        "jupyter",
        "reference",
        "dir",
        "cached",
        "blockcache",
        "filecache",
        "simplecache",
        "generic",
        "webhdfs",
        "dask",
    ]
)
"""Protocols of fsspec that are no object storage: of pages, of archives, of other file systems."""


_HELD: set[tuple[Location, str, int]] = set()
_CLAIMING = threading.Lock()
"""Leases of this process, of which two threads look alike to the service."""

_NUMBERED = re.compile(r".+/\d{1,18}\.jsonl?", re.ASCII)
"""Keys of leases and journals; other keys do not belong to the store."""

REASON = 300
"""Number of letters that are kept of a message of a service."""


class _Service:
    """A file system of fsspec that turns all errors of services into OSError."""

    def __init__(self, files: Any) -> None:
        self._files = files

    def __getattr__(self, name: str) -> Any:
        member = getattr(self._files, name)
        return partial(self._call, member) if callable(member) else member

    @staticmethod
    def _call(member: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        try:
            return member(*arguments, **options)
        except OSError:
            raise
        except Exception as error:
            reason = " ".join(str(error).split())[:REASON]
            raise OSError(f"the service cannot be used: {type(error).__name__}: {reason}") from error


class ObjectPrefix(Location):
    """A store below a prefix of keys in a bucket."""

    def __init__(self, protocol: str, path: str) -> None:
        path = path.rstrip("/")
        # The text is not in the message: it may be a secret.
        if "@" in path.partition("/")[0] or "?" in path or "::" in path:
            raise StoreError(
                f"a URL of {protocol}:// holds more than a bucket and a path; expected {protocol}://bucket/path, with "
                "keys and options where the tools of the service look for them, or in the configuration of fsspec"
            )
        if protocol in NO_STORES:
            raise StoreError(f"{protocol}:// cannot hold a store; expected a folder, or object storage such as s3://")
        if not path.partition("/")[0]:
            raise StoreError(f"{protocol}://{path} names no bucket; expected {protocol}://bucket/path")
        self.name, self.protocol, self.root = f"{protocol}://{path}", protocol, path

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ObjectPrefix) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def files(self) -> Any:
        """The file system of fsspec, which keeps one for each process and set of options."""
        import fsspec

        try:
            return _Service(fsspec.filesystem(self.protocol))
        except Exception as error:  # each file system of fsspec asks for things of its own
            extra = EXTRAS.get(self.protocol)
            install = f'install it here and on all workers: pip install "limbsweep[{extra}]"'
            hint = install if extra else "expected a protocol that fsspec knows"
            raise StoreError(f"{self.name}: cannot be opened ({error}); {hint}") from error

    def exists(self) -> bool:
        """Return whether the prefix has any object, except the objects of a store that was never completed."""
        files = self.files
        files.invalidate_cache()
        with refusals(self.name):
            try:
                names = {path.rpartition("/")[2] for path in files.ls(self.root, detail=False)}
            except FileNotFoundError:
                return False
        return MAKING not in names and any(not name.startswith(LEASE) for name in names)

    def is_folder(self) -> bool:
        """Return whether any object is here, as `exists` does."""
        return self.exists()

    def read(self, key: str) -> bytes:
        """Return the bytes of an object."""
        return bytes(self.files.cat_file(self._path(key)))

    def size(self, key: str) -> int:
        """Return the length of an object."""
        files = self.files
        files.invalidate_cache()
        info = files.info(self._path(key))
        if info["type"] != "file":
            raise FileNotFoundError(self.at(key))
        return int(info["size"])

    def stamp(self, key: str) -> Hashable:
        """Return the service's stamp of an object: its tag, or the time of its upload."""
        files = self.files
        files.invalidate_cache()
        return str(files.ukey(self._path(key)))

    def read_part(self, key: str, start: int, stop: int) -> bytes:
        """Return the bytes of an object."""
        return bytes(self.files.cat_file(self._path(key), start=start, end=stop))

    def write(self, key: str, parts: Iterable[bytes]) -> None:
        """Put an object."""
        self.files.pipe_file(self._path(key), b"".join(parts))

    def holds(self, key: str, parts: list[bytes]) -> bool:
        """Return whether an object holds these bytes, by getting it again."""
        return self.read(key) == b"".join(parts)

    def claim(self, key: str, data: bytes) -> None:
        """Put an object if its key has none. Raises FileExistsError: of several processes that try, one succeeds."""
        self.files.pipe_file(self._path(key), data, mode="create")

    def delete(self, key: str) -> None:
        """Remove an object."""
        files = self.files
        with suppress(FileNotFoundError):
            files.rm_file(self._path(key))
        files.invalidate_cache()

    def keys(self, folder: str = "") -> Iterator[str]:
        """Yield the keys of the objects, or of those below a folder."""
        files = self.files
        files.invalidate_cache()
        root = self.root.lstrip("/")
        for path in files.find(self._path(folder) if folder else self.root):
            key = path.lstrip("/").removeprefix(root).lstrip("/")
            if key.startswith(f"{folder}/" if folder else ""):  # one that is emptied meanwhile may be found itself
                yield key

    def make(self, files: Mapping[str, bytes], last: str) -> None:
        """Put all objects, the last one only if it is missing: the process that puts it has made the store."""
        if self.exists():
            raise FileExistsError(f"{self.name}: exists")
        with _lease(self, MAKERS):  # another lease than that of runs: a late process keeps no run from beginning
            if self.exists():
                raise FileExistsError(f"{self.name}: exists")
            self.write(MAKING, (b"",))
            for key in (*(key for key in files if key != last), last):
                self.write(key, (files[key],))
            self.delete(MAKING)

    def journal(self, name: str) -> ObjectJournal:
        """Return a journal in objects."""
        return ObjectJournal(self, name)

    def lock(self) -> AbstractContextManager[None]:
        """Return an object with our name in it."""
        return _lease(self)

    def holder(self) -> str | None:
        """Return the holder of the lease with the highest number, unless it is surely dead."""
        owners = [_owner(self, LEASE, number) for number in _leases(self)]
        return next((str(owner) for owner in reversed(owners) if owner is not None and not owner.is_dead), None)

    def used(self) -> int:
        """Return the bytes of all objects."""
        files = self.files
        files.invalidate_cache()
        return int(files.du(self.root))

    def tidy(self) -> int:
        """Return zero: a killed writer leaves nothing, as an incomplete object does not exist."""
        return 0

    def room(self) -> Room | None:
        """Return None, as the room is unknown: no service tells it."""
        return None

    def zarr_store(self) -> str:
        """Return the URL, for Zarr to open through fsspec."""
        return self.name

    def _path(self, key: str) -> str:
        return f"{self.root}/{key}"


class ObjectJournal:
    """A journal in objects of about a MiB, which are put again as they grow; each start begins a new one.

    An object is begun only under a free key. If one of two writers takes the other for dead, the second one to begin an
    object is therefore stopped.
    """

    def __init__(self, location: ObjectPrefix, name: str) -> None:
        self.location, self.folder, self.name = location, name, location.at(name)
        self.torn = 0
        self._number = 0
        self._lines: list[bytes] = []
        self._bytes = 0
        self._is_new = self._is_dirty = False

    def lines(self) -> Iterator[bytes]:
        """Yield the lines of all objects, in order."""
        for key in sorted(filter(_NUMBERED.fullmatch, self.location.keys(self.folder))):
            self._number = max(self._number, _number(key))
            yield from self.location.read(key).splitlines()

    def open(self) -> None:
        """Begin the next object when there is a line for it."""
        self._begin()

    def append(self, line: bytes) -> None:
        """Keep a line until `sync`."""
        self._lines.append(line + b"\n")
        self._bytes += len(line) + 1
        self._is_dirty = True

    def sync(self) -> None:
        """Put the growing object; it is complete as soon as it is long enough."""
        if not self._is_dirty:
            return
        key, data = f"{self.folder}/{self._number:08d}.jsonl", b"".join(self._lines)
        if self._is_new:
            try:
                self.location.claim(key, data)
            except FileExistsError:
                if not self._is_ours(key, data):
                    raise StoreError(
                        f"{self.location.at(key)}: another run has taken over this store; this one stops"
                    ) from None
        else:
            self.location.write(key, (data,))
        self._is_new = self._is_dirty = False
        if self._bytes >= SEGMENT:
            self._begin()

    def replace(self, lines: Iterable[bytes]) -> None:
        """Put the lines into a new object, then remove the others; until then all lines are there."""
        old = sorted(filter(_NUMBERED.fullmatch, self.location.keys(self.folder)))
        number = 1 + max(map(_number, old), default=0)
        self.location.write(f"{self.folder}/{number:08d}.jsonl", (line + b"\n" for line in lines))
        for key in old:
            self.location.delete(key)

    def remove(self) -> None:
        """Remove all objects."""
        for key in list(self.location.keys(self.folder)):
            self.location.delete(key)

    def close(self) -> None:
        """Do nothing: no object is held open."""

    def _is_ours(self, key: str, data: bytes) -> bool:
        """Return whether an object was put by this process, in a request whose answer was lost.

        Another run could have put the same lines; but that run removes the lease of the run that it has taken over
        from.
        """
        return self.location.read(key) == data and any(
            owner is not None and owner.is_here
            for owner in (_owner(self.location, LEASE, n) for n in _leases(self.location))
        )

    def _begin(self) -> None:
        self._number, self._lines, self._bytes = self._number + 1, [], 0
        self._is_new = True


@contextmanager
def _lease(location: ObjectPrefix, folder: str = LEASE) -> Iterator[None]:
    """Lock a store through an object that only one process can make.

    Leases are numbered. Who finds one whose holder is dead makes the next number, which again only one can; one that
    appears beside ours, and that we have not seen dead, means that another was faster.
    """
    with refusals(location.name):
        dead = [number for number in _leases(location, folder) if not _holds(location, folder, number)]
        if alive := [number for number in _leases(location, folder) if number not in dead]:
            raise busy(location.name, _owner(location, folder, alive[-1]))
        mine, owner = max(dead, default=0) + 1, Owner.here()
        with _CLAIMING:
            if (location, folder, mine) in _HELD:
                raise busy(location.name, owner)
            try:
                location.claim(_key(folder, mine), owner.dump())
            except FileExistsError:  # an answer may have been lost on its way: then the object is ours
                if _look(location, folder, mine) != owner.dump():
                    raise busy(location.name, _owner(location, folder, mine)) from None
            _HELD.add((location, folder, mine))
    try:
        with refusals(location.name):
            if others := [number for number in _leases(location, folder) if number != mine and number not in dead]:
                raise busy(location.name, _owner(location, folder, others[-1]))
            for number in dead:
                location.delete(_key(folder, number))
        with beating(lambda beat: location.write(_key(folder, mine), (replace(owner, beat=beat).dump(),))):
            yield
    finally:
        _HELD.discard((location, folder, mine))
        with refusals(location.name):
            location.delete(_key(folder, mine))


def _holds(location: ObjectPrefix, folder: str, number: int) -> bool:
    """Return whether the holder of a lease is alive."""
    owner = _owner(location, folder, number)
    if owner is None or owner.is_dead:
        return False
    return owner.is_near or lives(lambda: _look(location, folder, number))


def _owner(location: ObjectPrefix, folder: str, number: int) -> Owner | None:
    """Return the holder that a lease names."""
    return Owner.parse(_look(location, folder, number))


def _look(location: ObjectPrefix, folder: str, number: int) -> bytes:
    try:
        return location.read(_key(folder, number))
    except FileNotFoundError:
        return b""


def _leases(location: ObjectPrefix, folder: str = LEASE) -> list[int]:
    return sorted(_number(key) for key in location.keys(folder) if _NUMBERED.fullmatch(key))


def _key(folder: str, number: int) -> str:
    return f"{folder}/{number:08d}.json"


def _number(key: str) -> int:
    """Return the last number in a key."""
    return int(re.findall(r"\d+", key)[-1])
