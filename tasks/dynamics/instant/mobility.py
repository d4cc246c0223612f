"""Mobility of joints: the accelerations that forces in them give, for one sample.

D = W M^-1 W^T for joints with the rates W V, where V are the rates of the freedoms and M is their mass matrix. With
the factors M = L P L^T, D = B P^-1 B^T has the rows B = W L^-T. Parallel robots have many more joints than freedoms;
then factors of a *yielding* mobility, one with a diagonal matrix added, are those of low rank
(`tasks.mathematics.low_rank`), a quarter of the operations for 42 joints and 6 freedoms.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

import numpy as np

from robots.data_classes import dataclass
from tasks.kernels.expression import Array, Scalar, Scalars
from tasks.mathematics.algebra import array, dot, from_columns
from tasks.mathematics.low_rank import LowRankFactors
from tasks.mathematics.solvers import Factors

MANY = 2
"""Joints for each freedom above which factors of low rank take fewer operations."""


class Yielding(Protocol):
    """Factors of a yielding mobility."""

    @property
    def pivots(self) -> Sequence[Scalar]:
        """Pivots (joint,): what each joint adds to those before it."""
        ...

    def solve(self, change: Array) -> np.ndarray:
        """Return the forces (joint,) that give joints accelerations (joint,)."""
        ...

    def of_joint(self, number: int) -> Scalar:
        """Return the mobility of a joint beside joints that are held by yielding forces."""
        ...

    def of_freedom(self, number: int) -> Scalar:
        """Return the same of a freedom: the acceleration that a unit force along it gives."""
        ...


@dataclass(frozen=True)
class Mobility:
    """Mobility of joints with the rates W V: the factors of M, and W (joint, freedom)."""

    mass: Factors
    rows: Array

    @property
    def is_low(self) -> bool:
        """True where joints outnumber freedoms so far that factors of low rank take fewer operations."""
        joints, freedoms = self.rows.shape
        return bool(joints > MANY * freedoms)

    @cached_property
    def through(self) -> Array:
        """Accelerations that unit forces in joints give (freedom, joint)."""
        return from_columns([self.mass.solve(row) for row in self.rows], self.rows.shape[1])

    @cached_property
    def matrix(self) -> Array:
        """D (joint, joint)."""
        if not self.is_low:
            return array(self.rows @ self.through)
        scaled = self.reduced * array(self.mass.inverse_pivots)
        result = np.zeros((len(scaled), len(scaled)), dtype=object)
        for i, j in zip(*np.tril_indices(len(scaled)), strict=True):
            result[i, j] = result[j, i] = dot(self.reduced[i], scaled[j])
        return array(result)

    @cached_property
    def reduced(self) -> Array:
        """B (joint, freedom)."""
        return array([self.mass.forward(row) for row in self.rows])

    def of_freedom(self, number: int) -> Scalar:
        """Return the acceleration that a unit force along a freedom gives to it."""
        return self.mass.quadratic(unit(number, self.rows.shape[1]))

    def accelerations(self, forces: Array) -> Array:
        """Return the accelerations (freedom,) that forces (joint,) give."""
        return self.mass.solve(self.rows.T @ forces) if self.is_low else self.through @ forces

    def times(self, forces: Array) -> Array:
        """Return D times forces (joint,): the accelerations of joints."""
        if not self.is_low:
            return self.matrix @ forces
        return self.reduced @ (array(self.mass.inverse_pivots) * (self.reduced.T @ forces))

    def yielding(self, weights: Array, share: float, compliance: Scalars) -> Yielding:
        """Return the factors of E D E + diag(share E D E + compliance), where E = diag(weights)."""
        squares = [d * w * w for d, w in zip(np.diagonal(self.matrix), weights, strict=True)]
        if self.is_low:
            diagonal = [d * share + x for d, x in zip(squares, compliance, strict=True)]
            return LowYielding.of(self, array(diagonal), weights)
        weighted = np.array(self.matrix * np.outer(weights, weights), dtype=object)
        for i, (d, x) in enumerate(zip(squares, compliance, strict=True)):
            weighted[i, i] = d * (1.0 + share) + x
        return DenseYielding(self, weights, Factors.of(array(weighted)))


def unit(number: int, size: int) -> Array:
    """Return the vector that is 1 at a number and zero elsewhere."""
    return np.eye(size)[number]


@dataclass(frozen=True)
class DenseYielding:
    """Factors of a yielding mobility of as many joints as freedoms, or some more."""

    mobility: Mobility
    weights: Array
    factors: Factors

    @property
    def pivots(self) -> Sequence[Scalar]:
        """See `Yielding`."""
        return self.factors.pivots

    def solve(self, change: Array) -> np.ndarray:
        """See `Yielding`."""
        return self.factors.solve(change)

    def of_joint(self, number: int) -> Scalar:
        """See `Yielding`."""
        row = self.mobility.matrix[number]
        return row[number] - self.factors.quadratic(row * self.weights)

    def of_freedom(self, number: int) -> Scalar:
        """See `Yielding`."""
        row = self.mobility.through[number]
        return self.mobility.of_freedom(number) - self.factors.quadratic(row * self.weights)


@dataclass(frozen=True)
class LowYielding:
    """Factors of a yielding mobility of many joints."""

    mobility: Mobility
    factors: LowRankFactors

    @classmethod
    def of(cls, mobility: Mobility, compliance: Array, weights: Array) -> LowYielding:
        """Factorise diag(compliance) + E D E."""
        rows = array(mobility.reduced * weights[:, None])
        return cls(mobility, LowRankFactors.of(compliance, rows, mobility.mass.inverse_pivots))

    @property
    def pivots(self) -> Sequence[Scalar]:
        """See `Yielding`."""
        return self.factors.pivots

    def solve(self, change: Array) -> np.ndarray:
        """See `Yielding`."""
        return self.factors.solve(change)

    def of_joint(self, number: int) -> Scalar:
        """See `Yielding`."""
        return self._left(self.mobility.reduced[number])

    def of_freedom(self, number: int) -> Scalar:
        """See `Yielding`."""
        return self._left(array(self.mobility.mass.forward(unit(number, self.mobility.rows.shape[1]))))

    def _left(self, reduced: Array) -> Scalar:
        return dot(array(reduced @ self.factors.covariance), reduced)
