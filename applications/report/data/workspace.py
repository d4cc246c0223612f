"""Positions of the platform of a case and quantities that colour them, as maps of a workspace.

A map is a grid of points, cut into slices along the axis with the fewest points.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from applications.report.data.case import MOST_TRAJECTORIES, DesignCase
from applications.report.data.results import Results
from pipeline.execution.conventions import units_of
from robots.data_classes import dataclass
from robots.model import Robot
from robots.status import Status

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Colour:
    """A quantity of every position, (trajectory, time), NaN where it is undefined; `shared` by all designs."""

    label: str
    values: Array
    shared: bool = False


def visited(case: DesignCase) -> Array | None:
    """Return positions of the platform (trajectory, time, 3) [m]; None of a chain, or where they are not known."""
    return np.asarray(case.results["platform_position"].values, float) if "platform_position" in case.results else None


def choices(results: Results, case: DesignCase) -> tuple[Colour, ...]:
    """Collect the quantities that positions can be coloured by."""
    return (*own_colours(case), *_known(_of_all(results, case)))


def own_colours(case: DesignCase) -> tuple[Colour, ...]:
    """Collect the quantities of one design alone that its positions can be coloured by."""
    return _known(_of_case(case))


def _known(colours: Iterator[Colour]) -> tuple[Colour, ...]:
    return tuple(colour for colour in colours if np.isfinite(colour.values).any())


def _of_case(case: DesignCase) -> Iterator[Colour]:
    if "actuator_force" in case.results:
        force = case.results["actuator_force"]
        units = units_of(force.attrs)
        kind = "torque" if units == "N m" else "force"
        yield Colour(f"largest {kind} of an actuator [{units}]", np.abs(force.values).max(axis=-1))
    if case.robot is not None and (position := visited(case)) is not None:
        rotation = case.results["platform_rotation"].values if "platform_rotation" in case.results else None
        yield Colour("condition number of J_IK", conditions(case.robot, position, rotation))


def conditions(robot: Robot, position: Array, rotation: Array | None = None) -> Array:
    """Compute condition numbers of J_IK in common units, of which `condition` is the largest.

    position (*batch, 3), rotation (*batch, 3, 3): of the platform, as in its home pose without one.
    """
    from tasks import inverse_dynamics
    from tasks.stages.metrics.poses import weights

    time = 0.0 if robot.family.signals else None  # J_IK is the same at all times
    kinematics = inverse_dynamics(robot, position=position, rotation=rotation, time=time)
    values = np.full(kinematics.status.shape, np.nan)
    good = np.isfinite(kinematics.jacobian).all(axis=(-1, -2))
    jacobian = kinematics.jacobian[good] / weights(robot.family.reference)
    rates = np.linalg.svd(jacobian, full_matrices=False, compute_uv=False)
    with np.errstate(divide="ignore"):  # of a singular pose it is infinite
        values[good] = rates[:, 0] / rates[:, -1]
    return values


def _of_all(results: Results, case: DesignCase) -> Iterator[Colour]:
    if "status" in results.dataset and results.designs.count > 1:
        status = results.dataset["status"].isel(
            trajectory=slice(MOST_TRAJECTORIES), time=slice(None, None, case.stride)
        )
        dims = [dim for dim in status.dims if dim not in ("trajectory", "time")]
        share = 100.0 * (status == 0).where(status != int(Status.ENDED)).mean(dims).transpose("trajectory", "time")
        yield Colour("designs that reach it [%]", share.values, shared=True)


def square(points: Array) -> list[list[float]]:
    """Return ranges of two axes, equally long, around points (n, 2): a flat path keeps readable axes."""
    low, high = np.nanmin(points, axis=0), np.nanmax(points, axis=0)
    half = 0.55 * float((high - low).max()) or 0.5
    return [[float(middle - half), float(middle + half)] for middle in (low + high) / 2]


def views(position: Array) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the two planes in which positions are shown: from above, and from the side of greater extent."""
    extent = np.ptp(position, axis=0)
    return (0, 1), ((0, 2) if extent[0] >= extent[1] else (1, 2))


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
        """Return whether the grid has more than one slice."""
        return len(self.axes[self.order[2]]) > 1

    def slices(self, values: Array) -> Array:
        """Return the values of all points (point,), x fastest, as slices (through, up, across)."""
        x, y, z = (len(axis) for axis in self.axes)
        across, up, through = self.order
        return np.asarray(values)[: x * y * z].reshape(z, y, x).transpose(2 - through, 2 - up, 2 - across)

    def plain(self) -> dict[str, Any]:
        """Return the grid in types of JSON."""
        axes = [axis.tolist() for axis in self.axes]
        return {"trajectory": self.trajectory, "name": self.name, "axes": axes, "order": self.order}


def grids(case: DesignCase) -> tuple[WorkspaceGrid, ...]:
    """Return the workspaces of a case."""
    return tuple(_grids(case))


def _grids(case: DesignCase) -> Iterator[WorkspaceGrid]:
    position = visited(case)
    for index, name in enumerate(case.trajectories):
        counts = case.grid(index)
        if counts and position is not None:
            points = position[index, : math.prod(counts)].reshape(*counts, 3)
            yield WorkspaceGrid(index, name, (points[0, 0, :, 0], points[0, :, 0, 1], points[:, 0, 0, 2]))
