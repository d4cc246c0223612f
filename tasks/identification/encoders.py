"""The motion of a robot from what its encoders say: forward kinematics of every sample, then differences along time.

What a user can do without seeing the platform. Positions come filtered, so that differences do not amplify noise beyond
the cutoff.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from robots.model import Robot
from robots.status import Status
from tasks.arrays.forward_kinematics import forward_kinematics
from tasks.arrays.inputs import Moving, present
from tasks.arrays.inverse import actuator_positions, inverse_dynamics
from tasks.identification.signals import rate

STEPS = 20
MATCHED = 1e-10
"""Actuator positions count as met up to this [rad or m], relative where they are large."""


def motion(robot: Robot, actuator_position: ArrayLike, step: float, near: Moving) -> Moving:
    """The motion whose actuators are at `actuator_position` (time, actuator), one sample every `step` [s].

    near: the commanded motion, which says which of several assemblies is meant; only its pose is used. Samples without
    solution hold NaN. Raises ValueError for shapes that do not fit.
    """
    if robot.mechanism.is_chain:
        q = joint_positions(robot, actuator_position, present(near)["q"])
        qd = rate(q, step)
        return {"q": q, "qd": qd, "qdd": rate(qd, step)}
    position, rotation = near.get("position"), near.get("rotation")
    pose = forward_kinematics(robot, actuator_position=actuator_position, position=position, rotation=rotation)
    velocity = rate(pose.position, step)
    omega = angular_velocity(pose.rotation, step)
    moved: Moving = {
        "position": pose.position,
        "twist": np.concatenate([omega, velocity], axis=1),
        "acceleration": np.concatenate([rate(omega, step), rate(velocity, step)], axis=1),
    }
    return moved if rotation is None else {**moved, "rotation": pose.rotation}


def angular_velocity(rotation: np.ndarray, step: float) -> np.ndarray:
    """Angular velocity (time, 3) in world axes of rotations (time, 3, 3): the skew part of dR/dt R^T."""
    spin = rate(rotation, step) @ np.swapaxes(rotation, -1, -2)
    skew = 0.5 * (spin - np.swapaxes(spin, -1, -2))
    return np.stack([skew[:, 2, 1], skew[:, 0, 2], skew[:, 1, 0]], axis=-1)


def joint_positions(robot: Robot, actuator_position: ArrayLike, near: ArrayLike) -> np.ndarray:
    """Independent joints (time, freedom) of a chain for actuator positions, by Newton steps from a guess.

    Actuators may be drives that move several joints; more actuators than freedoms are met in the least squares. Samples
    that do not settle hold NaN.
    """
    wanted, q = np.asarray(actuator_position, dtype=float), np.array(near, dtype=float)
    for _ in range(STEPS):
        solved = inverse_dynamics(robot, q=q, full=True)
        gap = wanted - actuator_positions(robot, q=q)
        gap[solved.status != Status.OK] = np.nan
        change = (np.linalg.pinv(np.nan_to_num(solved.jacobian)) @ gap[..., None])[..., 0]
        q = q + change
        settled = np.abs(change) <= MATCHED * np.maximum(1.0, np.abs(q))
        if (settled | np.isnan(change)).all():
            break
    q[~settled.all(axis=1)] = np.nan
    return q
