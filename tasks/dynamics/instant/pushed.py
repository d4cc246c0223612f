"""A robot at one instant under forces of its actuators: the terms of its motion with friction, and that motion."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from robots.data_classes import dataclass
from robots.limits import JointPlace
from robots.model import Family
from tasks.features.friction.joints import ForwardFriction
from tasks.features.friction.requests import LimbFriction
from tasks.kernels.expression import Array, Expression, Scalar, fma
from tasks.kernels.tangent import tangent
from tasks.mathematics.algebra import array, is_zero
from tasks.mathematics.solvers import Factors


@dataclass(frozen=True)
class Modes:
    """Modes of every joint with friction: 1 where it is at `rest`, `direction` of motion else, `memory` of its law.

    Joints at rest that are `loose` hold only the friction with which their motion begins.
    """

    rest: Array
    loose: Array
    direction: Array
    memory: Array


@dataclass(frozen=True)
class StepStage:
    """A stage of a step in time: (1 - scale J) k = f - less, where J is the Jacobian of smooth friction.

    scale [s] is zero in explicit steps; less_rate (freedom,), less_memory (joint,) are parts of the rates of speed and
    memory.
    """

    scale: Scalar
    less_rate: Array
    less_memory: Array


@dataclass(frozen=True)
class Drag:
    """Drag of one joint: friction, rate of its memory, and how they change with its velocity and its memory.

    stiffness: change of friction with velocity over a stage, memory eliminated; share: 1 / (1 - scale memory_memory).
    """

    force: Scalar
    rate: Scalar
    force_memory: Scalar = 0.0
    rate_velocity: Scalar = 0.0
    share: Scalar = 1.0
    stiffness: Scalar = 0.0


@dataclass(frozen=True)
class Pushed(ABC):
    """A robot at one state under actuator forces `push` (actuator,), with friction in `joints`.

    `speed` (freedom,) are the rates of its freedoms.
    """

    speed: Array
    push: Array
    joints: Sequence[ForwardFriction]
    modes: Modes
    stage: StepStage

    @property
    @abstractmethod
    def bias(self) -> Array:
        """b (freedom,): forces of the motion without accelerations, less the load on the robot."""

    @property
    @abstractmethod
    def jacobian(self) -> Array:
        """J (actuator, freedom)."""

    @property
    @abstractmethod
    def mass(self) -> Array:
        """M (freedom, freedom)."""

    @property
    @abstractmethod
    def rows(self) -> Array:
        """W (joint, freedom)."""

    @property
    @abstractmethod
    def drift(self) -> Array:
        """W' V (joint,)."""

    @abstractmethod
    def bearing_loads(
        self, family: Family, wanted: Sequence[LimbFriction], acceleration: Array, forces: Array,
        friction: Mapping[JointPlace, Scalar], places: Sequence[JointPlace],
    ) -> list[Array]:  # fmt: skip
        """Return the loads of the bearings of joints, five components each; see `reactions.bearing_components`.

        They follow from accelerations (freedom,), forces of actuators less their own friction, and friction in joints.
        """

    @cached_property
    def factors(self) -> Factors:
        """Factors of the mass matrix M."""
        return Factors.of(self.mass)

    def accelerated(self, driving: Array, braking: Array) -> Array:
        """Return M^-1 (driving - b - braking) of forces along the freedoms and against them (freedom,)."""
        return self.factors.solve(driving - self.bias - braking)

    @cached_property
    def massless(self) -> Any:
        """True where M has lost rank."""
        return self.factors.rank_lost(np.diagonal(self.mass))

    @cached_property
    def velocity(self) -> Array:
        """Rates of joints with friction, W V (joint,)."""
        return self.rows @ array(self.speed)

    @property
    def sticking(self) -> list[int]:
        """Joints that may be at rest."""
        return [k for k, each in enumerate(self.joints) if each.sticks]

    def drag(self, k: int, load: Scalar) -> Drag:
        """Return the drag of joint k under a normal load; zero at rest."""
        each, v, z = self.joints[k], self.velocity[k], self.modes.memory[k]
        if not each.sticks and not is_zero(self.stage.scale):
            v, z, load = (_apart(x) for x in (v, z, load))
        force = each.force(v, self.modes.direction[k], load, z)
        if each.sticks:
            return Drag(force * (1.0 - self.modes.rest[k]), 0.0)
        rate = each.memory_rate(v, load, z)
        if is_zero(self.stage.scale):
            return Drag(force, rate - self.stage.less_memory[k])
        fixed = {x: 0.0 for x in (v, z, load) if isinstance(x, Expression)}
        by_velocity, rate_velocity = tangent([force, rate], fixed | {v: 1.0})
        by_memory, rate_memory = tangent([force, rate], fixed | {z: 1.0}) if each.bristles else (0.0, 0.0)
        share = 1.0 / (1.0 - self.stage.scale * rate_memory)
        stiffness = by_velocity + by_memory * self.stage.scale * rate_velocity * share
        # friction that falls with speed is left explicit: the matrix stays positive
        stiffness = (stiffness + abs(stiffness)) * 0.5
        return Drag(force, rate - self.stage.less_memory[k], by_memory, rate_velocity, share, stiffness)


def _apart(x: Scalar) -> Scalar:
    """Return the value as a separate node, so that derivatives of later nodes stop at it."""
    return fma(x, x.graph.lift(1.0), x.graph.lift(0.0)) if isinstance(x, Expression) else x


@dataclass(frozen=True)
class Moved:
    """Accelerations (freedom,), friction and memory rates (joint,), under given normal loads and a partition.

    change (joint,): acceleration of joints with friction. For joints that may rest, (joint,): parts, the sum of the
    magnitudes of the terms of their acceleration; holds, 1 for sticking joints; better, the partition after correction
    of each joint that violates its conditions. accepted: 1 where friction is within its limits, opposes the motion that
    begins, and keeps sticking joints without acceleration; least: 1 where it is the friction of least norm with these
    accelerations.
    """

    acceleration: Array
    friction: list[Scalar]
    memory_rate: list[Scalar]
    change: Array
    parts: list[Scalar]
    holds: Sequence[Scalar]
    accepted: Scalar
    least: Scalar
    better: list[Scalar]
