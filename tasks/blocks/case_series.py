"""Series of simulated cases, from the stages of inverse dynamics over them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robots.dims import FRICTION, GAINS, STATE
from robots.quantities import QUANTITIES
from robots.status import Status
from tasks.blocks.block import Block
from tasks.blocks.case_stages import CaseStages
from tasks.blocks.linear import Linear
from tasks.blocks.pool import Arrays
from tasks.blocks.series import fill_of_stages, platform_series, wide
from tasks.kernels.kernel import padded
from tasks.kernels.keys import Values
from tasks.stages import stages
from tasks.stages.request import Request

CASE_DIMS = ("design", FRICTION, "trajectory", GAINS, STATE)


def case_series(block: Block, names: Sequence[str], cases: CaseStages, sources: Values, status: np.ndarray) -> Arrays:
    """Return series (case, time, ...) of simulated cases, NaN at samples that are not OK.

    sources (case, component, time): values of the simulation by keys of the stages' values; status (case, time).
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
        fill_of_stages(rows, cases.request, block.groups, values, times)
        _fill_linear(block, cases.request, rows, values)
        unsolved = values["status"][:, 0, :times] != Status.OK
        for array in rows.values():
            array[unsolved] = np.nan
    out |= platform_series(block.family.reference.platform, len(block.times), samples["motion"], names)
    for array in out.values():
        array[status != Status.OK] = np.nan
    return out


def _fill_linear(block: Block, request: Request, out: Arrays, values: Values) -> None:
    """Fill the matrices of deviations from the motion, where some are wanted."""
    if names := request.of("linear"):
        loads = [each.load for each in block.trajectories]
        loaded = [number for number, load in enumerate(loads) if load is not None]
        linear = Linear(request, block.kernel, loads, len(block.times))
        matrices = linear.strip(loaded[0] if loaded else 0, values)  # all are in the same axes
        for name in names:
            out[name][...] = matrices[name]
