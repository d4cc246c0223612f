"""Named parameters: the numbers that a user may set or sweep, with unit, default, bounds and source."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Self

from robots.data_classes import dataclass
from robots.parameter_errors import ParameterError, nearest

LARGEST = 1e12
"""Largest size of a number of a machine. A larger one is a typing error, and its squares and products may leave the
range of doubles. It bounds every parameter that has no bounds of its own."""

DEVIATION = "_deviation"
"""Suffix of the name of the deviation of a parameter within its tolerance."""


EITHER = " or "
"""Separator between the unit of a revolute joint and the unit of a prismatic joint."""


def unit_of(unit: str, turns: Iterable[bool]) -> str:
    """Return the unit for joints that turn or slide: one of the two in `unit`, or both for joints of both kinds."""
    both, kinds = unit.split(EITHER), {*turns}
    return both[0 if kinds.pop() else 1] if len(both) == 2 and len(kinds) == 1 else unit


@dataclass(frozen=True)
class Parameter:
    """One number of a robot, a friction law or a motion.

    `lower` and `upper` are its bounds, both included; `shape` is `()` for a scalar and `(3,)` for a vector.
    """

    name: str
    unit: str
    default: float | tuple[float, ...]
    lower: float = -LARGEST
    upper: float = LARGEST
    text: str = ""
    source: str = ""

    @classmethod
    def length(cls, name: str, default: float, text: str, source: str, *, lower: float | None = None) -> Self:
        """Return a length of up to 100 m; at least a millimetre, for thin parts a thousandth of the default."""
        least = min(1e-3, 1e-3 * default) if lower is None else lower
        return cls(name, "m", default, least, 1e2, text, source)

    @classmethod
    def mass(cls, name: str, default: float, text: str, source: str) -> Self:
        """Return a mass from a milligram to 1000 t."""
        return cls(name, "kg", default, 1e-6, 1e6, text, source)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of a value of this parameter."""
        return (len(self.default),) if isinstance(self.default, tuple) else ()

    @property
    def scalar(self) -> float:
        """The default of a scalar parameter."""
        assert not isinstance(self.default, tuple), f"{self.name} is a vector"
        return self.default

    @property
    def bounds(self) -> str:
        """The rule for a value, in words."""
        if self.lower <= -LARGEST and self.upper >= LARGEST:
            return f"a finite number of at most {LARGEST:g} in size [{self.unit}]"
        return f"a number in [{self.lower:g}, {self.upper:g}] {self.unit}".rstrip()

    def problem(self, value: float) -> str | None:
        """Return the reason why `value` is not allowed; None if it is allowed."""
        if not math.isfinite(value):
            return "is not finite"
        if not self.lower <= value <= self.upper:
            return f"is outside [{self.lower:g}, {self.upper:g}] {self.unit}".rstrip()
        return None


def complete(parameters: Iterable[Parameter], values: Mapping[str, float], *, owner: str) -> dict[str, float]:
    """Return all scalar `parameters` of `owner` in their order: the checked `values`, and defaults for the others.

    Raises ParameterError for an unknown name or a value that is out of bounds.
    """
    table = {parameter.name: parameter for parameter in parameters}
    for name in values:
        if name not in table:
            raise ParameterError(f"{owner} has no parameter {name!r}; {nearest(name, table)}")
    result = {}
    for name, parameter in table.items():
        try:
            result[name] = float(values.get(name, parameter.scalar))
        except (TypeError, ValueError, OverflowError):
            got = f"{owner}: {name}: got {values[name]!r}"
            raise ParameterError(f"{got}; expected {table[name].bounds}") from None
    for name, value in result.items():
        if problem := table[name].problem(value):
            raise ParameterError(f"{owner}: {name} = {value!r} {problem}; expected {table[name].bounds}")
    return result
