"""Bounds of tables in files of others. Sizes that a file declares are checked before memory is taken."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pipeline.documents.files import refused, size

MIB = 1 << 20


@dataclass(frozen=True)
class Bounds:
    """Largest sizes of a table in a file.

    file: bytes of the file; text: bytes of a file of text; line: bytes of a line of it; values: bytes of all numbers
    that are read of a file, unpacked; columns: columns of a table; members: arrays, groups or fields of an archive;
    depth: levels of groups or structures.
    """

    file: int = 4096 * MIB
    text: int = 512 * MIB
    line: int = MIB
    values: int = 256 * MIB
    columns: int = 100_000
    members: int = 10_000
    depth: int = 16

    def check_values(self, file: str, arrays: Iterable[tuple[str, Sequence[int], int]]) -> None:
        """Check the declared sizes of arrays: name, shape and bytes of an entry of each. Raises InputError."""
        total = 0
        for name, shape, itemsize in arrays:
            if any(length < 0 for length in shape):
                raise refused(file, f"{name} of shape {tuple(shape)}", "an array without negative lengths")
            total += math.prod(shape) * itemsize
            if total > self.values:
                got = f"{size(total)} of numbers with {name}, of shape {tuple(shape)}"
                hint = "Take fewer columns, thin it, or cut it into several files."
                raise refused(file, got, f"at most {size(self.values)}", hint)

    def check_members(self, file: str, count: int, kind: str = "members") -> None:
        """Check the number of members of an archive. Raises InputError."""
        if count > self.members:
            raise refused(file, f"{count} {kind}", f"at most {self.members}", "Keep the columns that are needed.")

    def check_columns(self, file: str, count: int) -> None:
        """Check the number of columns of a table. Raises InputError."""
        if count > self.columns:
            raise refused(file, f"{count} columns", f"at most {self.columns}", "Are its rows and columns exchanged?")


SIDE = Bounds(file=384 * MIB, text=384 * MIB, values=384 * MIB)
"""Of files beside a sweep, which are kept with it in memory."""
KEPT = Bounds(file=1024 * MIB, text=1024 * MIB, values=1024 * MIB)
"""Of tables that the user's own program has in memory already, and of those that a store keeps."""
POINTS = Bounds(file=64 * MIB, text=64 * MIB, values=64 * MIB)
"""Of points of trajectories and forces over time."""
RECORDED = Bounds()
"""Of recordings and measured poses, of which the columns that are used are read alone."""
