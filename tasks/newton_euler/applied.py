"""What acts on the bodies of a robot from outside, and springs along its joints, for batches, in plain NumPy.

Written out once more for the Newton-Euler system, so that it shares nothing with `tasks.forces`, which kernels take.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robots.forces.elements import ForceElement, JointSpring, Spring
from tasks.arrays.bodies import BodyMotion


def applied_wrench(elements: Sequence[ForceElement], body: BodyMotion) -> np.ndarray:
    """(moment about its origin, force) (n, 6) that elements put on a body, world axes, which are those of the base."""
    result = np.zeros((len(body.position), 6))
    for element in elements:
        arm = body.turned(element.point)
        moment = np.zeros(3)
        if isinstance(element, Spring):
            force = _pull(element, body, arm)
        else:
            moment, force = (np.asarray(part, dtype=float) for part in (element.moment, element.force))
            if element.turning:
                moment, force = (part @ np.swapaxes(body.rotation, -1, -2) for part in (moment, force))
        result[:, :3] += moment + np.cross(arm, force)
        result[:, 3:] += force
    return result


def _pull(spring: Spring, body: BodyMotion, arm: np.ndarray) -> np.ndarray:
    """Force (n, 3) of a spring on its body, towards its anchor."""
    gap = np.asarray(spring.anchor, dtype=float) - body.position - arm
    if not any(map(float, (spring.rest_length, spring.preload, spring.damping))):
        return gap * float(spring.stiffness)  # where both points coincide, too
    length = np.linalg.norm(gap, axis=-1, keepdims=True)
    opening = -(gap * body.velocity_of(arm)).sum(axis=-1, keepdims=True) / length
    stretched = float(spring.stiffness) * (length - float(spring.rest_length))
    return np.asarray(gap / length * (float(spring.preload) + stretched + float(spring.damping) * opening))


def spring_forces(springs: Sequence[JointSpring], position: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """What springs do along joints (n, joint), from positions and rates (n, joint) of the joints of a limb."""
    result = np.zeros_like(position)
    for spring in springs:
        joints = [joint for joint, _ in spring.ratios]
        ratios = np.array([float(ratio) for _, ratio in spring.ratios])
        stretch = position[:, joints] @ ratios - float(spring.rest_position)
        half = 0.5 * float(spring.backlash)
        beyond = np.sign(stretch) * np.maximum(np.abs(stretch) - half, 0.0)
        touching = (np.abs(stretch) > half) | (half == 0.0)
        force = -float(spring.stiffness) * beyond - float(spring.damping) * touching * (rate[:, joints] @ ratios)
        for joint, ratio in zip(joints, ratios, strict=True):
            result[:, joint] += force * ratio
    return result
