"""Draw stick figures of mechanisms: bodies are lines, joints points, driven joints have their axes.

Covers every mechanism that `robots.model` can describe, because it walks the tree of each limb from mount frame to
mount frame. The figure shows the pose at zero joint variables; `sketch` gives the lines at any.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from pipeline.documents.outputs import output
from robots.data_classes import dataclass, replace
from robots.model import Frame, Instance, Limb, Link, Mechanism, Robot
from robots.parameter_errors import ParameterError
from robots.types import BASE
from tasks.mechanics.kinematics import JointState, way

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from mpl_toolkits.mplot3d import Axes3D

Array = NDArray[np.float64]

BASE_COLOUR, PLATFORM_COLOUR, DRIVEN_COLOUR = "#555555", "#c0392b", "#d35400"
LIMB_COLOURS = ("#1f5a92", "#2a7f62", "#7a4b94", "#8a6d1d", "#3b7c8c", "#94485e")
INK = "#2b2b2b"
GAP = 1e-4
"""Distance of both sides of a cut joint, relative to the size of the mechanism, from which on it is drawn."""

FLAT = 0.05
"""Height of a mechanism, relative to its size, up to which it lies in a horizontal plane and is seen from above."""


@dataclass(frozen=True)
class JointMark:
    """A joint in the picture: its name in the robot, where it is (*batch, 3) [m], its axis, whether it is driven."""

    name: str
    point: Array
    axis: Array
    driven: bool


@dataclass(frozen=True)
class LimbSketch:
    """One limb in the frame of the base: lines (*batch, n, 2, 3) [m], tree joints, cut joints (k, 3) [m], its tips.

    `mounts` (m, 3) [m] are the points where its joints are fixed to the base, `tips` (t, 3) [m] the ends of the limb,
    `platform_tips` the same points carried by the platform, `cut_ends` the other sides of cut joints: equal where the
    limb closes. All have the leading dims of the batch, if any. `bodies` are names of the lines; cut joints and tips
    have `cut_names`, in order.
    """

    name: str
    lines: Array
    joints: tuple[JointMark, ...]
    cuts: Array
    mounts: Array
    tips: Array
    platform_tips: Array
    cut_ends: Array
    bodies: tuple[str, ...] = ()
    cut_names: tuple[str, ...] = ()


def sketch(mechanism: Mechanism, joints: Array | None = None) -> tuple[LimbSketch, ...]:
    """Compute lines and joints of all limbs in the frame of the base.

    `joints` (*batch, limb, joint) are the variables of the joints of the trees [rad or m]; further columns are not
    read. The limbs then give the pose of the platform, and every point has the leading dims of the batch. Without
    `joints` all variables are zero, and the platform is at its reference pose.
    """
    limbs = [mechanism.limbs[instance.limb] for instance in mechanism.instances]
    variables = [np.zeros(len(limb.links)) for limb in limbs] if joints is None else np.moveaxis(joints, -2, 0)
    sketches = (
        _limb(instance, limb, q, "" if mechanism.is_chain else f"{instance.name}.")
        for instance, limb, q in zip(mechanism.instances, limbs, variables, strict=True)
    )
    if joints is not None:
        return tuple(sketches)
    seats = (_matrix(mechanism.platform.home) @ _matrix(instance.platform) for instance in mechanism.instances)
    return tuple(
        replace(limb_sketch, platform_tips=_tips(limb, [seat] * len(limb.tips), "frame_b"))
        for limb_sketch, limb, seat in zip(sketches, limbs, seats, strict=True)
    )


def _tips(limb: Limb, poses: Sequence[Array], frame: str, like: Sequence[Array] = ()) -> Array:
    return _stacked([_point(pose, getattr(tip, frame)) for pose, tip in zip(poses, limb.tips, strict=True)], like)


def _stacked(points: Sequence[Array], like: Sequence[Array]) -> Array:
    """Return the points (*batch, n, 3); without points, with the batch of the poses `like`."""
    batch = like[0].shape[:-2] if like else ()
    if not points:
        return np.zeros((*batch, 0, 3))
    return np.stack([np.broadcast_to(point, (*batch, 3)) for point in points], -2)


def _limb(instance: Instance, limb: Limb, q: Array, prefix: str) -> LimbSketch:
    poses = _poses(limb, _matrix(instance.base), q)
    tips = _tips(limb, [poses[tip.a] for tip in limb.tips], "frame_a", poses)
    # links for the pose of a platform are not drawn; the last of them is the platform itself
    seen = [link.joint not in limb.coordinates for link in limb.links]
    drawn = [i for i, link in enumerate(limb.links) if link.joint not in limb.coordinates[:-1]]
    standing = [link for link, is_seen in zip(limb.links, seen, strict=True) if is_seen and link.parent == BASE]
    mounts = _stacked([_point(_matrix(instance.base), link.placement) for link in standing], poses)
    at = [*poses, _matrix(instance.base)]  # that of BASE, -1, comes last
    cuts = _stacked([_point(at[loop.a], loop.frame_a) for loop in limb.loops], poses)
    cut_ends = _stacked([_point(at[loop.b], loop.frame_b) for loop in limb.loops], poses)
    joints = tuple(
        JointMark(
            f"{prefix}{link.joint}",
            pose[..., :3, 3],
            pose[..., :3, :3] @ np.array(link.axis),
            link.joint in limb.actuated,
        )
        for link, pose, seen_joints in zip(limb.links, poses, seen, strict=True)
        if seen_joints
    )
    pairs = [(limb.links[i].body, line) for i in drawn for line in _body(limb, poses, i)]
    lines = np.stack([_stacked(line, poses) for _, line in pairs], axis=-3)
    names = tuple(body for body, _ in pairs)
    closures = tuple(f"{prefix}{cut.joint}" for cut in (*limb.loops, *limb.tips))
    return LimbSketch(instance.name, lines, joints, cuts, mounts, tips, tips, cut_ends, names, closures)


def _poses(limb: Limb, mount: Array, q: Array) -> list[Array]:
    poses: list[Array] = []
    for link, value in zip(limb.links, np.moveaxis(q, -1, 0), strict=False):  # parents come first
        parent = mount if link.parent == BASE else poses[link.parent]
        poses.append(parent @ _matrix(link.placement) @ _motion(link, value))
    return poses


def _motion(link: Link, values: Array) -> Array:
    """Return the poses (*batch, 4, 4) of a link in its placement, at values (*batch,) of its joint [rad or m]."""
    kind, axis = link.joint_kind, np.array(link.axis, float)
    result = np.broadcast_to(np.eye(4), (*np.shape(values), 4, 4)).copy()
    if kind.slides:
        result[..., :3, 3] = np.asarray(way(link, JointState(value=values)))[..., None] * axis
    if kind.turns:
        result[..., :3, :3] = Rotation.from_rotvec(values[..., None] * axis).as_matrix()
    return result


def _body(limb: Limb, poses: list[Array], index: int) -> Iterator[tuple[Array, Array]]:
    """Yield lines from a link's joint to all that is attached to it; if nothing is, to its centre of mass."""
    attached = [poses[i][..., :3, 3] for i, link in enumerate(limb.links) if link.parent == index]
    for closure in (*limb.loops, *limb.tips):
        sides = ((closure.a, closure.frame_a), (closure.b, closure.frame_b))
        attached += [_point(poses[index], frame) for link, frame in sides if link == index]
    for end in attached or [_point(poses[index], Frame(position=limb.links[index].inertia.centre))]:
        yield poses[index][..., :3, 3], end


