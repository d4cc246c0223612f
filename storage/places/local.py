"""Stores in a folder, on a local disk or on a file system that machines share.

A file is written under a draft's name, forced to the disk, renamed, and the folder is forced to the disk as well: after
a loss of power there is the old file or the new one, and never a receipt without its data.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import uuid
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from io import FileIO
from pathlib import Path

from storage.places.location import DRAFT, Location, Room, require_size
from storage.places.lock import LOCK, holder_of, locked_file
from storage.places.regular import foreign, kind, open_regular

MAX_LINE = 1 << 20
"""Bytes of a line of a journal: thousands of times as many as one of ours has."""

PIECE = 1 << 20
"""Bytes that are compared at once."""


class LocalFolder(Location):
    """A store in a folder."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.name = os.fspath(path)
        self.path = Path(path).absolute()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LocalFolder) and self.path == other.path

    def __hash__(self) -> int:
        return hash(self.path)

    def at(self, key: str) -> str:
        """Return the path of a file."""
        return os.path.join(self.name, key)

    def _file(self, key: str, *, replaced: bool = False) -> Path:
        """Return the file of a key, the one way to a file in the store.

        Raises ForeignFileError for a key that leads out of the store, for one behind a link, which could lead anywhere,
        and for an entry that is neither a file nor a folder. Only an entry that is `replaced` or removed may itself be
        a link or of another kind.
        """
        folders, file = key.split("/"), self.path / key
        if ".." in folders or key.startswith("/"):
            raise foreign("a path that leads out", file)
        last = len(folders) if not replaced else len(folders) - 1
        for depth in range(1, last + 1):
            if (what := kind(os.path.join(self.path, *folders[:depth]))) not in ("", "a folder"):
                raise foreign(what, file)
        return file

    def folder(self) -> Path | None:
        """Return the folder."""
        return self.path

    def exists(self) -> bool:
        """Return whether there is a folder, a file, or a link to nothing."""
        return self.path.exists() or self.path.is_symlink()

    def is_folder(self) -> bool:
        """Return whether there is a folder."""
        return self.path.is_dir()

    def read(self, key: str) -> bytes:
        """Return the bytes of a file."""
        with os.fdopen(open_regular(self._file(key), os.O_RDONLY), "rb") as stream:
            return stream.read()

    def size(self, key: str) -> int:
        """Return the length of a regular file."""
        file = self._file(key)
        if not file.is_file():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(file))
        return file.stat().st_size

    def read_within(self, key: str, limit: int) -> bytes:
        """Return the bytes of a file of at most `limit`."""
        with os.fdopen(open_regular(self._file(key), os.O_RDONLY), "rb") as stream:
            require_size(self.at(key), os.fstat(stream.fileno()).st_size, limit)
            return stream.read(limit)

    def stamp(self, key: str) -> Hashable:
        """Return the number, size and times of a file."""
        stat = self._file(key).stat()
        return stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns

    def read_part(self, key: str, start: int, stop: int) -> bytes:
        """Return the bytes of a file."""
        descriptor = open_regular(self._file(key), os.O_RDONLY)
        try:
            return os.pread(descriptor, stop - start, start)
        finally:
            os.close(descriptor)

    def write(self, key: str, parts: Iterable[bytes]) -> None:
        """Write a draft, force it to the disk, and give it its name."""
        file = self._file(key, replaced=True)
        self._make_folders(file.parent)
        draft = file.with_name(f".{file.name}.{uuid.uuid4().hex}{DRAFT}")
        try:
            _write(draft, parts)
            if kind(file) == "a folder":
                _remove_empty(file)
            os.replace(draft, file)
        finally:
            draft.unlink(missing_ok=True)
        sync_directory(file.parent)

    def _make_folders(self, folder: Path) -> None:
        """Make folders inside the store, never the store: if that is missing, it is not mounted here."""
        if folder != self.path and not folder.is_dir():
            self._make_folders(folder.parent)
            folder.mkdir(exist_ok=True)
            sync_directory(folder.parent)

    def holds(self, key: str, parts: list[bytes]) -> bool:
        """Return whether a file holds these bytes, by reading it again, piece by piece."""
        piece = bytearray(PIECE if max(map(len, parts), default=0) >= PIECE else 0)
        with FileIO(open_regular(self._file(key), os.O_RDONLY)) as stream:
            pieces = (memoryview(part)[at : at + PIECE] for part in parts for at in range(0, len(part), PIECE))
            same = all(_next_is(stream, expected, piece) for expected in pieces)
            return same and not stream.read(1)

    def delete(self, key: str) -> None:
        """Remove a file, or a link in its place, and folders that become empty.

        The removal is durable, because the next removal may be of a file that a reader of this file needs.
        """
        file = self._file(key, replaced=True)
        try:
            file.unlink()
        except FileNotFoundError:
            pass
        else:
            sync_directory(file.parent)
        for folder in file.parents:
            if folder == self.path or not _remove_empty(folder):
                break

    def keys(self, folder: str = "") -> Iterator[str]:
        """Yield the keys of files, of links to folders, and of the drafts of killed writers."""
        for directory, folders, files in os.walk(self._file(folder) if folder else self.path):
            parent = os.path.relpath(directory, self.path)
            links = (name for name in folders if os.path.islink(os.path.join(directory, name)))
            for name in (*links, *files):
                yield name if parent == "." else f"{parent}/{name}".replace(os.sep, "/")

    def make(self, files: Mapping[str, bytes], last: str) -> None:
        """Make a draft of the whole folder beside it, and give it its name."""
        if self.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(self.path))
        if not (nearest := next(each for each in self.path.absolute().parents if each.exists())).is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(nearest))
        draft = self.path.parent / f".{self.path.name}.{uuid.uuid4().hex[:8]}{DRAFT}"
        draft.mkdir(parents=True)
        try:
            with _locked(draft):
                for key in (*(key for key in files if key != last), last):
                    (draft / key).parent.mkdir(parents=True, exist_ok=True)
                    _write(draft / key, (files[key],))
                for directory, _, _ in os.walk(draft, topdown=False):
                    sync_directory(Path(directory))
                self._name(draft)
            sync_directory(self.path.parent)
        finally:
            shutil.rmtree(draft, ignore_errors=True)

    def _name(self, draft: Path) -> None:
        """Give a draft the name of the folder. Raises FileExistsError where another writer was faster."""
        try:
            draft.rename(self.path)
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(self.path)) from None
            raise

    def journal(self, name: str) -> FileJournal:
        """Return a file of lines."""
        return FileJournal(self.path / f"{name}.jsonl")

    def lock(self) -> AbstractContextManager[None]:
        """Return the lock of the operating system on a file of its own."""
        return locked_file(self.path / LOCK, self.name)

    def holder(self) -> str | None:
        """Return the holder of the lock."""
        return holder_of(self.path / LOCK)

    def used(self) -> int:
        """Return the bytes of all regular files."""
        return sum(self.size(key) for key in self.keys() if not kind(self.path / key))

    def tidy(self) -> int:
        """Remove drafts of files in the store, and drafts of this store beside it that no living process writes."""
        drafts = list(filter(is_draft, self.keys()))
        for key in drafts:
            self.delete(key)
        return len(drafts) + sum(map(_remove_if_left, self.path.parent.glob(f".{self.path.name}.*{DRAFT}")))

    def room(self) -> Room | None:
        """Return the free space by `statvfs` of the nearest existing folder; some file systems keep no count."""
        folder = next(parent for parent in (self.path, *self.path.parents) if parent.is_dir())
        free = os.statvfs(folder)
        return Room(free.f_bavail * free.f_frsize if free.f_blocks else None, free.f_favail if free.f_files else None)

    def guard(self, key: str) -> None:
        """Raise ForeignFileError for a link, a pipe ... in the place of a file."""
        if (what := kind(self._file(key))) == "a folder":
            raise foreign(what, self.at(key))

    def zarr_store(self) -> Path:
        """Return the folder. Raises ForeignFileError where a part of it is a link, which Zarr would follow."""
        with os.scandir(self.path) as entries:
            for entry in entries:
                self._file(entry.name)
        return self.path


