"""Tasks of a redundant chain at one configuration: joints that are free are where conditions on all joints hold.

All joints are theta(x, s), with the columns H_s of the embedding; conditions phi(theta) = b have the rows
G = (d phi / d theta) H_s, so that s' = G^-1 (b' - the rate of phi at s' = 0). Source: Seraji 1989, configuration
control; fewer conditions than joints leave what G^+ does not reach.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tasks.kernels.expression import Dual
from tasks.kernels.types import Array, Mask, Scalar
from tasks.mathematics.algebra import array, determinant, every, inverse, pseudo_inverse, where
from tasks.mechanics.redundant.conditions import Condition
from tasks.mechanics.redundant.free import FreeJoints

DEPENDENT = Dual(1e-6, 1e-3)
"""Volume of the rows G, relative to that of their parts without cancellation, up to which they decide nothing."""


@dataclass(frozen=True)
class TaskRows(FreeJoints):
    """Conditions on joints, and what is `left` of each to where it is wanted."""

    conditions: tuple[Condition, ...]
    left: Array

    @cached_property
    def matrix(self) -> Array:
        """G (condition, resolved)."""
        return array([[entry.gradient @ way for way in self.ways] for entry in self.conditions])

    @cached_property
    def regular(self) -> Mask:
        """Whether the rows are independent of each other, so that the joints that are free can hold what they say."""
        box: Scalar = DEPENDENT * DEPENDENT
        for entry in self.conditions:
            parts = [part * part for way in self.ways for part in entry.gradient * way]
            box = sum(parts) * box
        size = determinant(self.matrix @ self.matrix.T)
        return every([size > box, *(entry.defined for entry in self.conditions)])

    @cached_property
    def answer(self) -> Array:
        """G^+ (resolved, condition): the inverse of G, or with fewer rows its right inverse; zero where it has none."""
        rows, columns = self.matrix.shape
        back = inverse(self.matrix) if rows == columns else pseudo_inverse(self.matrix.T).T
        return array([where(self.regular, value, 0.0) for value in back.ravel()]).reshape(columns, rows)

    def caused(self, rates: Array) -> Array:
        """Rates of the conditions from those of all joints."""
        return array([entry.gradient @ rates for entry in self.conditions])

    def step(self, caused: Array | None, aimed: Array) -> Array:
        """Newton's step of the resolved joints, where joints move by `caused` besides, and values by `aimed`."""
        wanted = self.left + aimed
        return self.answer @ (wanted if caused is None else wanted - self.caused(caused))

    def rates(self, stated: Array, wanted: Array) -> Array:
        """s' from rates of the independent joints, zero where they are resolved, and those of the values."""
        return self.answer @ (wanted - self.caused(self.tree(stated)))

    def accelerations(self, rates: Array, resolved: Array, stated: Array, wanted: Array) -> Array:
        """s'' from rates and accelerations of the independent joints and of the values, and s'."""
        moving = self.tree(rates) + self.moved(resolved)
        second = self.tree(stated) + self.embedding.drift(moving)
        bent = array([entry.bend(moving) for entry in self.conditions])
        return self.answer @ (wanted - bent - self.caused(second))

    def pull(self, forces: Array) -> Array:
        """What forces along the conditions are along the joints."""
        return sum(
            (entry.gradient * force for entry, force in zip(self.conditions, forces, strict=True)),
            start=np.zeros(len(self.states)),
        )

    def turned_over(self, start: TaskRows) -> Mask:
        """Whether as many conditions as joints have passed a singularity since a `start`."""
        if len(self.conditions) < len(self.ways):
            return False
        return determinant(self.matrix) * determinant(start.matrix) < 0.0
