"""Make the interactive figures of a page with plotly: their layout, and the data that do not change.

Time series and positions are in the page once; `web/series.js` and `web/workspace.js` put them into the figures and
follow the controls. The page itself draws designs and the mechanism.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from applications.report import style
from applications.report.data.series import ActuatorSeries
from applications.report.data.workspace import WorkspaceGrid, square, views

Array = NDArray[np.float64]


def layout(**more: object) -> go.Layout:
    """Return the layout that all figures share, updated by `more`."""
    plain: dict[str, Any] = {
        "template": "none",
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "colorway": list(style.COLOURS),
        "font": {"family": "system-ui, sans-serif", "size": 13, "color": style.INK},
        "margin": {"l": 70, "r": 20, "t": 30, "b": 55},
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom"},
    }
    return go.Layout(**(plain | more))


def _scene(aspect: str = "data") -> dict[str, Any]:
    camera = {"eye": {"x": 1.3, "y": -2.0, "z": 0.8}, "center": {"x": 0, "y": 0, "z": -0.12}}
    axes = {f"{name}axis": {"title": {"text": f"{name} [m]"}} for name in "xyz"}
    return {**axes, "aspectmode": aspect, "camera": camera}


def series(rows: Sequence[ActuatorSeries], actuators: Sequence[str]) -> go.Figure:
    """Draw one panel per quantity, with one line per actuator; the page fills in the lines, panel by panel."""
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


def workspace(position: Array) -> go.Figure:
    """Draw positions of the platform, (n, 3) [m], from above and from a side; the page fills in the colours."""
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
    """Draw a slice of a workspace, and beside it all points in 3D if there are several; the page fills it in.

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
    """Return a scale of colours whose title stands along it, so that long ones are not cut off."""
    return {"title": {"side": "right"}, "thickness": 16}
