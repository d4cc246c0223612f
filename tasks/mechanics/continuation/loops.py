"""Dependent joints of a chain by continuation, for one sample: on the branch of the reference configuration.

Motions of the independent joints lead from the reference configuration to all configurations of this branch, without
passing a singularity of the loops. The straight way of the independent joints is tried first, then others, see
`routes`, and at last ways that turn aside, see `tasks.mechanics.continuation.steps`. A step is taken only where each
block of the matrix of the dependent joints changes by less than itself, in a norm without unit: no singularity lies
between its ends. Source: as for limbs, see `tasks.mechanics.continuation.limbs`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from robots.data_classes import dataclass, replace
from tasks.kernels.expression import Array, Dual, Mask, Scalar, Scalars
from tasks.mathematics.algebra import array, either, every, iterate, opposite, sqrt, total, where
from tasks.mathematics.systems import squared_box
from tasks.mechanics.continuation.steps import (
    GROWTH,
    LEAST_SHARE,
    LEAST_STRIDE,
    SMALL_CHANGE,
    TURN_LIMIT,
    Aside,
    LoopPath,
    Ways,
    apart,
    chosen,
    longest_turn,
    relative_change,
)
from tasks.mechanics.kinematics import HOME, JointState, state_at, unpacked
from tasks.mechanics.loops import Embedding
from tasks.mechanics.matrices import RegularBlock, is_flat, size_of
from tasks.mechanics.tolerances import LOOP_SINGULAR_AT_REST, NEARLY_SINGULAR

ROUNDS = 400  # largest number of rounds of a route
ROUNDS_ASIDE = 2000  # largest number of rounds of a route that turns aside
ALIKE = Dual(1e-10, 1e-3)  # difference of joint states up to which the result of the plain way is kept
REGULAR = 0.3  # determinant of each block, relative to the reference configuration, above which no other way is tried
PAIR = 0.2
"""The same of two joints, relative to their lengths: a step of the plain way turns each by no more [rad].

It applies to blocks with more rows than joints: their volumes have no sign that would change beyond a singularity.
"""


def blocks(embedding: Embedding) -> list[RegularBlock]:
    """Return the blocks of all clusters."""
    return [block for cluster in embedding.clusters for block in cluster.regular_blocks]


def relative_volume(matrix: Array) -> Scalar:
    """Return the volume that a matrix's columns span, relative to a box with sides as long as the columns."""
    return abs(size_of(matrix)) / sqrt(squared_box(matrix))


def regularities(start: Embedding, embedding: Embedding) -> list[Scalar]:
    """Return the regularity of each block: above 1, no other branch lies between it and the reference configuration."""
    result = []
    for first, block in zip(blocks(start), blocks(embedding), strict=True):
        bound: Scalar = REGULAR
        if len(first.matrix) == 2 or len(first.matrix) > len(first.joints):
            pair = PAIR / relative_volume(first.matrix)
            bound = where(pair > bound, pair, bound)
        result.append(block.determinant * (1.0 / (first.determinant * bound)))
    return result


def nearly_singular(start: Embedding, embedding: Embedding) -> Mask:
    """Return whether a block is so near to a singularity that its loops need to be closed more tightly."""
    near: Mask = False
    for first, block in zip(blocks(start), blocks(embedding), strict=True):
        bound = NEARLY_SINGULAR * NEARLY_SINGULAR * squared_box(first.in_one_unit)
        near = either(near, block.determinant * block.determinant < bound)
    return near


