"""Make the parts of a page in their order: each a title, text and controls, figures, and data; or nothing.

A part appears only where the store has what it shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import escape

from pipeline.report.data import overview, trouble
from pipeline.report.data.results import Results
from pipeline.report.page import case_parts, charts, design_parts
from pipeline.report.page.markup import details, figure, paragraph, table
from pipeline.report.page.part import PagePart


def parts(results: Results) -> Iterator[PagePart]:
    """Make the parts that the results have data for."""
    for make in MAKERS:
        if (part := make(results)) is not None:
            yield part


def _swept(results: Results) -> PagePart:
    unchanged = list(overview.fixed(results.dataset))
    folded = details(f"{len(unchanged)} parameters that were not swept", table(unchanged, ("parameter", "value", "")))
    return PagePart("swept", "What was swept", table(overview.swept(results.dataset)) + (folded if unchanged else ""))


def _trouble(results: Results) -> PagePart | None:
    troubles, flags = trouble.troubles(results.dataset), _flags(results)
    if troubles is None:
        return None
    title = "Failed and flagged samples"
    if not troubles.bad:
        return PagePart(
            "failed", title, paragraph(f"None failed: all {troubles.total:,} {troubles.what} are OK.") + flags
        )
    bad = sum(status.count for status in troubles.bad)
    body = paragraph(
        f"{bad:,} of {troubles.total:,} {troubles.what} are not OK. They hold no numbers; the rest is complete."
    )
    rows = [
        (
            status.words,
            f"{status.count:,} ({100 * status.count / troubles.total:.3g} %)",
            _designs(status.designs, status.first),
            status.advice,
        )
        for status in troubles.bad
    ]
    body += table(rows, ("status", troubles.what.split(",")[0], "in designs", "what to do"))
    body += figure("trouble", "Share of each trajectory's samples by status.")
    return PagePart("failed", title, body + flags, {"trouble": charts.troubles(troubles)})


def _flags(results: Results) -> str:
    """A table of samples that have numbers but are flagged; nothing where there are none."""
    flagged = trouble.flagged(results.dataset)
    rows = [
        (flag.name.replace("_", " "), f"{flag.count:,}", _designs(flag.designs, flag.first), flag.advice)
        for flag in flagged
    ]
    return table(rows, ("flag", "samples", "in designs", "what it means")) if rows else ""


def _designs(count: int, first: tuple[int, ...]) -> str:
    return f"{count:,}: {', '.join(map(str, first))}{', ...' if count > len(first) else ''}"


def _provenance(results: Results) -> PagePart:
    body = table(overview.provenance(results.dataset))
    if text := str(results.dataset.attrs.get("sweep", "")):
        body += details("The sweep file", f"<pre>{escape(text)}</pre>")
    return PagePart("provenance", "Where this comes from", body)


MAKERS: tuple[Callable[[Results], PagePart | None], ...] = (
    _swept,
    design_parts.designs,
    design_parts.front,
    design_parts.single_design,
    case_parts.mechanism,
    case_parts.series,
    case_parts.workspace,
    design_parts.sensitivity,
    _trouble,
    _provenance,
)
