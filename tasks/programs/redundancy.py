"""Redundancy resolution: independent joints that a posture decides, for one traced sample.

A redundant chain has freedoms s beside those that its motion gives, x. All joints are theta(x, s), with the columns H_s
of the embedding, and s is where the distance from the posture p, with weights W, is least:

    g(x, s) = H_s^T W (theta - p) = 0,    A = dg/ds positive definite

These are the conditions of Karush, Kuhn and Tucker after the closures have been solved. They belong to a pose, not to
a way to it, so that samples do not depend on each other; rates and accelerations of s are those of g = 0, exactly:

    s' = -A^-1 dg/dx x',    s'' = -A^-1 (d2g/dt2 at s'' = 0)

Where theta = p this s' is the weighted pseudo-inverse. Second derivatives of theta are those of the drift, which is
bilinear in the rates; third ones are traced values differentiated. Sources: Baillieul 1985 for the conditions (extended
Jacobian); Nakamura 1991, section 4.2, for weighted pseudo-inverses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from robots.model import RestPosture
from robots.status import Status
from tasks.kernels.expression import Dual
from tasks.kernels.tangent import tangent
from tasks.kernels.types import ABSENT, ZERO, Array, Mask, Scalar
from tasks.mathematics.algebra import array, either, every, inverse, iterate, opposite, total, where
from tasks.mechanics import chain
from tasks.mechanics.chain import STEP_LIMIT, Chain
from tasks.mechanics.embedding import Embedding
from tasks.mechanics.equations import state_seeds
from tasks.mechanics.kinematics import HOME, JointState, Motion, Pose, state_at, unpacked
from tasks.mechanics.limb import CONVERGED, Mounted, Solved
from tasks.mechanics.structure import Structure, mounted_limb

ITERATIONS = 800
CALM = 0.05
"""Longest step of a joint towards the least distance [rad or m] with which what is given moves on."""
SETTLED = Dual(1e-7, 1e-3)
"""The same from which one more step is exact to rounding."""
LEAST = Dual(1e-9, 1e-4)
"""The same for a sample to count as solved."""
FLAT = Dual(1e-6, 1e-3)
"""Pivot of A, relative to that of H_s^T W H_s, up to which the distance has no minimum."""
APART = Dual(1e-7, 1e-3)
"""Difference of cosines, sines and displacements up to which two solutions are the same."""


def solved_limb(
    structure: Structure, parameters: Array, mount: Array, motion: Array, signals: Array = ABSENT
) -> tuple[Mounted, Solved, Pose, Motion, Array]:
    """A redundant chain solved for the motion of its given freedoms (3 given,): as `structure.solved_limb`.

    And the motion vector of all its freedoms. All inputs are traced. Status NOT_CONVERGED: no least distance was
    reached; SINGULAR: it is no minimum; WRONG_BRANCH: the chain is assembled otherwise there.
    """
    mounted, _, pose, moving = mounted_limb(structure, 0, parameters, mount, motion, signals)
    posture = mounted.limb.posture
    assert isinstance(mounted, Chain)
    assert posture is not None
    problem = Resolution(mounted, posture)
    x, rates, accelerations = np.split(motion, 3)
    states, s, settled = problem.positions(x)
    near = problem.departure(states, problem.joined(x, s))
    first = near.rates(problem.columns(rates))
    second = near.accelerations(problem.columns(rates), first, problem.columns(accelerations))
    parts = ((x, s), (rates, first), (accelerations, second))
    whole = array([x for part in parts for x in problem.joined(*part)])
    solved = chain.solve(mounted, *np.split(whole, 3))
    apart = total([a - b for a, b in zip(_numbers(mounted, states), _numbers(mounted, solved.states), strict=True)])
    status: Scalar = where(apart <= APART, float(Status.OK), float(Status.WRONG_BRANCH))
    status = where(near.regular, status, float(Status.SINGULAR))
    status = where(every([settled, near.longest(near.step()) <= LEAST]), status, float(Status.NOT_CONVERGED))
    status = where(solved.status > 0.5, solved.status, status)
    return mounted, replace(solved, status=status), pose, moving, whole


def _numbers(mounted: Chain, states: Sequence[JointState]) -> list[Scalar]:
    return [x for link, state in zip(mounted.limb.links, states, strict=True) for x in state.packed(link)]


@dataclass(frozen=True)
class Departure:
    """How far joints are from a posture at one configuration; vectors are over the joints of the tree."""

    limb: Chain
    embedding: Embedding
    states: Sequence[JointState]
    resolved: tuple[int, ...]
    weights: Array
    distance: Array

    @cached_property
    def ways(self) -> list[Array]:
        """H_s: how all joints move with each of those that are resolved."""
        place = {joint: k for k, joint in enumerate(self.embedding.choice.independent)}
        return [self.embedding.matrix[:, place[joint]] for joint in self.resolved]

    def _bent(self, one: Array, other: Array) -> Array:
        """Accelerations of all joints that are bilinear in their rates: half of what both cause beyond each."""
        drift = self.embedding.drift
        if one is other:
            return drift(one)
        return (drift(one + other) - drift(one) - drift(other)) * 0.5

    @cached_property
    def slopes(self) -> Array:
        """g (resolved,)."""
        return array([self.distance @ way for way in self.ways])

    def along(self, rates: Array) -> Array:
        """How g changes where joints have these rates, which need not close the loops."""
        return array([(self.weights * rates) @ way + self.distance @ self._bent(way, rates) for way in self.ways])

    @cached_property
    def curvature(self) -> Array:
        """A (resolved, resolved)."""
        return array(np.stack([self.along(way) for way in self.ways], axis=1))

    @cached_property
    def stiffness(self) -> Array:
        """H_s^T W H_s, which is A without curvature of the ways."""
        return array([[(self.weights * one) @ other for other in self.ways] for one in self.ways])

    @cached_property
    def regular(self) -> Mask:
        """Whether A is positive definite, by its pivots."""
        pairs = zip(_pivots(self.curvature), _pivots(self.stiffness), strict=True)
        return every([pivot > FLAT * size for pivot, size in pairs])

    @cached_property
    def answer(self) -> Array:
        """The inverse of A; where that leads to no minimum, of what leads downhill; zero where nothing does."""
        unit, shape = np.eye(len(self.ways)), self.curvature.shape
        firm = every([pivot > 0.0 for pivot in _pivots(self.stiffness)])
        triples = zip(self.curvature.ravel(), self.stiffness.ravel(), unit.ravel(), strict=True)
        chosen = [where(self.regular, curved, where(firm, stiff, one)) for curved, stiff, one in triples]
        back = inverse(array(chosen).reshape(shape))
        known = either(self.regular, firm)
        return array([where(known, value, 0.0) for value in back.ravel()]).reshape(shape)

    def step(self, caused: Array | None = None) -> Array:
        """Newton's step of the resolved joints, where joints move by `caused` besides."""
        wanted = self.slopes if caused is None else self.slopes + self.along(caused)
        return -(self.answer @ wanted)

    def moved(self, step: Array) -> Array:
        """What all joints do in a step of the resolved ones."""
        return sum((way * value for way, value in zip(self.ways, step, strict=True)), start=np.zeros(len(self.states)))

    def longest(self, step: Array) -> Scalar:
        """The longest step of a joint in a step of the resolved ones."""
        return _largest(self.moved(step))

    def _tree(self, rates: Array) -> Array:
        """Rates of all joints from those of the independent ones."""
        return self.embedding.matrix @ rates

    def rates(self, stated: Array) -> Array:
        """s' from rates of the independent joints, zero where they are resolved."""
        return -(self.answer @ self.along(self._tree(stated)))

    def accelerations(self, rates: Array, resolved: Array, stated: Array) -> Array:
        """s'' from rates and accelerations of the independent joints, zero where they are resolved, and s'."""
        free = self._tree(rates)
        moving = free + self.moved(resolved)
        drift, wanted = self.embedding.drift(moving), self.along(self._tree(stated))
        # the drift in parts whose derivatives hold s' without having it in them
        parts = [(1.0, self.embedding.drift(free))]
        for k, (way, rate) in enumerate(zip(self.ways, resolved, strict=True)):
            parts.append((rate * 2.0, self._bent(free, way)))
            for other, another in zip(self.ways[: k + 1], resolved, strict=False):
                parts.append((rate * another * (1.0 if other is way else 2.0), self._bent(way, other)))
        result = []
        for way, value in zip(self.ways, wanted, strict=True):
            seeds = state_seeds(self.limb, self._moving_along(way))
            change = sum((array(tangent(list(part), seeds)) * share for share, part in parts), start=ZERO)
            direct = (self.weights * drift) @ way + (self.weights * moving) @ self._bent(way, moving) * 2.0
            result.append(value + direct + self.distance @ change)
        return -(self.answer @ array(result))

    def _moving_along(self, way: Array) -> Solved:
        tips = self.limb.tips(self.states)
        return Solved(tips, self.states, way, np.zeros(len(self.states)), float(Status.OK))


