"""Samples behind the end of trajectories that have fewer than the longest of their sweep, and cuts by time grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from robots.derivatives import derivative, derivative_status
from robots.dims import selected_dims
from robots.quantities import QUANTITIES
from robots.status import Status
from tasks.blocks.block import Block
from tasks.blocks.pool import Arrays, empty

TIME, TRAJECTORY = "time", "trajectory"
PLACE_OF_USER = 2
"""Axis of trajectories of a metric of a user's own."""


def by_grid(block: Block) -> list[Block]:
    """Cut a block into blocks of one trajectory each if their time grids differ; else keep it whole."""
    if len({trajectory.grid for trajectory in block.trajectories}) < 2:
        return [block]
    alone = [(one, one.grid.values) for one in block.trajectories if one.grid is not None]
    return [replace(block, trajectories=(one,), times=times) for one, times in alone]


def joined(blocks: Sequence[Block], parts: Sequence[Arrays]) -> Arrays:
    """Join the arrays of blocks that were cut by `by_grid`, in their order."""
    if len(parts) == 1:
        return parts[0]
    axes = {name: _axis(block, name, array, TRAJECTORY) for block in blocks[:1] for name, array in parts[0].items()}
    return {
        name: parts[0][name] if axis is None else np.concatenate([part[name] for part in parts], axis=axis)
        for name, axis in axes.items()
    }


def with_ended(block: Block, arrays: Arrays) -> Arrays:
    """Return the arrays of a block with as many samples as the dataset has: NaN behind the end, with status ENDED."""
    if block.length <= len(block.times):
        return arrays
    return {name: _lengthened(block, name, array) for name, array in arrays.items()}


def _lengthened(block: Block, name: str, array: np.ndarray) -> np.ndarray:
    axis = _axis(block, name, array, TIME)
    if axis is None:
        return array
    shape = (*array.shape[:axis], block.length, *array.shape[axis + 1 :])
    result = empty(shape, array.dtype)
    places = np.moveaxis(result, axis, 0)
    places[: array.shape[axis]] = np.moveaxis(array, axis, 0)
    places[array.shape[axis] :] = np.nan if array.dtype.kind == "f" else Status.ENDED
    return result


def _axis(block: Block, name: str, array: np.ndarray, dim: str) -> int | None:
    """Return the axis of a dim in the array of a variable; None if the variable lacks the dim.

    The axis counts from the last one, as dims of cases, which friction and simulations decide, come first.
    """
    requested = block.derivatives
    of = {} if requested is None else {derivative(base): base for base in requested.quantities}
    of |= {} if requested is None else {derivative_status(base): base for base in requested.quantities}
    row = QUANTITIES.get(of.get(name, name))
    if row is None:  # a metric of a user's own: design, friction, trajectory, then others
        return PLACE_OF_USER if dim == TRAJECTORY else None
    if dim not in row.dims:
        return None
    after = row.dims[row.dims.index(dim) + 1 :]
    if name in block.selection.series:
        after = selected_dims(after)
    extra = (1 + requested.sides) if requested is not None and name in of else 0
    return array.ndim - 1 - len(after) - extra
