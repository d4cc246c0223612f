"""Static figures of results with matplotlib, for papers and notebooks: the kinds are rows of a table.

Every kind is a function of `Results` that gives a figure, with the names, units and colours of the page. Figures of one
design are drawn here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from applications.report import style
from applications.report.data import workspace
from applications.report.data import workspace as maps
from applications.report.data.results import Results
from applications.report.data.series import ActuatorSeries, series
from applications.report.data.series import axes as along
from applications.report.figures import designs, mechanism
from applications.report.figures.paper import dress, lacks, new
from pipeline.documents.outputs import check_output, output
from pipeline.documents.report import sentence
from pipeline.errors import refused
from robots.parameter_errors import nearest

MOST_SLICES = 5
"""Slices of a workspace, from its lowest to its highest."""

CROWD = 0.98
"""The share of a workspace's values within which colours change: near a singularity, numbers grow without bound."""


def actuators(results: Results) -> Figure:
    """Draw the time series of the actuators. Raises InputError if the results lack them."""
    rows = series(results.case)
    if not rows or not along(results.case).trajectories:
        raise lacks("series", "a time series of actuators, such as outputs: [actuator_force]")
    return _panels(results, rows)


def friction(results: Results) -> Figure:
    """Draw the efforts of the actuators, and their part for friction. Raises InputError if the results lack them."""
    rows = [quantity for quantity in series(results.case) if quantity.name in ("actuator_force", "friction_part")]
    if len(rows) < 2:
        raise lacks("friction", "a friction law that is not none, and a sweep that can be read again (--files)")
    return _panels(results, rows)


def _panels(results: Results, rows: Sequence[ActuatorSeries]) -> Figure:
    """Draw panels: rows are quantities, columns trajectories, lines actuators."""
    names = along(results.case).trajectories
    drawing = new(1.0 + 3.2 * len(names), 0.8 + 1.7 * len(rows))
    axes = drawing.subplots(len(rows), len(names), sharex=True, sharey="row", squeeze=False)
    for row, quantity in enumerate(rows):
        for column, trajectory in enumerate(names):
            _lines(results, axes[row, column], quantity, trajectory)
        axes[row, 0].set_ylabel(quantity.label.replace("<br>", "\n"))
    for column, name in enumerate(names.values()):
        axes[0, column].set_title(name)
        axes[-1, column].set_xlabel("time [s]")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    drawing.legend(handles, labels, loc="outside lower center", ncols=6, frameon=False, title="actuator")
    drawing.suptitle(f"design {results.name_of(results.design)}, friction set {results.friction}", fontsize=10)
    return drawing


def _lines(results: Results, axes: Axes, quantity: ActuatorSeries, trajectory: int) -> None:
    over = along(results.case)
    for index, name in enumerate(over.actuators):
        colour = style.of(style.COLOURS, index)
        dashes = style.MATPLOTLIB_DASHES[index % len(style.MATPLOTLIB_DASHES)]
        values = quantity.values[trajectory, :, index]
        axes.plot(over.of(trajectory), values, label=name, linewidth=1.3, color=colour, linestyle=dashes)
    axes.grid(color="#e4e4e4")


def places(results: Results) -> Figure:
    """Draw the map of a workspace, or positions on trajectories. Raises InputError if the results lack them."""
    case = results.case
    position = workspace.visited(case)
    offered = workspace.choices(results, case) if position is not None else ()
    if position is None or not offered:
        raise lacks("workspace", "a robot with a platform, and a sweep that can be read again (--files)")
    if grids := maps.grids(case):
        return _slices(grids[0], offered)
    drawing, flat = new(9.0, 4.0), position.reshape(-1, 3)
    for axes, (i, j) in zip(drawing.subplots(1, 2), workspace.views(flat), strict=True):
        points = axes.scatter(flat[:, i], flat[:, j], c=offered[0].values.reshape(-1), s=6, cmap=style.SCALE)
        across, up = workspace.square(flat[:, [i, j]])
        axes.set(xlabel=f"{'xyz'[i]} [m]", ylabel=f"{'xyz'[j]} [m]", aspect="equal", xlim=across, ylim=up)
    drawing.colorbar(points, label=offered[0].label)
    return drawing


