"""Kinematics of the spanning tree of a limb, for one sample: poses, velocities, accelerations.

All vectors are in the axes of one `root` frame: the limb's mount frame, or the link at which a loop starts. Joint
variables are held as `JointState`s: the cosine and sine of a revolute joint, the displacement of a prismatic one; so
neither Newton steps nor dynamics need a sine. Source: hybrid-limb paper, section 3.2 and appendix A, written in
spatial axes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from robots.data_classes import dataclass
from robots.model import Frame, Limb, Link
from robots.types import BASE, Number
from tasks.kernels.expression import Array, Scalar, Scalars, once
from tasks.mathematics.algebra import array, atan2, cross, dot, rotation, sincos, turned
from tasks.mechanics.leads import LEADS

T = TypeVar("T")

ZERO = np.zeros(3)


@dataclass(frozen=True)
class JointState:
    """Position of one joint: `cos`, `sin` of the angle that it has turned, `value` [rad or m] of one that slides."""

    cos: Scalar = 1.0
    sin: Scalar = 0.0
    value: Any = 0.0  # of many samples at once an array

    def moved(self, link: Link, step: Scalar, share: Scalar = 1.0, *, short: bool = False) -> JointState:
        """Return the state after a share of a step of the joint variable; `short`: see `turned`."""
        if link.joint_kind.periodic:
            return JointState(*turned(self.cos, self.sin, step * (share * 0.5), short=short))
        return state_at(link, self.value + step * share)

    def position(self, link: Link) -> Scalar:
        """Return the joint variable [rad or m]: within half a turn of the reference pose if a full turn leads back."""
        return atan2(self.sin, self.cos) if link.joint_kind.periodic else self.value

    def packed(self, link: Link) -> list[Scalar]:
        """Return the numbers that the state is made of."""
        return [self.cos, self.sin] if link.joint_kind.periodic else [self.value]


HOME = JointState()


def state_at(link: Link, value: Scalar) -> JointState:
    """Return the state of a joint at this value of its variable [rad or m]."""
    kind = link.joint_kind
    if not kind.turns:
        return JointState(value=value)
    sine, cosine = sincos(value)
    return JointState(cosine, sine) if kind.periodic else JointState(cosine, sine, value)


def stepped(
    limb: Limb, states: Sequence[JointState], steps: Iterable[Scalar], share: Scalar = 1.0, *, short: bool = False
) -> list[JointState]:
    """Return the states of a tree's joints after a share of a step of each; followers are where their leaders say.

    A step of a rotation is exact to first order alone, so that ratios would be lost after several steps. A leading
    joint whose turns are not counted is within half a turn of its reference.
    """
    joints = zip(states, limb.links, steps, strict=True)
    return with_followers(limb, [state.moved(link, step, share, short=short) for state, link, step in joints])


def with_followers(
    limb: Limb, states: Sequence[JointState], positions: Mapping[int, Scalar] = MappingProxyType({})
) -> list[JointState]:
    """Return the states of a tree's joints with followers placed by the joints that they follow.

    A leading joint without an entry in `positions` has the position of its state.
    """

    def position(joint: int) -> Scalar:
        return positions[joint] if joint in positions else states[joint].position(limb.links[joint])

    placed = list(states)
    for follower, leaders in limb.followers.items():
        placed[follower] = state_at(limb.links[follower], followed(leaders, position))
    return placed


def followed(leaders: Iterable[tuple[int, Number]], value_of: Callable[[int], Scalar]) -> Scalar:
    """Return the sum of ratios times values of the joints that a joint follows."""
    first, *more = [value_of(leader) * ratio for leader, ratio in leaders]
    return sum(more, start=first)


def unpacked(link: Link, values: Iterator[Scalar]) -> JointState:
    """Return the state of the next numbers, as `JointState.packed` gives them."""
    return JointState(next(values), next(values)) if link.joint_kind.periodic else state_at(link, next(values))


def way(link: Link, state: JointState) -> Any:
    """Compute the displacement of a joint along its axis [m]."""
    return LEADS[link.kind].way(link.pitch, state.value) if link.joint_kind.slides else 0.0


def slope(link: Link, state: JointState) -> Any:
    """Return the displacement of a joint per unit of its variable."""
    return LEADS[link.kind].slope(link.pitch, state.value) if link.joint_kind.slides else 0.0


def bend(link: Link, state: JointState) -> Any:
    """Compute the derivative of the slope over the variable; zero for all joints with a constant slope."""
    law = LEADS[link.kind].bend if link.joint_kind.slides else None
    return 0.0 if law is None else law(link.pitch, state.value)


def sliding(link: Link, state: JointState, rate: Scalar | Array, second: Scalar | Array) -> tuple[Any, Any]:
    """Speed and acceleration along the axis of a joint that slides, from those of its variable [m/s, m/s^2]."""
    steep, change = slope(link, state), second * slope(link, state)
    if LEADS[link.kind].bend is not None:
        change = change + bend(link, state) * rate * rate
    return rate * steep, change


def along(link: Link, state: JointState, moment: Array, force: Array) -> Scalar:
    """Compute the generalised force of a wrench at the joint along its variable [N m or N].

    It is the power of the wrench at unit rate. All vectors are in the joint's axes. Eq. (148): the screw
    coordinates of a joint are its axis and the way that it slides meanwhile.
    """
    kind, axis = link.joint_kind, array(link.axis)
    if not kind.slides:
        return dot(axis, moment)
    pushed = dot(axis, force) * slope(link, state)
    return dot(axis, moment) + pushed if kind.turns else pushed


@dataclass(frozen=True)
class Pose:
    """`rotation` (3, 3) from the body's axes to the root's; `position` (3,) of the body's origin from the root's.

    The pose of a link also has the state of its `joint`.
    """

    rotation: Array
    position: Array
    joint: JointState = HOME

    def at(self, point: Scalars) -> Array:
        """Return the position of a point of the body."""
        return self.position + self.rotation @ array(point)


def mount_pose(frame: Frame) -> Pose:
    """Return a frame of the model as a pose."""
    return Pose(array(frame.rotation), array(frame.position))


def inverse_pose(pose: Pose) -> Pose:
    """Return the reference seen from the body."""
    back = pose.rotation.T
    return Pose(back, -(back @ pose.position))


def joined_pose(outer: Pose, inner: Pose) -> Pose:
    """Return the pose of a frame at `inner` in a body at `outer`."""
    return Pose(outer.rotation @ inner.rotation, outer.at(inner.position))


def joint_rotation(link: Link, state: JointState) -> np.ndarray:
    """Return the rotation from a link's axes to those of its joint's placement."""
    return rotation(link.axis, state.cos, state.sin) if link.joint_kind.turns else np.eye(3)


def traced_once(name: str, links: Sequence[Link], states: Sequence[JointState], make: Callable[[], T]) -> T:
    """Return a value of links at these states, while tracing the same one for the same states.

    Names of values must differ, as they tell values of the same states apart.
    """
    numbers = [x for state in states for x in (state.cos, state.sin, state.value)]
    numbers += [x for link in links for x in link.placement.position]  # at the reference, states are numbers
    return once((name, id(links)), [*numbers, links], make)


def poses(links: Sequence[Link], states: Sequence[JointState], root: int = BASE) -> dict[int, Pose]:
    """Return the poses of the root (identity) and of all links beyond it."""
    return dict(traced_once(f"poses from {root}", links, states, lambda: _poses(links, states, root)))


def _poses(links: Sequence[Link], states: Sequence[JointState], root: int) -> dict[int, Pose]:
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
    """Return the joints from the root to a link, outermost last."""
    joints: list[int] = []
    while link not in (root, BASE):
        joints.append(link)
        link = links[link].parent
    return tuple(reversed(joints))


@dataclass(frozen=True)
class SpatialMotion:
    """Angular velocity, velocity and their derivatives at a body's origin; accelerations may leave out some part."""

    omega: Array
    v: Array
    alpha: Array
    a: Array

    def at(self, offset: Array) -> tuple[Array, Array]:
        """Return the velocity and acceleration of the point at `offset` from the origin."""
        swirl = cross(self.omega, offset)
        return self.v + swirl, self.a + cross(self.alpha, offset) + cross(self.omega, swirl)


