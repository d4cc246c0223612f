from __future__ import annotations

import math

import pytest

from pipeline.documents.units import UNITS, check_unit
from pipeline.errors import size
from robots.catalog import FAMILIES
from robots.friction.laws import LAWS
from robots.trajectories.kinds import MOTIONS


def test_conversion_gives_the_nearest_double() -> None:
    assert UNITS["mm"].to_si(150) == 0.15
    assert UNITS["um"].to_si(3) == 3e-6
    assert UNITS["deg"].to_si(180) == math.pi
    assert UNITS["g/cm^3"].to_si(2.7) == 2700.0


@pytest.mark.parametrize(
    ("unit", "wanted", "expected", "hint"),
    [
        ("deg", "m", "a unit of [m]", "Known: m, dm, cm, mm, um."),
        ("degres", "rad", "a known unit", "Did you mean 'deg'?"),
        ("Nm", "N m or N", "", ""),
        ("N", "N m or N", "", ""),
    ],
)
def test_units_are_checked_against_what_a_parameter_measures(unit: str, wanted: str, expected: str, hint: str) -> None:
    assert check_unit(unit, wanted) == ((expected, hint) if expected else None)


def test_every_unit_of_a_parameter_is_in_the_table() -> None:
    tables = [each.parameters for each in (*FAMILIES.values(), *LAWS.values(), *MOTIONS.values())]
    tables += [law.options for law in LAWS.values()]
    units = {unit for table in tables for parameter in table for unit in parameter.unit.split(" or ")}
    assert units - set(UNITS) == set()


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1 KiB"), (3 << 19, "1.5 MiB"), (5 << 30, "5 GiB"), (7 << 40, "7 TiB")],
)
def test_bytes_have_binary_prefixes(number: int, text: str) -> None:
    assert size(number) == text
