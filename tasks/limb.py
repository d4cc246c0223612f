"""Inverse kinematics and dynamics of one limb, separated from the platform, for one sample.

Hybrid-limb paper, Fig. 13, steps 1 to 4: position by Newton steps from the reference pose, velocity, acceleration, then
the recursion on the tree; the results are the limb's share of the wrench on the platform and its rows of J_IK.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from robots.model import TWIST, Limb
from robots.status import Status
from tasks import newton_euler
from tasks.algebra import array, cross, iterate, opposite, total, where
from tasks.elementary import atan2
from tasks.embedding import LimbChoice, Tip
from tasks.frames import inverse_pose, joined_pose
from tasks.kinematics import HOME, JointState, Motion, Pose, motions

Scalar = Any
Array = Any

ITERATIONS = 12
CONVERGED = 1e-8  # residual, relative to the size of the limb, from which one more step is exact to rounding
CLOSED = 1e-10  # the same for a sample to count as solved
SINGULAR = 1e-9  # volume of the columns of L_t relative to a box with the same sides


@dataclass(frozen=True)
class Mounted:
    """A representative limb with its mount frames at base and platform, and how it is solved."""

    limb: Limb
    choice: LimbChoice
    base: Pose
    platform: Pose
    mobility: tuple[str, ...]

    def target(self, platform: Pose) -> Pose:
        """Pose of the mount frame at the platform, seen from the one at the base."""
        return joined_pose(inverse_pose(self.base), joined_pose(platform, self.platform))

    def tip(self, states: Sequence[JointState], platform: Pose) -> Tip:
        """The limb's tip for these joint states and this pose of the platform."""
        return Tip.of(self.limb, self.choice, states, self.target(platform))

    def inward(self, motion: Motion) -> Motion:
        """A motion in world axes, turned to the axes of the limb."""
        turn = self.base.rotation.T
        return Motion(turn @ motion.omega, turn @ motion.v, turn @ motion.alpha, turn @ motion.a)

    def outward(self, covector: Array) -> list[Scalar]:
        """The components of a (moment, force) in limb axes that the platform's free twists see, in world axes."""
        turned = [*(self.base.rotation @ covector[:3]), *(self.base.rotation @ covector[3:])]
        return [turned[TWIST.index(name)] for name in self.mobility]


@dataclass(frozen=True)
class Solved:
    """The motion of a limb: tip, joint states, rates and accelerations, status."""

    tip: Tip
    states: Sequence[JointState]
    rates: Array
    accelerations: Array
    offset: Array
    status: Scalar


def solve(mounted: Mounted, home: Pose, platform: Pose, motion: Motion) -> Solved:
    """Inverse kinematics of position, velocity and acceleration. Eqs. (96), (87), (88)."""
    start = mounted.tip([HOME] * len(mounted.limb.links), home)
    states = _positions(mounted, start, platform)
    tip = mounted.tip(states, platform)
    moving = mounted.inward(motion)
    # from the platform's reference point to the joint, in the axes of the limb
    offset = tip.joined.b.origin - mounted.base.rotation.T @ (platform.position - mounted.base.position)
    velocity, _ = moving.at(offset)
    rates = tip.rates(moving.omega, velocity)
    accelerations = tip.accelerations(rates, moving, offset)
    return Solved(tip, states, rates, accelerations, offset, _status(tip, start))


def dynamics(mounted: Mounted, solved: Solved, gravity: Array) -> tuple[list[Scalar], list[list[Scalar]]]:
    """The limb's wrench on the platform's free twists, and its rows of J_IK: Eqs. (97), (140)."""
    tip, limb = solved.tip, mounted.limb
    turned = mounted.base.rotation.T @ gravity
    forces = newton_euler.inverse_dynamics(limb.links, solved.states, solved.rates, solved.accelerations, turned)
    embedding = tip.embedding.matrix
    multipliers = tip.inverse.T @ (embedding.T @ array(forces))
    wrench = mounted.outward(tip.covector(multipliers, solved.offset))
    rows = embedding @ tip.inverse
    jacobian = [mounted.outward(tip.covector(rows[limb.index(name)], solved.offset)) for name in limb.actuated]
    return wrench, jacobian


def _positions(mounted: Mounted, start: Tip, platform: Pose) -> list[JointState]:
    links = mounted.limb.links
    size = total([*start.joined.a.origin, *start.joined.b.origin])

    def moved(states: Sequence[JointState], step: Array) -> list[JointState]:
        return [state.moved(link, d) for state, link, d in zip(states, links, step, strict=True)]

    def step(flat: Sequence[Scalar]) -> tuple[list[Scalar], Any]:
        states = _unpacked(mounted.limb, flat)
        tip = mounted.tip(states, platform)
        # NaN counts as done: it will not get better
        far = total(tip.residuals()) > CONVERGED * size
        return _packed(mounted.limb, moved(states, tip.newton_step())), opposite(far)

    first = moved([HOME] * len(links), mounted.tip([HOME] * len(links), platform).newton_step())
    return _unpacked(mounted.limb, iterate(step, _packed(mounted.limb, first), ITERATIONS))


def _packed(limb: Limb, states: Sequence[JointState]) -> list[Scalar]:
    flat: list[Scalar] = []
    for link, state in zip(limb.links, states, strict=True):
        flat += [state.cos, state.sin] if link.kind == "revolute" else [state.shift]
    return flat


def _unpacked(limb: Limb, flat: Sequence[Scalar]) -> list[JointState]:
    values = iter(flat)
    return [
        JointState(next(values), next(values)) if link.kind == "revolute" else JointState(shift=next(values))
        for link in limb.links
    ]


def _status(tip: Tip, start: Tip) -> Scalar:
    size = total([*start.joined.a.origin, *start.joined.b.origin])
    determinant = tip.determinant
    box: Scalar = 1.0
    for column in tip.compound.T:
        box = box * sum(x * x for x in column)
    flat = determinant * determinant <= box * SINGULAR**2
    status: Scalar = where(flat, float(Status.SINGULAR), float(Status.OK))
    status = where(determinant * start.determinant < 0.0, float(Status.WRONG_BRANCH), status)
    return where(total(tip.residuals()) <= CLOSED * size, status, float(Status.NOT_REACHABLE))


def joint_angles(mounted: Mounted, solved: Solved) -> list[Scalar]:
    """Positions of the tree joints, then of the joint at the platform [rad or m]; zero at the reference pose."""
    links = mounted.limb.links
    angles = [
        atan2(state.sin, state.cos) if link.kind == "revolute" else state.shift
        for link, state in zip(links, solved.states, strict=True)
    ]
    if mounted.limb.tip.kind != "revolute":
        return angles
    a, b = solved.tip.joined.a.axes, solved.tip.joined.b.axes
    return [*angles, atan2(a[:, 1] @ b[:, 0], a[:, 0] @ b[:, 0])]


def joint_rates(mounted: Mounted, solved: Solved, platform: Motion) -> tuple[list[Scalar], list[Scalar]]:
    """Velocities and accelerations in the order of `joint_angles`."""
    tip = solved.tip
    if tip.joined.kind != "revolute":
        return list(solved.rates), list(solved.accelerations)
    last = motions(mounted.limb.links, tip.at, solved.rates, solved.accelerations)[mounted.limb.tip.a]
    moving = mounted.inward(platform)
    axis = tip.joined.a.axes[:, 2]
    rate = axis @ (moving.omega - last.omega)
    second = axis @ (moving.alpha - last.alpha) + cross(last.omega, axis) @ (moving.omega - last.omega)
    return [*solved.rates, rate], [*solved.accelerations, second]
