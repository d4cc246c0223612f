"""Schema of a result store: its quantities, coordinates along their dims, attributes; checked, as pure data.

The table of quantities is `robots.quantities`, all that is known of robots here. Shapes and chunks follow from it in
`storage.layout`; files are made from it in `storage.store`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Protocol

from robots.data_classes import dataclass
from robots.quantities import QUANTITIES, Quantity, needing
from storage.errors import StoreError

SAMPLES, STEP = "trajectory_samples", "trajectory_step"
"""Coordinates of trajectories that have times of their own: the number of samples, and the time between them [s]."""

DONE = "written"
"""The coordinate (design, trajectory) of an unfinished store: true where all results are written."""


class Values(Protocol):
    """Numbers or texts that are read in parts: a list, an array, or an object that computes them."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: slice, /) -> Any: ...


@dataclass(frozen=True)
class Coordinate:
    """Values along one dim, numbers or text, one for each element: a swept parameter, a name, a time."""

    name: str
    dim: str
    values: Values
    units: str = ""
    long_name: str = ""


OK = 0
"""The status of a sample whose results are numbers."""

LABELS: dict[str, tuple[str, ...]] = {
    "axis": ("x", "y", "z"),
    "platform_axis": ("x", "y", "z"),
    "link_axis": ("x", "y", "z"),
    "bearing": ("moment_across", "force_across", "along"),
    "load_part": ("bending", "radial", "along", "preload"),
    "friction_part": ("bending", "radial", "along", "preload", "other"),
    "wrench": ("angular_x", "angular_y", "angular_z", "linear_x", "linear_y", "linear_z"),
}
"""Coordinates that are the same in every store."""

_PRISMATIC = {
    "N m": "N",
    "kg m^2": "kg",
    "rad": "m",
    "rad/s": "m/s",
    "rad/s^2": "m/s^2",
    "m/rad": "1",
    "rad/m, 1": "1, m",
    "rad/(m s), 1/s": "1/s, m/s",
}
EITHER = " or "
"""Separator between the unit of joints that turn and that of joints that slide."""

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,79}")


def lookup(name: str) -> Quantity:
    """Return the row of a variable. Raises StoreError with the nearest name."""
    if name not in QUANTITIES:
        close = difflib.get_close_matches(name, QUANTITIES, n=1)
        hint = f"did you mean {close[0]!r}?" if close else "known: " + ", ".join(QUANTITIES)
        raise StoreError(f"there is no variable {name!r} to store; {hint}")
    return QUANTITIES[name]


def units(turns: Collection[bool]) -> dict[str, str]:
    """Return the units that depend on the kinds of drives: all turn, all slide, or both, such as `N m or N`."""
    rows = (
        variable
        for variable in QUANTITIES.values()
        if "actuator" in variable.dims or variable.units == "m/rad" or variable.name == "largest_effective_inertia"
    )
    return {row.name: _of_kinds(row.units, turns) for row in rows}


def joint_units(turns: Collection[bool]) -> dict[str, str]:
    """Return the units of variables along joints, for joints that all turn, all slide, or both."""
    return {row.name: _of_kinds(row.units, turns) for row in QUANTITIES.values() if "joint" in row.dims}


def older_units(unit: str, dims: Collection[str]) -> set[str]:
    """Return other units that older versions wrote for a variable: of one kind of drives, or of joints that turn."""
    sides = unit.split(EITHER)
    turning = {each for each, sliding in _PRISMATIC.items() if sliding == unit} if "joint" in dims else set()
    return {*(sides if len(sides) > 1 else ()), *turning}


def _of_kinds(unit: str, turns: Collection[bool]) -> str:
    spellings = [unit] * (True in turns) + [_PRISMATIC.get(unit, unit)] * (False in turns)
    return EITHER.join(dict.fromkeys(spellings))


def volume_units(axes: int) -> dict[str, str]:
    """Return the units of volumes, for a robot whose platform moves along `axes` axes."""
    return dict.fromkeys(needing("workspace"), {1: "m", 2: "m^2"}.get(axes, "m^3"))


def check_coordinates(coordinates: Iterable[Coordinate], sizes: Mapping[str, int]) -> tuple[Coordinate, ...]:
    """Return the coordinates, each with a usable name, a store dim and a value per element. Raises StoreError."""
    seen: set[str] = set()
    for each in (checked := tuple(coordinates)):
        folded = each.name.casefold()
        if not NAME.fullmatch(each.name) or folded in QUANTITIES or folded in seen:
            raise StoreError(
                f"coordinate {each.name!r} cannot be stored; expected a name of at most 80 letters, digits and '_' "
                "that starts with a letter and is, even in capitals, neither a variable nor another coordinate"
            )
        if each.dim not in sizes or (each.name in sizes and each.name != each.dim):
            raise StoreError(
                f"coordinate {each.name!r} lies along {each.dim!r}; expected one of {', '.join(sizes)}"
                " (a coordinate named like a dim lies along it)"
            )
        if len(each.values) != sizes[each.dim]:
            raise StoreError(
                f"coordinate {each.name!r} has {len(each.values)} values; "
                f"expected {sizes[each.dim]}, one for each {each.dim}"
            )
        seen.add(folded)
    return checked


def check_units(units: Mapping[str, str]) -> None:
    """Refuse units of variables that the schema does not know."""
    for name in units:
        lookup(name)
