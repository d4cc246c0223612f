"""A posture beside fewer tasks than a redundant chain has free joints: the least distance where the tasks hold.

With rows G of the tasks and slopes g and curvature A of the distance, the conditions of Karush, Kuhn and Tucker are
g + G^T lambda = 0 and phi = b. Newton's step for what is left of the tasks, r, is

    ds = G^+ r - T (g + A G^+ r),    T = P (P A P + c (1 - P))^-1 P,    P = 1 - G^+ G

with A of the Lagrangian, where lambda = -(G^+)^T g. Tasks that are not linear add lambda times their own curvature to
A, and its derivatives to accelerations. Source: Nocedal, Wright 2006, sections 16.2 and 18.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tasks.kernels.tangent import tangent
from tasks.kernels.types import Array, Mask, Scalar
from tasks.mathematics.algebra import array, every, inverse, total, where
from tasks.mechanics.redundant.free import FreeJoints
from tasks.mechanics.redundant.posture import FLAT, Departure, pivots
from tasks.mechanics.redundant.tasks import TaskRows


@dataclass(frozen=True)
class PostureBesideTasks(FreeJoints):
    """The distance from a posture, and tasks that hold."""

    distance: Departure
    tasks: TaskRows

    @cached_property
    def _forces(self) -> Array:
        """lambda, the forces that hold the tasks."""
        return -(self.tasks.answer.T @ self.distance.slopes)

    @cached_property
    def _pulled(self) -> Departure:
        """The distance with the forces that hold the tasks: the slopes of the Lagrangian."""
        return replace(self.distance, distance=self.distance.distance + self.tasks.pull(self._forces))

    def _along(self, rates: Array) -> Array:
        """How these slopes change where joints have such rates, and the forces none."""
        return self._pulled.along(rates) + self._bent(self._forces, rates)

    def _bent(self, forces: Array, rates: Array) -> Array:
        """What forces do along the free joints where the rows of tasks change at rates of all joints."""
        pairs = list(zip(self.tasks.conditions, forces, strict=True))
        return array([sum(entry.bent(way, rates) * force for entry, force in pairs) for way in self.ways])

    @cached_property
    def _lagrangian(self) -> Array:
        """A where it is that of the Lagrangian."""
        return array(np.stack([self._along(way) for way in self.ways], axis=1))

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
        pairs = [pivots(self._bordered(matrix)) for matrix in (self._lagrangian, self.distance.stiffness)]
        return every([pivot > FLAT * size for pivot, size in zip(*pairs, strict=True)])

    @property
    def regular(self) -> Mask:
        """Whether the tasks are independent, and the curvature is positive definite where they hold."""
        return every([self.tasks.regular, self._definite])

    @cached_property
    def _curvature(self) -> Array:
        """A; where that leads to no minimum, what leads downhill, as stiff as A is anywhere."""
        stiff = self.distance.stiffness
        more = total(self._lagrangian.ravel()) / np.trace(stiff)
        pairs = zip(self._lagrangian.ravel(), (stiff * (more + 1.0)).ravel(), strict=True)
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
        slopes = self._pulled.slopes if caused is None else self._pulled.slopes + self._along(caused)
        return self._held(self.tasks.step(caused, aimed), slopes)

    def rates(self, stated: Array, wanted: Array) -> Array:
        """s' along g + G^T lambda = 0 and the tasks."""
        return self._held(self.tasks.rates(stated, wanted), self._along(self.tree(stated)))

    def accelerations(self, rates: Array, resolved: Array, stated: Array, wanted: Array) -> Array:
        """s'' along the same."""
        free = self.tree(rates)
        moving, drift = free + self.moved(resolved), self.embedding.drift(free + self.moved(resolved))
        changes = -(self.tasks.answer.T @ (self._along(free) + self._curvature @ resolved))
        second = self._pulled.bending(rates, resolved, stated, self.tasks.pull(changes))
        second = second + self._bent(self._forces, self.tree(stated) + drift) + self._bent(changes, moving) * 2.0
        second = second + self._turned(self.pairs(free, resolved))
        return self._held(self.tasks.accelerations(rates, resolved, stated, wanted), second)

    def _turned(self, pairs: Sequence[tuple[Scalar, Array, Array]]) -> Array:
        """How what tasks take beyond their rows changes along the free joints, by third derivatives."""
        result = []
        for way in self.ways:
            change: Scalar = 0.0
            for entry, force in zip(self.tasks.conditions, self._forces, strict=True):
                bent = tangent([entry.bent(one, other) for _, one, other in pairs], self.seeds(way))
                change = change + sum(part * share for part, (share, *_) in zip(bent, pairs, strict=True)) * force
            result.append(change)
        return array(result)
