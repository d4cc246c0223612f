"""Page part with filters: ranges, parallel coordinates, scatter matrix, table, comparison of pinned designs.

All of them share one table of columns, which the scripts of the page filter and draw.
"""

from __future__ import annotations

from html import escape
from itertools import combinations
from typing import Any

import numpy as np

from applications.report.data.answer import MOST_WORDS
from applications.report.data.designs import DesignColumn, Designs
from applications.report.data.results import Results
from applications.report.page.bundle import ArrayBundle
from applications.report.page.markup import button, details, drawing, paragraph, select
from applications.report.page.part import PagePart

MOST_AXES = 8
"""Axes of parallel coordinates that are drawn at a time."""

MOST_SHOWN = 200_000
MOST_NUMBERS = 1_500_000
"""Designs of a page, and numbers of its table."""

MOST_BINNED, BINS = 6, (128, 96)
"""Objectives whose pairs are binned where designs are thinned, and bins across and up."""
SHADES, FAR = 15.0, 2e-3
"""Shades for a factor of e in a bin, and share of designs at each end of a range that are in no bin."""

EXACT_NUMBERS = 150_000
"""Numbers of the table up to which they keep all their bits; of more they have nearly five digits."""

FEW_VALUES = 256
"""Different values of a column up to which they keep all their bits anyway."""


def designs(results: Results) -> PagePart | None:
    """Return the page part with filters; None where there is nothing to compare."""
    axes = table_columns(results)
    if not is_compared(results):
        return None
    scale = next((axis.name for axis in axes if axis.objective), axes[-1].name)
    body = paragraph(
        "Each line is a design and each axis one of its numbers, the worst over operating cases. Drag along an axis to "
        "keep a range of it, or type ranges; every figure and the table follow. Click a line, a point or a number to "
        "look into a design."
    )
    body += paragraph(_thinning(results), "note", "designs-note")
    body += "" if results.conflict else paragraph(_without_trade_off(results), "note")
    body += f'<div class="controls">{select("colour-by", "Colour by", [(a.name, a.words) for a in axes], scale)}'
    body += f"{button('unbrush', 'Remove all ranges')}{button('download', 'Download these designs (CSV)')}</div>"
    body += paragraph("", "readout", "brush-count", live=True)
    body += drawing("parallel", f"Parallel coordinates of designs: {', '.join(a.title for a in axes)}.", "parallel")
    body += paragraph("", "readout", "line-readout", live=True)
    body += details("Axes and ranges", _ranges(axes, _first_axes(results, axes)))
    body += _listing()
    body += '<h3 id="pinned-title">Pinned designs</h3><div id="pinned"></div>'
    matrix = drawing("matrix", "Scatter plots of each pair of some axes.", "matrix")
    body += details("Scatter matrix of the first axes", matrix, is_open=True)
    return PagePart("designs", "All designs", body, {}, {}, "All designs")


def _without_trade_off(results: Results) -> str:
    """Return the reason why the page has no trade-off, as a sentence."""
    what = "no metric differs that all these designs have"
    if results.objectives:
        what = f"{results.objectives[0].words} is the only metric in which these designs differ"
    return f"No trade-off is drawn: {what}. With a second metric, designs are drawn by both."


def _listing() -> str:
    """Return the table with its search and its pages; the scripts fill it."""
    hint = "412, or upper arm &lt; 0.4"
    field = f'<input type="search" id="search" placeholder="{hint}" autocomplete="off">'
    note = '<span id="search-note" class="note" aria-live="polite"></span>'
    pages = f'{button("earlier", "Previous")}<span id="page-of" aria-live="polite"></span>{button("later", "Next")}'
    return (
        f'<h3>Table</h3><div class="controls"><label for="search">Search {field}</label>{note}</div>'
        '<div class="table"><table id="listing"><thead></thead><tbody id="brush-rows"></tbody></table></div>'
        f'<div class="controls pages">{pages}</div>'
    )


def is_compared(results: Results) -> bool:
    """Return whether there are designs to compare."""
    axes = table_columns(results)
    return len(axes) > 1 and any(axis.objective and axis.varies for axis in axes) and bool(results.designs.good.any())


def table_columns(results: Results) -> list[DesignColumn]:
    """Return the columns of the page: varying parameters, then objectives; constant ones are stated, not drawn."""
    return [*results.designs.parameters, *(c for c in results.designs.objectives if np.isfinite(c.values).any())]


