"""Numbers of loads that change over time alone: the time itself, columns of tables, whether an object is carried."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robots.loads.declared import TIME, DeclaredLoad, ObjectLoad, WrenchLoad, expressions_of
from robots.trajectories.load import WRENCH

EDGE = 1e-9
"""Share of a time up to which a sample counts as being at it."""


@dataclass(frozen=True, eq=False)
class Signal:
    """One signal: the time; or with `points` (points, 2) a line through them; or 1 from `start` to before `stop`."""

    name: str
    points: NDArray[np.float64] | None = None
    start: float | None = None
    stop: float = math.inf

    def at(self, times: NDArray[np.float64]) -> NDArray[np.float64]:
        """The signal at some times (...)."""
        if self.points is not None:
            return np.interp(times, self.points[:, 0], self.points[:, 1])
        if self.start is None:
            return np.array(times, dtype=float)
        near = EDGE * np.maximum(1.0, np.abs(times))
        return np.where((times >= self.start - near) & (times < self.stop - near), 1.0, 0.0)


def signals_of(loads: Mapping[str, DeclaredLoad]) -> Iterator[Signal]:
    """All signals that some loads need."""
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
    """Name of the signal that says whether an object is carried."""
    return f"{name}.carried"
