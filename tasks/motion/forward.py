"""Forward dynamics of a chain with friction, for one sample: accelerations from actuator forces.

    M q'' + b = J^T u - W^T tau,    rates of joints with friction W q', of actuators J q'

M and b are what inverse dynamics gives for unit accelerations and for none, so that the two problems are inverse to
each other. Friction tau is that of its law in joints that move, and holds those that are stuck: W_S q'' + W_S' q' = 0.
Where normal loads come from reactions: `tasks.motion.loads`. Sources: joint-friction paper, sections 2 to 4; industrial
manipulators paper, Eqs. (17) to (21).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from tasks.friction.forward import ForwardFriction
from tasks.kernels.expression import Expression
from tasks.kernels.tangent import tangent
from tasks.kernels.types import Array, Scalar
from tasks.mathematics.algebra import array, is_zero, where
from tasks.mathematics.symmetric import Factors
from tasks.mechanics import limb
from tasks.mechanics.equations import state_seeds
from tasks.mechanics.limb import Mounted, Solved
from tasks.mechanics.reactions import LimbStatics

MASSLESS = 1e-12
"""Pivot of the mass matrix, relative to its diagonal, at and below which a freedom has no mass."""

COMPLIANCE = 1e-10
"""What stuck joints give way, relative to being free: it decides between joints that hold the same thing."""

HELD = 1e-8
"""Mobility of a freedom beside stuck joints, relative to that without them, below which it is held."""

NOTHING = 1e-300


@dataclass(frozen=True)
class Modes:
    """Of every joint with friction: 1 where it is `stuck`, `direction` of motion else, `memory` of its law."""

    stuck: Array
    direction: Array
    memory: Array


@dataclass(frozen=True)
class Stage:
    """A stage of a step in time: (1 - scale J) k = f - less, where J is the Jacobian of smooth friction.

    scale [s] is zero in explicit steps; less_rate (freedom,), less_memory (joint,) are parts of the rates of speed and
    memory.
    """

    scale: Scalar
    less_rate: Array
    less_memory: Array


@dataclass(frozen=True)
class Drag:
    """Of one joint: friction, rate of its memory, and how they change with its velocity and its memory.

    stiffness: change of friction with velocity over a stage, memory eliminated; share: 1 / (1 - scale memory_memory).
    """

    force: Scalar
    rate: Scalar
    force_memory: Scalar = 0.0
    rate_velocity: Scalar = 0.0
    share: Scalar = 1.0
    stiffness: Scalar = 0.0


@dataclass(frozen=True)
class Moved:
    """Accelerations (freedom,), friction and memory rates (joint,), under given normal loads."""

    acceleration: Array
    friction: list[Scalar]
    memory_rate: list[Scalar]


@dataclass(frozen=True)
class Pushed:
    """A chain at one state under actuator forces `push` (actuator,), with friction in `joints`.

    `solved` is its motion without acceleration of its freedoms, `speed` (freedom,) their rates.
    """

    mounted: Mounted
    solved: Solved
    speed: Array
    gravity: Array
    push: Array
    joints: Sequence[ForwardFriction]
    modes: Modes
    stage: Stage

    @cached_property
    def unit_rates(self) -> Array:
        """Rates of all joints of the tree for one unit of each freedom (tree joint, freedom)."""
        return self.mounted.unit_rates(self.solved.tips)

    @cached_property
    def _dynamics(self) -> tuple[Array, Array]:
        bias, jacobian = limb.dynamics(self.mounted, self.solved, self.gravity)
        return array(bias), array(np.array(jacobian, dtype=object).reshape(-1, len(self.speed)))

    @property
    def jacobian(self) -> Array:
        """J (actuator, freedom)."""
        return self._dynamics[1]

    @cached_property
    def mass(self) -> Array:
        """M (freedom, freedom)."""
        still = np.zeros(len(self.solved.rates))
        moves = (replace(self.solved, rates=still, accelerations=column) for column in self.unit_rates.T)
        columns = [array(limb.dynamics(self.mounted, each, np.zeros(3))[0]) for each in moves]
        return array(np.stack(columns, axis=1))

    @cached_property
    def massless(self) -> Any:
        """Whether M has lost rank."""
        pivots = Factors.of(self.mass).pivots
        lost = [p <= self.mass[k, k] * MASSLESS for k, p in enumerate(pivots)]
        result = lost[0]
        for each in lost[1:]:
            result = result | each
        return result

    @cached_property
    def rows(self) -> Array:
        """W (joint, freedom)."""
        if not self.joints:
            return np.zeros((0, len(self.speed)))
        statics = LimbStatics(self.mounted, self.solved)
        return array(np.stack([self._row(each, statics) for each in self.joints]))

    def _row(self, each: ForwardFriction, statics: LimbStatics) -> Array:
        place = each.joint.place
        if place.actuator >= 0:
            return self.jacobian[place.actuator]
        return array(self.mounted.outward(statics.on_platform(statics.friction(place.joint))))

    @cached_property
    def velocity(self) -> Array:
        """Rates of joints with friction, W q' (joint,)."""
        return self.rows @ array(self.speed)

    @cached_property
    def drift(self) -> Array:
        """W' q' (joint,)."""
        change = tangent(list(self.rows.ravel()), state_seeds(self.mounted, self.solved))
        return array(np.array(change, dtype=object).reshape(self.rows.shape)) @ array(self.speed)

    def moved(self, loads: Sequence[Scalar]) -> Moved:
        """The motion for these normal loads of all joints with friction."""
        drags = [self._drag(k, load) for k, load in enumerate(loads)]
        factors = self._factors(drags)
        brake = Brake(factors, self.rows, self._sticking, self.modes.stuck)
        free = factors.solve(self._forces(drags))
        holding = brake.force(self.rows @ (free + array(self.stage.less_rate)) + self.drift)
        acceleration = brake.released(free, holding)
        friction = [drag.force + x for drag, x in zip(drags, brake.spread(holding), strict=True)]
        changes = zip(drags, self.rows @ acceleration, strict=True)
        rates = [(drag.rate + drag.rate_velocity * self.stage.scale * change) * drag.share for drag, change in changes]
        return Moved(brake.unless_held(acceleration), friction, rates)

    def kept_speed(self, loads: Sequence[Scalar]) -> Array:
        """The rates of the freedoms (freedom,) without what stuck joints do not allow."""
        drags = [self._drag(k, load) for k, load in enumerate(loads)]
        brake = Brake(self._factors(drags), self.rows, self._sticking, self.modes.stuck)
        return brake.unless_held(brake.released(array(self.speed), brake.force(self.velocity)))

    @property
    def _sticking(self) -> list[int]:
        return [k for k, each in enumerate(self.joints) if each.sticks]

    def _drag(self, k: int, load: Scalar) -> Drag:
        each, v, z = self.joints[k], self.velocity[k], self.modes.memory[k]
        force = each.force(v, self.modes.direction[k], load, z)
        if each.sticks:
            return Drag(force * (1.0 - self.modes.stuck[k]), 0.0)
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

    def _factors(self, drags: Sequence[Drag]) -> Factors:
        """Of the mass matrix, with what a linearly implicit stage adds to it."""
        heavy = self.mass
        for row, drag in zip(self.rows, drags, strict=True):
            heavy = heavy + np.outer(row, row) * (drag.stiffness * self.stage.scale)
        return Factors.of(heavy)

    def _forces(self, drags: Sequence[Drag]) -> Array:
        braking = [drag.force + drag.force_memory * self.stage.scale * drag.rate * drag.share for drag in drags]
        driving = self.jacobian.T @ array(self.push) - self._dynamics[0]
        return driving - self.rows.T @ array(braking) - self.mass @ array(self.stage.less_rate)


