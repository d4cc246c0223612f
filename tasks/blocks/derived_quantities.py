"""Derivatives of metrics and series of a block by parameters, with a status each: one-sided ones of both sides.

If both agree, the derivative exists. If they do not agree, another sample becomes the peak, or a size passes zero: the
quantity has a kink, and no derivative. Derivatives by parameters of designs are compared with the quantity itself a
small step away. This also detects a jump: a joint with dry friction is at rest to rounding, so that the sign of its
force is not determined. Designs are computed a few at a time, so that memory does not grow with the block.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from robots.derivatives import SIDES, derivative, derivative_status
from robots.devices import CPU
from robots.dims import FRICTION
from robots.quantities import QUANTITIES
from robots.requested import QuantityNames
from robots.status import Status
from tasks.blocks.block import Block, BlockDerivatives
from tasks.blocks.derived_series import MetricRates, largest
from tasks.blocks.differences import MISSING, WORST, Compute, difference_arrays
from tasks.blocks.gradients import AHEAD, PART, Directions, metric_rates
from tasks.blocks.pool import Arrays
from tasks.kernels.advance import span
from tasks.stages.stages import DERIVED_STRIP

CASE = ("design", FRICTION, "trajectory")

AGREE = 1e-9
"""Difference of both sides, relative to the largest rate along the motion, up to which they are one derivative."""

ROUNDING = 1e-11
"""Change of a metric over the length of its parameter, relative to the metric, that counts as rounding."""

ROOTED = ("rms_force", "rms_power", "rms_current", "rms_velocity", "peak_reaction", "thermal_margin")
"""Metrics that are the root of a sum of squares, whose derivative at zero is not known."""

STEP = 1e-6
"""Step over which derivatives are held to their metric, relative to the parameters that move; absolute at zero."""

SHARES = (1.0, 1e-2, 1e-4)
"""Shares of the step: where a metric is off over one, the next tells curvature, such as near the end of the reach."""

HELD = 1e-3
"""Largest difference, relative to the largest rate along the motion, between a derivative and that over the step."""

CURVATURE = 1e-8
"""Change of a metric over the step, relative to it, that may be rounding or curvature."""


def derivative_arrays(block: Block, compute: Compute) -> Arrays:
    """Compute the derivatives that a block stores, and their statuses, in the dims of the dataset."""
    requested = block.derivatives
    if requested is None or not requested.quantities:
        return {}
    plain = replace(block, extra=(), own=())
    plain = replace(plain, derivatives=None, measurement=None, single=False, device=CPU)
    exact, differenced = _parted(block, requested)
    result: Arrays = {}
    if differenced.quantities:
        series = (*differenced.series, *(("status",) if differenced.series else ()))
        result |= difference_arrays(
            replace(plain, quantities=QuantityNames(series, (*differenced.metrics, WORST))), differenced, compute
        )
    if exact.quantities:
        plain = replace(plain, quantities=QuantityNames(exact.series, (*exact.metrics, WORST)))
        strips = []
        for designs in _designs(block, exact):
            with span(designs.start / len(block.designs), designs.stop / len(block.designs)):
                strips.append(_strip(plain, exact, designs, compute))
        result |= {name: np.concatenate([strip[name] for strip in strips]) for name in strips[0]}
    return result


def _parted(block: Block, requested: BlockDerivatives) -> tuple[BlockDerivatives, BlockDerivatives]:
    """Return the derivatives that programs give exactly, and the others."""
    programs = block.simulation is None and not any(group.remembers for group in block.groups)
    exact = tuple(name for name in requested.quantities if programs and QUANTITIES[name].stage != "path")
    differenced = tuple(name for name in requested.quantities if name not in exact)
    return replace(requested, quantities=exact), replace(requested, quantities=differenced)


def _designs(block: Block, requested: BlockDerivatives) -> Iterator[slice]:
    """Yield designs that are differentiated at a time; series are held for all cases of these."""
    samples = min(len(block.times), PART)
    if requested.series:
        samples = len(block.times) * len(block.trajectories) * len(block.friction)
    step = max(1, DERIVED_STRIP // (2 * requested.count * samples))
    for start in range(0, len(block.designs), step):
        yield slice(start, min(start + step, len(block.designs)))


def _strip(block: Block, requested: BlockDerivatives, designs: slice, compute: Compute) -> Arrays:
    """Return derivatives and statuses of some designs."""
    part = replace(block, designs=block.designs.take(designs))
    directions = _both_sides(requested, len(part.designs), designs)
    both = metric_rates(part, directions, kind=AHEAD, series=requested.series)
    off = _off(part, directions, both, compute)
    steps = _steps(part, directions)
    result: Arrays = {}
    for name in requested.quantities:
        floor = _floor(both[name], steps)
        reasons = both[name].statuses if name in requested.series else _worst(part, name, both[WORST])
        assert reasons is not None
        slopes, statuses = _judged(name, both[name], (off[name], floor), reasons)
        stored = slopes if requested.sides else slopes.mean(axis=-1)
        kink = statuses == Status.KINK
        result[derivative(name)] = np.ascontiguousarray(stored if requested.sides else np.where(kink, np.nan, stored))
        shape = result[derivative(name)].shape
        codes = np.broadcast_to(statuses[..., None], shape) if requested.sides else statuses
        result[derivative_status(name)] = np.ascontiguousarray(codes, dtype=np.int8)
    return result


def _both_sides(requested: BlockDerivatives, count: int, designs: slice) -> Directions:
    """Return the directions of all parameters, to larger values and then to smaller ones."""

    def of(rows: np.ndarray, part: slice) -> np.ndarray:
        chosen = rows if len(rows) == 1 else rows[part]
        return np.concatenate([chosen, -chosen], axis=1)

    parameters = np.broadcast_to(
        of(requested.parameters, designs), (count, 2 * requested.count, requested.parameters.shape[2])
    )
    return Directions(parameters, of(requested.friction, slice(None)), of(requested.gravity, designs))


def _steps(block: Block, directions: Directions) -> np.ndarray:
    """Return steps along the directions (design, direction); zero along numbers of friction and gravity."""
    rows, along = block.designs.parameters, np.asarray(directions.parameters)
    with np.errstate(divide="ignore", invalid="ignore"):
        sizes = np.abs(rows[:, None] / along)
    least = np.where(np.isfinite(sizes) & (sizes > 0.0), sizes, np.inf).min(axis=2)
    return np.asarray(STEP * np.where(np.isfinite(least), least, 1.0) * along.any(axis=2))


def _moved(block: Block, along: np.ndarray, steps: np.ndarray, compute: Compute) -> Arrays:
    """Return quantities (direction, design, ...) at the ends of steps along directions of parameters."""
    rows, count = block.designs.parameters, along.shape[1]
    ends = (rows[:, None] + steps[..., None] * along).reshape(-1, rows.shape[1])
    ends_metrics = compute(replace(block, designs=block.designs.moved(ends)))
    return {name: np.moveaxis(x.reshape(len(rows), count, *x.shape[1:]), 1, 0) for name, x in ends_metrics.items()}


def _off(block: Block, directions: Directions, both: Mapping[str, MetricRates], compute: Compute) -> Arrays:
    """Return masks (direction, design, ...) of quantities that jump within all SHARES of a step ahead."""
    steps, along = _steps(block, directions), np.asarray(directions.parameters)
    names = [name for name in both if name != WORST]
    result: Arrays = {}
    designs = np.arange(len(block.designs))
    for share in SHARES:
        part, short = replace(block, designs=block.designs.take(designs)), share * steps[designs]
        moved = _moved(part, along[designs], short, compute)
        masks = {name: _deviates(both[name].take(designs), moved[name], short) for name in names}
        for name, mask in masks.items():
            whole = result.setdefault(name, np.zeros((mask.shape[0], len(block.designs), *mask.shape[2:]), dtype=bool))
            whole[:, designs] = mask
        every = [mask.any(axis=(0, *range(2, mask.ndim))) for mask in masks.values()]
        designs = designs[np.any(every, axis=0)]
        if not len(designs):
            break
    return result


def _deviates(both: MetricRates, moved: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """Return a mask (direction, design, ...) of quantities a step ahead that deviate from linear extrapolation."""
    values, rates, sizes = (x[..., 0] for x in (both.values, both.rates, both.sizes))
    step = steps.T.reshape(*steps.T.shape, *(1 for _ in rates.shape[2:]))
    with np.errstate(invalid="ignore"):
        change = np.abs(moved - values - step * rates)
        return (step > 0.0) & (change > HELD * step * sizes + CURVATURE * _levels(both))


def _levels(both: MetricRates) -> np.ndarray:
    """Return the sizes that rounding goes with (design, ...): of a metric its own, of a series the largest."""
    return largest(both.values[..., 0], both.axes)


def _floor(both: MetricRates, steps: np.ndarray) -> np.ndarray:
    """Return the sizes of rates that count as rounding (direction, design, ...); zero along numbers of friction."""
    levels = np.broadcast_to(_levels(both), both.rates.shape[:-1])
    lengths = steps.T.reshape(*steps.T.shape, *(1 for _ in levels.shape[2:])) / STEP
    return ROUNDING * levels / np.where(lengths > 0.0, lengths, np.inf)


def _judged(
    name: str, both: MetricRates, bounds: tuple[np.ndarray, np.ndarray], worst: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return slopes (design, ..., parameter, side) of a quantity, and statuses (design, ..., parameter).

    bounds: mask of slopes that deviate from the quantity, see `_off`, and their rounding, see `_floor`; worst: statuses
    of its cases, see `_worst`, or of its samples.
    """
    values, rates, (off, floor) = both.values[..., 0], both.rates[..., 0], bounds
    count = len(rates) // 2
    above, below = np.moveaxis(rates[:count], 0, -1), -np.moveaxis(rates[count:], 0, -1)
    slopes = np.stack([below, above], axis=-1)
    assert slopes.shape[-1] == len(SIDES)
    statuses = np.zeros(above.shape, dtype=np.int8)
    with np.errstate(invalid="ignore"):
        sizes = both.sizes[..., 0]
        scale = np.moveaxis(np.maximum(sizes[:count], sizes[count:]), 0, -1)
        kink = np.abs(above - below) > AGREE * scale + np.moveaxis(floor[:count], 0, -1)
        if name in ROOTED:
            root = values == (1.0 if name == "thermal_margin" else 0.0)
            kink |= root[..., None]
            slopes[root] = np.nan
    uncertain = np.stack([np.moveaxis(off[count:], 0, -1), np.moveaxis(off[:count], 0, -1)], axis=-1)
    slopes[uncertain] = np.nan
    kink |= uncertain.any(axis=-1)
    statuses[kink] = Status.KINK
    lost = ~np.isfinite(slopes).all(axis=-1) & ~kink
    reasons = np.where(worst != Status.OK, worst, np.where(np.isnan(values), MISSING, Status.NONFINITE))
    statuses = np.where(lost, reasons[..., None], statuses)
    slopes[lost] = np.nan
    return slopes, statuses


def _worst(block: Block, name: str, worst: MetricRates) -> np.ndarray:
    """Return the worst status of the cases of a metric, with axes of length one for its other dims."""
    statuses, inner = worst.values[..., 0], QUANTITIES[name].dims
    if FRICTION in block.dims(WORST) and FRICTION not in block.dims(name):
        statuses = statuses.max(axis=1)
    elif FRICTION in block.dims(name) and FRICTION not in block.dims(WORST):
        statuses = statuses[:, None]
    return statuses.reshape(*statuses.shape, *(1 for dim in inner if dim not in CASE))
