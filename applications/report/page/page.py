"""The HTML file of a report: self-contained, without any request to a network.

The parts of a page are made in their order: each has a title, text and controls, figures and data, or is absent where
the store has nothing to show. The first part answers the question: the chosen design in words and key numbers, the
mechanism beside it. Parts about one design are the mechanism in motion, time series of actuators and the workspace;
data of each design are in `design_details`, and `web/` puts them into the figures.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from applications.report import style
from applications.report.data import overview
from applications.report.data import series as motion
from applications.report.data import series as quantities
from applications.report.data import workspace as maps
from applications.report.data.advice import Advice
from applications.report.data.answer import answer_words, key_numbers, question_words, verdict
from applications.report.data.results import Results
from applications.report.data.runs import ComparedRuns
from applications.report.data.workspace import choices, visited
from applications.report.page import charts, design_parts
from applications.report.page.bundle import ArrayBundle
from applications.report.page.decides import decides
from applications.report.page.design_parts import is_compared, table_data
from applications.report.page.failed import failed
from applications.report.page.markup import (
    button,
    details,
    drawing,
    figure,
    markup_table,
    paragraph,
    script_json,
    select,
    slider,
    table,
)
from applications.report.page.part import PagePart
from applications.report.page.runs import design_details, side_by_side
from applications.report.page.trade_off import trade_off
from pipeline.documents.outputs import OPTION, check_output, write_text
from pipeline.errors import refused, show


def mechanism(results: Results) -> tuple[str, dict[str, Any]]:
    """Return the view with its slider over time, or the reason for its absence; and the data of the scripts."""
    case = results.case
    if case.robot is None:
        text = "The mechanism cannot be drawn, because the sweep in the store cannot be read again: "
        return paragraph(text + results.why_no_sweep, "warning"), {}
    names = [(str(index), name) for index, name in enumerate(case.trajectories)]
    hidden = "" if case.has_reactions else " hidden"
    arrows = f'<label for="arrows"{hidden}><input type="checkbox" id="arrows" checked> Forces</label>'
    over = "Time" if any(not case.has_points(index) for index, _ in enumerate(names)) else "Point"
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
        "trajectories": [{"grid": case.has_points(index)} for index, _ in enumerate(case.trajectories)],
        "colours": list(style.LIMBS),
    }
    return body, {"mechanism": about}


def series(results: Results, bundle: ArrayBundle) -> PagePart | None:
    """Return the part with time series of the actuators; None without series."""
    case = results.case
    every = tuple(quantities.quantities(case))
    rows = tuple(quantity for quantity in every if quantity.known) or every
    if not rows or not (along := quantities.axes(case)).trajectories:
        return None
    body = paragraph(results.heading(results.design), "which")
    friction = any(quantity.name == "friction_part" for quantity in rows)
    body += paragraph(
        "One line for each actuator, positive along its axis; the dotted line is the time of the mechanism above."
        + (" The part of friction is the effort with friction less the effort without." if friction else "")
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
        "samples": along.times.shape[-1],
        "rows": [quantity.name for quantity in rows],
        "actuators": len(along.actuators),
    }
    chart = charts.series(rows, along.actuators)
    return PagePart("series-part", "Actuators over time", body, {"series": chart}, {"series": data}, "Over time")


def workspace(results: Results, bundle: ArrayBundle) -> PagePart | None:
    """Return the map of a workspace, or the platform's positions; None for a chain, and if they are not known."""
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


def answer(results: Results) -> PagePart:
    """Return the answer, with the view of the mechanism."""
    compared = bool(results.designs.objectives)
    words = _words(results) if compared else paragraph(results.heading(results.design), "which")
    view, data = mechanism(results)
    body = f'<div class="hero"><div class="words">{words}</div><div class="view">{view}</div></div>'
    return PagePart("answer", "The answer" if compared else "The mechanism", body, {}, data | _data(results), "Answer")


def _words(results: Results) -> str:
    good, words = verdict(results)
    tiles = "".join(
        f'<div class="tile" data-column="{escape(number.column.name)}"><dt>{escape(number.column.words)}</dt>'
        f'<dd class="value">{escape(number.column.text_at(results.place))}</dd>'
        f'<dd class="note">{escape(number.note(results, results.place))}</dd></div>'
        for number in key_numbers(results)
    )
    cases = [(str(case), results.case_words(case)) for case in range(results.designs.numbers.shape[1])]
    choice = select("case", "Shown case", cases, str(results.worst_case(results.place))) if len(cases) > 1 else ""
    field = '<label for="design-number">Show design <input type="number" id="design-number" min="0" step="1"></label>'
    every = table((), ("", "value", "meaning"), "design-row")
    chooser = (
        f'<div class="controls">{field}{choice}<button type="button" id="pin">Pin for comparison</button></div>'
        + paragraph("", "note", "design-note", live=True)
        + f"<details><summary>All numbers of this design</summary>{every}</details>"
    )
    return (
        paragraph(question_words(results), "question")
        + paragraph(answer_words(results), "which answer", "design-title", live=True)
        + paragraph(words, "verdict" if good else "warning", "verdict")
        + _advice(Advice(results))
        + f'<dl class="tiles">{tiles}</dl>'
        + (chooser if is_compared(results) else "")
    )


def _advice(advice: Advice) -> str:
    """Return the advice about the chosen design: comparison, certainty, limits, next steps."""
    rows, limits = advice.limits(), ""
    if rows:
        limits = markup_table(
            [tuple(map(escape, row)) for row in rows], ("limit", "to spare", "1 % relaxed gains"), "stack"
        )
    steps = "".join(f"<li>{escape(step)}</li>" for step in advice.next_step())
    entries = {
        "How much better?": f"<p>{escape(advice.better())}</p>",
        "How sure?": f"<p>{escape(advice.sure())}</p>",
        "What limits it?": limits or f"<p>{escape(advice.unlimited())}</p>",
        "What next?": f"<ul>{steps}</ul>",
    }
    parts = (f"<dt>{head}</dt><dd>{body}</dd>" for head, body in entries.items())
    return f'<dl id="advice">{"".join(parts)}</dl>'


