"""Friction of all joints at rest as one convex problem, for one sample.

Joints at rest accelerate with s = c - D tau under their friction tau, where c is what they would do without it and
D = W M^-1 W^T their mobility. Friction holds them up to limits, and beyond opposes the motion that begins. Gauss's
least constraint and Moreau's greatest dissipation together say that tau minimises

    tau^T D tau / 2 - c^T tau    over    -below <= tau <= above,

which is convex. D loses rank where joints depend on each other, as those of a loop do: accelerations are unique
nevertheless; of all friction with these accelerations, that of the least sum of D_kk tau_k^2 is taken, a norm that
does not mix units. Sources: Moreau 1988, Unilateral contact and dry friction; Glocker 2001, Set-valued force laws.

A *partition* says of each joint whether it holds (0), or is at its limit above (1) or below (-1). What it leads to is
computed by `tasks.motion.instant.loaded`, and taken where it meets the conditions of the minimum: no result rests on
how the partition was found. It is proposed by the iterates of a primal-dual interior-point method with Mehrotra's
corrector, which takes about ten steps whatever the number of joints, and each step is straight-line code. Source:
Nocedal and Wright 2006, Numerical Optimization, section 16.6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tasks.kernels.types import Array, Scalar, Scalars
from tasks.mathematics.algebra import array, sqrt, where
from tasks.mathematics.symmetric import Factors

PROXIMAL = 1e-8
"""Added to the mobility of each joint, relative to it: among equals, less friction is better."""

NARROW = 1e-12
"""What limits are widened by, relative to the widest: the interior must not be empty."""

BACK = 0.99
"""Share of the way to the boundary that a step goes."""

FINISHED = 1e-28
"""Product of room and pressure, relative to the square of the largest pressure, at which iterates stay as they are."""

TINY = 1e-150

NUMBERS = 5
"""Of an iterate for each joint."""


@dataclass(frozen=True)
class Interior:
    """An iterate: friction, room to the limits above and below, and the pressure on each, all (joint,) and scaled."""

    friction: Array
    room_above: Array
    room_below: Array
    press_above: Array
    press_below: Array

    @classmethod
    def of(cls, numbers: Scalars) -> Interior:
        """From what `numbers` gives."""
        return cls(*(array(part) for part in np.split(np.array(numbers, dtype=object), NUMBERS)))

    def numbers(self) -> list[Scalar]:
        """All of it, NUMBERS for each joint."""
        parts = (self.friction, self.room_above, self.room_below, self.press_above, self.press_below)
        return [x for part in parts for x in part]

    def partition(self) -> list[Scalar]:
        """The partition that it proposes: a joint is at the limit whose pressure has become greater than the room."""
        rooms, presses = (self.room_above, self.room_below), (self.press_above, self.press_below)
        return [
            where(up > room_up, where(down > up, -1.0, 1.0), where(down > room_down, -1.0, 0.0))
            for room_up, room_down, up, down in zip(*rooms, *presses, strict=True)
        ]

    def product(self) -> Scalar:
        """Mean product of room and pressure."""
        return (self.room_above @ self.press_above + self.room_below @ self.press_below) / (2.0 * len(self.friction))

    def moved(self, change: Interior, share: Scalar) -> Interior:
        """A share of the way along a change."""
        pairs = zip(self._parts(), change._parts(), strict=True)
        return Interior(*(array(value + step * share) for value, step in pairs))

    def reach(self, change: Interior) -> Scalar:
        """The share of a change, at most 1, at which a room or a pressure is gone."""
        result: Scalar = 1.0
        for values, steps in zip(self._parts()[1:], change._parts()[1:], strict=True):
            for value, step in zip(values, steps, strict=True):
                gone = value + step * result < 0.0
                result = where(gone, -value / where(gone, step, -1.0), result)
        return result

    def _parts(self) -> tuple[Array, ...]:
        return self.friction, self.room_above, self.room_below, self.press_above, self.press_below


@dataclass(frozen=True)
class RestProblem:
    """Friction of the joints that are `resting` (1, of others 0), among those that may rest.

    `mobility` D (joint, joint), `change` c and limits `above` and `below` (joint,).
    """

    mobility: Array
    change: Array
    above: Array
    below: Array
    resting: Array

    @cached_property
    def _scales(self) -> list[Scalar]:
        """What makes the mobility of each joint one."""
        return [
            where(mask > 0.5, sqrt(where(mask > 0.5, self.mobility[k, k], 1.0)), 1.0)
            for k, mask in enumerate(self.resting)
        ]

    @cached_property
    def _matrix(self) -> Array:
        size = len(self.change)
        result = np.array(np.eye(size) * (1.0 + PROXIMAL), dtype=object)
        for i in range(size):
            for j in range(i):
                both = self.resting[i] * self.resting[j]
                result[i, j] = result[j, i] = self.mobility[i, j] * both / (self._scales[i] * self._scales[j])
        return array(result)

    @cached_property
    def _wanted(self) -> Array:
        return array([c * mask / g for c, mask, g in zip(self.change, self.resting, self._scales, strict=True)])

    @cached_property
    def _size(self) -> Scalar:
        result: Scalar = TINY
        for value in self._wanted:
            result = where(abs(value) > result, abs(value), result)
        return result

    @cached_property
    def _widest(self) -> Scalar:
        result: Scalar = 0.0
        for limits in (self.above, self.below):
            for x, mask, g in zip(limits, self.resting, self._scales, strict=True):
                wide = x * g * mask
                result = where(wide > result, wide, result)
        return where(result > 0.0, result, self._size)

    def start(self) -> Interior:
        """An iterate without friction."""
        above, below = (self._box(limits) for limits in (self.above, self.below))
        up = [where(c > 0.0, c, 0.0) + self._slight(room) for c, room in zip(self._wanted, above, strict=True)]
        down = [where(c < 0.0, -c, 0.0) + self._slight(room) for c, room in zip(self._wanted, below, strict=True)]
        return Interior(np.zeros(len(up)), above, below, array(up), array(down))

    def _box(self, limits: Array) -> Array:
        limited = zip(limits, self.resting, self._scales, strict=True)
        return array([where(mask > 0.5, x * g + self._widest * NARROW, self._size) for x, mask, g in limited])

    def _slight(self, room: Scalar) -> Scalar:
        """A pressure where there is none: such that products with the room are alike."""
        near = room < self._size
        return where(near, self._size, self._size * (self._size / where(near, 1.0, room)))

    def following(self, now: Interior) -> Interior:
        """The next iterate."""
        y, up, down = now.friction, now.press_above, now.press_below
        matrix = np.array(self._matrix, dtype=object)
        for k in range(len(y)):
            matrix[k, k] = matrix[k, k] + up[k] / now.room_above[k] + down[k] / now.room_below[k]
        factors, left = Factors.of(array(matrix)), self._wanted - self._matrix @ y

        def change(above: Array, below: Array) -> Interior:
            """Towards products of rooms and pressures that are these (joint,)."""
            by_up, by_down = above / now.room_above, below / now.room_below
            step = factors.solve(left - by_up + by_down)
            press_up = up * step / now.room_above + by_up - up
            press_down = by_down - down * step / now.room_below - down
            return Interior(step, -step, step, array(press_up), array(press_down))

        none = np.zeros(len(y))
        first, product = change(none, none), now.product()
        ahead = now.moved(first, now.reach(first)).product() / product
        wanted = array([product * ahead * ahead * ahead] * len(y))
        second = change(wanted - first.room_above * first.press_above, wanted - first.room_below * first.press_below)
        going = product > FINISHED * self._size * self._size
        return now.moved(second, where(going, now.reach(second) * BACK, 0.0))


def chosen(fresh: Scalar, start: Interior, numbers: Sequence[Scalar]) -> Interior:
    """The iterate of these `numbers`, or where `fresh` (1, else 0) the `start`."""
    return Interior.of([where(fresh > 0.5, a, b) for a, b in zip(start.numbers(), numbers, strict=True)])
