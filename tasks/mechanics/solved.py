"""A limb with its mount frames, and the solution of its joints at one instant.

`tasks.mechanics.limb` and `tasks.mechanics.chain` solve the joints; `tasks.mechanics.limb_motion` has the dynamics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from robots.model import Limb
from robots.springs import state_names
from robots.types import TWIST
from tasks.kernels.expression import Array, Mask, Scalar
from tasks.mathematics.algebra import array
from tasks.mechanics.kinematics import ZERO, JointState, Pose, SpatialMotion, inverse_pose, joined_pose
from tasks.mechanics.limb_choice import LimbChoice
from tasks.mechanics.loops import Tips


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
        """Position of a counted joint with all its turns [rad]; NaN where they are not known."""

    def position_or_within(self, joint: int) -> Scalar:
        """Return the same; within half a turn of the reference where turns are not known."""

    def cut_position(self, loop: int) -> Scalar:
        """Return the position of the cut joint of a loop, turns counted as in `position_or_within`."""


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
    turns: JointTurns | None = None

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


def sprung_joints(limb: Limb) -> list[int]:
    """Joints whose positions springs and laws of forces see, each once."""
    names = {name for element in (*limb.forces, *limb.springs) for name in state_names(element)}
    seen = [limb.index(name[2:]) for name in sorted(names) if name.startswith("q_")]
    return list(dict.fromkeys([*(joint for spring in limb.springs for joint, _ in spring.ratios), *seen]))
