"""Links and joints of a robot by name: keys of what is said of them, in the words of friction groups."""

from __future__ import annotations

from dataclasses import dataclass

from robots.joint_places import matches
from robots.limits import EVERY, Place
from robots.model import Mechanism
from robots.parameters import ParameterError, nearest


@dataclass(frozen=True)
class SeriesSelection:
    """Of which joints and links some series are stored: their names and places, each in the order of the robot."""

    joints: tuple[tuple[str, Place], ...] = ()
    links: tuple[tuple[str, Place], ...] = ()
    series: tuple[str, ...] = ()

    def of(self, dim: str) -> tuple[tuple[str, Place], ...]:
        """Those of the dim `joint` or `link`."""
        return self.joints if dim == "joint" else self.links


EVERYTHING = SeriesSelection()
"""No series is selected of."""


def link_names(mechanism: Mechanism) -> dict[str, Place]:
    """Every link by name, `limb.body` or of a chain `body`: number of its limb, and in `Limb.links`."""
    return _named(mechanism, [[link.body for link in limb.links] for limb in mechanism.limbs])


def joint_names(mechanism: Mechanism) -> dict[str, Place]:
    """Every joint by name, `limb.joint` or of a chain `joint`: number of its limb, and in `Limb.joints`."""
    return _named(mechanism, [list(limb.joints) for limb in mechanism.limbs])


def _named(mechanism: Mechanism, names: list[list[str]]) -> dict[str, Place]:
    result: dict[str, Place] = {}
    for k, instance in enumerate(mechanism.instances):
        before = "" if mechanism.is_chain else f"{instance.name}."
        result |= {before + name: (k, i) for i, name in enumerate(names[instance.limb])}
    return result


def select(names: dict[str, Place], pattern: str, what: str) -> tuple[Place, ...]:
    """The links or joints that are meant: `all`, or a name or pattern. Raises ParameterError for no hit."""
    hits = tuple(place for name, place in names.items() if pattern == EVERY or matches(name, pattern))
    if not hits:
        raise ParameterError(f"no {what} is called {pattern!r}; {nearest(pattern, (EVERY, *names))}")
    return hits
