"""Numbers of loads that follow from the state: their fields, names in their expressions, tables over expressions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from robots.data_classes import dataclass, field
from robots.expressions.parser import chosen
from robots.types import Number

JOINT_PREFIXES = ("q_", "qd_")
"""Beginnings of names of positions and rates of joints of the limb."""

Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class StateNames:
    """Numbers of a kind of load that may follow from the state, and names in their expressions beside joints."""

    fields: tuple[str, ...]
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class TabulatedNumber:
    """A table: linear between its points, held beyond its ends, times a scale.

    Its argument is a name, an expression, or a number or symbol.
    """

    points: Points
    argument: Number
    scale: Number = 1.0

    def __call__(self, values: Mapping[str, Number]) -> Number:
        """Return the number for values of all names of the argument."""
        at = self.argument(values) if callable(self.argument) else self.argument
        if isinstance(at, str):
            at = values[at]
        (first, low), *higher = self.points
        result: Number = higher[-1][1] if higher else low
        for (x, y), (end, top) in reversed([*zip(self.points, self.points[1:], strict=False)]):
            result = chosen(at < end, y + (at - x) * ((top - y) / (end - x)), result)
        return chosen(at < first, low, result) * self.scale


def joint_state_names(joints: Iterable[str]) -> set[str]:
    """Return the names by which loads on a limb know the state of its joints."""
    return {prefix + joint for joint in joints for prefix in JOINT_PREFIXES}
