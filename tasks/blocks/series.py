"""Time series from rows of kernels to the dims of the dataset, for given and simulated motions.

`out` are (case, time, ...), rows of kernels (case, component, padded time).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robots.friction.groups import FrictionGroup
from robots.limits import MOTOR
from robots.model import Mechanism
from robots.quantities import QUANTITIES
from tasks.blocks.block import time_first
from tasks.kernels.keys import Indexed, Values


def fill_series(out: np.ndarray, name: str, values: Values, samples: int, limbs: int) -> None:
    """Fill a series of limbs or of the assembly; NaN where a limb has fewer joints or links than another."""
    if "limb" in QUANTITIES[name].dims:
        for k in range(limbs):
            numbers = time_first(values[Indexed(name, k)], samples)
            numbers = numbers.reshape(*numbers.shape[:2], -1, *out.shape[4:])
            out[:, :, k, : numbers.shape[2]] = numbers
            out[:, :, k, numbers.shape[2] :] = np.nan
    elif QUANTITIES[name].stage == "limb":
        out[...] = np.concatenate([time_first(values[Indexed(name, k)], samples) for k in range(limbs)], -1)
    else:
        out[...] = time_first(values[name], samples).reshape(out.shape)


def fill_friction(out: np.ndarray, rows: np.ndarray, groups: Sequence[FrictionGroup], samples: int) -> None:
    """Fill a series of the joints with friction; that of motors is in the forces of the actuators."""
    joints = [joint for group in groups for joint in group.places]
    parts = time_first(rows, samples)
    parts = parts.reshape(*parts.shape[:2], len(joints), *out.shape[4:])
    for k, joint in enumerate(joints):
        if joint.joint != MOTOR:
            out[:, :, joint.limb, joint.joint] = parts[:, :, k]


def absent_joints(mechanism: Mechanism) -> np.ndarray:
    """Return zero for every joint, NaN where a limb has fewer joints than another (limb, joint)."""
    counts = [len(mechanism.limbs[instance.limb].joints) for instance in mechanism.instances]
    return np.where(np.arange(max(counts)) < np.array(counts)[:, None], 0.0, np.nan)