class FileJournal:
    """A journal in one file."""

    def __init__(self, file: Path) -> None:
        self.file, self.name = file, str(file)
        self._descriptor = -1
        self._end = self.torn = 0

    def lines(self) -> Iterator[bytes]:
        """Yield the lines of the file; none where there is no file."""
        self._end = self.torn = 0
        try:
            descriptor = open_regular(self.file, os.O_RDONLY)
        except FileNotFoundError:
            return
        with os.fdopen(descriptor, "rb") as stream:
            while line := stream.readline(MAX_LINE):
                require_size(f"{self.name}: a line", len(line), MAX_LINE - 1)
                if line.endswith(b"\n"):
                    self._end += len(line)
                    yield line[:-1]
                else:
                    self.torn = len(line)

    def open(self) -> None:
        """Make the file if it is missing, and cut off a torn line."""
        self._descriptor = open_regular(self.file, os.O_WRONLY | os.O_CREAT)
        os.ftruncate(self._descriptor, self._end)
        sync_directory(self.file.parent)

    def append(self, line: bytes) -> None:
        """Append a whole line, or remove the part that was written of it."""
        data = line + b"\n"
        try:
            if os.pwrite(self._descriptor, data, self._end) != len(data):
                raise OSError(errno.ENOSPC, "only a part of the line was written")
        except OSError:
            os.ftruncate(self._descriptor, self._end)
            raise
        self._end += len(data)

    def sync(self) -> None:
        """Force the file to the disk."""
        if self._descriptor >= 0:
            os.fsync(self._descriptor)

    def replace(self, lines: Iterable[bytes]) -> None:
        """Write another file and put it in the place of this one."""
        draft = self.file.with_name(f".{self.file.name}.{uuid.uuid4().hex}{DRAFT}")
        try:
            _write(draft, (line + b"\n" for line in lines))
            os.replace(draft, self.file)
        finally:
            draft.unlink(missing_ok=True)
        sync_directory(self.file.parent)

    def remove(self) -> None:
        """Remove the file."""
        self.file.unlink(missing_ok=True)
        sync_directory(self.file.parent)

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        if self._descriptor >= 0:
            descriptor, self._descriptor = self._descriptor, -1
            os.close(descriptor)


