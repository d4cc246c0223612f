"""Workspaces as maps: grids of points, cut into slices along the axis with the fewest points."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.report.data.case import DesignCase
from pipeline.report.data.workspace import visited

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class WorkspaceGrid:
    """A workspace of a case: its trajectory by number and name, and its coordinates along x, y and z [m]."""

    trajectory: int
    name: str
    axes: tuple[Array, Array, Array]

    @property
    def order(self) -> tuple[int, int, int]:
        """The axes across and up a slice, and the one along which slices follow: that with the fewest points."""
        through = min((2, 1, 0), key=lambda axis: len(self.axes[axis]))
        across, up = (axis for axis in range(3) if axis != through)
        return across, up, through

    @property
    def is_deep(self) -> bool:
        """Whether there is more than one slice."""
        return len(self.axes[self.order[2]]) > 1

    def slices(self, values: Array) -> Array:
        """Values of all points (point,), x fastest, as slices (through, up, across)."""
        x, y, z = (len(axis) for axis in self.axes)
        across, up, through = self.order
        return np.asarray(values).reshape(z, y, x).transpose(2 - through, 2 - up, 2 - across)

    def plain(self) -> dict[str, Any]:
        """The grid in types of JSON."""
        axes = [axis.tolist() for axis in self.axes]
        return {"trajectory": self.trajectory, "name": self.name, "axes": axes, "order": self.order}


def grids(case: DesignCase) -> tuple[WorkspaceGrid, ...]:
    """The workspaces of a case."""
    return tuple(_grids(case))


def _grids(case: DesignCase) -> Iterator[WorkspaceGrid]:
    position = visited(case)
    for index, name in enumerate(case.trajectories):
        counts = case.grid(index)
        if counts and position is not None:
            points = position[index].reshape(*counts, 3)
            yield WorkspaceGrid(index, name, (points[0, 0, :, 0], points[0, :, 0, 1], points[:, 0, 0, 2]))
