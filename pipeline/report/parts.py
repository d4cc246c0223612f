"""The parts of a page in their order: each is a title, text and controls, figures, and data; or nothing.

A part appears only where the store has what it shows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pipeline.report import charts, motion, overview, trouble
from pipeline.report.designs import MOST_SHOWN, Column
from pipeline.report.markup import button, details, figure, packed, paragraph, select, table
from pipeline.report.results import Results
from pipeline.report.series import axes, series
from pipeline.report.workspace import choices, visited

MOST_AXES = 12
"""Axes of parallel coordinates: more are too narrow to brush."""


@dataclass(frozen=True)
class Part:
    """A section of the page; `body` is markup, `figures` plotly figures by id, `data` what `page.js` fills in."""

    identity: str
    title: str
    body: str
    figures: Mapping[str, Any] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)

    def plain_figures(self) -> dict[str, Any]:
        """The figures in types of JSON."""
        return {name: json.loads(each.to_json()) for name, each in self.figures.items()}


def parts(results: Results) -> Iterator[Part]:
    """The parts that the results have data for."""
    for make in MAKERS:
        if (part := make(results)) is not None:
            yield part


def _swept(results: Results) -> Part:
    unchanged = list(overview.fixed(results.dataset))
    folded = details(f"{len(unchanged)} parameters that were not swept", table(unchanged, ("parameter", "value", "")))
    return Part("swept", "What was swept", table(overview.swept(results.dataset)) + (folded if unchanged else ""))


def _designs(results: Results) -> Part | None:
    found = results.designs
    axes = [each for each in (*found.parameters, *found.objectives) if each.varies][:MOST_AXES]
    if len(axes) < 2 or not len(results.shown) or not found.objectives:
        return None
    scale = next((each.name for each in axes if each.objective), axes[-1].name)
    shown = [each.values[results.shown] for each in axes]
    body = paragraph(
        "Each line is a design; each axis one of its parameters, or the worst that it has to carry. Drag along an axis "
        "to brush: lines outside turn grey, here and in the figure of objectives. Drag a title to move its axis."
    )
    body += paragraph(_thinning(results), "note", "designs-note")
    options = [(each.name, each.name.replace("_", " ")) for each in axes]
    body += f'<div class="controls">{select("colour-by", "Colour by", options, scale)}'
    body += f"{button('unbrush', 'Remove the brush')}</div>"
    body += figure("parallel", f"Parallel coordinates of designs: {', '.join(each.label for each in axes)}.")
    body += paragraph("", "readout", "brush-count", live=True)
    heads = ("design", *(each.label for each in _told(results)))
    body += details("The best designs in the brush", table((), heads, "brush-rows"))
    return Part(
        "designs",
        "Designs",
        body,
        {"parallel": charts.parallel(axes, shown, scale)},
        {"designs": _table_data(results) | {"axes": [each.name for each in axes], "scale": scale}},
    )


def _thinning(results: Results) -> str:
    found, shown = results.designs, len(results.shown)
    good = int(found.good.sum())
    text = f"{shown:,} of {found.count:,} designs are shown."
    if good < found.count:
        text += f" {found.count - good:,} have a failed or missing sample and are left out."
    if shown < good:
        text += (
            f" The others are thinned to {MOST_SHOWN:,}: the best, those on the front of any two objectives, and more"
            " drawn at random with a fixed seed. Fronts and shares of variance are of all designs."
        )
    return text


def _told(results: Results) -> list[Column]:
    """Columns that are told of a design."""
    return [each for each in results.designs.columns if each.objective or each.varies]


def _table_data(results: Results) -> dict[str, Any]:
    shown, found = results.shown, results.designs
    place = {int(design): index for index, design in enumerate(shown)}
    columns = [
        {
            "name": each.name, "words": each.name.replace("_", " "), "label": each.label, "units": each.units,
            "text": each.text, "how": each.how or "as stored", "sign": each.sign, "values": packed(each.values[shown]),
        }
        for each in _told(results)
    ]  # fmt: skip
    return {
        "numbers": packed(shown, "i4"),
        "count": found.count,
        "columns": columns,
        "fronts": {
            "|".join(pair): [place[int(design)] for design in front if int(design) in place]
            for pair, front in found.fronts.items()
        },
        "chosen": place.get(results.design),
    }


def _front(results: Results) -> Part | None:
    objectives = [each for each in results.designs.objectives if each.varies]
    if len(objectives) < 2 or _designs(results) is None:
        return None
    options = [(each.name, each.label) for each in objectives]
    body = paragraph(
        "Designs by two objectives. A design is on the front if none is better in both. Point at a design to see its "
        "numbers, click it to keep them in the table below; the button steps along the front."
    )
    body += f'<div class="controls">{select("front-x", "Across", options, objectives[0].name)}'
    body += select("front-y", "Up", options, objectives[1].name) + button("front-next", "Next design on the front")
    body += "</div>" + figure("front", "Designs by two objectives, with those that no other beats in both.")
    body += paragraph("", "note", "front-note", live=True)
    body += '<h3 id="design-title" aria-live="polite">Design</h3>'
    body += table((), ("", "value", "meaning"), "design-row")
    return Part("objectives", "Objectives against each other", body, {"front": charts.front(*objectives[:2])})


def _sensitivity(results: Results) -> Part | None:
    if len(results.designs.parameters) < 2:
        return None  # a single parameter decides all there is
    made = charts.sensitivity(results.designs)
    if made is None:
        return None
    body = paragraph(
        "How much of the variance of an objective over all designs each parameter explains by itself: 1 means that it "
        "decides alone, 0 that its mean effect is none. What is missing to a sum of 1 comes from parameters acting "
        "together. Shares belong to the ranges that were swept."
    )
    body += figure("sensitivity", "Share of the variance of each objective that each parameter explains.")
    return Part("sensitivity-part", "Which parameter decides", body, {"sensitivity": made})


def _mechanism(results: Results) -> Part | None:
    case = results.case
    if case is None:
        text = "The mechanism cannot be drawn, because the sweep in the store cannot be read again: "
        return Part("motion", "The mechanism", paragraph(text + results.why_no_case, "warning"))
    frames = motion.motions(case)
    size, force = motion.scale(frames)
    if not size:
        return Part("motion", "The mechanism", paragraph("Every sample of this design failed.", "warning"))
    arrow = motion.ARROW * size / force if force else 0.0
    names = [(str(index), name) for index, name in enumerate(case.trajectories)]
    body = paragraph(
        f"{_which(results)}. Lines are bodies, circles joints, arrows the force in each joint on the body that it "
        f"carries. The longest arrow is {force:.4g} N. Drag to turn, scroll to come nearer."
    )
    body += '<div class="controls">' + select("trajectory", "Trajectory", names) + button("play", "Play")
    body += (
        '<label class="wide" for="time">Time <input type="range" id="time" min="0" max="0" value="0" step="1">'
        '<output id="time-value" for="time"></output></label>'
        '<label for="arrows"><input type="checkbox" id="arrows" checked> Reaction forces</label></div>'
    )
    body += figure("mechanism", "The mechanism in three dimensions at the time of the slider, in metres.")
    body += paragraph("", "readout", "frame-readout", live=True)
    limbs = [each.name for each in case.mechanism.instances]
    chart = charts.mechanism(frames, limbs, motion.mounts(case))
    data = {"trajectories": [_frames(each) for each in frames], "joints": motion.joint_names(case), "arrow": arrow}
    return Part("motion", "The mechanism", body, {"mechanism": chart}, {"mechanism": data})


def _which(results: Results) -> str:
    found, dataset = results.designs, results.dataset
    row = [f"{each.name.replace('_', ' ')} {each.values[results.design]:g} {each.units}" for each in found.parameters]
    text = f"Design {results.design}" + (f" ({', '.join(each.strip() for each in row)})" if row else "")
    if dataset.sizes.get("friction", 1) > 1:
        sets = [
            f"{str(name).replace('_', ' ')} {float(each[results.friction]):g} {each.attrs.get('units', '')}".strip()
            for name, each in dataset.coords.items()
            if each.dims == ("friction",) and each.dtype.kind in "fiu"
        ]
        text += f", friction set {results.friction}" + (f" ({', '.join(sets)})" if sets else "")
    return text


def _frames(each: motion.Motion) -> dict[str, Any]:
    centre = each.platform[:, :-1].mean(axis=1) if each.platform.shape[1] else np.zeros((len(each.times), 3))
    return {
        "name": each.name,
        "times": packed(each.times),
        "limbs": [packed(limb, "f4") for limb in each.limbs],
        "platform": packed(each.platform, "f4"),
        "path": packed(centre[None], "f4"),
        "joints": packed(each.joints, "f4"),
        "force": packed(each.force),
        "moment": packed(each.moment),
    }


def _series(results: Results) -> Part | None:
    rows = series(results)
    if not rows:
        return None
    along = axes(results)
    body = paragraph(
        f"{_which(results)}. One line for each actuator, positive along its axis."
        + (
            " What friction asks of an actuator is its effort with friction less that without."
            if any(each.name == "friction_part" for each in rows)
            else ""
        )
    )
    if results.stride > 1:
        body += paragraph(f"One of {results.stride} times is shown.", "note")
    if (total := results.dataset.sizes["trajectory"]) > len(along.trajectories):
        body += paragraph(f"The first {len(along.trajectories)} of {total:,} trajectories.", "note")
    options = [(str(index), name) for index, name in enumerate(along.trajectories)]
    body += f'<div class="controls">{select("series-trajectory", "Trajectory", options)}</div>'
    body += figure(
        "series", "Time series of the actuators: " + ", ".join(each.title.replace("<br>", " ") for each in rows)
    )
    data = {
        "times": packed(along.times),
        "rows": [{"name": each.name, "units": each.units, "values": packed(each.values)} for each in rows],
    }
    return Part(
        "series-part", "Actuators over time", body, {"series": charts.series(rows, along.actuators)}, {"series": data}
    )


def _workspace(results: Results) -> Part | None:
    position = visited(results)
    offered = choices(results) if position is not None else ()
    if position is None or not offered:
        return None
    body = paragraph(
        f"Where the platform is on the trajectories, from above and from the side. Efforts are those of design "
        f"{results.design}; the share of designs counts all of the store."
    )
    options = [(str(index), each.label) for index, each in enumerate(offered)]
    body += f'<div class="controls">{select("workspace-colour", "Colour by", options)}</div>'
    body += figure("workspace", "Positions of the platform seen from above and from the side, coloured by a number.")
    flat = position.reshape(-1, 3)
    data = [{"label": each.label, "values": packed(each.values.reshape(-1))} for each in offered]
    chart = charts.workspace(flat, offered[0].values.reshape(-1), offered[0].label)
    return Part("workspace-part", "Workspace", body, {"workspace": chart}, {"workspace": data})


def _trouble(results: Results) -> Part | None:
    found = trouble.troubles(results.dataset)
    if found is None:
        return None
    title = "Failed and flagged samples"
    if not found.bad:
        return Part("failed", title, paragraph(f"None: all {found.total:,} {found.what} are OK."))
    bad = sum(each.count for each in found.bad)
    body = paragraph(f"{bad:,} of {found.total:,} {found.what} are not OK. They hold no numbers; the rest is complete.")
    rows = [
        (
            each.name.replace("_", " ").lower(), f"{each.count:,} ({100 * each.count / found.total:.3g} %)",
            f"{each.designs:,}: {', '.join(map(str, each.first))}{', ...' if each.designs > len(each.first) else ''}",
            each.advice,
        )
        for each in found.bad
    ]  # fmt: skip
    body += table(rows, ("status", found.what.split(",")[0], "in designs", "what to do"))
    body += figure("trouble", "Share of each trajectory's samples by status.")
    return Part("failed", title, body, {"trouble": charts.troubles(found)})


def _provenance(results: Results) -> Part:
    body = table(overview.provenance(results.dataset))
    if text := str(results.dataset.attrs.get("sweep", "")):
        from html import escape

        body += details("The sweep file", f"<pre>{escape(text)}</pre>")
    return Part("provenance", "Where this comes from", body)


MAKERS: tuple[Callable[[Results], Part | None], ...] = (
    _swept,
    _designs,
    _front,
    _sensitivity,
    _mechanism,
    _series,
    _workspace,
    _trouble,
    _provenance,
)
