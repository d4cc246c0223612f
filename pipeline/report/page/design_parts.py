"""Parts of a page about all designs: parallel coordinates, two objectives against each other, what decides.

The two figures of designs share one table, which `page.js` puts into them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pipeline.report import style
from pipeline.report.data.designs import MOST_SHOWN, DesignColumn, Designs
from pipeline.report.data.results import Results
from pipeline.report.page import charts
from pipeline.report.page.markup import button, details, figure, packed, paragraph, select, table
from pipeline.report.page.part import PagePart

MOST_AXES = 12
"""Axes of parallel coordinates: more are too narrow to brush."""

MOST_PAIRS = 6
LEAST_TOGETHER = 0.03
"""Interactions that are told: how many, and from what share of the variance."""


def designs(results: Results) -> PagePart | None:
    """Parallel coordinates with brushing; None where there is nothing to compare."""
    axes = _axes(results)
    if not axes:
        return None
    scale = next((axis.name for axis in axes if axis.objective), axes[-1].name)
    shown = [axis.values[results.shown] for axis in axes]
    body = paragraph(
        "Each line is a design; each axis one of its parameters, or the worst that it has to carry. Drag along an axis "
        "to brush: lines outside turn grey, here and in the figure of objectives. Drag a title to move its axis. Click "
        "a line, or a number in the table, to look into a design."
    )
    body += paragraph(_thinning(results), "note", "designs-note")
    options = [(axis.name, axis.words) for axis in axes]
    body += f'<div class="controls">{select("colour-by", "Colour by", options, scale)}'
    body += f"{button('unbrush', 'Remove the brush')}</div>"
    body += figure("parallel", f"Parallel coordinates of designs: {', '.join(axis.label for axis in axes)}.")
    body += paragraph("Point at a line to see its numbers.", "readout", "line-readout")
    body += paragraph("", "readout", "brush-count", live=True)
    heads = ("design", *(column.label for column in _described_columns(results)))
    body += details("The best designs in the brush", table((), heads, "brush-rows"), is_open=True)
    return PagePart(
        "designs",
        "Designs",
        body,
        {"parallel": charts.parallel(axes, shown, scale)},
        {"designs": _table_data(results) | {"axes": [axis.name for axis in axes], "scale": scale}},
    )


def single_design(results: Results) -> PagePart | None:
    """The numbers of the design that is looked into, with a field to ask for another; None where there is no other."""
    if not _axes(results):
        return None
    field = '<label for="design-number">Show design <input type="number" id="design-number" min="0" step="1"></label>'
    body = f'<h3 id="design-title" aria-live="polite">Design {results.design}</h3><div class="controls">{field}</div>'
    body += paragraph("", "note", "design-note", live=True)
    return PagePart("one", "One design", body + table((), ("", "value", "meaning"), "design-row"))


def _axes(results: Results) -> list[DesignColumn]:
    """Axes of parallel coordinates; none where there is nothing to compare."""
    axes = [*results.designs.parameters, *results.objectives][:MOST_AXES]
    return axes if len(axes) > 1 and any(axis.objective for axis in axes) else []


def _thinning(results: Results) -> str:
    all_designs, shown = results.designs, len(results.shown)
    good = int(all_designs.good.sum())
    text = f"{shown:,} of {all_designs.count:,} designs are shown."
    if good < all_designs.count:
        text += f" {all_designs.count - good:,} have a failed or missing sample and are left out."
    if shown < good:
        text += (
            f" The others are thinned to {MOST_SHOWN:,}: the best, those on the front of any two objectives, and more"
            " drawn at random with a fixed seed. Fronts and shares of variance are of all designs."
        )
    return text


def _described_columns(results: Results) -> list[DesignColumn]:
    """Columns that are told of a design."""
    return [column for column in results.designs.columns if column.objective or column.varies]


def _table_data(results: Results) -> dict[str, Any]:
    shown, all_designs = results.shown, results.designs
    place = {int(design): index for index, design in enumerate(shown)}
    columns = [
        {
            "name": column.name, "words": column.words, "label": column.label, "units": column.units,
            "text": column.text, "how": column.how or "as stored", "sign": column.sign,
            "values": packed(column.values[shown]),
        }
        for column in _described_columns(results)
    ]  # fmt: skip
    return {
        "numbers": packed(shown, "i4"),
        "count": all_designs.count,
        "columns": columns,
        "fronts": {
            "|".join(pair): [place[int(design)] for design in front if int(design) in place]
            for pair, front in all_designs.fronts.items()
        },
        "chosen": place.get(results.design),
        "dark": style.GREY,
        "light": style.LIGHT,
    }


def front(results: Results) -> PagePart | None:
    """Two objectives against each other; None where there are fewer."""
    pair, objectives = results.conflict, results.objectives
    if pair is None or not _axes(results):
        return None
    options = [(objective.name, objective.label) for objective in objectives]
    body = paragraph(
        "Designs by two objectives. A design is on the front if none is better in both. Point at a design to see its "
        "numbers, click it to see its row, its mechanism and its series; the button steps along the front."
    )
    body += f'<div class="controls">{select("front-x", "Across", options, pair[0].name)}'
    body += select("front-y", "Up", options, pair[1].name) + button("front-next", "Next design on the front")
    body += "</div>" + figure("front", "Designs by two objectives, with those that no other beats in both.")
    body += paragraph("", "note", "front-note", live=True)
    return PagePart("objectives", "Objectives against each other", body, {"front": charts.front(*pair)})


def sensitivity(results: Results) -> PagePart | None:
    """What each parameter explains; None where at most one was swept."""
    all_designs = results.designs
    if len(all_designs.causes) < 2 or not all_designs.explained:
        return None  # a single parameter decides all there is
    body = paragraph(
        "How much of the variance of an objective over all designs each parameter explains by itself: 1 means that it "
        "decides alone, 0 that its mean effect is none. What is missing to a sum of 1 comes from parameters acting "
        "together. Shares belong to the ranges that were swept."
    )
    body += figure("sensitivity", "Share of the variance of each objective that each parameter explains.")
    if pairs := _pairs(all_designs):
        body += paragraph("Pairs that explain more together than each of them does alone:")
        body += table(pairs, ("objective", "parameters", "share more"))
    return PagePart(
        "sensitivity-part", "Which parameter decides", body, {"sensitivity": charts.sensitivity(all_designs)}
    )


def _pairs(all_designs: Designs) -> list[tuple[str, str, str]]:
    """The strongest interactions: objective, two parameters, what they explain beyond what each does."""
    rows = []
    for objective, shares in all_designs.explained:
        for i, j in zip(*np.tril_indices(len(shares.names), -1), strict=True):
            rows.append((float(shares.interaction[i, j]), objective.words, f"{shares.names[j]} with {shares.names[i]}"))
    best = sorted((row for row in rows if row[0] >= LEAST_TOGETHER), reverse=True)[:MOST_PAIRS]
    return [(objective, pair, f"{share:.2f}") for share, objective, pair in best]
