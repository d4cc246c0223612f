"""Motions along trajectories, as inputs of kernels and as arguments of functions on arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from robots.model import Family
from robots.trajectories.kinds import is_grid
from robots.trajectories.trajectory import Trajectory
from tasks.dynamics.records import Moving
from tasks.mechanics.families import structure_of
from tasks.sources import prescribed


def commanded(family: Family, trajectory: Trajectory, times: np.ndarray, origin: Sequence[float]) -> np.ndarray:
    """Return the motion input (component, padded time) of kernels along a trajectory; `origin` as in `Block`."""
    structure = structure_of(family)
    joints = len(structure.mechanism.given) if structure.mechanism.is_chain else 0
    home = family.reference.platform.home.rotation
    moved = prescribed.motion(trajectory.kind, trajectory.values, times, trajectory.points, joints)
    if joints:
        return moved
    moved[:3] += np.reshape(origin, (3, 1))
    turned = prescribed.turning(trajectory.turn, home, times) if structure.motion_size != 9 else None
    return prescribed.motion_vector(moved, structure.motion_size, turned)


def moving(family: Family, trajectory: Trajectory, times: np.ndarray, origin: Sequence[float]) -> Moving:
    """Return the same as functions of `tasks` take it, (time, ...) each."""
    return moving_of(family, commanded(family, trajectory, times, origin)[:, : len(times)].T)


def moving_of(family: Family, flat: np.ndarray) -> Moving:
    """Return the motion inputs of kernels (time, component) in the form that functions of `tasks` take."""
    if family.reference.is_chain:
        q, qd, qdd = np.split(flat, 3, axis=1)
        return {"q": q, "qd": qd, "qdd": qdd}
    if flat.shape[1] == 9:
        still = np.zeros((len(flat), 3))
        position, velocity, acceleration = np.split(flat, 3, axis=1)
        twist, change = (np.concatenate([still, each], axis=1) for each in (velocity, acceleration))
        return {"position": position, "twist": twist, "acceleration": change}
    position, rotation, twist, change = np.split(flat, (3, 12, 18), axis=1)
    return {"position": position, "rotation": rotation.reshape(-1, 3, 3), "twist": twist, "acceleration": change}


def volume_of(trajectory: Trajectory) -> float:
    """Return the volume of a workspace [m^3], of a flat one its area [m^2]; NaN for a motion."""
    if not is_grid(trajectory.kind):
        return math.nan
    values = trajectory.values
    if "volume" in values:
        return float(values["volume"]) or math.nan
    if "radius" in values:
        area = math.pi * float(values["radius"]) ** 2
        return area * (float(values["height"]) if values["counts"][2] > 1 else 1.0)
    edges = zip(values["size"], values["counts"], strict=True)
    return math.prod(float(length) for length, count in edges if count > 1)
