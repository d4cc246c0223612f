"""Inverse kinematics and dynamics of one limb, separated from the platform, for one sample.

Hybrid-limb paper, Fig. 13, steps 1 to 4: position by Newton steps from the reference pose, velocity, acceleration, then
the recursion on the tree; the results are the limb's share of the wrench on the platform and its rows of J_IK.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from robots.model import PLATFORM, Limb
from robots.status import Status
from robots.types import TWIST
from tasks.kernels.expression import Array, Dual, Mask, Scalar
from tasks.mathematics.algebra import array, every, iterate, opposite, total, where
from tasks.mechanics import drives
from tasks.mechanics import recursion as forces
from tasks.mechanics.continuation.limbs import LimbProblem, followed
from tasks.mechanics.continuation.steps import Way, packed, unpacked_states
from tasks.mechanics.drives import Transmission
from tasks.mechanics.kinematics import (
    HOME,
    ZERO,
    JointState,
    Pose,
    SpatialMotion,
    inverse_pose,
    joined_pose,
    motions,
    state_at,
    stepped,
)
from tasks.mechanics.loops import LimbChoice, Tips, loops_kept, near_home, regular
from tasks.mechanics.recursion import BodyState, Field, held_directions, joint_spring_forces
from tasks.mechanics.turns import Turns

ITERATIONS = 20
WINDING = 2000  # of limbs with joints that count their turns, of which each takes a dozen steps
AT_ORIGIN = 1e-3  # sum of coordinates of the tips, relative to that of all joints, from which it tells a limb's size
STEP_LIMIT = 0.5  # of any joint [rad or m]: from far away, longer Newton steps often end in another assembly branch
CONVERGED = Dual(1e-8, 1e-4)  # residual, relative to the limb, from which one more step is exact to rounding
CLOSED = Dual(1e-10, 1e-5)  # the same for a sample to count as solved
FOLLOWED = Dual(1e-11, 1e-5)  # the same as CONVERGED at the end of a path, which may be near a singularity
TORN = 1e-3  # the same for given joint variables to belong to the pose at all
OPPOSITE = -0.88  # cosine of a joint with a spring, half a radian from half a turn: a pose says nothing of its turns
TURNS = {"wx", "wy", "wz"}  # components of a twist
SINGULAR = Dual(1e-9, 1e-4)  # volume of the columns of L_t relative to a box with the same sides


def unit_motion(name: str) -> tuple[Array, Array]:
    """Angular velocity and velocity of the platform for one unit of a free component."""
    unit = np.eye(6)[TWIST.index(name)]
    return unit[:3], unit[3:]


@dataclass(frozen=True)
class Mounted:
    """A representative limb with its mount frames at base and platform, and how it is solved."""

    limb: Limb
    choice: LimbChoice
    base: Pose
    platform: Pose
    mobility: tuple[str, ...]

    @property
    def unforced(self) -> Mounted:
        """The same limb with nothing that acts on it from outside."""
        limb = self.limb
        return replace(self, limb=replace(limb, forces=(), springs=())) if limb.forces or limb.springs else self

    def given(self, motion: Array) -> dict[int, Scalar]:
        """Positions of joints of the tree that a motion vector gives: those of a chain that are independent."""
        return {}

    def target(self, platform: Pose) -> Pose:
        """Pose of the mount frame at the platform, seen from the one at the base."""
        return joined_pose(inverse_pose(self.base), joined_pose(platform, self.platform))

    def tips(self, states: Sequence[JointState], platform: Pose) -> Tips:
        """Return the limb's tips for these joint states and this pose of the platform."""
        reference = self.base.rotation.T @ (platform.position - self.base.position)
        return Tips.of(self.limb, self.choice, states, self.target(platform), reference)

    def inward(self, motion: SpatialMotion) -> SpatialMotion:
        """Return a motion in world axes, turned to the axes of the limb."""
        turn = self.base.rotation.T
        return SpatialMotion(turn @ motion.omega, turn @ motion.v, turn @ motion.alpha, turn @ motion.a)

    def unit_rates(self, tips: Tips) -> Array:
        """Return the rates of the tree joints for one unit of each freedom of the robot, (joint, freedom)."""
        units = [unit_motion(name) for name in self.mobility]
        moves = [SpatialMotion(array(omega), array(v), ZERO, ZERO) for omega, v in units]
        return array(np.stack([tips.rates(self.inward(move)) for move in moves], axis=1))

    def outward(self, covector: Array) -> list[Scalar]:
        """The components of a (moment, force) in limb axes that the platform's free twists see, in world axes."""
        turned = [*(self.base.rotation @ covector[:3]), *(self.base.rotation @ covector[3:])]
        return [turned[TWIST.index(name)] for name in self.mobility]


