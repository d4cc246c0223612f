"""Joints that the pose of a redundant chain leaves free, at one configuration: how all others move with them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robots.status import Status
from tasks.kernels.expression import Expression
from tasks.kernels.types import Array, Mask, Scalar, Scalars
from tasks.mathematics.algebra import where
from tasks.mechanics.chain import Chain
from tasks.mechanics.embedding import Embedding
from tasks.mechanics.equations import state_seeds
from tasks.mechanics.kinematics import JointState
from tasks.mechanics.limb import Solved


@dataclass(frozen=True)
class FreeJoints(ABC):
    """The joints `resolved` of a chain at one configuration, and what decides them.

    Vectors are over the joints of the tree; `aimed` and `wanted` over tasks, of which a posture has none.
    """

    limb: Chain
    embedding: Embedding
    states: Sequence[JointState]
    resolved: tuple[int, ...]

    @cached_property
    def ways(self) -> list[Array]:
        """H_s: how all joints move with each of those that are resolved."""
        place = {joint: k for k, joint in enumerate(self.embedding.choice.independent)}
        return [self.embedding.matrix[:, place[joint]] for joint in self.resolved]

    def moved(self, step: Array) -> Array:
        """What all joints do in a step of the resolved ones."""
        return sum((way * value for way, value in zip(self.ways, step, strict=True)), start=np.zeros(len(self.states)))

    def longest(self, step: Array) -> Scalar:
        """The longest step of a joint in a step of the resolved ones."""
        return largest(self.moved(step))

    def tree(self, rates: Array) -> Array:
        """Rates of all joints from those of the independent ones."""
        return self.embedding.matrix @ rates

    def bent(self, one: Array, other: Array) -> Array:
        """Accelerations of all joints that are bilinear in their rates: half of what both cause beyond each."""
        drift = self.embedding.drift
        if one is other:
            return drift(one)
        return (drift(one + other) - drift(one) - drift(other)) * 0.5

    def pairs(self, free: Array, resolved: Array) -> list[tuple[Scalar, Array, Array]]:
        """What is bilinear in rates at `free` and those of the resolved joints besides: a sum of shares of pairs.

        No pair has the rates of the resolved joints in it, so that its derivative along a joint has them held.
        """
        result: list[tuple[Scalar, Array, Array]] = [(1.0, free, free)]
        for k, (way, rate) in enumerate(zip(self.ways, resolved, strict=True)):
            result.append((rate * 2.0, free, way))
            for other, another in zip(self.ways[: k + 1], resolved, strict=False):
                result.append((rate * another * (1.0 if other is way else 2.0), way, other))
        return result

    def seeds(self, way: Array) -> dict[Expression, Scalar]:
        """How the joint states change where joints move so."""
        tips = self.limb.tips(self.states)
        moving = Solved(tips, self.states, way, np.zeros(len(self.states)), float(Status.OK))
        return state_seeds(self.limb, moving)

    @property
    @abstractmethod
    def regular(self) -> Mask:
        """Whether the joints are decided."""

    @abstractmethod
    def step(self, caused: Array | None, aimed: Array) -> Array:
        """Newton's step of the resolved joints, where joints move by `caused` besides, and tasks by `aimed`."""

    @abstractmethod
    def rates(self, stated: Array, wanted: Array) -> Array:
        """s' from rates of the independent joints, zero where they are resolved, and those of tasks."""

    @abstractmethod
    def accelerations(self, rates: Array, resolved: Array, stated: Array, wanted: Array) -> Array:
        """s'' from rates and accelerations of the independent joints, zero where they are resolved, s', and tasks."""


def largest(values: Scalars) -> Scalar:
    """The largest magnitude; zero of none."""
    result: Scalar = 0.0
    for value in values:
        result = where(abs(value) > result, abs(value), result)
    return result
