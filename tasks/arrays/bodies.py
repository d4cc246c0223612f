"""Motion of every body of a robot in world axes, for batches, in plain NumPy.

Outward along the spanning tree of each limb, from joint positions, rates and accelerations; the platform moves as it is
told, and that of a chain stays with the base. This is the slow twin of the compiled limb programs, and what the
Newton-Euler system of the whole robot starts from. Source: Huang et al., Inverse dynamics analysis of a 6-RR-RP-RR
parallel manipulator, Eqs. (8) to (13).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from robots.model import Frame, Inertia, Limb, Link, Robot
from robots.types import BASE, Vector
from tasks.arrays.inputs import Moving
from tasks.arrays.inverse import InverseKinematics, inverse_kinematics
from tasks.mechanics.kinematics import JointState, sliding, way


class BodyMotion(NamedTuple):
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
        """A vector fixed in the body, in world axes (*batch, 3)."""
        return self.rotation @ np.asarray(vector, dtype=float)

    def point(self, offset: Vector) -> np.ndarray:
        """Position of a point of the body, given in its own frame [m]."""
        return self.position + self.turned(offset)

    def velocity_of(self, arm: np.ndarray) -> np.ndarray:
        """Velocity of the point `arm` (*batch, 3) [m] away from the origin, world axes. Eq. (10)."""
        return self.velocity + np.cross(self.omega, arm)

    def acceleration_of(self, arm: np.ndarray) -> np.ndarray:
        """Acceleration of the point `arm` (*batch, 3) [m] away from the origin, world axes. Eqs. (12), (13)."""
        return self.acceleration + np.cross(self.alpha, arm) + np.cross(self.omega, np.cross(self.omega, arm))


class RobotMotion(NamedTuple):
    """Motions of all links, limb by limb in the order of their links, of the platform, and the joint motion behind."""

    limbs: tuple[tuple[BodyMotion, ...], ...]
    platform: BodyMotion
    joints: InverseKinematics


def body_motion(
    robot: Robot, *, position: ArrayLike | None = None, rotation: ArrayLike | None = None,
    twist: ArrayLike | None = None, acceleration: ArrayLike | None = None,
    q: ArrayLike | None = None, qd: ArrayLike | None = None, qdd: ArrayLike | None = None,
) -> RobotMotion:  # fmt: skip
    """Motions of all bodies for a motion of the robot; shapes and errors as in `tasks.inverse_kinematics`.

    Samples without a solution hold NaN; `joints.status` says why.
    """
    moving = Moving(position=position, rotation=rotation, twist=twist, acceleration=acceleration, q=q, qd=qd, qdd=qdd)
    joints = inverse_kinematics(robot, **moving)
    mechanism, batch = robot.mechanism, joints.status.shape
    limbs = tuple(
        limb_motion(mechanism.limbs[instance.limb], instance.base, *(part[..., k, :] for part in joints[:3]))
        for k, instance in enumerate(mechanism.instances)
    )
    home = mechanism.platform.home
    pose = home.position if position is None else position, home.rotation if rotation is None else rotation
    platform = platform_motion(batch, *pose, twist, acceleration)
    return RobotMotion(limbs, platform, joints)


def platform_motion(
    batch: tuple[int, ...],
    position: ArrayLike,
    rotation: ArrayLike,
    twist: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
) -> BodyMotion:
    """The platform's frame from its pose, twist and the twist's time derivative (*batch, 6), absent: zero."""

    def spread(values: ArrayLike | None, *core: int) -> np.ndarray:
        return np.broadcast_to(np.zeros(core) if values is None else np.asarray(values, dtype=float), (*batch, *core))

    rate, change = spread(twist, 6), spread(acceleration, 6)
    pose = spread(rotation, 3, 3), spread(position, 3)
    return BodyMotion(*pose, rate[..., :3], rate[..., 3:], change[..., :3], change[..., 3:])


def limb_motion(
    limb: Limb, base: Frame, position: np.ndarray, velocity: np.ndarray, acceleration: np.ndarray
) -> tuple[BodyMotion, ...]:
    """Motions of the links of a limb that is mounted on the fixed frame `base`.

    position, velocity, acceleration (*batch, joint) of the tree joints [rad or m]; further joints are not read.
    """
    batch = np.shape(position)[:-1]
    mount = platform_motion(batch, base.position, base.rotation)
    moving: list[BodyMotion] = []
    for k, link in enumerate(limb.links):
        parent = mount if link.parent == BASE else moving[link.parent]
        moving.append(_carried(link, parent, position[..., k], velocity[..., k], acceleration[..., k]))
    return tuple(moving)


def _carried(link: Link, parent: BodyMotion, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> BodyMotion:
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
    return BodyMotion(rotation, parent.position + arm, omega, velocity, alpha, acceleration)


def rotation_about(axis: Sequence[float], angle: ArrayLike) -> np.ndarray:
    """Rotations (*batch, 3, 3) about a unit axis (3,) by angles (*batch) [rad]: Rodrigues' formula."""
    x, y, z = axis
    k = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    angles = np.asarray(angle, dtype=float)[..., None, None]
    return np.eye(3) + np.sin(angles) * k + (1.0 - np.cos(angles)) * (k @ k)


def inertial_wrench(inertia: Inertia, moving: BodyMotion, gravity: ArrayLike) -> np.ndarray:
    """The (moment, force) (*batch, 6) at a body's origin that its motion takes, less its weight; world axes.

    gravity (3,) [m/s^2]. Right-hand sides of Eqs. (18), (20), moments about the body's origin.
    """
    arm = moving.turned(inertia.centre)
    tensor = moving.rotation @ np.asarray(inertia.tensor, dtype=float) @ np.swapaxes(moving.rotation, -1, -2)
    spin = (tensor @ moving.omega[..., None])[..., 0]
    force = inertia.mass * (moving.acceleration_of(arm) - np.asarray(gravity, dtype=float))
    moment = (tensor @ moving.alpha[..., None])[..., 0] + np.cross(moving.omega, spin) + np.cross(arm, force)
    return np.concatenate([moment, force], axis=-1)
