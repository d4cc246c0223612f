"""Time series from rows of kernels to the dims of the dataset, for given and simulated motions.

`out` are (case, time, ...), rows of kernels (case, component, padded time).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from robots.dims import SPACE
from robots.friction.groups import FrictionGroup
from robots.limits import MOTOR
from robots.model import Mechanism, Platform
from robots.quantities import QUANTITIES, Stage
from tasks.blocks.pool import Arrays, empty, time_first
from tasks.kernels.kernel import kernel, padded
from tasks.kernels.keys import Indexed, Values
from tasks.kernels.program import Kernels
from tasks.kernels.time_first import fill
from tasks.stages.request import Request

OF_STAGES: tuple[Stage, ...] = ("limb", "assembly", "actuation", "reactions")
"""Stages of inverse dynamics that give series."""


def fill_series(
    kernel: Kernels, out: np.ndarray, name: str, values: Values, samples: int, limbs: int, *, masked: bool = True
) -> None:
    """Fill a series of limbs or of the assembly, as the next calls of a strip; NaN where a sample failed, if `masked`.

    Where a limb has fewer joints or links than another, nothing is written.
    """
    status = values["status"] if masked else None
    if QUANTITIES[name].stage != "limb":
        fill(kernel, out, values[name], samples, status)
        return
    first, apart = 0, "limb" in QUANTITIES[name].dims
    for k in range(limbs):
        rows = values[Indexed(name, k)]
        part = out[:, :, k] if apart else out
        last = first + rows.shape[1] // math.prod(part.shape[3:])
        fill(kernel, part[:, :, first:last], rows, samples, status)
        first = 0 if apart else last


def fill_friction(
    kernel: Kernels, out: np.ndarray, rows: np.ndarray, groups: Sequence[FrictionGroup], samples: int
) -> None:
    """Fill a series of the joints with friction; that of motors is in the forces of the actuators."""
    joints = [joint for group in groups for joint in group.places]
    size = math.prod(out.shape[4:])
    for k, joint in enumerate(joints):
        if joint.joint != MOTOR:
            fill(kernel, out[:, :, joint.limb, joint.joint], rows[:, k * size : (k + 1) * size], samples)


def absent_joints(mechanism: Mechanism) -> np.ndarray:
    """Return zero for every joint, NaN where a limb has fewer joints than another (limb, joint)."""
    counts = [len(mechanism.limbs[instance.limb].joints) for instance in mechanism.instances]
    return np.where(np.arange(max(counts)) < np.array(counts)[:, None], 0.0, np.nan)


def after_joints(name: str) -> tuple[int, ...]:
    """Return the lengths of the dims of a quantity after that of joints."""
    dims = QUANTITIES[name].dims
    return tuple(SPACE[dim] for dim in dims[dims.index("joint") + 1 :])


def gathered(limbs: Sequence[Arrays]) -> Arrays:
    """Return the reactions of all limbs in the dims of the dataset; NaN where a limb has fewer joints than another."""
    result: Arrays = {}
    for name, first in limbs[0].items() if limbs else ():
        axis = first.ndim - 1 - len(after_joints(name))
        most = max(limb[name].shape[axis] for limb in limbs)
        whole = empty((*first.shape[:axis], len(limbs), most, *first.shape[axis + 1 :]))
        whole[...] = np.nan
        for k, limb in enumerate(limbs):
            by_joint = np.moveaxis(limb[name], axis, 0)
            np.moveaxis(whole, (axis, axis + 1), (0, 1))[k, : len(by_joint)] = by_joint
        result[name] = whole
    return result


def fill_of_stages(out: Arrays, request: Request, groups: Sequence[FrictionGroup], values: Values, times: int) -> None:
    """Fill series of cases (case, time, ...), NaN before, from the values of all stages, or from their rates."""
    limbs = range(len(request.structure.mechanism.instances))
    by_stage = {stage: [name for name in request.of(stage, "series") if name in out] for stage in OF_STAGES}
    for name in (*by_stage["limb"], *by_stage["assembly"]):
        fill_series(kernel, out[name], name, values, times, len(limbs), masked=False)
    for name in by_stage["actuation"]:
        if "joint" not in QUANTITIES[name].dims:
            fill(kernel, out[name], values[name], times)
            continue
        still = absent_joints(request.structure.mechanism)
        out[name][...] = still.reshape(*still.shape, *(1,) * (out[name].ndim - 4))
        fill_friction(kernel, out[name], values[name], groups, times)
    for name, array in gathered([_reactions(values, k, by_stage["reactions"], times) for k in limbs]).items():
        out[name][...] = array


def _reactions(values: Values, limb: int, names: Sequence[str], times: int) -> Arrays:
    """Return series of reactions of one limb (case, time, joint, ...)."""
    rows = {name: time_first(values[Indexed(name, limb)], times) for name in names}
    return {name: row.reshape(*row.shape[:2], -1, *after_joints(name)) for name, row in rows.items()}


def platform_series(platform: Platform, t: int, motion: np.ndarray, wanted: Sequence[str]) -> Arrays:
    """Return the `wanted` series of the platform's motion, from motion inputs (case, component, time).

    t: number of times, without the padding of the last lanes.
    """
    out: Arrays = {}
    small = motion.shape[1] == 9
    if "platform_position" in wanted:
        out["platform_position"] = np.ascontiguousarray(time_first(motion[:, :3], t))
    if "platform_rotation" in wanted:
        home = np.array(platform.home.rotation, dtype=float).reshape(1, 9, 1)
        rotation = np.repeat(np.repeat(home, len(motion), axis=0), t, axis=2) if small else motion[:, 3:12]
        out["platform_rotation"] = np.ascontiguousarray(time_first(rotation, t)).reshape(len(motion), t, 3, 3)
    for name, rows, full in (
        ("platform_twist", slice(3, 6), slice(12, 18)),
        ("platform_acceleration", slice(6, 9), slice(18, 24)),
    ):
        if name in wanted:
            out[name] = np.zeros((len(motion), t, 6))
            if small:
                out[name][..., 3:] = time_first(motion[:, rows], t)
            else:
                out[name][...] = time_first(motion[:, full], t)
    return out


def wide(array: np.ndarray) -> np.ndarray:
    """Return samples (case, component, time) with whole groups of lanes in time, the last one repeated."""
    count = array.shape[-1]
    result = np.empty((*array.shape[:-1], padded(count)), dtype=array.dtype)
    result[..., :count], result[..., count:] = array, array[..., -1:]
    return result
