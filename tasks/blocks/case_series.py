"""Series of simulated cases, from the stages of inverse dynamics over them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robots.quantities import FRICTION, GAINS, QUANTITIES, STATE, Stage
from robots.status import Status
from tasks.blocks.block import Block
from tasks.blocks.case_stages import CaseStages
from tasks.blocks.linear import Linear
from tasks.blocks.pool import Arrays, time_first
from tasks.blocks.series import absent_joints, after_joints, fill_friction, fill_series, gathered, platform_series, wide
from tasks.kernels.kernel import padded
from tasks.kernels.keys import Indexed, Values
from tasks.stages import stages
from tasks.stages.request import Request

CASE_DIMS = ("design", FRICTION, "trajectory", GAINS, STATE)

OF_STAGES: tuple[Stage, ...] = ("limb", "assembly", "actuation", "reactions")
"""Stages of inverse dynamics that give series."""


def case_series(block: Block, names: Sequence[str], cases: CaseStages, sources: Values, status: np.ndarray) -> Arrays:
    """Return series (case, time, ...) of simulated cases, NaN at samples that are not OK.

    sources (case, component, time): values of the simulation by their key among those of stages; status (case, time).
    """
    times = status.shape[1]
    of_stages = [name for name in names if QUANTITIES[name].stage != "trajectory"]
    shapes = {name: block.shape([dim for dim in QUANTITIES[name].dims if dim not in CASE_DIMS]) for name in of_stages}
    out = {name: np.full((cases.count, *shape), np.nan) for name, shape in shapes.items()}
    samples = {key: wide(array) for key, array in sources.items()}
    step = max(1, stages.STRIP // padded(times)) if of_stages else cases.count
    for start in range(0, cases.count if of_stages else 0, step):
        part = slice(start, start + step)
        given = {key: array[part] if len(array) > 1 else array for key, array in samples.items()}
        values = cases.of_motion(given, times, part)
        rows = {name: array[part] for name, array in out.items()}
        values = cases.of_forces(values, times)
        fill_of_stages(block, cases.request, rows, values, times)
        _fill_linear(block, cases.request, rows, values)
        unsolved = values["status"][:, 0, :times] != Status.OK
        for array in rows.values():
            array[unsolved] = np.nan
    out |= platform_series(block.family.reference.platform, len(block.times), samples["motion"], names)
    for array in out.values():
        array[status != Status.OK] = np.nan
    return out


def fill_of_stages(block: Block, request: Request, out: Arrays, values: Values, times: int) -> None:
    """Fill series of a strip of cases (case, time, ...) from the values of all stages, or from their rates."""
    limbs = range(len(request.structure.mechanism.instances))
    by_stage = {stage: [name for name in request.of(stage, "series") if name in out] for stage in OF_STAGES}
    for name in (*by_stage["limb"], *by_stage["assembly"]):
        fill_series(out[name], name, values, times, len(limbs))
    for name in by_stage["actuation"]:
        if "joint" not in QUANTITIES[name].dims:
            out[name][...] = time_first(values[name], times)
            continue
        still = absent_joints(block.family.reference)
        out[name][...] = still.reshape(*still.shape, *(1,) * (out[name].ndim - 4))
        fill_friction(out[name], values[name], block.groups, times)
    for name, array in gathered([_reactions(values, k, by_stage["reactions"], times) for k in limbs]).items():
        out[name][...] = array


def _fill_linear(block: Block, request: Request, out: Arrays, values: Values) -> None:
    """Fill the matrices of deviations from the motion, where some are wanted."""
    if names := request.of("linear"):
        loads = [each.load for each in block.trajectories]
        loaded = [number for number, load in enumerate(loads) if load is not None]
        linear = Linear(request, block.kernel, loads, len(block.times))
        matrices = linear.strip(loaded[0] if loaded else 0, values)  # all are in the same axes
        for name in names:
            out[name][...] = matrices[name]


def _reactions(values: Values, limb: int, names: Sequence[str], times: int) -> Arrays:
    """Return series of reactions of one limb (case, time, joint, ...)."""
    rows = {name: time_first(values[Indexed(name, limb)], times) for name in names}
    return {name: row.reshape(*row.shape[:2], -1, *after_joints(name)) for name, row in rows.items()}
