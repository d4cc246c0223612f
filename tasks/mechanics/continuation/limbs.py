"""Inverse kinematics of a limb by continuation, for one sample: for poses that plain Newton steps do not settle.

The branch of the reference pose is what joint motions reach from there without passing a singularity of the limb.
Newton's path runs from the reference pose to where the tips are closed; along it the tips go straight to their places.
A step is taken only where the matrix of the tips changes by less than itself, in a norm without unit, so that no
singularity lies between its ends: what is reached is on the branch. Where a path ends, at the limit of the limb's reach
or before a hole of it, others are tried, see STARTS; a platform that turns is led there as well, see ROUTES. Source:
P. Deuflhard, Newton Methods for Nonlinear Problems, section 3.1.4, Newton's path; that a matrix is regular within the
distance of its inverse is Banach's lemma.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from tasks.kernels.types import Mask, Scalar
from tasks.mathematics.algebra import array, either, every, iterate, opposite, total, where
from tasks.mechanics.continuation.home_branch import regular
from tasks.mechanics.continuation.limb_problem import STRIDE, LimbProblem, Path
from tasks.mechanics.continuation.starts import ROUTES, STARTS
from tasks.mechanics.continuation.steps import (
    GROWTH,
    LEAST_SHARE,
    LEAST_STRIDE,
    NEARLY_CLOSED,
    SAME,
    chosen,
    packed,
    unpacked_states,
)
from tasks.mechanics.embedding import Tips
from tasks.mechanics.kinematics import HOME, JointState, Pose, stepped

ROUNDS = 200  # of one start
ROUTE_ROUNDS = 1000  # of one route: a joint may turn over while the platform hardly moves
Follow = Callable[[Sequence[JointState], Pose | None], Tips]


def followed(
    problem: LimbProblem, at: Follow, solution: Sequence[JointState], converged: Mask, skip: Mask
) -> tuple[list[JointState], Mask]:
    """Joint states on the branch of the reference pose, and whether they are; `solution` where none are found.

    at: the limb's tips for joint states, its platform at a pose or where it is wanted; converged: whether the solution
    closes them. Samples to `skip` keep it, which is on the branch.
    """
    limb = problem.limb
    home, before = packed(limb, [HOME] * len(limb.links)), packed(limb, solution)
    sizes = len(before), len(limb.links), int(np.prod(problem.shape))
    starts = [start for start in STARTS if problem.seedable or start.beyond is None]
    direct = len(starts)
    starts += ROUTES if problem.way is not None else ()
    straight_start = next(k for k, start in enumerate(starts) if start.straight)

    def beginning(number: Scalar) -> Path:
        place = problem.first_place(number, starts)
        return Path(before, [0.0] * sizes[1], [0.0] * sizes[2], 1.0, 0.0, number, 2.0, 0.0, 0.0, place)

    def advance(flat: Sequence[Scalar]) -> tuple[list[Scalar], Mask]:
        path = Path.of(flat, sizes)
        fresh = path.fresh > 0.5
        base = unpacked_states(limb, chosen(path.fresh > 1.5, home, path.states))
        steps = [value * path.share for value in path.step]
        states = stepped(limb, base, steps)
        going, place = path.going > 0.5, path.place
        if problem.way is not None:
            place = where(going, path.place + path.stride, path.place)
            place = where(place > 1.0, 1.0, place)
        tips = at(states, problem.pose(path.start, place, starts))
        newton, residual = problem.newton_step(tips), total([*problem.gaps(tips), *tips.embedding.residuals()])
        levelling = problem.levelling(path.start, starts)
        turns = abs(path.rounds - levelling) < 0.5
        left = where(turns, problem.way_to_start(tips, path.start, starts), path.left)
        moving = abs(left) > 0.0
        accepted = either(fresh, problem.kept(path, tips))
        towards = chosen(path.rounds < levelling, list(problem.level(tips)), list(newton))
        straight = every([path.start > straight_start - 0.5, path.start < straight_start + 0.5])
        towards = chosen(straight, list(problem.straight(tips, states, solution)), towards)
        ahead = problem.ahead(path, tips, states, left, array(towards))
        back = replace(path, share=path.share * 0.5, rounds=where(turns, path.rounds, path.rounds + 1.0))
        shortest = path.share <= LEAST_SHARE
        if problem.way is not None:
            longer = where(going, path.stride * GROWTH, path.stride)
            onward = where(every([place < 1.0, residual <= NEARLY_CLOSED * problem.size]), 1.0, 0.0)
            ahead = replace(ahead, place=place, stride=where(longer > STRIDE, STRIDE, longer), going=onward)
            back = replace(
                back,
                share=where(going, path.share, back.share),
                stride=where(going, path.stride * 0.5, path.stride),
            )
            shortest = either(every([going, path.stride <= LEAST_STRIDE]), every([opposite(going), shortest]))
        following = chosen(accepted, ahead.flat(), back.flat())
        ended = every([opposite(fresh), opposite(accepted), shortest])
        # NaN is no way on either
        known = either(opposite(straight), converged)
        there = every([opposite(moving), place >= 1.0, residual <= problem.closed])
        facing = every(tips.facing())
        most = where(path.start > direct - 0.5, ROUTE_ROUNDS, ROUNDS) if problem.way is not None else ROUNDS
        goes_on = every(
            [opposite(ended), path.rounds < most, residual < np.inf, known, either(opposite(there), facing)]
        )
        following = chosen(goes_on, following, beginning(path.start + 1.0).flat())
        closed = every([accepted, there, facing, regular(tips)])
        found = packed(limb, stepped(limb, states, newton))
        alike = every([converged, total([p - q for p, q in zip(found, before, strict=True)]) <= SAME])
        done = replace(beginning(path.start), states=chosen(alike, before, found), fresh=1.0, found=1.0)
        following = chosen(closed, done.flat(), following)
        return following, either(closed, Path.of(following, sizes).start > len(starts) - 0.5)

    limit = direct * (ROUNDS + 2) + (len(starts) - direct) * (ROUTE_ROUNDS + 2)
    result = iterate(advance, beginning(0.0).flat(), limit, skip)
    path = Path.of(result, sizes)
    return unpacked_states(limb, list(path.states)), either(skip, path.found > 0.5)
