"""Machine code kept on the disk, so that a second process does not compile again.

A file for each program, named by a SHA-256 of all that its bytes depend on: the text given to LLVM, the processor and
its features, the versions of LLVM and of llvmlite. It begins with a digest of name and code, which is checked before
the code is loaded; a program whose file does not fit is compiled again, and the file is replaced. A person who can
write here can make the process run any code. So the folder is used only if it and its files belong to the user and no
other user may write to them. After any other error, such as a full disk, no code is kept.

`LIMBSWEEP_CACHE` names another folder; with `off` no code is kept.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import platformdirs

VARIABLE, OFF = "LIMBSWEEP_CACHE", "off"
LARGEST = 256 << 20
"""Bytes that the folder may hold; the files that were not used for longest go first."""
_DIGEST = 32
_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


def folder() -> Path | None:
    """Return the folder of machine code, made if it is not there; None where nothing may be kept."""
    place = os.environ.get(VARIABLE, "")
    if place == OFF:
        return None
    path = Path(place) if place else Path(platformdirs.user_cache_dir("limbsweep", appauthor=False)) / "kernels"
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        return path if _is_own(path.lstat(), stat.S_ISDIR) else None
    except OSError:
        return None


def _is_own(status: os.stat_result, is_kind: Callable[[int], bool]) -> bool:
    """Return whether a file or folder is of a kind, belongs to the user, and is not writable for others."""
    if not is_kind(status.st_mode):
        return False
    return not hasattr(os, "geteuid") or (status.st_uid == os.geteuid() and not status.st_mode & _OTHERS)


def key(*parts: str) -> str:
    """Return the name of the machine code that depends on these texts."""
    state = sha256()
    for part in parts:
        data = part.encode()
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)
    return state.hexdigest()


def read(name: str) -> bytes | None:
    """Return the machine code of this name; None if no trusted file has it."""
    if (place := folder()) is None:
        return None
    try:
        file = os.open(place / name, os.O_RDONLY | _NO_LINK | getattr(os, "O_BINARY", 0))
        with os.fdopen(file, "rb") as stream:
            status = os.fstat(file)
            if not _is_own(status, stat.S_ISREG):
                return None
            data = stream.read(min(status.st_size, LARGEST))  # a buffer of this size is made before reading
        os.utime(place / name)
    except OSError:
        return None
    code = data[_DIGEST:]
    return code if data[:_DIGEST] == _digest(name, code) else None


def write(name: str, code: bytes) -> bool:
    """Keep machine code under a name, whole or not at all; return whether it is kept."""
    if (place := folder()) is None:
        return False
    with suppress(OSError):
        number, draft = tempfile.mkstemp(dir=place)
        try:
            with os.fdopen(number, "wb") as stream:
                stream.write(_digest(name, code) + code)
            os.replace(draft, place / name)
        except OSError:
            os.unlink(draft)
            raise
        _prune(place)
        return True
    return False


def _digest(name: str, code: bytes) -> bytes:
    return sha256(name.encode() + code).digest()


def _prune(place: Path) -> None:
    """Remove files until the folder is no larger than it may be, those used longest ago first."""
    kept_files = []
    with os.scandir(place) as entries:
        for entry in entries:
            with suppress(OSError):  # another process removes too
                status = entry.stat(follow_symlinks=False)
                kept_files.append((status.st_mtime, status.st_size, entry.path))
    excess = sum(size for _, size, _ in kept_files) - LARGEST
    for _, size, path in sorted(kept_files):
        if excess <= 0:
            return
        with suppress(OSError):
            os.unlink(path)
        excess -= size
