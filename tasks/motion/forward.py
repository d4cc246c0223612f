"""Forward dynamics of a chain with friction, for one sample: accelerations from actuator forces.

    M q'' + b = J^T u - W^T tau,    rates of joints with friction W q', of actuators J q'

M and b are what inverse dynamics gives for unit accelerations and for none, so that the two problems are inverse to
each other. Friction tau is that of its law in joints that move. Joints at rest are held as far as their limits allow,
all of them together (`tasks.motion.rest`): W_H q'' + W_H' q' = 0 of those that hold. Where normal loads come from
reactions: `tasks.motion.loads`. Sources: joint-friction paper, sections 2 to 4; industrial manipulators paper,
Eqs. (17) to (21).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from tasks.friction.forward import ForwardFriction
from tasks.kernels.expression import Expression, fma
from tasks.kernels.tangent import tangent
from tasks.kernels.types import Array, Scalar
from tasks.mathematics.algebra import array, from_columns, is_zero, total, where
from tasks.mathematics.symmetric import Factors
from tasks.mechanics import limb
from tasks.mechanics.equations import state_seeds
from tasks.mechanics.limb import Mounted, Solved
from tasks.mechanics.reactions import LimbStatics
from tasks.motion.rest import RestProblem

MASSLESS = 1e-12
"""Pivot of the mass matrix, relative to its diagonal, at and below which a freedom has no mass."""

COMPLIANCE = 1e-10
"""What stuck joints give way, relative to being free: it decides between joints that hold the same thing."""

WITHIN = 1e-12
"""Share of a limit by which friction at rest may be beyond it."""

BALANCED = 1e-10
"""Acceleration of a joint, relative to all that it is the sum of, that counts as none."""

BREAKING = 1e-12
"""The same above which a joint at rest does not hold."""

ROUNDED = 1e-13
"""The same of friction at rest, relative to what would hold the joint by itself."""

LEAST = 1e-3
"""Share by which friction may miss its least norm, where it is not unique."""

DEPENDENT = 1e-8
"""Mobility of a joint beside those before it, relative to that without them, below which it depends on them."""

IMMOVABLE = 1e-12
"""Rate of a joint for unit rates of the freedoms below which it does not move at all."""

HELD = 1e-8
"""Mobility of a freedom beside stuck joints, relative to that without them, below which it is held."""

NOTHING = 1e-300


@dataclass(frozen=True)
class Modes:
    """Of every joint with friction: 1 where it is at `rest`, `direction` of motion else, `memory` of its law.

    Those at rest that are `loose` hold no more than the friction with which their motion begins.
    """

    rest: Array
    loose: Array
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
    """Accelerations (freedom,), friction and memory rates (joint,), under given normal loads and a partition.

    change (joint,): acceleration of joints with friction. Of those that may rest, (joint,): parts, the sum of all
    magnitudes whose sum that is; holds, 1 of those that do; better, the partition with each joint put right that is not
    as it should be. accepted: 1 where friction is within its limits, opposes the motion that begins, and balances what
    holds; least: 1 where there is no less with these accelerations.
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
    def bias(self) -> Array:
        """B (freedom,)."""
        return self._dynamics[0]

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

    @property
    def sticking(self) -> list[int]:
        """Joints that may be at rest."""
        return [k for k, each in enumerate(self.joints) if each.sticks]

    def under(self, loads: Sequence[Scalar]) -> Loaded:
        """The same for these normal loads of all joints with friction."""
        return Loaded(self, loads)

    def drag(self, k: int, load: Scalar) -> Drag:
        """Of joint k under a normal load; none where it is at rest."""
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
    """The same value as a node of its own: what is made of it is made of nothing behind it, as derivatives ask."""
    return fma(x, x.graph.lift(1.0), x.graph.lift(0.0)) if isinstance(x, Expression) else x


