"""Trajectories that are workspaces, grids of points in place of times: whether they fit the time grid and metrics."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pipeline.documents.report import Got, Report
from pipeline.sweep.reading import SweepReading
from pipeline.sweep.trajectories.values import AXES
from robots.quantities import needing
from robots.trajectories.kinds import is_grid
from robots.trajectories.time_grid import TimeGrid
from robots.trajectories.trajectory import Trajectory
from robots.types import TRANSLATION


def check_workspaces(report: Report, trajectories: Sequence[Trajectory], grid: TimeGrid | None) -> None:
    """Check that every workspace has whole numbers of points, in all as many as its time has samples.

    grid: times of trajectories that have none of their own; None where they are not known.
    """
    for trajectory in trajectories:
        if not is_grid(trajectory.kind):
            continue
        path: tuple[str, ...] = ("trajectories", trajectory.name)
        counts = _counts(trajectory)
        if trajectory.points is None:
            path = (*path, "counts")
        if any(count != int(count) for count in counts):
            report(path, list(counts), "whole numbers of points along x, y and z")
            continue
        points = math.prod(map(int, counts))
        times = trajectory.grid or grid
        if times is not None and times.samples != points:
            got = f"{points} points, and {times.samples} samples of time"
            report(path, Got(got), "as many of both", f"Write time: {{stop: 1, samples: {points}}}.")


def check_volumes(reading: SweepReading) -> None:
    """Check that a volume has a workspace with several points along each axis of the platform, and no other."""
    report, trajectories, mechanism = reading.report, reading.trajectories, reading.mechanism
    wanted = [(index, name) for index, name in enumerate(reading.file.metrics) if name in needing("workspace")]
    if not wanted or mechanism is None or reading.file.simulation:
        return
    for index, name in wanted:
        if other := next((t for t in trajectories if not is_grid(t.kind)), None):
            hint = f"Trajectory {other.name} is a motion; put it into a sweep of its own."
            report(("metrics", index), name, "a metric of workspaces", hint)
    free = [name in mechanism.platform.mobility for name in TRANSLATION]
    for trajectory in trajectories:
        if is_grid(trajectory.kind) and trajectory.values.get("volume") == 0.0:
            hint = "Give spacing, for a grid in their convex hull."
            report(("trajectories", trajectory.name), Got("points alone"), "a shape with a volume", hint)
    along = ", ".join(axis for axis, moves in zip(AXES, free, strict=True) if moves)
    for trajectory in trajectories:
        if is_grid(trajectory.kind) and _extent(trajectory) != free:
            path = ("trajectories", trajectory.name, "counts")
            report(path, list(_counts(trajectory)), f"several points along {along} and one along others, for a volume")


def _counts(trajectory: Trajectory) -> tuple[float, ...]:
    if trajectory.points is not None:
        return (float(len(trajectory.points)),)
    counts = trajectory.values["counts"]
    assert isinstance(counts, tuple)
    return counts


def _extent(trajectory: Trajectory) -> list[bool]:
    """Return whether a workspace has an extent along x, y and z."""
    values = trajectory.values
    if trajectory.points is not None:
        return [bool(span > 0.0) for span in np.ptp(trajectory.points[:, 1:], axis=0)]
    if "normal" in values:
        axis = np.abs(values["normal"]) / np.linalg.norm(values["normal"])
        return [bool(x < 1.0 or (values["counts"][2] > 1 and x > 0.0)) for x in axis]
    return [count > 1 for count in _counts(trajectory)]
