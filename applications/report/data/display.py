"""Numbers as engineers write them: rounded, with a unit of a size that suits them: 350 mm, 1.2 kN m, 0.57 kg cm².

A column has one unit for all of its numbers, by its usual size, so that they can be compared.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from robots.data_classes import dataclass

Array = NDArray[np.float64]

DIGITS = 3
"""Significant digits of rounded numbers."""

PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"))
WHOLE = 0.1
"""Numbers without a prefix may be as small as this: 0.42 s, 0.755 N m."""

PREFIXED = frozenset(("N", "N m", "J", "W", "V", "A", "Hz", "s", "Pa", "N/m", "N m/rad", "W/s", "N s", "ohm"))
"""Units that take any prefix."""

STEPS: Mapping[str, tuple[tuple[float, float, str], ...]] = {
    "m": ((1e3, 1e-3, "km"), (1.0, 1.0, "m"), (1e-3, 1e3, "mm"), (1e-6, 1e6, "µm"), (0.0, 1e9, "nm")),
    "kg": ((0.1, 1.0, "kg"), (0.0, 1e3, "g")),
    "kg m^2": ((0.05, 1.0, "kg m²"), (1e-6, 1e4, "kg cm²"), (0.0, 1e7, "g cm²")),
    "m/s": ((0.1, 1.0, "m/s"), (0.0, 1e3, "mm/s")),
    "rad": ((2e-3, 180.0 / math.pi, "°"), (0.0, 1e3, "mrad")),
    "rad/s": ((0.0, 1.0, "rad/s"),),
    "1": ((0.0, 1.0, ""),),
}
"""Units to write by unit: the size from which on, the factor, and the unit. Other units are written as they are."""


@dataclass(frozen=True)
class DisplayUnit:
    """Unit for the display of numbers: factor from SI, and the unit text behind the number."""

    factor: float
    unit: str

    def number(self, value: float) -> str:
        """Return the number alone, rounded."""
        return rounded(value * self.factor)

    def text(self, value: float) -> str:
        """Return the number and unit."""
        return f"{self.number(value)} {self.unit}".strip() if math.isfinite(value) else "no number"


def display_unit(units: str, size: float) -> DisplayUnit:
    """Return the unit for numbers in SI of about a size; without a size, as they are."""
    size = abs(size)
    if units in STEPS and math.isfinite(size) and size > 0.0:
        return next(DisplayUnit(factor, unit) for least, factor, unit in STEPS[units] if size >= least)
    if units in PREFIXED and math.isfinite(size) and size > 0.0:
        least = ((scale * (WHOLE if scale == 1.0 else 0.9995), scale, prefix) for scale, prefix in PREFIXES)
        _, scale, prefix = next((row for row in least if size >= row[0]), (0.0, *PREFIXES[-1]))
        return DisplayUnit(1.0 / scale, f"{prefix}{'Ω' if units == 'ohm' else units}")
    plain = units.replace("^2", "²").replace("^3", "³").replace("ohm", "Ω")
    return DisplayUnit(1.0, "" if plain == "1" else plain)


def unit_of(units: str, values: Array) -> DisplayUnit:
    """Return the unit for a column, by the median of the sizes of its numbers that are not zero."""
    sizes = np.abs(values[np.isfinite(values) & (values != 0.0)])
    return display_unit(units, float(np.median(sizes)) if len(sizes) else 0.0)


def rounded(value: float, digits: int = DIGITS) -> str:
    """Return a number with `digits` digits, without an exponent where possible: 0.57, 12.4, 1 270, 3.1e-07."""
    if not math.isfinite(value):
        return "no number"
    if value == 0.0:
        return "0"
    if not 1e-4 <= abs(value) < 1e7:
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"
    places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{places}f}".replace(",", "\u202f")
    return text.rstrip("0").rstrip(".") if places else text


def percent(share: float) -> str:
    """Return a share in percent, rounded, in which no line is broken."""
    return f"{rounded(100.0 * share, 2)}\N{NO-BREAK SPACE}%"


def in_series(words: Sequence[str]) -> str:
    """Return words one after another: a, b and c."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def with_error(value: float, error: float) -> str:
    """Return a number with the digits that its error allows: 0.31 ± 0.02; shares have at most three digits."""
    places = int(np.clip(-math.floor(math.log10(error)), 0, DIGITS)) if error > 0.0 else DIGITS
    return f"{value:.{places}f} ± {error:.{places}f}" if error >= 0.5 * 10.0**-DIGITS else f"{value:.{DIGITS}f}"


def with_unit(words: str, unit: str) -> str:
    """Return the words and a unit in brackets, with no line break inside the brackets."""
    return f"{words} [{unit.replace(' ', chr(0xA0))}]" if unit else words


def quantity(value: float, units: str) -> str:
    """Return a single number in SI with the unit that suits it."""
    return display_unit(units, value).text(value)
