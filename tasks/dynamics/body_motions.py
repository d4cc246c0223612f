"""Motions of bodies on a batch, in plain NumPy: links outward along the tree of a limb, the platform, and wrenches.

They are slower than kernels. The Newton-Euler system of the whole robot is based on them. Source: Huang et al.,
Inverse dynamics analysis of a 6-RR-RP-RR parallel manipulator, Eqs. (8) to (13), (18), (20).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from robots.model import Frame, Inertia, Limb, Link
from robots.types import BASE, Vector
from tasks.mechanics.kinematics import JointState, sliding, way


class BodyMotions(NamedTuple):
    """Pose and motion of a body's frame in world axes, any batch dims.

    rotation (*batch, 3, 3) from body to world axes; position [m], omega [rad/s], velocity [m/s], alpha [rad/s^2],
    acceleration [m/s^2], each (*batch, 3), of the frame's origin.
    """

    rotation: np.ndarray
    position: np.ndarray
    omega: np.ndarray
    velocity: np.ndarray
    alpha: np.ndarray
    acceleration: np.ndarray

    def turned(self, vector: Vector) -> np.ndarray:
        """Return a vector fixed in the body, in world axes (*batch, 3)."""
        return self.rotation @ np.asarray(vector, dtype=float)

    def point(self, offset: Vector) -> np.ndarray:
        """Return the position of a point of the body, given in its own frame [m]."""
        return self.position + self.turned(offset)

    def velocity_of(self, arm: np.ndarray) -> np.ndarray:
        """Return the velocity of the point `arm` (*batch, 3) [m] away from the origin, world axes. Eq. (10)."""
        return self.velocity + np.cross(self.omega, arm)

    def acceleration_of(self, arm: np.ndarray) -> np.ndarray:
        """Return the acceleration of the point `arm` (*batch, 3) [m] from the origin, world axes. Eqs. (12), (13)."""
        return self.acceleration + np.cross(self.alpha, arm) + np.cross(self.omega, np.cross(self.omega, arm))


def platform_motion(
    batch: tuple[int, ...],
    position: ArrayLike,
    rotation: ArrayLike,
    twist: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
) -> BodyMotions:
    """Return the platform's frame from its pose, twist and the twist's time derivative (*batch, 6), absent: zero."""

    def spread(values: ArrayLike | None, *core: int) -> np.ndarray:
        return np.broadcast_to(np.zeros(core) if values is None else np.asarray(values, dtype=float), (*batch, *core))

    rate, change = spread(twist, 6), spread(acceleration, 6)
    pose = spread(rotation, 3, 3), spread(position, 3)
    return BodyMotions(*pose, rate[..., :3], rate[..., 3:], change[..., :3], change[..., 3:])


def limb_motion(
    limb: Limb, base: Frame, position: np.ndarray, velocity: np.ndarray, acceleration: np.ndarray
) -> tuple[BodyMotions, ...]:
    """Return the motions of the links of a limb that is mounted on the fixed frame `base`.

    position, velocity, acceleration (*batch, joint) of the tree joints [rad or m]; further joints are not read.
    """
    batch = np.shape(position)[:-1]
    mount = platform_motion(batch, base.position, base.rotation)
    moving: list[BodyMotions] = []
    for k, link in enumerate(limb.links):
        parent = mount if link.parent == BASE else moving[link.parent]
        moving.append(_carried(link, parent, position[..., k], velocity[..., k], acceleration[..., k]))
    return tuple(moving)


def _carried(link: Link, parent: BodyMotions, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> BodyMotions:
    placed = parent.rotation @ np.asarray(link.placement.rotation, dtype=float)
    axis = placed @ np.asarray(link.axis, dtype=float)
    kind, state, arm = link.joint_kind, JointState(value=q), parent.turned(link.placement.position)
    if kind.slides:
        arm = arm + axis * way(link, state)[..., None]
    rotation, omega, alpha = placed, parent.omega, parent.alpha
    velocity, acceleration = parent.velocity_of(arm), parent.acceleration_of(arm)
    if kind.slides:
        speed, change = (axis * x[..., None] for x in sliding(link, state, qd, qdd))
        velocity = velocity + speed
        acceleration = acceleration + change + 2.0 * np.cross(parent.omega, speed)
    if kind.turns:
        rate = axis * qd[..., None]
        rotation, omega = placed @ rotation_about(link.axis, q), parent.omega + rate
        alpha = parent.alpha + axis * qdd[..., None] + np.cross(parent.omega, rate)
    return BodyMotions(rotation, parent.position + arm, omega, velocity, alpha, acceleration)


def rotation_about(axis: Sequence[float], angle: ArrayLike) -> np.ndarray:
    """Return the rotations (*batch, 3, 3) about a unit axis (3,) by angles (*batch) [rad]: Rodrigues' formula."""
    x, y, z = axis
    k = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    angles = np.asarray(angle, dtype=float)[..., None, None]
    return np.eye(3) + np.sin(angles) * k + (1.0 - np.cos(angles)) * (k @ k)


def inertial_wrench(inertia: Inertia, moving: BodyMotions, gravity: ArrayLike) -> np.ndarray:
    """Return the (moment, force) (*batch, 6) at a body's origin that its motion takes, less its weight; world axes.

    gravity (3,) [m/s^2]. Right-hand sides of Eqs. (18), (20), moments about the body's origin.
    """
    arm = moving.turned(inertia.centre)
    tensor = moving.rotation @ np.asarray(inertia.tensor, dtype=float) @ np.swapaxes(moving.rotation, -1, -2)
    spin = (tensor @ moving.omega[..., None])[..., 0]
    force = inertia.mass * (moving.acceleration_of(arm) - np.asarray(gravity, dtype=float))
    moment = (tensor @ moving.alpha[..., None])[..., 0] + np.cross(moving.omega, spin) + np.cross(arm, force)
    return np.concatenate([moment, force], axis=-1)
