"""Draw static figures of all designs with matplotlib."""

from __future__ import annotations

from textwrap import fill

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from applications.report import style
from applications.report.data import trouble
from applications.report.data.designs import Array, DesignColumn, Indices
from applications.report.data.results import Results
from applications.report.figures.paper import lacks, new

MOST_LINES, MOST_AXES = 1000, 8
ROOM = 0.04
"""Room beside the designs at the ends of an axis, in lengths of the axis."""


def front(results: Results) -> Figure:
    """Draw two objectives against each other. Raises InputError if the results lack them."""
    if results.conflict is None:
        raise lacks("front", "two metrics that differ between designs, such as metrics: [peak_force, energy]")
    first, second = results.conflict
    figure = new(6.4, 4.8)
    axes = figure.subplots()
    shown, line = results.shown, results.designs.fronts[first.name, second.name]
    x, y = (column.values * column.shown_in.factor for column in (first, second))
    meets = results.designs.meets[shown]
    counted = np.append(shown[meets] if meets.any() else shown, results.place)
    for set_ends, values in ((axes.set_xlim, x), (axes.set_ylim, y)):
        set_ends(*_roomy(values[counted]))
    if not meets.all():
        broken = shown[~meets]
        axes.scatter(x[broken], y[broken], s=10, color=style.LINE, label="breaks a condition")
        _mark_beyond(axes, x[broken], y[broken])
    axes.scatter(x[shown[meets]], y[shown[meets]], s=12, color=style.COLOURS[4], label="designs")
    axes.plot(x[line], y[line], "D-", color=style.INK, markersize=4, label="front",
              drawstyle="steps-post" if first.sign > 0 else "steps-pre")  # fmt: skip
    axes.plot(x[results.place], y[results.place], "o", color=style.PLATFORM, markeredgewidth=2.5, markersize=12,
              fillstyle="none", label=f"design {results.name_of(results.design)}")  # fmt: skip
    axes.set(xlabel=first.title, ylabel=second.title)
    axes.legend(frameon=False)
    return figure


def _roomy(values: Array) -> tuple[float, float]:
    """Return the ends of an axis with some room beside the values."""
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    room = ROOM * ((high - low) or abs(high) or 1.0)
    return low - room, high + room


def _mark_beyond(axes: Axes, x: Array, y: Array) -> None:
    """Mark designs beyond the ends of the axes by bars at the edges."""
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    inside_x, inside_y = np.clip(x, left, right), np.clip(y, bottom, top)
    for beyond, marker in ((inside_x != x, "_"), (inside_y != y, "|")):
        axes.scatter(inside_x[beyond], inside_y[beyond], marker=marker, s=60, color=style.LINE, clip_on=False)


