"""Write the files that a user asks for, whole or not at all, without destroying others; CSV safe for spreadsheets.

A file is written as a draft and renamed. A free name is taken. A regular file is replaced by one of the same kind, or
by force; folders, links, devices and pipes never are.

A spreadsheet runs a cell that begins with `=`, and most run `+`, `-`, `@`, tab and carriage return too, quoted or not.
Names in a store may come from a stranger, so such a text gets an apostrophe in front, by which a spreadsheet knows
text. Numbers stay numbers, also already formatted ones.
"""

from __future__ import annotations

import csv
import os
import re
import stat
import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from pipeline.errors import InputError, refused
from storage.errors import StoreError
from storage.inside import store_around

OPTION = "--output"
LONGEST_NAME = 200
"""Bytes of a file's name: most file systems allow 255, and drafts have longer ones."""

LONGEST_PATH = 4000
"""Bytes of a path: systems allow 4096."""

KINDS: Mapping[str, tuple[str, bytes]] = {
    ".html": ("an HTML page", b"<!doctype html"),
    ".htm": ("an HTML page", b"<!doctype html"),
    ".png": ("a PNG picture", b"\x89PNG"),
    ".svg": ("an SVG picture", b"<?xml"),
    ".pdf": ("a PDF document", b"%PDF-"),
    ".fmu": ("an FMU", b"PK\x03\x04"),
}
"""Kinds of files that a new run may replace, by the end of their name: description, and first bytes."""


def check_output(path: Path, *, force: bool = False, option: str = OPTION, flag: str = "--force") -> None:
    """Check that a file may be written, before its content is computed. Raises InputError.

    `option` and `flag` are the names of the command's options for the file and for overwriting; empty: no option.
    """
    if rule := name_rule(path):
        raise refused(option, _shown(path), rule, "Choose another name.")
    if store := store_around(path):
        got = f"{_shown(path)}, inside the store {_shown(store)}"
        raise refused(option, got, "a place outside of stores", "A store holds its own files alone.")
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError as error:
        if path.parent.is_dir():
            return
        raise unwritten(path, error, option) from None
    except OSError as error:
        raise unwritten(path, error, option) from None
    if not stat.S_ISREG(mode):
        kind = "a link" if stat.S_ISLNK(mode) else "a folder" if stat.S_ISDIR(mode) else "a device, pipe or socket"
        raise refused(option, f"{_shown(path)}, {kind}", "a new file, or a regular one", "Choose another name.")
    if force:
        return
    hint = f"Name another one, or replace it by {flag}." if flag else "Name another one."
    kind, head = KINDS.get(path.suffix.lower(), ("", b""))
    if not kind:
        raise refused(option, f"{_shown(path)}, which exists already", "a new file", hint)
    if _head(path, len(head), option).lower() != head.lower():
        got = f"{_shown(path)}, which exists already and is not {kind}"
        raise refused(option, got, f"a new file, or {kind} to replace", hint)


def name_rule(path: Path) -> str:
    """Return the requirement that the name of a file does not meet; empty if it meets all."""
    text = os.fspath(path)
    if not path.name or path.name == "..":
        return "the name of a file"
    if len(os.fsencode(path.name)) > LONGEST_NAME:
        return f"a name of at most {LONGEST_NAME} bytes"
    if len(os.fsencode(text)) > LONGEST_PATH:
        return f"a path of at most {LONGEST_PATH} bytes"
    return "" if text.isprintable() else "a name of visible characters"


def checked_suffix(path: Path, endings: Collection[str]) -> str:
    """Return the ending of a file that can be written. Raises StoreError for another ending."""
    if path.suffix not in endings:
        raise StoreError(f"{path}: got the ending {path.suffix!r}; expected one of {', '.join(endings)}")
    return path.suffix


@contextmanager
def output(path: Path, *, force: bool = False, option: str = OPTION) -> Iterator[Path]:
    """The draft of a file, which the block writes, and which is that file at its end; after an error nothing is left.

    Raises InputError where the file may not be written, or could not be.
    """
    check_output(path, force=force, option=option)
    draft = path.with_name(f".{path.stem[:80]}.{uuid.uuid4().hex[:8]}.draft{path.suffix[-20:]}")
    try:
        yield draft
        with draft.open("rb") as file:
            os.fsync(file.fileno())
        check_output(path, force=force, option=option)  # others may have written there meanwhile
        os.replace(draft, path)
    except OSError as error:
        raise unwritten(path, error, option) from None
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def write_text(path: Path, text: str, *, force: bool = False, option: str = OPTION) -> None:
    """Write a file of text. Raises InputError."""
    with output(path, force=force, option=option) as draft:
        draft.write_text(text, encoding="utf-8", newline="")


def unwritten(path: Path, error: OSError, option: str = OPTION) -> InputError:
    """Return the refusal of a file that could not be written."""
    got = f"{_shown(path)}, which cannot be written ({error.strerror or type(error).__name__})"
    return refused(option, got, "a place for a file", "Check that the folder is there, that you may write, and space.")


def _head(path: Path, size: int, option: str) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(size)
    except OSError as error:
        raise unwritten(path, error, option) from None


def _shown(path: Path) -> str:
    """Return a path as a message shows it: whole, where that is not endless."""
    return ascii(str(path)[:LONGEST_NAME])


_FORMULA = re.compile(r"\s*[=+\-@\uff1d\uff0b\uff0d\uff20\t\r\n]")
"""The last four before the tab are the wide ones, which spreadsheets take for the others."""

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|nan)", re.ASCII)


class CellWriter:
    """A writer of rows, as `csv.writer` makes."""

    def __init__(self, file: IO[str]) -> None:
        self._rows = csv.writer(file)

    def writerow(self, row: Iterable[object]) -> None:
        """Write one row."""
        self.writerows([row])

    def writerows(self, rows: Iterable[Iterable[object]]) -> None:
        """Write rows."""
        self._rows.writerows([cell(value) if isinstance(value, str) else value for value in row] for row in rows)


def cell(text: str) -> str:
    """Return a text for a CSV cell: with an apostrophe if it would be a formula, unless it is a number."""
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text
