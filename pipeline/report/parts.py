"""The parts of a page in their order: each is a title, text and controls, figures, and data; or nothing.

A part appears only where the store has what it shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import escape

from pipeline.report import case_parts, charts, design_parts, overview, trouble
from pipeline.report.markup import details, figure, paragraph, table
from pipeline.report.part import Part
from pipeline.report.results import Results


def parts(results: Results) -> Iterator[Part]:
    """The parts that the results have data for."""
    for make in MAKERS:
        if (part := make(results)) is not None:
            yield part


def _swept(results: Results) -> Part:
    unchanged = list(overview.fixed(results.dataset))
    folded = details(f"{len(unchanged)} parameters that were not swept", table(unchanged, ("parameter", "value", "")))
    return Part("swept", "What was swept", table(overview.swept(results.dataset)) + (folded if unchanged else ""))


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
            each.words, f"{each.count:,} ({100 * each.count / found.total:.3g} %)",
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
        body += details("The sweep file", f"<pre>{escape(text)}</pre>")
    return Part("provenance", "Where this comes from", body)


MAKERS: tuple[Callable[[Results], Part | None], ...] = (
    _swept,
    design_parts.designs,
    design_parts.front,
    design_parts.one,
    case_parts.mechanism,
    case_parts.series,
    case_parts.workspace,
    design_parts.sensitivity,
    _trouble,
    _provenance,
)