def is_draft(key: str) -> bool:
    """Return whether a key is a draft: a file that is being written, or whose writer was killed."""
    name = key.rpartition("/")[2]
    return name.startswith(".") and name.endswith(DRAFT)


def sync_directory(path: Path) -> None:
    """Make new names in a directory durable."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove_empty(folder: Path) -> bool:
    try:
        folder.rmdir()
    except OSError:
        return False
    return True


def _write(file: Path, parts: Iterable[bytes]) -> None:
    with file.open("wb") as stream:
        stream.writelines(parts)
        stream.flush()
        os.fsync(stream.fileno())


def _next_is(stream: FileIO, expected: memoryview, piece: bytearray) -> bool:
    """Return whether the next bytes of a file equal the expected ones.

    The bytes are read into existing memory, because fresh pages are slow. A bytearray compares as memory; bytes
    would leave it to the memoryview, which looks at one number after the other.
    """
    found = piece if len(expected) == len(piece) else bytearray(len(expected))
    return stream.readinto(found) == len(found) and found == expected


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Lock the draft of a folder while it is being made; the lock ends with its maker."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # a file system without locks leaves drafts of killed makers to the user
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def _remove_if_left(draft: Path) -> bool:
    """Remove a folder's draft if its maker is dead; return whether it was removed."""
    try:
        descriptor = os.open(draft, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(draft, ignore_errors=True)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True
