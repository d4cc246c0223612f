"""Refuse metrics of the shortest time of a path where no path exists or other inputs depend on time or on a rule."""

from __future__ import annotations

from pipeline.sweep.reading import SweepReading
from robots.limits import EVEN_SHARING, ActuatorSharing
from robots.trajectories.kinds import is_grid


def check_cycles(reading: SweepReading, sharing: ActuatorSharing, *, based: bool) -> None:
    """Refuse such metrics for points at rest, loads over time, a moving base, and forces that are shared by a rule."""
    if reading.family is None:
        return
    trajectories = reading.trajectories
    wrong = [
        (any(is_grid(trajectory.kind) for trajectory in trajectories), "trajectories that are motions"),
        (any(trajectory.load is not None for trajectory in trajectories), "trajectories without a load over time"),
        (based, "a robot whose base stands"),
        (bool(reading.family.signals), "a robot whose loads do not change with time"),
        (sharing != EVEN_SHARING, "actuators that share forces evenly"),
    ]
    hint = "Take it out, or into a sweep of its own."
    lacks = [(f"a metric for {expected}", hint) for is_so, expected in wrong if is_so]
    reading.refuse_metrics(lambda need: lacks if need == "path limits" else [])
