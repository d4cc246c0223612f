"""Doors for viewing: reports, figures, the grid of parameters, and the texts of a store."""

from __future__ import annotations

import json
from pathlib import Path

import limbsweep as ls
from applications.report.data.recomputed import results_of
from benchmarks.composition.case import Case, NoMeaningError, require_near, require_same
from benchmarks.composition.command import command
from benchmarks.composition.slow import CLOSE
from benchmarks.figures import require
from pipeline.errors import InputError


def report(case: Case) -> None:
    """Check that the page exists, and that its recomputed results of a design equal the store's."""
    path = Path(ls.report(case.store, case.folder / "report.html"))
    require(path.stat().st_size > 10_000, "the report is empty")
    results = results_of(case.store)
    if results.sweep is None:
        raise NoMeaningError("the sweep of the store cannot be read again")
    (again,) = results.computed(results.sweep, [results.design])
    stored = results.case.results
    for name in {*again.results.data_vars} & {*results.dataset.data_vars}:
        require_near(
            again.results[name].values, stored[name].values, CLOSE[case.levels["precision"]], f"report: {name}"
        )


def figure(case: Case) -> None:
    """Draw a figure of designs, or of the only one."""
    kind = "parallel" if case.sweep.sizes["design"] > 1 else "series"
    ls.figure(case.store, kind, case.folder / "figure.svg")


def animation(case: Case) -> None:
    """Draw an animation of a dataset in memory."""
    case.results.limbsweep.animation(0)


def grid(case: Case) -> None:
    """Check that the dataset by its swept parameters has every number at its place."""
    data, made = case.results, case.results.limbsweep.grid()
    if "gains" in data.dims or "state" in data.dims:
        return
    number = next(name for name in ("peak_force", "worst_status") if name in data)  # motions of a tree have no forces
    names = [name for name in made[number].dims if name in data.coords and data[name].dims == ("design",)]
    for k in range(data.sizes["design"]):
        at = {name: data[name].values[k] for name in names}
        one, two = made[number].sel(at), data[number].isel(design=k)
        require_same(one.transpose(*two.dims).values, two.values, f"grid at {at}")


def info(case: Case) -> None:
    """Check that a store states its sizes, and that its status can be written as JSON."""
    text = command("info", case.store)
    require("design" in text, "no word of designs")
    json.dumps(str(ls.status(case.store)))


def figures_of_case(case: Case) -> None:
    """Draw the figures of one design over time."""
    for kind in ("series", "friction", "status"):
        try:
            ls.figure(case.store, kind, case.folder / f"{kind}.svg")
        except InputError:
            if kind == "series":
                raise