@dataclass(frozen=True)
class Resolution:
    """The search for the least distance of a chain from its posture."""

    chain: Chain
    posture: RestPosture

    @cached_property
    def resolved(self) -> tuple[int, ...]:
        """Joints of the tree that the posture decides, in their order among the independent ones."""
        mine = {self.chain.limb.index(name) for name in self.posture.resolved}
        return tuple(joint for joint in self.chain.choice.independent if joint in mine)

    @cached_property
    def given(self) -> tuple[int, ...]:
        """The other independent joints."""
        return tuple(joint for joint in self.chain.choice.independent if joint not in self.resolved)

    def joined(self, stated: Array, resolved: Array) -> list[Scalar]:
        """Values of the independent joints in their order."""
        values = dict(zip((*self.given, *self.resolved), (*stated, *resolved), strict=True))
        return [values[joint] for joint in self.chain.choice.independent]

    def columns(self, stated: Array) -> Array:
        """The same, zero where they are resolved."""
        return array(self.joined(stated, np.zeros(len(self.resolved))))

    def departure(self, states: Sequence[JointState], independent: Sequence[Scalar]) -> Departure:
        """The distance from the posture at these states; independent joints count all their turns."""
        limb, chain_ = self.chain.limb, self.chain
        values = dict(zip(chain_.choice.independent, independent, strict=True))
        count = len(limb.links)
        weights = np.array(np.zeros(count), dtype=object)
        distance = np.array(np.zeros(count), dtype=object)
        for name, place, weight in zip(self.posture.joints, self.posture.positions, self.posture.weights, strict=True):
            joint = limb.index(name)
            at = values[joint] if joint in values else states[joint].position(limb.links[joint])
            weights[joint] = weights[joint] + weight
            distance[joint] = distance[joint] + (at - place) * weight
        embedding = Embedding.of(limb, chain_.choice, states)
        return Departure(chain_, embedding, states, self.resolved, array(weights), array(distance))

    def positions(self, stated: Array) -> tuple[list[JointState], Array, Mask]:
        """States of all joints where the distance is least, the resolved joints there, and whether that was reached.

        From the reference configuration: what is given moves in a straight line, in steps that leave the posture near
        its least distance.
        """
        limb, links = self.chain.limb, self.chain.limb.links
        dependent = [joint for cluster in self.chain.choice.clusters for joint in cluster.dependent]
        start = self.chain.tips([HOME] * len(links))
        enough = CONVERGED * chain.loop_size(start)
        place = {joint: k for k, joint in enumerate(self.chain.choice.independent)}
        targets = [
            value if limb.winds else chain.within_turn(links[joint], value)
            for joint, value in zip(self.given, stated, strict=True)
        ]

        def taken(flat: Sequence[Scalar]) -> tuple[list[JointState], list[Scalar], list[Scalar]]:
            values, states = iter(flat), [HOME] * len(links)
            for joint in dependent:
                states[joint] = unpacked(links[joint], values)
            reached, s = [next(values) for _ in self.given], [next(values) for _ in self.resolved]
            for joint, value in zip((*self.given, *self.resolved), (*reached, *s), strict=True):
                states[joint] = state_at(links[joint], value)
            return states, reached, s

        def step(flat: Sequence[Scalar]) -> tuple[list[Scalar], Mask]:
            states, reached, s = taken(flat)
            near = self.departure(states, self.joined(array(reached), array(s)))
            closing = near.embedding.correction()
            calm = near.longest(near.step(closing)) <= CALM
            left = [target - value for target, value in zip(targets, reached, strict=True)]
            moves = np.array(np.zeros(len(place)), dtype=object)
            for joint, value in zip(self.given, left, strict=True):
                moves[place[joint]] = value
            whole = near.embedding.matrix @ array(moves)
            longest = _largest(whole)
            close = opposite(longest > STEP_LIMIT)
            share = where(calm, where(close, 1.0, STEP_LIMIT / where(close, STEP_LIMIT, longest)), 0.0)
            caused = whole * share + closing
            change = near.step(caused)
            length = near.longest(change)
            short = opposite(length > STEP_LIMIT)
            change = change * where(short, 1.0, STEP_LIMIT / where(short, STEP_LIMIT, length))
            steps = caused + near.moved(change)
            moved = {joint: states[joint].moved(links[joint], steps[joint]) for joint in dependent}
            following = [x for joint in dependent for x in moved[joint].packed(links[joint])]
            arrived = every([calm, close])
            following += [
                where(arrived, target, value + rest * share)
                for target, value, rest in zip(targets, reached, left, strict=True)
            ]
            following += [value + part for value, part in zip(s, change, strict=True)]
            open_by = total([*near.embedding.residuals(), *left])
            # NaN counts as done: it will not get better
            return [*following, open_by, length], every([opposite(open_by > enough), opposite(length > SETTLED)])

        first = [x for joint in dependent for x in HOME.packed(links[joint])]
        first += [0.0] * (len(self.given) + len(self.resolved))
        with np.errstate(invalid="ignore", divide="ignore"):  # of what is known while this is traced
            begun = step([*first, np.inf, np.inf])[0]
        *flat, open_by, length = iterate(step, begun, ITERATIONS)
        states, _, s = taken(flat)
        for joint, value in zip(self.given, stated, strict=True):
            states[joint] = state_at(links[joint], value)
        return states, array(s), every([open_by <= enough, length <= SETTLED])


def _largest(values: Array) -> Scalar:
    result: Scalar = 0.0
    for value in values:
        result = where(abs(value) > result, abs(value), result)
    return result


def _pivots(matrix: Array) -> list[Scalar]:
    """Pivots of a symmetric matrix without exchanges, in their order."""
    rest, result = [list(row) for row in matrix], []
    for k in range(len(rest)):
        pivot = rest[k][k]
        result.append(pivot)
        for i in range(k + 1, len(rest)):
            share = rest[i][k] / pivot
            for j in range(k + 1, len(rest)):
                rest[i][j] = rest[i][j] - share * rest[k][j]
    return result
