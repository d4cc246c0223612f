"""Page part on sensitivity: the share of each objective that each parameter explains, with its error."""

from __future__ import annotations

from html import escape

import numpy as np

from applications.report.data.designs import Designs
from applications.report.data.display import in_series, percent, with_error
from applications.report.data.results import Results
from applications.report.page.markup import bar, markup_table, paragraph, table
from applications.report.page.part import PagePart
from applications.studies.shares import Explained

MOST_PAIRS = 6
"""Number of interactions that are shown."""
MOST_UNEXPLAINED = 0.5
"""Unexplained share of the variance above which no parameter is named."""


def decides(results: Results) -> PagePart | None:
    """Make the page part on the effect of each parameter; None where at most one was swept."""
    all_designs = results.runs
    if len(all_designs.causes) < 2 or not all_designs.explained:
        return None  # a single parameter decides all there is
    explained = all_designs.explained
    body = paragraph(_finding(all_designs), "finding")
    sets = results.dataset.sizes.get("friction", 1) if all_designs is not results.designs else 1
    held, whole = int(all_designs.fair.sum()) // sets, results.designs.is_whole
    over = f"{held:,} designs" if sets > 1 or not whole else "all designs"
    over += " drawn at random" if not whole else ""
    over += f" under {sets} friction sets each" if sets > 1 else ""
    heads = ["parameter", *(escape(objective.words) for objective, _ in explained)]
    body += markup_table(_rows([shares for _, shares in explained]), heads, "bars")
    body += paragraph(_note(explained[0][1], over), "note")
    if pairs := _pairs(all_designs):
        body += "<h3>Pairs of parameters with a joint effect</h3>"
        body += table(pairs, ("metric", "parameters", "additional share"))
    return PagePart("decides", "Shares of variance", body, {}, {}, "Shares of variance")


def _rows(explained: list[Explained]) -> list[tuple[str, ...]]:
    """Return a row for each factor, the most important for the first objective first, then notes."""
    leading = [dict(zip(shares.names, zip(*shares.leading, strict=True), strict=True)) for shares in explained]
    order = sorted(leading[0], key=lambda name: -np.nan_to_num(leading[0][name][0]))
    rows = [(escape(name), *(_cell(*share_of.get(name, (np.nan, np.nan))) for share_of in leading)) for name in order]
    unexplained = [bar(shares.unexplained, f"{shares.unexplained:.2f}", "bar other") for shares in explained]
    return [*rows, ("unexplained", *unexplained)]


def _cell(share: float, error: float) -> str:
    """Return a share as a bar with its error; a share below its error as an upper bound."""
    if not np.isfinite(share):
        return bar(0.0, "too few designs")
    if share <= error:
        bound = max(0.0, share) + error
        if bound >= 1.0:
            return bar(0.0, "unknown")
        return bar(0.0, f"at most {bound:.2f}" if bound >= 0.005 else "below 0.01")
    return bar(share, with_error(share, error))


def _note(shares: Explained, over: str) -> str:
    text = f"Share of the variance of a metric over {over} that a parameter explains"
    if shares.dependent:
        pairs = " and ".join(" with ".join(pair) for pair in shares.dependent[:2])
        text += (
            f", by Shapley effects, because parameters depend on each other in these designs ({pairs}): variance "
            "that several of them explain together is divided between them. "
            if np.isfinite(shares.shapley).any()
            else f". Parameters depend on each other in these designs ({pairs}), so shares overlap. "
        )
    else:
        text += " alone: 1 means that no other parameter matters, 0 that it has no mean effect. Several parameters "
        text += "together explain the rest. "
    return text + (
        f"Shares are those of a polynomial fitted to {shares.samples:,} designs. Its error for held-out designs is "
        "unexplained, and may belong to any parameter. ± is three standard errors; of a smaller share only the upper "
        "bound is shown. Shares hold for the swept ranges."
    )


def _finding(all_designs: Designs) -> str:
    """Return the parameters that decide on the first objective, in a sentence."""
    objective, shares = all_designs.explained[0]
    share, error = shares.leading
    if shares.unexplained > MOST_UNEXPLAINED:
        return (
            f"The effects on {objective.words} are unknown: a polynomial of the parameters explains only "
            f"{percent(1.0 - shares.unexplained)} of its variance. Use more designs, or narrower ranges."
        )
    order = np.argsort(-np.nan_to_num(share), kind="stable")
    names = [shares.names[k] for k in order if share[k] >= 0.1 and share[k] > error[k]]
    if not names:
        return f"No parameter has a large effect on {objective.words} alone."
    text = f"Most of the variance of {objective.words} is explained by {in_series(names[:3])}"
    pairs, errors = (np.nansum(np.tril(x)) for x in (shares.interaction, shares.interaction_error))
    together = f"; pairs of parameters explain {percent(pairs)} more" if pairs > max(errors, 0.005) else ""
    return f"{text}{together}."


def _pairs(all_designs: Designs) -> list[tuple[str, str, str]]:
    """Return the strongest interactions above their errors: objective, two parameters, share of the pair alone."""
    rows = []
    for objective, shares in all_designs.explained:
        for i, j in zip(*np.tril_indices(len(shares.names), -1), strict=True):
            share, error = float(shares.interaction[i, j]), float(shares.interaction_error[i, j])
            if share > max(error, 0.005):
                rows.append((share, error, objective.words, f"{shares.names[j]} with {shares.names[i]}"))
    return [
        (words, pair, with_error(share, error)) for share, error, words, pair in sorted(rows, reverse=True)[:MOST_PAIRS]
    ]