@dataclass(frozen=True)
class LoopProblem:
    """Loops of a chain at its reference configuration, and the positions of the joints that move without them."""

    start: Embedding
    states: Sequence[JointState]
    """States of all joints at the target; states of dependent joints are not used."""
    dependent: Sequence[int]
    ways: Ways
    size: Scalar
    closed: Scalar
    """Sum of residuals from which one more Newton step is exact to rounding."""
    at: Callable[[Sequence[JointState]], Embedding]
    rounds: int = ROUNDS

    @cached_property
    def weights(self) -> list[list[Scalar]]:
        """Factors of the joints of each block that make them dimensionless."""
        links = self.start.limb.links
        return [
            [1.0 if links[joint].joint_kind.turns else 1.0 / self.size for joint in block.joints]
            for block in blocks(self.start)
        ]

    @cached_property
    def aside_sizes(self) -> tuple[int, int, int]:
        """Sizes of `Aside`."""
        count = len(self.ways.targets)
        return count, count * len(self.dependent), len(blocks(self.start))

    def aside(self, path: LoopPath) -> tuple[Aside, Mask]:
        """Return the state on a way that turns aside, and whether the path is on one."""
        return Aside.of(path.aside, self.aside_sizes), self.ways.of_kind(path.route, self.ways.asides)

    def placed(self, numbers: Sequence[Scalar], positions: dict[int, Scalar]) -> list[JointState]:
        """Return the states of all joints: dependent ones from their numbers, independent ones from their positions."""
        links, values, result = self.start.limb.links, iter(numbers), list(self.states)
        for joint in self.dependent:
            result[joint] = unpacked(links[joint], values)
        for joint, value in positions.items():
            result[joint] = state_at(links[joint], value)
        return result

    def packed(self, states: Sequence[JointState]) -> list[Scalar]:
        """Return the dependent joints as a flat list of numbers."""
        links = self.start.limb.links
        return [x for joint in self.dependent for x in states[joint].packed(links[joint])]

    def moved(self, states: Sequence[JointState], step: Sequence[Scalar]) -> list[JointState]:
        """Return the states after a step of the dependent joints."""
        links, result = self.start.limb.links, list(states)
        for joint, value in zip(self.dependent, step, strict=True):
            result[joint] = states[joint].moved(links[joint], value)
        return result

    def kept(self, path: LoopPath, embedding: Embedding) -> Mask:
        """Return whether all blocks keep their branch, as far as the step that led to them can tell."""
        masks: list[Mask] = []
        values = iter(path.inverse)
        for block, first, weights in zip(blocks(embedding), blocks(self.start), self.weights, strict=True):
            before = np.reshape(array([next(values) for _ in range(block.matrix.size)]), block.matrix.T.shape)
            masks.append(relative_change(before, block.matrix, weights) <= SMALL_CHANGE)
            masks.append(block.determinant * first.determinant > 0.0)
        return every(masks)

    def ahead(self, path: LoopPath, place: Scalar, states: Sequence[JointState], embedding: Embedding) -> LoopPath:
        """Continue from accepted states: along the route while loops are nearly closed, else towards closing them."""
        limb, residual = self.start.limb, total(embedding.residuals(self.size))
        # loops that are open by some share pass a singularity at a distance of its root, where two branches cross
        onward = every([residual <= self.closed, place < 1.0])
        remainder = self.ways.rest(path.route, place)
        here, target = (self.ways.at(path.route, share) for share in (place, place + remainder))
        moves = np.array(np.zeros(len(embedding.choice.independent)), dtype=object)
        position = {joint: k for k, joint in enumerate(embedding.choice.independent)}
        for joint, value in target.items():
            moves[position[joint]] = value - here[joint]
        whole, closing = embedding.matrix @ array(moves), embedding.correction()
        turn = longest_turn(limb, {joint: whole[joint] for joint in (*here, *self.dependent)})
        tried = path.most / where(remainder > 0.0, remainder, 1.0)
        tried = where(tried < 1.0, tried, 1.0)
        tried = where(tried * turn > TURN_LIMIT, TURN_LIMIT / where(turn > 0.0, turn, 1.0), tried)
        tried = where(onward, tried, 0.0)
        eased = self.eased(closing)
        return replace(
            path,
            states=self.packed(states),
            step=[where(onward, whole[joint] * tried, 0.0) + closing[joint] * eased for joint in self.dependent],
            inverse=[x for block in blocks(embedding) for x in block.inverse.ravel()],
            place=place,
            stride=where(onward, remainder * tried, 0.0),
            share=1.0,
            most=where(path.stride > 0.0, path.stride * path.share * GROWTH, path.most),
            fresh=0.0,
            rounds=path.rounds + 1.0,
            found=0.0,
        )

    def eased(self, closing: Array) -> Scalar:
        """Return the share of a step that closes loops in which no joint turns too far."""
        back = longest_turn(self.start.limb, {joint: closing[joint] for joint in self.dependent})
        return TURN_LIMIT / where(back > TURN_LIMIT, back, TURN_LIMIT)

    def sliding(
        self,
        path: LoopPath,
        positions: Sequence[Scalar],
        place: Scalar,
        states: Sequence[JointState],
        embedding: Embedding,
    ) -> LoopPath:
        """Continue from accepted states, on a route that turns aside."""
        onward = every([total(embedding.residuals(self.size)) <= self.closed, place < 1.0])
        closing, matrix = embedding.correction(), embedding.matrix
        eased = self.eased(closing)
        column = {joint: k for k, joint in enumerate(embedding.choice.independent)}
        slopes = [matrix[joint, column[j]] for joint in self.dependent for j in self.ways.targets]
        volumes = [block.determinant for block in blocks(embedding)]
        return replace(
            path,
            states=self.packed(states),
            step=[closing[joint] * eased for joint in self.dependent],
            inverse=[x for block in blocks(embedding) for x in block.inverse.ravel()],
            aside=Aside.of(path.aside, self.aside_sizes).onward(positions, slopes, volumes, onward).flat(),
            place=place,
            stride=0.0,
            share=1.0,
            fresh=0.0,
            rounds=path.rounds + 1.0,
            found=0.0,
        )

    def trial(self, path: LoopPath) -> tuple[dict[int, Scalar], Scalar, list[Scalar], Scalar]:
        """Compute the trial of a round: positions of the independent joints, place on the route, step, way left."""
        place = path.place + path.stride * path.share
        place = where(place > 1.0 - 1e-12, 1.0, place)  # up to rounding it is
        positions, step = self.ways.at(path.route, place), [value * path.share for value in path.step]
        if not self.ways.asides:
            return positions, place, step, 1.0
        aside, turns = self.aside(path)
        moves, distance = self.ways.turned(path.route, aside)
        moves = [where(aside.moves, x, 0.0) for x in moves]
        ends = every([turns, aside.moves, aside.straight, distance <= aside.length])
        place = where(ends, 1.0, place)
        for joint, value, x, goal in zip(
            positions, aside.at, moves, self.ways.at(path.route, 1.0).values(), strict=True
        ):
            positions[joint] = where(turns, where(place >= 1.0, goal, value + x), positions[joint])
        count = len(moves)
        for k in range(len(step)):
            follows = array(aside.slopes[k * count : (k + 1) * count]) @ array(moves)
            step[k] = where(turns, step[k] + follows, step[k])
        return positions, place, step, distance

    def blocked(self, path: LoopPath, singular: Mask) -> LoopPath:
        """Return the path after a rejected step; singular: it led too near to a singularity, on a route that turns."""
        if not self.ways.asides:
            return replace(path, share=path.share * 0.5, rounds=path.rounds + 1.0)
        aside, turns = self.aside(path)
        share = where(every([turns, aside.moves]), path.share, path.share * 0.5)
        numbers = chosen(turns, aside.blocked(singular).flat(), path.aside)
        return replace(path, share=share, rounds=path.rounds + 1.0, aside=numbers)

    def regular(self, embedding: Embedding) -> Mask:
        """Return whether loops are so far from a singularity that joints follow from small residuals."""
        flat = (is_flat(block, LOOP_SINGULAR_AT_REST, self.size) for block in blocks(embedding))
        return every([opposite(mask) for mask in flat])


