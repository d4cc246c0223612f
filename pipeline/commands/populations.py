"""The command `limbsweep study search`: populations of designs on a cluster, generation by generation, into a store."""

from __future__ import annotations

from pathlib import Path

import click

from pipeline.commands.study_tables import CASES, CSV, OBJECTIVES, TOP, WHERE, design_rows, read_objectives, show
from pipeline.commands.terminal import CLUSTER, SWEEP, cluster_in, interrupted, stopped
from pipeline.errors import RunStoppedError
from pipeline.stores.names import check_place

METHODS = ("nsga2", "nsga3", "tpe", "random")


@click.command()
@SWEEP
@click.option("--store", required=True, type=click.Path(), help="The store of the search; one of the same goes on.")
@click.option("--method", type=click.Choice(METHODS), default=METHODS[0], show_default=True, help="What asks.")
@click.option("--generations", type=click.IntRange(1), default=20, show_default=True, help="Populations, all in all.")
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
    """Search the designs that the sweep file SWEEP allows for the best, generation by generation, into a store."""
    from pipeline.study.populations.search import search as find
    from pipeline.sweep.model import Sweep

    check_place(store, "--store")
    read = Sweep.from_yaml(sweep)
    again = "the same command"
    try:
        outcome = find(
            read, store, method=method, generations=generations, population=population, seed=seed, objectives=texts,
            where=conditions, cases=cases, cluster=cluster_in(cluster), on_generation=click.echo,
        )  # fmt: skip
    except KeyboardInterrupt as error:
        raise interrupted(error, again) from None
    except RunStoppedError as error:
        raise stopped(error, again) from None
    wanted = read_objectives(texts or read.question.objectives)
    show(design_rows(outcome.designs, wanted, outcome.front), top, file)
    click.echo(
        f"{len(outcome.front)} on the front, of {int(outcome.feasible.sum())} feasible designs; results in {store}"
    )


COMMANDS = (search,)
"""What these add to the group `study`."""
