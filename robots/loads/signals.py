"""Numbers of loads that change over time alone: the time itself, columns of tables, whether an object is carried."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robots.data_classes import dataclass
from robots.loads.declared import TIME, DeclaredLoad, ObjectLoad, WrenchLoad, expressions_of
from robots.trajectories.trajectory import WRENCH

EDGE = 1e-9
"""Share of a time up to which a sample counts as being at it."""

STRAIGHT = 1e-9
"""Share of the largest slope of a table by which slopes differ that count as one."""


@dataclass(frozen=True, eq=False)
class Signal:
    """One signal: the time; or with `points` (points, 2) a line through them; or 1 from `start` to before `stop`."""

    name: str
    points: NDArray[np.float64] | None = None
    start: float | None = None
    stop: float = math.inf

    def at(self, times: NDArray[np.float64], inside: float | None = None) -> NDArray[np.float64]:
        """Return the signal at times (...); at a jump at an end of an interval, its value at the time `inside` it."""
        if self.start is not None and inside is not None:
            return np.full(np.shape(times), self.at(np.asarray(inside, dtype=float)))
        if self.points is not None:
            return np.interp(times, self.points[:, 0], self.points[:, 1])
        if self.start is None:
            return np.array(times, dtype=float)
        near = EDGE * np.maximum(1.0, np.abs(times))
        return np.where((times >= self.start - near) & (times < self.stop - near), 1.0, 0.0)

    @property
    def jumps(self) -> list[float]:
        """Times at which its value jumps."""
        return [] if self.start is None else [time for time in (self.start, self.stop) if math.isfinite(time)]

    @property
    def bends(self) -> list[float]:
        """Times at which its slope jumps: of a table, which is held beyond its ends."""
        if self.points is None:
            return []
        times, values = self.points.T
        slopes = np.concatenate([[0.0], np.diff(values) / np.diff(times), [0.0]])
        sharp = np.abs(np.diff(slopes)) > STRAIGHT * np.abs(slopes).max()
        return [float(time) for time in times[sharp]]


@dataclass(frozen=True)
class Breaks:
    """Times [s] at which integrators end a step, in ascending order; at the `jumps` among them loads jump."""

    times: tuple[float, ...] = ()
    jumps: tuple[float, ...] = ()

    def pieces(self, start: float, step: float) -> list[Piece]:
        """Return a step of a method, in pieces without a break inside."""
        end = start + step
        first, last = bisect_right(self.times, start + _near(start)), bisect_left(self.times, end - _near(end))
        inner = self.times[first:last]
        if not inner:
            return [Piece(start, step, self._jumps_at(start))]
        ends = zip([start, *inner], [*inner, end], strict=True)
        return [Piece(a, b - a, self._jumps_at(a)) for a, b in ends]

    def _jumps_at(self, time: float) -> bool:
        return any(abs(jump - time) <= _near(time) for jump in self.jumps)


class Piece(NamedTuple):
    """A part of a step: its start and length [s], and whether loads jump where it starts."""

    start: float
    length: float
    jumps: bool


def _near(time: float) -> float:
    return EDGE * max(1.0, abs(time))


def signals_of(loads: Mapping[str, DeclaredLoad]) -> Iterator[Signal]:
    """Yield the signals that some loads need."""
    texts = [expression for name, load in loads.items() for _, expression in expressions_of(name, load)]
    if any(TIME in expression.names for expression in texts):
        yield Signal(TIME)
    for name, load in loads.items():
        if isinstance(load, WrenchLoad) and load.points is not None:
            for k, component in enumerate(WRENCH):
                yield Signal(f"{name}.{component}", load.points[:, [0, k + 1]])
        elif isinstance(load, ObjectLoad) and (load.start is not None or load.stop is not None):
            yield Signal(carried(name), None, load.start or 0.0, math.inf if load.stop is None else load.stop)


def carried(name: str) -> str:
    """Return the name of the signal that is 1 while an object is carried."""
    return f"{name}.carried"
