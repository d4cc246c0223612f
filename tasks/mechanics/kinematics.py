"""Kinematics of the spanning tree of a limb, for one sample: poses, velocities, accelerations, Jacobian columns.

All vectors are in the axes of one `root` frame: the limb's mount frame, or the link at which a loop starts. Joint
variables are held as `JointState`s: the cosine and sine of a revolute joint, the displacement of a prismatic one; so
neither Newton steps nor dynamics need a sine. Source: hybrid-limb paper, section 3.2 and appendix A, written in spatial
axes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from robots.model import Link
from robots.types import BASE
from tasks.kernels.types import Array, Scalar, Scalars
from tasks.mathematics.algebra import array, cross, rotation, turned
from tasks.mathematics.elementary import sincos

ZERO = np.zeros(3)


@dataclass(frozen=True)
class JointState:
    """Position of one joint: `cos`, `sin` of a revolute joint's angle, or `shift` [m] of a prismatic one."""

    cos: Scalar = 1.0
    sin: Scalar = 0.0
    shift: Scalar = 0.0

    def moved(self, link: Link, step: Scalar) -> JointState:
        """The state after a step of the joint variable."""
        if link.kind == "prismatic":
            return JointState(shift=self.shift + step)
        return JointState(*turned(self.cos, self.sin, step))


HOME = JointState()


def state_at(link: Link, value: Scalar) -> JointState:
    """The state of a joint at this value of its variable [rad or m]."""
    if link.kind == "prismatic":
        return JointState(shift=value)
    sine, cosine = sincos(value)
    return JointState(cosine, sine)


@dataclass(frozen=True)
class Pose:
    """`rotation` (3, 3) from the body's axes to the root's; `position` (3,) of the body's origin from the root's."""

    rotation: Array
    position: Array

    def at(self, point: Scalars) -> Array:
        """Position of a point of the body."""
        return self.position + self.rotation @ array(point)


def joint_rotation(link: Link, state: JointState) -> np.ndarray:
    """Rotation from a link's axes to those of its joint's placement."""
    return rotation(link.axis, state.cos, state.sin) if link.kind == "revolute" else np.eye(3)


def poses(links: Sequence[Link], states: Sequence[JointState], root: int = BASE) -> dict[int, Pose]:
    """Poses of the root (identity) and of all links beyond it."""
    result = {root: Pose(np.eye(3), ZERO)}
    for i, (link, state) in enumerate(zip(links, states, strict=True)):
        if link.parent not in result or i in result:
            continue
        parent = result[link.parent]
        turned_to = parent.rotation @ array(link.placement.rotation)
        position = parent.at(link.placement.position)
        if link.kind == "prismatic":
            position = position + (turned_to @ array(link.axis)) * state.shift
        result[i] = Pose(turned_to @ joint_rotation(link, state), position)
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
        v, a = parent.at(at[i].position - at[link.parent].position)
        drift = cross(parent.omega, axis * rate)
        if link.kind == "revolute":
            result[i] = Motion(parent.omega + axis * rate, v, parent.alpha + axis * second + drift, a)
        else:
            result[i] = Motion(parent.omega, v + axis * rate, parent.alpha, a + axis * second + 2.0 * drift)
    return result


def columns(
    links: Sequence[Link], at: Mapping[int, Pose], joints: Sequence[int], point: Array
) -> dict[int, tuple[Array, Array]]:
    """Angular velocity, and velocity of a point, for unit rate of each joint: columns of the geometric Jacobian."""
    result = {}
    for i in joints:
        axis = at[i].rotation @ array(links[i].axis)
        if links[i].kind == "revolute":
            result[i] = (axis, cross(axis, point - at[i].position))
        else:
            result[i] = (ZERO, axis)
    return result