REST = SpatialMotion(ZERO, ZERO, ZERO, ZERO)


def motions(
    links: Sequence[Link],
    at: Mapping[int, Pose],
    rates: Scalars,
    accelerations: Scalars | None = None,
    root: int = BASE,
) -> dict[int, SpatialMotion]:
    """Return the motions of all links in `at` relative to the root; without `accelerations` the velocity part alone."""
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
        result[i] = SpatialMotion(omega, v, alpha, a)
    return result


def columns(
    links: Sequence[Link], at: Mapping[int, Pose], joints: Sequence[int], point: Array
) -> dict[int, tuple[Array, Array]]:
    """Return angular velocity and velocity of a point for unit rate of each joint: geometric Jacobian columns."""
    result = {}
    for i in joints:
        result[i] = unit_twist(links[i], at[i], point)
    return result


def unit_twist(link: Link, at: Pose, point: Array) -> tuple[Array, Array]:
    """Return angular velocity, and velocity of a point beyond a link's joint, for unit rate of the joint. Eq. (148)."""
    kind, axis = link.joint_kind, at.rotation @ array(link.axis)
    if not kind.turns:
        return ZERO, axis * slope(link, at.joint)
    v = cross(axis, point - at.position)
    return axis, v + axis * slope(link, at.joint) if kind.slides else v
