"""Kinematics of the spanning tree of a limb, for one sample: poses, velocities, accelerations, Jacobian columns.

All vectors are in the axes of one `root` frame: the limb's mount frame, or the link at which a loop starts. Joint
variables are held as `JointState`s: the cosine and sine of a revolute joint, the displacement of a prismatic one; so
neither Newton steps nor dynamics need a sine of these. Source: hybrid-limb paper, section 3.2 and appendix A, written
in spatial axes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robots.model import Frame, Limb, Link
from robots.types import BASE
from tasks.kernels.types import Array, Scalar, Scalars
from tasks.mathematics.algebra import array, cross, dot, rotation, turned
from tasks.mathematics.elementary import atan2, sincos
from tasks.mechanics.leads import LEADS

ZERO = np.zeros(3)


@dataclass(frozen=True)
class JointState:
    """Position of one joint: `cos`, `sin` of the angle that it has turned, `value` [rad or m] of one that slides."""

    cos: Scalar = 1.0
    sin: Scalar = 0.0
    value: Any = 0.0  # of many samples at once an array

    def moved(self, link: Link, step: Scalar) -> JointState:
        """The state after a step of the joint variable."""
        if link.joint_kind.periodic:
            return JointState(*turned(self.cos, self.sin, step))
        return state_at(link, self.value + step)

    def position(self, link: Link) -> Scalar:
        """The joint variable [rad or m]: within half a turn of the reference pose where a full turn leads back."""
        return atan2(self.sin, self.cos) if link.joint_kind.periodic else self.value

    def packed(self, link: Link) -> list[Scalar]:
        """The numbers that the state is made of."""
        return [self.cos, self.sin] if link.joint_kind.periodic else [self.value]


HOME = JointState()


def state_at(link: Link, value: Scalar) -> JointState:
    """The state of a joint at this value of its variable [rad or m]."""
    kind = link.joint_kind
    if not kind.turns:
        return JointState(value=value)
    sine, cosine = sincos(value)
    return JointState(cosine, sine, value) if kind.slides else JointState(cosine, sine)


def stepped(limb: Limb, states: Sequence[JointState], steps: Iterable[Scalar]) -> list[JointState]:
    """The states of the joints of a tree after a step of each; joints that follow others are where these put them.

    A step of a turn is exact to first order alone, so that ratios would not last through several. What is followed is
    within half a turn of its reference.
    """
    result = [state.moved(link, step) for state, link, step in zip(states, limb.links, steps, strict=True)]
    for entry in limb.couplings:
        follower, of = limb.index(entry.joint), limb.index(entry.of)
        value = result[of].position(limb.links[of]) * entry.ratio
        result[follower] = state_at(limb.links[follower], value)
    return result


def unpacked(link: Link, values: Iterator[Scalar]) -> JointState:
    """The state of the next numbers, as `JointState.packed` gives them."""
    return JointState(next(values), next(values)) if link.joint_kind.periodic else state_at(link, next(values))


def way(link: Link, state: JointState) -> Any:
    """How far a joint has slid along its axis [m]."""
    return LEADS[link.kind].way(link.pitch, state.value) if link.joint_kind.slides else 0.0


def slope(link: Link, state: JointState) -> Any:
    """Way of a joint per unit of its variable."""
    return LEADS[link.kind].slope(link.pitch, state.value) if link.joint_kind.slides else 0.0


def bend(link: Link, state: JointState) -> Any:
    """How the slope changes over the variable; zero for all that have one slope."""
    law = LEADS[link.kind].bend if link.joint_kind.slides else None
    return 0.0 if law is None else law(link.pitch, state.value)


def sliding(link: Link, state: JointState, rate: Scalar | Array, second: Scalar | Array) -> tuple[Any, Any]:
    """Speed and acceleration along the axis of a joint that slides, from those of its variable [m/s, m/s^2]."""
    steep, change = slope(link, state), second * slope(link, state)
    if LEADS[link.kind].bend is not None:
        change = change + bend(link, state) * rate * rate
    return rate * steep, change


def along(link: Link, state: JointState, moment: Array, force: Array) -> Scalar:
    """What a wrench at the joint does along its variable [N m or N]: its power at unit rate; all in the joint's axes.

    Eq. (148): the screw coordinates of a joint are its axis and the way that it slides meanwhile.
    """
    kind, axis = link.joint_kind, array(link.axis)
    if not kind.slides:
        return dot(axis, moment)
    pushed = dot(axis, force) * slope(link, state)
    return dot(axis, moment) + pushed if kind.turns else pushed


@dataclass(frozen=True)
class Pose:
    """`rotation` (3, 3) from the body's axes to the root's; `position` (3,) of the body's origin from the root's.

    Of a link also the state of its `joint`.
    """

    rotation: Array
    position: Array
    joint: JointState = HOME

    def at(self, point: Scalars) -> Array:
        """Position of a point of the body."""
        return self.position + self.rotation @ array(point)


def mount_pose(frame: Frame) -> Pose:
    """A frame of the model as a pose."""
    return Pose(array(frame.rotation), array(frame.position))


def inverse_pose(pose: Pose) -> Pose:
    """The reference seen from the body."""
    back = pose.rotation.T
    return Pose(back, -(back @ pose.position))


def joined_pose(outer: Pose, inner: Pose) -> Pose:
    """Pose of what is at `inner` in a body at `outer`."""
    return Pose(outer.rotation @ inner.rotation, outer.at(inner.position))


def joint_rotation(link: Link, state: JointState) -> np.ndarray:
    """Rotation from a link's axes to those of its joint's placement."""
    return rotation(link.axis, state.cos, state.sin) if link.joint_kind.turns else np.eye(3)


def poses(links: Sequence[Link], states: Sequence[JointState], root: int = BASE) -> dict[int, Pose]:
    """Poses of the root (identity) and of all links beyond it."""
    result = {root: Pose(np.eye(3), ZERO, HOME if root == BASE else states[root])}
    for i, (link, state) in enumerate(zip(links, states, strict=True)):
        if link.parent not in result or i in result:
            continue
        parent = result[link.parent]
        turned_to = parent.rotation @ array(link.placement.rotation)
        position = parent.at(link.placement.position)
        if link.joint_kind.slides:
            position = position + (turned_to @ array(link.axis)) * way(link, state)
        result[i] = Pose(turned_to @ joint_rotation(link, state), position, state)
    return result


def path(links: Sequence[Link], link: int, root: int = BASE) -> tuple[int, ...]:
    """The joints from the root to a link, outermost last."""
    joints: list[int] = []
    while link not in (root, BASE):
        joints.append(link)
        link = links[link].parent
    return tuple(reversed(joints))


@dataclass(frozen=True)
class Motion:
    """Angular velocity, velocity and their derivatives at a body's origin; accelerations may leave out some part."""

    omega: Array
    v: Array
    alpha: Array
    a: Array

    def at(self, offset: Array) -> tuple[Array, Array]:
        """Velocity and acceleration of the point at `offset` from the origin."""
        swirl = cross(self.omega, offset)
        return self.v + swirl, self.a + cross(self.alpha, offset) + cross(self.omega, swirl)


