"""A limb with its mount frames, its joints solved at one instant, and its dynamics, separated from the platform.

`tasks.mechanics.limb` and `tasks.mechanics.chain` solve the joints. Hybrid-limb paper, Fig. 13, step 4: the recursion
on the tree gives the limb's share of the wrench on the platform and its rows of J_IK.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from robots.data_classes import dataclass, field, replace
from robots.model import PLATFORM, Limb
from robots.springs import state_names
from robots.status import Status
from robots.types import TWIST
from tasks.kernels.expression import Array, Mask, Scalar
from tasks.mathematics.algebra import array
from tasks.mechanics import drives, elements, recursion
from tasks.mechanics.drives import Transmission
from tasks.mechanics.elements import BodyState, joint_spring_forces
from tasks.mechanics.kinematics import (
    HOME,
    ZERO,
    JointState,
    Pose,
    SpatialMotion,
    followed,
    inverse_pose,
    joined_pose,
    motions,
)
from tasks.mechanics.limb_choice import LimbChoice
from tasks.mechanics.loops import Tips
from tasks.mechanics.platform_motion import held_directions
from tasks.mechanics.recursion import Field


def unit_motion(name: str) -> tuple[Array, Array]:
    """Return angular velocity and velocity of the platform for one unit of a free component."""
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
        """The limb without external forces."""
        limb = self.limb
        return replace(self, limb=replace(limb, forces=(), springs=())) if limb.forces or limb.springs else self

    def given(self, motion: Array) -> dict[int, Scalar]:
        """Return the positions of tree joints given by a motion vector: of a chain its independent joints."""
        return {}

    def target(self, platform: Pose) -> Pose:
        """Return the pose of the mount frame at the platform, relative to that at the base."""
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
        """Return the components of a (moment, force) in limb axes along the platform's free twists, in world axes."""
        turned = [*(self.base.rotation @ covector[:3]), *(self.base.rotation @ covector[3:])]
        return [turned[TWIST.index(name)] for name in self.mobility]


class JointTurns(Protocol):
    """Turns of the joints that loops of a chain move: `tasks.mechanics.turns.Turns`."""

    @property
    def counted(self) -> list[int]:
        """The joints whose turns are counted."""

    @property
    def cuts(self) -> tuple[int, ...]:
        """Loops whose cut joints are counted as well."""

    @property
    def known(self) -> Mask:
        """Return whether the turns are known."""

    @property
    def with_cuts(self) -> JointTurns:
        """The same with all cut joints that turn about one axis."""

    def position(self, joint: int) -> Scalar:
        """Return the position of a counted joint with all its turns [rad]; NaN if the turns are not known."""

    def position_or_within(self, joint: int) -> Scalar:
        """Return the same; within half a turn of the reference where turns are not known."""

    def cut_position(self, loop: int) -> Scalar:
        """Return the position of the cut joint of a loop, turns counted as in `position_or_within`."""


@dataclass(frozen=True)
class Solved:
    """The motion of a limb: tips, joint states, rates and accelerations, status; positions that were `given`.

    `turns`: for a chain with loops, the full turns of joints that loops move; they are computed only if they are used.
    """

    tips: Tips
    states: Sequence[JointState]
    rates: Array
    accelerations: Array
    status: Scalar
    given: Mapping[int, Scalar] = field(default_factory=dict)
    turns: JointTurns | None = None

    def position(self, limb: Limb, joint: int) -> Scalar:
        """Return the position of a tree joint [rad or m]; a chain gives given positions and counts full turns.

        The position of a joint that follows others is the sum of ratios times their positions, without a limit.
        Revolute joints of limbs at a platform are within half a turn of the reference pose.
        """
        if joint in self.given:
            return self.given[joint]
        if self.turns is not None and joint in self.turns.counted:
            return self.turns.position(joint)
        if joint in limb.followers:
            return followed(limb.followers[joint], functools.partial(self.position, limb))
        return self.states[joint].position(limb.links[joint])


def sprung_joints(limb: Limb) -> list[int]:
    """Return the joints whose positions enter springs and laws of forces, each once."""
    names = {name for element in (*limb.forces, *limb.springs) for name in state_names(element)}
    seen = [limb.index(name[2:]) for name in sorted(names) if name.startswith("q_")]
    return list(dict.fromkeys([*(joint for spring in limb.springs for joint, _ in spring.ratios), *seen]))


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
    """Return the wrenches for the motions of the bodies, in their axes, and the tree joints' generalised forces."""
    acting = Field.of(gravity).seen_from(mounted.base)
    limb, applied = mounted.limb, applied_wrenches(mounted, solved)
    moving = solved.states, solved.rates, solved.accelerations
    wrenches, forces = recursion.tree_dynamics(limb, *moving, acting, geared, applied)
    return wrenches, forces - spring_forces(mounted, solved) if limb.springs else forces


