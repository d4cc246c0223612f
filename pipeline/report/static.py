"""Static figures of results with matplotlib, for papers and notebooks: the kinds are rows of a table.

Every kind is a function of `Results` that gives a figure; what it shows is what the page shows, with the same names,
units and colours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d.art3d import Line3DCollection

from pipeline.errors import InputError, Problem
from pipeline.report import charts, maps, motion, style, trouble, workspace
from pipeline.report.designs import Column
from pipeline.report.results import Results
from pipeline.report.series import Series, series
from pipeline.report.series import axes as along
from pipeline.validation import sentence
from robots.parameters import nearest

if TYPE_CHECKING:
    from mpl_toolkits.mplot3d.axes3d import Axes3D

FORMATS = (".png", ".svg", ".pdf")
MOST_LINES = 1000
MOST_SLICES = 5
"""Slices of a workspace, from its lowest to its highest."""

CROWD = 0.98
"""The share of a workspace's values within which colours change: near a singularity, numbers grow without bound."""

PHASES = 5
"""Positions of the mechanism that its figure shows along a trajectory."""


class Kind(NamedTuple):
    """A kind of figure: what it shows, and what draws it."""

    text: str
    draw: Callable[[Results], Figure]


def figure(results: Results, kind: str) -> Figure:
    """The figure of that kind. Raises InputError for an unknown kind, and where the results lack what it shows."""
    if kind not in KINDS:
        raise InputError([Problem("KIND", 0, 0, "", repr(kind), "a kind of figure", sentence(nearest(kind, KINDS)))])
    return KINDS[kind].draw(results)


