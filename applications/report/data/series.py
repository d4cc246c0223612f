"""Time series of the actuators of a case, with the part of friction, and frames of its mechanism in motion.

A frame is the mechanism as points for a view in three dimensions, by `applications.report.data.sketch.sketch` at the
joint positions of one time. Lines join points, so that every point is there once. The force in each joint stands at the
point of the joint.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from applications.report.data.case import DesignCase
from applications.report.data.sketch import LimbSketch, sketch
from pipeline.execution.conventions import units_of
from robots.data_classes import dataclass
from robots.model import Mechanism
from storage.times import samples_of, times_of

QUANTITIES = (
    ("actuator_force", "force"),
    ("actuator_position", "position"),
    ("actuator_velocity", "velocity"),
    ("actuator_power", "power"),
)
"""Variables that are stored or computed again, and their titles in a panel."""


@dataclass(frozen=True, eq=False)
class ActuatorSeries:
    """One quantity of all actuators: values (trajectory, time, actuator)."""

    name: str
    title: str
    units: str
    values: NDArray[np.float64]

    @property
    def label(self) -> str:
        """Title and unit for the axis of a plot."""
        return f"{self.title}<br>[{self.units}]"

    @property
    def known(self) -> bool:
        """Return whether any value of the series is a number."""
        return bool(np.isfinite(self.values).any())


@dataclass(frozen=True)
class SeriesAxes:
    """The coordinates of all series: times [s], the trajectories in time by number and name, names of the actuators.

    times (time,), or (trajectory, time) with NaN behind the end where trajectories have times of their own.
    """

    times: NDArray[np.float64]
    trajectories: dict[int, str]
    actuators: tuple[str, ...]

    def of(self, trajectory: int) -> NDArray[np.float64]:
        """Return the times of a trajectory, by number."""
        return self.times if self.times.ndim == 1 else self.times[trajectory]


def series(case: DesignCase) -> tuple[ActuatorSeries, ...]:
    """Collect the series of a case that have any finite value."""
    return tuple(quantity for quantity in quantities(case) if quantity.known)


def axes(case: DesignCase) -> SeriesAxes:
    """Collect the coordinates of the series, where there are any. The points of a workspace are not in time."""
    quantity = next(case.results[name] for name, _ in QUANTITIES if name in case.results)
    moving = {index: name for index, name in enumerate(case.trajectories) if not case.has_points(index)}
    actuators = tuple(str(name) for name in quantity["actuator"].values)
    return SeriesAxes(np.asarray(quantity["time"].values, float), moving, actuators)


def quantities(case: DesignCase) -> Iterator[ActuatorSeries]:
    """Collect all series that a sweep has, also those without any finite value in this case."""
    for name, title in QUANTITIES:
        if name not in case.results:
            continue
        quantity = case.results[name].transpose("trajectory", "time", "actuator")
        # The store knows the units of its drives; recomputed quantities use the same units.
        units = units_of(quantity.attrs)
        title = "torque" if units == "N m" else title
        yield ActuatorSeries(name, title, units, quantity.values)
        if name == "actuator_force" and case.frictionless is not None:
            part = quantity.values - case.frictionless.values
            yield ActuatorSeries("friction_part", f"{title} for<br>friction", units, part)


Array = NDArray[np.float64]
Indices = NDArray[np.int64]

MOST_FRAMES = 61
MOST_POSES = 400
"""Frames of a motion, and of the points of a workspace."""

ARROW = 0.3
"""Length of the arrow of the largest force, relative to the size of the mechanism."""

NEAR = 1e-9
"""Two points are one, relative to the size of the mechanism."""


@dataclass(frozen=True, eq=False)
class MotionFrames:
    """Frames of one trajectory; NaN where a sample failed.

    times (frame,) [s], and their numbers among those of the case; points (frame, point, 3) [m], first those of all
    joints, in the order of `joint_names`; force [N] and moment [N m], both (frame, joint, 3), in each joint; NaN for a
    simulated motion, whose reactions are not computed.
    """

    name: str
    times: Array
    frames: Indices
    points: Array
    force: Array
    moment: Array


@dataclass(frozen=True, eq=False)
class Lines:
    """Lines of a drawing as indices of points: of each limb (line, 2), and the outline of the platform (corner,)."""

    limbs: tuple[Indices, ...]
    platform: Indices


def joint_names(mechanism: Mechanism) -> list[str]:
    """List the names of the joints in the order of `MotionFrames.points`."""
    pairs = [
        (instance.name, joint) for instance in mechanism.instances for joint in mechanism.limbs[instance.limb].joints
    ]
    return [joint if mechanism.is_chain else f"{limb}.{joint}" for limb, joint in pairs]


def mounts(mechanism: Mechanism) -> Array:
    """Compute where the limbs stand on the base, (n, 3) [m]."""
    return np.concatenate([limb.mounts for limb in sketch(mechanism)])


def motions(case: DesignCase) -> tuple[tuple[MotionFrames, ...], Lines]:
    """Compute the frames of every trajectory of a case, and the lines between their points."""
    motion_frames = [_frames(case, index) for index in range(len(case.trajectories))]
    angles = np.concatenate([_of(case, "joint_position", k, frames) for k, frames in enumerate(motion_frames)])
    limbs = sketch(case.mechanism, angles)
    points, lines = _indexed(limbs)
    ends = np.cumsum([len(frames) for frames in motion_frames])[:-1]
    parts = np.split(points, ends)
    return tuple(_motion(case, k, frames, parts[k]) for k, frames in enumerate(motion_frames)), lines


def _frames(case: DesignCase, trajectory: int) -> Indices:
    """Choose the times of a case that become frames, by number."""
    most = MOST_POSES if case.has_points(trajectory) else MOST_FRAMES
    count = int(samples_of(case.results)[trajectory])
    return np.arange(0, count, max(1, -(-(count - 1) // (most - 1))), dtype=np.int64)


def _of(case: DesignCase, name: str, trajectory: int, frames: Indices) -> Array:
    return np.asarray(case.results[name].isel(trajectory=trajectory, time=frames).values, float)


def _motion(case: DesignCase, index: int, frames: Indices, points: Array) -> MotionFrames:
    counts = [len(case.mechanism.limbs[instance.limb].joints) for instance in case.mechanism.instances]
    wrench = np.full((len(frames), sum(counts), 6), np.nan)
    if case.has_reactions:
        stored = _of(case, "joint_reaction", index, frames)
        wrench = np.concatenate([stored[:, k, :count] for k, count in enumerate(counts)], axis=1)
    times = times_of(case.results, index)[frames]
    return MotionFrames(case.trajectories[index], times, frames, points, wrench[..., 3:], wrench[..., :3])


def _indexed(limbs: Sequence[LimbSketch]) -> tuple[Array, Lines]:
    """Number the points (frame, point, 3) of limbs, and give lines and platform by these numbers."""
    joints = [_joints(limb) for limb in limbs]
    starts = np.cumsum([0, *(limb_joints.shape[1] for limb_joints in joints)])
    points = list(joints)
    total, lines = int(starts[-1]), []
    for limb, limb_joints, start in zip(limbs, joints, starts[:-1], strict=True):
        ends = limb.lines.reshape(len(limb_joints), -1, 3)
        places = _places(ends, limb_joints)
        free = places < 0  # where a body ends without a joint
        places = np.where(free, total + np.cumsum(free) - 1, start + places)
        points.append(ends[:, free])
        total += int(free.sum())
        lines.append(places.reshape(-1, 2))
    tips = np.concatenate(list(_tips(limbs, starts[:-1])))
    every = np.concatenate(points, axis=1)
    return every, Lines(tuple(lines), _around(every, tips))


def _joints(limb: LimbSketch) -> Array:
    """Return the joints of a limb (frame, joint, 3) in the order of `Limb.joints`: tree, tips at the platform, cuts."""
    return np.concatenate([np.stack([mark.point for mark in limb.joints], axis=-2), limb.tips, limb.cuts], axis=-2)


def _places(ends: Array, joints: Array) -> Indices:
    """Find the joint (frame, joint, 3) at each end of a line (frame, end, 3) in all frames; -1 for none."""
    is_finite = np.isfinite(joints).all(axis=(1, 2))
    apart = np.abs(ends[is_finite][:, :, None] - joints[is_finite][:, None]).max(axis=(0, 3), initial=0.0)
    size = float(np.ptp(joints[is_finite], axis=(0, 1)).max()) if is_finite.any() else 0.0
    nearest = apart.argmin(axis=1)
    return np.where(apart[np.arange(len(nearest)), nearest] <= NEAR * size, nearest, -1)


def _tips(limbs: Sequence[LimbSketch], starts: Indices) -> Iterator[Indices]:
    for limb, start in zip(limbs, starts, strict=True):
        yield int(start) + len(limb.joints) + np.arange(limb.tips.shape[-2], dtype=np.int64)


def _around(points: Array, tips: Indices) -> Indices:
    """Order the corners of the platform around it, with the first one again at the end."""
    is_finite = np.isfinite(points[:, tips]).all(axis=(1, 2))
    if len(tips) > 1 and is_finite.any():
        tips = tips[order_around(points[is_finite][0, tips])]
    return np.concatenate([tips, tips[:1]])


def order_around(corners: Array) -> Indices:
    """Order points (n, 3) around their centre, in the plane that fits them best."""
    offsets = corners - corners.mean(axis=0)
    along, across = np.linalg.svd(offsets)[2][:2] @ offsets.T
    return np.argsort(np.arctan2(across, along))


def scale(all_motions: Sequence[MotionFrames]) -> tuple[float, float]:
    """Compute the extent of all points [m], and the largest force in a joint [N]; zero where nothing is finite."""
    points = finite(all_motions)
    sizes = [np.linalg.norm(frames.force, axis=-1) for frames in all_motions]
    force = max((float(size[np.isfinite(size)].max(initial=0.0)) for size in sizes), default=0.0)
    return float(np.ptp(points, axis=0).max()) if len(points) else 0.0, force


def finite(all_motions: Sequence[MotionFrames]) -> Array:
    """Collect the finite points of all frames, (n, 3) [m]."""
    points = np.concatenate([frames.points.reshape(-1, 3) for frames in all_motions])
    return points[np.isfinite(points).all(axis=1)]
