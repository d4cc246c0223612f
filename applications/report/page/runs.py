"""Details of single designs in a page, and several runs in one page.

A page of several runs has chosen designs side by side, all designs in one figure, and mechanisms in motion.

Details of a design, shown on a click, are its mechanism in motion, series, and maps. As many designs have them as fit
into `MOST_BYTES`: the one in view first with all its operating cases, then the best, those on fronts, others drawn at
random, each under its hardest case. Each has a bundle, which the page unpacks on demand. Points, forces and maps have
nearly five digits; series all bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

import numpy as np

from applications.report import style
from applications.report.data import series
from applications.report.data import series as quantities
from applications.report.data.answer import answer_words
from applications.report.data.case import DesignCase
from applications.report.data.display import rounded, with_unit
from applications.report.data.results import Results
from applications.report.data.runs import ComparedRuns, differences
from applications.report.data.workspace import own_colours
from applications.report.page.bundle import ArrayBundle
from applications.report.page.markup import details, drawing, markup_table, paragraph, select
from applications.report.page.part import PagePart

MOST_BYTES = 2_500_000
MOST_DESIGNS = 64

DesignDetails = Mapping[str, Any]


def design_details(results: Results) -> tuple[DesignDetails, ...]:
    """Collect the details of the designs that a page holds, in types of JSON, first the one that it shows at first."""
    first = details_of(results, results.case)
    room = MOST_BYTES - len(first["bundle"])
    fitting = min(MOST_DESIGNS - 1, room // max(1, len(first["bundle"])))
    return (first, *_others(results, list(_wanted(results))[: max(0, fitting)], room))


def _wanted(results: Results) -> Iterator[int]:
    """Yield the numbers of other designs to show: other cases of the first one, then the best and the fronts."""
    cases = results.designs.numbers[results.place]
    if len(cases) <= MOST_DESIGNS // 4:
        yield from (int(number) for number in cases if number != results.design)
    for place in results.designs.shown(MOST_DESIGNS, always=(results.place,)):
        if place != results.place:
            yield results.hardest(int(place))


def _others(results: Results, numbers: list[int], room: int) -> Iterator[DesignDetails]:
    for case in results.cases(numbers):
        details = details_of(results, case)
        room -= len(details["bundle"])
        if room < 0:
            return
        yield details


def details_of(results: Results, case: DesignCase) -> DesignDetails:
    """Collect the details of one design."""
    bundle = ArrayBundle()
    details = {
        "design": case.design,
        "heading": results.heading(case.design),
        "motion": None if case.robot is None else _motion(case, bundle),
        "series": {quantity.name: bundle.packed(quantity.values) for quantity in quantities.quantities(case)},
        "colours": {colour.label: bundle.packed(colour.values, "f4", rounded=True) for colour in own_colours(case)},
    }
    return details | {"bundle": bundle.text()}


def _motion(case: DesignCase, bundle: ArrayBundle) -> Mapping[str, Any] | None:
    """Return the mechanism along its trajectories; None where every sample failed."""
    frames, lines = series.motions(case)
    if not any(np.isfinite(trajectory.points).all(axis=(1, 2)).any() for trajectory in frames):
        return None
    size, force = series.scale(frames)
    base = series.mounts(case.mechanism)
    points = np.concatenate([base, series.finite(frames)])
    return {
        "trajectories": [_frames(trajectory, bundle) for trajectory in frames],
        "limbs": [bundle.packed(limb, "i4") for limb in lines.limbs],
        "platform": bundle.packed(lines.platform, "i4"),
        "base": bundle.packed(base, "f4"),
        "box": [points.min(axis=0).tolist(), points.max(axis=0).tolist()],
        "longest": force,
        "arrow": series.ARROW * size / force if force else 0.0,
    }


def _frames(trajectory: series.MotionFrames, bundle: ArrayBundle) -> Mapping[str, Any]:
    moment = np.linalg.norm(trajectory.moment, axis=-1)
    return {
        "times": bundle.packed(trajectory.times),
        "step": int(trajectory.frames[1]) if len(trajectory.frames) > 1 else 1,
        "points": bundle.packed(trajectory.points, "f4", rounded=True),
        "force": bundle.packed(trajectory.force, "f4", rounded=True),
        "moment": bundle.packed(moment, "f4", rounded=True),
    }


MOST_POINTS = 20_000
"""Designs of a run in the common figure."""


def side_by_side(runs: ComparedRuns, bundle: ArrayBundle) -> PagePart:
    """Return the part that compares runs; the parts after it in the page are about the best run."""
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
            summary = f"Differences of the sweeps of {runs.runs[runs.best].name} (here) and {runs.runs[k].name} (there)"
            body += details(summary, f"<ul>{items}</ul>")
    title = "Which run is best" if len({run.robot for run in runs.runs}) == 1 else "Which robot is best"
    return PagePart("runs", title, body, {}, {"runs": [_data(runs, k, bundle) for k in range(len(runs.runs))]}, "Runs")


def _finding(runs: ComparedRuns) -> str:
    """Format the best run, and the distance of the others to it, in words."""
    best, first = runs.best, runs.columns[0]
    column, mine = runs.column(best, first), runs.value(best, first)
    text = f"{runs.runs[best].name} is best: {column.words} {column.shown_in.text(mine)}"
    further_runs = []
    for k, run in enumerate(runs.runs):
        value = runs.value(k, first)
        if k == best:
            continue
        behind = (
            f", {rounded(100 * abs(value / mine - 1), 2)} % more" if mine and column.sign * (value - mine) > 0 else ""
        )
        behind = behind if column.sign > 0 else behind.replace("more", "less")
        further_runs.append(f"{run.name} {column.shown_in.text(value)}{behind}")
    if not runs.runs[best].answers:
        text += " (no run has a design that meets all conditions)"
    return f"{text}; {'; '.join(further_runs)}. The parts below are about {runs.runs[best].name}."


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
            "joints": series.joint_names(case.mechanism),
            "trajectories": [{"grid": case.has_points(index)} for index, _ in enumerate(case.trajectories)],
            "colours": list(style.LIMBS),
        }
    return {
        "name": runs.runs[k].name, "colour": style.of(style.COLOURS, k), "columns": columns, "about": about,
        "meets": bundle.packed(results.designs.meets[shown], "u1"),
        "chosen": int(np.flatnonzero(shown == results.place)[0]) if results.place in shown else None,
        "details": details_of(results, case) if about else None,
    }  # fmt: skip
