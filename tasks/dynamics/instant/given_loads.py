"""Motion of a robot with joint friction under given normal loads of its joints, for one sample.

    M V' + b = J^T u - W^T tau,    rates of joints with friction W V, of actuators J V

V are the rates of the robot's freedoms, of joints or of a platform; `tasks.dynamics.instant.systems` provides M, b, J
and W. Moving joints have the friction of their law. Joints at rest are held as far as their limits allow, all of them
together (`tasks.dynamics.instant.rest`): W_H V' + W_H' V = 0 for the joints that hold. A partition tells which hold; a
motion tells whether it meets the conditions of friction at rest. Sources: joint-friction paper, sections 2 to 4;
industrial manipulators paper, Eqs. (17) to (21).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from robots.data_classes import dataclass
from tasks.dynamics.instant.mobility import Mobility
from tasks.dynamics.instant.pushed import Drag, Moved, Pushed
from tasks.dynamics.instant.rest import COMPLIANCE, DEPENDENT, NOTHING, Brake, RestProblem
from tasks.kernels.expression import Array, Scalar, once
from tasks.mathematics.algebra import array, is_zero, total, where
from tasks.mathematics.solvers import Factors

WITHIN = 1e-12
"""Share of a limit by which friction at rest may be beyond it."""

BALANCED = 1e-10
"""Acceleration of a joint, relative to the sum of the magnitudes of its terms, that counts as zero."""

BREAKING = 1e-12
"""Relative acceleration above which a joint at rest breaks away."""

TRACE = 1e-9
"""Relative acceleration of a joint at its friction limit that counts, even if sticking joints leave it no freedom."""

ROUNDED = 1e-13
"""Friction at rest relative to the friction that would hold the joint alone."""

LEAST = 1e-3
"""Share by which friction may miss its least norm, where it is not unique."""

IMMOVABLE = 1e-12
"""Rate of a joint for unit rates of the freedoms below which the joint counts as immovable."""


@dataclass(frozen=True)
class Loaded:
    """A pushed robot under normal loads (joint,) of all joints with friction."""

    pushed: Pushed
    loads: Sequence[Scalar]

    @cached_property
    def _drags(self) -> list[Drag]:
        return [self.pushed.drag(k, load) for k, load in enumerate(self.loads)]

    @cached_property
    def _factors(self) -> Factors:
        """Factors of the mass matrix, with the terms of a linearly implicit stage."""
        if is_zero(self.pushed.stage.scale):
            return self.pushed.factors
        heavy = self.pushed.mass
        for row, drag in zip(self.pushed.rows, self._drags, strict=True):
            heavy = heavy + np.outer(row, row) * (drag.stiffness * self.pushed.stage.scale)
        return Factors.of(heavy)

    @cached_property
    def _free(self) -> Array:
        """Accelerations (freedom,) without friction of joints at rest."""
        pushed, scale = self.pushed, self.pushed.stage.scale
        braking = [drag.force + drag.force_memory * scale * drag.rate * drag.share for drag in self._drags]
        driving, dragged = pushed.jacobian.T @ array(pushed.push), pushed.rows.T @ array(braking)
        if is_zero(scale):
            return pushed.accelerated(driving, dragged)
        less = pushed.mass @ array(pushed.stage.less_rate)
        return self._factors.solve(driving - pushed.bias - dragged - less)

    def _change(self, acceleration: Array) -> Array:
        """Return the accelerations of all joints with friction (joint,)."""
        return self.pushed.rows @ (acceleration + array(self.pushed.stage.less_rate)) + self.pushed.drift

    @cached_property
    def _mobility(self) -> Mobility:
        """Mobility of the joints that may rest.

        Without any the mass matrix is not asked for: tracing that of a tree takes much longer than its motion.
        """
        rows = self.pushed.rows[np.array(self.pushed.sticking, dtype=int)]
        return Mobility(self._factors if len(rows) else Factors.of(np.eye(rows.shape[1])), rows)

    @cached_property
    def _resting(self) -> list[Scalar]:
        """1 where a joint that may rest does, and friction in it would be felt."""
        rows, rest = self.pushed.rows, self.pushed.modes.rest
        return [where(total(rows[k]) > IMMOVABLE, rest[k], 0.0) for k in self.pushed.sticking]

    @cached_property
    def limits(self) -> tuple[Array, Array]:
        """Upper and lower limits of friction in the joints that may rest."""
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
        """Return 1 if joints that do not break away depend on each other, so that their friction is not unique."""
        broken = [breaking[k] for k in self.pushed.sticking]
        at_rest = [where(abs(x) > 0.0, 0.0, mask) for x, mask in zip(broken, self._resting, strict=True)]
        return self._brake(at_rest).dependent

    def _brake(self, holds: Sequence[Scalar]) -> Brake:
        return once("brake", [*holds, self], lambda: Brake(self._mobility, self.pushed.sticking, holds))

    def kept_speed(self) -> Array:
        """Return the rates of the freedoms (freedom,) without components that joints at rest forbid."""
        brake = self._brake(self._resting)
        _, less = brake.forces(self.pushed.velocity)
        speed = array(self.pushed.speed)
        return brake.unless_held(brake.released(speed, less), speed, less)

    def moved(self, partition: Sequence[Scalar]) -> Moved:
        """Return the motion with joints at rest sticking or at a limit, given by `partition` (joint that may rest,)."""
        pushed, scale, sticking = self.pushed, self.pushed.stage.scale, self.pushed.sticking
        above, below = self.limits
        sides = [p * mask for p, mask in zip(partition, self._resting, strict=True)]
        bound = [where(p > 0.5, a, where(p < -0.5, -b, 0.0)) for p, a, b in zip(sides, above, below, strict=True)]
        holds = [where(abs(p) > 0.5, 0.0, mask) for p, mask in zip(sides, self._resting, strict=True)]
        brake = self._brake(holds)
        free = self._free - self._mobility.accelerations(array(bound)) if sticking else self._free
        first, holding = brake.forces(self._change(free))
        acceleration = brake.released(free, holding)
        least = brake.least(holding, pushed.mass) if sticking else []
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
        return Moved(brake.unless_held(acceleration, free, holding), friction, rates, change, parts, holds, *judged)

    def _parts(self, friction: Sequence[Scalar]) -> list[Scalar]:
        """Return the magnitudes of the terms that add up to each acceleration of a joint that may rest."""
        pushed, sizes = self.pushed, abs(array(friction))
        free = abs(self._free) + abs(array(pushed.stage.less_rate))
        rows = ((abs(pushed.rows[k]) @ free, abs(pushed.drift[k])) for k in pushed.sticking)
        return [a + b + abs(diagonal) @ sizes for (a, b), diagonal in zip(rows, self._mobility.matrix, strict=True)]

    @cached_property
    def _turning(self) -> list[Scalar]:
        """Size of the terms that velocity adds to the acceleration of joints that may rest, before they cancel."""
        rates = abs(self.pushed.rows) @ abs(array(self.pushed.speed))
        return [rates[k] * rates[k] for k in self.pushed.sticking]

    def breaking(self, moved: Moved) -> list[Scalar]:
        """Return the relative accelerations of joints at rest that break away, 0 for others (joint,).

        A joint at its friction limit is held if the sticking joints leave it no freedom. A joint at rest that no
        freedom can move, with any friction, reverses where its velocity term accelerates it.
        """
        result: list[Scalar] = [0.0] * len(self.pushed.joints)
        stiffness = self._brake(moved.holds).stiffness
        for i, k in enumerate(self.pushed.sticking):
            diagonal, share = self._mobility.matrix[i, i], moved.change[k] / (moved.parts[i] + NOTHING)
            left = stiffness.of_joint(i)
            noise = moved.parts[i] * BREAKING + self._turning[i] * ROUNDED
            share = where(abs(moved.change[k]) > noise, share, 0.0)
            little = where(abs(moved.change[k]) > moved.parts[i] * TRACE, share, 0.0)
            loose = where(moved.holds[i] > 0.5, 0.0, where(left > diagonal * DEPENDENT, share, little))
            result[k] = where(self._resting[i] > 0.5, loose, share * self.pushed.modes.rest[k])
        return result

    def _judged(
        self, sides: Sequence[Scalar], holds: Sequence[Scalar], friction: Sequence[Scalar],
        sizes: Sequence[Scalar], change: Array, first_change: Array,
    ) -> tuple[Scalar, Scalar, list[Scalar]]:  # fmt: skip
        """Return `accepted`, `least` and `better` of Moved."""
        accepted: Scalar = 1.0
        least: Scalar = 1.0
        better: list[Scalar] = []
        for i, (k, parts) in enumerate(zip(self.pushed.sticking, sizes, strict=True)):
            rests, hold, diagonal, side = self._resting[i] > 0.5, holds[i] > 0.5, self._mobility.matrix[i, i], sides[i]
            alone = parts / where(diagonal > 0.0, diagonal, 1.0)
            limit = where(friction[i] < 0.0, self.limits[1][i], self.limits[0][i])
            slight = diagonal * limit * WITHIN  # more than none where nothing pushes a joint
            within = abs(friction[i]) <= limit * (1.0 + WITHIN) + alone * ROUNDED
            noise = parts * BALANCED + self._turning[i] * ROUNDED + slight + NOTHING
            balanced, forth = abs(change[k]) <= noise, side * change[k] >= -noise
            good = where(hold, where(within, where(balanced, 1.0, 0.0), 0.0), where(forth, 1.0, 0.0))
            accepted = accepted * where(rests, good, 1.0)
            # if the joints that hold in place of a joint at its limit yielded a little, the joint would have to do more
            asked = diagonal * limit * (1.0 - LEAST) - parts * LEAST
            enough = side * first_change[k] >= asked * COMPLIANCE
            least = least * where(rests, where(hold, 1.0, where(enough, 1.0, 0.0)), 1.0)
            held = where(within, 0.0, where(friction[i] < 0.0, -1.0, 1.0))
            better.append(where(hold, held, where(forth, where(enough, side, 0.0), 0.0)))
        return accepted, least, better
