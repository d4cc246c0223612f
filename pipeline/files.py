"""Reading what a user wrote: YAML files and CSV files of points. Refuses what is not a readable text of sane size.

What may be in a YAML file is in `pipeline.document`; what its keys mean, in `pipeline.sweep` and `pipeline.cluster`.
"""

from __future__ import annotations

import difflib
import math
import os
import re
import stat
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pipeline.document import MAX_BYTES, Document, parse_yaml
from pipeline.errors import LIMIT, InputError, Problem, show

POINTS_BYTES = 64 << 20

_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_MAGIC = {
    b"\x1f\x8b": "gzip",
    b"PK\x03\x04": "zip",
    b"\x89HDF": "HDF5",
    b"%PDF": "PDF",
    b"\x89PNG": "PNG",
    b"\x93NUMPY": "NumPy",
}


def read_yaml(path: str | os.PathLike[str]) -> Document:
    """The document in a file. Raises InputError with file, line, column and advice."""
    name = os.fspath(path)
    return parse_yaml(read_text(name, MAX_BYTES), name)


def read_text(name: str, limit: int) -> str:
    """The text of a regular file of at most `limit` bytes, without a byte order mark. Raises InputError."""
    return decode(read_bytes(name, limit), name)


def decode(data: bytes, name: str) -> str:
    """UTF-8 bytes as text. Raises InputError that says what else the bytes look like."""
    if kind := next((kind for magic, kind in _MAGIC.items() if data.startswith(magic)), None):
        raise _refuse(name, f"binary data that look like {kind}", "text", "Unpack or convert it first.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        start = "It looks like UTF-16: save" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "Save"
        raise _refuse(
            name, f"byte {data[error.start]:#04x} at offset {error.start}", "UTF-8 text", f"{start} it as UTF-8."
        ) from None
    if "\0" in text:
        raise _refuse(name, f"a NUL byte at offset {data.index(0)}", "UTF-8 text", "Save it as UTF-8.")
    return text


def read_bytes(name: str, limit: int) -> bytes:
    """The content of a regular file of at most `limit` bytes. Raises InputError."""
    try:
        # Opening a FIFO for reading would wait for a writer; with O_NONBLOCK it returns, and fstat tells what it is.
        descriptor = os.open(name, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError) as error:
        raise _unopened(name, error) from None
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        raise _refuse(name, "a directory" if stat.S_ISDIR(mode) else "a device, pipe or socket", "a regular file")
    with open(descriptor, "rb") as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise _refuse(name, f"more than {limit >> 20} MiB", f"a file of at most {limit >> 20} MiB")
    return data


def _unopened(name: str, error: OSError | ValueError) -> InputError:
    if isinstance(error, PermissionError):
        return _refuse(name, "no permission to read it", "a readable file", _owner(name))
    if isinstance(error, IsADirectoryError):
        return _refuse(name, "a directory", "a regular file")
    folder = os.path.dirname(name) or "."
    try:
        close = difflib.get_close_matches(os.path.basename(name), os.listdir(folder), n=3)
    except (OSError, ValueError):
        return _refuse(name, "no such file", "an existing file", "Its folder cannot be read either.")
    hint = "Did you mean " + " or ".join(close) + "?" if close else ""
    return _refuse(name, "no such file", "an existing file", hint)


def _owner(name: str) -> str:
    try:
        status = os.stat(name)
    except OSError:
        return "A folder above it is not readable."
    return f"Its owner is user {status.st_uid}, its mode {stat.filemode(status.st_mode)}."


def _refuse(name: str, got: str, expected: str, hint: str = "") -> InputError:
    return InputError([Problem(name, 0, 0, "", got, expected, hint)])


def parse_points(text: str, name: str, columns: Sequence[str]) -> NDArray[np.float64]:
    """The points of a waypoint text, (points, columns): t [s], which increases strictly, then coordinates.

    Comma-separated, with a header of the names in `columns`. Raises InputError with row and column for every bad cell.
    """
    lines = text.rstrip().splitlines() or [""]
    if (header := tuple(cell.strip() for cell in lines[0].split(","))) != tuple(columns):
        hint = "Use commas, not semicolons." if ";" in lines[0] else "The first row names the columns."
        raise InputError([Problem(name, 1, 1, "", show(",".join(header)), f"the header {','.join(columns)}", hint)])
    points = np.full((len(lines) - 1, len(columns)), np.nan)
    problems: list[Problem] = []
    for row, line in enumerate(lines[1:]):
        problems += _read_row(line, row + 2, name, columns, points[row])
        if len(problems) >= LIMIT:
            break
    problems = problems or list(_time_problems(points[:, 0], name))
    if problems:
        raise InputError(problems[:LIMIT])
    return points


def _read_row(
    line: str, number: int, name: str, columns: Sequence[str], into: NDArray[np.float64]
) -> Iterator[Problem]:
    cells, wanted = [cell.strip() for cell in line.split(",")], len(columns)
    if len(cells) != wanted:
        hint = "Use commas between cells and a point in numbers." if len(cells) > wanted or ";" in line else ""
        yield Problem(name, number, 1, "", f"{len(cells)} cells", f"{wanted} cells: {','.join(columns)}", hint)
        return
    for column, cell in enumerate(cells):
        value = float(cell) if _NUMBER.fullmatch(cell) else math.nan
        if not math.isfinite(value):
            got = show(cell) if cell else "an empty cell"
            yield Problem(name, number, column + 1, columns[column], got, "a finite number")
        into[column] = value


def _time_problems(times: NDArray[np.float64], name: str) -> Iterator[Problem]:
    if len(times) < 2:
        yield Problem(name, 0, 0, "", f"{len(times)} points", "at least 2 points")
    for row in np.flatnonzero(np.diff(times) <= 0)[:LIMIT]:
        rule = f"a time later than {float(times[row])!r} of the row before"
        yield Problem(name, int(row) + 3, 1, "t", repr(float(times[row + 1])), rule)