@dataclass(frozen=True)
class Loaded:
    """A pushed chain under normal loads (joint,) of all joints with friction."""

    pushed: Pushed
    loads: Sequence[Scalar]

    @cached_property
    def _drags(self) -> list[Drag]:
        return [self.pushed.drag(k, load) for k, load in enumerate(self.loads)]

    @cached_property
    def _factors(self) -> Factors:
        """Of the mass matrix, with what a linearly implicit stage adds to it."""
        heavy = self.pushed.mass
        for row, drag in zip(self.pushed.rows, self._drags, strict=True):
            heavy = heavy + np.outer(row, row) * (drag.stiffness * self.pushed.stage.scale)
        return Factors.of(heavy)

    @cached_property
    def _free(self) -> Array:
        """Accelerations (freedom,) without friction of joints at rest."""
        pushed, scale = self.pushed, self.pushed.stage.scale
        braking = [drag.force + drag.force_memory * scale * drag.rate * drag.share for drag in self._drags]
        driving = pushed.jacobian.T @ array(pushed.push) - pushed.bias
        less = pushed.mass @ array(pushed.stage.less_rate)
        return self._factors.solve(driving - pushed.rows.T @ array(braking) - less)

    def _change(self, acceleration: Array) -> Array:
        """Accelerations of all joints with friction (joint,)."""
        return self.pushed.rows @ (acceleration + array(self.pushed.stage.less_rate)) + self.pushed.drift

    @cached_property
    def _through(self) -> Array:
        """Accelerations that unit friction of joints that may rest gives (freedom, joint)."""
        columns = [self._factors.solve(self.pushed.rows[k]) for k in self.pushed.sticking]
        return from_columns(columns, self.pushed.rows.shape[1])

    @cached_property
    def _mobility(self) -> Array:
        return array(self.pushed.rows[np.array(self.pushed.sticking, dtype=int)] @ self._through)

    @cached_property
    def _resting(self) -> list[Scalar]:
        """1 where a joint that may rest does, and friction in it would be felt."""
        rows, rest = self.pushed.rows, self.pushed.modes.rest
        return [where(total(rows[k]) > IMMOVABLE, rest[k], 0.0) for k in self.pushed.sticking]

    @cached_property
    def limits(self) -> tuple[Array, Array]:
        """Above and below, of the joints that may rest."""
        modes = self.pushed.modes

        def limit(side: float, k: int) -> Scalar:
            return self.pushed.joints[k].holds(side, self.loads[k], modes.loose[k], modes.memory[k])

        above, below = ([limit(side, k) for k in self.pushed.sticking] for side in (1.0, -1.0))
        return array(above), array(below)

    @cached_property
    def rest(self) -> RestProblem:
        """The problem whose minimum is the friction of joints at rest."""
        change = array([self._change(self._free)[k] for k in self.pushed.sticking])
        return RestProblem(self._mobility, change, *self.limits, array(self._resting))

    def dependent(self, breaking: Sequence[Scalar]) -> Scalar:
        """1 where joints that do not break away depend on each other, so that their friction is not unique."""
        broken = [breaking[k] for k in self.pushed.sticking]
        at_rest = [where(abs(x) > 0.0, 0.0, mask) for x, mask in zip(broken, self._resting, strict=True)]
        return self._brake(at_rest).dependent

    def _brake(self, holds: Sequence[Scalar]) -> Brake:
        return Brake(self._factors, self.pushed.rows, self.pushed.sticking, holds)

    def kept_speed(self) -> Array:
        """The rates of the freedoms (freedom,) without what joints at rest do not allow."""
        brake = self._brake(self._resting)
        _, less = brake.forces(self.pushed.velocity)
        return brake.unless_held(brake.released(array(self.pushed.speed), less))

    def moved(self, partition: Sequence[Scalar]) -> Moved:
        """The motion where joints at rest hold or are at a limit, as a `partition` (joint that may rest,) says."""
        pushed, scale, sticking = self.pushed, self.pushed.stage.scale, self.pushed.sticking
        above, below = self.limits
        sides = [p * mask for p, mask in zip(partition, self._resting, strict=True)]
        bound = [where(p > 0.5, a, where(p < -0.5, -b, 0.0)) for p, a, b in zip(sides, above, below, strict=True)]
        holds = [where(abs(p) > 0.5, 0.0, mask) for p, mask in zip(sides, self._resting, strict=True)]
        brake = self._brake(holds)
        free = self._free - self._through @ array(bound) if sticking else self._free
        first, holding = brake.forces(self._change(free))
        acceleration = brake.released(free, holding)
        least = brake.least(holding, pushed.mass)
        at_rest = [x * mask + limit for x, mask, limit in zip(least, holds, bound, strict=True)]
        friction = [drag.force for drag in self._drags]
        for k, tau in zip(sticking, at_rest, strict=True):
            friction[k] = friction[k] + tau
        changes = zip(self._drags, pushed.rows @ acceleration, strict=True)
        rates = [(drag.rate + drag.rate_velocity * scale * value) * drag.share for drag, value in changes]
        first_change = self._change(brake.released(free, first))
        change = self._change(acceleration)
        parts = self._parts(at_rest)
        judged = self._judged(sides, holds, at_rest, parts, change, first_change)
        return Moved(brake.unless_held(acceleration), friction, rates, change, parts, holds, *judged)

    def _parts(self, friction: Sequence[Scalar]) -> list[Scalar]:
        """Magnitudes whose sum each acceleration of a joint that may rest is the sum of."""
        pushed, sizes = self.pushed, abs(array(friction))
        free = abs(self._free) + abs(array(pushed.stage.less_rate))
        rows = ((abs(pushed.rows[k]) @ free, abs(pushed.drift[k])) for k in pushed.sticking)
        return [a + b + abs(diagonal) @ sizes for (a, b), diagonal in zip(rows, self._mobility, strict=True)]

    @cached_property
    def _turning(self) -> list[Scalar]:
        """Size of what velocity adds to the acceleration of joints that may rest, before it cancels."""
        rates = abs(self.pushed.rows) @ abs(array(self.pushed.speed))
        return [rates[k] * rates[k] for k in self.pushed.sticking]

    def breaking(self, moved: Moved) -> list[Scalar]:
        """Accelerations of joints at rest that do not hold, relative, 0 of others (joint,).

        One at its limit that those which hold leave no freedom is held by them. One that no freedom moves, whatever its
        friction, turns round where its velocity makes it.
        """
        result: list[Scalar] = [0.0] * len(self.pushed.joints)
        stiffness = self._brake(moved.holds).stiffness
        for i, k in enumerate(self.pushed.sticking):
            diagonal, share = self._mobility[i, i], moved.change[k] / (moved.parts[i] + NOTHING)
            left = diagonal - stiffness.quadratic(self._mobility[i] * array(moved.holds))
            noise = moved.parts[i] * BREAKING + self._turning[i] * ROUNDED
            share = where(abs(moved.change[k]) > noise, share, 0.0)
            loose = where(moved.holds[i] > 0.5, 0.0, where(left > diagonal * DEPENDENT, share, 0.0))
            result[k] = where(self._resting[i] > 0.5, loose, share * self.pushed.modes.rest[k])
        return result

    def _judged(
        self, sides: Sequence[Scalar], holds: Sequence[Scalar], friction: Sequence[Scalar],
        sizes: Sequence[Scalar], change: Array, first_change: Array,
    ) -> tuple[Scalar, Scalar, list[Scalar]]:  # fmt: skip
        """`accepted`, `least` and `better` of Moved."""
        accepted: Scalar = 1.0
        least: Scalar = 1.0
        better: list[Scalar] = []
        for i, (k, parts) in enumerate(zip(self.pushed.sticking, sizes, strict=True)):
            rests, hold, diagonal, side = self._resting[i] > 0.5, holds[i] > 0.5, self._mobility[i, i], sides[i]
            alone = parts / where(diagonal > 0.0, diagonal, 1.0)
            limit = where(friction[i] < 0.0, self.limits[1][i], self.limits[0][i])
            within = abs(friction[i]) <= limit * (1.0 + WITHIN) + alone * ROUNDED
            noise = parts * BALANCED + self._turning[i] * ROUNDED + NOTHING
            balanced, forth = abs(change[k]) <= noise, side * change[k] >= -noise
            good = where(hold, where(within, where(balanced, 1.0, 0.0), 0.0), where(forth, 1.0, 0.0))
            accepted = accepted * where(rests, good, 1.0)
            # what holds in place of a joint at its limit would, if it gave way a little, ask more of the joint
            asked = diagonal * limit * (1.0 - LEAST) - parts * LEAST
            enough = side * first_change[k] >= asked * COMPLIANCE
            least = least * where(rests, where(hold, 1.0, where(enough, 1.0, 0.0)), 1.0)
            held = where(within, 0.0, where(friction[i] < 0.0, -1.0, 1.0))
            better.append(where(hold, held, where(forth, where(enough, side, 0.0), 0.0)))
        return accepted, least, better


@dataclass(frozen=True)
class Brake:
    """What joints that hold do: `factors` of the mass matrix, `rows` W of all joints with friction.

    Of those, `sticking` may hold, and those do whose `holds` (joint that may hold,) is 1, else 0.
    """

    factors: Factors
    rows: Array
    sticking: Sequence[int]
    holds: Sequence[Scalar]

    @cached_property
    def through(self) -> Array:
        """Accelerations that unit forces in sticking joints give (freedom, sticking joint), zero of others."""
        columns = [self.factors.solve(self.rows[k]) * hold for k, hold in zip(self.sticking, self.holds, strict=True)]
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
        loose = [self.factors.quadratic(unit) for unit in np.eye(free)]
        left = [loose[i] - self.stiffness.quadratic(self.through[i]) for i in range(free)]
        return [a <= b * HELD for a, b in zip(left, loose, strict=True)]

    def unless_held(self, change: Array) -> Array:
        """A change of the freedoms, exactly zero where they are held: what is at rest stays there to the last bit."""
        if not self.sticking:
            return change
        return array([where(mask, 0.0, x) for mask, x in zip(self.held, change, strict=True)])
