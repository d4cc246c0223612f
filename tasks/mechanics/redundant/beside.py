"""A posture beside fewer linear tasks than a redundant chain has free joints: the least distance where the tasks hold.

With rows G of the tasks and slopes g and curvature A of the distance, the conditions of Karush, Kuhn and Tucker are
g + G^T lambda = 0 and phi = b. Newton's step for what is left of the tasks, r, is

    ds = G^+ r - T (g + A G^+ r),    T = P (P A P + c (1 - P))^-1 P,    P = 1 - G^+ G

with A of the Lagrangian, where lambda = -(G^+)^T g. Tasks are linear here, so that their gradients are constant and
nothing but the distance has curvature in the joints. Source: Nocedal, Wright 2006, sections 16.2 and 18.3.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tasks.kernels.types import Array, Mask
from tasks.mathematics.algebra import array, every, inverse, where
from tasks.mechanics.redundant.free import FreeJoints
from tasks.mechanics.redundant.posture import FLAT, Departure, pivots
from tasks.mechanics.redundant.tasks import TaskRows


@dataclass(frozen=True)
class PostureBesideTasks(FreeJoints):
    """The distance from a posture, and tasks that hold."""

    distance: Departure
    tasks: TaskRows

    @cached_property
    def _pulled(self) -> Departure:
        """The distance with the forces that hold the tasks: the slopes of the Lagrangian."""
        forces = -(self.tasks.answer.T @ self.distance.slopes)
        return replace(self.distance, distance=self.distance.distance + self.tasks.pull(forces))

    @cached_property
    def _within(self) -> Array:
        """P: what of a step does not change the tasks."""
        return np.eye(len(self.ways)) - self.tasks.answer @ self.tasks.matrix

    def _bordered(self, curvature: Array) -> Array:
        """A matrix along P, and beside it as large as the distance is curved without that of the ways."""
        inside, across = self._within, array(np.eye(len(self.ways)) - self._within)
        return inside @ curvature @ inside + across * (np.trace(self.distance.stiffness) / len(self.ways))

    @cached_property
    def _definite(self) -> Mask:
        pairs = [pivots(self._bordered(matrix)) for matrix in (self._pulled.curvature, self.distance.stiffness)]
        return every([pivot > FLAT * size for pivot, size in zip(*pairs, strict=True)])

    @property
    def regular(self) -> Mask:
        """Whether the tasks are independent, and the curvature is positive definite where they hold."""
        return every([self.tasks.regular, self._definite])

    @cached_property
    def _curvature(self) -> Array:
        """A; where that leads to no minimum, what leads downhill."""
        pairs = zip(self._pulled.curvature.ravel(), self.distance.stiffness.ravel(), strict=True)
        chosen = [where(self._definite, curved, stiff) for curved, stiff in pairs]
        return array(chosen).reshape(len(self.ways), len(self.ways))

    @cached_property
    def _answer(self) -> Array:
        """T; zero where nothing leads downhill, or the tasks are dependent."""
        firm = every([self.tasks.regular, *(x > 0.0 for x in pivots(self._bordered(self.distance.stiffness)))])
        back = self._within @ inverse(self._bordered(self._curvature)) @ self._within
        return array([where(firm, value, 0.0) for value in back.ravel()]).reshape(back.shape)

    def _held(self, held: Array, slopes: Array) -> Array:
        """A step with the part `held` of the tasks, which makes up for slopes of the Lagrangian."""
        return held - self._answer @ (slopes + self._curvature @ held)

    def step(self, caused: Array | None, aimed: Array) -> Array:
        """Newton's step of the resolved joints."""
        slopes = self._pulled.slopes if caused is None else self._pulled.slopes + self._pulled.along(caused)
        return self._held(self.tasks.step(caused, aimed), slopes)

    def rates(self, stated: Array, wanted: Array) -> Array:
        """s' along g + G^T lambda = 0 and the tasks."""
        return self._held(self.tasks.rates(stated, wanted), self._pulled.along(self.tree(stated)))

    def accelerations(self, rates: Array, resolved: Array, stated: Array, wanted: Array) -> Array:
        """s'' along the same."""
        slopes = self._pulled.along(self.tree(rates)) + self._curvature @ resolved
        pulled = self.tasks.pull(-(self.tasks.answer.T @ slopes))
        held = self.tasks.accelerations(rates, resolved, stated, wanted)
        return self._held(held, self._pulled.bending(rates, resolved, stated, pulled))
