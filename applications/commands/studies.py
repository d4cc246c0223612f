"""Bodies of the commands `limbsweep study pareto` and `rank`, on the designs of a store."""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np

from applications.commands.study_tables import count_words, design_rows, opened, question_of, read_objectives, show
from applications.commands.terminal import forced, with_record
from applications.studies import ranking
from applications.studies.columns import costs, feasible, refuse
from applications.studies.pareto import front
from applications.studies.refinement import refine
from pipeline.documents.dataset_names import FRICTION_SET
from robots.data_classes import dataclass


def pareto(
    store: str,
    objectives: tuple[str, ...],
    where: tuple[str, ...],
    cases: tuple[str, ...],
    friction: bool,
    top: int,
    file: Path | None,
) -> None:
    """List the designs of STORE that no other beats in all objectives."""
    ds = opened(store, cases, friction=friction)
    question = question_of(ds, objectives, where)
    targets = read_objectives(question.objectives)
    table, usable = costs(ds, targets), feasible(ds, question.where)
    table[~usable] = np.nan
    best = np.flatnonzero(front(table))
    best = best[np.argsort(table[best, 0], kind="stable")]
    rows = len(best) if file else top
    show(design_rows(ds, targets, best[:rows]), top, file)
    click.echo(f"{len(best)} on the front, of {int(usable.sum())} feasible designs of {count_words(ds)}")


@dataclass(frozen=True)
class RankOptions:
    """Options of the command rank."""

    store: str
    objectives: tuple[str, ...]
    weights: tuple[float, ...]
    where: tuple[str, ...]
    cases: tuple[str, ...]
    friction: bool
    top: int
    file: Path | None
    following: Path | None


@with_record(RankOptions)
def rank(options: RankOptions) -> None:
    """Rank the designs of a store by their weighted objectives."""
    ds = opened(options.store, options.cases, friction=options.friction)
    question = question_of(ds, options.objectives, options.where, options.cases)
    objectives = read_objectives(question.objectives)
    order, scores = ranking.rank(ds, objectives, options.weights, question.where)
    if options.following is not None and question.cases:
        raise refuse("refine", "operating cases", "a study without cases", "Copy the file and narrow its ranges.")
    if options.following is not None and FRICTION_SET in ds.coords:
        raise refuse("refine", "friction sets apart", "designs by their worst friction set", "Leave out --friction.")
    rows = len(order) if options.file else options.top
    column = "score", [f"{score:.4g}" for score in scores[:rows]]
    show(design_rows(ds, objectives, order[:rows], column), options.top, options.file)
    click.echo(f"{len(order)} feasible designs of {count_words(ds)}")
    if options.following is not None:
        refine(ds, order[: options.top], options.following, force=forced())
        click.echo(f"wrote {options.following}")
