"""Capsules around links, platform and base: lines with a radius, for distances between them. Plain data, in m."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from robots.criteria.selection import link_names, select
from robots.limits import Place
from robots.model import Mechanism
from robots.parameters import ParameterError


@dataclass(frozen=True)
class Capsule:
    """All points within `radius` [m] of the line from `start` to `end` (3,) [m]. Raises ParameterError.

    >>> ls.robots.Capsule((0.0, 0.0, 0.0), (0.0, 0.0, 0.1), radius=0.02).radius
    0.02
    """

    start: tuple[float, float, float]
    end: tuple[float, float, float]
    radius: float

    def __post_init__(self) -> None:
        if len(self.start) != 3 or len(self.end) != 3 or not all(map(math.isfinite, (*self.start, *self.end))):
            raise ParameterError(f"start, end: got {self.start!r}, {self.end!r}; expected three finite numbers each")
        _check_radius("radius", self.radius)

    @property
    def numbers(self) -> tuple[float, ...]:
        """Both ends."""
        return (*self.start, *self.end)


def _check_radius(name: str, radius: float) -> None:
    if not 0.0 < radius < math.inf:
        raise ParameterError(f"{name}: got {radius!r}; expected a finite radius above zero")


@dataclass(frozen=True)
class Capsules:
    """Radii of the arms of links, by number of the limb and in `Limb.links`; capsules of platform and base.

    Those of the platform are in its frame, those of the base in that of the robot. Links that are not named do not
    count.

        >>> robot = ls.robots.build("five_bar")
        >>> rods = ls.robots.Capsules.of(robot.mechanism, {"all": 0.01})
    """

    links: Mapping[Place, float] = field(default_factory=dict)
    platform: tuple[Capsule, ...] = ()
    base: tuple[Capsule, ...] = ()

    @classmethod
    def of(
        cls,
        mechanism: Mechanism,
        links: Mapping[str, float],
        *,
        platform: Sequence[Capsule] = (),
        base: Sequence[Capsule] = (),
    ) -> Capsules:
        """From radii [m] of links under names and patterns, each link once. Raises ParameterError."""
        radii: dict[Place, float] = {}
        for name, radius in links.items():
            _check_radius(f"links {name}", radius)
            more = dict.fromkeys(select(link_names(mechanism), name, "link"), float(radius))
            if radii.keys() & more.keys():
                raise ParameterError(f"links {name}: another key selects some of them, too; expected each once")
            radii |= more
        return cls(radii, tuple(platform), tuple(base))
