"""Make the parts of a page in their order: each a title, text and controls, figures, and data; or nothing.

The answer comes first, then what stands behind it. A part appears only where the store has what it shows.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from pipeline.report.data import overview
from pipeline.report.data.results import Results
from pipeline.report.page import case_parts, design_parts
from pipeline.report.page.answer import answer
from pipeline.report.page.bundle import ArrayBundle
from pipeline.report.page.decides import decides
from pipeline.report.page.failed import failed
from pipeline.report.page.markup import details, paragraph, table
from pipeline.report.page.part import PagePart
from pipeline.report.page.trade_off import trade_off


def parts(results: Results, bundle: ArrayBundle | None = None) -> Iterator[PagePart]:
    """Make the parts that the results have data for; arrays that the page needs at once go into the bundle."""
    arrays = ArrayBundle() if bundle is None else bundle
    every = (
        answer(results),
        trade_off(results) if design_parts.is_compared(results) else None,
        decides(results),
        failed(results),
        design_parts.designs(results),
        case_parts.series(results, arrays),
        case_parts.workspace(results, arrays),
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
    return PagePart("swept", "What was swept", body, {}, {}, "Swept")


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
