"""Numeric arrays of MATLAB's MAT files of versions 4 to 7, with structures by path.

`run.q` is a field, `run[2].q` one of an array of structures, `run{2}` a cell. A walk over the elements, each held to
the bytes that are there; compressed ones are unpacked to the bound and no further. Texts, sparse matrices, objects and
functions are no signals and are skipped. Files of version 7.3 are HDF5. Source: MathWorks, MAT-File Format (version 5).
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator
from typing import IO

import numpy as np

from pipeline.documents.tables.columns import Bounds, Variable
from pipeline.errors import reason, refused, size
from robots.data_classes import dataclass, field

HEADER = 128
TAG = 8
MATRIX, PACKED = 14, 15
CELL, STRUCTURE = 1, 2
NUMERIC = range(6, 16)
"""Classes of arrays: double, single, and integers of 8 to 64 bits."""
LOGICAL, COMPLEX = 0x0200, 0x0800
STORED = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
"""Storage types of numbers by the type of an element; MATLAB stores numbers in the smallest type that holds them."""
OF_VERSION_4 = {0: "f8", 1: "f4", 2: "i4", 3: "i2", 4: "u2", 5: "u1"}


NAME = 1000
"""Bytes of a name, at most; MATLAB has 63."""

DIMENSIONS = 32


class DamagedElementError(Exception):
    """An element that does not fit into the bytes that are there."""


def mat_variables(stream: IO[bytes], file: str, bounds: Bounds) -> list[Variable]:
    """Return the numeric arrays of a MAT file. Raises InputError."""
    data = stream.read(bounds.values + 1)
    if len(data) > bounds.values:
        hint = "Save it with -v7.3, of which the columns that are used are read alone."
        raise refused(file, f"more than {size(bounds.values)} of MAT data", f"at most {size(bounds.values)}", hint)
    walk = _BoundedWalk(file, bounds)
    try:
        is_version_5 = len(data) >= HEADER and data[124:128] in (b"\x00\x01IM", b"\x01\x00MI")
        return list(walk.version_5(data) if is_version_5 else walk.version_4(data))
    except (DamagedElementError, struct.error, zlib.error, ValueError) as error:
        hint = "Save it again."
        raise refused(file, f"a file that is no MAT file: {reason(error)}", "a MAT file", hint) from None


@dataclass
class _BoundedWalk:
    """Counts of one file against its bounds: members that were met, bytes that were unpacked."""

    file: str
    bounds: Bounds
    members: int = 0
    unpacked: int = 0
    order: str = field(default="<")

    def version_5(self, data: bytes) -> Iterator[Variable]:
        self.order = "<" if data[126:128] == b"IM" else ">"
        for kind, part in self._elements(memoryview(data)[HEADER:]):
            if kind == PACKED:
                unpacked = self._unpacked(part)
                for inside, matrix in self._elements(unpacked):
                    if inside == MATRIX:
                        yield from self._matrix("", matrix, 0)
            elif kind == MATRIX:
                yield from self._matrix("", part, 0)

    def version_4(self, data: bytes) -> Iterator[Variable]:
        place = 0
        while place + 20 <= len(data):
            order = "<" if struct.unpack_from("<i", data, place)[0] in range(1000) else ">"
            code, rows, columns, is_complex, length = struct.unpack_from(f"{order}5i", data, place)
            place += 20
            if not (0 <= code < 5000 and rows >= 0 and columns >= 0 and 0 < length < 1000):
                raise DamagedElementError("no header of an array")
            name = data[place : place + length - 1].decode("latin-1")
            place += length
            dtype = np.dtype(order + OF_VERSION_4.get(code // 10 % 10, "f8"))
            count = rows * columns * (2 if is_complex else 1)
            part = data[place : place + count * dtype.itemsize]
            if len(part) < count * dtype.itemsize:
                raise DamagedElementError(f"{name} of shape {(rows, columns)} is cut")
            place += len(part)
            self._count(1)
            if code % 10 == 0 and not is_complex:
                yield _variable(name, (rows, columns), dtype, memoryview(part))
        if place != len(data) or not data:
            raise DamagedElementError("bytes behind the last array" if data else "no bytes")

    def _elements(self, data: memoryview) -> Iterator[tuple[int, memoryview]]:
        """Yield type and bytes of the elements one after another."""
        place = 0
        while place + TAG <= len(data):
            kind, length = struct.unpack_from(f"{self.order}II", data, place)
            if kind >> 16:  # a small element, whose data are in its tag
                kind, length, start, following = kind & 0xFFFF, kind >> 16, place + 4, place + TAG
            else:
                start = place + TAG
                following = start + length + (0 if kind == PACKED else -length % 8)
            if length > len(data) - start or (start == place + 4 and length > 4):
                raise DamagedElementError(f"an element of {length} bytes where {len(data) - start} are left")
            yield kind, data[start : start + length]
            place = following

    def _unpacked(self, part: memoryview) -> memoryview:
        left = self.bounds.values - self.unpacked
        machine = zlib.decompressobj()
        data = machine.decompress(part, left + 1)
        if len(data) > left:
            hint = "Save the variables that are needed alone."
            raise refused(self.file, f"more than {size(self.bounds.values)} unpacked", "at most that", hint)
        self.unpacked += len(data)
        return memoryview(data)

    def _count(self, members: int) -> None:
        self.members += members
        self.bounds.check_members(self.file, self.members, "arrays and fields")

    def _matrix(self, path: str, data: memoryview, depth: int) -> Iterator[Variable]:
        """Yield the numeric arrays of a matrix, and of the content of a structure or cell array."""
        if depth > self.bounds.depth:
            raise refused(self.file, f"structures deeper than {self.bounds.depth}", f"at most {self.bounds.depth}")
        parts = self._elements(data)
        first = next(parts, None)
        if first is None or len(first[1]) < 8:
            return
        flags = struct.unpack_from(f"{self.order}I", first[1])[0]
        sizes, name = next(parts, None), next(parts, None)
        if sizes is None or name is None or flags & 0xFF not in (CELL, STRUCTURE, *NUMERIC):
            return  # an object or a function has no such parts
        if len(sizes[1]) > 4 * DIMENSIONS or len(name[1]) > NAME:
            raise DamagedElementError(f"an array of {len(sizes[1]) // 4} dimensions, a name of {len(name[1])} bytes")
        shape = struct.unpack(f"{self.order}{len(sizes[1]) // 4}i", sizes[1])
        if any(length < 0 for length in shape):
            raise DamagedElementError(f"the shape {shape}")
        path = path or bytes(name[1]).decode("latin-1")
        self._count(1)
        if flags & 0xFF == STRUCTURE:
            yield from self._structure(path, shape, parts, depth)
        elif flags & 0xFF == CELL:
            yield from self._cells(path, parts, depth)
        elif not flags & COMPLEX and (numbers := next(parts, None)) is not None and numbers[0] in STORED:
            dtype = np.dtype(self.order + STORED[numbers[0]])
            if math.prod(shape) * dtype.itemsize != len(numbers[1]):
                raise DamagedElementError(f"{path} of shape {shape} has {len(numbers[1])} bytes")
            yield _variable(path, shape, dtype, numbers[1])

    def _structure(
        self, path: str, shape: tuple[int, ...], parts: Iterator[tuple[int, memoryview]], depth: int
    ) -> Iterator[Variable]:
        width, names = next(parts, None), next(parts, None)
        if width is None or names is None or len(width[1]) < 4:
            return
        length, count = struct.unpack_from(f"{self.order}i", width[1])[0], math.prod(shape)
        if not 0 < length <= NAME:
            raise DamagedElementError(f"names of {length} bytes")
        self.bounds.check_members(self.file, len(names[1]) // length, "fields")
        fields = [
            bytes(names[1][k : k + length]).split(b"\0")[0].decode("latin-1") for k in range(0, len(names[1]), length)
        ]
        for number, (kind, part) in enumerate(parts):
            if kind != MATRIX or not fields or number >= count * len(fields):
                raise DamagedElementError(f"{path} has other fields than it names")
            entry = f"{path}[{number // len(fields) + 1}]" if count > 1 else path
            yield from self._matrix(f"{entry}.{fields[number % len(fields)]}", part, depth + 1)

    def _cells(self, path: str, parts: Iterator[tuple[int, memoryview]], depth: int) -> Iterator[Variable]:
        for number, (kind, part) in enumerate(parts):
            if kind != MATRIX:
                raise DamagedElementError(f"{path} has cells that are no arrays")
            yield from self._matrix(f"{path}{{{number + 1}}}", part, depth + 1)


def _variable(name: str, shape: tuple[int, ...], dtype: np.dtype, data: memoryview) -> Variable:
    def load() -> np.ndarray:
        return np.frombuffer(data, dtype=dtype).reshape(shape, order="F")

    return Variable(name, shape, dtype, load)