class _LoopTrial(NamedTuple):
    """A step along a way that is tried: states of the joints there, and the loops at them."""

    path: LoopPath
    positions: Mapping[int, Scalar]
    place: Scalar
    distance: Scalar
    states: Sequence[JointState]
    embedding: Embedding


class _LoopVerdict(NamedTuple):
    """Decisions about a trial, and the numbers of the path where it is accepted."""

    regular: Mask
    shortest: Mask
    most: Scalar
    ahead: list[Scalar]
    opened: Mask = False
    singular: Mask = False


@dataclass(frozen=True, eq=False)
class _LoopSearch:
    """Search for the branch of the reference configuration: all ways of a problem, one after the other."""

    problem: LoopProblem
    solution: Sequence[JointState]
    reached: Scalars
    converged: Mask

    @cached_property
    def before(self) -> list[Scalar]:
        """Numbers of the dependent joints in the solution."""
        return self.problem.packed(self.solution)

    @cached_property
    def home(self) -> list[Scalar]:
        """Numbers of the dependent joints at the reference configuration."""
        return self.problem.packed([HOME] * len(self.solution))

    @cached_property
    def nowhere(self) -> list[Scalar]:
        """Numbers of a way aside before it begins; none without such ways."""
        problem = self.problem
        return Aside.beginning(problem.aside_sizes).flat() if problem.ways.asides else []

    @cached_property
    def at_end(self) -> list[Scalar]:
        """Numbers of the independent joints at their targets."""
        return self.of_independent(self.reached)

    @cached_property
    def sizes(self) -> tuple[int, int, int, int, int]:
        """Lengths of the parts of a path."""
        entries = sum(block.matrix.size for block in blocks(self.problem.start))
        return len(self.before), len(self.at_end), len(self.problem.dependent), entries, len(self.nowhere)

    def of_independent(self, values: Scalars) -> list[Scalar]:
        """Return the independent joints at some positions as a flat list of numbers."""
        links, targets = self.problem.start.limb.links, self.problem.ways.targets
        return [x for k, v in zip(targets, values, strict=True) for x in state_at(links[k], v).packed(links[k])]

    def beginning(self, number: Scalar) -> LoopPath:
        """Return the begin of the way of that number."""
        ways = self.problem.ways
        place = where(ways.of_kind(number, [ways.opened]), 1.0, 0.0) if ways.asides else 0.0
        zeros = [0.0] * self.sizes[2], [0.0] * self.sizes[3]
        return LoopPath(self.home, self.at_end, *zeros, self.nowhere, place, 0.0, 1.0, 1.0, number, 1.0, 0.0, 0.0)

    def advance(self, flat: Sequence[Scalar]) -> tuple[list[Scalar], Mask]:
        """Return the path after one more step, and whether it has ended."""
        problem, ways = self.problem, self.problem.ways
        path = LoopPath.of(flat, self.sizes)
        fresh = path.fresh > 0.5
        positions, place, step, distance = problem.trial(path)
        states = problem.moved(problem.placed(path.states, positions), step)
        embedding = problem.at(states)
        residual = total(embedding.residuals(problem.size))
        trial = _LoopTrial(path, positions, place, distance, states, embedding)
        verdict = self._judged(trial)
        accepted = either(fresh, verdict.regular)
        following = chosen(accepted, verdict.ahead, problem.blocked(path, verdict.singular).flat())
        # NaN is no way on either
        goes_on = every([either(accepted, opposite(verdict.shortest)), path.rounds < verdict.most, residual < np.inf])
        following = chosen(goes_on, following, self.beginning(ways.after(path.route, self.converged)).flat())
        done, closed = self._arrival(trial, accepted, residual)
        if ways.asides:
            again = self.beginning(float(ways.asides[0])).flat()
            following = chosen(every([closed, verdict.opened]), again, following)
            closed = every([closed, opposite(verdict.opened)])
        following = chosen(closed, done, following)
        return following, either(closed, LoopPath.of(following, self.sizes).route > len(ways.routes) - 0.5)

    def _judged(self, trial: _LoopTrial) -> _LoopVerdict:
        """Return the verdict on a trial, on a straight way or a way aside."""
        problem, ways, path = self.problem, self.problem.ways, trial.path
        regular = problem.kept(path, trial.embedding)
        going = path.stride > 0.0
        shortest = either(
            every([going, path.stride * path.share <= LEAST_STRIDE]),
            every([opposite(going), path.share <= LEAST_SHARE]),
        )
        most: Scalar = float(problem.rounds)
        ahead = problem.ahead(path, trial.place, trial.states, trial.embedding).flat()
        if not ways.asides:
            return _LoopVerdict(regular, shortest, most, ahead)
        aside, turns = problem.aside(path)
        volumes = [block.determinant for block in blocks(trial.embedding)]
        at_home = [block.determinant for block in blocks(problem.start)]
        singular = every([turns, aside.singular(volumes, at_home, trial.distance)])
        regular = every([regular, opposite(singular), either(opposite(turns), aside.closable(volumes))])
        waits = every([opposite(aside.moves), path.share <= LEAST_SHARE])
        shortest = either(every([opposite(turns), shortest]), every([turns, either(aside.ended, waits)]))
        most = where(turns, float(max(problem.rounds, ROUNDS_ASIDE)), most)
        slid = problem.sliding(path, list(trial.positions.values()), trial.place, trial.states, trial.embedding)
        ahead = chosen(turns, slid.flat(), ahead)
        return _LoopVerdict(regular, shortest, most, ahead, ways.of_kind(path.route, [ways.opened]), singular)

    def _arrival(self, trial: _LoopTrial, accepted: Mask, residual: Scalar) -> tuple[list[Scalar], Mask]:
        """Return the path that has arrived at the end of its way, and whether this one has."""
        problem, embedding, before = self.problem, trial.embedding, self.before
        correction = [embedding.correction()[joint] for joint in problem.dependent]
        closed_states = problem.packed(problem.moved(trial.states, correction))
        facing = [mask for loop in embedding.loops for mask in loop.joined.facing()]
        arrival = [accepted, trial.place >= 1.0, residual <= problem.closed, problem.regular(embedding), *facing]
        closed = every(arrival)
        difference = apart(problem.start.limb, problem.dependent, closed_states, before, problem.size)
        alike = every([self.converged, difference <= ALIKE])
        # the plain way may have ended before its end
        arrived = chosen(alike, self.at_end, self.of_independent(list(problem.ways.targets.values())))
        begun = self.beginning(trial.path.route)
        return replace(begun, states=chosen(alike, before, closed_states), reached=arrived, found=1.0).flat(), closed


def followed(
    problem: LoopProblem, solution: Sequence[JointState], reached: Scalars, converged: Mask, skip: Mask
) -> tuple[list[JointState], Mask]:
    """Return the states of all joints on the branch of the reference configuration, and whether they are.

    The result is the `solution` if no states are found, or if they equal it; converged: whether it closes the loops.
    Samples to `skip` keep the solution, which is on the branch. reached: positions of the independent joints in the
    solution, which are kept.
    """
    ways, links = problem.ways, problem.start.limb.links
    search = _LoopSearch(problem, solution, reached, converged)
    limit = len(ways.routes) * (problem.rounds + 2) + len(ways.asides) * ROUNDS_ASIDE
    path = LoopPath.of(iterate(search.advance, search.beginning(0.0).flat(), limit, skip), search.sizes)
    on_branch = path.found > 0.5
    numbers = chosen(on_branch, path.states, search.before)
    values, result = iter(numbers), list(solution)
    for joint in problem.dependent:
        result[joint] = unpacked(links[joint], values)
    # numbers of one loop keep the order of the plain way, so that results have the same bits
    values = iter(path.reached)
    for joint in ways.targets:
        result[joint] = unpacked(links[joint], values)
    return result, either(skip, on_branch)
