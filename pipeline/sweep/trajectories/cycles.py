"""Refuse metrics of how fast a path can be where a sweep has no path, or what it does depends on time or rule."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.documents.report import Report
from robots.limits import EVEN_SHARING, ActuatorSharing
from robots.model import Family
from robots.quantities import needs
from robots.trajectories.kinds import is_grid
from robots.trajectories.trajectory import Trajectory


def check_cycles(
    report: Report,
    metrics: Sequence[str],
    family: Family | None,
    trajectories: Sequence[Trajectory],
    sharing: ActuatorSharing,
    *,
    based: bool,
) -> None:
    """Refuse such metrics for points at rest, loads over time, a moving base, and forces that are shared by a rule."""
    if family is None:
        return
    lacks = [
        (any(is_grid(trajectory.kind) for trajectory in trajectories), "trajectories that are motions"),
        (any(trajectory.load is not None for trajectory in trajectories), "trajectories without a load over time"),
        (based, "a robot whose base stands"),
        (bool(family.signals), "a robot whose loads do not change with time"),
        (sharing != EVEN_SHARING, "actuators that share forces evenly"),
    ]
    for index, name in enumerate(metrics):
        for wrong, expected in lacks:
            if wrong and "path limits" in needs(name):
                report(("metrics", index), name, f"a metric for {expected}", "Take it out, or into a sweep of its own.")
