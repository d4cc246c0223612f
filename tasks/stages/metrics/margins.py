"""Margins to the limits of joints and actuators, for one sample: 1 in the middle of the range, 0 at its end.

A margin is negative where a limit is exceeded. Margins have no unit, so margins of joints and actuators are comparable.
A joint or an actuator without limits has the margin 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from robots.data_classes import dataclass
from robots.formulas import as_row
from robots.limits import Capacity, Limits
from tasks.kernels.expression import Array, Scalar
from tasks.mathematics.algebra import where

MARGINS = ("margin", "rate_margin")
"""Least margins of a limb: to ranges of positions, to largest rates."""


@dataclass(frozen=True)
class LimbLimits:
    """Numbers in `Limb.joints` of the joints of a limb with a range of positions, and of joints with a largest rate.

    Their values are the case input `limits`: low and high of each range, then the rates.
    """

    positions: tuple[int, ...] = ()
    rates: tuple[int, ...] = ()

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the case input."""
        return (2 * len(self.positions) + len(self.rates),)

    @property
    def margins(self) -> tuple[str, ...]:
        """Names of the margins that a limb with these limits gives beside its share."""
        return tuple(name for name, joints in zip(MARGINS, (self.positions, self.rates), strict=True) if joints)

    def shares(self, values: Array, positions: Sequence[Scalar], rates: Sequence[Scalar]) -> dict[str, list[Scalar]]:
        """Return the least margin to a range of position, and to a largest rate, over a limb's joints, (1,) each."""
        result: dict[str, list[Scalar]] = {}
        ends, most = values[: 2 * len(self.positions)], values[2 * len(self.positions) :]
        if self.positions:
            each = [within(positions[i], ends[2 * k], ends[2 * k + 1]) for k, i in enumerate(self.positions)]
            result["margin"] = [least(each)]
        if self.rates:
            result["rate_margin"] = [least([left(rates[i], most[k]) for k, i in enumerate(self.rates)])]
        return result


NOTHING = LimbLimits()


def of_limb(limits: Limits, limb: int) -> tuple[LimbLimits, np.ndarray]:
    """Return the limits of limb number `limb` of the robot, and its case input `limits` (1, numbers)."""
    limits_of_joints = limits.of_limb(limb)
    ranges = {joint: limit for joint, limit in limits_of_joints.items() if limit.ends}
    rates = {joint: limit for joint, limit in limits_of_joints.items() if math.isfinite(limit.velocity)}
    numbers = [end for limit in ranges.values() for end in (limit.low, limit.high)]
    numbers += [limit.velocity for limit in rates.values()]
    return LimbLimits(tuple(ranges), tuple(rates)), as_row(numbers)


def capacities(limits: Limits, actuators: int) -> np.ndarray:
    """Return the case input `capacity` (1, 3 actuators): force, velocity, power of each; infinite where unlimited."""
    rows = [limits.actuators.get(k, Capacity()) for k in range(actuators)]
    return as_row(x for row in rows for x in (row.force, row.velocity, row.power))


def motor_capacities(limits: Limits, actuators: int) -> np.ndarray:
    """Return case input `motor_capacity` (1, 3 actuators): current, voltage, rated current; infinite if unlimited."""
    rows = [limits.actuators.get(k, Capacity()) for k in range(actuators)]
    return as_row(x for row in rows for x in (row.current, row.voltage, row.rated_current))


def within(position: Scalar, low: Scalar, high: Scalar) -> Scalar:
    """Return the distance to the nearer end of a range, in halves of its length."""
    return least([position - low, high - position]) / ((high - low) * 0.5)


def left(value: Scalar, most: Scalar) -> Scalar:
    """Compute the margin of a value to its largest size, as a share of that size."""
    return 1.0 - abs(value) / most


def least(values: Sequence[Scalar]) -> Scalar:
    """Return the least of some numbers."""
    result = values[0]
    for value in values[1:]:
        result = where(value < result, value, result)
    return result
