"""Parts of a page about all designs: parallel coordinates, two objectives against each other, what decides.

The two figures of designs share one table, which `page.js` puts into them.
"""

from __future__ import annotations

from typing import Any

from pipeline.report import charts
from pipeline.report.designs import MOST_SHOWN, Column
from pipeline.report.markup import button, details, figure, packed, paragraph, select, table
from pipeline.report.part import Part
from pipeline.report.results import Results

MOST_AXES = 12
"""Axes of parallel coordinates: more are too narrow to brush."""


def designs(results: Results) -> Part | None:
    """Parallel coordinates with brushing; None where there is nothing to compare."""
    axes = _axes(results)
    if not axes:
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


def _axes(results: Results) -> list[Column]:
    """Axes of parallel coordinates; none where there is nothing to compare."""
    found = results.designs
    axes = [each for each in (*found.parameters, *found.objectives) if each.varies][:MOST_AXES]
    return axes if len(axes) > 1 and found.objectives and len(results.shown) else []


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


def front(results: Results) -> Part | None:
    """Two objectives against each other; None where there are fewer."""
    objectives = [each for each in results.designs.objectives if each.varies]
    if len(objectives) < 2 or not _axes(results):
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


def sensitivity(results: Results) -> Part | None:
    """What each parameter explains; None where at most one was swept."""
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
