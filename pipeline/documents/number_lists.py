"""Long lists of plain numbers in a YAML text, read without the scanner, which takes 50 microseconds for each number.

They are blanked out in the text for the scanner, an empty list in their place, so that all other lines and columns
stay; the composer of `pipeline.documents.yaml` puts the numbers back where it meets these lists. A text that only looks
like a list, in a comment or inside a text, is not met, and then the whole text is scanned after all.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from pipeline.documents.document import Position
from pipeline.documents.scalars import LONGEST_NUMBER
from robots.data_classes import dataclass

FEWEST = 64
"""Least count of numbers in a list that is taken out."""

_NUMBER = r"[-+]?(?:0|[1-9][0-9]{0,30})(?:\.[0-9]{0,30})?(?:[eE][-+]?[0-9]{1,4})?"
_FLOW = re.compile(rf"\[\s*+{_NUMBER}\s*+(?:,\s*+{_NUMBER}\s*+){{{FEWEST - 1},}}+(?:,\s*+)?\]")
_BLOCK = re.compile(
    rf"^(?P<indent> *+)- +{_NUMBER} *\n(?:(?P=indent)- +{_NUMBER} *(?:\n|\Z)){{{FEWEST - 1},}}+", re.MULTILINE
)
_CELL = re.compile(r"[^\s,\[\]]+")
_ITEM = re.compile(r"- +(\S+)")
assert LONGEST_NUMBER >= 64, "the scanner would read the same items"


@dataclass(frozen=True)
class LongList:
    """Position of a list, its numbers, and their positions."""

    start: Position
    numbers: list[int | float]
    places: list[Position]


@dataclass(frozen=True)
class Blanked:
    """A text with empty lists in place of its long lists of numbers, and the long lists by these places."""

    text: str
    lists: dict[Position, LongList]

    @property
    def size(self) -> int:
        """Total count of numbers in all lists."""
        return sum(len(row.numbers) for row in self.lists.values())


def blank_lists(text: str) -> Blanked:
    """Take the long lists of numbers out of a text with line ends of one kind."""
    pieces: list[str] = []
    lists: dict[Position, LongList] = {}
    end, line, line_start = 0, 1, 0
    for match in _matches(text):
        begin = match.start()
        line += text.count("\n", end, begin)
        line_start = text.rfind("\n", 0, begin) + 1
        column = begin - line_start + 1
        block = match.re is _BLOCK
        numbers, places = _read(match[0], line, column, _ITEM if block else _CELL)
        if all(map(math.isfinite, numbers)):
            indent = len(match["indent"]) if block else 0
            key, start = ((line, indent + 2), (line, indent + 1)) if block else ((line, column),) * 2
            lists[key] = LongList(start, numbers, places)
            blank = " " * (indent + 1) + "[]" + "\n" * match[0].count("\n") if block else _blanked(match[0])
        else:
            blank = match[0]
        pieces += [text[end:begin], blank]
        line += match[0].count("\n")
        end = match.end()
    return Blanked("".join([*pieces, text[end:]]), lists)


def _matches(text: str) -> Iterator[re.Match[str]]:
    """Yield the lists of both spellings, in order, none inside another."""
    end = 0
    for match in sorted([*_FLOW.finditer(text), *_BLOCK.finditer(text)], key=lambda match: match.start()):
        if match.start() >= end:
            yield match
            end = match.end()


def _read(text: str, line: int, column: int, pattern: re.Pattern[str]) -> tuple[list[int | float], list[Position]]:
    """Return the numbers in the text of a list that begins at a line and column, and their places."""
    numbers: list[int | float] = []
    places: list[Position] = []
    for number, row in enumerate(text.split("\n")):
        first = column if number == 0 else 1
        for cell in pattern.finditer(row):
            word = cell[cell.lastindex or 0]
            numbers.append(int(word) if word.lstrip("+-").isdigit() else float(word))
            places.append((line + number, first + cell.start(cell.lastindex or 0)))
    return numbers, places


def _blanked(text: str) -> str:
    """Return a flow list without its content; the rest of the line keeps its columns."""
    return "[" + re.sub(r"[^\n]", " ", text[1:-1]) + "]"
