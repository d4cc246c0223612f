"""How far a redundant chain is from a posture: slopes and curvature of the distance along the joints that are free.

All joints are theta(x, s), with the columns H_s of the embedding; the distance from the posture p, with weights W, is
least where g = H_s^T W (theta - p) = 0 and A = dg/ds is positive definite. Second derivatives of theta are those of the
drift, which is bilinear in the rates; third ones are traced values differentiated.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tasks.kernels.expression import Dual
from tasks.kernels.tangent import tangent
from tasks.kernels.types import ZERO, Array, Mask, Scalar
from tasks.mathematics.algebra import array, either, every, inverse, where
from tasks.mechanics.redundant.free import FreeJoints

FLAT = Dual(1e-6, 1e-3)
"""Pivot of A, relative to that of H_s^T W H_s, up to which the distance has no minimum."""


@dataclass(frozen=True)
class Departure(FreeJoints):
    """How far joints are from a posture."""

    weights: Array
    distance: Array

    @cached_property
    def slopes(self) -> Array:
        """g (resolved,)."""
        return array([self.distance @ way for way in self.ways])

    def along(self, rates: Array) -> Array:
        """How g changes where joints have these rates, which need not close the loops."""
        return array([(self.weights * rates) @ way + self.distance @ self.bent(way, rates) for way in self.ways])

    @cached_property
    def curvature(self) -> Array:
        """A (resolved, resolved)."""
        return array(np.stack([self.along(way) for way in self.ways], axis=1))

    @cached_property
    def stiffness(self) -> Array:
        """H_s^T W H_s, which is A without curvature of the ways."""
        return array([[(self.weights * one) @ other for other in self.ways] for one in self.ways])

    @cached_property
    def regular(self) -> Mask:
        """Whether A is positive definite, by its pivots."""
        pairs = zip(pivots(self.curvature), pivots(self.stiffness), strict=True)
        return every([pivot > FLAT * size for pivot, size in pairs])

    @cached_property
    def answer(self) -> Array:
        """The inverse of A; where that leads to no minimum, of what leads downhill; zero where nothing does."""
        unit, shape = np.eye(len(self.ways)), self.curvature.shape
        firm = every([pivot > 0.0 for pivot in pivots(self.stiffness)])
        triples = zip(self.curvature.ravel(), self.stiffness.ravel(), unit.ravel(), strict=True)
        chosen = [where(self.regular, curved, where(firm, stiff, one)) for curved, stiff, one in triples]
        back = inverse(array(chosen).reshape(shape))
        known = either(self.regular, firm)
        return array([where(known, value, 0.0) for value in back.ravel()]).reshape(shape)

    def step(self, caused: Array | None, aimed: Array) -> Array:
        """Newton's step of the resolved joints, where joints move by `caused` besides."""
        slopes = self.slopes if caused is None else self.slopes + self.along(caused)
        return -(self.answer @ slopes)

    def rates(self, stated: Array, wanted: Array) -> Array:
        """s' from rates of the independent joints, zero where they are resolved."""
        return -(self.answer @ self.along(self.tree(stated)))

    def accelerations(self, rates: Array, resolved: Array, stated: Array, wanted: Array) -> Array:
        """s'' from rates and accelerations of the independent joints, zero where they are resolved, and s'."""
        return -(self.answer @ self.bending(rates, resolved, stated))

    def bending(self, rates: Array, resolved: Array, stated: Array, pulled: Array | None = None) -> Array:
        """The second derivative of g at s'' = 0; `pulled` is how the distance changes beside what the motion does."""
        free = self.tree(rates)
        moving = free + self.moved(resolved)
        drift, slopes = self.embedding.drift(moving), self.along(self.tree(stated))
        parts = [(share, self.bent(one, other)) for share, one, other in self.pairs(free, resolved)]
        result = []
        for way, value in zip(self.ways, slopes, strict=True):
            seeds = self.seeds(way)
            change = sum((array(tangent(list(part), seeds)) * share for share, part in parts), start=ZERO)
            changed = self.weights * moving if pulled is None else self.weights * moving + pulled
            direct = (self.weights * drift) @ way + changed @ self.bent(way, moving) * 2.0
            result.append(value + direct + self.distance @ change)
        return array(result)


def pivots(matrix: Array) -> list[Scalar]:
    """Pivots of a symmetric matrix without exchanges, in their order."""
    rest, result = [list(row) for row in matrix], []
    for k in range(len(rest)):
        pivot = rest[k][k]
        result.append(pivot)
        for i in range(k + 1, len(rest)):
            share = rest[i][k] / pivot
            for j in range(k + 1, len(rest)):
                rest[i][j] = rest[i][j] - share * rest[k][j]
    return result
