"""The data of a file with the position of each key and value, for messages with line and column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from pipeline.documents.scalars import Scalar
from pipeline.errors import Problem
from robots.data_classes import dataclass, field

YamlValue: TypeAlias = "Scalar | list[YamlValue] | dict[str, YamlValue]"
KeyPath = tuple[str | int, ...]
Position = tuple[int, int]


@dataclass(frozen=True)
class SourceText:
    """Text of a file, and its name in messages."""

    text: str
    name: str

    def line(self, number: int) -> str:
        """Return a line, counted from 1."""
        return self.text.split("\n")[number - 1]


@dataclass(frozen=True)
class Document:
    """The data of a file, and the position of each key and value (line and column from 1)."""

    source: SourceText
    data: dict[str, YamlValue]
    values: dict[KeyPath, Position] = field(repr=False, default_factory=dict)
    keys: dict[KeyPath, Position] = field(repr=False, default_factory=dict)
    moved: Mapping[str, KeyPath] = field(repr=False, default_factory=dict)
    """Keys at the top that stand elsewhere in the file, with the paths where they do."""

    @property
    def name(self) -> str:
        """Name of the file in messages."""
        return self.source.name

    @property
    def text(self) -> str:
        """Text of the whole file."""
        return self.source.text

    def where(self, path: KeyPath) -> Position:
        """Return the line and column of the value at `path`, or of the nearest mapping or list around it."""
        while path and path not in self.values:
            path = path[:-1]
        return self.values.get(path, (1, 1))

    def column_within(self, path: KeyPath, text: str, place: int) -> int:
        """Return how far right of its start the character at `place` of a text value stands; 0 if not in one line."""
        line, column = self.where(path)
        written = self.source.line(line)[column - 1 :]
        for quote in ("", "'", '"'):
            if written.startswith(quote + text):
                return len(quote) + place
        return 0

    def below(self, key: str) -> Document:
        """Return the mapping at a key as a document of its own, with the places that it has in this one."""
        values = {path[1:]: place for path, place in self.values.items() if path[:1] == (key,)}
        keys = {path[1:]: place for path, place in self.keys.items() if path[:1] == (key,) and len(path) > 1}
        data = self.data[key]
        assert isinstance(data, dict), "asked only of mappings"
        return Document(self.source, data, values, keys)

    def problem(self, path: KeyPath, got: str, expected: str, hint: str = "", *, key: bool = False) -> Problem:
        """Return a problem at the value of `path`, or at its key."""
        place = self.keys.get(path) if key else None
        written = (*self.moved[str(path[0])], *path[1:]) if path and path[0] in self.moved else path
        return Problem(self.name, *(place or self.where(path)), dotted(written), got, expected, hint)


def dotted(path: KeyPath) -> str:
    """Format a path for messages: `design.grid.upper_arm.values[2]`."""
    text = ""
    for part in path:
        name = part if isinstance(part, int) or part.isprintable() else ascii(part)[1:-1]
        text += f"[{name}]" if isinstance(name, int) else f".{name}"
    return text.removeprefix(".")
