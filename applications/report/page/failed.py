"""Page part on failures: samples by status, conditions that designs break, a map of both over the parameters."""

from __future__ import annotations

from html import escape

import numpy as np

from applications.report.data import trouble
from applications.report.data.answer import condition_words
from applications.report.data.display import percent
from applications.report.data.failures import FailureMap, broken_conditions, failure_map
from applications.report.data.results import Results
from applications.report.page.markup import bar, markup_table, paragraph, table
from applications.report.page.part import PagePart

TITLE = "Failures"


def failed(results: Results) -> PagePart | None:
    """Return the part on failed and flagged samples and broken conditions; None if neither is known."""
    troubles = trouble.troubles(results.dataset)
    body = _statuses(troubles) if troubles is not None else ""
    body += _flags(results) + _conditions(results)
    if (shares := failure_map(results)) is not None:
        body += _map(shares)
    return PagePart("failed", TITLE, body, {}, {}, "Failures") if body else None


def _statuses(troubles: trouble.Troubles) -> str:
    if not troubles.bad:
        return paragraph(f"No failures: all {troubles.total:,} {troubles.what} are OK.")
    bad = sum(status.count for status in troubles.bad)
    body = paragraph(
        f"{bad:,} of {troubles.total:,} {troubles.what} are not OK. They hold no numbers; the rest is complete."
    )
    rows = [
        (
            escape(status.words),
            _share(status.count, troubles.total),
            escape(_where(status, troubles)),
            _designs(status.designs, status.first),
            escape(status.advice),
        )
        for status in troubles.bad
    ]
    heads = ("status", troubles.what.partition(" (")[0], "on trajectories", "in designs", "remedy")
    return body + markup_table(rows, heads, "bars")


def _share(count: int, total: int) -> str:
    """Return a count as a bar, with its part of all in percent."""
    return bar(count / total, f"{count:,} ({percent(count / total)})")


def _where(status: trouble.Trouble, troubles: trouble.Troubles) -> str:
    """Return the trajectories on which a status occurs, the most frequent first."""
    order = np.argsort(-status.counts, kind="stable")
    named = [f"{troubles.trajectories[k]} {status.counts[k]:,}" for k in order if status.counts[k]]
    return ", ".join(named[:4]) + (f" and {len(named) - 4} more" if len(named) > 4 else "")


def _flags(results: Results) -> str:
    """Return a table of samples that have numbers but are flagged; empty without such samples."""
    rows = [
        (flag.name.replace("_", " "), f"{flag.count:,}", _designs(flag.designs, flag.first), flag.advice)
        for flag in trouble.flagged(results.dataset)
    ]
    return table(rows, ("flag", "samples", "in designs", "meaning")) if rows else ""


def _designs(count: int, first: tuple[int, ...]) -> str:
    return f"{count:,}: {', '.join(map(str, first))}{', ...' if count > len(first) else ''}"


def _conditions(results: Results) -> str:
    """Make the table with the number of designs that each condition rules out."""
    broken = broken_conditions(results)
    if not broken:
        return ""
    total = max(1, results.designs.totals.good)
    rows = [
        (escape(condition_words(results, text)), _share(count, total), f"{alone:,}") for text, count, alone in broken
    ]
    heads = ("condition", "designs that break it", "and break no other")
    return "<h3>Conditions of the question</h3>" + markup_table(rows, heads, "bars")


def _map(shares: FailureMap) -> str:
    """Return a table of cells that are the darker, the more designs fail."""
    rows = [
        (escape(name), *(_cell(share) for share in row))
        for name, row in zip(reversed(shares.rows), shares.shares[::-1], strict=True)
    ]
    corner = f"{escape(shares.up.words)} ↑ &nbsp; {escape(shares.across.words)} →"
    words = f"Share of designs that fail or break a condition, by {shares.across.words} and {shares.up.words}: "
    note = "the two parameters along which it changes most."
    return f"<h3>Where</h3>{paragraph(words + note)}" + markup_table(
        rows, (corner, *(escape(name) for name in shares.columns)), "map"
    )


def _cell(share: float) -> str:
    return bar(share, f"{100 * share:.0f} %", "cell") if np.isfinite(share) else ""
