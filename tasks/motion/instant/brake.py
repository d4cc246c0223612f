"""Joints that hold, for one sample: the forces with which they take back a motion, and what they leave free."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tasks.kernels.types import Array, Scalar
from tasks.mathematics.algebra import array, from_columns, where
from tasks.mathematics.symmetric import Factors

COMPLIANCE = 1e-10
"""What stuck joints give way, relative to being free: it decides between joints that hold the same thing."""

DEPENDENT = 1e-8
"""Mobility of a joint beside those before it, relative to that without them, below which it depends on them."""

HELD = 1e-8
"""Mobility of a freedom beside stuck joints, relative to that without them, below which it is held."""

NOTHING = 1e-300


@dataclass(frozen=True)
class Brake:
    """What joints that hold do: `factors` gives those of the mass matrix, `rows` W is of all joints with friction.

    Of those, `sticking` may hold, and those do whose `holds` (joint that may hold,) is 1, else 0. The mass matrix is
    asked for only where there are any: that of a tree takes much longer to trace than its motion.
    """

    factors: Callable[[], Factors]
    rows: Array
    sticking: Sequence[int]
    holds: Sequence[Scalar]

    @cached_property
    def through(self) -> Array:
        """Accelerations that unit forces in sticking joints give (freedom, sticking joint), zero of others."""
        columns = [self.factors().solve(self.rows[k]) * hold for k, hold in zip(self.sticking, self.holds, strict=True)]
        return from_columns(columns, self.rows.shape[1])

    @cached_property
    def mobility(self) -> Array:
        """Of stuck joints among themselves, W_S M^-1 W_S^T; zero for others."""
        size = len(self.sticking)
        mask = np.array(self.holds, dtype=object).reshape(size, 1)
        return array(mask * (self.rows[np.array(self.sticking, dtype=int)] @ self.through))

    @cached_property
    def stiffness(self) -> Factors:
        """Of that mobility, made regular."""
        regular = np.array(self.mobility, dtype=object)
        for i, hold in enumerate(self.holds):
            regular[i, i] = regular[i, i] * (1.0 + COMPLIANCE) + (1.0 - hold) + NOTHING
        return Factors.of(array(regular))

    def forces(self, change: Array) -> tuple[Array, Array]:
        """Forces in sticking joints that take back a change (joint,) of their velocities: all but a little, and all."""
        wanted = array([change[k] * hold for k, hold in zip(self.sticking, self.holds, strict=True)])
        first = self.stiffness.solve(wanted)
        return first, first + self.stiffness.solve(wanted - self.mobility @ first)

    def least(self, holding: Array, mass: Array) -> list[Scalar]:
        """The friction (joint that may hold,) that does what `holding` does, of least sum of D_kk tau_k^2.

        Where joints depend on each other, `holding` has that already but for rounding, which compliance makes great.
        Friction that is W times something of the freedoms has none of it.
        """
        size, rows = len(mass), [self.rows[k] for k in self.sticking]
        diagonal = np.diagonal(self.mobility)
        shares = [where(x > 0.5, 1.0 / where(x > 0.5, d, 1.0), 0.0) for x, d in zip(self.holds, diagonal, strict=True)]
        gram, wanted = np.zeros((size, size)), np.zeros(size)
        for row, share, hold, tau in zip(rows, shares, self.holds, holding, strict=True):
            gram, wanted = gram + np.outer(row, row) * share, wanted + row * (tau * hold)
        factors = Factors.of(array(gram + mass * COMPLIANCE))
        first = factors.solve(wanted)
        turn = first + factors.solve(wanted - array(gram) @ first)
        again = (row @ turn * share for row, share in zip(rows, shares, strict=True))
        return [where(self.dependent > 0.5, a, b) for a, b in zip(again, holding, strict=True)]

    def released(self, change: Array, holding: Array) -> Array:
        """A change of the freedoms less what forces in sticking joints take back."""
        return change - self.through @ holding

    @cached_property
    def dependent(self) -> Scalar:
        """1 where joints that hold depend on each other, so that their friction is not unique."""
        result: Scalar = 0.0
        for i, (pivot, hold) in enumerate(zip(self.stiffness.pivots, self.holds, strict=True)):
            lost = pivot <= self.mobility[i, i] * DEPENDENT
            result = where(hold > 0.5, where(lost, 1.0, result), result)
        return result

    @cached_property
    def held(self) -> list[Any]:
        """Whether each freedom is held by stuck joints."""
        free = self.rows.shape[1]
        loose = [self.factors().quadratic(unit) for unit in np.eye(free)]
        left = [loose[i] - self.stiffness.quadratic(self.through[i]) for i in range(free)]
        return [a <= b * HELD for a, b in zip(left, loose, strict=True)]

    def unless_held(self, change: Array) -> Array:
        """A change of the freedoms, exactly zero where they are held: what is at rest stays there to the last bit."""
        if not self.sticking:
            return change
        return array([where(mask, 0.0, x) for mask, x in zip(self.held, change, strict=True)])
