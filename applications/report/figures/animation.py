"""Draw a mechanism in motion as one SVG that moves by itself: no scripts, no network, a few ten kilobytes.

Lines move by the animation elements of SVG, which every browser plays, inside a page or a notebook and as a picture.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from applications.report import style
from applications.report.data import series
from applications.report.data.results import Results
from applications.report.figures.paper import lacks
from pipeline.documents.outputs import write_text
from pipeline.documents.report import sentence
from pipeline.errors import refused
from robots.data_classes import dataclass
from robots.parameter_errors import nearest

WIDTH, HEIGHT, MARGIN = 480.0, 400.0, 14.0
"""Sizes of the picture [px]; the line of time is in the lower margin."""

CAPTION = 44.0
FLAT = 0.15
"""Extent along an axis, relative to the largest, below which a mechanism is looked at along that axis."""

AZIMUTH, ELEVATION = np.deg2rad(-60.0), np.deg2rad(20.0)

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Animation:
    """A moving picture: notebooks show it, `save` writes the file that any browser plays."""

    svg: str

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        """Format the animation's size, and the way to see it elsewhere."""
        return f"<animation of {len(self.svg) / 1000:.0f} kB; save('motion.svg') writes it for a browser>"

    def save(self, path: str | Path, *, force: bool = False) -> Path:
        """Write it as an SVG file. Raises InputError where that may not or cannot be written."""
        write_text(Path(path), self.svg, force=force)
        return Path(path)


def animation(results: Results, trajectory: int | str = 0, speed: float = 1.0) -> Animation:
    """Draw the mechanism of a design along one of its trajectories, `speed` times as fast as it is.

    Times at which samples failed are left out. Raises InputError for an unknown trajectory, a speed that is not above
    zero, and where the results lack the needed data.
    """
    case = results.case
    if case.robot is None:
        raise lacks("animation", f"a sweep that can be read again (--files): {results.why_no_sweep.rstrip('.')}")
    if not (np.isfinite(speed) and speed > 0.0):
        raise refused("animation", f"{speed!r}", "a number above zero", key="speed")
    moved, lines = series.motions(case)
    motion = moved[_place(trajectory, case.trajectories)]
    sound = np.isfinite(motion.points).all(axis=(1, 2))
    if not sound.any():
        raise lacks("animation", f"a time of the trajectory {motion.name} that has not failed; see status")
    points, times = motion.points[sound], motion.times[sound]
    base = series.mounts(case.mechanism)
    scene = _Scene.of(np.concatenate([points.reshape(-1, 3), base]))
    seconds = float(times[-1] - times[0]) / speed
    shapes = [_line([scene.at(np.vstack([base, base[:1]]))], style.BASE, 1.5, 0.0)]
    for index, limb in enumerate(lines.limbs):
        frames = [scene.at(frame[limb].reshape(-1, 3)) for frame in points]
        shapes.append(_line(frames, style.of(style.LIMBS, index), 2.5, seconds, pairs=True))
    if len(lines.platform):
        frames = [scene.at(frame[lines.platform]) for frame in points]
        shapes.append(_line(frames, style.PLATFORM, 4.0, seconds))
    title = f"{results.heading(case.design).rstrip('.')}, on {motion.name}"
    return Animation(_page(title, shapes, float(times[0]), float(times[-1]), seconds))


def view_axes(points: Array) -> Array:
    """Return the axes of a picture that shows points (n, 3): (2, 3), across and up.

    Nearly flat sets of points are seen along their thin axis, all others from above.
    """
    extents = np.ptp(points, axis=0)
    thin = int(np.argmin(extents))
    if extents[thin] < FLAT * extents.max():
        return np.eye(3)[[k for k in range(3) if k != thin]]
    across = np.array([-np.sin(AZIMUTH), np.cos(AZIMUTH), 0.0])
    toward = np.array([np.cos(AZIMUTH), np.sin(AZIMUTH), 0.0])
    return np.stack([across, np.cos(ELEVATION) * np.eye(3)[2] - np.sin(ELEVATION) * toward])