def spring_forces(mounted: Mounted, solved: Solved) -> Array:
    """Compute the forces of springs along the joints of the tree (joint,)."""
    limb = mounted.limb
    return joint_spring_forces(
        limb.springs,
        lambda joint: solved.position(limb, joint),
        solved.rates,
        functools.partial(joint_state, limb, solved),
    )


def joint_state(limb: Limb, solved: Solved, name: str) -> Scalar:
    """Return the position `q_JOINT` or the rate `qd_JOINT` of a joint of the tree by name."""
    kind, _, joint = name.partition("_")
    number = limb.index(joint)
    return solved.position(limb, number) if kind == "q" else solved.rates[number]


def applied_wrenches(mounted: Mounted, solved: Solved) -> dict[int, tuple[Array, Array]]:
    """Return (moment, force) of external loads on links, at the origin and in the axes of each loaded link."""
    result = {}
    for body in dict.fromkeys(element.body for element in mounted.limb.forces):
        acting = [element for element in mounted.limb.forces if element.body == body]
        state = _link_state(mounted, solved, body)
        moment, force = elements.elements_wrench(acting, state)
        result[body] = state.rotation.T @ moment, state.rotation.T @ force
    return result


def _link_state(mounted: Mounted, solved: Solved, body: int) -> BodyState:
    pose = joined_pose(mounted.base, solved.tips.at[body])
    velocity = functools.partial(_link_velocity, mounted, solved, body)
    return BodyState(
        pose.rotation,
        pose.position,
        velocity,
        functools.partial(_link_state, mounted, solved),
        functools.partial(joint_state, mounted.limb, solved),
    )


def _link_velocity(mounted: Mounted, solved: Solved, body: int) -> tuple[Array, Array]:
    motion = motions(mounted.limb.links, solved.tips.at, solved.rates)[body]
    return mounted.base.rotation @ motion.omega, mounted.base.rotation @ motion.v


def actuator_positions(mounted: Mounted, solved: Solved) -> list[Scalar]:
    """Return the positions of the actuators [rad or m]."""
    return drives.positions(mounted.limb, lambda joint: solved.position(mounted.limb, joint))


def joint_angles(mounted: Mounted, solved: Solved) -> list[Scalar]:
    """Return the positions of all joints in the order of `Limb.joints` [rad or m]; zero at the reference pose.

    Angles of a chain include full turns where these are known. NaN for a cut joint with several variables.
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
    return _following(limb, angles)


def _following(limb: Limb, angles: list[Scalar]) -> list[Scalar]:
    """Return positions of joints with those of followers by the joints that they follow."""
    for joint, leaders in limb.followers.items():
        angles[joint] = followed(leaders, angles.__getitem__)
    return angles


def joint_positions(mounted: Mounted, solved: Solved, motion: Array) -> list[Scalar]:
    """Return the same of a limb, and of a chain, whose independent joints are where the motion vector has them."""
    angles = joint_angles(mounted, solved)
    for joint, value in mounted.given(motion).items():
        angles[joint] = value
    return _following(mounted.limb, angles)


def link_motions(mounted: Mounted, solved: Solved) -> list[tuple[Pose, SpatialMotion]]:
    """Return the pose and motion of the frame of each link, in world axes."""
    seat, at = mounted.base, solved.tips.at
    moving = motions(mounted.limb.links, at, solved.rates, solved.accelerations)
    poses = {i: Pose(seat.rotation @ at[i].rotation, seat.at(at[i].position)) for i in at}
    turned = {
        i: SpatialMotion(*(seat.rotation @ part for part in (link.omega, link.v, link.alpha, link.a)))
        for i, link in moving.items()
    }
    return [(poses[i], turned[i]) for i in range(len(mounted.limb.links))]


def joint_rates(mounted: Mounted, solved: Solved, platform: SpatialMotion) -> tuple[list[Scalar], list[Scalar]]:
    """Return the velocities and accelerations in the order of `joint_angles`."""
    tips, limb = solved.tips, mounted.limb
    bodies = motions(limb.links, tips.at, solved.rates, solved.accelerations) | {PLATFORM: mounted.inward(platform)}
    origins = {k: pose.position for k, pose in tips.at.items()} | {PLATFORM: tips.reference}
    rates, accelerations = list(solved.rates), list(solved.accelerations)
    for closure, joined in zip(limb.cuts, tips.cut_joints, strict=True):
        rate, acceleration = joined.motion(*((bodies[k], origins[k]) for k in (closure.a, closure.b)))
        rates.append(rate)
        accelerations.append(acceleration)
    return rates, accelerations
