"""The motion of a robot from its encoders: forward kinematics of every sample, then differences along time.

This needs no measurement of the platform. Positions are filtered before, so that differences do not amplify noise
beyond the cutoff.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, cast

import numpy as np
from numpy.typing import ArrayLike

from robots.model import Robot
from robots.status import Status
from tasks.dynamics.forward_kinematics import forward_kinematics
from tasks.dynamics.inputs import present
from tasks.dynamics.inverse import actuator_positions, inverse_dynamics
from tasks.dynamics.records import Motion, Moving
from tasks.mathematics.signals import rate

STEPS = 20
POSE: tuple[Literal["q", "position", "rotation"], ...] = ("q", "position", "rotation")
TRAVEL = 0.05
"""Way of an actuator [rad or m] for which a pose serves as a guess."""
MATCHED = 1e-10
"""Actuator positions count as met up to this [rad or m], relative where they are large."""

ActuatorMotion = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Position, velocity, acceleration of the actuators, each (samples, actuator)."""


def finite(values: ArrayLike) -> np.ndarray:
    """Return a mask (samples,) of the samples of an array whose numbers are all finite."""
    array = np.asarray(values)
    return np.isfinite(array.reshape(len(array), -1)).all(axis=1)


def motion(robot: Robot, actuator_position: ArrayLike, step: float, near: Moving) -> Moving:
    """Return the motion whose actuators are at `actuator_position` (time, actuator), one sample every `step` [s].

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


def guesses(robot: Robot, actuator_position: ArrayLike, near: Moving) -> Moving:
    """Return poses (time, ...) near the given ones, with actuators at `actuator_position` (time, actuator).

    near: the pose at the first of these times, or near it, (1, ...) each. Each pose is solved from the one before, and
    serves until an actuator has moved on by TRAVEL. From there `motion` finds the assembly that the robot has moved in.
    """
    target, place = np.asarray(actuator_position, dtype=float), present(near)
    poses = {name: np.asarray(place[name]) for name in POSE if name in place}
    pose: Mapping[str, np.ndarray] = {name: values[0] for name, values in poses.items()}
    rows: dict[str, list[np.ndarray]] = {name: [] for name in pose}
    solved = np.full(target.shape[1], np.nan)
    for at in target:
        if not (np.abs(at - solved) <= TRAVEL).all() and np.isfinite(at).all():
            pose, solved = _pose_at(robot, at, pose), at
        for name, value in pose.items():
            rows[name].append(value)
    return cast("Moving", {name: np.stack(values) for name, values in rows.items()})


def _pose_at(robot: Robot, actuator_position: np.ndarray, near: Mapping[str, np.ndarray]) -> Mapping[str, np.ndarray]:
    """Return the pose of a sample from a pose near it; that near pose if no solution is found."""
    if robot.mechanism.is_chain:
        joints = joint_positions(robot, actuator_position[None], near["q"][None])[0]
        return {"q": joints if np.isfinite(joints).all() else near["q"]}
    pose = forward_kinematics(robot, Motion(**near), actuator_position=actuator_position)
    if pose.status != Status.OK:
        return near
    return {name: value for name, value in (("position", pose.position), ("rotation", pose.rotation)) if name in near}


def angular_velocity(rotation: np.ndarray, step: float) -> np.ndarray:
    """Return the angular velocity (time, ..., 3) in world axes of rotations (time, ..., 3, 3): skew part of dR R^T."""
    spin = rate(rotation, step) @ np.swapaxes(rotation, -1, -2)
    skew = 0.5 * (spin - np.swapaxes(spin, -1, -2))
    return np.stack([skew[..., 2, 1], skew[..., 0, 2], skew[..., 1, 0]], axis=-1)


def joint_positions(robot: Robot, actuator_position: ArrayLike, near: ArrayLike) -> np.ndarray:
    """Return the independent joints (time, freedom) of a chain for actuator positions, by Newton steps from a guess.

    Actuators may be drives that move several joints; more actuators than freedoms are met in the least squares. Samples
    that do not settle hold NaN.
    """
    target, q = np.asarray(actuator_position, dtype=float), np.array(near, dtype=float)
    for _ in range(STEPS):
        solved = inverse_dynamics(robot, q=q)
        gap = target - actuator_positions(robot, q=q).position
        gap[solved.status != Status.OK] = np.nan
        change = (np.linalg.pinv(np.nan_to_num(solved.jacobian)) @ gap[..., None])[..., 0]
        q = q + change
        settled = np.abs(change) <= MATCHED * np.maximum(1.0, np.abs(q))
        if (settled | np.isnan(change)).all():
            break
    q[~settled.all(axis=1)] = np.nan
    return q
