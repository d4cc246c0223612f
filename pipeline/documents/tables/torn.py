"""Rows of a text that are torn: how many may be, and the notes about them."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.errors import refused

TORN = 0.02
"""Share of rows that may be torn; some few always may."""
FEW = 5


def check_torn(file: str, torn: Sequence[int], count: int, expected: str, *, is_cut: bool) -> tuple[str, ...]:
    """Return notes about torn rows, by number, of `count`. Raises InputError where they are too many for one table."""
    notes = []
    if torn:
        text = f"{len(torn)} of {count} rows are no {expected}"
        where = f"the first is row {torn[0] + 1} below the header"
        if len(torn) > max(min(FEW, count // 20), TORN * count):
            raise refused(file, f"{text} ({where})", "rows of as many numbers", "Is it one table?")
        notes.append(f"{text}, {where}; they are taken as missing")
    if is_cut:
        notes.append("the last row is cut off; it is left out")
    return tuple(notes)