def _first_axes(results: Results, axes: list[DesignColumn]) -> list[str]:
    """Return the axes that are drawn at first: parameters that decide, and the first objectives, eight at most."""
    names = [axis.name for axis in axes]
    objectives = [axis.name for axis in axes if axis.objective and axis.varies][: MOST_AXES // 2]
    parameters = [column.name for column in results.designs.causes.values()][: MOST_AXES - len(objectives)]
    return [name for name in names if name in (*parameters, *objectives)]


def _ranges(axes: list[DesignColumn], drawn: list[str]) -> str:
    """Return a row of each column: whether it is an axis, and its range as two numbers in the unit that is shown."""
    rows = "".join(_range(axis, axis.name in drawn) for axis in axes)
    head = '<thead><tr><th scope="col">axis</th><th scope="col">from</th><th scope="col">to</th><th></th></tr></thead>'
    return (
        f'<div class="table"><table>{head}<tbody id="ranges">{rows}</tbody></table></div>'
        f'<p class="note">At most {MOST_AXES} axes are drawn at a time.</p>'
    )


def _range(axis: DesignColumn, drawn: bool) -> str:
    name, words = escape(axis.name), escape(axis.words)
    box = f'<input type="checkbox" class="axis" value="{name}"{" checked" * drawn}>'
    ends = "".join(
        f'<td><input type="number" step="any" class="{kind}" data-column="{name}" aria-label="{text} {words}"></td>'
        for kind, text in (("low", "least"), ("high", "largest"))
    )
    title = f'<th scope="row"><label>{box} {escape(axis.title)}</label></th>'
    return f'<tr>{title}{ends}<td class="note">{escape(axis.text_of)}</td></tr>'


def _thinning(results: Results) -> str:
    totals, shown = results.designs.totals, len(shown_designs(results))
    text = f"{shown:,} of {totals.designs:,} designs are in this page."
    if failed := totals.designs - totals.good:
        has, are = ("has", "is") if failed == 1 else ("have", "are")
        text += f" {failed:,} {has} a failed or missing sample and {are} left out."
    if results.question.where:
        text += f" {totals.meets:,} meet all conditions; the others are grey."
    if shown < totals.good:
        text += (
            " The others are thinned: the best, those on the front of any two objectives, and more drawn at random "
            f"with a fixed seed. {_basis(results.designs)}"
        )
    return text


def _basis(table: Designs) -> str:
    """Return the sentence that names the designs of counts and shares."""
    if table.is_whole:
        return "Shares of variance and counts are of all designs, and without a range the shades of the trade-off."
    drawn = f"{int(table.fair.sum()):,} designs drawn at random"
    parts = "shares of variance, shades of the trade-off, maps and medians"
    return f"Counts, fronts and the best are of all designs; {parts} of {drawn}."


def shown_designs(results: Results) -> np.ndarray:
    """Return the rows of the table that the page holds."""
    most = min(MOST_SHOWN, MOST_NUMBERS // max(1, len(table_columns(results))))
    return results.designs.shown(most, always=(results.place,))


def table_data(results: Results, bundle: ArrayBundle) -> dict[str, Any]:
    """Return the table in types of JSON, its numbers in a bundle."""
    shown, all_designs = shown_designs(results), results.designs
    columns = table_columns(results)
    exact = len(shown) * len(columns) <= EXACT_NUMBERS
    place = {int(design): index for index, design in enumerate(shown)}
    return {
        "numbers": bundle.packed(all_designs.numbers[shown], "i4"),
        "meets": bundle.packed(all_designs.meets[shown], "u1"),
        "worst": bundle.packed(results.worst_cases[shown], "i4"),
        "count": all_designs.totals.designs,
        "columns": [_column(column, shown, exact, bundle) for column in columns],
        "bins": _bins(results, bundle) if len(shown) < all_designs.totals.good else [],
        "labels": [
            {"name": c.name, "words": c.words, "texts": c.texts, "values": bundle.packed(c.values[shown], "i4")}
            for c in all_designs.labels
        ],
        "told": [c.name for c in (all_designs.choices or all_designs.parameters)[:MOST_WORDS]],
        "axes": _first_axes(results, columns),
        "most": MOST_AXES,
        "scale": next((c.name for c in columns if c.objective), columns[-1].name),
        "chosen": place.get(results.place),
        "front": [c.name for c in results.conflict] if results.conflict else [],
    }


def _bins(results: Results, bundle: ArrayBundle) -> list[dict[str, Any]]:
    """Return the logarithm of the number of designs in each bin of two objectives: with conditions met, and others.

    The bins are within the ranges of the designs that meet all conditions.
    """
    table = results.designs
    masks = table.meets & table.fair, table.good & ~table.meets & table.fair
    binned = [column for column in results.objectives if column.varies][:MOST_BINNED]
    result = []
    for a, b in combinations(binned, 2):
        ranges = [_range_of(column, masks[0] if masks[0].any() else table.good) for column in (a, b)]
        counts = [np.histogram2d(a.values[mask], b.values[mask], BINS, ranges)[0].T for mask in masks]
        result.append({
            "names": [a.name, b.name], "ranges": ranges,
            "counts": [bundle.packed(np.ceil(SHADES * np.log1p(count)).clip(0, 255), "u1") for count in counts],
        })  # fmt: skip
    return result


def _range_of(column: DesignColumn, mask: np.ndarray) -> list[float]:
    """Return the range of all designs but a few far away."""
    low, high = np.nanquantile(column.values[mask], [FAR, 1.0 - FAR])
    return [float(low), float(high)]


def _column(column: DesignColumn, shown: np.ndarray, exact: bool, bundle: ArrayBundle) -> dict[str, Any]:
    values = column.values[shown]
    few = len(np.unique(values)) <= FEW_VALUES
    packed = bundle.packed(values, "f8") if exact or few else bundle.packed(values, "f4", rounded=True)
    unit = column.shown_in
    return {
        "name": column.name, "words": column.words, "units": column.units, "factor": unit.factor, "unit": unit.unit,
        "title": column.title, "text": column.text_of, "sign": column.sign, "objective": column.objective,
        "varies": column.varies, "values": packed,
    }  # fmt: skip
