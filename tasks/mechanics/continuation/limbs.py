"""Inverse kinematics of a limb by continuation, for one sample: for poses at which plain Newton steps do not settle.

The branch of the reference pose is the set of poses that joint motions reach from there without passing a singularity
of the limb. Newton's path runs from the reference pose to closed tips; along it the tips go straight to their places. A
step is taken only where the matrix of the tips changes by less than itself, in a norm without unit, so that no
singularity lies between its ends: the reached pose is on the branch. Where a path ends, at the limit of the limb's
reach or before a hole of it, others are tried, see STARTS; a platform that turns is also led there, see ROUTES.
Source: P. Deuflhard, Newton Methods for Nonlinear Problems, section 3.1.4, Newton's path; that a matrix is regular
within the distance of its inverse is Banach's lemma.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from robots.data_classes import dataclass, replace
from robots.model import Limb
from robots.types import BASE
from tasks.kernels.expression import Array, Mask, Scalar, Scalars
from tasks.mathematics.algebra import array, atan2, cross, dot, either, every, iterate, opposite, total, where
from tasks.mathematics.systems import pseudo_inverse
from tasks.mechanics.continuation.steps import (
    GROWTH,
    LEAST_SHARE,
    LEAST_STRIDE,
    LEVELLING,
    NEARLY_CLOSED,
    ROUTES,
    SAME,
    SMALL_CHANGE,
    STARTS,
    TURN_LIMIT,
    FlatState,
    Start,
    Way,
    apart,
    chosen,
    longest_turn,
    packed,
    relative_change,
    unpacked_states,
)
from tasks.mechanics.cut_joints import row_count
from tasks.mechanics.kinematics import HOME, JointState, Pose, columns, path, stepped
from tasks.mechanics.loops import Tips, loops_kept, regular

SEED_STEP = 0.3  # of the first joint on its way to another start [rad, or in sizes of the limb]
STRIDE = 0.1  # most of the way of the platform in a round


@dataclass(frozen=True)
class Path(FlatState):
    """State of a sample on its path: numbers of the joint states, and values for the next round."""

    states: Scalars
    step: Scalars
    inverse: Scalars
    share: Scalar
    left: Scalar
    """Way of the first joint to another start that is still to go."""
    start: Scalar
    fresh: Scalar
    """2 at the beginning of a start, 1 before a first matrix for comparison."""
    rounds: Scalar
    found: Scalar
    """1 where the platform is reached."""
    place: Scalar = 1.0
    """Place of the platform on its way, from 0 to 1; at 1 it is at its wanted pose."""
    stride: Scalar = STRIDE
    """Part of the way that the platform goes in one round."""
    going: Scalar = 0.0
    """1 where it goes in the next round, 0 where it waits for the limb."""


@dataclass(frozen=True)
class LimbProblem:
    """A limb, its tips at the reference pose and a length of it [m]; of a platform that turns, its way."""

    limb: Limb
    start: Tips
    size: Scalar
    closed: Scalar
    """Sum of residuals from which one more Newton step is exact to rounding."""
    way: Way | None = None

    @cached_property
    def weights(self) -> list[Scalar]:
        """Factors of the independent joints that make them dimensionless."""
        links = (self.limb.links[joint] for joint in self.start.choice.independent)
        return [1.0 if link.joint_kind.turns else 1.0 / self.size for link in links]

    @cached_property
    def seed(self) -> int:
        """Index of the independent joint that is moved first: the first, or the one after a slide along its axis.

        Such a pair is a cylindrical joint, and its turn carries the whole limb as well.
        """
        independent = self.start.choice.independent
        if len(independent) < 2 or self.start.choice.loops:
            return 0
        slide, turn = (self.limb.links[joint] for joint in independent[:2])
        behind = self.limb.links[independent[1]].parent == independent[0]
        entries = [x for row in turn.placement.rotation for x in row]
        if slide.joint_kind.turns or not turn.joint_kind.periodic or not behind:
            return 0
        if not all(isinstance(x, float | int) for x in (*entries, *slide.axis, *turn.axis)):
            return 0
        ahead = np.array(turn.placement.rotation, dtype=float) @ np.array(turn.axis, dtype=float)
        return int(bool((np.abs(np.cross(ahead, np.array(slide.axis, dtype=float))) == 0.0).all()))

    @property
    def seedable(self) -> bool:
        """Return whether the first independent joint carries the whole limb, so that turning it keeps the branch."""
        first = self.start.choice.independent[0]
        looped = any(first in loop.joints for loop in self.start.choice.loops)
        followed = any(self.limb.index(entry.of) == first for entry in self.limb.couplings)
        return self.limb.links[first].parent == BASE and not looped and not followed

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of `rows`: of all rows of the tips, over independent joints."""
        return sum(row_count(tip.kind) for tip in self.limb.tips), len(self.weights)

    def rows(self, tips: Tips) -> Array:
        """Return the rows of the tips over independent joints, dropped rows too: no choice serves everywhere."""
        if not len(tips.dropped_matrix):
            return tips.compound
        return np.vstack([tips.compound, tips.dropped_matrix @ tips.embedding.matrix])

    def inverse(self, tips: Tips) -> Array:
        """Return the left inverse of `rows`."""
        return pseudo_inverse(self.rows(tips)) if len(tips.dropped_matrix) else tips.inverse

    def newton_step(self, tips: Tips) -> Array:
        """Return the step of all joints of the tree that closes tips and loops to first order."""
        if not len(tips.dropped_matrix):
            return tips.newton_step()
        answered = tips.embedding.correction()
        matrix = np.vstack([tips.matrix, tips.dropped_matrix])
        demand = -array(self.gaps(tips)) - matrix @ answered
        return tips.embedding.matrix @ (self.inverse(tips) @ demand) + answered

    def gaps(self, tips: Tips) -> list[Scalar]:
        """Compute the closure residuals of all rows of the tips, in the order of `rows`."""
        return [*(value for joined in tips.joined for value in joined.residual()), *tips.dropped()]

    def change(self, inverse: Array, tips: Tips) -> Scalar:
        """Compute the change of the tips' matrix since its inverse was computed, as a dimensionless norm."""
        return relative_change(inverse, self.rows(tips), self.weights)

    def kept(self, path: Path, tips: Tips) -> Mask:
        """Return whether the tips are still on the branch, as far as the step that led to them can tell."""
        inverse = np.reshape(array(path.inverse), self.shape[::-1])
        return every([self.change(inverse, tips) <= SMALL_CHANGE, *loops_kept(tips, self.start)])

    def ahead(self, path: Path, tips: Tips, states: Sequence[JointState], gap: Scalar, towards: Array) -> Path:
        """Go on from accepted states: to another start while a `gap` to it remains, else to the platform."""
        embedding, moving = tips.embedding, abs(gap) > 0.0
        most = SEED_STEP * self.seed_unit
        way = where(abs(gap) > most, where(gap > 0.0, most, -most), gap)
        turn = longest_turn(self.limb, dict(enumerate(towards)))
        limit = TURN_LIMIT / where(turn > TURN_LIMIT, turn, TURN_LIMIT)
        share = where(path.fresh > 0.5, 1.0, path.share * GROWTH)
        return replace(
            path,
            states=packed(self.limb, states),
            step=chosen(moving, list(embedding.matrix[:, self.seed] * way + embedding.correction()), list(towards)),
            inverse=list(self.inverse(tips).ravel()),
            share=where(moving, 1.0, where(share < limit, share, limit)),
            left=gap - way,
            fresh=where(moving, 1.0, 0.0),
            rounds=path.rounds + 1.0,
            found=0.0,
        )

    def pose(self, number: Scalar, place: Scalar, starts: Sequence[Start]) -> Pose | None:
        """Return the pose of the platform at a place on its way in one of the starts; None without a way.

        The place is 0 at the beginning of the way and 1 at its end.
        """
        if self.way is None:
            return None
        shares: list[Scalar] = [1.0, 1.0]
        for k, start in enumerate(starts):
            for i, legs in enumerate((start.turning, start.moving)):
                if legs is not None:
                    share = (place - legs[0]) * (1.0 / (legs[1] - legs[0]))
                    share = where(share < 0.0, 0.0, where(share > 1.0, 1.0, share))
                    share = where(place >= 1.0, 1.0, share)  # up to rounding it is
                    shares[i] = where(abs(number - k) < 0.5, share, shares[i])
        return self.way.at(shares[0], shares[1])

    def first_place(self, number: Scalar, starts: Sequence[Start]) -> Scalar:
        """Return the place of the platform before the first round of a start: 0 if the start moves it, else 1."""
        result: Scalar = 1.0
        for k, start in enumerate(starts):
            if start.turning is not None:
                result = where(abs(number - k) < 0.5, 0.0, result)
        return result

    @property
    def seed_unit(self) -> Scalar:
        """Unit of the joint that moves first: one radian, or for a sliding joint the size of the limb."""
        first = self.limb.links[self.start.choice.independent[self.seed]]
        return 1.0 if first.joint_kind.turns else self.size

    def way_to_start(self, tips: Tips, number: Scalar, starts: Sequence[Start]) -> Scalar:
        """Compute the displacement that brings the joint that moves first to one of the starts."""
        result: Scalar = 0.0
        for k, start in enumerate(starts):
            if start.beyond is not None:
                result = where(abs(number - k) < 0.5, self.toward(tips) + start.beyond * self.seed_unit, result)
        return result

    def levelling(self, number: Scalar, starts: Sequence[Start]) -> Scalar:
        """Return how many rounds of a start bring the tips to their height."""
        result: Scalar = 0.0
        for k, start in enumerate(starts):
            result = where(abs(number - k) < 0.5, float(LEVELLING * start.height), result)
        return result

    def straight(self, tips: Tips, states: Sequence[JointState], solution: Sequence[JointState]) -> Array:
        """Return the step of all joints of the tree that takes the independent ones to a solution."""
        ways = []
        for i in self.start.choice.independent:
            now, then = states[i], solution[i]
            if self.limb.links[i].joint_kind.periodic:
                ways.append(atan2(then.sin * now.cos - then.cos * now.sin, then.cos * now.cos + then.sin * now.sin))
            else:
                ways.append(then.value - now.value)
        return tips.embedding.matrix @ array(ways) + tips.embedding.correction()

    def level(self, tips: Tips) -> Array:
        """Return the least step of independent joints that brings the tips to their height, as a step of all joints."""
        first, matrix = self.start.choice.independent[0], tips.embedding.matrix
        axis = tips.at[first].rotation @ array(self.limb.links[first].axis)
        count = len(self.weights)
        slopes: Array = np.array(np.zeros(count), dtype=object)
        gap: Scalar = 0.0
        for tip, joined in zip(self.limb.tips, tips.joined, strict=True):
            gap = gap + dot(axis, joined.a.origin - joined.b.origin)
            joints = path(self.limb.links, tip.a)
            for joint, (_, v) in columns(self.limb.links, tips.at, joints, joined.a.origin).items():
                slopes = slopes + matrix[joint] * dot(axis, v)
        steepness = dot(array(slopes), array(slopes)) + 1e-6 * self.size * self.size
        return matrix @ array(slopes * (-gap / steepness)) + tips.embedding.correction()

    def toward(self, tips: Tips) -> Scalar:
        """Compute the displacement of the joint that moves first to its best position [rad or m].

        At this position the tips come nearest to their places.
        """
        joint = self.start.choice.independent[self.seed]
        link, pose = self.limb.links[joint], tips.at[joint]
        axis = pose.rotation @ array(link.axis)
        if not link.joint_kind.turns:
            gaps = [dot(axis, joined.b.origin - joined.a.origin) for joined in tips.joined]
            return sum(gaps[1:], start=gaps[0]) * (1.0 / len(gaps))
        sine: Scalar = 0.0
        cosine: Scalar = 0.0
        for joined in tips.joined:
            arm, offset = joined.a.origin - pose.position, joined.b.origin - pose.position
            sine = sine + dot(axis, cross(arm, offset))
            cosine = cosine + (dot(arm, offset) - dot(axis, arm) * dot(axis, offset))
        return atan2(sine, cosine)


