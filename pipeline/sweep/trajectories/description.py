"""Description of trajectories for the fingerprint of a sweep: in types of JSON, points by their hash."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robots.trajectories.kinds import Turn
from robots.trajectories.time_grid import TimeGrid
from robots.trajectories.trajectory import PlatformLoad, Trajectory


def describe_trajectory(trajectory: Trajectory) -> dict[str, Any]:
    """Describe the definition of a motion in types of JSON; points by their hash."""
    values = {name: list(value) if isinstance(value, tuple) else value for name, value in trajectory.values.items()}
    points, turn = trajectory.points, trajectory.turn
    return {
        "kind": trajectory.kind,
        "values": values,
        **({} if points is None else {"points": _digest(points)}),
        **({} if turn is None else {"turn": _describe_turn(turn)}),
        **({} if trajectory.load is None else {"load": _describe_load(trajectory.load)}),
        **({} if trajectory.grid is None else {"time": describe_grid(trajectory.grid)}),
        **({"swept": [list(row) for row in trajectory.swept]} if trajectory.swept else {}),
    }


def describe_grid(grid: TimeGrid) -> dict[str, Any]:
    """Describe a time grid in types of JSON."""
    return {"step": grid.step, "samples": grid.samples}


def _describe_turn(turn: Turn) -> dict[str, Any]:
    """Describe a turn in types of JSON."""
    values = {name: list(value) if isinstance(value, tuple) else value for name, value in turn.values.items()}
    described = {"kind": turn.kind, "values": values, "orientation": [list(row) for row in turn.orientation]}
    if turn.points is not None:
        described["points"] = _digest(turn.points)
    return described


def _describe_load(load: PlatformLoad) -> dict[str, Any]:
    """Describe a load in types of JSON."""
    return {"axes": load.axes, "points": _digest(load.points)}


def _digest(points: NDArray[np.float64]) -> str:
    return hashlib.sha256(points.astype("<f8").tobytes()).hexdigest()