def _data(results: Results) -> dict[str, Any]:
    numbers = [
        {
            "column": number.column.name,
            "bound": number.bound_of(results.place),
            "by": number.by.name if number.by is not None and number.by.varies else None,
            "least": number.least,
        }
        for number in key_numbers(results)
    ]
    return {"tiles": numbers, "cases": [results.case_words(k) for k in range(results.designs.numbers.shape[1])]}


def parts(results: Results, bundle: ArrayBundle | None = None) -> Iterator[PagePart]:
    """Make the parts that the results have data for; arrays that the page needs at once go into the bundle."""
    arrays = ArrayBundle() if bundle is None else bundle
    every = (
        answer(results),
        trade_off(results) if design_parts.is_compared(results) else None,
        decides(results),
        failed(results),
        design_parts.designs(results),
        series(results, arrays),
        workspace(results, arrays),
        _swept(results),
        _provenance(results),
    )
    yield from (part for part in every if part is not None)


def _swept(results: Results) -> PagePart:
    unchanged = list(overview.fixed(results.dataset))
    folded = details(f"{len(unchanged)} parameters that were not swept", table(unchanged, ("parameter", "value", "")))
    body = (
        paragraph(_lead(results))
        + table(overview.swept(results.dataset, results.units))
        + (folded if unchanged else "")
    )
    return PagePart("swept", "Swept parameters", body, {}, {}, "Swept")


def _lead(results: Results) -> str:
    """Summarise the results in one sentence."""
    sizes = results.dataset.sizes
    counts = ((sizes.get(dim, 1), dim) for dim in ("design", "trajectory"))
    size = " on ".join(
        f"{n:,} {dim}s".replace("trajectorys", "trajectories") if n > 1 else f"one {dim}" for n, dim in counts
    )
    sets = sizes.get("friction", 1)
    size += f" under {sets:,} friction sets" if sets > 1 else ""
    return f"Results of limbsweep: {size} of the robot {results.dataset.attrs.get('robot', 'unknown')}."


def _provenance(results: Results) -> PagePart:
    body = table(overview.provenance(results.dataset))
    if text := str(results.dataset.attrs.get("sweep", "")):
        body += details("The sweep file", f"<pre>{escape(text)}</pre>")
    return PagePart("provenance", "Where this comes from", body, {}, {}, "Source")


SUFFIXES = (".html", ".htm")
STYLES = ("page.css", "parts.css", "print.css")
SCRIPTS = (
    *("base.js", "theme.js", "columns.js", "canvas.js", "parallel.js", "scatter.js", "listing.js", "designs.js"),
    *("scene.js", "bodies.js", "mechanism.js", "plots.js", "series.js", "workspace.js", "runs.js"),
    *("print.js", "start.js"),
)
"""Scripts of `web/`, in the order in which they are read and run, all in one function."""


def page(results: Results, runs: ComparedRuns | None = None) -> str:
    """Make the text of the HTML file, of a run, or of the best of several with all of them in front."""
    from plotly.offline import get_plotlyjs

    bundle = ArrayBundle()
    sections = [*([side_by_side(runs, bundle)] if runs else []), *parts(results, bundle)]
    data = {name: value for part in sections for name, value in part.data.items()}
    if is_compared(results):
        data["designs"] = table_data(results, bundle)
    data["details"] = design_details(results)
    data["figures"] = {name: figure for part in sections for name, figure in part.plain_figures().items()}
    data["bundle"] = bundle.text()
    title = results.question.title or str(results.dataset.attrs.get("title", "")) or "limbsweep results"
    if runs and len({run.results.question.title for run in runs.runs} | {""}) != 2:  # they share no question in words
        title = " against ".join(run.name for run in runs.runs)
    return Template(_file("page.html")).substitute(
        title=escape(title),
        nav="".join(f'<li><a href="#{part.identity}">{escape(part.short or part.title)}</a></li>' for part in sections),
        sections=_sections(sections),
        style="\n".join(_file(name) for name in STYLES),
        data=script_json(data),
        plotly=get_plotlyjs() if data["figures"] else "",
        script="(() => {\n" + "\n".join(_file(name) for name in SCRIPTS) + "})();",
    )


def check(path: Path, *, force: bool = False) -> None:
    """Check that a report may be written there, before it is made. Raises InputError."""
    if path.suffix.lower() not in SUFFIXES:
        rule = f"a file name that ends in {' or '.join(SUFFIXES)}"
        raise refused(OPTION, show(str(path)), rule, "The report is a page.")
    check_output(path, force=force)


def write(results: Results, path: Path, *, force: bool = False) -> None:
    """Write the report as a file: whole, or not at all. Raises InputError where it may not or cannot be written."""
    write_text(path, page(results), force=force)


def write_runs(runs: ComparedRuns, path: Path, *, force: bool = False) -> None:
    """Write the report of several runs, as that of one. Raises InputError."""
    write_text(path, page(runs.runs[runs.best].results, runs), force=force)


def _sections(sections: Sequence[PagePart]) -> str:
    return "".join(
        f'<section id="{part.identity}" class="part" aria-labelledby="{part.identity}-title">'
        f'<h2 id="{part.identity}-title">{escape(part.title)}</h2>{part.body}</section>'
        for part in sections
    )


def _file(name: str) -> str:
    return files("applications.report").joinpath("web", name).read_text(encoding="utf-8")
