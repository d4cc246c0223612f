"""Body of the command `limbsweep study search`: populations of designs on a cluster, generation by generation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Unpack

import click
import numpy as np
import xarray as xr

from applications.commands.cluster_inputs import cluster_in
from applications.commands.refusals import interrupted, stopped
from applications.commands.study_tables import design_rows, read_objectives, show
from applications.studies.columns import Objective
from applications.studies.populations.polish import polished
from applications.studies.populations.search import (
    FamilyOutcome,
    SearchKeywords,
    SearchOutcome,
    search_families,
)
from applications.studies.populations.search import search as search_designs
from applications.studies.populations.space import ROBOT
from pipeline.errors import InputError, RunStoppedError
from pipeline.stores.names import check_place
from pipeline.sweep.doors import read_sweeps
from pipeline.sweep.model import Sweep
from pipeline.sweep.question.question import StudyQuestion


def search(
    sweep: Path, store: str, top: int, file: Path | None, cluster: Path | None, **keywords: Unpack[SearchKeywords]
) -> None:
    """Search the designs of one robot or of several for the best."""
    check_place(store, "--store")
    sweeps, config, again = read_sweeps(sweep), cluster_in(cluster), "the same command"
    objectives = read_objectives(keywords["objectives"] or sweeps[0].question.objectives)
    outcome: SearchOutcome | FamilyOutcome
    try:
        if len(sweeps) == 1:
            outcome = search_designs(sweeps[0], store, cluster=config, on_generation=click.echo, **keywords)
            rows = design_rows(outcome.designs, objectives, outcome.front)
        else:
            outcome = search_families(sweeps, store, cluster=config, on_generation=click.echo, **keywords)
            rows = _family_rows(outcome, objectives)
    except KeyboardInterrupt as error:
        raise interrupted(error, again) from None
    except RunStoppedError as error:
        raise stopped(error, again) from None
    show(rows, top, file)
    feasible = int(outcome.feasible.sum())
    for share in outcome.shares if isinstance(outcome, FamilyOutcome) else () if feasible else (outcome.share,):
        click.echo(str(share))
    click.echo(f"{len(outcome.front)} on the front, of {feasible} feasible designs; results in {store}")
    if isinstance(outcome, SearchOutcome):
        question = sweeps[0].question.with_options(keywords["objectives"], keywords["where"], keywords["cases"])
        _say_polished(sweeps[0], question, outcome)


def _say_polished(sweep: Sweep, question: StudyQuestion, outcome: SearchOutcome) -> None:
    """Improve the best designs by derivatives, and print the better ones or the reason for none.

    They are not stored.
    """
    try:
        designs = polished(sweep, question, outcome)
    except InputError as error:
        click.echo(f"not improved by derivatives: {error.problems[0].got}")
        return
    for design in designs:
        if design.is_better or design.optimum is None:
            click.echo(f"by derivatives, not stored: {design}")


def _family_rows(outcome: FamilyOutcome, objectives: Sequence[Objective]) -> list[Sequence[str]]:
    """Return the rows of the front with the robot of each design; parameters that a robot does not have stay empty."""
    rows: list[Mapping[str, str]] = [
        {ROBOT: outcome.robots[k], **_cells(outcome.designs[outcome.robots[k]], objectives, int(outcome.numbers[k]))}
        for k in outcome.front
    ]
    heads = dict.fromkeys(head for row in rows for head in row)
    return [tuple(heads), *(tuple(row.get(head, "") for head in heads) for row in rows)]


def _cells(ds: xr.Dataset, objectives: Sequence[Objective], place: int) -> dict[str, str]:
    """Return the cells of a design by their heads."""
    head, row = design_rows(ds, objectives, np.array([place]))
    return dict(zip(head, row, strict=True))