def parallel(results: Results) -> Figure:
    """Draw designs as lines over parameters and objectives. Raises InputError if the results lack them."""
    table = results.designs
    objectives = results.objectives[: MOST_AXES // 2]
    columns = [*list(table.causes.values())[: MOST_AXES - len(objectives)], *objectives]
    if len(columns) < 2 or not results.objectives:
        raise lacks("parallel", "a metric, and a parameter that is swept")
    shown = table.shown(MOST_LINES, always=(results.place,))
    figure = new(1.5 + 1.35 * len(columns), 4.8)
    axes = figure.subplots()
    meets = table.meets[shown]
    counted = shown[meets] if meets.any() else shown
    ranges = [_range(column, counted if column.objective else shown) for column in columns]
    heights = np.stack(
        [_unit(column.values[shown], *ends) for column, ends in zip(columns, ranges, strict=True)], axis=1
    )
    lines = np.stack([np.broadcast_to(np.arange(len(columns)), heights.shape), heights], axis=-1)
    scale = results.objectives[0]
    axes.add_collection(LineCollection(list(lines[~meets]), colors=style.LINE, linewidths=0.6, alpha=0.5))
    numbers = scale.values[shown] * scale.shown_in.factor
    bundle = LineCollection(list(lines[meets]), cmap=style.SCALE, array=numbers[meets], linewidths=0.8, alpha=0.7)
    axes.add_collection(bundle)
    axes.plot(*lines[shown == results.place][0].T, color=style.PLATFORM, linewidth=2.5)
    figure.colorbar(bundle, label=scale.title)
    for place, (column, (low, high)) in enumerate(zip(columns, ranges, strict=True)):
        axes.axvline(place, color=style.GREY, linewidth=0.8)
        axes.text(place, 1.02, column.shown_in.number(high), ha="center", va="bottom", fontsize=8)
        axes.text(place, -0.02, column.shown_in.number(low), ha="center", va="top", fontsize=8)
    labels = [column.title.replace(" [", "\n[") for column in columns]
    axes.set(xlim=(-0.3, len(columns) - 0.7), ylim=(-0.1, 1.1), yticks=[])
    axes.set_xticks(range(len(columns)), labels, fontsize=8)
    axes.spines[:].set_visible(False)
    title = f"{len(shown):,} of {table.totals.designs:,} designs; design {results.name_of(results.design)} in bold"
    figure.suptitle(title + ("" if meets.all() else ", grey: breaks a condition"), fontsize=10)
    return figure


BEYOND = 0.08
"""Margin beyond the ends of an axis for designs that break a condition, in lengths of the axis."""


def _range(column: DesignColumn, designs: Indices) -> tuple[float, float]:
    """Return the ends of the axis of a column, from the designs that count."""
    return float(column.values[designs].min()), float(column.values[designs].max())


def _unit(values: Array, low: float, high: float) -> Array:
    """Return the values scaled to the unit interval between the ends of an axis; values beyond an end stay near it."""
    return np.clip((values - low) / ((high - low) or 1.0), -BEYOND, 1.0 + BEYOND)


def sensitivity(results: Results) -> Figure:
    """Return the shares of variance as bars. Raises InputError where the results lack it."""
    table = results.runs
    if not table.explained:
        raise lacks("sensitivity", "a metric, and a parameter that is swept over a dozen designs or more")
    names = table.explained[0][1].names
    figure = new(2.5 + 1.2 * len(names), 4.2)
    axes = figure.subplots()
    width, hatches = 0.8 / len(table.explained), ("", "//", "..", "\\\\", "xx", "--")
    for index, (objective, shares) in enumerate(table.explained):
        places = np.arange(len(names)) + (index - (len(table.explained) - 1) / 2) * width
        share, error = (np.nan_to_num(x) for x in shares.leading)
        low, high = shares.bounds(share, error)
        height = np.where(share > error, np.clip(share, 0.0, 1.0), 0.0)
        axes.bar(places, height, width, label=objective.words,
                 yerr=np.stack([np.maximum(height - low, 0.0), np.maximum(high - height, 0.0)]),
                 error_kw={"elinewidth": 0.8, "ecolor": style.INK, "capsize": 2},
                 color=style.of(style.COLOURS, index), hatch=hatches[index], edgecolor="white")  # fmt: skip
    axes.set_xticks(range(len(names)), [fill(text, 20) for text in names])
    axes.set(ylabel="share of the variance explained [1]", ylim=(0, 1.05), xlabel="parameter")
    axes.legend(frameon=False)
    return figure


def status(results: Results) -> Figure:
    """Draw the failed samples as bars. Raises InputError if the results lack their status."""
    troubles = trouble.troubles(results.dataset)
    if troubles is None:
        raise lacks("status", "a status of samples or of designs")
    figure = new(8.0, 1.6 + 0.35 * len(troubles.trajectories))
    axes = figure.subplots()
    samples = np.sum([each.counts for each in troubles.statuses], axis=0)
    offsets = np.zeros(len(troubles.trajectories))
    for index, failure in enumerate(troubles.bad):
        share = 100.0 * failure.counts / samples
        axes.barh(troubles.trajectories, share, left=offsets, color=style.of(style.COLOURS, index), label=failure.words)
        offsets += share
    if not troubles.bad:
        axes.barh(troubles.trajectories, offsets)
        axes.set_xlim(0, 1)
        axes.set_title(f"all {troubles.total:,} {troubles.what} are OK", fontsize=10)
    axes.set(xlabel=f"share of {troubles.what} that failed [%]")
    axes.invert_yaxis()
    if troubles.bad:
        axes.legend(frameon=False)
    return figure
