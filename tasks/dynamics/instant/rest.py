"""Friction of all joints at rest as one convex problem, for one sample.

Joints at rest accelerate with s = c - D tau under their friction tau, where c is the acceleration without it and
D = W M^-1 W^T their mobility. Friction holds them up to limits, and beyond opposes the motion that begins. Gauss's
least constraint and Moreau's greatest dissipation together say that tau minimises

    tau^T D tau / 2 - c^T tau    over    -below <= tau <= above,

which is convex. D loses rank where joints depend on each other, such as joints of a loop. Accelerations are unique
nevertheless. Of all friction with these accelerations, the friction with the least sum of D_kk tau_k^2 is taken, a norm
that does not mix units. Sources: Moreau 1988, Unilateral contact and dry friction; Glocker 2001, Set-valued force laws.

A *partition* has a number for each joint: 0 if it sticks, 1 at its upper friction limit, -1 at its lower one.
`tasks.dynamics.instant.given_loads` computes the motion of a partition and takes it if it meets the conditions of the
minimum, so no result rests on the search for the partition. The partition is proposed by the iterates of a primal-dual
interior-point method with Mehrotra's corrector (`RestProblem`), which takes about ten steps for any number of joints;
each step is straight-line code. `Brake` has the forces with which sticking joints resist a motion, and the freedoms
that they leave. Source: Nocedal and Wright 2006, Numerical Optimization, section 16.6.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from robots.data_classes import dataclass
from tasks.dynamics.instant.mobility import Mobility, Yielding
from tasks.kernels.expression import Array, Scalar, Scalars
from tasks.mathematics.algebra import array, dot, sqrt, where
from tasks.mathematics.solvers import Factors

PROXIMAL = 1e-8
"""Added to the mobility of each joint, relative to it: among equals, less friction is better."""

NARROW = 1e-12
"""Widening of limits, relative to the widest: the interior must not be empty."""

BACK = 0.99
"""Share of the way to the boundary that a step goes."""

FINISHED = 1e-28
"""Product of room and pressure, relative to the square of the largest pressure, at which iterates stay as they are."""

TINY = 1e-150

NUMBERS = 5
"""Numbers of an iterate for each joint."""


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
        """Make the record from the result of `numbers`."""
        return cls(*(array(part) for part in np.split(np.array(numbers, dtype=object), NUMBERS)))

    def numbers(self) -> list[Scalar]:
        """Return the state as a flat list, NUMBERS entries for each joint."""
        parts = (self.friction, self.room_above, self.room_below, self.press_above, self.press_below)
        return [x for part in parts for x in part]

    def partition(self) -> list[Scalar]:
        """Return the partition that this point proposes: a joint is at the limit whose pressure exceeds the room."""
        rooms, presses = (self.room_above, self.room_below), (self.press_above, self.press_below)
        return [
            where(up > room_up, where(down > up, -1.0, 1.0), where(down > room_down, -1.0, 0.0))
            for room_up, room_down, up, down in zip(*rooms, *presses, strict=True)
        ]

    def product(self) -> Scalar:
        """Return the mean product of room and pressure."""
        return (self.room_above @ self.press_above + self.room_below @ self.press_below) / (2.0 * len(self.friction))

    def moved(self, change: Interior, share: Scalar) -> Interior:
        """Return the point a share of the way along a change."""
        pairs = zip(self._parts(), change._parts(), strict=True)
        return Interior(*(array(value + step * share) for value, step in pairs))

    def reach(self, change: Interior) -> Scalar:
        """Return the share of a change, at most 1, at which a room or a pressure becomes zero."""
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
    """Friction of joints at rest: `resting` is 1 for joints at rest, 0 for others, among all joints that may rest.

    `mobility` D of these joints, `change` c and limits `above` and `below` (joint,).
    """

    mobility: Mobility
    change: Array
    above: Array
    below: Array
    resting: Array

    @cached_property
    def _scales(self) -> list[Scalar]:
        """Scales that make the mobility of each joint one."""
        diagonal = np.diagonal(self.mobility.matrix)
        return [
            where(mask > 0.5, sqrt(where(mask > 0.5, d, 1.0)), 1.0)
            for d, mask in zip(diagonal, self.resting, strict=True)
        ]

    @cached_property
    def _weights(self) -> Array:
        """Factors of friction in its scale, zero for joints that are not at rest."""
        return array([mask / g for mask, g in zip(self.resting, self._scales, strict=True)])

    @cached_property
    def _own(self) -> Array:
        """Mobility of each joint by itself, in its scale."""
        return array([1.0 - mask + PROXIMAL for mask in self.resting])

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
        """Return an iterate without friction."""
        above, below = (self._box(limits) for limits in (self.above, self.below))
        up = [where(c > 0.0, c, 0.0) + self._slight(room) for c, room in zip(self._wanted, above, strict=True)]
        down = [where(c < 0.0, -c, 0.0) + self._slight(room) for c, room in zip(self._wanted, below, strict=True)]
        return Interior(np.zeros(len(up)), above, below, array(up), array(down))

    def _box(self, limits: Array) -> Array:
        limited = zip(limits, self.resting, self._scales, strict=True)
        return array([where(mask > 0.5, x * g + self._widest * NARROW, self._size) for x, mask, g in limited])

    def _slight(self, room: Scalar) -> Scalar:
        """Return the initial pressure on the inactive side, such that products with the room are alike."""
        near = room < self._size
        return where(near, self._size, self._size * (self._size / where(near, 1.0, room)))

    def following(self, now: Interior) -> Interior:
        """Return the next iterate."""
        y, up, down, weights = now.friction, now.press_above, now.press_below, self._weights
        pressed = [
            x + a / b + c / d for x, a, b, c, d in zip(self._own, up, now.room_above, down, now.room_below, strict=True)
        ]
        factors = self.mobility.yielding(weights, 0.0, pressed)
        residual = self._wanted - self.mobility.times(y * weights) * weights - self._own * y

        def change(above: Array, below: Array) -> Interior:
            """Return the change towards given products (joint,) of rooms and pressures."""
            by_up, by_down = above / now.room_above, below / now.room_below
            step = factors.solve(residual - by_up + by_down)
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
    """Return the iterate of these `numbers`, or where `fresh` (1, else 0) the `start`."""
    return Interior.of([where(fresh > 0.5, a, b) for a, b in zip(start.numbers(), numbers, strict=True)])


COMPLIANCE = 1e-10
"""Compliance of stuck joints, relative to free joints: it decides between joints that hold the same thing."""

DEPENDENT = 1e-8
"""Mobility of a joint beside those before it, relative to that without them, below which it depends on them."""

HELD = 1e-8
"""Mobility of a freedom beside stuck joints, relative to that without them, below which it may be held."""

CANCELLED = 1e-9
"""Change of a freedom, relative to the parts that cancel, below which nothing is left where it is held."""

NOTHING = 1e-300


@dataclass(frozen=True)
class Brake:
    """Effect of sticking joints, among those that may stick: their `mobility`, and which of all joints they are.

    A joint sticks if its entry of `holds` (joint that may stick,) is 1, else the entry is 0.
    """

    mobility: Mobility
    sticking: Sequence[int]
    holds: Sequence[Scalar]

    @cached_property
    def _masks(self) -> Array:
        return array(self.holds)

    @cached_property
    def diagonal(self) -> Array:
        """Mobility of each stuck joint by itself; zero for others."""
        return np.diagonal(self.mobility.matrix) * self._masks

    @cached_property
    def stiffness(self) -> Yielding:
        """Factors of the mobility of stuck joints, made regular."""
        return self.mobility.yielding(self._masks, COMPLIANCE, 1.0 - self._masks + NOTHING)

    def forces(self, change: Array) -> tuple[Array, Array]:
        """Return sticking joints' forces (joint,) that undo a change of their velocities: almost all of it, and all."""
        demanded = array([change[k] * hold for k, hold in zip(self.sticking, self.holds, strict=True)])
        first = self.stiffness.solve(demanded)
        missing = demanded - self.mobility.times(first * self._masks) * self._masks
        return first, first + self.stiffness.solve(missing)

    def least(self, holding: Array, mass: Array) -> list[Scalar]:
        """Return the friction (joint that may hold,) with the effect of `holding` and the least sum of D_kk tau_k^2.

        Where joints depend on each other, `holding` is this friction up to rounding, which compliance amplifies.
        Friction of the form W times a vector of the freedoms has no such error.
        """
        size, rows = len(mass), self.mobility.rows
        pairs = zip(self.holds, self.diagonal, strict=True)
        shares = [where(x > 0.5, 1.0 / where(x > 0.5, d, 1.0), 0.0) for x, d in pairs]
        gram, demanded = np.zeros((size, size)), np.zeros(size)
        for row, share, hold, tau in zip(rows, shares, self.holds, holding, strict=True):
            gram, demanded = gram + np.outer(row, row) * share, demanded + row * (tau * hold)
        factors = Factors.of(array(gram + mass * COMPLIANCE))
        first = factors.solve(demanded)
        turn = first + factors.solve(demanded - array(gram) @ first)
        again = (row @ turn * share for row, share in zip(rows, shares, strict=True))
        return [where(self.dependent > 0.5, a, b) for a, b in zip(again, holding, strict=True)]

    def released(self, change: Array, holding: Array) -> Array:
        """Return a change of the freedoms without the part that forces in sticking joints undo."""
        return change - self.mobility.accelerations(holding * self._masks)

    @cached_property
    def dependent(self) -> Scalar:
        """1 where joints that hold depend on each other, so that their friction is not unique."""
        result: Scalar = 0.0
        for i, (pivot, hold) in enumerate(zip(self.stiffness.pivots, self.holds, strict=True)):
            lost = pivot <= self.diagonal[i] * DEPENDENT
            result = where(hold > 0.5, where(lost, 1.0, result), result)
        return result

    @cached_property
    def held(self) -> list[Any]:
        """Masks of the freedoms: true where stuck joints hold the freedom, or almost."""
        freedoms = range(self.mobility.rows.shape[1])
        return [self.stiffness.of_freedom(i) <= self.mobility.of_freedom(i) * HELD for i in freedoms]

    def unless_held(self, change: Array, before: Array, holding: Array) -> Array:
        """Return a change of the freedoms, exactly zero where they are held: joints at rest stay to the last bit.

        `before`: the change without the forces `holding` of joints. A freedom that joints hold almost keeps its part:
        no more is left out than rounding of the numbers that cancel.
        """
        if not self.sticking:
            return change
        forces = holding * self._masks
        effect = abs(dot(forces, self.mobility.times(forces)))
        result = []
        for i, (mask, x, free) in enumerate(zip(self.held, change, before, strict=True)):
            size = abs(free) + sqrt(self.mobility.of_freedom(i) * effect)
            result.append(where(mask, where(abs(x) > CANCELLED * size, x, 0.0), x))
        return array(result)
