"""Actuator forces from the shares of limbs and platform, for one sample: J_IK^T u = sum of wrenches.

Source: hybrid-limb paper, Eqs. (137), (140).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from robots.status import Status
from tasks.kernels.expression import Dual
from tasks.kernels.types import Array, Mask, Scalar
from tasks.mathematics.algebra import adjugate, array, inverse, total, where

SINGULAR = Dual(1e-12, 1e-6)  # determinant of J_IK relative to the product of the lengths of its columns


def actuator_forces(jacobian: Array, wrench: Array, weights: Array | None = None) -> list[Scalar]:
    """u with J_IK^T u = wrench; where there are more actuators than freedoms, that of the least sum of weights u^2.

    jacobian (actuator, freedom), wrench (freedom,), weights (actuator,) above zero, one each unless given.
    """
    j, w = array(jacobian), array(wrench)
    if j.shape[0] == j.shape[1]:
        return list(inverse(j).T @ w)
    eased = j if weights is None else j / array(weights)[:, None]
    return list(eased @ (inverse(j.T @ eased) @ w))


def singularity(jacobian: Array) -> Mask:
    """Whether J_IK loses rank: inverse kinematics exists but the actuators cannot hold or move the platform."""
    j = array(jacobian)
    square = j if j.shape[0] == j.shape[1] else j.T @ j
    if len(square) > 4:
        return (
            total([x for row in inverse(square) for x in row]) * total([x for row in square for x in row])
            > 1.0 / SINGULAR
        )
    determinant = adjugate(square)[1]
    box: Scalar = 1.0
    for column in square.T:
        box = box * sum(x * x for x in column)
    return determinant * determinant <= box * SINGULAR * SINGULAR


def combined_status(statuses: Sequence[Scalar], jacobian: Array, forces: Sequence[Scalar]) -> Scalar:
    """The first limb's complaint, else a singular J_IK, else forces that are not finite."""
    finite = total(forces) <= sys.float_info.max
    status = where(finite, float(Status.OK), float(Status.NONFINITE))
    status = where(singularity(jacobian), float(Status.SINGULAR), status)
    for each in reversed(statuses):
        status = where(each > 0.5, each, status)
    return status


def limited_status(status: Scalar, margin: Scalar | None) -> Scalar:
    """The status where the least margin of all joints to their limits counts as well, last."""
    if margin is None:
        return status
    beyond = where(margin < 0.0, float(Status.JOINT_LIMIT), float(Status.OK))
    return where(status > 0.5, status, beyond)
