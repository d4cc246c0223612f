"""Units of numbers in files: a table with conversions to SI; there is no unit algebra."""

from __future__ import annotations

import math
from collections.abc import Mapping

from robots.data_classes import dataclass
from robots.parameter_errors import nearest


@dataclass(frozen=True)
class Unit:
    """A unit: the unit it converts to, of SI in the table, and value * `factor` / `divisor` in that unit.

    A divisor, because 150 / 1000 is the double nearest to 0.15 and 150 * 0.001 need not be.
    """

    name: str
    si: str
    factor: float = 1.0
    divisor: float = 1.0

    def to_si(self, value: float) -> float:
        """Convert a value in this unit."""
        return value * self.factor / self.divisor

    def is_same(self, other: Unit) -> bool:
        """Return whether another unit is the same by another name."""
        return (self.si, self.factor, self.divisor) == (other.si, other.factor, other.divisor)


UNITS: Mapping[str, Unit] = {
    unit.name: unit
    for unit in (
        Unit("m", "m"),
        Unit("dm", "m", divisor=10.0),
        Unit("cm", "m", divisor=100.0),
        Unit("mm", "m", divisor=1e3),
        Unit("um", "m", divisor=1e6),
        Unit("rad", "rad"),
        Unit("mrad", "rad", divisor=1e3),
        Unit("deg", "rad", math.pi, 180.0),
        Unit("kg", "kg"),
        Unit("g", "kg", divisor=1e3),
        Unit("t", "kg", 1e3),
        Unit("s", "s"),
        Unit("ms", "s", divisor=1e3),
        Unit("us", "s", divisor=1e6),
        Unit("ns", "s", divisor=1e9),
        Unit("min", "s", 60.0),
        Unit("N", "N"),
        Unit("kN", "N", 1e3),
        Unit("N m", "N m"),
        Unit("Nm", "N m"),
        Unit("N mm", "N m", divisor=1e3),
        Unit("Nmm", "N m", divisor=1e3),
        Unit("m/rad", "m/rad"),
        Unit("mm/rad", "m/rad", divisor=1e3),
        Unit("m/s", "m/s"),
        Unit("mm/s", "m/s", divisor=1e3),
        Unit("rad/s", "rad/s"),
        Unit("deg/s", "rad/s", math.pi, 180.0),
        Unit("rpm", "rad/s", math.pi, 30.0),
        Unit("m^3", "m^3"),
        Unit("kg/m^3", "kg/m^3"),
        Unit("g/cm^3", "kg/m^3", 1e3),
        Unit("N m/A", "N m/A"),
        Unit("mN m/A", "N m/A", divisor=1e3),
        Unit("ohm", "ohm"),
        Unit("kg m", "kg m"),
        Unit("kg m^2", "kg m^2"),
        Unit("g mm^2", "kg m^2", divisor=1e9),
        Unit("kg mm^2", "kg m^2", divisor=1e6),
        Unit("g cm^2", "kg m^2", divisor=1e7),
        Unit("N m s/rad", "N m s/rad"),
        Unit("N s/m", "N s/m"),
        Unit("N m/rad", "N m/rad"),
        Unit("N/m", "N/m"),
        Unit("K", "K"),
        Unit("1/K", "1/K"),
        Unit("1", "1"),
    )
}

SPELLINGS: Mapping[str, tuple[str, ...]] = {
    "deg": ("degree", "degrees", "°", "arc_degree"),
    "rad": ("radian", "radians"),
    "m": ("metre", "meter", "metres", "meters"),
    "mm": ("millimetre", "millimeter"),
    "s": ("second", "seconds", "sec"),
    "N": ("newton", "newtons"),
    "N m": ("N.m", "N*m", "newton metre", "newton meter"),
    "1": ("", "dimensionless"),
}
"""Other spellings of units of files, as UDUNITS and others have them."""

_NAMES = {spelling: name for name, spellings in SPELLINGS.items() for spelling in spellings}


def unit_name(spelling: str) -> str:
    """Return the name that the table has for a spelling of a unit; another spelling as it is."""
    return _NAMES.get(spelling, spelling)


def check_unit(name: str, wanted: str) -> tuple[str, str] | None:
    """Check that unit `name` measures the same quantity as `wanted`: None, or the expected unit and advice.

    `wanted` is the unit of a parameter, in SI or degrees; alternatives are joined by ` or `.
    """
    alternatives = [UNITS[part].si if part in UNITS else part for part in wanted.split(" or ")]
    fitting = [unit.name for unit in UNITS.values() if unit.si in alternatives]
    if name in fitting:
        return None
    if name in UNITS:
        return f"a unit of [{wanted}]", "Known: " + ", ".join(fitting) + "."
    hint = nearest(name, fitting or UNITS)
    return "a known unit", hint[0].upper() + hint[1:] + ("" if hint.endswith("?") else ".")


def conversion(name: str, wanted: str) -> Unit:
    """Return the unit `name` with its conversion to `wanted`, the unit of a parameter: in SI, or degrees."""
    unit, target = UNITS[name], UNITS.get(wanted)
    if target is None or target.si == wanted:
        return unit
    if name == wanted:
        return Unit(name, wanted)
    return Unit(name, wanted, unit.factor * target.divisor, unit.divisor * target.factor)
