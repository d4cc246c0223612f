"""Numbers as engineers write them."""

from __future__ import annotations

import numpy as np
import pytest

from applications.report.data.display import in_series, quantity, rounded, unit_of


@pytest.mark.parametrize(
    ("value", "units", "text"),
    [
        (0.350, "m", "350 mm"),
        (1.2071, "m", "1.21 m"),
        (2.5e-5, "m", "25 µm"),
        (7.7e-5, "kg m^2", "0.77 kg cm²"),
        (0.25, "kg m^2", "0.25 kg m²"),
        (1234.5, "N m", "1.23 kN m"),
        (0.755, "N m", "0.755 N m"),
        (3.2e-2, "N m", "32 mN m"),
        (118.46, "J", "118 J"),
        (0.3, "s", "0.3 s"),
        (0.03, "s", "30 ms"),
        (2.4e6, "N/m", "2.4 MN/m"),
        (0.5, "rad", "28.6 °"),
        (72.48, "rad/s", "72.5 rad/s"),
        (0.045, "kg", "45 g"),
        (6.0, "kg", "6 kg"),
        (0.0, "m", "0 m"),
        (2.44, "1", "2.44"),
        (999.7, "N", "1 kN"),
        (float("nan"), "N", "no number"),
        (-0.35, "m", "-350 mm"),
    ],
)
def test_a_number_has_the_unit_that_suits_it(value: float, units: str, text: str) -> None:
    assert quantity(value, units) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (12.345, "12.3"), (1234.5, "1\u202f234"), (0.00012345, "0.000123"), (1.5e-7, "1.5e-7"), (3e9, "3e9")],
)
def test_numbers_are_rounded_to_three_digits(value: float, text: str) -> None:
    assert rounded(value) == text


def test_a_column_has_one_unit() -> None:
    unit = unit_of("m", np.array([0.05, 0.35, 1.2, np.nan, 0.0]))
    assert [unit.text(x) for x in (0.05, 1.2)] == ["50 mm", "1\u202f200 mm"]


def test_words_stand_in_series() -> None:
    assert [in_series("abc"[:count]) for count in range(4)] == ["", "a", "a and b", "a, b and c"]
