"""Parts of a page about one design: the mechanism in motion, time series of actuators, workspace.

What they show of each design is in `design_details`, and `web/` puts it into the figures.
"""

from __future__ import annotations

from typing import Any

from pipeline.report import style
from pipeline.report.data import maps, motion
from pipeline.report.data import series as quantities
from pipeline.report.data.results import Results
from pipeline.report.data.workspace import choices, visited
from pipeline.report.page import charts
from pipeline.report.page.bundle import ArrayBundle
from pipeline.report.page.markup import button, drawing, figure, paragraph, select, slider
from pipeline.report.page.part import PagePart


def mechanism(results: Results) -> tuple[str, dict[str, Any]]:
    """The view with its slider over time, or why there is none, and what the scripts need to know of it."""
    case = results.case
    if case.robot is None:
        text = "The mechanism cannot be drawn, because the sweep in the store cannot be read again: "
        return paragraph(text + results.why_no_sweep, "warning"), {}
    names = [(str(index), name) for index, name in enumerate(case.trajectories)]
    hidden = "" if case.has_reactions else " hidden"
    arrows = f'<label for="arrows"{hidden}><input type="checkbox" id="arrows" checked> Forces</label>'
    over = "Time" if any(not case.grid(index) for index, _ in enumerate(names)) else "Point"
    body = drawing(
        "mechanism",
        "The mechanism at the time of the slider. Drag, or use the arrow keys, to turn it; plus and minus come nearer.",
        "scene",
    )
    controls = button("play", "Pause") + slider("time", over) + arrows
    body += f'<div class="controls">{select("trajectory", "Trajectory", names)}{controls}</div>'
    body += paragraph("", "readout", "frame-readout") + paragraph("", "note", "motion-note", live=True)
    about = {
        "joints": motion.joint_names(case.mechanism),
        "limbs": [instance.name for instance in case.mechanism.instances],
        "reactions": case.has_reactions,
        "trajectories": [{"grid": bool(case.grid(index))} for index, _ in enumerate(case.trajectories)],
        "colours": list(style.LIMBS),
    }
    return body, {"mechanism": about}


def series(results: Results, bundle: ArrayBundle) -> PagePart | None:
    """Time series of the actuators; None where there are none."""
    case = results.case
    every = tuple(quantities.quantities(case))
    rows = tuple(quantity for quantity in every if quantity.known) or every
    if not rows or not (along := quantities.axes(case)).trajectories:
        return None
    body = paragraph(results.heading(results.design), "which")
    friction = any(quantity.name == "friction_part" for quantity in rows)
    body += paragraph(
        "One line for each actuator, positive along its axis; the dotted line is the time of the mechanism above."
        + (" What friction asks of an actuator is its effort with friction less that without." if friction else "")
    )
    if case.stride > 1:
        body += paragraph(f"One of {case.stride} times is shown.", "note")
    if (total := results.dataset.sizes["trajectory"]) > len(case.trajectories):
        body += paragraph(f"The first {len(case.trajectories)} of {total:,} trajectories.", "note")
    options = [(str(index), name) for index, name in along.trajectories.items()]
    body += f'<div class="controls">{select("series-trajectory", "Trajectory", options)}</div>'
    shown = ", ".join(quantity.title.replace("<br>", " ") for quantity in rows)
    body += figure("series", f"Time series of the actuators: {shown}.")
    data = {
        "times": bundle.packed(along.times),
        "rows": [quantity.name for quantity in rows],
        "actuators": len(along.actuators),
    }
    chart = charts.series(rows, along.actuators)
    return PagePart("series-part", "Actuators over time", body, {"series": chart}, {"series": data}, "Over time")


def workspace(results: Results, bundle: ArrayBundle) -> PagePart | None:
    """Maps of a workspace, or the positions of the platform; None of a chain, and where they are not known."""
    case = results.case
    position = visited(case)
    offered = choices(results, case) if position is not None else ()
    if position is None or not offered:
        return None
    grids = maps.grids(case)
    colour = select("workspace-colour", "Colour by", [(colour.label, colour.label) for colour in offered])
    data: dict[str, Any] = {
        "grids": [grid.plain() for grid in grids],
        "samples": position.shape[1],
        "shared": {colour.label: bundle.packed(colour.values, "f4") for colour in offered if colour.shared},
        "grey": style.GREY,
    }
    body = paragraph(results.heading(results.design), "which")
    if grids:
        body += _about_grids(grids) + f'<div class="controls">{_grid_controls(grids)}{colour}{_slice(grids)}</div>'
        chart = charts.workspace_map(grids[0])
    else:
        body += paragraph(
            "Where the platform is on the trajectories, from above and from the side. Click a position to see the "
            "mechanism there."
        )
        body += f'<div class="controls">{colour}</div>'
        chart = charts.workspace(position.reshape(-1, 3))
    body += figure("workspace", "Positions of the platform, coloured by a number.")
    body += paragraph("", "readout", "workspace-readout", live=True) if grids else ""
    return PagePart("workspace-part", "Workspace", body, {"workspace": chart}, {"workspace": data})


def _about_grids(grids: tuple[maps.WorkspaceGrid, ...]) -> str:
    counts = "; ".join(f"{grid.name}: {' x '.join(str(len(axis)) for axis in grid.axes)}" for grid in grids)
    return paragraph(
        f"Points at which the robot was computed at rest ({counts} along x, y, z). Crosses are points that cannot be "
        "used. Click a point of the map to see the mechanism there. Colours stop where the last 2 % of the values are "
        "far away from all others."
    )


def _grid_controls(grids: tuple[maps.WorkspaceGrid, ...]) -> str:
    return select("workspace-grid", "Workspace", [(str(index), grid.name) for index, grid in enumerate(grids)])


def _slice(grids: tuple[maps.WorkspaceGrid, ...]) -> str:
    most = max(len(grid.axes[grid.order[2]]) for grid in grids)
    return slider("slice", "Slice", most - 1, most // 2)
