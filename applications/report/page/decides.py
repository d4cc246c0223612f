"""Page part on sensitivity: the share of each objective that each parameter explains, as bars with text."""

from __future__ import annotations

from html import escape

import numpy as np

from applications.report.data.designs import Designs
from applications.report.data.results import Results
from applications.report.page.markup import bar, markup_table, paragraph, table
from applications.report.page.part import PagePart

MOST_PAIRS = 6
LEAST_TOGETHER = 0.03
"""Interactions that are told: how many, and from what share of the variance."""


def decides(results: Results) -> PagePart | None:
    """Make the page part on the effect of each parameter; None where at most one was swept."""
    all_designs = results.runs
    if len(all_designs.causes) < 2 or not all_designs.explained:
        return None  # a single parameter decides all there is
    body = paragraph(_finding(all_designs), "finding")
    sets = all_designs.count // max(1, results.designs.count)
    over = f"{results.designs.count:,} designs under {sets} friction sets each" if sets > 1 else "all designs"
    heads = ["parameter", *(escape(objective.words) for objective, _ in all_designs.explained)]
    first = np.clip(np.stack([shares.first for _, shares in all_designs.explained], axis=1), 0.0, 1.0)
    names = list(all_designs.causes)
    order = np.argsort(-first[:, 0], kind="stable")
    rows = [(escape(names[k]), *(bar(share, f"{share:.2f}") for share in first[k])) for k in order]
    body += markup_table(rows, heads, "bars")
    body += paragraph(
        f"Share of the variance of a number over {over} that a parameter explains by itself: 1 decides alone, 0 "
        "has no mean effect. The remainder to a sum of 1 comes from interactions of parameters. Shares belong to the "
        "ranges that were swept.",
        "note",
    )
    if pairs := _pairs(all_designs):
        body += "<h3>Pairs that explain more together than each of them does alone</h3>"
        body += table(pairs, ("number", "parameters", "share more"))
    return PagePart("decides", "Shares of variance", body, {}, {}, "Shares of variance")


def _finding(all_designs: Designs) -> str:
    """Return the parameters that decide on the first objective, in a sentence."""
    objective, shares = all_designs.explained[0]
    order = np.argsort(-shares.first, kind="stable")
    names = [shares.names[k] for k in order if shares.first[k] >= 0.1]
    if not names:
        return f"No parameter decides on {objective.words} by itself."
    together = 1.0 - float(np.clip(shares.first, 0.0, 1.0).sum())
    text = f"On {objective.words} {'decides' if len(names) == 1 else 'decide'} {' and '.join(names[:3])}"
    return f"{text}; parameters acting together explain {max(0.0, together):.0%}."


def _pairs(all_designs: Designs) -> list[tuple[str, str, str]]:
    """Return the strongest interactions: objective, two parameters, what they explain beyond what each does."""
    rows = []
    for objective, shares in all_designs.explained:
        for i, j in zip(*np.tril_indices(len(shares.names), -1), strict=True):
            rows.append((float(shares.interaction[i, j]), objective.words, f"{shares.names[j]} with {shares.names[i]}"))
    best = sorted((row for row in rows if row[0] >= LEAST_TOGETHER), reverse=True)[:MOST_PAIRS]
    return [(objective, pair, f"{share:.2f}") for share, objective, pair in best]