@dataclass(frozen=True)
class Solved:
    """The motion of a limb: tips, joint states, rates and accelerations, status; positions that were `given`.

    `turns`: of a chain with loops, the turns of joints that these move; no kernel counts them that does not ask.
    """

    tips: Tips
    states: Sequence[JointState]
    rates: Array
    accelerations: Array
    status: Scalar
    given: Mapping[int, Scalar] = field(default_factory=dict)
    turns: Turns | None = None

    def position(self, limb: Limb, joint: int) -> Scalar:
        """Position of a joint of the tree [rad or m]: as given, of a chain with all turns from its reference.

        That of a joint that follows another is the ratio times that of the other, how far that may be. Revolute joints
        of limbs at a platform are within half a turn of the reference pose.
        """
        if joint in self.given:
            return self.given[joint]
        if self.turns is not None and joint in self.turns.counted:
            return self.turns.position(joint)
        for entry in limb.couplings:
            if limb.index(entry.joint) == joint:
                return self.position(limb, limb.index(entry.of)) * entry.ratio
        return self.states[joint].position(limb.links[joint])


def solve(mounted: Mounted, home: Pose, platform: Pose, motion: SpatialMotion) -> Solved:
    """Inverse kinematics of position, velocity and acceleration. Eqs. (96), (87), (88)."""
    start = mounted.tips([HOME] * len(mounted.limb.links), home)
    states, home_branch = _positions(mounted, start, home, platform)
    solved = with_states(mounted, states, platform, motion)
    status: Scalar = _status(solved.tips, start, home_branch)
    for joint in sprung_joints(mounted.limb):
        if mounted.limb.links[joint].joint_kind.periodic:
            # a motion that goes on to the next turn comes by here
            turning = every([status < 0.5, states[joint].cos < OPPOSITE])
            status = where(turning, float(Status.TURNS_UNKNOWN), status)
    return replace(solved, status=status)


def sprung_joints(limb: Limb) -> list[int]:
    """Joints whose positions springs see, each once."""
    return list(dict.fromkeys(joint for spring in limb.springs for joint, _ in spring.ratios))


def with_states(mounted: Mounted, states: Sequence[JointState], platform: Pose, motion: SpatialMotion) -> Solved:
    """The motion of a limb whose joints `solve` has put where they are. Its status is OK, whatever came of that."""
    tips, moving = mounted.tips(states, platform), mounted.inward(motion)
    rates = tips.rates(moving)
    return Solved(tips, states, rates, tips.accelerations(rates, moving), float(Status.OK))


def at_angles(mounted: Mounted, angles: Array, home: Pose, platform: Pose, motion: SpatialMotion) -> Solved:
    """The motion of a limb whose joints are at `angles`, all but closed. Its status allows for what drifts open."""
    states = [state_at(link, angle) for link, angle in zip(mounted.limb.links, angles, strict=True)]
    start = mounted.tips([HOME] * len(mounted.limb.links), home)
    tips, moving = mounted.tips(states, platform), mounted.inward(motion)
    rates = tips.rates(moving)
    torn = total(tips.residuals()) > TORN * _size(start)
    status = where(torn, float(Status.LOOP_OPEN), _branch_status(tips, start))
    return Solved(tips, states, rates, tips.accelerations(rates, moving), status, dict(enumerate(angles)))


