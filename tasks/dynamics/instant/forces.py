"""Forward dynamics with joint friction, for one sample: accelerations, friction and normal loads under actuator forces.

    M V' + b = J^T u - W^T tau,    rates of joints with friction W V, of actuators J V

V are the rates of the robot's freedoms, of joints or of a platform; `tasks.dynamics.instant.systems` provides M, b, J
and W. Sources: joint-friction paper, sections 2 to 4; industrial manipulators paper, Eqs. (17) to (21).

Under given normal loads and a partition of the joints at rest (`Loaded`), moving joints have the friction of their law.
Joints at rest are held as far as their limits allow, all of them together (`tasks.dynamics.instant.rest`):
W_H V' + W_H' V = 0 for the joints that hold.

Normal loads from reactions (`Loads`) depend on accelerations and on friction, which depend on loads: loads -> friction
-> accelerations -> reactions -> loads, until nothing changes. Under given loads friction at rest is a convex problem.
Loops do not nest, so one loop takes either a step of that problem or, once it is solved, one round of loads. The status
of a sample tells coefficients so large that this does not settle, or that there is no motion or more than one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from robots.data_classes import dataclass
from robots.friction.groups import FrictionGroup
from robots.model import Family
from robots.status import Status
from tasks.dynamics.instant import rest
from tasks.dynamics.instant.pushed import Drag, Moved, Pushed
from tasks.dynamics.instant.rest import (
    ALIKE,
    AWAY,
    COMPLIANCE,
    DEPENDENT,
    ENDED,
    FIRST,
    GONE,
    GROWTH,
    GROWTH_ROUNDS,
    LOST,
    NOTHING,
    OTHER,
    SHARE,
    SLOW_STEPS,
    SLOWLY,
    Brake,
    RestProblem,
    Searches,
    differs,
    equal,
    large,
)
from tasks.features.friction import requests
from tasks.features.friction.joints import ForwardFriction, load_vectors
from tasks.features.friction.load_iteration import PROVEN
from tasks.features.friction.passive import PassiveFriction
from tasks.kernels.expression import Array, Mask, Scalar
from tasks.mathematics.algebra import array, from_columns, is_zero, iterate, total, where
from tasks.mathematics.solvers import Factors
from tasks.mechanics import reactions as reactions
from tasks.mechanics import solving

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
        return Brake(lambda: self._factors, self.pushed.rows, self.pushed.sticking, holds)

    def kept_speed(self) -> Array:
        """Return the rates of the freedoms (freedom,) without components that joints at rest forbid."""
        brake = self._brake(self._resting)
        _, less = brake.forces(self.pushed.velocity)
        return brake.unless_held(brake.released(array(self.pushed.speed), less))

    def moved(self, partition: Sequence[Scalar]) -> Moved:
        """Return the motion with joints at rest sticking or at a limit, given by `partition` (joint that may rest,)."""
        pushed, scale, sticking = self.pushed, self.pushed.stage.scale, self.pushed.sticking
        above, below = self.limits
        sides = [p * mask for p, mask in zip(partition, self._resting, strict=True)]
        bound = [where(p > 0.5, a, where(p < -0.5, -b, 0.0)) for p, a, b in zip(sides, above, below, strict=True)]
        holds = [where(abs(p) > 0.5, 0.0, mask) for p, mask in zip(sides, self._resting, strict=True)]
        brake = self._brake(holds)
        free = self._free - self._through @ array(bound) if sticking else self._free
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
        return Moved(brake.unless_held(acceleration), friction, rates, change, parts, holds, *judged)

    def _parts(self, friction: Sequence[Scalar]) -> list[Scalar]:
        """Return the magnitudes of the terms that add up to each acceleration of a joint that may rest."""
        pushed, sizes = self.pushed, abs(array(friction))
        free = abs(self._free) + abs(array(pushed.stage.less_rate))
        rows = ((abs(pushed.rows[k]) @ free, abs(pushed.drift[k])) for k in pushed.sticking)
        return [a + b + abs(diagonal) @ sizes for (a, b), diagonal in zip(rows, self._mobility, strict=True)]

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
            diagonal, share = self._mobility[i, i], moved.change[k] / (moved.parts[i] + NOTHING)
            left = diagonal - stiffness.quadratic(self._mobility[i] * array(moved.holds))
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
            rests, hold, diagonal, side = self._resting[i] > 0.5, holds[i] > 0.5, self._mobility[i, i], sides[i]
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


ITERATIONS = 600
"""Rounds of loads, where no joint can be at rest; else rounds and steps of the problem of rest together."""

REST_ITERATIONS = 60
"""Steps of the problem of rest where loads do not change."""

PATIENT = 24
"""Steps after which friction need not be the least of all that give the same accelerations."""

HESITANT = ((60, 0.5), (200, 0.9), (400, 0.98))
"""Rounds after which loads keep this share of their first values: the iteration diverges with a gain above one."""

SETTLED = 1e-14
"""Change of all loads in a step, relative to their size, at which the iteration ends."""

ACCURATE = 1e-9
"""The same above which it has not settled."""

TINY, LARGEST = 1e-300, 1e300


class _Carried(PassiveFriction):
    """Loads of joints under known forces, those of the actuators less their own friction."""

    def forces(self, tau: Array) -> Array:
        """Return the actuator forces, which do not depend on friction here."""
        return self.force

    def multipliers(self, tau: Array) -> list[Array]:
        """Return the free multipliers of each limb's redundant rows."""
        names = (*reactions.SHARES, *(reactions.FRICTION_SHARES if self.places else ()))
        shares = [
            {name: self.shares[name][k] for name in names if k in self.shares.get(name, ())} for k in range(self.count)
        ]
        return self._balance(
            shares, self.force, self.shares["held"], [tau[slice_of_limb] for slice_of_limb in self.slices]
        )


