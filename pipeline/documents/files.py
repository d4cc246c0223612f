"""Read the files of a user (regular files of bounded size that hold UTF-8 text), and convert the units in them.

The content of YAML files is the matter of `pipeline.documents.yaml`, the meaning of keys that of
`pipeline.sweep.reader` and `pipeline.cluster.file`. Units are a table with conversions to SI; there is no unit algebra.
"""

from __future__ import annotations

import difflib
import hashlib
import math
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from io import BufferedReader

from pipeline.documents.yaml import MAX_BYTES, Document, parse_yaml
from pipeline.errors import InputError, Problem
from robots.parameters import nearest
from storage.inside import store_around

_MAGIC = {
    b"\x1f\x8b": "gzip",
    b"PK\x03\x04": "zip",
    b"\x89HDF": "HDF5",
    b"%PDF": "PDF",
    b"\x89PNG": "PNG",
    b"\x93NUMPY": "NumPy",
    b"PAR1": "Parquet",
    b"#ROSBAG": "a bag of ROS",
    b"SQLite format 3": "SQLite",
    b"\x89MCAP0": "MCAP",
    b"CDF\x01": "NetCDF",
    b"CDF\x02": "NetCDF",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
    b"\x28\xb5\x2f\xfd": "Zstandard",
}


def read_yaml(path: str | os.PathLike[str]) -> Document:
    """Read a YAML file. Raises InputError with file, line, column and advice."""
    name = os.fspath(path)
    return parse_yaml(read_text(name, MAX_BYTES), name)


def read_text(name: str, limit: int) -> str:
    """Read the text of a regular file of at most `limit` bytes, without a byte order mark. Raises InputError."""
    return decode(read_bytes(name, limit), name)


def reason(error: Exception) -> str:
    """Return the message of a library about a broken file: one line, its bytes escaped."""
    return ascii(" ".join(str(error).split()))[1:-1][:120]


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


def looks_binary(data: bytes) -> str:
    """Return the kind of a binary file by its first bytes; empty for text and kinds that are not known."""
    return next((kind for magic, kind in _MAGIC.items() if data.startswith(magic)), "")


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
        # Opening a FIFO for reading would wait for a writer; with O_NONBLOCK it returns, and fstat tells what it is.
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


def refused(name: str, got: str, expected: str, hint: str = "") -> InputError:
    """Return the error of a file that cannot be used."""
    return InputError([Problem(name, 0, 0, "", got, expected, hint)])


@dataclass(frozen=True)
class Unit:
    """A unit: the unit it converts to, of SI in the table, and value * `factor` / `divisor` in that unit.

    A divisor, because 150 / 1000 is the double nearest to 0.15 and 150 * 0.001 need not be.
    """

    name: str
    si: str
    factor: float = 1.0
    divisor: float = 1.0

    def to_si(self, value: float) -> float:
        """Convert a value in this unit."""
        return value * self.factor / self.divisor

    def is_same(self, other: Unit) -> bool:
        """Return whether another unit is the same by another name."""
        return (self.si, self.factor, self.divisor) == (other.si, other.factor, other.divisor)


UNITS: Mapping[str, Unit] = {
    unit.name: unit
    for unit in (
        Unit("m", "m"),
        Unit("dm", "m", divisor=10.0),
        Unit("cm", "m", divisor=100.0),
        Unit("mm", "m", divisor=1e3),
        Unit("um", "m", divisor=1e6),
        Unit("rad", "rad"),
        Unit("mrad", "rad", divisor=1e3),
        Unit("deg", "rad", math.pi, 180.0),
        Unit("kg", "kg"),
        Unit("g", "kg", divisor=1e3),
        Unit("t", "kg", 1e3),
        Unit("s", "s"),
        Unit("ms", "s", divisor=1e3),
        Unit("min", "s", 60.0),
        Unit("N", "N"),
        Unit("kN", "N", 1e3),
        Unit("N m", "N m"),
        Unit("Nm", "N m"),
        Unit("N mm", "N m", divisor=1e3),
        Unit("Nmm", "N m", divisor=1e3),
        Unit("m/rad", "m/rad"),
        Unit("mm/rad", "m/rad", divisor=1e3),
        Unit("m/s", "m/s"),
        Unit("mm/s", "m/s", divisor=1e3),
        Unit("rad/s", "rad/s"),
        Unit("deg/s", "rad/s", math.pi, 180.0),
        Unit("kg/m^3", "kg/m^3"),
        Unit("g/cm^3", "kg/m^3", 1e3),
        Unit("N m/A", "N m/A"),
        Unit("mN m/A", "N m/A", divisor=1e3),
        Unit("ohm", "ohm"),
        Unit("kg m^2", "kg m^2"),
        Unit("g mm^2", "kg m^2", divisor=1e9),
        Unit("kg mm^2", "kg m^2", divisor=1e6),
        Unit("g cm^2", "kg m^2", divisor=1e7),
        Unit("N m s/rad", "N m s/rad"),
        Unit("N s/m", "N s/m"),
        Unit("N m/rad", "N m/rad"),
        Unit("N/m", "N/m"),
        Unit("K", "K"),
        Unit("1/K", "1/K"),
        Unit("1", "1"),
    )
}


def check_unit(name: str, wanted: str) -> tuple[str, str] | None:
    """Check that unit `name` measures the same quantity as `wanted`: None, or the expected unit and advice.

    `wanted` is the unit of a parameter, in SI or degrees; alternatives are joined by ` or `.
    """
    alternatives = [UNITS[part].si if part in UNITS else part for part in wanted.split(" or ")]
    fitting = [unit.name for unit in UNITS.values() if unit.si in alternatives]
    if name in fitting:
        return None
    if name in UNITS:
        return f"a unit of [{wanted}]", "Known: " + ", ".join(fitting) + "."
    hint = nearest(name, fitting or UNITS)
    return "a known unit", hint[0].upper() + hint[1:] + ("" if hint.endswith("?") else ".")


def conversion(name: str, wanted: str) -> Unit:
    """Return the unit `name` with its conversion to `wanted`, the unit of a parameter: in SI, or degrees."""
    unit, target = UNITS[name], UNITS.get(wanted)
    if target is None or target.si == wanted:
        return unit
    if name == wanted:
        return Unit(name, wanted)
    return Unit(name, wanted, unit.factor * target.divisor, unit.divisor * target.factor)


def size(number: int) -> str:
    """Format a number of bytes with a binary prefix."""
    for scale, unit in ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if number >= scale:
            return f"{number / scale:.3g} {unit}"
    return f"{number} B"