def dynamics(mounted: Mounted, solved: Solved, gravity: Array) -> tuple[list[Scalar], list[list[Scalar]]]:
    """Return the limb's wrench on the platform's free twists, and its rows of J_IK: Eqs. (97), (140)."""
    geared = transmission(mounted, solved)
    return wrench(mounted, solved, gravity, geared), jacobian(mounted, solved.tips, geared)


def wrench(mounted: Mounted, solved: Solved, gravity: Array, geared: Transmission) -> list[Scalar]:
    """Return the limb's wrench on the platform's free twists by the recursion on its tree: Eq. (97)."""
    tips, embedding = solved.tips, solved.tips.embedding.matrix
    _, forces = tree_dynamics(mounted, solved, gravity, geared)
    return mounted.outward(tips.covector(tips.inverse.T @ (embedding.T @ array(forces))))


def jacobian(mounted: Mounted, tips: Tips, geared: Transmission) -> list[list[Scalar]]:
    """Return the limb's rows of J_IK (actuator, freedom): Eq. (140)."""
    rows = geared.rows(tips.embedding.matrix) @ tips.inverse
    return [mounted.outward(tips.covector(row)) for row in rows]


def home_jacobian(mounted: Mounted, home: Pose) -> list[list[Scalar]]:
    """Return the same at the reference pose, where all joints are at zero."""
    count = len(mounted.limb.links)
    tips = mounted.tips([HOME] * count, home)
    at_rest = Solved(tips, [HOME] * count, np.zeros(count), np.zeros(count), float(Status.OK))
    return jacobian(mounted, tips, transmission(mounted, at_rest))


def constraint_rows(mounted: Mounted, tips: Tips) -> list[list[Scalar]]:
    """Compute the rows by which a limb holds the platform (row, held direction), world axes.

    Rows are components of unit constraint wrenches. Such a wrench does no work on the joints of the limb. It is the
    wrench of a row that kinematics has dropped, less the wrenches of the kept rows that cancel its effect on the
    joints. Along freedoms of the platform it has no component.
    """
    held = [TWIST.index(name) for name in held_directions(mounted.mobility)]
    result = []
    for k, row in enumerate(tips.dropped_matrix):
        kept = tips.inverse.T @ (tips.embedding.matrix.T @ row)
        covector = tips.dropped_covector(np.eye(len(tips.dropped_matrix))[k]) - tips.covector(kept)
        world = [*(mounted.base.rotation @ covector[:3]), *(mounted.base.rotation @ covector[3:])]
        result.append([world[k] for k in held])
    return result


def home_constraint_rows(mounted: Mounted, home: Pose) -> list[list[Scalar]]:
    """Return the same at the reference pose, where all joints are at zero."""
    return constraint_rows(mounted, mounted.tips([HOME] * len(mounted.limb.links), home))


def transmission(mounted: Mounted, solved: Solved) -> Transmission:
    """Return the transmission between the actuators of a limb and its joints."""
    limb = mounted.limb
    return drives.transmission(limb, lambda joint: solved.position(limb, joint), solved.rates)


def tree_dynamics(
    mounted: Mounted, solved: Solved, gravity: Array, geared: Transmission
) -> tuple[list[tuple[Array, Array]], Array]:
    """Wrenches that the motions of the bodies take, in their axes, and the generalised forces of the tree joints."""
    acting = Field.of(gravity).seen_from(mounted.base)
    limb, applied = mounted.limb, applied_wrenches(mounted, solved)
    moving = solved.states, solved.rates, solved.accelerations
    wrenches, forces = drives.tree_dynamics(limb, *moving, acting, geared, applied)
    return wrenches, forces - spring_forces(mounted, solved) if limb.springs else forces


def spring_forces(mounted: Mounted, solved: Solved) -> Array:
    """Compute the forces of springs along the joints of the tree (joint,)."""
    return joint_spring_forces(mounted.limb.springs, lambda joint: solved.position(mounted.limb, joint), solved.rates)


