"""The root of a block's graph: the motion of its trajectories, the same for all designs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from robots.loads.family import signal_values
from robots.model import Family
from robots.trajectories.kinds import is_grid
from robots.trajectories.trajectory import Trajectory
from tasks.arrays.inputs import Moving
from tasks.blocks.block import Arrays, Block, time_first
from tasks.kernels.keys import Values
from tasks.mechanics.structure import structure_of
from tasks.trajectories import closed_forms, loads, turns
from tasks.trajectories.base import base_field


@dataclass(frozen=True)
class Motions:
    """The root of a block's graph: motion inputs (trajectory, component, padded time), the same for all designs.

    `load` (trajectory, 6, padded time) is what acts on the platform, in world axes; None without loads. `signals`
    (signal, padded time) are those of the family and `field` (9, padded time) what bodies feel of a base that moves,
    the same for all trajectories; None without them.
    """

    motion: np.ndarray
    load: np.ndarray | None = None
    signals: np.ndarray | None = None
    field: np.ndarray | None = None
    shared: Mapping[str, np.ndarray] | None = None
    """How actuators share forces, see `Block.switched_values`."""

    def __len__(self) -> int:
        return len(self.motion)

    def values(self, trajectory: int) -> Values:
        """Sample inputs of the stages on a trajectory, (1, component, padded time)."""
        load = None if self.load is None else self.load[trajectory]
        others = {"load": load, "signals": self.signals, "gravity": self.field}
        known: Values = {name: values[None] for name, values in others.items() if values is not None}
        known |= {name: values[None] for name, values in (self.shared or {}).items()}
        return {"motion": self.motion[trajectory][None], **known}


def motions(block: Block) -> Motions:
    """Evaluate the trajectories of a block."""
    motion = np.stack(
        [commanded(block.family, trajectory, block.times, block.origin) for trajectory in block.trajectories]
    )
    signals = signal_values(block.family, closed_forms.padded_times(block.times)) if block.family.signals else None
    felt = base_field(block.base, block.gravity, block.times) if block.base is not None else None
    shared = block.switched_values(closed_forms.padded_times(block.times))
    if not block.request.loaded:
        return Motions(motion, signals=signals, field=felt, shared=shared)
    acting = [
        loads.along(trajectory.load, _rotation(block.family, rows), block.times)
        for trajectory, rows in zip(block.trajectories, motion, strict=True)
    ]
    return Motions(motion, np.ascontiguousarray(np.stack(acting)), signals, felt, shared)


def _rotation(family: Family, motion: np.ndarray) -> np.ndarray:
    """Rotation of the platform, row by row (9, padded time or 1), from a motion input."""
    if structure_of(family).motion_size == 9:
        return np.array(family.reference.platform.home.rotation, dtype=float).reshape(9, 1)
    return motion[3:12]


def commanded(family: Family, trajectory: Trajectory, times: np.ndarray, origin: Sequence[float]) -> np.ndarray:
    """The motion input (component, padded time) of kernels along a trajectory; `origin` as in `Block`."""
    structure = structure_of(family)
    joints = len(structure.mechanism.given) if structure.mechanism.is_chain else 0
    home = family.reference.platform.home.rotation
    moved = closed_forms.motion(trajectory.kind, trajectory.values, times, trajectory.points, joints)
    if joints:
        return moved
    moved[:3] += np.reshape(origin, (3, 1))
    turned = turns.turning(trajectory.turn, home, times) if structure.motion_size != 9 else None
    return closed_forms.motion_vector(moved, structure.motion_size, turned)


def moving(family: Family, trajectory: Trajectory, times: np.ndarray, origin: Sequence[float]) -> Moving:
    """The same as functions of `tasks` take it, (time, ...) each."""
    return moving_of(family, commanded(family, trajectory, times, origin)[:, : len(times)].T)


def moving_of(family: Family, flat: np.ndarray) -> Moving:
    """Motion inputs of kernels (time, component) as functions of `tasks` take them."""
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
    """Product of the edges along which a workspace has several points [m^3, or m^2 in a plane]; NaN for a motion."""
    if not is_grid(trajectory.kind):
        return math.nan
    edges = zip(trajectory.values["size"], trajectory.values["counts"], strict=True)
    return math.prod(float(length) for length, count in edges if count > 1)


def platform_series(block: Block, root: Motions) -> Arrays:
    """The platform's motion in the dims of the dataset, for those of `block.series` that are of the platform."""
    t, motion = len(block.times), root.motion
    out: Arrays = {}
    small = motion.shape[1] == 9
    if "platform_position" in block.series:
        out["platform_position"] = np.ascontiguousarray(time_first(motion[:, :3], t))
    if "platform_rotation" in block.series:
        home = np.array(block.family.reference.platform.home.rotation, dtype=float).reshape(1, 9, 1)
        rotation = np.repeat(np.repeat(home, len(motion), axis=0), t, axis=2) if small else motion[:, 3:12]
        out["platform_rotation"] = np.ascontiguousarray(time_first(rotation, t)).reshape(len(motion), t, 3, 3)
    for name, rows, full in (
        ("platform_twist", slice(3, 6), slice(12, 18)),
        ("platform_acceleration", slice(6, 9), slice(18, 24)),
    ):
        if name in block.series:
            out[name] = np.zeros((len(motion), t, 6))
            if small:
                out[name][..., 3:] = time_first(motion[:, rows], t)
            else:
                out[name][...] = time_first(motion[:, full], t)
    return out
