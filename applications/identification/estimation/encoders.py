"""The motion of robots from their encoders: forward kinematics of every sample, then differences along time.

This needs no measurement of the platform. Positions are filtered before, so that differences do not amplify noise
beyond the cutoff. Robots are designs of one family; a single robot is one design.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from applications.identification.estimation.states import Motions
from robots.status import Status
from tasks.dynamics.designs import RobotDesigns
from tasks.dynamics.forward_kinematics import platform_poses, solved_poses
from tasks.dynamics.pose_search import divided
from tasks.mathematics.signals import rate

STEPS = 20
POSE = ("q", "position", "rotation")
TRAVEL = 0.05
"""Way of an actuator [rad or m] for which a pose serves as a guess."""
MATCHED = 1e-10
"""Joints are settled when they change by less than this [rad or m], relative where they are large."""

ActuatorMotion = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Position, velocity, acceleration of the actuators, each (samples, actuator)."""


def finite(values: ArrayLike) -> np.ndarray:
    """Return a mask (samples,) of the samples of an array whose numbers are all finite."""
    array = np.asarray(values)
    return np.isfinite(array.reshape(len(array), -1)).all(axis=1)


def measured_motions(
    designs: RobotDesigns, actuator_position: np.ndarray, near: Motions, spans: Sequence[slice], step: float
) -> Motions:
    """Return the motions whose actuators are at `actuator_position` (design, sample, actuator).

    near (design or 1, sample, ...): the commanded motion, which says which of several assemblies is meant; only its
    pose is used. spans: samples of each trajectory, one every `step` [s]. Samples without solution hold NaN.
    """
    return motions_through(measured_poses(designs, actuator_position, near), spans, step)


def measured_poses(designs: RobotDesigns, actuator_position: np.ndarray, near: Motions) -> Motions:
    """Return the poses alone, with the names that `near` has: joints of chains, or poses of platforms."""
    if designs.family.reference.is_chain:
        return {"q": joint_positions(designs, actuator_position, near["q"])}
    turns = "rotation" in near
    guess = near["rotation"] if turns else designs.home[1][:, None]
    pose = platform_poses(designs, actuator_position, near["position"], guess)
    return {"position": pose.position, **({"rotation": pose.rotation} if turns else {})}


def motions_through(poses: Motions, spans: Sequence[slice], step: float) -> Motions:
    """Return the motions through poses (design, sample, ...), one sample every `step` [s] of each trajectory."""
    if "q" in poses:
        qd = _rates(poses["q"], spans, step)
        return {**poses, "qd": qd, "qdd": _rates(qd, spans, step)}
    velocity = _rates(poses["position"], spans, step)
    omega = np.zeros_like(velocity)
    for span in spans if "rotation" in poses else ():
        turned = np.swapaxes(poses["rotation"][:, span], 0, 1)
        omega[:, span] = np.swapaxes(angular_velocity(turned, step), 0, 1)
    changes = [_rates(part, spans, step) for part in (omega, velocity)]
    twist, acceleration = np.concatenate([omega, velocity], axis=2), np.concatenate(changes, axis=2)
    return {**poses, "twist": twist, "acceleration": acceleration}


def _rates(values: np.ndarray, spans: Sequence[slice], step: float) -> np.ndarray:
    """Return the derivatives (design, sample, ...) along the samples of each trajectory."""
    result = np.empty_like(values)
    for span in spans:
        result[:, span] = np.swapaxes(rate(np.swapaxes(values[:, span], 0, 1), step), 0, 1)
    return result


def angular_velocity(rotation: np.ndarray, step: float) -> np.ndarray:
    """Return the angular velocity (time, ..., 3) in world axes of rotations (time, ..., 3, 3): skew part of dR R^T."""
    spin = rate(rotation, step) @ np.swapaxes(rotation, -1, -2)
    skew = 0.5 * (spin - np.swapaxes(spin, -1, -2))
    return np.stack([skew[..., 2, 1], skew[..., 0, 2], skew[..., 1, 0]], axis=-1)


def joint_positions(designs: RobotDesigns, actuator_position: np.ndarray, near: np.ndarray) -> np.ndarray:
    """Return the independent joints (design, sample, freedom) of chains for actuator positions, by Newton steps.

    near (design or 1, sample, freedom): guesses. Actuators may be drives that move several joints; more actuators than
    freedoms are met in the least squares. A sample stays where its step is small; those that do not settle hold NaN.
    """
    shape = (*actuator_position.shape[:2], near.shape[-1])
    q, moving = np.array(np.broadcast_to(near, shape)), np.ones(shape[:2], dtype=bool)
    for _ in range(STEPS):
        some = np.flatnonzero(moving.any(axis=1))
        at = solved_poses(designs if len(some) == len(designs) else designs.taken(some), {"q": q[some]})
        gap = actuator_position[some] - at.actuators
        gap[at.status != Status.OK] = np.nan
        here = moving[some]
        change = np.zeros((len(some), *shape[1:]))
        change[here] = divided(np.nan_to_num(at.jacobian[here]), gap[here][..., None])[..., 0]
        q[some] += change
        settled = np.abs(change) <= MATCHED * np.maximum(1.0, np.abs(q[some]))
        moving[some] &= ~(settled | np.isnan(change)).all(axis=-1)
        if not moving.any():
            break
    q[moving] = np.nan
    return q


def guesses(design: RobotDesigns, actuator_position: np.ndarray, near: Mapping[str, np.ndarray]) -> Motions:
    """Return poses (time, ...) of a single design near the given ones, with actuators at `actuator_position`.

    actuator_position (time, actuator); near: the pose at the first of these times, or near it, (1, ...) each. Each pose
    is solved from the one before, and serves until an actuator has moved on by TRAVEL. From there `measured_motions`
    finds the assembly that the robot has moved in.
    """
    pose: Mapping[str, np.ndarray] = {name: near[name][0] for name in POSE if name in near}
    rows: dict[str, list[np.ndarray]] = {name: [] for name in pose}
    solved = np.full(actuator_position.shape[1], np.nan)
    for at in actuator_position:
        if not (np.abs(at - solved) <= TRAVEL).all() and np.isfinite(at).all():
            pose, solved = _pose_at(design, at, pose), at
        for name, value in pose.items():
            rows[name].append(value)
    return {name: np.stack(values) for name, values in rows.items()}


def _pose_at(design: RobotDesigns, at: np.ndarray, near: Mapping[str, np.ndarray]) -> Mapping[str, np.ndarray]:
    """Return the pose of a sample from a pose near it; that near pose if no solution is found."""
    solved_pose = measured_poses(design, at[None, None], {name: value[None, None] for name, value in near.items()})
    pose = {name: value[0, 0] for name, value in solved_pose.items()}
    return pose if all(np.isfinite(value).all() for value in pose.values()) else near
