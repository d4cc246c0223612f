"""Workspaces of points that a sweep file lists, or of a grid in the convex hull of these.

    reach: {kind: workspace_hull, points: [[-0.2, 0, 0], [0.2, 0, 0], [0, 0.2, 0], [0, 0, -0.2]]}
    hull: {kind: workspace_hull, points: [...], spacing: 0.05}

With `spacing` [m] the points are corners, and those of a grid in their hull are added.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from pipeline.documents.document import KeyPath
from pipeline.documents.report import Got, Report
from pipeline.sweep.trajectories.mobility import check_held
from pipeline.sweep.trajectories.values import Mover, is_number
from robots.trajectories.trajectory import Trajectory

KIND, OF_POINTS = "workspace_hull", "workspace_points"
MOST = 1_000_000
"""Points of a workspace."""
INSIDE = 1e-9
"""Distance beyond a side of a hull, over its size, up to which a point is in it."""


def trajectories(
    report: Report, name: str, section: Mapping[str, Any], path: KeyPath, mover: Mover
) -> Iterator[Trajectory]:
    """Yield the workspace of a section; problems go to `report`."""
    if mover.joints:
        report((*path, "kind"), KIND, f"a kind of motion of {mover}")
        return
    report.require_known_keys(path, section, ("kind", "points", "spacing"))
    points, spacing = _points(report, section.get("points"), path), section.get("spacing")
    if points is None:
        return
    volume = 0.0
    if spacing is not None:
        if not is_number(report, spacing, (*path, "spacing")):
            return
        found = _hull(report, points, float(spacing), (*path, "spacing"))
        if found is None:
            return
        points, volume = found
    table = np.column_stack([np.arange(len(points)), points])
    trajectory = Trajectory(OF_POINTS, {"volume": volume}, table, name=name)
    check_held(report, trajectory, path, mover.mobility)
    yield trajectory


def _points(report: Report, rows: object, path: KeyPath) -> np.ndarray | None:
    """Return a list of points (n, 3) [m]; None for other values, which are reported."""
    place = (*path, "points")
    if not isinstance(rows, list) or len(rows) < 2 or not all(isinstance(row, list) and len(row) == 3 for row in rows):
        got = Got("no points") if rows is None else rows
        report(path if rows is None else place, got, "points, a list of at least two places [x, y, z] [m]")
        return None
    sound = [is_number(report, x, (*place, k, axis)) for k, row in enumerate(rows) for axis, x in enumerate(row)]
    return np.array(rows, dtype=float) if all(sound) else None


def _hull(report: Report, corners: np.ndarray, spacing: float, path: KeyPath) -> tuple[np.ndarray, float] | None:
    """Return the corners and a grid in their convex hull, and its volume; in a plane its area."""
    from scipy.spatial import ConvexHull, QhullError  # slow to import, and few sweeps have a hull

    spans = np.ptp(corners, axis=0)
    axes = np.flatnonzero(spans > INSIDE * spans.max())
    counts = np.floor(spans[axes] / spacing) if spacing > 0.0 else np.full(len(axes), np.inf)
    if not np.prod(counts + 1.0) <= MOST:
        report(path, spacing, f"a distance above zero with at most {MOST:,} points in the box of the hull")
        return None
    try:
        hull = ConvexHull(corners[:, axes])
    except (QhullError, ValueError):
        hint = "Leave spacing out to take the points alone."
        report(path, Got("points on a line or in an oblique plane"), "points with a hull", hint)
        return None
    lines = [
        low + 0.5 * (span - n * spacing) + spacing * np.arange(int(n) + 1)
        for low, span, n in zip(corners[:, axes].min(axis=0), spans[axes], counts, strict=True)
    ]
    grid = np.stack([x.ravel() for x in np.meshgrid(*lines, indexing="ij")], axis=1)
    within = (grid @ hull.equations[:, :-1].T + hull.equations[:, -1] <= INSIDE * spans.max()).all(axis=1)
    inner = np.tile(corners[0], (int(within.sum()), 1))
    inner[:, axes] = grid[within]
    return np.concatenate([corners, inner]), float(hull.volume)