REST = Motion(ZERO, ZERO, ZERO, ZERO)


def motions(
    links: Sequence[Link],
    at: Mapping[int, Pose],
    rates: Scalars,
    accelerations: Scalars | None = None,
    root: int = BASE,
) -> dict[int, Motion]:
    """Motions of all links in `at` relative to the root; without `accelerations` the velocity-dependent part alone."""
    result = {root: REST}
    for i, link in enumerate(links):
        if i not in at or link.parent not in result or i in result:
            continue
        parent, axis, rate = result[link.parent], at[i].rotation @ array(link.axis), rates[i]
        second = accelerations[i] if accelerations is not None else 0.0
        omega, alpha = parent.omega, parent.alpha
        v, a = parent.at(at[i].position - at[link.parent].position)
        if link.joint_kind.turns:
            drift = cross(omega, axis * rate)
            omega, alpha = omega + axis * rate, alpha + axis * second + drift
        if link.joint_kind.slides:
            speed, change = sliding(link, at[i].joint, rate, second)
            drift = cross(parent.omega, axis * speed)
            v, a = v + axis * speed, a + axis * change + 2.0 * drift
        result[i] = Motion(omega, v, alpha, a)
    return result


def columns(
    links: Sequence[Link], at: Mapping[int, Pose], joints: Sequence[int], point: Array
) -> dict[int, tuple[Array, Array]]:
    """Angular velocity, and velocity of a point, for unit rate of each joint: columns of the geometric Jacobian."""
    result = {}
    for i in joints:
        result[i] = unit_twist(links[i], at[i], point)
    return result


def unit_twist(link: Link, at: Pose, point: Array) -> tuple[Array, Array]:
    """Angular velocity, and velocity of a point beyond the joint of a link, for unit rate of the joint. Eq. (148)."""
    kind, axis = link.joint_kind, at.rotation @ array(link.axis)
    if not kind.turns:
        return ZERO, axis * slope(link, at.joint)
    v = cross(axis, point - at.position)
    return axis, v + axis * slope(link, at.joint) if kind.slides else v
