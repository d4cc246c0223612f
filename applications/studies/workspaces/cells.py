"""Region of a box in which a condition holds: cells, and points of the boundary.

Cells are cut in halves where their corners differ. All corners lie on one lattice of whole numbers; the results at
corners are kept. A region is not seen if it is smaller than a cell of the first grid and meets no corner of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from applications.studies.columns import Array, Mask
from robots.data_classes import dataclass

States = Callable[[Array], tuple[Mask, Mask]]
"""Function of points (n, axis) that tells where all conditions hold, and which points are reached at all."""
Lattice = NDArray[np.intp]
UNASKED = -1


@dataclass(frozen=True)
class CellTree:
    """The lattice over a box from `low` on, `step` (axis,) apart: states of corners, and of cells of the finest size.

    `holds` (point, ...) of corners is 1, 0, or UNASKED; `share` (cell, ...) is how much of a cell holds, `reached` how
    much of it is reached: 1, 0, or the share of its corners where these differ.
    """

    low: Array
    step: Array
    holds: NDArray[np.int8]
    share: Array
    reached: Array
    finest: Lattice
    """Cells (n, axis) of the finest size, of which some corners hold and some do not."""

    @property
    def cell(self) -> float:
        """Volume of a finest cell."""
        return float(np.prod(self.step))

    def place(self, lattice: Lattice | Array) -> Array:
        """Return the coordinates (n, axis) of points of the lattice."""
        return np.asarray(self.low + lattice * self.step)

    def with_home(self, home: Array) -> Mask:
        """Return a mask of cells (cell, ...) connected to that of a point, through cells that at least partly hold."""
        numbers, _ = ndimage.label(self.share > 0.0)
        number = numbers[self._cells(home)]
        return np.asarray((numbers == number) & (number > 0))

    def straight(self, home: Array, points: Array, inner: Mask) -> Mask:
        """Return whether the straight way from a point to each of `points` (n, axis) stays in cells of `inner`."""
        steps = 2 * int(np.ceil(np.abs((points - home) / self.step).max(initial=1.0)))
        clear = np.ones(len(points), bool)
        for share in np.linspace(0.0, 1.0, steps + 1):
            clear[clear] = inner[self._cells(home + share * (points[clear] - home))]
        return clear

    def _cells(self, points: Array) -> tuple[Any, ...]:
        """Return the cells in which points (..., axis) are, as an index; those beyond the box count to its edge."""
        cells = ((points - self.low) / self.step).astype(int)
        return tuple(np.moveaxis(np.clip(cells, 0, np.array(self.share.shape) - 1), -1, 0))


def refined(states: States, low: Array, high: Array, first: int, levels: int) -> CellTree:
    """Cut a box into `first` cells along each axis, and cells on the boundary in halves, `levels` times."""
    axes, size = len(low), first << levels
    step = (high - low) / size
    holds, reached = (np.full((size + 1,) * axes, UNASKED, np.int8) for _ in range(2))
    share, reach = np.zeros((size,) * axes), np.zeros((size,) * axes)
    corners = np.stack(np.meshgrid(*[[0, 1]] * axes, indexing="ij"), axis=-1).reshape(-1, axes)
    grid = np.stack(np.meshgrid(*[np.arange(first)] * axes, indexing="ij"), axis=-1).reshape(-1, axes)
    cells, mixed = grid << levels, np.zeros(0, bool)
    for level in range(levels, -1, -1):
        width = 1 << level
        points = cells[:, None] + width * corners
        requested_points = np.unique(points.reshape(-1, axes), axis=0)
        requested_points = requested_points[holds[tuple(requested_points.T)] == UNASKED]
        if len(requested_points):
            holds[tuple(requested_points.T)], reached[tuple(requested_points.T)] = states(low + requested_points * step)
        shares = [of[tuple(np.moveaxis(points, -1, 0))].mean(axis=1) for of in (holds, reached)]
        mixed = (shares[0] % 1.0 != 0.0) | (shares[1] % 1.0 != 0.0)
        for array, value in zip((share, reach), shares, strict=True):
            for offset in np.ndindex(*(width,) * axes):  # cells of one size side by side
                array[tuple((cells + offset).T)] = value
        if level:
            cells = (cells[mixed][:, None] + (width >> 1) * corners).reshape(-1, axes)
    edge = (shares[0] % 1.0) != 0.0
    return CellTree(low, step, holds, share, reach, cells[edge])


def boundary(states: States, tree: CellTree, cells: Lattice, halvings: int) -> tuple[Array, Array]:
    """Return point pairs (n, axis) on edges of cells, an edge over 2^halvings apart; conditions hold at the first."""
    axes = len(tree.low)
    inside, outside = [], []
    for axis in range(axes):
        for offset in np.ndindex(*(2,) * axes):
            if offset[axis]:
                continue
            start = cells + offset
            end = start.copy()
            end[:, axis] += 1
            a, b = (tree.holds[tuple(x.T)] for x in (start, end))
            for good, bad, rows in ((start, end, (a == 1) & (b == 0)), (end, start, (a == 0) & (b == 1))):
                inside.append(good[rows])
                outside.append(bad[rows])
    pairs = np.unique(np.concatenate([np.concatenate(inside), np.concatenate(outside)], axis=1), axis=0)
    return halved(states, tree.place(pairs[:, :axes]), tree.place(pairs[:, axes:]), halvings)


def halved(states: States, inside: Array, outside: Array, halvings: int) -> tuple[Array, Array]:
    """Return closer pairs (n, axis), by bisection between points where conditions hold and points where they fail."""
    for _ in range(halvings):
        if not len(inside):
            break
        middle = (inside + outside) / 2.0
        good = states(middle)[0][:, None]
        inside, outside = np.where(good, middle, inside), np.where(good, outside, middle)
    return inside, outside
