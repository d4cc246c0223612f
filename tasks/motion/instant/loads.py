"""Normal loads of the joints of a robot, and which of those at rest hold, in forward dynamics, for one sample.

A load from reactions depends on accelerations and on friction, which depend on loads: loads -> friction ->
accelerations -> reactions -> loads, until nothing changes. Under given loads friction at rest is a convex problem
(`tasks.motion.instant.rest`); as loops do not nest, one loop takes a step of that problem, or where it is solved, one
round of loads. Where the coefficients are so large that this does not settle, the sample says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robots.friction.groups import FrictionGroup
from robots.model import Family
from tasks.friction.forward import ForwardFriction
from tasks.kernels.types import Array, Mask, Scalar
from tasks.mathematics.algebra import array, iterate, total, where
from tasks.mechanics import reactions as reactions
from tasks.motion.instant import rest
from tasks.motion.instant.forward import Pushed
from tasks.motion.instant.loaded import Loaded, Moved
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
class SettledMotion:
    """A robot under loads that belong to its motion, that motion, and 1 where loads or rest have not `unsettled`."""

    loaded: Loaded
    moved: Moved
    unsettled: Scalar


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
        limit = ITERATIONS * (2 if still else 1) if self._loaded else REST_ITERATIONS
        end = self._round(iterate(self._step, start.numbers(), limit))
        loaded = self._under(end.loads)
        moved = loaded.moved(end.partition)
        unsettled = 1.0 - moved.accepted
        if self._loaded:
            following = self._following(moved)
            change = total([a - b for a, b in zip(following, end.loads, strict=True)])
            unsettled = where(change <= ACCURATE * total(following) + TINY, unsettled, 1.0)
        return SettledMotion(loaded, moved, unsettled)

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
        now = self._round(numbers)
        loaded = self._under(now.loads)
        moved = loaded.moved(now.partition)
        good = moved.accepted * where(now.steps > PATIENT, 1.0, moved.least)
        following = self._following(moved) if self._loaded else []
        changes = [a - b for a, b in zip(following, now.loads, strict=True)]
        moving = total(changes) > SETTLED * total(following) + TINY
        share: Scalar = 0.0
        for rounds, kept in HESITANT:
            share = where(now.rounds > rounds, kept, share)
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
        result = _Round(
            now.rounds + good, where(good > 0.5, 0.0, now.steps + 1.0), loads, partition, iterate_
        ).numbers()
        # NaN counts as done: it will not get better
        lost = where(total(moved.acceleration) <= LARGEST, 0.0, 1.0)
        return result, where(good > 0.5, where(moving, lost, 1.0), lost) > 0.5

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
