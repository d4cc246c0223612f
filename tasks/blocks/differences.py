"""Derivatives of quantities of a block by extrapolated differences: of simulations, fastest motions, laws with a state.

These quantities are no programs of parameters: steps of a simulation end where friction sticks or a joint meets a stop,
and the fastest motion changes its limit. Where such events depend smoothly on parameters, differences of the whole
computation are accurate, see `tasks.mathematics.extrapolation`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from robots.data_classes import dataclass, replace
from robots.derivatives import derivative, derivative_status, is_series
from robots.dims import FRICTION, GAINS, STATE
from robots.quantities import QUANTITIES, simulated
from robots.status import Status
from tasks.blocks.block import Block, BlockDerivatives
from tasks.blocks.derived_series import PARTS, largest
from tasks.blocks.designs import BlockDesigns
from tasks.blocks.pool import Arrays
from tasks.kernels.advance import span
from tasks.mathematics.extrapolation import DISTANCES, FARTHEST, OFFSETS, POINTS, ROUNDING, SCALES, Slopes

ACCURATE = 1e-3
"""Largest error of a derivative, relative to the largest rate along the motion, with which it counts as known.

Errors are some 1e-10 of smooth motions. Where an event, such as a stop of dry friction, moves from one step of the
integrator to the next, the error of the method changes, and slopes by up to 1e-4 with it.
"""

APART = 1e-3
"""Difference of the derivatives from both sides, relative to the same rate, beyond which the point is a kink."""

ONE_SIDED = 1e-2
"""Largest error of a one-sided derivative, relative to the same rate."""

LITTLE = 64
"""Least number of cases whose points are computed together, even in smaller blocks."""

MISSING = -1
"""Status of a derivative of something that the robot does not have."""

WORST, GRAVITY = "worst_status", "gravity"

CASES = ("design", FRICTION, "trajectory", GAINS, STATE)

Compute = Callable[[Block], Arrays]
"""Function that computes the metrics and series of a block, in the dims of the dataset."""


def difference_arrays(block: Block, requested: BlockDerivatives, compute: Compute) -> Arrays:
    """Compute derivatives and their statuses by differences, in the dims of the dataset.

    block: a block without derivatives; its metrics and series contain the quantities to differentiate. Designs are
    computed in groups, so that the points of a group take no more memory than the block, except a few groups of lanes.
    """
    cases = len(block.friction) * len(block.trajectories)
    count = len(block.designs)
    step = max(-(-count // POINTS), LITTLE // cases, 1)
    parts = []
    for start in range(0, count, step):
        designs = slice(start, min(start + step, count))
        part = replace(block, designs=block.designs.take(designs))
        with span(start / count, designs.stop / count):
            parts.append(_Differences(part, requested.cut(designs, slice(None)), compute).arrays())
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


class _Differences:
    """Derivatives of some designs of a block."""

    def __init__(self, block: Block, requested: BlockDerivatives, compute: Compute):
        self.block, self.requested, self.compute = block, requested, compute
        self.middle = compute(block)

    def arrays(self) -> Arrays:
        """Return derivatives and statuses, one after the other along the dim of parameters."""
        slopes: dict[str, list[np.ndarray]] = {name: [] for name in self.requested.quantities}
        statuses: dict[str, list[np.ndarray]] = {name: [] for name in self.requested.quantities}
        for number in range(self.requested.count):
            with span(number / self.requested.count, (number + 1) / self.requested.count):
                moved = self._moved(number)
            for name in self.requested.quantities:
                both, status = self._judged(name, moved)
                kink = (status == Status.KINK)[..., None]
                slopes[name].append(both if self.requested.sides else np.where(kink, np.nan, both).mean(axis=-1))
                statuses[name].append(
                    np.broadcast_to(status[..., None], both.shape) if self.requested.sides else status
                )
        axis = -2 if self.requested.sides else -1
        result: Arrays = {}
        for name in self.requested.quantities:
            result[derivative(name)] = np.ascontiguousarray(np.stack(slopes[name], axis=axis))
            result[derivative_status(name)] = np.ascontiguousarray(np.stack(statuses[name], axis=axis), dtype=np.int8)
        return result

    def _dims(self, name: str) -> tuple[str, ...]:
        """Return the dims of an array of the block."""
        if self.block.simulation is None:
            return self.block.dims(name)
        varied = self.block.simulation.dims
        return tuple(dim for dim in simulated(QUANTITIES[name]).dims if dim not in (GAINS, STATE) or dim in varied)

    def _moved(self, number: int) -> _Moved:
        """Return how quantities change along a parameter; a parameter moves along one axis alone."""
        dim, rows, table = next(self._tables(number))
        lengths = _lengths(table, rows)
        apart = OFFSETS[:, None] * lengths
        ends = table + apart[..., None] * rows
        outside = self._outside(dim, ends)
        return _Moved(dim, lengths, self._computed(dim, np.where(outside[..., None], table, ends)), outside)

    def _outside(self, dim: str, tables: np.ndarray) -> np.ndarray:
        """Return where numbers are beyond their bounds (point, row): of the robot, and friction below zero."""
        if dim == "design":
            bounds = np.array([(parameter.lower, parameter.upper) for parameter in self.block.family.parameters])
            return np.asarray(((tables < bounds[:, 0]) | (tables > bounds[:, 1])).any(axis=-1))
        if dim == FRICTION:
            return np.asarray(((tables < 0.0) & (self.block.friction >= 0.0)).any(axis=-1))
        return np.zeros(tables.shape[:-1], dtype=bool)

    def _tables(self, number: int) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
        """Yield the axes that a parameter moves: dim, rates (row or 1, number), and the table itself (row, number)."""
        block, requested, designs = self.block, self.requested, self.block.designs
        tables = [("design", requested.parameters, designs.parameters), (FRICTION, requested.friction, block.friction)]
        tables.append((GRAVITY, requested.gravity, designs.gravity))
        if block.simulation is not None:
            extra = len(requested.offsets) - block.simulation.state.shape[1]
            state = np.pad(block.simulation.state, ((0, 0), (0, extra)))
            tables += [(GAINS, requested.gains, block.simulation.gains), (STATE, requested.start, state)]
        for dim, rates, table in tables:
            if rates.shape[1] and rates[:, number].any():
                yield dim, rates[:, number], table

    def _computed(self, dim: str, tables: np.ndarray) -> Arrays:
        """Return quantities (point, ...) where the table of an axis is each of `tables` (point, row, number)."""
        block, rows = self.block, tables.reshape(-1, tables.shape[-1])
        parameters, gravity = block.designs.parameters, block.designs.gravity
        if dim == GRAVITY and block.simulation is not None:
            moved = [replace(block, designs=BlockDesigns(parameters, row[None])) for row in rows]
            part = [self.compute(each) for each in moved]
            return {name: np.stack([arrays[name] for arrays in part]) for name in self.middle}
        if dim == "design":
            gravity = np.tile(gravity, (POINTS, 1)) if len(gravity) > 1 else gravity
            return self._of_designs(BlockDesigns(rows, gravity))
        if dim == GRAVITY:
            fields = np.repeat(rows, POINTS * len(parameters) // len(rows), axis=0)
            return self._of_designs(BlockDesigns(np.tile(parameters, (POINTS, 1)), fields))
        if dim == FRICTION:
            return self._cut(self.compute(replace(block, friction=rows)), FRICTION, 0)
        return self._of_simulation(dim, rows)

    def _of_designs(self, designs: BlockDesigns) -> Arrays:
        """Return quantities (point, ...) of other designs (point times design)."""
        return self._cut(self.compute(replace(self.block, designs=designs)), "design", 0)

    def _of_simulation(self, dim: str, rows: np.ndarray) -> Arrays:
        """Return quantities (point, ...) of simulations with other gains, or other starts."""
        block, before = self.block, self.block.simulation
        assert before is not None
        dims = tuple(name for name in (GAINS, STATE) if name in before.dims or name == dim)
        moved = replace(before, gains=rows) if dim == GAINS else replace(before, state=rows)
        moved = replace(moved, dims=dims, offsets=self.requested.offsets if dim == STATE else before.offsets)
        arrays = self._cut(self.compute(replace(block, simulation=moved)), dim, 1)
        if dim in before.dims:
            return arrays
        return {name: array.squeeze(axis=1 + CASES.index(dim) - (dim == STATE and GAINS not in before.dims))
                for name, array in arrays.items()}  # fmt: skip

    def _cut(self, arrays: Arrays, dim: str, added: int) -> Arrays:
        """Return arrays whose axis `dim` has all points as (point, ...); an array without it is equal at all points.

        added: 1 if arrays of the block may lack this axis.
        """
        result: Arrays = {}
        for name, array in arrays.items():
            dims = self._dims(name)
            places = [part for part in CASES if part in dims or (added and part == dim)]
            if dim not in places:
                result[name] = np.broadcast_to(array, (POINTS, *array.shape))
                continue
            axis = places.index(dim)
            parted = array.reshape(*array.shape[:axis], POINTS, -1, *array.shape[axis + 1 :])
            result[name] = np.moveaxis(parted, axis, 0)
        return result

    def _judged(self, name: str, moved: _Moved) -> tuple[np.ndarray, np.ndarray]:
        """Return slopes (..., side) of a quantity along a parameter, and their statuses."""
        dims, middle = self._dims(name), self.middle[name]
        lengths = _along(moved.lengths, moved.dim, dims)
        outside = np.stack([_along(row, moved.dim, dims) for row in moved.outside])
        found = Slopes.of(middle, moved.arrays[name], lengths, outside)
        sides, both = found.sides, found.both
        axes = tuple(k for k, dim in enumerate(dims) if dim not in (*PARTS, GAINS, STATE)) if is_series(name) else ()
        floor = ROUNDING * largest(middle, axes) / lengths
        with np.errstate(invalid="ignore"):
            scale = np.fmax.reduce([largest(x.values, axes) for x in (*sides, both)])
            differ = np.abs(sides[1].values - sides[0].values)
            kink = differ > APART * scale + 2.0 * (sides[0].errors + sides[1].errors) + floor / DISTANCES[-1] * FARTHEST
            unknown = ~kink & ~(both.errors <= ACCURATE * scale + floor)
            sure = [side.errors <= ONE_SIDED * scale + floor for side in sides]
        one_sided = np.stack([np.where(good, x.values, np.nan) for good, x in zip(sure, sides, strict=True)], axis=-1)
        slopes = np.where((kink | unknown)[..., None], one_sided, both.values[..., None])
        return slopes, self._statuses(name, moved, slopes, kink | unknown)

    def _statuses(self, name: str, moved: _Moved, slopes: np.ndarray, kink: np.ndarray) -> np.ndarray:
        """Return statuses: that of the case or sample, or of those nearest along the parameter, KINK, or OK."""
        of = "status" if is_series(name) else WORST
        nearest = moved.arrays[of][[SCALES - 1, POINTS - 1]].max(axis=0)
        here, near = (self._fitted(array, of, name) for array in (self.middle[of], nearest))
        missing = np.isnan(self.middle[name])
        statuses = np.where(kink, np.int8(Status.KINK), np.int8(Status.OK))
        statuses = np.where(np.isnan(slopes).all(axis=-1) & (near != Status.OK), near, statuses)
        statuses = np.where(missing, np.where(near != Status.OK, near, MISSING), statuses)
        return np.where(here != Status.OK, here, statuses)

    def _fitted(self, statuses: np.ndarray, of: str, name: str) -> np.ndarray:
        """Return statuses in the dims of a quantity: the largest along all other dims."""
        dims, wanted = list(self._dims(of)), self._dims(name)
        for dim in [dim for dim in dims if dim not in wanted]:
            statuses = statuses.max(axis=dims.index(dim))
            dims.remove(dim)
        shape = dict(zip(dims, statuses.shape, strict=True))
        return statuses.reshape(tuple(shape.get(dim, 1) for dim in wanted))


@dataclass(frozen=True)
class _Moved:
    """Quantities (point, ...) along a parameter that moves along the axis `dim`; lengths (row,) of the parameter.

    First come points below, then points above, both from the farthest on. Points `outside` (point, row) of the bounds
    of the parameter have the value of the middle. If the nearest point is outside, the parameter moves only to the
    other side.
    """

    dim: str
    lengths: np.ndarray
    arrays: Arrays
    outside: np.ndarray


def _lengths(table: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Return the least size of the moved numbers over their rates (row,); 1 for numbers that are zero."""
    with np.errstate(divide="ignore", invalid="ignore"):
        sizes = np.abs(table / rates)
    least = np.where(np.isfinite(sizes) & (sizes > 0.0), sizes, np.inf).min(axis=1)
    return np.where(np.isfinite(least), least, 1.0)


def _along(lengths: np.ndarray, dim: str, dims: Sequence[str]) -> np.ndarray:
    """Return the lengths of the rows of an axis as an array that goes with dims."""
    axis = "design" if dim == GRAVITY else dim
    if axis not in dims or len(lengths) == 1:
        return np.reshape(lengths[:1], (1,) * len(dims))
    return lengths.reshape([len(lengths) if part == axis else 1 for part in dims])
