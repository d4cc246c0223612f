"""Trajectories that are workspaces, grids of points in place of times: whether they fit the time grid and metrics."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pipeline.documents.report import Got, Report
from pipeline.sweep.trajectories.reader import AXES, Trajectory
from robots.model import Mechanism
from robots.motions import WORKSPACE
from robots.types import TRANSLATION
from storage.schema import OF_WORKSPACES


def check_workspaces(report: Report, trajectories: Sequence[Trajectory], samples: int | None) -> None:
    """Every workspace has whole numbers of points, and as many in all as there are samples of time."""
    for each in trajectories:
        if each.kind != WORKSPACE:
            continue
        path = ("trajectories", each.name, "counts")
        counts = _counts(each)
        if any(count != int(count) for count in counts):
            report(path, list(counts), "whole numbers of points along x, y and z")
            continue
        points = math.prod(map(int, counts))
        if samples is not None and samples != points:
            got = f"{points} points, and {samples} samples of time"
            report(path, Got(got), "as many of both", f"Write time: {{stop: 1, samples: {points}}}.")


def check_volumes(
    report: Report, metrics: Sequence[str], trajectories: Sequence[Trajectory], mechanism: Mechanism | None
) -> None:
    """A volume needs a workspace with several points along every axis that the platform moves along, and no other."""
    wanted = [(index, name) for index, name in enumerate(metrics) if name in OF_WORKSPACES]
    if not wanted or mechanism is None:
        return
    for index, name in wanted:
        if other := next((each for each in trajectories if each.kind != WORKSPACE), None):
            hint = f"Trajectory {other.name} is a motion; put it into a sweep of its own."
            report(("metrics", index), name, "a metric of workspaces", hint)
    free = [name in mechanism.platform.mobility for name in TRANSLATION]
    along = ", ".join(axis for axis, moves in zip(AXES, free, strict=True) if moves)
    for each in trajectories:
        if each.kind == WORKSPACE and [count > 1 for count in _counts(each)] != free:
            path = ("trajectories", each.name, "counts")
            report(path, list(_counts(each)), f"several points along {along} and one along others, for a volume")


def _counts(trajectory: Trajectory) -> tuple[float, ...]:
    counts = trajectory.values["counts"]
    assert isinstance(counts, tuple)
    return counts
