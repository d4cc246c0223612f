"""Expressions with commas inside YAML's own lists and mappings: `{y: -atan2(d, h)}` is one value.

YAML ends a plain scalar at a comma there. Where a value has more opening brackets than closing ones, the text after the
comma belongs to the value, since brackets of a value always close.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeGuard

from ruamel.yaml import events

from robots.data_classes import dataclass, field

MAX_PARTS = 64
"""Parts of one value."""


@dataclass
class _Collection:
    """An open list or mapping: its kind, whether it is in brackets, and the nodes in it so far."""

    mapping: bool
    flow: bool
    nodes: int = 0

    @property
    def takes_value(self) -> bool:
        """Return whether the next node is a value, which keys of a mapping are not."""
        return self.flow and (not self.mapping or self.nodes % 2 == 1)


@dataclass
class WholeValues(Iterator[events.Event]):
    """Events of a document with each value between brackets as one scalar."""

    source: Iterator[events.Event]
    stack: list[_Collection] = field(default_factory=list)
    pending: list[events.Event] = field(default_factory=list)

    def __next__(self) -> events.Event:
        event = self._next()
        if self.stack and self.stack[-1].takes_value and _is_plain(event) and _depth(event) > 0:
            event = self._closed(event)
        if isinstance(event, events.CollectionEndEvent):
            self.stack.pop()
        elif self.stack and isinstance(event, events.NodeEvent):
            self.stack[-1].nodes += 1
        if isinstance(event, events.CollectionStartEvent):
            self.stack.append(_Collection(isinstance(event, events.MappingStartEvent), bool(event.flow_style)))
        return event

    def _next(self) -> events.Event:
        return self.pending.pop(0) if self.pending else next(self.source)

    def _closed(self, first: events.ScalarEvent) -> events.Event:
        """Return a value with its parts up to the closing bracket; the value as it is where none closes it."""
        parts, taken, mapping = [first.value], list[events.Event](), self.stack[-1].mapping
        while len(parts) < MAX_PARTS:
            taken.append(part := self._next())
            if not _is_plain(part):
                break
            if mapping:
                taken.append(empty := self._next())
                if not _is_plain(empty) or empty.value:
                    break
            parts.append(part.value)
            if sum(text.count("(") - text.count(")") for text in parts) == 0:
                whole = events.ScalarEvent(
                    first.anchor, first.tag, first.implicit, ", ".join(parts), first.start_mark, part.end_mark
                )
                return whole
        self.pending[:0] = taken
        return first


def _is_plain(event: events.Event) -> TypeGuard[events.ScalarEvent]:
    return isinstance(event, events.ScalarEvent) and event.style is None and event.anchor is None


def _depth(event: events.ScalarEvent) -> int:
    """Return the brackets of a plain scalar that are open at its end."""
    return event.value.count("(") - event.value.count(")")
