"""Normal loads of the joints of a robot, and which of those at rest hold, in forward dynamics, for one sample.

A load from reactions depends on accelerations and on friction, which depend on loads: loads -> friction ->
accelerations -> reactions -> loads, until nothing changes. Under given loads friction at rest is a convex problem
(`tasks.motion.instant.rest`); as loops do not nest, one loop takes a step of that problem, or where it is solved, one
round of loads. Where the coefficients are so large that this does not settle, or that there is no motion or more than
one, the sample says so: `tasks.motion.instant.paradox`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robots.friction.groups import FrictionGroup
from robots.model import Family
from robots.status import Status
from tasks.friction.forward import ForwardFriction
from tasks.kernels.types import Array, Mask, Scalar
from tasks.mathematics.algebra import array, iterate, total, where
from tasks.mathematics.symmetric import Factors
from tasks.mechanics import reactions as reactions
from tasks.motion.instant import rest
from tasks.motion.instant.forward import Pushed
from tasks.motion.instant.loaded import Loaded, Moved
from tasks.motion.instant.paradox import (
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
from tasks.programs import coupled_friction

ITERATIONS = 600
"""Rounds of loads, where no joint can be at rest; else rounds and steps of the problem of rest together."""

REST_ITERATIONS = 60
"""Steps of the problem of rest where loads do not change."""

PATIENT = 24
"""Steps after which friction need not be the least of all that give the same accelerations."""

HESITANT = ((60, 0.5), (200, 0.9), (400, 0.98))
"""Rounds after which loads keep such a share of what they were: the circle goes round with a gain far above one."""

SETTLED = 1e-14
"""Change of all loads in a step, relative to their size, at which the iteration ends."""

ACCURATE = 1e-9
"""The same above which it has not settled."""

TINY, LARGEST = 1e-300, 1e300


class _Carried(coupled_friction.PassiveFriction):
    """What joints carry under forces that are known, those of the actuators less their own friction."""

    def forces(self, tau: Array) -> Array:
        """They do not depend on friction here."""
        return self.force

    def multipliers(self, tau: Array) -> list[Array]:
        """Free multipliers of each limb's redundant rows."""
        names = (*reactions.SHARES, *(reactions.FRICTION_SHARES if self.places else ()))
        shares = [
            {name: self.shares[name][k] for name in names if k in self.shares.get(name, ())} for k in range(self.count)
        ]
        return self._balance(shares, self.force, self.shares["held"], [tau[own] for own in self.slices])


@dataclass(frozen=True)
class _Round:
    """The state of the loop: rounds of loads so far, steps of the problem of rest in this one, and where both are."""

    rounds: Scalar
    steps: Scalar
    loads: Sequence[Scalar]
    partition: Sequence[Scalar]
    iterate: Sequence[Scalar]

    def numbers(self) -> list[Scalar]:
        """All of it."""
        return [self.rounds, self.steps, *self.loads, *self.partition, *self.iterate]


@dataclass(frozen=True)
class _Taken:
    """One round or step: the state after it, 1 where loads have `settled` or are `lost`, and what it came from."""

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
        """Loads and motion that belong to each other."""
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
        """The end of the first search; its status from those after it. `size`: sum of the loads without friction."""
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
        """No solution where loads run away in each search; several where another has an end, or all joints move."""
        second, grows = searches.second, searches.grows
        another = equal(second, OTHER) * grows
        moving = where(self._at_rest > 0.5, 0.0, grows)
        several = where(unsettled > 0.5, another, where(moving > 0.5, 1.0, another))
        none = equal(second, LOST) * unsettled * grows
        status = where(unsettled > 0.5, float(Status.FRICTION_NOT_CONVERGED), 0.0)
        status = where(none > 0.5, float(Status.FRICTION_NO_SOLUTION), status)
        return where(several > 0.5, float(Status.FRICTION_SEVERAL_SOLUTIONS), status)

    @property
    def _at_rest(self) -> Scalar:
        """Above 0 where a joint that may be at rest is."""
        return total([self.pushed.modes.rest[k] for k in self.pushed.sticking]) if self.pushed.sticking else 0.0

    @property
    def _size(self) -> Scalar:
        """Of the accelerations that forces give, and of those without them."""
        pushed = self.pushed
        factors = Factors.of(pushed.mass)
        return total(factors.solve(pushed.jacobian.T @ array(pushed.push))) + total(factors.solve(pushed.bias))

    def _searches(self, numbers: Sequence[Scalar]) -> Searches:
        return Searches.of(numbers, len(self._loaded), len(self.pushed.sticking))

    def _continued(self, now: _Round, at: Searches, unit: Scalar, limit: int) -> tuple[_Round, Searches, Mask]:
        """A round or step of the phase in which the searches are, and whether all of them have ended."""
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
        other = where(at.settled > 0.5, differs(moved.acceleration, at.acceleration, self._size), 1.0)
        second = where(found > 0.5, where(other > 0.5, OTHER, ALIKE), where(away > 0.5, LOST, at.second))

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
        partition, iterate_ = now.partition, now.iterate
        if self.pushed.sticking:
            inner = rest.chosen(where(now.steps < 0.5, 1.0, 0.0), loaded.rest.start(), now.iterate)
            inner = loaded.rest.following(inner)
            half: Any = now.steps * 0.5  # `np.floor` calls the method of a symbol
            even = half - np.floor(half) < 0.25
            tried = [where(even, a, b) for a, b in zip(moved.better, inner.partition(), strict=True)]
            partition = [where(good > 0.5, a, b) for a, b in zip(now.partition, tried, strict=True)]
            iterate_ = inner.numbers()
        result = _Round(now.rounds + good, where(good > 0.5, 0.0, now.steps + 1.0), loads, partition, iterate_)
        # NaN counts as done: it will not get better
        lost = where(total(moved.acceleration) <= LARGEST, 0.0, 1.0)
        settled = where(good > 0.5, where(moving, 0.0, 1.0), 0.0)
        return _Taken(result, settled, lost, moved, following, total(changes) if changes else 0.0)

    def _following(self, moved: Moved) -> list[Scalar]:
        joints = [each.joint for each in self.pushed.joints]
        friction = {joint.place: tau for joint, tau in zip(joints, moved.friction, strict=True)}
        net = np.array(array(self.pushed.push), dtype=object)
        for place, tau in friction.items():
            if place.actuator >= 0:
                net[place.actuator] = net[place.actuator] - tau
        wanted = coupled_friction.wanted(self.family, self.groups)
        robot = _Carried(self.family, wanted, array(net), self.pushed.shares(moved.acceleration, wanted))
        passive = array([friction[place] for place in robot.places])
        return [joints[k].load(robot.carried(joints[k].place, passive)) for k in self._loaded]