def _point(pose: Array, frame: Frame) -> Array:
    return np.asarray((pose @ _matrix(frame))[..., :3, 3])


def _matrix(frame: Frame) -> Array:
    result = np.eye(4)
    result[:3, :3] = frame.rotation
    result[:3, 3] = frame.position
    return result


def draw(robot: Robot, *, labels: bool = False) -> Figure:
    """Draw a robot as a matplotlib figure, lengths in metres; with `labels`, names of all bodies and joints of limbs.

    Where loops or tips are open, as those of a wrong robot file may be, both sides are joined by a dashed line.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    limbs = sketch(robot.mechanism)
    figure = Figure(figsize=(7.0, 7.0), layout="constrained")
    with rc_context({"grid.color": "#dddddd", "grid.linewidth": 0.6}):  # the only public way for 3D axes
        axes: Axes3D = figure.add_subplot(projection="3d", computed_zorder=False)
    base = np.concatenate([limb.mounts for limb in limbs])
    platform = np.concatenate([limb.platform_tips for limb in limbs])
    points = np.concatenate([limb.lines.reshape(-1, 3) for limb in limbs])
    if not np.isfinite(points).all() or not np.isfinite(platform).all():
        raise ParameterError(
            f"{robot.name}: no reference pose with these parameters; expected lengths with which its limbs close. "
            "Change them, or look at the defaults first"
        )
    size = float(np.ptp(points, axis=0).max())
    _plate(axes, base, BASE_COLOUR, "base", (0.04 if len(base) > 1 else -0.04) * size)
    if len(platform):  # a chain has none
        _plate(axes, platform, PLATFORM_COLOUR, "platform", -0.06 * size)
    named = set[tuple[str, ...]]()
    for index, limb in enumerate(limbs):
        _draw_limb(axes, limb, LIMB_COLOURS[index % len(LIMB_COLOURS)], 0.06 * size)
        _draw_gaps(axes, limb, GAP * size)
        if labels and limb.bodies not in named:  # limbs that are alike have the same names
            _name_parts(axes, limb)
            named.add(limb.bodies)
    _frame(axes, np.concatenate([points, base]), size)
    figure.suptitle(f"{robot.name}\n{fill(robot.family.title, 60)}", fontsize=11, color=INK)
    return figure


def _plate(axes: Axes3D, corners: Array, colour: str, label: str, above: float) -> None:
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    centre = corners.mean(axis=0)
    _, _, directions = np.linalg.svd(corners - centre)  # the plane of the corners comes first, whichever way it lies
    along, across = directions[:2] @ (corners - centre).T
    outline = corners[np.argsort(np.arctan2(across, along))]
    axes.add_collection3d(Poly3DCollection([outline], facecolors=colour, edgecolors=colour, alpha=0.18, zorder=1))
    # a plate seen from its side, or one of two corners, is a line, and that of one corner a point
    axes.plot(*np.vstack([outline, outline[:1]]).T, color=colour, linewidth=1.2, marker="s", markersize=4, zorder=1)
    axes.text(
        *(centre + np.array((0.0, 0.0, above))), label, color=colour, fontsize=9, ha="center", va="center", zorder=5
    )


def _draw_limb(axes: Axes3D, limb: LimbSketch, colour: str, arrow: float) -> None:
    for line in limb.lines:
        axes.plot(*line.T, color=colour, linewidth=2.0, solid_capstyle="round", zorder=2)
    points = np.array([*(joint.point for joint in limb.joints), *limb.cuts, *limb.tips])
    axes.scatter(*points.T, s=16, c="white", edgecolors=colour, linewidths=1.2, depthshade=False, zorder=3)
    for joint in limb.joints:
        if joint.driven:
            axes.quiver(*joint.point, *(arrow * joint.axis), color=DRIVEN_COLOUR, linewidth=1.8, zorder=4)
            label = joint.point + 1.4 * arrow * joint.axis + np.array((0.0, 0.0, 0.5 * arrow))
            axes.text(*label, joint.name, color=DRIVEN_COLOUR, fontsize=8, ha="center", zorder=5)


def _draw_gaps(axes: Axes3D, limb: LimbSketch, least: float) -> None:
    """Join both sides of cut joints and tips that are further apart than `least` [m]."""
    ends = np.concatenate([limb.cut_ends, limb.platform_tips])
    for start, end in zip(np.concatenate([limb.cuts, limb.tips]), ends, strict=True):
        if np.linalg.norm(end - start) > least:
            axes.plot(*np.array([start, end]).T, color=PLATFORM_COLOUR, linewidth=1.4, linestyle="--", zorder=4)


def _name_parts(axes: Axes3D, limb: LimbSketch) -> None:
    """Write the names of bodies at the middle of their lines, and of joints that nothing drives at their points."""
    for name in dict.fromkeys(limb.bodies):
        middle = limb.lines[limb.bodies.index(name)].mean(axis=0)
        axes.text(*middle, name, color=INK, fontsize=7, style="italic", ha="center", va="center", zorder=6)
    points = [(joint.name, joint.point) for joint in limb.joints if not joint.driven]
    points += zip(limb.cut_names, np.concatenate([limb.cuts, limb.tips]), strict=True)
    names: dict[tuple[float, ...], list[str]] = {}
    for name, point in points:
        names.setdefault(tuple(np.round(point, 9) + 0.0), []).append(name)
    for place, together in names.items():
        axes.text(*place, f" {', '.join(together)}", color=INK, fontsize=7, ha="left", va="bottom", zorder=6)


def _frame(axes: Axes3D, points: Array, size: float) -> None:
    low, high = points.min(axis=0), points.max(axis=0)
    # A flat mechanism still needs a box that has some depth.
    pad = 0.05 * size + 0.5 * np.maximum(0.0, 0.2 * size - (high - low))
    for name, lower, upper in zip("xyz", low - pad, high + pad, strict=True):
        axes.set(**{f"{name}lim": (lower, upper), f"{name}label": f"{name} [m]"})
    axes.set_box_aspect(high - low + 2 * pad)
    view = (18, -58) if np.ptp(points[:, 2]) > FLAT * size else (60, -80)
    axes.view_init(*view)
    axes.tick_params(labelsize=7, colors=INK)
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        axis.set_pane_color("#fafafa")


def save(robot: Robot, path: Path, *, labels: bool = False, force: bool = False) -> None:
    """Write the picture of a robot as PNG. Raises InputError where the file may not or cannot be written."""
    with output(path, force=force) as draft:
        draw(robot, labels=labels).savefig(draft, dpi=150, format="png")