ROUNDS = 200  # of one start
ROUTE_ROUNDS = 1000  # of one route: a joint may turn over while the platform hardly moves
Follow = Callable[[Sequence[JointState], Pose | None], Tips]


class _LimbTrial(NamedTuple):
    """A step of a path that is tried: states of the joints there, the limb's tips, and the place on the way."""

    path: Path
    states: Sequence[JointState]
    place: Scalar
    tips: Tips
    newton: Array
    residual: Scalar


@dataclass(frozen=True, eq=False)
class _LimbSearch:
    """Search for the branch of the reference pose: all starts of a problem, one after the other."""

    problem: LimbProblem
    at: Follow
    solution: Sequence[JointState]
    converged: Mask

    @cached_property
    def home(self) -> list[Scalar]:
        """Numbers of the joints at the reference pose."""
        limb = self.problem.limb
        return packed(limb, [HOME] * len(limb.links))

    @cached_property
    def before(self) -> list[Scalar]:
        """Numbers of the joints in the solution."""
        return packed(self.problem.limb, self.solution)

    @cached_property
    def sizes(self) -> tuple[int, int, int]:
        """Lengths of the parts of a path."""
        return len(self.before), len(self.problem.limb.links), int(np.prod(self.problem.shape))

    @cached_property
    def direct(self) -> list[Start]:
        """Starts without a way of the platform."""
        return [start for start in STARTS if self.problem.seedable or start.beyond is None]

    @cached_property
    def starts(self) -> list[Start]:
        """Starts in the order in which they are tried."""
        return [*self.direct, *(ROUTES if self.problem.way is not None else ())]

    @property
    def limit(self) -> int:
        """Rounds of all starts."""
        direct = len(self.direct)
        return direct * (ROUNDS + 2) + (len(self.starts) - direct) * (ROUTE_ROUNDS + 2)

    def beginning(self, number: Scalar) -> Path:
        """Return the begin of the path of that number."""
        place = self.problem.first_place(number, self.starts)
        sizes = self.sizes
        return Path(self.before, [0.0] * sizes[1], [0.0] * sizes[2], 1.0, 0.0, number, 2.0, 0.0, 0.0, place)

    def advance(self, flat: Sequence[Scalar]) -> tuple[list[Scalar], Mask]:
        """Return the path after one more step, and whether it has ended."""
        problem, starts = self.problem, self.starts
        path = Path.of(flat, self.sizes)
        fresh = path.fresh > 0.5
        trial = self._trial(path)
        levelling = problem.levelling(path.start, starts)
        turns = abs(path.rounds - levelling) < 0.5
        start_gap = where(turns, problem.way_to_start(trial.tips, path.start, starts), path.left)
        moving = abs(start_gap) > 0.0
        accepted = either(fresh, problem.kept(path, trial.tips))
        towards = chosen(path.rounds < levelling, list(problem.level(trial.tips)), list(trial.newton))
        straight_start = next(k for k, start in enumerate(starts) if start.straight)
        straight = every([path.start > straight_start - 0.5, path.start < straight_start + 0.5])
        towards = chosen(straight, list(problem.straight(trial.tips, trial.states, self.solution)), towards)
        ahead = problem.ahead(path, trial.tips, trial.states, start_gap, array(towards))
        back = replace(path, share=path.share * 0.5, rounds=where(turns, path.rounds, path.rounds + 1.0))
        shortest = path.share <= LEAST_SHARE
        if problem.way is not None:
            ahead, back, shortest = self._on_way(trial, ahead, back, shortest)
        following = chosen(accepted, ahead.flat(), back.flat())
        ended = every([opposite(fresh), opposite(accepted), shortest])
        # NaN is no way on either
        is_known = either(opposite(straight), self.converged)
        arrived = every([opposite(moving), trial.place >= 1.0, trial.residual <= problem.closed])
        facing = every(trial.tips.facing())
        most = where(path.start > len(self.direct) - 0.5, ROUTE_ROUNDS, ROUNDS) if problem.way is not None else ROUNDS
        goes_on = every(
            [opposite(ended), path.rounds < most, trial.residual < np.inf, is_known, either(opposite(arrived), facing)]
        )
        following = chosen(goes_on, following, self.beginning(path.start + 1.0).flat())
        closed = every([accepted, arrived, facing, regular(trial.tips, self.problem.size)])
        following = chosen(closed, self._done(trial), following)
        return following, either(closed, Path.of(following, self.sizes).start > len(starts) - 0.5)

    def _trial(self, path: Path) -> _LimbTrial:
        """Return the step that a path tries."""
        problem = self.problem
        base = unpacked_states(problem.limb, chosen(path.fresh > 1.5, self.home, path.states))
        states = stepped(problem.limb, base, path.step, path.share)
        place = path.place
        if problem.way is not None:
            place = where(path.going > 0.5, path.place + path.stride, path.place)
            place = where(place > 1.0, 1.0, place)
        tips = self.at(states, problem.pose(path.start, place, self.starts))
        newton = problem.newton_step(tips)
        residual = total([*tips.residuals(problem.size), *tips.dropped(problem.size)])
        return _LimbTrial(path, states, place, tips, newton, residual)

    def _on_way(self, trial: _LimbTrial, ahead: Path, back: Path, shortest: Mask) -> tuple[Path, Path, Mask]:
        """Return the paths ahead and back, and whether a step is the shortest, where the platform goes along a way."""
        path, going = trial.path, trial.path.going > 0.5
        longer = where(going, path.stride * GROWTH, path.stride)
        onward = where(every([trial.place < 1.0, trial.residual <= NEARLY_CLOSED * self.problem.size]), 1.0, 0.0)
        stride = where(longer > STRIDE, STRIDE, longer)
        ahead = replace(ahead, place=trial.place, stride=stride, going=onward)
        back = replace(
            back,
            share=where(going, path.share, back.share),
            stride=where(going, path.stride * 0.5, path.stride),
        )
        shortest = either(every([going, path.stride <= LEAST_STRIDE]), every([opposite(going), shortest]))
        return ahead, back, shortest

    def _done(self, trial: _LimbTrial) -> list[Scalar]:
        """Return the path that has arrived, at the solution if it leads there."""
        limb, before = self.problem.limb, self.before
        arrival = packed(limb, stepped(limb, trial.states, trial.newton))
        difference = apart(limb, range(len(limb.links)), arrival, before, self.problem.size)
        alike = every([self.converged, difference <= SAME])
        begun = self.beginning(trial.path.start)
        return replace(begun, states=chosen(alike, before, arrival), fresh=1.0, found=1.0).flat()


def followed(
    problem: LimbProblem, at: Follow, solution: Sequence[JointState], converged: Mask, skip: Mask
) -> tuple[list[JointState], Mask]:
    """Return joint states on the branch of the reference pose, and whether they are; `solution` if none are found.

    at: the limb's tips for joint states, with its platform at a pose or at the target; converged: whether the solution
    closes the tips. Samples to `skip` keep the solution, which is on the branch.
    """
    search = _LimbSearch(problem, at, solution, converged)
    result = iterate(search.advance, search.beginning(0.0).flat(), search.limit, skip)
    path = Path.of(result, search.sizes)
    return unpacked_states(problem.limb, list(path.states)), either(skip, path.found > 0.5)
