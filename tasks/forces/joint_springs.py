"""Forces of springs along joints of a tree, for one sample."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from robots.forces.elements import JointSpring
from tasks.kernels.types import Array, Scalar, Scalars
from tasks.mathematics.algebra import array, is_zero, where


def joint_forces(springs: Iterable[JointSpring], position: Callable[[int], Scalar], rates: Scalars) -> Array:
    """What springs do along the joints (joint,), for positions of joints by index and rates of all."""
    result = np.array(np.zeros(len(rates)), dtype=object)
    for spring in springs:
        stretch: Scalar = (
            sum((position(joint) * ratio for joint, ratio in spring.ratios), start=0.0) - spring.rest_position
        )
        rate: Scalar = sum((rates[joint] * ratio for joint, ratio in spring.ratios), start=0.0)
        pull = _pull(spring, stretch, rate)
        for joint, ratio in spring.ratios:
            result[joint] = result[joint] - pull * ratio
    return array(result)


def _pull(spring: JointSpring, stretch: Scalar, rate: Scalar) -> Scalar:
    """What a spring takes its coordinate back with; within its backlash nothing."""
    if is_zero(spring.backlash):
        return stretch * spring.stiffness + rate * spring.damping
    half = spring.backlash * 0.5
    beyond = where(stretch > half, stretch - half, where(stretch < -half, stretch + half, 0.0))
    return beyond * spring.stiffness + where(abs(stretch) > half, rate, 0.0) * spring.damping
