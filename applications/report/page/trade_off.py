"""Comparison of the chosen design with its neighbours on the front: gains and losses."""

from __future__ import annotations

from html import escape

import numpy as np

from applications.report.data.designs import ROUNDING, Array, DesignColumn
from applications.report.data.display import rounded
from applications.report.data.results import Results
from applications.report.page.markup import button, drawing, markup_table, paragraph, select
from applications.report.page.part import PagePart

MOST_NEIGHBOURS = 3
"""Number of designs on the front that are shown on each side of the chosen one."""

MOST_CHANGES = 4
"""Number of parameters of a neighbour that are shown."""

LEAST_CHANGE = 0.005
"""Smallest change of a parameter that is shown, as a share of its range."""


def trade_off(results: Results) -> PagePart | None:
    """Return two objectives against each other, and the neighbours in words; None for fewer objectives."""
    pair, objectives = results.conflict, results.objectives
    if pair is None:
        return None
    options = [(objective.name, objective.words) for objective in objectives]
    rows = _neighbours(results, pair)
    body = paragraph(
        "A design is on the front if no other that meets the conditions is better in both. Click a point, or step "
        "along the front by the arrow keys: answer, mechanism and series follow."
    )
    if lacking := int((~np.isfinite([column.values[results.shown] for column in pair])).any(axis=0).sum()):
        body += paragraph(f"Designs without these numbers, which are not drawn: {lacking:,}.", "note")
    if rows:
        heads = ("design", *(escape(column.words) for column in pair), "other changes")
        body += "<h3>Neighbours and the chosen design</h3>" + markup_table(rows, heads, "stack")
    body += f'<div class="controls">{select("front-x", "Across", options, pair[0].name)}'
    body += select("front-y", "Up", options, pair[1].name) + button("front-next", "Next design on the front") + "</div>"
    body += drawing("front", "Designs by two objectives, with the designs that no other beats in both.", "tall")
    body += paragraph("", "readout", "front-readout", live=True) + paragraph("", "note", "front-note", live=True)
    return PagePart("trade-off", "Trade-off with neighbours", body, {}, {}, "Trade-off")


def _neighbours(results: Results, pair: tuple[DesignColumn, DesignColumn]) -> list[tuple[str, ...]]:
    """Return rows of designs near the chosen one in the first objective: on the front; if that is short, next best."""
    table, place = results.designs, results.place
    line = table.fronts[pair[0].name, pair[1].name]
    first = pair[0].values
    order = line[np.argsort(np.abs(first[line] - first[place]), kind="stable")]
    near = [int(design) for design in order if design != place][: 2 * MOST_NEIGHBOURS]
    if len(near) < 2 * MOST_NEIGHBOURS:
        costs = np.where(table.meets, pair[0].sign * first, np.inf)
        best = [int(design) for design in np.argsort(costs, kind="stable")[: 4 * MOST_NEIGHBOURS]]
        best = [design for design in best if np.isfinite(costs[design]) and design not in (*near, place)]
        near += best[: 2 * MOST_NEIGHBOURS - len(near)]
    near.sort(key=lambda design: first[design])
    rows = []
    for design in near:
        number = int(table.numbers[design, 0])
        cells = [_change(column, int(design), place) for column in pair]
        name = f'<span class="number-of" data-design="{number}">{number}</span>'
        rows.append((name, *cells, _changes(results, int(design))))
    return rows


def _change(column: DesignColumn, design: int, place: int) -> str:
    """Return a number of a neighbour, and by how much it is better or worse than the chosen design's."""
    value, mine = float(column.values[design]), float(column.values[place])
    text = escape(column.text_at(design))
    if not mine or not np.isfinite(mine) or not np.isfinite(value):
        return text
    share = (value - mine) / abs(mine)
    kind = "better" if share * column.sign < 0 else "worse"
    return (
        f'{text} <span class="{kind}">{rounded(100 * abs(share), 2)} % {kind}</span>' if abs(share) > ROUNDING else text
    )


def _changes(results: Results, design: int) -> str:
    """Return the parameters in which a neighbour differs most from the chosen design."""
    place = results.place
    columns = list(results.designs.choices)
    shares = [abs(c.values[design] - c.values[place]) / (float(np.ptp(_known(c.values))) or 1.0) for c in columns]
    shares = [float(share > 0.0) if c.texts else share for share, c in zip(shares, columns, strict=True)]
    order = sorted(range(len(columns)), key=lambda k: -shares[k])[:MOST_CHANGES]
    changes = [
        f"{columns[k].words} {columns[k].text_at(place)} → {columns[k].text_at(design)}"
        for k in order
        if shares[k] > LEAST_CHANGE
    ]
    return escape("; ".join(changes) or "nothing that was swept")


def _known(values: Array) -> Array:
    return values[np.isfinite(values)]