@dataclass(frozen=True)
class _Round:
    """The state of the loop: rounds of loads so far, steps of the problem of rest in this one, and where both are."""

    rounds: Scalar
    steps: Scalar
    loads: Sequence[Scalar]
    partition: Sequence[Scalar]
    iterate: Sequence[Scalar]

    def numbers(self) -> list[Scalar]:
        """Return the state as a flat list of numbers."""
        return [self.rounds, self.steps, *self.loads, *self.partition, *self.iterate]


@dataclass(frozen=True)
class _Taken:
    """One round or step: the state after it, 1 where loads have `settled` or are `lost`, and the state before it."""

    after: _Round
    settled: Scalar
    lost: Scalar
    moved: Moved
    following: Sequence[Scalar]
    change: Scalar


@dataclass(frozen=True)
class SettledMotion:
    """A robot under loads that belong to its motion, that motion, and its status."""

    loaded: Loaded
    moved: Moved
    status: Scalar


@dataclass(frozen=True)
class Loads:
    """Finds the loads of all joints with friction of a pushed robot, and its motion."""

    family: Family
    groups: tuple[FrictionGroup, ...]
    pushed: Pushed

    def settled(self) -> SettledMotion:
        """Return loads and motion that are consistent with each other."""
        still: list[Scalar] = [0.0] * len(self.pushed.sticking)
        first: Sequence[Scalar] = [0.0] * len(self._loaded)
        if self._loaded:
            first = self._following(self._under(first).moved(still))
        if not self._loaded and not still:
            loaded = self._under([])
            return SettledMotion(loaded, loaded.moved([]), 0.0)
        zero = self.pushed.speed[0] * 0.0  # a symbol where the program is traced
        start = _Round(zero, zero, first, still, [0.0] * (rest.NUMBERS * len(still)))
        if self._loaded:
            return self._searched(start, total(first))
        end = self._round(iterate(self._step, start.numbers(), REST_ITERATIONS))
        loaded = self._under([])
        moved = loaded.moved(end.partition)
        return SettledMotion(loaded, moved, (1.0 - moved.accepted) * float(Status.FRICTION_NOT_CONVERGED))

    def _searched(self, start: _Round, size: Scalar) -> SettledMotion:
        """Return the end of the first search, its status from later ones. `size`: sum of the loads without friction."""
        unit, still = where(size > 0.0, size, 1.0), [0.0] * len(self.pushed.sticking)
        limit = ITERATIONS * (2 if still else 1)
        none: list[Scalar] = [0.0] * len(self.pushed.speed)
        searches = Searches(FIRST, 0.0, 0.0, (0.0, 0.0), 0.0, start.loads, still, none)
        own = len(start.numbers())

        def step(numbers: Sequence[Scalar]) -> tuple[list[Scalar], Mask]:
            now, at = self._round(numbers[:own]), self._searches(numbers[own:])
            after, then, done = self._continued(now, at, unit, limit)
            return [*after.numbers(), *then.numbers()], done

        numbers = iterate(step, [*start.numbers(), *searches.numbers()], limit + GROWTH_ROUNDS + SLOW_STEPS)
        end, searches = self._round(numbers[:own]), self._searches(numbers[own:])
        over = searches.phase > FIRST + 0.5
        loads = [where(over, a, b) for a, b in zip(searches.loads, end.loads, strict=True)]
        partition = [where(over, a, b) for a, b in zip(searches.partition, end.partition, strict=True)]
        loaded = self._under(loads)
        moved = loaded.moved(partition)
        following = self._following(moved)
        change = total([a - b for a, b in zip(following, loads, strict=True)])
        unsettled = where(change <= ACCURATE * total(following) + TINY, 1.0 - moved.accepted, 1.0)
        return SettledMotion(loaded, moved, self._status(unsettled, searches))

    def _status(self, unsettled: Scalar, searches: Searches) -> Scalar:
        """Return "several" if another search converges or all joints move, "no solution" if that is proven.

        Loads that diverge in each search are a proof for a single joint, see `tasks.features.friction.load_iteration`.
        """
        second, grows = searches.second, searches.grows
        another = equal(second, OTHER) * grows
        moving = where(self._at_rest > 0.5, 0.0, grows)
        several = where(unsettled > 0.5, another, where(moving > 0.5, 1.0, another))
        status = where(unsettled > 0.5, float(Status.FRICTION_NOT_CONVERGED), 0.0)
        if len(self._loaded) == 1 and {*self.pushed.sticking} <= {*self._loaded}:
            factor = searches.growth[0] * searches.growth[1]
            proven = equal(second, LOST) * unsettled * grows * where(factor <= PROVEN * PROVEN, 1.0, 0.0)
            status = where(proven > 0.5, float(Status.FRICTION_NO_SOLUTION), status)
        return where(several > 0.5, float(Status.FRICTION_SEVERAL_SOLUTIONS), status)

    @property
    def _at_rest(self) -> Scalar:
        """Number of joints at rest."""
        return total([self.pushed.modes.rest[k] for k in self.pushed.sticking]) if self.pushed.sticking else 0.0

    @property
    def _size(self) -> Scalar:
        """Size of the accelerations by actuator forces, and of the accelerations without them."""
        pushed = self.pushed
        factors = Factors.of(pushed.mass)
        return total(factors.solve(pushed.jacobian.T @ array(pushed.push))) + total(factors.solve(pushed.bias))

    def _searches(self, numbers: Sequence[Scalar]) -> Searches:
        return Searches.of(numbers, len(self._loaded), len(self.pushed.sticking))

    def _continued(self, now: _Round, at: Searches, unit: Scalar, limit: int) -> tuple[_Round, Searches, Mask]:
        """Return a round or step of the phase in which the searches are, and whether all of them have ended."""
        taken = self._taken(now, at.phase)
        after, moved, following = taken.after, taken.moved, taken.following
        zero = now.rounds * 0.0
        first, growing, slowly = (equal(at.phase, phase) for phase in (FIRST, GROWTH, SLOWLY))
        # the first search: at its end loads become large, and joints at rest slide the way that they would
        gone = where(total(now.loads) <= GONE * unit, where(at.count >= limit - 1.0, 1.0, 0.0), 1.0)
        ended = first * where(taken.settled > 0.5, 1.0, gone) * (1.0 - taken.lost)
        tau = (moved.friction[k] for k in self.pushed.sticking)
        signs = [where(x < 0.0, -1.0, 1.0) for x in tau]
        # growth: under large loads alone
        ratio = total(following) / where(total(now.loads) > 0.0, total(now.loads), 1.0)
        growth = [where(growing > 0.5, a, b) for a, b in zip((at.growth[1], ratio), at.growth, strict=True)]
        grown = growing * where(now.rounds >= GROWTH_ROUNDS - 1.0, 1.0, 0.0)
        # the slow search, where growth asks for it and the first has not decided
        grows = where(growth[0] * growth[1] >= 1.0, 1.0, 0.0)
        asked = grown * grows * where(at.settled > 0.5, where(self._at_rest > 0.5, 1.0, 0.0), 1.0)
        found = slowly * moved.accepted * where(taken.change <= ENDED * total(following) + TINY, 1.0, 0.0)
        away = slowly * where(total(now.loads) <= AWAY * unit, 0.0, 1.0)
        is_other_motion = where(at.settled > 0.5, differs(moved.acceleration, at.acceleration, self._size), 1.0)
        second = where(found > 0.5, where(is_other_motion > 0.5, OTHER, ALIKE), where(away > 0.5, LOST, at.second))

        enlarged = large([where(first > 0.5, a, b) for a, b in zip(after.loads, following, strict=True)], unit)
        bigger = ended + growing * (1.0 - grown) > 0.5
        loads = [where(asked > 0.5, zero, where(bigger, a, b)) for a, b in zip(enlarged, after.loads, strict=True)]
        plain = [where(growing > 0.5, a, b) for a, b in zip(now.partition, after.partition, strict=True)]
        partition = [where(asked > 0.5, zero, where(ended > 0.5, a, b)) for a, b in zip(signs, plain, strict=True)]
        begins = ended + asked > 0.5
        rounds = where(begins, zero, where(growing > 0.5, now.rounds + 1.0, after.rounds))
        then = _Round(rounds, where(begins, zero, after.steps * (1.0 - growing)), loads, partition, after.iterate)

        def first_end(new: Sequence[Scalar], old: Sequence[Scalar]) -> list[Scalar]:
            return [where(ended > 0.5, a, b) for a, b in zip(new, old, strict=True)]

        searches = Searches(
            where(asked > 0.5, SLOWLY, where(ended > 0.5, GROWTH, at.phase)),
            at.count + 1.0,
            where(ended > 0.5, taken.settled, at.settled),
            growth,
            second,
            first_end(after.loads, at.loads),
            first_end(after.partition, at.partition),
            first_end(list(moved.acceleration), at.acceleration),
        )
        return then, searches, taken.lost + grown * (1.0 - asked) + found + away > 0.5

    @property
    def _loaded(self) -> list[int]:
        joints = self.pushed.joints
        return [k for k, each in enumerate(joints) if each.joint.group.load == "reaction"]

    def _under(self, reactions_: Sequence[Scalar]) -> Loaded:
        loads = iter(reactions_)

        def load(each: ForwardFriction) -> Scalar:
            if each.geared:
                return self.pushed.push[each.joint.place.actuator]
            return next(loads) if each.joint.group.load == "reaction" else each.joint.load(None)

        return Loaded(self.pushed, [load(each) for each in self.pushed.joints])

    def _round(self, numbers: Sequence[Scalar]) -> _Round:
        rounds, steps, *others = numbers
        ends = (len(self._loaded), len(self._loaded) + len(self.pushed.sticking))
        return _Round(rounds, steps, others[: ends[0]], others[ends[0] : ends[1]], others[ends[1] :])

    def _step(self, numbers: Sequence[Scalar]) -> tuple[list[Scalar], Mask]:
        taken = self._taken(self._round(numbers), FIRST)
        return taken.after.numbers(), where(taken.settled > 0.5, 1.0, taken.lost) > 0.5

    def _taken(self, now: _Round, phase: Scalar) -> _Taken:
        loaded = self._under(now.loads)
        moved = loaded.moved(now.partition)
        good = moved.accepted * where(now.steps > PATIENT, 1.0, moved.least)
        following = self._following(moved) if self._loaded else []
        changes = [a - b for a, b in zip(following, now.loads, strict=True)]
        moving = total(changes) > SETTLED * total(following) + TINY
        share: Scalar = 0.0
        for rounds, kept in HESITANT:
            share = where(now.rounds > rounds, kept, share)
        share = where(equal(phase, SLOWLY) > 0.5, SHARE, share)
        pairs = zip(following, now.loads, strict=True)
        loads = [where(good > 0.5, a - (a - b) * share, b) for a, b in pairs]
        partition, iterate_ = self._sought(now, loaded, moved, good)
        result = _Round(now.rounds + good, where(good > 0.5, 0.0, now.steps + 1.0), loads, partition, iterate_)
        # NaN counts as done: it will not get better
        lost = where(total(moved.acceleration) <= LARGEST, 0.0, 1.0)
        settled = where(good > 0.5, where(moving, 0.0, 1.0), 0.0)
        return _Taken(result, settled, lost, moved, following, total(changes) if changes else 0.0)

    def _sought(
        self, now: _Round, loaded: Loaded, moved: Moved, good: Scalar
    ) -> tuple[Sequence[Scalar], Sequence[Scalar]]:
        """Return the partition of the next step of the problem of rest, and its iterate."""
        if not self.pushed.sticking:
            return now.partition, now.iterate
        inner = rest.chosen(where(now.steps < 0.5, 1.0, 0.0), loaded.rest.start(), now.iterate)
        inner = loaded.rest.following(inner)
        half: Any = now.steps * 0.5  # `np.floor` calls the method of a symbol
        even = half - np.floor(half) < 0.25
        tried = [where(even, a, b) for a, b in zip(moved.better, inner.partition(), strict=True)]
        return [where(good > 0.5, a, b) for a, b in zip(now.partition, tried, strict=True)], inner.numbers()

    def under(self, loads: Sequence[Scalar]) -> tuple[SettledMotion, dict[str, Any]]:
        """Return the motion under given normal loads (loaded joint,), and the quantities that follow from it.

        following: the loads that result from the motion; vectors: see `vectors`; change: accelerations of the loaded
        joints.
        """
        loaded, still = self._under(loads), [0.0] * len(self.pushed.sticking)

        def step(numbers: Sequence[Scalar]) -> tuple[list[Scalar], Mask]:
            now = self._round([numbers[0] * 0.0, numbers[0], *loads, *numbers[1:]])
            moved = loaded.moved(now.partition)
            good = moved.accepted * where(now.steps > PATIENT, 1.0, moved.least)
            partition, iterate_ = self._sought(now, loaded, moved, good)
            return [now.steps + 1.0, *partition, *iterate_], good > 0.5

        zero = self.pushed.speed[0] * 0.0  # a symbol where the program is traced
        start = [zero, *still, *[0.0] * (rest.NUMBERS * len(still))]
        numbers = iterate(step, start, REST_ITERATIONS) if still else start
        moved = loaded.moved(numbers[1 : 1 + len(still)])
        status = (1.0 - moved.accepted) * float(Status.FRICTION_NOT_CONVERGED)
        result = {"following": self._following(moved), "vectors": self.vectors(moved)}
        return SettledMotion(loaded, moved, status), result | {"change": [moved.change[k] for k in self._loaded]}

    def vectors(self, moved: Moved) -> list[Scalar]:
        """Return the bearing loads of loaded joints, see `load_vectors`, one joint after the other."""
        joints = [self.pushed.joints[k].joint for k in self._loaded]
        pairs = zip(joints, self._carried(moved), strict=True)
        return [x for joint, carried in pairs for x in load_vectors(joint.kind, carried, joint.values)]

    def _following(self, moved: Moved) -> list[Scalar]:
        joints = [self.pushed.joints[k].joint for k in self._loaded]
        return [joint.load(carried) for joint, carried in zip(joints, self._carried(moved), strict=True)]

    def _carried(self, moved: Moved) -> list[Array]:
        """Return the wrenches that bearings of loaded joints carry."""
        joints = [each.joint for each in self.pushed.joints]
        friction = {joint.place: tau for joint, tau in zip(joints, moved.friction, strict=True)}
        net = np.array(array(self.pushed.push), dtype=object)
        for place, tau in friction.items():
            if place.actuator >= 0:
                net[place.actuator] = net[place.actuator] - tau
        wanted = requests.wanted(self.family, self.groups)
        held = solving.carried(self.family) if requests.statics(wanted) else ()
        robot = _Carried(self.family, wanted, array(net), self.pushed.shares(moved.acceleration, wanted), held)
        passive = array([friction[place] for place in robot.places])
        return [robot.carried(joints[k].place, passive) for k in self._loaded]
