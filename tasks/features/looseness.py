"""Clearances of the parts of a limb, and their effects at the platform, for one sample.

Clearances of joints and backlash of drives are bounded offsets, to first order. An offset e of a part moves the
platform by A e. If e may be anywhere in a ball of radius c, the platform moves along n by at most c |A^T n|: an
interval is a ball of one component, a radial clearance a ball of two. Offsets of parts are independent, so that their
bounds add up. `tasks.dynamics.clearance_error` is the function on arrays, which also finds the worst direction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import numpy as np

from robots.data_classes import dataclass
from tasks.kernels.expression import Array, Scalar
from tasks.mathematics.algebra import array, sqrt, where


@dataclass(frozen=True)
class LimbLooseness:
    """Loose parts of a limb: actuators, and joints with the components of their offset. Hashable.

    Bounds are a case input, `clearances`.
    """

    actuators: tuple[int, ...] = ()
    joints: tuple[tuple[int, tuple[int, ...]], ...] = ()

    @property
    def size(self) -> int:
        """Length of the case input: a bound for each ball."""
        return len(self.actuators) + len(self.joints)

    @property
    def components(self) -> list[int]:
        """Number of components of each ball."""
        return [1] * len(self.actuators) + [len(components) for _, components in self.joints]

    def balls(self, rows: Array) -> Iterator[Array]:
        """Return the rows of each ball, from the rows of all balls."""
        ends = np.cumsum([0, *self.components])
        return (rows[start:end] for start, end in pairwise(ends))


@dataclass(frozen=True)
class LooseParts:
    """Loose parts of a limb, and their bounds."""

    parts: LimbLooseness
    bounds: Array

    def rows(self, at_joint: Callable[[int], list[Array]], count: int) -> Array:
        """Return the wrenches in the loose parts times their bounds (component, unit), for each of `count` units.

        `at_joint` gives the six rows of wrenches in a joint, see `tasks.features.compliance.Parts`.
        """
        bounds, result = iter(self.bounds), []
        for actuator in self.parts.actuators:
            result.append(np.eye(count)[actuator] * next(bounds))
        for joint, components in self.parts.joints:
            six, bound = at_joint(joint), next(bounds)
            result += [six[component] * bound for component in components]
        return array(np.stack(result)) if result else np.zeros((0, count))


def reach(balls: Sequence[Array], direction: Array) -> Scalar:
    """Return the distance that balls reach along a direction together.

    Each ball has rows over the components of a displacement.
    """
    return sum((_length(array(ball @ direction)) for ball in balls), start=0.0)


def _length(vector: Array) -> Scalar:
    """Return the length of a vector; where the length is zero, its derivative is zero too."""
    if len(vector) == 1:
        return abs(vector[0])
    square = sum((x * x for x in vector), start=0.0)
    return where(square > 0.0, sqrt(where(square > 0.0, square, 1.0)), square)