def applied_wrenches(mounted: Mounted, solved: Solved) -> dict[int, tuple[Array, Array]]:
    """(moment, force) of what acts on links from outside, at the origin of each such link in its axes."""
    result = {}
    for body in dict.fromkeys(element.body for element in mounted.limb.forces):
        elements = [element for element in mounted.limb.forces if element.body == body]
        state = _link_state(mounted, solved, body)
        moment, force = forces.elements_wrench(elements, state)
        result[body] = state.rotation.T @ moment, state.rotation.T @ force
    return result


def _link_state(mounted: Mounted, solved: Solved, body: int) -> BodyState:
    pose = joined_pose(mounted.base, solved.tips.at[body])
    velocity = functools.partial(_link_velocity, mounted, solved, body)
    return BodyState(pose.rotation, pose.position, velocity, functools.partial(_link_state, mounted, solved))


def _link_velocity(mounted: Mounted, solved: Solved, body: int) -> tuple[Array, Array]:
    motion = motions(mounted.limb.links, solved.tips.at, solved.rates)[body]
    return mounted.base.rotation @ motion.omega, mounted.base.rotation @ motion.v


def actuator_positions(mounted: Mounted, solved: Solved) -> list[Scalar]:
    """Return the positions of the actuators [rad or m]."""
    return drives.positions(mounted.limb, lambda joint: solved.position(mounted.limb, joint))


def _size(start: Tips) -> Scalar:
    """Return a length of the limb at its reference pose [m], above zero; 1 where all of it is at one point."""
    near = total([x for joined in start.joined for end in (joined.a, joined.b) for x in end.origin])
    return length_of(start.limb, near, list(start.platform.position))


def length_of(limb: Limb, near: Scalar, further: Sequence[Scalar] = ()) -> Scalar:
    """A length [m] above zero: how far cut joints are from an origin, or where they are there, how long the limb is."""
    frames = [
        *(link.placement for link in limb.links),
        *(frame for cut in limb.cuts for frame in (cut.frame_a, cut.frame_b)),
    ]
    lengths = total([x for frame in frames for x in frame.position] + list(further))
    # tips may be at the origin of the mount frame, up to rounding
    whole = where(near > AT_ORIGIN * lengths, near, lengths)
    return where(whole > 0.0, whole, 1.0)


def _positions(mounted: Mounted, start: Tips, home: Pose, platform: Pose) -> tuple[list[JointState], Mask]:
    limb, links, size = mounted.limb, mounted.limb.links, _size(start)
    closed = CONVERGED * size
    way = Way(home, platform) if TURNS & {*mounted.mobility} else None

    def at(states: Sequence[JointState], pose: Pose | None = None) -> Tips:
        return mounted.tips(states, platform if pose is None else pose)

    def moved(states: Sequence[JointState], step: Array) -> list[JointState]:
        longest: Scalar = 0.0
        for d in step:
            longest = where(abs(d) > longest, abs(d), longest)
        scale = STEP_LIMIT / where(longest > STEP_LIMIT, longest, STEP_LIMIT)
        return stepped(limb, states, (d * scale for d in step))

    def step(flat: Sequence[Scalar]) -> tuple[list[Scalar], Mask]:
        states = unpacked_states(limb, flat)
        tips = at(states)
        # NaN counts as done: it will not get better
        residual = total(tips.residuals())
        far = residual > closed
        sign = where(every(tips.facing()), tips.determinant, 0.0)
        return [*packed(limb, moved(states, tips.newton_step())), residual, sign], opposite(far)

    first = moved([HOME] * len(links), at([HOME] * len(links)).newton_step())
    limit = WINDING if limb.winds else ITERATIONS
    *flat, residual, sign = iterate(step, [*packed(limb, first), 0.0, 0.0], limit)
    states = unpacked_states(limb, flat)
    converged = residual <= closed
    certain = every([converged, sign * start.determinant > 0.0, near_home(limb, start, size, states)])
    return followed(LimbProblem(limb, start, size, FOLLOWED * size, way), at, states, converged, certain)


