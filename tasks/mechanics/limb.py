"""Inverse kinematics of one limb, separated from the platform, for one sample.

Hybrid-limb paper, Fig. 13, steps 1 to 3: position by Newton steps from the reference pose, velocity, acceleration.
Dynamics follow in `tasks.mechanics.limb_motion`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from robots.model import Limb
from robots.status import Status
from tasks.kernels.expression import Array, Mask, Scalar
from tasks.mathematics.algebra import (
    array,
    cross,
    dot,
    either,
    every,
    iterate,
    largest,
    opposite,
    sqrt,
    total,
    where,
)
from tasks.mathematics.systems import squared_box
from tasks.mechanics.continuation.limbs import LimbProblem, followed
from tasks.mechanics.continuation.steps import Way, packed, unpacked_states
from tasks.mechanics.kinematics import HOME, JointState, Pose, SpatialMotion, path, state_at, stepped
from tasks.mechanics.limb_motion import Mounted, Solved, sprung_joints
from tasks.mechanics.loops import Tips, loop_limit, loops_kept, regular
from tasks.mechanics.matrices import is_flat
from tasks.mechanics.tolerances import (
    CLOSED,
    CONVERGED,
    FOLLOWED,
    NEARLY_SINGULAR,
    SETTLED,
    SINGULAR,
    STRICTER,
    WINDING,
    length_of,
    longest_step,
)

ITERATIONS = 32  # near the end of its reach, each iteration halves the distance of a limb
STEP_LIMIT = 0.5  # largest step of a joint [rad or m]: longer Newton steps often end in another assembly branch
TORN = 1e-3  # largest residual, relative to the limb, with which given joint variables can belong to the pose
OPPOSITE = -0.88  # cosine of a joint with a spring, half a radian from half a turn: a pose does not tell its turns
FAR_COSINE = 0.0  # of the angle of a joint, above which no other branch is looked for
FAR_SHARE = 0.6  # the same of a slide, relative to the least lever of the tips about joints before it
TURNS = {"wx", "wy", "wz"}  # components of a twist


def solve(mounted: Mounted, home: Pose, platform: Pose, motion: SpatialMotion) -> Solved:
    """Solve the inverse kinematics of position, velocity and acceleration. Eqs. (96), (87), (88)."""
    start = mounted.tips([HOME] * len(mounted.limb.links), home)
    states, home_branch = _positions(mounted, start, home, platform)
    solved = with_states(mounted, states, platform, motion)
    status: Scalar = _status(solved.tips, start, loop_limit([*motion.omega, *motion.v]), home_branch)
    for joint in sprung_joints(mounted.limb):
        if mounted.limb.links[joint].joint_kind.periodic:
            # a motion that continues to the next turn passes here
            turning = every([status < 0.5, states[joint].cos < OPPOSITE])
            status = where(turning, float(Status.TURNS_UNKNOWN), status)
    return replace(solved, status=status)


def with_states(mounted: Mounted, states: Sequence[JointState], platform: Pose, motion: SpatialMotion) -> Solved:
    """Return the motion of a limb whose joints `solve` has placed. Its status is OK for any status of `solve`."""
    tips, moving = mounted.tips(states, platform), mounted.inward(motion)
    rates = tips.rates(moving)
    return Solved(tips, states, rates, tips.accelerations(rates, moving), float(Status.OK))


def at_angles(mounted: Mounted, angles: Array, home: Pose, platform: Pose, motion: SpatialMotion) -> Solved:
    """Return the motion of a limb with joints at `angles`, almost closed. Its status tolerates the drift."""
    states = [state_at(link, angle) for link, angle in zip(mounted.limb.links, angles, strict=True)]
    start = mounted.tips([HOME] * len(mounted.limb.links), home)
    tips, moving = mounted.tips(states, platform), mounted.inward(motion)
    rates = tips.rates(moving)
    size = _size(start)
    torn = total(tips.residuals(size)) > TORN * size
    flat = loop_limit([*motion.omega, *motion.v])
    status = where(torn, float(Status.LOOP_OPEN), _branch_status(tips, start, flat))
    return Solved(tips, states, rates, tips.accelerations(rates, moving), status, dict(enumerate(angles)))


def _size(start: Tips) -> Scalar:
    """Return a length of the limb at its reference pose [m], above zero; 1 where all of it is at one point."""
    near = total([x for joined in start.joined for end in (joined.a, joined.b) for x in end.origin])
    return length_of(start.limb, near, list(start.platform.position))


def _positions(mounted: Mounted, start: Tips, home: Pose, platform: Pose) -> tuple[list[JointState], Mask]:
    limb, links, size = mounted.limb, mounted.limb.links, _size(start)
    near = squared_box(start.in_one_unit) * (NEARLY_SINGULAR * NEARLY_SINGULAR)
    way = Way(home, platform) if TURNS & {*mounted.mobility} else None

    def at(states: Sequence[JointState], pose: Pose | None = None) -> Tips:
        return mounted.tips(states, platform if pose is None else pose)

    def moved(states: Sequence[JointState], steps: Array, divisor: Scalar = 1.0) -> list[JointState]:
        """Return the states after `steps / divisor`, or a share of it whose longest step is at the limit."""
        longest, least = largest(steps) * (1.0 / STEP_LIMIT), abs(divisor)
        least = where(longest > least, longest, least)
        scale = 1.0 / where(divisor < 0.0, -least, least)
        return stepped(limb, states, steps, scale, short=True)

    def excess(tips: Tips) -> Scalar:
        """Return the sum of residuals, with more weight if the limb is nearly singular."""
        tight = tips.determinant * tips.determinant < near
        return total(tips.residuals(size)) * where(tight, STRICTER, 1.0)

    def step(flat: Sequence[Scalar]) -> tuple[list[Scalar], Mask]:
        states = unpacked_states(limb, flat)
        tips = at(states)
        # NaN counts as done: it will not get better
        residual, (steps, divisor) = excess(tips), tips.newton_fraction()
        long = longest_step(limb, dict(enumerate(steps)), size) > SETTLED * abs(divisor)
        far = either(residual > CONVERGED * size, long)
        sign = where(every(tips.facing()), tips.determinant, 0.0)
        return [*packed(limb, moved(states, steps, divisor)), residual, sign], opposite(far)

    first = moved([HOME] * len(links), *at([HOME] * len(links)).newton_fraction())
    limit = WINDING if limb.winds else ITERATIONS
    *flat, residual, sign = iterate(step, [*packed(limb, first), 0.0, 0.0], limit)
    states = unpacked_states(limb, flat)
    converged = residual <= CONVERGED * size
    certain = every([converged, sign * start.determinant > 0.0, _near_home(limb, start, size, states)])
    return followed(LimbProblem(limb, start, size, FOLLOWED * size, way), at, states, converged, certain)


def _branch_status(tips: Tips, start: Tips, flat_loop: Scalar, home_branch: Mask | None = None) -> Scalar:
    """Return the status of the limb: OK, rank lost, or on another branch than the reference pose.

    Loops are singular up to the dependence `flat_loop` of their columns. `home_branch` says whether the limb is on its
    branch, if known; otherwise a sign decides.
    """
    determinant, size = tips.determinant, _size(start)
    flat = is_flat(tips.whole, SINGULAR, size)
    for cluster, first in zip(tips.embedding.clusters, start.embedding.clusters, strict=True):
        box = squared_box(first.whole.without_unit(size))
        flat = either(flat, is_flat(cluster.whole, flat_loop, size, box))
    status: Scalar = where(flat, float(Status.SINGULAR), float(Status.OK))
    if home_branch is None:
        home_branch = opposite(determinant * start.determinant < 0.0)
    for kept in (home_branch, *loops_kept(tips, start)):
        status = where(kept, status, float(Status.WRONG_BRANCH))
    return status


def _status(tips: Tips, start: Tips, flat_loop: Scalar, home_branch: Mask) -> Scalar:
    size, status = _size(start), _branch_status(tips, start, flat_loop, home_branch)
    closed = CLOSED * size
    unclosed: Scalar = float(Status.NOT_REACHABLE)
    if len(tips.dropped_matrix):
        # kept rows that are singular close without the others, which tells nothing of reach or branch
        blind = every([total(tips.residuals(size)) <= closed, opposite(regular(tips, size))])
        status = where(every([blind, status > 0.5]), float(Status.SINGULAR), status)
        unclosed = where(blind, float(Status.SINGULAR), unclosed)
    status = where(total(tips.embedding.dropped(size)) <= closed, status, float(Status.LOOP_OPEN))
    return where(total([*tips.residuals(size), *tips.dropped(size)]) <= closed, status, unclosed)


def _near_home(limb: Limb, start: Tips, size: Scalar, states: Sequence[JointState]) -> Mask:
    """Return whether all joints are so near to the reference pose that Newton steps cannot have left the branch."""
    near: list[Mask] = []
    for i, (link, state) in enumerate(zip(limb.links, states, strict=True)):
        if link.joint_kind.turns and not link.joint_kind.slides:
            near.append(state.cos > FAR_COSINE)
        elif not link.joint_kind.turns:
            near.append(abs(state.value) < FAR_SHARE * _lever(limb, start, size, i))
    return every(near)


def _lever(limb: Limb, start: Tips, size: Scalar, slide: int) -> Scalar:
    """Return the least distance at the reference pose of the tips beyond a sliding joint from the axes before it [m].

    A leg whose length passes zero may continue on the other side.
    """
    least: Scalar = np.inf
    for tip, joined in zip(limb.tips, start.joined, strict=True):
        joints = path(limb.links, tip.a)
        before = joints[: joints.index(slide)] if slide in joints else ()
        for i in before:
            if limb.links[i].joint_kind.turns:
                arm = cross(start.at[i].rotation @ array(limb.links[i].axis), joined.a.origin - start.at[i].position)
                reach = sqrt(dot(arm, arm))
                least = where(every([reach > 1e-3 * size, reach < least]), reach, least)
    return least
