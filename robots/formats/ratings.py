"""Ratings of joints in a file, for which the mechanism has no place: ranges, speeds, forces and friction.

A robot file keeps them under `ratings`; the first sweep of the robot takes them as its limits and its friction.
They do not change any result by themselves.
"""

from __future__ import annotations

from collections.abc import Iterable

from robots import joint_kinds
from robots.data_classes import dataclass, fields


@dataclass(frozen=True)
class Rating:
    """Rating of a joint: range of its position, largest rate and force, viscous and Coulomb friction, all in SI.

    None: not known. Positions count as in the joint.
    """

    joint: str
    low: float | None = None
    high: float | None = None
    velocity: float | None = None
    force: float | None = None
    viscous: float | None = None
    coulomb: float | None = None

    __repr__ = joint_kinds.shown

    @property
    def says(self) -> dict[str, float]:
        """The numbers that are known, by name."""
        values = {entry.name: getattr(self, entry.name) for entry in fields(self)[1:]}
        return {name: value for name, value in values.items() if value is not None}

    def shifted(self, by: float) -> Rating:
        """Return the rating for a joint whose variable counts from another position."""
        if not by:
            return self
        low = None if self.low is None else self.low - by
        high = None if self.high is None else self.high - by
        return Rating(self.joint, low, high, self.velocity, self.force, self.viscous, self.coulomb)


def known(ratings: Iterable[Rating]) -> tuple[Rating, ...]:
    """Return the ratings that have at least one number."""
    return tuple(entry for entry in ratings if entry.says)
