"""Kinematics of a chain without platform, for one sample: its independent joints are given, its loops are solved.

The dependent joints of a closed chain are followed from the reference configuration along a straight line to the given
values of the independent ones; a full turn is taken back where no screw counts it. If this line comes near a
singularity of the loops, `tasks.mechanics.continuation.loops` looks for a path without singularities. The result has
the form of the result of `tasks.mechanics.limb` for a limb at a platform, so that dynamics and reactions are the same
functions: the platform's twist is replaced by the rates of the independent joints. Source: joint-friction paper,
section 2.3 and Algorithm 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from robots.data_classes import dataclass, replace
from robots.model import Link
from robots.status import Status
from robots.types import BASE
from tasks.kernels.expression import Array, Mask, Scalar, Scalars
from tasks.mathematics.algebra import array, either, every, iterate, largest, opposite, total, where
from tasks.mechanics.continuation.loops import ROUNDS, LoopProblem, followed, nearly_singular, regularities
from tasks.mechanics.continuation.steps import Ways, routes
from tasks.mechanics.kinematics import HOME, JointState, Pose, poses, state_at, traced_once, with_followers
from tasks.mechanics.kinematics import unpacked as from_numbers
from tasks.mechanics.limb_motion import Mounted, Solved, sprung_joints
from tasks.mechanics.loops import Embedding, Tips, loop_limit
from tasks.mechanics.matrices import RegularBlock, is_flat
from tasks.mechanics.tolerances import CLOSED, CONVERGED, FOLLOWED, SETTLED, STRICTER, WINDING, length_of, longest_step
from tasks.mechanics.turns import Turns, counted_joints, dependent_joints

ITERATIONS = 80
UPRIGHT = 1e-9  # cosine of the pitch of a platform up to which yaw and roll cannot be separated
STEP_LIMIT = 0.2  # largest step of a joint [rad or m]: stays on the branch of the reference configuration


@dataclass(frozen=True)
class FreeTips(Tips):
    """Substitute for tips in a chain, whose independent joints are at given positions."""

    @cached_property
    def matrix(self) -> np.ndarray:
        """Selects the independent joints among those of the tree."""
        return np.eye(len(self.limb.links))[list(self.choice.independent)]

    @cached_property
    def compound(self) -> np.ndarray:
        """Identity: independent joints are given."""
        return np.eye(len(self.choice.independent))

    @cached_property
    def inverse(self) -> np.ndarray:
        """Identity."""
        return self.compound

    @cached_property
    def dropped_matrix(self) -> np.ndarray:
        """Matrix of dropped rows: no row is dropped."""
        return np.zeros((0, len(self.limb.links)))

    def covector(self, multipliers: Scalars) -> np.ndarray:
        """Return the generalised forces of the independent joints: the multipliers themselves."""
        return array(multipliers)

    def dropped_covector(self, multipliers: Scalars) -> np.ndarray:
        """Return zero generalised forces: a chain has no dropped rows."""
        return np.zeros(len(self.choice.independent))


@dataclass(frozen=True)
class Chain(Mounted):
    """A limb that carries no platform."""

    @property
    def freedoms(self) -> int:
        """Number of joints in which the motion is given."""
        return len(self.choice.independent)

    def given(self, motion: Array) -> dict[int, Scalar]:
        """Return the positions of the independent joints."""
        return dict(zip(self.choice.independent, motion[: self.freedoms], strict=True))

    def tips(self, states: Sequence[JointState], platform: Pose | None = None) -> FreeTips:
        """Return the chain at these joint states."""
        return traced_once("tips of a chain", self.limb.links, states, lambda: self._tips(states))

    def _tips(self, states: Sequence[JointState]) -> FreeTips:
        at = poses(self.limb.links, states)
        return FreeTips(self.limb, self.choice, Embedding.of(self.limb, self.choice, states), at, at[BASE], np.zeros(3))

    def unit_rates(self, tips: Tips) -> Array:
        """Return H of the embedding, over the given joints."""
        return tips.embedding.matrix

    def outward(self, covector: Array) -> list[Scalar]:
        """Return the generalised forces unchanged; they have no axes."""
        return list(covector)


def solve(chain: Chain, q: Array, rates: Array, accelerations: Array) -> Solved:
    """Return positions, rates and accelerations of all joints from those of the independent ones, (freedom,) each."""
    start = chain.tips([HOME] * len(chain.limb.links))
    states, home_branch = _positions(chain, start, array(q))
    states = with_followers(chain.limb, states, chain.given(array(q)))
    solved = with_states(chain, states, q, rates, accelerations)
    assert isinstance(solved.tips, FreeTips)
    status = _status(solved.tips, start, loop_limit(rates), home_branch)
    if solved.turns is not None and {*solved.turns.counted} & {*sprung_joints(chain.limb)}:
        status = where(status > 0.5, status, where(solved.turns.known, status, float(Status.TURNS_UNKNOWN)))
    return replace(solved, status=status)


def with_states(chain: Chain, states: Sequence[JointState], q: Array, rates: Array, accelerations: Array) -> Solved:
    """Return the motion of a chain whose joints `solve` has placed. Its status is OK for any status of `solve`."""
    tips = chain.tips(states)
    embedding = tips.embedding
    tree = embedding.matrix @ array(rates)
    second = embedding.matrix @ array(accelerations) + embedding.drift(tree)
    given_values = dict(zip(chain.choice.independent, array(q), strict=True))
    return Solved(tips, states, tree, second, float(Status.OK), given_values, _turns(chain, states, given_values))


def _turns(chain: Chain, states: Sequence[JointState], values_of_given: dict[int, Scalar]) -> Turns | None:
    """Return the turns of the joints that loops move; None for a chain without such joints."""
    if not counted_joints(chain.limb, chain.choice):
        return None
    start = chain.tips([HOME] * len(chain.limb.links))
    size = loop_size(start)
    targets = {joint: values_of_given[joint] for joint in _looped(chain)}
    return Turns(start.embedding, states, targets, size, CONVERGED * size)


def at_angles(chain: Chain, angles: Array, rates: Array) -> Solved:
    """Return the motion of a chain with joints at `angles`, almost closed, without acceleration of its freedoms."""
    states = [state_at(link, angle) for link, angle in zip(chain.limb.links, angles, strict=True)]
    start, tips = chain.tips([HOME] * len(chain.limb.links)), chain.tips(states)
    tree = tips.embedding.matrix @ array(rates)
    status, positions = _branch_status(tips, start, loop_limit(rates)), dict(enumerate(angles))
    return Solved(tips, states, tree, tips.embedding.drift(tree), status, positions)


def _looped(chain: Chain) -> list[int]:
    """Return the independent joints that loops contain."""
    inside = {joint for loop in chain.choice.loops for joint in loop.joints}
    return [joint for joint in chain.choice.independent if joint in inside]


def loop_size(start: FreeTips) -> Scalar:
    """Return a length of the loops at the reference configuration [m], above zero; 1 if all of it is at one point."""
    loops = start.embedding.loops
    near = total([x for loop in loops for end in (loop.joined.a, loop.joined.b) for x in end.origin])
    return length_of(start.limb, near)


def _positions(chain: Chain, start: FreeTips, q: Array) -> tuple[list[JointState], Mask]:
    """Return the states of all joints, and whether they are on the branch of the reference configuration."""
    links, looped, dependent = chain.limb.links, _looped(chain), dependent_joints(chain.choice)
    place = {joint: k for k, joint in enumerate(chain.choice.independent)}
    states = [state_at(link, q[place[i]]) if i in place else HOME for i, link in enumerate(links)]
    if not dependent:
        return states, True
    winds, size = chain.limb.winds, loop_size(start)
    targets = {i: q[place[i]] if winds else within_turn(links[i], q[place[i]]) for i in looped}
    search = _JointSearch(chain, start, states, targets, size)
    *flat, least, open_by = iterate(search.step, search.step(search.first())[0], WINDING if winds else ITERATIONS)
    (solution, at_end), converged = search.unpacked(flat), open_by <= CONVERGED * size
    facing = [mask for loop in chain.tips(solution).embedding.loops for mask in loop.joined.facing()]
    certain = every([converged, least > 1.0, *facing])
    problem = LoopProblem(
        start.embedding,
        states,
        dependent,
        Ways(chain.limb, targets, routes(chain.limb, looped), size),
        size,
        FOLLOWED * size,
        lambda current: Embedding.of(chain.limb, chain.choice, current),
        WINDING if winds else ROUNDS,
    )
    return followed(problem, solution, at_end, converged, certain)


@dataclass(frozen=True)
class _JointSearch:
    """Newton steps that close loops while their independent joints move to `targets` by joint.

    Its numbers are the states of dependent joints, positions of independent joints in loops, the least regularity so
    far, and the sum of residuals.
    """

    chain: Chain
    start: FreeTips
    states: Sequence[JointState]
    targets: Mapping[int, Scalar]
    size: Scalar

    def first(self) -> list[Scalar]:
        """Return the numbers at the reference configuration."""
        home = (x for i in dependent_joints(self.chain.choice) for x in HOME.packed(self.chain.limb.links[i]))
        return [*home, *([0.0] * len(self.targets)), np.inf, 0.0]

    def unpacked(self, flat: Sequence[Scalar]) -> tuple[list[JointState], list[Scalar]]:
        """Return the states of all joints, and the positions of independent joints in loops."""
        values, result, links = iter(flat), list(self.states), self.chain.limb.links
        for i in dependent_joints(self.chain.choice):
            result[i] = from_numbers(links[i], values)
        reached = [next(values) for _ in self.targets]
        for i, value in zip(self.targets, reached, strict=True):
            result[i] = state_at(links[i], value)
        return result, reached

    def step(self, flat: Sequence[Scalar]) -> tuple[list[Scalar], Mask]:
        """Return the numbers after a step, in which no joint moves by more than STEP_LIMIT, and whether it is done."""
        links, dependent, targets = self.chain.limb.links, dependent_joints(self.chain.choice), self.targets
        current, reached = self.unpacked(flat)
        embedding = self.chain.tips(current).embedding
        gaps_left = [targets[joint] - value for joint, value in zip(targets, reached, strict=True)]
        moves: list[Scalar] = [0.0] * len(self.chain.choice.independent)
        for joint, value in zip(targets, gaps_left, strict=True):
            moves[self.chain.choice.independent.index(joint)] = value
        whole = embedding.newton_step(moves)
        longest = largest(whole[joint] for joint in (*targets, *dependent))
        near = opposite(longest > STEP_LIMIT)
        scale = where(near, 1.0, STEP_LIMIT / where(near, STEP_LIMIT, longest))
        moved = {i: current[i].moved(links[i], whole[i], scale, short=True) for i in dependent}
        following = [x for i in dependent for x in moved[i].packed(links[i])]
        for joint, value, gap_left in zip(targets, reached, gaps_left, strict=True):
            following.append(where(near, targets[joint], value + gap_left * scale))
        least, open_by = self._judged(embedding, flat[-2], gaps_left)
        long = longest_step(self.chain.limb, {i: whole[i] for i in dependent}, self.size) > SETTLED
        return [*following, least, open_by], opposite(either(open_by > CONVERGED * self.size, long))

    def _judged(self, embedding: Embedding, least: Scalar, gaps_left: Sequence[Scalar]) -> tuple[Scalar, Scalar]:
        """Return the least regularity so far, and the sum of residuals, which counts more near a singularity."""
        links, size = self.chain.limb.links, self.size
        pairs = zip(self.targets, gaps_left, strict=True)
        ways = [gap * size if links[i].joint_kind.turns else gap for i, gap in pairs]
        open_by = total([*embedding.residuals(size), *ways])
        for value in regularities(self.start.embedding, embedding):
            least = where(value > least, least, value)
        # NaN counts as done: it will not get better
        return least, open_by * where(nearly_singular(self.start.embedding, embedding), STRICTER, 1.0)


def within_turn(link: Link, value: Scalar) -> Scalar:
    """Return the equivalent position of a joint within half a turn of its reference."""
    if not link.joint_kind.periodic:
        return value
    turns: Any = value * (0.5 / math.pi)  # `np.rint` calls the method of a symbol
    return value - np.rint(turns) * (2.0 * math.pi)


def _branch_status(tips: FreeTips, start: FreeTips, flat: Scalar, home_branch: Mask = True) -> Scalar:
    """Return the status of the loops: OK, rank lost, or on another branch than the reference configuration.

    Rank is lost up to the dependence `flat` of their columns. `home_branch` tells whether they are on its branch, if
    known; otherwise only the signs of determinants decide.
    """
    status: Scalar = where(home_branch, float(Status.OK), float(Status.WRONG_BRANCH))
    size = loop_size(start)
    for cluster, first in zip(tips.embedding.clusters, start.embedding.clusters, strict=True):
        pairs = list(zip(cluster.regular_blocks, first.regular_blocks, strict=True))
        if cluster.bordered is not None:  # the platform, behind its limbs
            status = _block_status(status, *pairs.pop(), size, Status.CONSTRAINT_SINGULAR, flat)
        for pair in pairs:
            status = _block_status(status, *pair, size, Status.SINGULAR, flat)
    turns = [i for i in map(tips.limb.index, tips.limb.coordinates) if tips.limb.links[i].joint_kind.turns]
    for middle in turns[1:2]:
        # of three turns, the first and the last have one axis where the one between them is a right angle
        status = where(tips.at[middle].joint.cos > UPRIGHT, status, float(Status.SINGULAR))
    return status


def _block_status(
    status: Scalar, block: RegularBlock, first: RegularBlock, size: Scalar, singular: Status, flat: Scalar
) -> Scalar:
    """Return the status where a matrix of loops has another sign than at the reference configuration, or is flat.

    size: a length of the loops [m]; flat: dependence of the columns up to which the matrix has lost rank.
    """
    status = where(block.determinant * first.determinant < 0.0, float(Status.WRONG_BRANCH), status)
    return where(is_flat(block, flat, size), float(singular), status)


def _status(tips: FreeTips, start: FreeTips, flat: Scalar, home_branch: Mask) -> Scalar:
    size, status = loop_size(start), _branch_status(tips, start, flat, home_branch)
    closed = CLOSED * size
    status = where(total(tips.embedding.dropped(size)) <= closed, status, float(Status.LOOP_OPEN))
    return where(total(tips.residuals(size)) <= closed, status, float(Status.NOT_REACHABLE))
