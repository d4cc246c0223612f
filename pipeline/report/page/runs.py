"""Several runs in one page: chosen designs side by side, all designs in one figure, mechanisms in motion."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from pipeline.report import style
from pipeline.report.data import motion
from pipeline.report.data.answer import answer_words
from pipeline.report.data.display import rounded, with_unit
from pipeline.report.data.runs import ComparedRuns, differences
from pipeline.report.page.bundle import ArrayBundle
from pipeline.report.page.design_details import details_of
from pipeline.report.page.markup import details, drawing, markup_table, paragraph, select
from pipeline.report.page.part import PagePart

MOST_POINTS = 20_000
"""Designs of a run in the common figure."""


def side_by_side(runs: ComparedRuns, bundle: ArrayBundle) -> PagePart:
    """The part that compares runs; what follows it in the page is about the best of them."""
    body = paragraph(_finding(runs), "answer")
    body += markup_table(_rows(runs), _heads(runs), "stack runs")
    views = "".join(_view(runs, k) for k in range(len(runs.runs)))
    body += f'<div class="views">{views}</div>'
    options = [(name, runs.column(0, name).words) for name in runs.columns]
    if len(options) > 1:
        body += f'<div class="controls">{select("runs-x", "Across", options, options[0][0])}'
        body += f"{select('runs-y', 'Up', options, options[1][0])}</div>"
        body += drawing("runs-front", "Designs of all runs by two numbers, a colour for each run.", "tall")
    for k in range(len(runs.runs)):
        if k != runs.best and (lines := differences(runs, runs.best, k)):
            items = "".join(f"<li>{escape(line)}</li>" for line in lines)
            summary = f"In what the sweeps of {runs.runs[runs.best].name} (here) and {runs.runs[k].name} (there) differ"
            body += details(summary, f"<ul>{items}</ul>")
    title = "Which run is best" if len({run.robot for run in runs.runs}) == 1 else "Which robot is best"
    return PagePart("runs", title, body, {}, {"runs": [_data(runs, k, bundle) for k in range(len(runs.runs))]}, "Runs")


def _finding(runs: ComparedRuns) -> str:
    """The best run and by how much the others are behind it, in words."""
    best, first = runs.best, runs.columns[0]
    column, mine = runs.column(best, first), runs.value(best, first)
    text = f"{runs.runs[best].name} is best: {column.words} {column.shown_in.text(mine)}"
    others = []
    for k, run in enumerate(runs.runs):
        value = runs.value(k, first)
        if k == best:
            continue
        behind = (
            f", {rounded(100 * abs(value / mine - 1), 2)} % more" if mine and column.sign * (value - mine) > 0 else ""
        )
        behind = behind if column.sign > 0 else behind.replace("more", "less")
        others.append(f"{run.name} {column.shown_in.text(value)}{behind}")
    if not runs.runs[best].answers:
        text += " (no run has a design that meets all conditions)"
    return f"{text}; {'; '.join(others)}. The parts below are about {runs.runs[best].name}."


def _heads(runs: ComparedRuns) -> list[str]:
    marks = [
        f'<span class="swatch" style="background:{style.of(style.COLOURS, k)}"></span>' for k in range(len(runs.runs))
    ]
    return ["", *(f"{mark}{escape(run.name)}" for mark, run in zip(marks, runs.runs, strict=True))]


def _rows(runs: ComparedRuns) -> list[tuple[str, ...]]:
    tables = [run.results.designs for run in runs.runs]
    rows: list[tuple[str, ...]] = [
        ("robot", *(escape(run.robot) for run in runs.runs)),
        ("designs that meet all conditions", *(f"{int(t.meets.sum()):,} of {t.count:,}" for t in tables)),
        ("chosen design", *(escape(answer_words(run.results)) for run in runs.runs)),
    ]
    for name in runs.columns:
        unit, best = runs.column(0, name).shown_in, runs.value(runs.best, name)
        cells = []
        for k in range(len(runs.runs)):
            value, sign = runs.value(k, name), runs.column(k, name).sign
            share = (value - best) / abs(best) if best else 0.0
            kind = "worse" if share * sign > 0 else "better"
            change = (
                f' <span class="{kind}">{rounded(100 * abs(share), 2)} % {kind}</span>' if abs(share) > 5e-4 else ""
            )
            cells.append(escape(unit.text(value)) + (change if np.isfinite(share) else ""))
        rows.append((escape(runs.column(0, name).words), *cells))
    return rows


def _view(runs: ComparedRuns, k: int) -> str:
    run = runs.runs[k]
    if run.results.case.robot is None:
        return ""
    canvas = drawing(f"run-{k}", f"The chosen mechanism of {run.name} in motion.", "scene small")
    return f"<figure>{canvas}<figcaption>{escape(run.name)}: {escape(run.robot)}</figcaption></figure>"


def _data(runs: ComparedRuns, k: int, bundle: ArrayBundle) -> dict[str, Any]:
    results, case = runs.runs[k].results, runs.runs[k].results.case
    shown = results.designs.shown(MOST_POINTS, always=(results.place,))
    columns = {}
    for name in runs.columns:
        column, unit = runs.column(k, name), runs.column(0, name).shown_in
        columns[name] = {
            "title": with_unit(column.words, unit.unit),
            "factor": unit.factor, "sign": column.sign,
            "values": bundle.packed(column.values[shown], "f4", rounded=True),
        }  # fmt: skip
    about = None
    if case.robot is not None:
        about = {
            "joints": motion.joint_names(case.mechanism),
            "trajectories": [{"grid": bool(case.grid(index))} for index, _ in enumerate(case.trajectories)],
            "colours": list(style.LIMBS),
        }
    return {
        "name": runs.runs[k].name, "colour": style.of(style.COLOURS, k), "columns": columns, "about": about,
        "meets": bundle.packed(results.designs.meets[shown], "u1"),
        "chosen": int(np.flatnonzero(shown == results.place)[0]) if results.place in shown else None,
        "details": details_of(results, case) if about else None,
    }  # fmt: skip