def _slices(grid: maps.WorkspaceGrid, offered: tuple[workspace.Colour, ...]) -> Figure:
    """Return a row for each number, a column for each of some slices."""
    across, up, through = grid.order
    heights = grid.axes[through]
    shown = np.unique(np.linspace(0, len(heights) - 1, MOST_SLICES).round().astype(int))
    drawing = new(2.2 + 2.1 * len(shown), 0.6 + 2.3 * len(offered))
    panels = drawing.subplots(len(offered), len(shown), squeeze=False, sharex=True, sharey=True)
    for row, colour in zip(panels, offered, strict=True):
        slices = grid.slices(colour.values[grid.trajectory])
        finite = slices[np.isfinite(slices)]
        limits = {"vmin": float(finite.min()), "vmax": float(np.quantile(finite, CROWD))}
        if limits["vmin"] == limits["vmax"]:  # one colour, the same in all slices
            limits = {"vmin": limits["vmin"] - 1.0, "vmax": limits["vmax"] + 1.0}
        for axes, k in zip(row, shown, strict=True):
            drawn = axes.pcolormesh(grid.axes[across], grid.axes[up], slices[k], cmap=style.SCALE, **limits)
            axes.set(aspect="equal")
        drawing.colorbar(drawn, ax=row, label=fill(colour.label, 24), extend="max")
        row[0].set_ylabel(f"{'xyz'[up]} [m]")
    for k, top, bottom in zip(shown, panels[0], panels[-1], strict=True):
        top.set_title(f"{'xyz'[through]} = {heights[k]:.4g} m", fontsize=10)
        bottom.set_xlabel(f"{'xyz'[across]} [m]")
    return drawing


FORMATS = (".png", ".svg", ".pdf")
MOVING = ".gif"
"""Format of figures that move, which is the mechanism alone."""


class FigureKind(NamedTuple):
    """A kind of figure: its content, and the function that draws it."""

    text: str
    draw: Callable[[Results], Figure]


def figure(results: Results, kind: str) -> Figure:
    """Draw a figure of a kind. Raises InputError for an unknown kind, and for results without its data."""
    if kind not in KINDS:
        raise refused("KIND", repr(kind), "a kind of figure", sentence(nearest(kind, KINDS)))
    return dress(KINDS[kind].draw(results))


def check(kind: str, path: Path, *, force: bool = False) -> None:
    """Check that a kind of figure exists, and the format that a name ends with. Raises InputError."""
    if kind not in KINDS:
        raise refused("KIND", repr(kind), "a kind of figure", sentence(nearest(kind, KINDS)))
    formats = (*FORMATS, MOVING) if kind == "mechanism" else FORMATS
    if path.suffix.lower() not in formats:
        hint = "A mechanism can be a .gif; other figures do not move." if path.suffix.lower() == MOVING else ""
        rule = f"a file name that ends in {', '.join(formats)}"
        raise refused("--output", repr(str(path)), rule, hint)
    check_output(path, force=force)


def save(results: Results, kind: str, path: Path, *, force: bool = False) -> None:
    """Write a figure as PNG, SVG or PDF, or a mechanism in motion as GIF, by the end of its name.

    Raises InputError for another, for an unknown kind, and where the file may not or cannot be written.
    """
    check(kind, path, force=force)
    if path.suffix.lower() == MOVING:
        with output(path, force=force) as draft:
            mechanism.film(results, draft)
        return
    drawing = figure(results, kind)
    # Without dates and random names, equal results give equal files.
    from matplotlib import rc_context

    stamp: Mapping[str, Any] = {".png": {}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    with rc_context({"svg.hashsalt": "limbsweep"}), output(path, force=force) as draft:
        drawing.savefig(draft, dpi=150, metadata=stamp[path.suffix.lower()])


KINDS: Mapping[str, FigureKind] = {
    "series": FigureKind("effort, position, velocity and power of the actuators over time", actuators),
    "friction": FigureKind("effort of the actuators, and its part due to friction, over time", friction),
    "parallel": FigureKind("designs as lines over their parameters and metrics", designs.parallel),
    "front": FigureKind("designs by two metrics, with the front", designs.front),
    "sensitivity": FigureKind("which parameter explains how much of each metric", designs.sensitivity),
    "workspace": FigureKind("maps of a workspace, or where the platform goes, coloured by effort", places),
    "status": FigureKind("failed samples by trajectory and reason", designs.status),
    "mechanism": FigureKind("the mechanism at some times of its first trajectory", mechanism.phases),
}
"""Figures that `limbsweep figure` and `Dataset.limbsweep.plot` can draw."""