def _branch_status(tips: Tips, start: Tips, home_branch: Mask | None = None) -> Scalar:
    """Return the status of the limb: OK, rank lost, or on another branch than the reference pose.

    `home_branch` says whether the limb is on its branch, where this is known; otherwise a sign decides.
    """
    determinant = tips.determinant
    box: Scalar = 1.0
    for column in tips.compound.T:
        box = box * sum(x * x for x in column)
    flat = determinant * determinant <= box * SINGULAR * SINGULAR
    status: Scalar = where(flat, float(Status.SINGULAR), float(Status.OK))
    if home_branch is None:
        home_branch = opposite(determinant * start.determinant < 0.0)
    for kept in (home_branch, *loops_kept(tips, start)):
        status = where(kept, status, float(Status.WRONG_BRANCH))
    return status


def _status(tips: Tips, start: Tips, home_branch: Mask) -> Scalar:
    closed, status = CLOSED * _size(start), _branch_status(tips, start, home_branch)
    unclosed: Scalar = float(Status.NOT_REACHABLE)
    if len(tips.dropped_matrix):
        # kept rows that are singular close without the others, which tells nothing of reach or branch
        blind = every([total(tips.residuals()) <= closed, opposite(regular(tips))])
        status = where(every([blind, status > 0.5]), float(Status.SINGULAR), status)
        unclosed = where(blind, float(Status.SINGULAR), unclosed)
    status = where(total(tips.embedding.dropped()) <= closed, status, float(Status.LOOP_OPEN))
    return where(total([*tips.residuals(), *tips.dropped()]) <= closed, status, unclosed)


def joint_angles(mounted: Mounted, solved: Solved) -> list[Scalar]:
    """Return the positions of all joints in the order of `Limb.joints` [rad or m]; zero at the reference pose.

    Of a chain with all turns where these are known. NaN for a cut joint with several variables.
    """
    limb, counting = mounted.limb, None if solved.turns is None else solved.turns.with_cuts
    within = replace(solved, given={}, turns=None)
    angles = [within.position(limb, joint) for joint in range(len(solved.states))]
    angles += [joined.position() for joined in solved.tips.cut_joints]
    if counting is not None:
        for joint in counting.counted:
            angles[joint] = counting.position_or_within(joint)
        for loop in counting.cuts:
            angles[len(limb.links) + len(limb.tips) + loop] = counting.cut_position(loop)
    return angles


def joint_positions(mounted: Mounted, solved: Solved, motion: Array) -> list[Scalar]:
    """Return the same of a limb, and of a chain, whose independent joints are where the motion vector has them."""
    angles = joint_angles(mounted, solved)
    for joint, value in mounted.given(motion).items():
        angles[joint] = value
    return angles


def link_motions(mounted: Mounted, solved: Solved) -> list[tuple[Pose, SpatialMotion]]:
    """Pose and motion of the frame of each link, in world axes."""
    seat, at = mounted.base, solved.tips.at
    moving = motions(mounted.limb.links, at, solved.rates, solved.accelerations)
    poses = {i: Pose(seat.rotation @ at[i].rotation, seat.at(at[i].position)) for i in at}
    turned = {
        i: SpatialMotion(*(seat.rotation @ part for part in (link.omega, link.v, link.alpha, link.a)))
        for i, link in moving.items()
    }
    return [(poses[i], turned[i]) for i in range(len(mounted.limb.links))]


def joint_rates(mounted: Mounted, solved: Solved, platform: SpatialMotion) -> tuple[list[Scalar], list[Scalar]]:
    """Velocities and accelerations in the order of `joint_angles`."""
    tips, limb = solved.tips, mounted.limb
    bodies = motions(limb.links, tips.at, solved.rates, solved.accelerations) | {PLATFORM: mounted.inward(platform)}
    origins = {k: pose.position for k, pose in tips.at.items()} | {PLATFORM: tips.reference}
    rates, accelerations = list(solved.rates), list(solved.accelerations)
    for closure, joined in zip(limb.cuts, tips.cut_joints, strict=True):
        rate, acceleration = joined.motion(*((bodies[k], origins[k]) for k in (closure.a, closure.b)))
        rates.append(rate)
        accelerations.append(acceleration)
    return rates, accelerations
