"""Times of the parts of a cycle of picking and placing."""

from __future__ import annotations

from collections.abc import Iterable

from robots.geometry import sqrt
from robots.types import Number


def cycle_times(
    start: Iterable[Number], end: Iterable[Number], lift: Number, duration: Number, blend: Number
) -> tuple[Number, ...]:
    """Return the times of a lift and of a travel, and the time at which the travel begins [s].

    Lift and travel have the same peak of acceleration: their times are as the roots of their lengths. Numbers or
    symbols.

        >>> rising, travel, begin = cycle_times((-0.2, 0.0, 0.0), (0.2, 0.0, 0.0), 0.1, 1.0, 0.5)
        >>> round(rising / travel, 12), round(begin / rising, 12), round(2.0 * (travel + 2.0 * begin), 12)
        (0.5, 0.5, 1.0)
    """
    way = [b - a for a, b in zip(start, end, strict=True)]
    ratio = sqrt(lift / sqrt(way[0] * way[0] + way[1] * way[1] + way[2] * way[2]))
    before = (1.0 - blend) * ratio
    travel = 0.5 * duration / (1.0 + 2.0 * before)
    return ratio * travel, travel, before * travel
