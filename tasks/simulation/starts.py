"""Where simulated cases start: references at time zero, moved by the offsets of initial states."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robots.model import Family
from tasks.mathematics.rotations import roll_pitch_yaw


def moved_starts(family: Family, motion: np.ndarray, names: Sequence[str], offsets: np.ndarray) -> np.ndarray:
    """Motion inputs of kernels (size, case), each moved by its offsets (case, name).

    `names` are those of `robots.simulation.state_parameters`; what is not among them is not moved. Roll, pitch and yaw
    turn about the axes of the world, in this order.
    """
    offset = dict(zip(names, offsets.T, strict=True))
    result, mechanism = np.array(motion), family.reference
    if mechanism.is_chain:
        free = len(mechanism.freedoms)
        for k, name in enumerate(mechanism.freedoms):
            result[k] += offset.get(name, 0.0)
            result[free + k] += offset.get(f"{name}_rate", 0.0)
        return result
    small = len(result) == 9
    rate = 3 if small else 15
    for k, name in enumerate(("x", "y", "z")):
        result[k] += offset.get(name, 0.0)
        result[rate + k] += offset.get(f"{name}_rate", 0.0)
    if not small:
        angles = np.zeros((result.shape[1], 3))
        for k, name in enumerate(("roll", "pitch", "yaw")):
            angles[:, k] = offset.get(name, 0.0)
            result[12 + k] += offset.get(f"{name}_rate", 0.0)
        turned = roll_pitch_yaw(angles).rotation
        result[3:12] = np.einsum("nij,jkn->ikn", turned, result[3:12].reshape(3, 3, -1)).reshape(9, -1)
    return result
