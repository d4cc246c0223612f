"""Normal loads that belong to the motion of a robot with joint friction, and that motion, for one sample.

Loads from reactions depend on accelerations and on friction, which depend on loads: loads -> friction -> accelerations
-> reactions -> loads, until nothing changes. Under given loads friction at rest is a convex problem
(`tasks.dynamics.instant.given_loads`). Loops do not nest, so one loop takes either a step of that problem or, once it
is solved, one round of loads. The status of a sample tells coefficients so large that this does not settle, or that
there is no motion or more than one (`tasks.dynamics.instant.search_phases`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from robots.data_classes import dataclass
from robots.status import Status
from tasks.dynamics.instant import rest
from tasks.dynamics.instant.given_loads import Loaded
from tasks.dynamics.instant.pushed import Moved, Pushed
from tasks.dynamics.instant.search_phases import (
    ALIKE,
    AWAY,
    ENDED,
    FIRST,
    GONE,
    GROWTH,
    GROWTH_ROUNDS,
    LOST,
    OTHER,
    SHARE,
    SLOW_STEPS,
    SLOWLY,
    Searches,
    differs,
    equal,
    large,
)
from tasks.features.friction.joints import ForwardFriction
from tasks.features.friction.load_iteration import PROVEN
from tasks.kernels.expression import Mask, Scalar
from tasks.mathematics.algebra import array, iterate, total, where
from tasks.mathematics.solvers import Factors

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
class _Ends:
    """Ends of phases with a round or step, 1 or 0, and the factors of growth after it.

    growing: it was one of growth; first, grown: the first search or growth ends; slow: the slow search begins;
    reached, away: it ends at a motion, or with loads without bound.
    """

    growing: Scalar
    growth: Sequence[Scalar]
    first: Scalar
    grown: Scalar
    slow: Scalar
    reached: Scalar
    away: Scalar


@dataclass(frozen=True)
class SettledMotion:
    """A robot under loads that belong to its motion, that motion, and its status."""

    loaded: Loaded
    moved: Moved
    status: Scalar


class LoadsOfMotion(Protocol):
    """Loads of joints that follow from a motion, see `tasks.dynamics.instant.bearing_loads`."""

    @property
    def joints(self) -> list[int]:
        """Numbers of the loaded joints among all joints with friction."""
        ...

    def following(self, moved: Moved) -> list[Scalar]:
        """Return the normal loads that follow from a motion."""
        ...

    def vectors(self, moved: Moved) -> list[Scalar]:
        """Return the bearing loads of loaded joints, one joint after the other."""
        ...


@dataclass(frozen=True)
class Loads:
    """Search for the loads of all joints with friction of a pushed robot, and for its motion."""

    pushed: Pushed
    bearings: LoadsOfMotion

    def settled(self) -> SettledMotion:
        """Return loads and motion that are consistent with each other."""
        still: list[Scalar] = [0.0] * len(self.pushed.sticking)
        first: Sequence[Scalar] = [0.0] * len(self.bearings.joints)
        if self.bearings.joints:
            first = self.bearings.following(self._under(first).moved(still))
        if not self.bearings.joints and not still:
            return SettledMotion(self._unloaded, self._unloaded.moved([]), 0.0)
        zero = self.pushed.speed[0] * 0.0  # a symbol where the program is traced
        start = _Round(zero, zero, first, still, [0.0] * (rest.NUMBERS * len(still)))
        if self.bearings.joints:
            return self._searched(start, total(first))
        end = self._round(iterate(self._step, start.numbers(), REST_ITERATIONS))
        moved = self._unloaded.moved(end.partition)
        return SettledMotion(self._unloaded, moved, (1.0 - moved.accepted) * float(Status.FRICTION_NOT_CONVERGED))

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
        following = self.bearings.following(moved)
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
        if len(self.bearings.joints) == 1 and {*self.pushed.sticking} <= {*self.bearings.joints}:
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
        return Searches.of(numbers, len(self.bearings.joints), len(self.pushed.sticking))

    def _continued(self, now: _Round, at: Searches, unit: Scalar, limit: int) -> tuple[_Round, Searches, Mask]:
        """Return a round or step of the phase in which the searches are, and whether all of them have ended."""
        taken = self._taken(now, at.phase)
        ends = self._ends(now, at, taken, unit, limit)
        after = self._next_round(now, taken, ends, unit)
        searches = self._next_searches(at, taken, ends)
        return after, searches, taken.lost + ends.grown * (1.0 - ends.slow) + ends.reached + ends.away > 0.5

    def _ends(self, now: _Round, at: Searches, taken: _Taken, unit: Scalar, limit: int) -> _Ends:
        """Tell which phases end with a round or step."""
        first, growing, slowly = (equal(at.phase, phase) for phase in (FIRST, GROWTH, SLOWLY))
        gone = where(total(now.loads) <= GONE * unit, where(at.count >= limit - 1.0, 1.0, 0.0), 1.0)
        first_ended = first * where(taken.settled > 0.5, 1.0, gone) * (1.0 - taken.lost)
        ratio = total(taken.following) / where(total(now.loads) > 0.0, total(now.loads), 1.0)
        growth = [where(growing > 0.5, a, b) for a, b in zip((at.growth[1], ratio), at.growth, strict=True)]
        grown = growing * where(now.rounds >= GROWTH_ROUNDS - 1.0, 1.0, 0.0)
        # the slow search begins where growth asks for it and the first search has not decided
        grows = where(growth[0] * growth[1] >= 1.0, 1.0, 0.0)
        slow = grown * grows * where(at.settled > 0.5, where(self._at_rest > 0.5, 1.0, 0.0), 1.0)
        settled = where(taken.change <= ENDED * total(taken.following) + TINY, 1.0, 0.0)
        reached = slowly * taken.moved.accepted * settled
        away = slowly * where(total(now.loads) <= AWAY * unit, 0.0, 1.0)
        return _Ends(growing, growth, first_ended, grown, slow, reached, away)

    def _next_round(self, now: _Round, taken: _Taken, ends: _Ends, unit: Scalar) -> _Round:
        """Return the state of the loop after a round or step, with the loads with which the next phase begins.

        At the end of the first search loads become large, and joints at rest slide in the direction of their friction.
        Under large loads the rounds of growth change nothing but loads. The slow search begins without loads.
        """
        zero, after = now.rounds * 0.0, taken.after
        pairs = zip(after.loads, taken.following, strict=True)
        enlarged = large([where(ends.first > 0.5, a, b) for a, b in pairs], unit)
        bigger = ends.first + ends.growing * (1.0 - ends.grown) > 0.5
        loads = [where(ends.slow > 0.5, zero, where(bigger, a, b)) for a, b in zip(enlarged, after.loads, strict=True)]
        plain = [where(ends.growing > 0.5, a, b) for a, b in zip(now.partition, after.partition, strict=True)]
        signs = [where(taken.moved.friction[k] < 0.0, -1.0, 1.0) for k in self.pushed.sticking]
        partition = [
            where(ends.slow > 0.5, zero, where(ends.first > 0.5, a, b)) for a, b in zip(signs, plain, strict=True)
        ]
        begins = ends.first + ends.slow > 0.5
        rounds = where(begins, zero, where(ends.growing > 0.5, now.rounds + 1.0, after.rounds))
        steps = where(begins, zero, after.steps * (1.0 - ends.growing))
        return _Round(rounds, steps, loads, partition, after.iterate)

    def _next_searches(self, at: Searches, taken: _Taken, ends: _Ends) -> Searches:
        """Return the state of the searches after a round or step."""
        moved = taken.moved

        def first_end(new: Sequence[Scalar], old: Sequence[Scalar]) -> list[Scalar]:
            return [where(ends.first > 0.5, a, b) for a, b in zip(new, old, strict=True)]

        is_other_motion = where(at.settled > 0.5, differs(moved.acceleration, at.acceleration, self._size), 1.0)
        motion = where(is_other_motion > 0.5, OTHER, ALIKE)
        return Searches(
            where(ends.slow > 0.5, SLOWLY, where(ends.first > 0.5, GROWTH, at.phase)),
            at.count + 1.0,
            where(ends.first > 0.5, taken.settled, at.settled),
            ends.growth,
            where(ends.reached > 0.5, motion, where(ends.away > 0.5, LOST, at.second)),
            first_end(taken.after.loads, at.loads),
            first_end(taken.after.partition, at.partition),
            first_end(list(moved.acceleration), at.acceleration),
        )

    @cached_property
    def _unloaded(self) -> Loaded:
        """The robot whose loads are no reactions."""
        return self._under([])

    def _under(self, reactions_: Sequence[Scalar]) -> Loaded:
        loads = iter(reactions_)

        def load(each: ForwardFriction) -> Scalar:
            if each.geared:
                return self.pushed.push[each.joint.place.actuator]
            return next(loads) if each.joint.group.load == "reaction" else each.joint.load(None)

        return Loaded(self.pushed, [load(each) for each in self.pushed.joints])

    def _round(self, numbers: Sequence[Scalar]) -> _Round:
        rounds, steps, *others = numbers
        ends = (len(self.bearings.joints), len(self.bearings.joints) + len(self.pushed.sticking))
        return _Round(rounds, steps, others[: ends[0]], others[ends[0] : ends[1]], others[ends[1] :])

    def _step(self, numbers: Sequence[Scalar]) -> tuple[list[Scalar], Mask]:
        taken = self._taken(self._round(numbers), FIRST)
        return taken.after.numbers(), where(taken.settled > 0.5, 1.0, taken.lost) > 0.5

    def _taken(self, now: _Round, phase: Scalar) -> _Taken:
        loaded = self._under(now.loads) if self.bearings.joints else self._unloaded
        moved = loaded.moved(now.partition)
        good = moved.accepted * where(now.steps > PATIENT, 1.0, moved.least)
        following = self.bearings.following(moved) if self.bearings.joints else []
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

        following: the loads that result from the motion; vectors: see `LoadsOfMotion.vectors`; change: accelerations of
        the loaded joints.
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
        result = {"following": self.bearings.following(moved), "vectors": self.bearings.vectors(moved)}
        result["change"] = [moved.change[k] for k in self.bearings.joints]
        return SettledMotion(loaded, moved, status), result
