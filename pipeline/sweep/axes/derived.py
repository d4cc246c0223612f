"""Axes made from other axes: with derived parameters, filtered by conditions, or sliced.

An axis with conditions is gone through once, in chunks, and keeps one bit for each set: 1e8 sets take 12.5 MB.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.sweep.axes.kinds import Array, Axis, Indices
from robots.data_classes import dataclass
from robots.expressions.expression import ParsedExpression

MAX_SCANNED = 10**8
"""Sets of an axis that has conditions or derived parameters: all of them are looked at when the sweep is read."""

MAX_WORK = 2 * 10**9
"""Sets times the names, numbers and signs of the expressions on them: some seconds."""

CHUNK = 1 << 17
"""Sets that are looked at together; a multiple of 8, so that each chunk has whole bytes of the bitmap."""

Fixed = tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class DependentAxis(Axis):
    """An axis that is made from another one, whose labels it has."""

    base: Axis

    @property
    def texts(self) -> Mapping[str, tuple[str, ...]]:
        """Texts of the base axis."""
        return self.base.texts

    @property
    def units(self) -> Mapping[str, str]:
        """Units of the base axis."""
        return self.base.units


@dataclass(frozen=True)
class Derived(DependentAxis):
    """An axis with derived parameters: each by an expression in swept, `fixed` and earlier derived ones."""

    rules: tuple[tuple[str, ParsedExpression], ...]
    fixed: Fixed

    @property
    def size(self) -> int:
        """Sets of the axis."""
        return self.base.size

    def take(self, indices: Indices) -> dict[str, Array]:
        """Return the sets at `indices`, with the derived parameters."""
        values = self.base.take(indices)
        for name, rule in self.rules:
            values[name] = np.broadcast_to(rule(dict(self.fixed) | values), indices.shape).astype(np.float64)
        return values

    def describe(self) -> dict[str, Any]:
        """Return the axis, and the expressions."""
        return self.base.describe() | {"derive": [[name, rule.text] for name, rule in self.rules]}


@dataclass(frozen=True)
class Filtered(DependentAxis):
    """The sets of an axis, of at least one parameter, that meet all conditions on these and `fixed` ones, in order."""

    conditions: tuple[ParsedExpression, ...]
    fixed: Fixed

    @property
    def size(self) -> int:
        """Sets that meet the conditions."""
        return int(self._bitmap[1][-1])

    def take(self, indices: Indices) -> dict[str, Array]:
        """Return the sets at `indices` among the kept sets."""
        return self.base.take(self.places(indices))

    def describe(self) -> dict[str, Any]:
        """Return the axis, and the conditions."""
        return {"kept": self.base.describe(), "where": [condition.text for condition in self.conditions]}

    def places(self, indices: Indices) -> Indices:
        """Find the numbers on the whole axis of the sets at `indices`: by rank, chunk by chunk."""
        bits, before = self._bitmap
        order = np.argsort(indices, kind="stable")
        ranks, result = indices[order], np.empty_like(indices)
        ends = np.searchsorted(ranks, before)
        for chunk in np.flatnonzero(np.diff(ends)):
            part = slice(ends[chunk], ends[chunk + 1])
            numbers = np.flatnonzero(np.unpackbits(bits[chunk * CHUNK // 8 : (chunk + 1) * CHUNK // 8]))
            result[order[part]] = chunk * CHUNK + numbers[ranks[part] - before[chunk]]
        return result

    @cached_property
    def _bitmap(self) -> tuple[NDArray[np.uint8], Indices]:
        """One bit for each set of the whole axis, and the number of kept ones before each chunk and at the end."""
        chunks = [(np.packbits(mask), int(np.count_nonzero(mask))) for mask in self._masks()]
        counts = np.cumsum([0, *(count for _, count in chunks)], dtype=np.int64)
        return np.concatenate([bits for bits, _ in chunks]), counts

    def _masks(self) -> Iterator[NDArray[np.bool_]]:
        for values in in_chunks(self.base):
            known = dict(self.fixed) | values
            mask = np.ones(len(next(iter(values.values()))), bool)
            for condition in self.conditions:
                if not mask.any():
                    break
                mask &= condition(known)
            yield mask


@dataclass(frozen=True)
class Sliced(DependentAxis):
    """Every `step`-th set of an axis from `start` up to before `stop`."""

    start: int
    stop: int
    step: int = 1

    @property
    def size(self) -> int:
        """Sets of the part."""
        return len(range(self.start, self.stop, self.step))

    def take(self, indices: Indices) -> dict[str, Array]:
        """Return the sets at `indices` of the part."""
        return self.base.take(self.start + indices * self.step)

    def describe(self) -> dict[str, Any]:
        """Return the axis, and which part of it."""
        return {"part": self.base.describe(), "range": [self.start, self.stop, self.step]}


def in_chunks(axis: Axis) -> Iterator[dict[str, Array]]:
    """Compute all sets of an axis, a chunk at a time."""
    for start in range(0, axis.size, CHUNK):
        yield axis.values(start, min(start + CHUNK, axis.size))


def rules_of(axis: Axis) -> Iterator[tuple[str, ParsedExpression]]:
    """Yield the rules of derived parameters of an axis, those first that others are made from."""
    if isinstance(axis, DependentAxis):
        yield from rules_of(axis.base)
        yield from axis.rules if isinstance(axis, Derived) else ()
