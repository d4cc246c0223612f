"""Open files of a store that may come from a stranger: regular files alone, and none through a link.

A link could lead out of the store, and a pipe could block its reader for ever.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

_KINDS = {
    stat.S_IFLNK: "a link",
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class ForeignFileError(OSError):
    """An entry of a store that is no regular file; the text begins with its kind."""


def foreign(what: str, file: str | Path) -> ForeignFileError:
    """Return the error for a link, a pipe ... in a store."""
    return ForeignFileError(errno.ELOOP, f"{what}, where a store has files of its own", str(file))


def kind(file: str | Path) -> str:
    """Describe a directory entry that is no regular file; "" for a regular file and where there is nothing."""
    try:
        return _KINDS.get(stat.S_IFMT(os.lstat(file).st_mode), "")
    except (FileNotFoundError, NotADirectoryError):
        return ""


def open_regular(file: str | Path, flags: int, mode: int = 0o644) -> int:
    """Return the descriptor of a regular file. Raises ForeignFileError for others, which are not opened if possible."""
    if what := kind(file):
        raise foreign(what, file)
    descriptor = os.open(file, flags | os.O_NOFOLLOW | os.O_NONBLOCK, mode)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise foreign("no regular file", file)
    return descriptor