@dataclass(frozen=True)
class Brake:
    """What stuck joints do: `factors` of the mass matrix, `rows` W of all joints, which of them are `sticking`."""

    factors: Factors
    rows: Array
    sticking: Sequence[int]
    stuck: Array

    @cached_property
    def through(self) -> Array:
        """Accelerations that unit forces in sticking joints give (freedom, sticking joint), zero of others."""
        columns = [self.factors.solve(self.rows[k]) * self.stuck[k] for k in self.sticking]
        return array(np.stack(columns, axis=1)) if columns else np.zeros((self.rows.shape[1], 0))

    @cached_property
    def mobility(self) -> Array:
        """Of stuck joints among themselves, W_S M^-1 W_S^T; zero for others."""
        size = len(self.sticking)
        mask = np.array([self.stuck[k] for k in self.sticking], dtype=object).reshape(size, 1)
        return array(mask * (self.rows[np.array(self.sticking, dtype=int)] @ self.through))

    @cached_property
    def stiffness(self) -> Factors:
        """Of that mobility, made regular."""
        regular = np.array(self.mobility, dtype=object)
        for i, k in enumerate(self.sticking):
            regular[i, i] = regular[i, i] * (1.0 + COMPLIANCE) + (1.0 - self.stuck[k]) + NOTHING
        return Factors.of(array(regular))

    def force(self, change: Array) -> Array:
        """Forces in sticking joints that take back a change (joint,) of their velocities; once refined."""
        wanted = array([change[k] * self.stuck[k] for k in self.sticking])
        found = self.stiffness.solve(wanted)
        return found + self.stiffness.solve(wanted - self.mobility @ found)

    def released(self, change: Array, holding: Array) -> Array:
        """A change of the freedoms less what forces in sticking joints take back."""
        return change - self.through @ holding

    def spread(self, holding: Array) -> list[Scalar]:
        """Forces in sticking joints among those of all joints."""
        result: list[Scalar] = [0.0] * len(self.rows)
        for k, force in zip(self.sticking, holding, strict=True):
            result[k] = force * self.stuck[k]
        return result

    @cached_property
    def held(self) -> list[Any]:
        """Whether each freedom is held by stuck joints."""
        free = self.rows.shape[1]
        loose = [self.factors.quadratic(unit) for unit in np.eye(free)]
        left = [loose[i] - self.stiffness.quadratic(self.through[i]) for i in range(free)]
        return [a <= b * HELD for a, b in zip(left, loose, strict=True)]

    def unless_held(self, change: Array) -> Array:
        """A change of the freedoms, exactly zero where they are held: what is at rest stays there to the last bit."""
        if not self.sticking:
            return change
        return array([where(mask, 0.0, x) for mask, x in zip(self.held, change, strict=True)])