def _place(trajectory: int | str, names: Sequence[str]) -> int:
    """Return the number of a trajectory. Raises InputError."""
    if isinstance(trajectory, str) and trajectory in names:
        return names.index(trajectory)
    if isinstance(trajectory, int) and 0 <= trajectory < len(names):
        return trajectory
    hint = sentence(nearest(str(trajectory), names))
    rule = f"a trajectory by name, or by number from 0 to {len(names) - 1}"
    raise refused("animation", repr(trajectory), rule, hint, key="trajectory")


@dataclass(frozen=True)
class _Scene:
    """View of a scene: axes of the picture (2, 3), scale and offset of the points in it."""

    axes: Array
    scale: float
    offset: Array

    @classmethod
    def of(cls, points: Array) -> _Scene:
        """Return the scene that shows all points (n, 3)."""
        axes = view_axes(points)
        seen = points @ axes.T
        low, high = seen.min(axis=0), seen.max(axis=0)
        room = np.array([WIDTH, HEIGHT - CAPTION]) - 2.0 * MARGIN
        scale = float(np.min(room / np.maximum(high - low, 1e-12)))
        return cls(axes, scale, (low + high) / 2.0)

    def at(self, points: Array) -> Array:
        """Project points (n, 3) into the picture, (n, 2) [px]."""
        centre = np.array([WIDTH, HEIGHT - CAPTION]) / 2.0
        return centre + (points @ self.axes.T - self.offset) * self.scale * np.array([1.0, -1.0])


def _line(frames: Sequence[Array], colour: str, width: float, seconds: float, *, pairs: bool = False) -> str:
    """Return a line through points, or lines between pairs of them, at the times of the frames."""
    ways = [_way(frame, pairs) for frame in frames]
    moving = _animate("d", ways, seconds) if len(ways) > 1 and seconds > 0.0 else ""
    return (
        f'<path d="{ways[0]}" fill="none" stroke="{colour}" stroke-width="{width:g}" '
        f'stroke-linejoin="round" stroke-linecap="round">{moving}</path>'
    )


def _way(points: Array, pairs: bool) -> str:
    letters = ("ML" if pairs else "M" + "L" * len(points))[: len(points)]
    return "".join(f"{letters[k % len(letters)]}{x:.1f} {y:.1f}" for k, (x, y) in enumerate(points))


def _animate(name: str, values: Iterable[str], seconds: float) -> str:
    return (
        f'<animate attributeName="{name}" dur="{seconds:.4g}s" repeatCount="indefinite" values="{";".join(values)}"/>'
    )


def _page(title: str, shapes: Iterable[str], start: float, stop: float, seconds: float) -> str:
    """Return the picture with its title and a line of time."""
    x0, right, level = MARGIN + 40.0, WIDTH - MARGIN - 60.0, HEIGHT - 14.0
    passing = _animate("x2", [f"{x0:.1f}", f"{right:.1f}"], seconds) if seconds > 0.0 else ""
    text = f'font-family="sans-serif" font-size="12" fill="{style.INK}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" width="{WIDTH:g}" '
        f'height="{HEIGHT:g}" role="img" aria-label="{escape(title)}"><rect width="100%" height="100%" fill="white"/>'
        f"{''.join(shapes)}"
        f'<text x="{WIDTH / 2:g}" y="{HEIGHT - 30:g}" text-anchor="middle" {text}>{escape(title)}</text>'
        f'<text x="{x0 - 8:g}" y="{level + 4:g}" text-anchor="end" {text}>{start:.3g} s</text>'
        f'<text x="{right + 8:g}" y="{level + 4:g}" {text}>{stop:.3g} s</text>'
        f'<line x1="{x0:g}" x2="{right:g}" y1="{level:g}" y2="{level:g}" stroke="{style.LIGHT}" stroke-width="3"/>'
        f'<line x1="{x0:g}" x2="{x0:g}" y1="{level:g}" y2="{level:g}" stroke="{style.PLATFORM}" stroke-width="3">'
        f"{passing}</line></svg>"
    )
