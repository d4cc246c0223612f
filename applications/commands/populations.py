"""The command `limbsweep study search`: populations of designs on a cluster, generation by generation, into a store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from applications.commands.study_tables import CASES, CSV, OBJECTIVES, TOP, WHERE, design_rows, read_objectives, show
from applications.commands.terminal import CLUSTER, SWEEP, cluster_in, interrupted, stopped
from pipeline.errors import RunStoppedError
from pipeline.stores.names import check_place

if TYPE_CHECKING:
    import xarray as xr

    from applications.studies.columns import Objective
    from pipeline.sweep.model import Sweep

METHODS = ("nsga2", "nsga3", "tpe", "random")


@click.command()
@SWEEP
@click.option("--store", required=True, type=click.Path(), help="Store; one of the same search is resumed.")
@click.option("--method", type=click.Choice(METHODS), default=METHODS[0], show_default=True, help="Search method.")
@click.option("--generations", type=click.IntRange(1), default=20, show_default=True, help="Generations in all.")
@click.option("--population", type=click.IntRange(2), default=64, show_default=True, help="Designs of a generation.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the method.")
@OBJECTIVES
@WHERE
@CASES
@CLUSTER
@TOP
@CSV
def search(
    sweep: Path,
    store: str,
    method: str,
    generations: int,
    population: int,
    seed: int,
    texts: tuple[str, ...],
    conditions: tuple[str, ...],
    cases: tuple[str, ...],
    cluster: Path | None,
    top: int,
    file: Path | None,
) -> None:
    """Search the designs of the sweep file SWEEP for the best, generation by generation, into a store.

    Of a file with several robots the robot is a category, and --store a folder with a store for each.
    """
    from pipeline.sweep.doors import read_sweeps

    check_place(store, "--store")
    sweeps = read_sweeps(sweep)
    options: dict[str, Any] = {
        "method": method, "generations": generations, "population": population, "seed": seed, "objectives": texts,
        "where": conditions, "cases": cases, "cluster": cluster_in(cluster), "on_generation": click.echo,
    }  # fmt: skip
    again = "the same command"
    objectives = read_objectives(texts or sweeps[0].question.objectives)
    try:
        (_one if len(sweeps) == 1 else _several)(sweeps, store, options, objectives, top, file)
    except KeyboardInterrupt as error:
        raise interrupted(error, again) from None
    except RunStoppedError as error:
        raise stopped(error, again) from None


def _one(
    sweeps: Sequence[Sweep],
    store: str,
    options: Mapping[str, Any],
    objectives: Sequence[Objective],
    top: int,
    file: Path | None,
) -> None:
    """Search the designs of one robot, and print the front."""
    from applications.studies.populations.search import search as find

    outcome = find(sweeps[0], store, **options)
    show(design_rows(outcome.designs, objectives, outcome.front), top, file)
    click.echo(
        f"{len(outcome.front)} on the front, of {int(outcome.feasible.sum())} feasible designs; results in {store}"
    )


def _several(
    sweeps: Sequence[Sweep],
    store: str,
    options: Mapping[str, Any],
    objectives: Sequence[Objective],
    top: int,
    file: Path | None,
) -> None:
    """Search the designs of several robots, and print the front with the robot of each of its designs."""
    from applications.studies.populations.search import search_families
    from applications.studies.populations.space import ROBOT

    outcome = search_families(sweeps, store, **options)
    rows = [
        {ROBOT: outcome.robots[k], **_cells(outcome.designs[outcome.robots[k]], objectives, int(outcome.numbers[k]))}
        for k in outcome.front
    ]
    heads = dict.fromkeys(head for row in rows for head in row)  # parameters that a robot does not have stay empty
    show([tuple(heads), *(tuple(row.get(head, "") for head in heads) for row in rows)], top, file)
    for share in outcome.shares:
        click.echo(str(share))
    click.echo(
        f"{len(outcome.front)} on the front, of {int(outcome.feasible.sum())} feasible designs; results in {store}"
    )


def _cells(ds: xr.Dataset, objectives: Sequence[Objective], place: int) -> dict[str, str]:
    """Return the cells of a design by their heads."""
    import numpy as np

    head, row = design_rows(ds, objectives, np.array([place]))
    return dict(zip(head, row, strict=True))
