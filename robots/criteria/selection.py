"""Links, joints and freedoms of a robot by name: keys of criteria, in the words of friction groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from robots.data_classes import dataclass
from robots.limits import Place, select
from robots.model import Mechanism
from robots.parameter_errors import ParameterError

Part = TypeVar("Part")
Value = TypeVar("Value")


@dataclass(frozen=True)
class SeriesSelection:
    """Selection of joints, links and freedoms whose series are stored: names and places, in the order of the robot."""

    joints: tuple[tuple[str, Place], ...] = ()
    links: tuple[tuple[str, Place], ...] = ()
    series: tuple[str, ...] = ()
    deviations: tuple[tuple[str, Place], ...] = ()
    """Deviations of the state whose rows are stored. The limb of each place is ignored."""
    freedoms: tuple[tuple[str, Place], ...] = ()
    """Freedoms whose entries, rows and columns are stored. The limb of each place is ignored."""

    def of(self, dim: str) -> tuple[tuple[str, Place], ...]:
        """Return the selected names and places of a dim of `robots.dims.PLACED`."""
        selections = {"joint": self.joints, "link": self.links, "deviation": self.deviations}
        return selections.get(dim, self.freedoms)


EVERYTHING = SeriesSelection()
"""Selection of all joints, links and freedoms."""


def link_names(mechanism: Mechanism) -> dict[str, Place]:
    """Return the place of each link by name, `limb.body` or in a chain `body`: limb number, index in `Limb.links`."""
    return _named(mechanism, [[link.body for link in limb.links] for limb in mechanism.limbs])


def platform_link(mechanism: Mechanism) -> int | None:
    """Return the link of a chain that carries its platform, behind the last joint of its coordinates; None without."""
    if not (mechanism.is_chain and mechanism.limbs[0].coordinates):
        return None
    (limb,) = mechanism.limbs
    return limb.index(limb.coordinates[-1])


def real_link_names(mechanism: Mechanism) -> dict[str, Place]:
    """Return the place by name of every link that is a body, not a coordinate of a platform."""
    if (plate := platform_link(mechanism)) is None:
        return link_names(mechanism)
    (limb,) = mechanism.limbs
    stand_ins = {limb.index(joint) for joint in limb.coordinates} - {plate}
    return {name: place for name, place in link_names(mechanism).items() if place[1] not in stand_ins}


def joint_names(mechanism: Mechanism) -> dict[str, Place]:
    """Return the place of each joint by name, `limb.joint`, in a chain `joint`: limb number, index in `Limb.joints`."""
    return _named(mechanism, [list(limb.joints) for limb in mechanism.limbs])


def _named(mechanism: Mechanism, names: list[list[str]]) -> dict[str, Place]:
    result: dict[str, Place] = {}
    for k, instance in enumerate(mechanism.instances):
        before = "" if mechanism.is_chain else f"{instance.name}."
        result |= {before + name: (k, i) for i, name in enumerate(names[instance.limb])}
    return result


def freedom_names(mechanism: Mechanism) -> dict[str, Place]:
    """Return the place of every freedom by name: a chain's independent joints, a platform's free twist components."""
    return {name: (0, i) for i, name in enumerate(mechanism.freedoms)}


def deviation_names(mechanism: Mechanism) -> tuple[str, ...]:
    """Return the names of the deviations of a state: of the freedoms, then of their rates.

    A platform has displacements such as `x` and small turns such as `rx`, then `vx` and `wx`; a chain has `joint`, then
    `joint_rate`.
    """
    freedoms = mechanism.freedoms
    if mechanism.is_chain:
        return (*freedoms, *(f"{name}_rate" for name in freedoms))
    return (*(name.replace("w", "r").replace("v", "") for name in freedoms), *freedoms)


def of_parts(
    key: str,
    values: Mapping[str, Value] | None,
    names: Mapping[str, Part],
    what: str,
    check: Callable[[str, Value], None] | None = None,
) -> dict[Part, Value]:
    """Return the values of parts from values under names and patterns, see `select`.

    key: key of the values, for messages; check: function that refuses a value, with the value's name as its first
    argument. Raises ParameterError, also for a part that two patterns select.
    """
    table: dict[Part, Value] = {}
    for pattern, value in (values or {}).items():
        if check is not None:
            check(f"{key} {pattern}", value)
        once(table, key, pattern, dict.fromkeys(select(names, pattern, what), value))
    return table


def once(table: dict[Part, Value], kind: str, name: str, more: dict[Part, Value]) -> None:
    """Add the parts that a key selects. Raises ParameterError for a part that another key has selected."""
    if table.keys() & more.keys():
        raise ParameterError(f"{kind} {name}: another key selects some of them, too; expected each once")
    table |= more
