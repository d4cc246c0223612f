"""Make the interactive figures of a page with plotly: their layout, and the data that do not change.

Columns of designs, time series and frames of the mechanism are in the page once; `page.js` puts them into the figures
and follows the controls.
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray
from plotly.colors import sample_colorscale

from pipeline.report import style
from pipeline.report.data.designs import DesignColumn, Designs
from pipeline.report.data.maps import WorkspaceGrid
from pipeline.report.data.series import ActuatorSeries
from pipeline.report.data.trouble import Troubles
from pipeline.report.data.workspace import square, views

Array = NDArray[np.float64]

DARK = 0.82
"""The part of the scale of colours that lines are drawn in."""

FEW_AXES = 7
"""Axes of parallel coordinates whose titles have room side by side."""


def layout(**more: object) -> go.Layout:
    """What all figures share."""
    plain: dict[str, Any] = {
        "template": "plotly_white",
        "colorway": list(style.COLOURS),
        "font": {"family": "system-ui, sans-serif", "size": 13, "color": style.INK},
        "margin": {"l": 70, "r": 20, "t": 30, "b": 55},
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom"},
    }
    return go.Layout(**(plain | more))


def mechanism(limbs: Sequence[str], platform: bool) -> go.Figure:
    """The view of the mechanism; the page fills in the lines, in this order.

    Limbs, platform and its path if there is one, joints, arrows, base.
    """
    figure = go.Figure(layout=layout(height=620, margin={"l": 0, "r": 0, "t": 30, "b": 0}))
    figure.update_layout(scene=_scene("manual"), uirevision="keep", modebar={"orientation": "v"})
    for index, name in enumerate(limbs):
        look = {"color": style.of(style.LIMBS, index), "width": 6}
        figure.add_scatter3d(mode="lines", name=name, line=look, hoverinfo="name")
    if platform:
        look = {"color": style.PLATFORM, "width": 8}
        figure.add_scatter3d(mode="lines", name="platform", line=look, hoverinfo="name")
        look = {"color": style.GREY, "width": 2, "dash": "dot"}
        figure.add_scatter3d(mode="lines", name="path of the platform", line=look, hoverinfo="name")
    mark = {"size": 4, "color": "white", "line": {"color": style.INK, "width": 2}}
    figure.add_scatter3d(mode="markers", name="joints", marker=mark, hovertemplate="%{text}<extra></extra>")
    look = {"color": style.ARROW, "width": 3}
    figure.add_scatter3d(mode="lines", name="reaction forces", line=look, hoverinfo="name")
    look = {"color": style.BASE, "width": 5}
    return figure.add_scatter3d(mode="lines+markers", name="base", line=look, marker={"size": 3})


def _scene(aspect: str = "data") -> dict[str, Any]:
    camera = {"eye": {"x": 1.3, "y": -2.0, "z": 0.8}, "center": {"x": 0, "y": 0, "z": -0.12}}
    axes = {f"{name}axis": {"title": {"text": f"{name} [m]"}} for name in "xyz"}
    return {**axes, "aspectmode": aspect, "camera": camera}


def series(rows: Sequence[ActuatorSeries], actuators: Sequence[str]) -> go.Figure:
    """One panel for each quantity, one line for each actuator; the page fills in the lines, panel by panel."""
    from plotly.subplots import make_subplots

    figure = make_subplots(rows=len(rows), shared_xaxes=True, vertical_spacing=0.05)
    figure.update_layout(layout(height=130 + 190 * len(rows)))
    for row, quantity in enumerate(rows, start=1):
        for index, name in enumerate(actuators):
            look = {"color": style.of(style.COLOURS, index), "dash": style.of(style.DASHES, index), "width": 2}
            figure.add_scatter(
                row=row, col=1, mode="lines", name=name, legendgroup=name, showlegend=row == 1, line=look,
                hovertemplate=f"{name}: %{{y:.6g}} {quantity.units} at %{{x:.4g}} s<extra></extra>",
            )  # fmt: skip
        figure.update_yaxes(title_text=quantity.label, row=row, col=1)
    figure.update_xaxes(title_text="time [s]", row=len(rows), col=1)
    cursor = {"type": "line", "xref": "x", "yref": "paper", "x0": 0, "x1": 0, "y0": 0, "y1": 1}
    return figure.add_shape(cursor | {"line": {"color": style.GREY, "dash": "dot", "width": 1}})


def parallel(columns: Sequence[DesignColumn], values: Sequence[Array], scale: str) -> go.Figure:
    """Parallel coordinates, one axis for each column; the page fills in the designs."""
    axes = [
        {"label": column.label, "range": _span(shown), "values": []}
        for column, shown in zip(columns, values, strict=True)
    ]
    index = [column.name for column in columns].index(scale)
    # Lines that are not brushed stay visible, so that a brush shows what it takes out of what.
    # Without the light end of the scale: a thin yellow line on white cannot be seen.
    scale_of_lines = sample_colorscale(style.SCALE, np.linspace(0.0, DARK, 9).tolist())
    line = {"colorscale": scale_of_lines, "color": [], "showscale": True, "colorbar": {"title": columns[index].label}}
    trace = go.Parcoords(dimensions=axes, line=line, unselected={"line": {"color": style.LIGHT, "opacity": 0.15}})
    if len(axes) > FEW_AXES:
        trace.update(labelfont={"size": 11}, tickfont={"size": 9}, labelangle=-20)
    top = 70 if len(axes) <= FEW_AXES else 110
    return go.Figure(trace, layout(height=390 + top, margin={"l": 80, "r": 60, "t": top, "b": 30}))


def _span(values: Array) -> list[float]:
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
    pad = 0.0 if high > low else 0.5 * abs(high) or 0.5
    return [low - pad, high + pad]


def front(first: DesignColumn, second: DesignColumn) -> go.Figure:
    """Two objectives against each other: designs, the front, the design that is clicked; the page fills them in."""
    figure = go.Figure(layout=layout(height=520, hovermode="closest", dragmode="pan"))
    hover = "%{text}<extra></extra>"
    mark = {"size": 6, "color": style.LIGHT, "line": {"width": 0.5, "color": style.GREY}}
    # by WebGL, because thousands of elements of SVG make a brush slow
    figure.add_scattergl(mode="markers", name="designs", marker=mark, hovertemplate=hover)
    mark = {"size": 8, "color": style.COLOURS[0], "symbol": "diamond"}
    line = {"shape": "hv" if first.sign > 0 else "vh", "width": 1, "color": style.COLOURS[0]}
    figure.add_scatter(mode="lines+markers", name="front", marker=mark, line=line, hovertemplate=hover)
    mark = {"size": 16, "color": style.INK, "symbol": "circle-open", "line": {"width": 3}}
    figure.add_scatter(mode="markers", name="shown design", marker=mark, hoverinfo="skip")
    figure.update_xaxes(title_text=first.label)
    figure.update_yaxes(title_text=second.label)
    return figure


def sensitivity(table: Designs) -> go.Figure:
    """Bars: the share of the variance of each objective that each parameter explains by itself."""
    figure = go.Figure(layout=layout(height=420, barmode="group"))
    names = [fill(name, 20).replace("\n", "<br>") for name in table.causes]
    for objective, shares in table.explained:
        hover = f"%{{x}} explains %{{y:.3f}} of the variance of {objective.words}<extra></extra>"
        figure.add_bar(x=names, y=np.clip(shares.first, 0.0, 1.0), name=objective.words, hovertemplate=hover)
    figure.update_yaxes(title_text="share of the variance explained [1]", range=[0, 1.02])
    figure.update_xaxes(title_text="parameter")
    return figure


def workspace(position: Array) -> go.Figure:
    """Where the platform went, (n, 3) [m], seen from above and from a side; the page fills in the colours."""
    from plotly.subplots import make_subplots

    figure = make_subplots(cols=2, horizontal_spacing=0.12)
    figure.update_layout(layout(height=460, showlegend=False))
    for column, (i, j) in enumerate(views(position), start=1):
        mark = {"size": 6, "colorscale": style.SCALE, "showscale": column == 2, "colorbar": _bar()}
        hover = f"{'xyz'[i]} %{{x:.4g}} m, {'xyz'[j]} %{{y:.4g}} m: %{{marker.color:.5g}}<extra></extra>"
        figure.add_scatter(
            x=position[:, i], y=position[:, j], mode="markers", marker=mark, hovertemplate=hover, row=1, col=column
        )
        across, up = square(position[:, [i, j]])
        anchor = {"scaleanchor": "x" if column == 1 else "x2", "constrain": "domain"}
        figure.update_xaxes(title_text=f"{'xyz'[i]} [m]", range=across, constrain="domain", row=1, col=column)
        figure.update_yaxes(title_text=f"{'xyz'[j]} [m]", range=up, row=1, col=column, **anchor)
    return figure


def workspace_map(grid: WorkspaceGrid) -> go.Figure:
    """A slice of a workspace, and beside it, if there are several, all points in three dimensions; the page fills in.

    The map, points that fail, the same of all points.
    """
    figure = go.Figure(layout=layout(height=520))
    figure.add_heatmap(colorscale=style.SCALE, colorbar=_bar())
    cross = {"symbol": "x-thin", "size": 7, "line": {"width": 1.5, "color": style.GREY}}
    hover = "%{x:.4g}, %{y:.4g} m: cannot be used<extra></extra>"
    figure.add_scatter(mode="markers", name="cannot be used", marker=cross, hovertemplate=hover, showlegend=False)
    figure.update_xaxes(constrain="domain", domain=[0.52, 1.0] if grid.is_deep else [0.0, 1.0])
    figure.update_yaxes(scaleanchor="x", constrain="domain")
    if grid.is_deep:
        hover = "%{x:.4g}, %{y:.4g}, %{z:.4g} m: %{marker.color:.5g}<extra></extra>"
        mark: dict[str, Any] = {"size": 4, "colorscale": style.SCALE}
        figure.add_scatter3d(mode="markers", name="usable", marker=mark, hovertemplate=hover, showlegend=False)
        hover = "%{x:.4g}, %{y:.4g}, %{z:.4g} m: cannot be used<extra></extra>"
        mark = {"size": 2, "color": style.GREY, "opacity": 0.4}
        figure.add_scatter3d(mode="markers", name="cannot be used", marker=mark, hovertemplate=hover, showlegend=False)
        figure.update_layout(scene={**_scene(), "domain": {"x": [0.0, 0.42]}})
    return figure


def _bar() -> dict[str, Any]:
    """A scale of colours whose title stands along it, so that long ones are not cut off."""
    return {"title": {"side": "right"}, "thickness": 16}


def troubles(statuses: Troubles) -> go.Figure:
    """Bars: by trajectory the share of everything with each status that is not OK."""
    samples = max(1, statuses.total // max(1, len(statuses.trajectories)))
    figure = go.Figure(layout=layout(height=150 + 34 * len(statuses.trajectories), barmode="stack"))
    for trouble in statuses.bad:
        figure.add_bar(
            y=list(statuses.trajectories), x=100.0 * trouble.counts / samples, name=trouble.words, orientation="h",
            customdata=trouble.counts, hovertemplate=f"{trouble.words}: %{{customdata}} (%{{x:.3g}} %)<extra></extra>",
        )  # fmt: skip
    figure.update_xaxes(title_text="share of the trajectory's samples [%]", rangemode="tozero")
    figure.update_yaxes(type="category", autorange="reversed")
    return figure