def save(results: Results, kind: str, path: Path) -> None:
    """Write a figure as PNG, SVG or PDF, by the end of its name. Raises InputError for another, OSError."""
    if path.suffix.lower() not in FORMATS:
        rule = f"a file name that ends in {', '.join(FORMATS)}"
        raise InputError([Problem("--output", 0, 0, "", repr(str(path)), rule)])
    made = figure(results, kind)
    # Without dates and random names, equal results give equal files.
    from matplotlib import rc_context

    stamp: Mapping[str, Any] = {".png": {}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    with rc_context({"svg.hashsalt": "limbsweep"}):
        made.savefig(path, dpi=150, metadata=stamp[path.suffix.lower()])


def _lacks(kind: str, what: str) -> InputError:
    return InputError([Problem(kind, 0, 0, "", "results without it", what)])


def _new(width: float = 8.0, height: float = 4.5) -> Figure:
    return Figure(figsize=(width, height), layout="constrained")


def _series(results: Results) -> Figure:
    rows = series(results.case)
    if not rows or not along(results.case).trajectories:
        raise _lacks("series", "a time series of actuators, such as outputs: [actuator_force]")
    return _panels(results, rows)


def _friction(results: Results) -> Figure:
    rows = [each for each in series(results.case) if each.name in ("actuator_force", "friction_part")]
    if len(rows) < 2:
        raise _lacks("friction", "a friction law that is not none, and a sweep that can be read again (--files)")
    return _panels(results, rows)


def _panels(results: Results, rows: Any) -> Figure:
    """Rows are quantities, columns trajectories, lines actuators."""
    names = along(results.case).trajectories
    made = _new(1.0 + 3.2 * len(names), 0.8 + 1.7 * len(rows))
    axes = made.subplots(len(rows), len(names), sharex=True, sharey="row", squeeze=False)
    for row, quantity in enumerate(rows):
        for column, trajectory in enumerate(names):
            _lines(results, axes[row, column], quantity, trajectory)
        axes[row, 0].set_ylabel(quantity.label.replace("<br>", "\n"))
    for column, name in enumerate(names.values()):
        axes[0, column].set_title(name)
        axes[-1, column].set_xlabel("time [s]")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    made.legend(handles, labels, loc="outside lower center", ncols=6, frameon=False, title="actuator")
    made.suptitle(f"design {results.design}, friction set {results.friction}", fontsize=10)
    return made


def _lines(results: Results, axes: Any, quantity: Series, trajectory: int) -> None:
    over = along(results.case)
    for index, name in enumerate(over.actuators):
        look = {
            "color": style.of(style.COLOURS, index),
            "linestyle": style.MATPLOTLIB_DASHES[index % len(style.MATPLOTLIB_DASHES)],
        }
        axes.plot(over.times, quantity.values[trajectory, :, index], label=name, linewidth=1.3, **look)
    axes.grid(color="#e4e4e4")


def _front(results: Results) -> Figure:
    objectives = [each for each in results.designs.objectives if each.varies]
    if len(objectives) < 2:
        raise _lacks("front", "two metrics that differ between designs, such as metrics: [peak_force, energy]")
    first, second = objectives[:2]
    made = _new(6.4, 4.8)
    axes = made.subplots()
    shown, line = results.shown, results.designs.fronts[first.name, second.name]
    axes.scatter(first.values[shown], second.values[shown], s=10, color=style.LIGHT, label="designs")
    axes.plot(first.values[line], second.values[line], "D-", color=style.COLOURS[0], markersize=4, label="front",
              drawstyle="steps-post" if first.sign > 0 else "steps-pre")  # fmt: skip
    axes.plot(first.values[results.design], second.values[results.design], "o", color=style.INK, markersize=12,
              fillstyle="none", label=f"design {results.design}")  # fmt: skip
    axes.set(xlabel=first.label, ylabel=second.label)
    axes.legend(frameon=False)
    return made


def _parallel(results: Results) -> Figure:
    found = results.designs
    columns = [each for each in (*found.parameters, *found.objectives) if each.varies]
    if len(columns) < 2 or not found.objectives:
        raise _lacks("parallel", "a metric, and a parameter that is swept")
    shown = found.shown(MOST_LINES, always=(results.design,))
    made = _new(1.5 + 1.35 * len(columns), 4.8)
    axes = made.subplots()
    heights = np.stack([_unit(each, shown) for each in columns], axis=1)
    lines = np.stack([np.broadcast_to(np.arange(len(columns)), heights.shape), heights], axis=-1)
    scale = found.objectives[0]
    bundle = LineCollection(list(lines), cmap=style.SCALE, array=scale.values[shown], linewidths=0.8, alpha=0.7)
    axes.add_collection(bundle)
    made.colorbar(bundle, label=scale.label)
    for place, each in enumerate(columns):
        low, high = each.values[shown].min(), each.values[shown].max()
        axes.axvline(place, color=style.GREY, linewidth=0.8)
        axes.text(place, 1.02, f"{high:.4g}", ha="center", va="bottom", fontsize=8)
        axes.text(place, -0.02, f"{low:.4g}", ha="center", va="top", fontsize=8)
    labels = [each.label.replace(" [", "\n[") for each in columns]
    axes.set(xlim=(-0.3, len(columns) - 0.7), ylim=(-0.1, 1.1), yticks=[])
    axes.set_xticks(range(len(columns)), labels, fontsize=8)
    axes.spines[:].set_visible(False)
    made.suptitle(f"{len(shown):,} of {found.count:,} designs", fontsize=10)
    return made


def _unit(column: Column, shown: Any) -> Any:
    values = column.values[shown]
    return (values - values.min()) / (np.ptp(values) or 1.0)


def _sensitivity(results: Results) -> Figure:
    found = results.designs
    if not found.explained:
        raise _lacks("sensitivity", "a metric, and a parameter that is swept over a dozen designs or more")
    made = _new(2.5 + 1.2 * len(found.parameters), 4.2)
    axes = made.subplots()
    width, hatches = 0.8 / len(found.explained), ("", "//", "..", "\\\\", "xx", "--")
    for index, (objective, shares) in enumerate(found.explained):
        places = np.arange(len(found.parameters)) + (index - (len(found.explained) - 1) / 2) * width
        axes.bar(places, np.clip(shares.first, 0.0, 1.0), width, label=objective.words,
                 color=style.of(style.COLOURS, index), hatch=hatches[index], edgecolor="white")  # fmt: skip
    axes.set_xticks(range(len(found.parameters)), [each.words for each in found.parameters])
    axes.set(ylabel="share of the variance explained [1]", ylim=(0, 1.05), xlabel="parameter")
    axes.legend(frameon=False)
    return made


def _workspace(results: Results) -> Figure:
    case = results.case
    position = workspace.visited(case)
    offered = workspace.choices(results, case) if position is not None else ()
    if position is None or not offered:
        raise _lacks("workspace", "a robot with a platform, and a sweep that can be read again (--files)")
    if found := maps.grids(case):
        return _slices(found[0], offered)
    made, flat = _new(9.0, 4.0), position.reshape(-1, 3)
    for axes, (i, j) in zip(made.subplots(1, 2), charts.views(flat), strict=True):
        points = axes.scatter(flat[:, i], flat[:, j], c=offered[0].values.reshape(-1), s=6, cmap=style.SCALE)
        across, up = charts.square(flat[:, [i, j]])
        axes.set(xlabel=f"{'xyz'[i]} [m]", ylabel=f"{'xyz'[j]} [m]", aspect="equal", xlim=across, ylim=up)
    made.colorbar(points, label=offered[0].label)
    return made


def _slices(grid: maps.Grid, offered: tuple[workspace.Colour, ...]) -> Figure:
    """A row for each number, a column for each of some slices."""
    across, up, through = grid.order
    heights = grid.axes[through]
    shown = np.unique(np.linspace(0, len(heights) - 1, MOST_SLICES).round().astype(int))
    made = _new(2.2 + 2.1 * len(shown), 0.6 + 2.3 * len(offered))
    panels = made.subplots(len(offered), len(shown), squeeze=False, sharex=True, sharey=True)
    for row, colour in zip(panels, offered, strict=True):
        slices = grid.slices(colour.values[grid.trajectory])
        limits = {"vmin": float(np.nanmin(slices)), "vmax": float(np.nanquantile(slices, CROWD))}
        for axes, k in zip(row, shown, strict=True):
            drawn = axes.pcolormesh(grid.axes[across], grid.axes[up], slices[k], cmap=style.SCALE, **limits)
            axes.set(aspect="equal")
        made.colorbar(drawn, ax=row, label=fill(colour.label, 24), extend="max")
        row[0].set_ylabel(f"{'xyz'[up]} [m]")
    for k, top, bottom in zip(shown, panels[0], panels[-1], strict=True):
        top.set_title(f"{'xyz'[through]} = {heights[k]:.4g} m", fontsize=10)
        bottom.set_xlabel(f"{'xyz'[across]} [m]")
    return made


def _status(results: Results) -> Figure:
    found = trouble.troubles(results.dataset)
    if found is None:
        raise _lacks("status", "a status of samples or of designs")
    made = _new(8.0, 1.6 + 0.35 * len(found.trajectories))
    axes = made.subplots()
    each, left = found.total / len(found.trajectories), np.zeros(len(found.trajectories))
    for index, one in enumerate(found.bad):
        share = 100.0 * one.counts / each
        axes.barh(found.trajectories, share, left=left, color=style.of(style.COLOURS, index), label=one.words)
        left += share
    if not found.bad:
        axes.barh(found.trajectories, left)
        axes.set_xlim(0, 1)
        axes.set_title(f"all {found.total:,} {found.what} are OK", fontsize=10)
    axes.set(xlabel=f"share of {found.what} that failed [%]")
    axes.invert_yaxis()
    if found.bad:
        axes.legend(frameon=False)
    return made


def _mechanism(results: Results) -> Figure:
    case = results.case
    if case.robot is None:
        raise _lacks("mechanism", f"a sweep that can be read again (--files): {results.why_no_sweep.rstrip('.')}")
    (moved, *_), lines = motion.motions(case)
    base = motion.mounts(case.mechanism)
    made = _new(7.0, 6.5)
    axes: Axes3D = made.add_subplot(projection="3d")
    phases = np.unique(np.linspace(0, len(moved.times) - 1, PHASES).round().astype(int))
    for order, frame in enumerate(phases):
        alpha = 0.25 + 0.75 * order / max(1, len(phases) - 1)
        for index, limb in enumerate(lines.limbs):
            bundle = Line3DCollection(moved.points[frame][limb], colors=style.of(style.LIMBS, index), alpha=alpha)
            axes.add_collection3d(bundle)
        axes.plot(*moved.points[frame][lines.platform].T, color=style.PLATFORM, alpha=alpha, linewidth=2.0)
    axes.plot(*np.vstack([base, base[:1]]).T, color=style.BASE, marker="s", markersize=4)
    axes.set(xlabel="x [m]", ylabel="y [m]", zlabel="z [m]", aspect="equal")
    made.suptitle(f"design {results.design} on {moved.name}, at {len(phases)} times, the last one darkest", fontsize=10)
    return made


KINDS: Mapping[str, Kind] = {
    "series": Kind("effort, position, velocity and power of the actuators over time", _series),
    "friction": Kind("effort of the actuators, and what friction asks of them, over time", _friction),
    "parallel": Kind("designs as lines over their parameters and metrics", _parallel),
    "front": Kind("designs by two metrics, with the front", _front),
    "sensitivity": Kind("which parameter explains how much of each metric", _sensitivity),
    "workspace": Kind("maps of a workspace, or where the platform goes, coloured by effort", _workspace),
    "status": Kind("failed samples by trajectory and reason", _status),
    "mechanism": Kind("the mechanism at some times of its first trajectory", _mechanism),
}
"""What `limbsweep figure` and `Dataset.limbsweep.plot` can draw."""
