"""Motions of many designs from their encoders, see `applications.identification.estimation.encoders` for one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from applications.identification.estimation.designs.states import Motions
from applications.identification.estimation.encoders import MATCHED, STEPS, angular_velocity
from robots.status import Status
from tasks.dynamics.design_poses import platform_poses, solved_poses
from tasks.dynamics.designs import RobotDesigns
from tasks.dynamics.forward_kinematics import divided
from tasks.mathematics.signals import rate


def measured_motions(
    designs: RobotDesigns, actuator_position: np.ndarray, near: Motions, spans: Sequence[slice], step: float
) -> Motions:
    """Return the motions whose actuators are at `actuator_position` (design, sample, actuator).

    near: commanded poses (1, sample, ...); spans: samples of each trajectory, one every `step` [s]. Samples without
    solution hold NaN.
    """
    if designs.family.reference.is_chain:
        q = joint_positions(designs, actuator_position, near["q"])
        qd = _rates(q, spans, step)
        return {"q": q, "qd": qd, "qdd": _rates(qd, spans, step)}
    turns = "rotation" in near
    guess = near["rotation"] if turns else designs.home[1][:, None]
    pose = platform_poses(designs, actuator_position, near["position"], guess)
    velocity = _rates(pose.position, spans, step)
    omega = np.zeros_like(velocity)
    if turns:
        for span in spans:
            omega[:, span] = np.swapaxes(angular_velocity(np.swapaxes(pose.rotation[:, span], 0, 1), step), 0, 1)
    changes = [_rates(part, spans, step) for part in (omega, velocity)]
    moved = {
        "position": pose.position,
        "twist": np.concatenate([omega, velocity], axis=2),
        "acceleration": np.concatenate(changes, axis=2),
    }
    return {**moved, "rotation": pose.rotation} if turns else moved


def _rates(values: np.ndarray, spans: Sequence[slice], step: float) -> np.ndarray:
    """Return the derivatives (design, sample, ...) along the samples of each trajectory."""
    result = np.empty_like(values)
    for span in spans:
        result[:, span] = np.swapaxes(rate(np.swapaxes(values[:, span], 0, 1), step), 0, 1)
    return result


def joint_positions(designs: RobotDesigns, actuator_position: np.ndarray, near: np.ndarray) -> np.ndarray:
    """Return the independent joints (design, sample, freedom) of chains for actuator positions, by Newton steps.

    A sample stays where its step is small; those that do not settle hold NaN.
    """
    shape = (*actuator_position.shape[:2], near.shape[-1])
    q, moving = np.array(np.broadcast_to(near, shape)), np.ones(shape[:2], dtype=bool)
    for _ in range(STEPS):
        some = np.flatnonzero(moving.any(axis=1))
        at = solved_poses(designs if len(some) == len(designs) else designs.taken(some), {"q": q[some]})
        gap = actuator_position[some] - at.actuators
        gap[at.status != Status.OK] = np.nan
        here = moving[some]
        change = np.zeros_like(gap, shape=(len(some), *shape[1:]))
        change[here] = divided(np.nan_to_num(at.jacobian[here]), gap[here][..., None])[..., 0]
        q[some] += change
        settled = np.abs(change) <= MATCHED * np.maximum(1.0, np.abs(q[some]))
        moving[some] &= ~(settled | np.isnan(change)).all(axis=-1)
        if not moving.any():
            break
    q[moving] = np.nan
    return q


def is_finite(motion: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return a mask (design or 1,) of the motions whose numbers are all finite."""
    masks = [np.isfinite(values).reshape(len(values), -1).all(axis=1) for values in motion.values()]
    return np.asarray(np.logical_and.reduce(np.broadcast_arrays(*masks)))
