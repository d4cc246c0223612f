"""Read the files of a user: regular files of bounded size that hold UTF-8 text.

`pipeline.documents.yaml` reads YAML files, `pipeline.sweep.reader` and `pipeline.cluster.file` the meaning of their
keys.
"""

from __future__ import annotations

import difflib
import hashlib
import os
import stat
from io import BufferedReader
from pathlib import Path
from typing import Protocol

from pipeline.documents.file_kinds import looks_binary
from pipeline.errors import InputError, Problem, refused
from storage.inside import store_around


def read_text(name: str, limit: int) -> str:
    """Read the text of a regular file of at most `limit` bytes, without a byte order mark. Raises InputError."""
    return decode(read_bytes(name, limit), name)


def decode(data: bytes, name: str) -> str:
    """Decode UTF-8 bytes. Raises InputError that names the likely encoding."""
    if kind := looks_binary(data):
        raise refused(name, f"binary data that look like {kind}", "text", "Unpack or convert it first.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError([_undecoded(data, error.start, name)]) from None
    if "\0" in text:
        line, column = _place(data, data.index(0))
        raise InputError([Problem(name, line, column, "", "a NUL byte", "UTF-8 text", "Save it as UTF-8.")])
    return text


def _undecoded(data: bytes, start: int, name: str) -> Problem:
    """Return the problem of bytes from `start` on that are no UTF-8, with their letters in Latin-1."""
    got, expected = f"byte {data[start]:#04x}", "UTF-8 text"
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return Problem(name, 0, 0, "", got, expected, "It looks like UTF-16: save it as UTF-8.")
    letter = data[start : start + 1].decode("latin-1")
    if letter.isprintable():
        got = f"{got}, in Latin-1 the letter {letter}"
    return Problem(name, *_place(data, start), "", got, expected, "Save it as UTF-8.")


def _place(data: bytes, offset: int) -> tuple[int, int]:
    """Return line and column, from 1, of a byte of UTF-8 text."""
    before = data[:offset]
    last = before[before.rfind(b"\n") + 1 :]
    return before.count(b"\n") + 1, len(last.decode("utf-8", "replace")) + 1


def read_bytes(name: str, limit: int) -> bytes:
    """Read the bytes of a regular file of at most `limit` bytes. Raises InputError."""
    with open_regular(name, limit) as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise _too_large(name, limit)
    return data


def digest(name: str, limit: int) -> tuple[int, str]:
    """Return bytes and SHA-256 of a regular file of at most `limit` bytes. Raises InputError."""
    with open_regular(name, limit) as file:
        return os.fstat(file.fileno()).st_size, hashlib.file_digest(file, "sha256").hexdigest()


def open_regular(name: str, limit: int) -> BufferedReader:
    """Open a regular file of at most `limit` bytes for reading. Raises InputError."""
    try:
        # Opening a FIFO for reading would wait for a writer; with O_NONBLOCK it returns, and fstat tells the kind of
        # file.
        descriptor = os.open(name, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError) as error:
        raise _unopened(name, error) from None
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        raise refused(name, "a directory" if stat.S_ISDIR(mode) else "a device, pipe or socket", "a regular file")
    if os.fstat(descriptor).st_size > limit:
        os.close(descriptor)
        raise _too_large(name, limit)
    return open(descriptor, "rb")


def _too_large(name: str, limit: int) -> InputError:
    return refused(name, f"more than {limit >> 20} MiB", f"a file of at most {limit >> 20} MiB")


def write_new(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file that is not there, or that has this content already. Raises InputError."""
    name = os.fspath(path)
    if store := store_around(name):
        raise refused(name, f"a file inside the store {store}", "a place outside of stores", "Choose another folder.")
    try:
        os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
        with open(name, "xb") as file:
            file.write(data)
    except FileExistsError:
        if not os.path.isfile(name) or read_bytes(name, len(data)) != data:
            raise refused(name, "a file that is there already", "a new file", "Choose another name.") from None
    except OSError as error:
        raise refused(name, f"a file that cannot be written ({error.strerror})", "a place to write to") from None


def _unopened(name: str, error: OSError | ValueError) -> InputError:
    if isinstance(error, PermissionError):
        return refused(name, "no permission to read it", "a readable file", _owner(name))
    if isinstance(error, IsADirectoryError):
        return refused(name, "a directory", "a regular file")
    if isinstance(error, OSError) and os.path.islink(name):
        return refused(name, f"a link that leads to no file ({error.strerror})", "an existing file", "Mend the link.")
    folder = os.path.dirname(name) or "."
    try:
        close = difflib.get_close_matches(os.path.basename(name), os.listdir(folder), n=3)
    except (OSError, ValueError):
        return refused(name, "no such file", "an existing file", "Its folder cannot be read either.")
    hint = "Did you mean " + " or ".join(close) + "?" if close else ""
    return refused(name, "no such file", "an existing file", hint)


def _owner(name: str) -> str:
    try:
        status = os.stat(name)
    except OSError:
        return "A folder above it is not readable."
    return f"Its owner is user {status.st_uid}, its mode {stat.filemode(status.st_mode)}."


class FileSource(Protocol):
    """A place to read the files of a sweep from."""

    @property
    def root(self) -> Path:
        """The folder that takes the place of the sweep's own."""

    def holds(self, name: str) -> bool:
        """Return whether a sweep may name this file."""

    def shown(self, name: str) -> str:
        """Return the name of a file in messages."""

    def read(self, name: str, limit: int) -> bytes:
        """Return the content of a file of at most `limit` bytes. Raises InputError."""

    def keeps(self, name: str) -> bool:
        """Return whether a store or the user's own program holds the content already."""
