"""Draw the mechanism of a design along its first trajectory: at some times in one figure, or as a film."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.animation import PillowWriter
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d.art3d import Line3DCollection

from applications.report import style
from applications.report.data import series as motion
from applications.report.data.results import Results
from applications.report.figures.paper import dress, lacks, new

if TYPE_CHECKING:
    from mpl_toolkits.mplot3d.axes3d import Axes3D

PHASES = 5
"""Positions of the mechanism that the figure shows."""
RATE, MOST_FRAMES = 25, 250
"""Pictures of a film per second of the motion, and in all."""
ROOM = 0.05
"""Margin around the moving parts, relative to their largest extent."""


def phases(results: Results) -> Figure:
    """Draw the mechanism at some times of its first trajectory. Raises InputError where the results lack it."""
    moved, lines, base = _motion(results, "mechanism")
    drawing, axes = _scene(base)
    frames = np.unique(np.linspace(0, len(moved.times) - 1, PHASES).round().astype(int))
    for order, frame in enumerate(frames):
        _draw(axes, moved, lines, int(frame), 0.25 + 0.75 * order / max(1, len(frames) - 1))
    axes.set_aspect("equal")
    drawing.suptitle(
        f"design {results.name_of(results.design)} on {moved.name}, at {len(frames)} times, the last one darkest",
        fontsize=10,
    )
    return drawing


def film(results: Results, path: Path) -> None:
    """Write the mechanism in motion, as fast as it is, as a GIF. Raises InputError where the results lack it."""
    moved, lines, base = _motion(results, "mechanism")
    sound = np.flatnonzero(np.isfinite(moved.points).all(axis=(1, 2)))
    if not len(sound):
        raise lacks("mechanism", f"a time of the trajectory {moved.name} that has not failed; see status")
    times = moved.times[sound]
    seconds = float(times[-1] - times[0])
    count = int(np.clip(round(seconds * RATE), 2, MOST_FRAMES))
    points = np.concatenate([moved.points[sound].reshape(-1, 3), base])
    room = ROOM * float(np.ptp(points, axis=0).max())
    ends = np.stack([points.min(axis=0) - room, points.max(axis=0) + room], axis=1)
    drawing, axes = _scene(base)
    writer = PillowWriter(fps=count / seconds if seconds > 0.0 else RATE)  # type: ignore[arg-type]
    with writer.saving(dress(drawing), str(path), dpi=100):
        for time in np.linspace(times[0], times[-1], count):
            _draw(axes, moved, lines, int(sound[np.abs(times - time).argmin()]), 1.0)
            axes.set(**dict(zip(("xlim", "ylim", "zlim"), ends, strict=True)))
            axes.set_aspect("equal")
            drawing.suptitle(f"design {results.name_of(results.design)} on {moved.name}, {time:.3f} s", fontsize=10)
            writer.grab_frame()
            for artist in (*axes.collections, *axes.lines[1:]):
                artist.remove()


def _motion(results: Results, kind: str) -> tuple[motion.MotionFrames, motion.Lines, motion.Array]:
    """Return the first trajectory, the lines of the mechanism, and its mounts. Raises InputError."""
    case = results.case
    if case.robot is None:
        raise lacks(kind, f"a sweep that can be read again (--files): {results.why_no_sweep.rstrip('.')}")
    (moved, *_), lines = motion.motions(case)
    return moved, lines, motion.mounts(case.mechanism)


def _scene(base: motion.Array) -> tuple[Figure, Axes3D]:
    """Return an empty figure with the base."""
    drawing = new(7.0, 6.5)
    axes: Axes3D = drawing.add_subplot(projection="3d")
    axes.plot(*np.vstack([base, base[:1]]).T, color=style.BASE, marker="s", markersize=4)
    axes.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]")
    return drawing, axes


def _draw(axes: Axes3D, moved: motion.MotionFrames, lines: motion.Lines, frame: int, alpha: float) -> None:
    """Draw limbs and platform at one time."""
    for index, limb in enumerate(lines.limbs):
        # a dark edge below the colour makes a rod of a line
        for width, colour in ((5.0, style.INK), (3.4, style.of(style.LIMBS, index))):
            bundle = Line3DCollection(moved.points[frame][limb], colors=colour, alpha=alpha, linewidths=width)
            axes.add_collection3d(bundle)
    axes.plot(*moved.points[frame][lines.platform].T, color=style.PLATFORM, alpha=alpha, linewidth=4.0)
