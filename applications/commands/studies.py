"""Commands `limbsweep study ...` on the results in a store; `applications.commands.searches` has those that compute."""

from __future__ import annotations

from pathlib import Path

import click

from applications.commands.study_tables import (
    CASES,
    CSV,
    FRICTION,
    OBJECTIVES,
    TOP,
    WHERE,
    TableRows,
    count_words,
    design_rows,
    every_design,
    numbers,
    opened,
    question_of,
    read_objectives,
    share_rows,
    share_words,
    show,
)
from applications.commands.terminal import STORE, CommandTable, forced, output_option

COMPUTING = {
    "one-at-a-time": "applications.commands.searches:one_at_a_time",
    "sobol": "applications.commands.searches:sobol",
    "morris": "applications.commands.searches:morris",
    "optimise": "applications.commands.searches:optimise",
    "search": "applications.commands.populations:search",
}
"""Commands that compute designs, and where they are."""


@click.group(commands=CommandTable(COMPUTING))
def study() -> None:
    """Rank the designs of a store, and find the parameters that matter."""


@study.command()
@STORE
@OBJECTIVES
@WHERE
@CASES
@FRICTION
@TOP
@CSV
def pareto(
    store: str,
    texts: tuple[str, ...],
    conditions: tuple[str, ...],
    cases: tuple[str, ...],
    friction: bool,
    top: int,
    file: Path | None,
) -> None:
    """List the designs of STORE that no other beats in all objectives."""
    import numpy as np

    from applications.studies.columns import costs, feasible
    from applications.studies.pareto import front

    ds = opened(store, cases, friction=friction)
    question = question_of(ds, texts, conditions)
    objectives = read_objectives(question.objectives)
    table, usable = costs(ds, objectives), feasible(ds, question.where)
    table[~usable] = np.nan
    best = np.flatnonzero(front(table))
    best = best[np.argsort(table[best, 0], kind="stable")]
    show(design_rows(ds, objectives, best), top, file)
    click.echo(f"{len(best)} on the front, of {int(usable.sum())} feasible designs of {count_words(ds)}")


@study.command()
@STORE
@OBJECTIVES
@click.option("--weight", "weights", multiple=True, type=float, help="One for each objective; default: all alike.")
@WHERE
@CASES
@FRICTION
@TOP
@CSV
@output_option("--refine", "following", help="Write the next sweep, around these designs.")
def rank(
    store: str,
    texts: tuple[str, ...],
    weights: tuple[float, ...],
    conditions: tuple[str, ...],
    cases: tuple[str, ...],
    friction: bool,
    top: int,
    file: Path | None,
    following: Path | None,
) -> None:
    """Rank the designs of STORE by their weighted objectives."""
    from applications.studies import ranking
    from applications.studies.columns import refuse
    from applications.studies.refinement import refine
    from applications.studies.space import FRICTION_SET

    ds = opened(store, cases, friction=friction)
    question = question_of(ds, texts, conditions, cases)
    objectives = read_objectives(question.objectives)
    order, scores = ranking.rank(ds, objectives, weights, question.where)
    if following is not None and question.cases:
        raise refuse("refine", "operating cases", "a study without cases", "Copy the file and narrow its ranges.")
    if following is not None and FRICTION_SET in ds.coords:
        raise refuse("refine", "friction sets apart", "designs by their worst friction set", "Leave out --friction.")
    show(design_rows(ds, objectives, order, ("score", [f"{score:.4g}" for score in scores])), top, file)
    click.echo(f"{len(order)} feasible designs of {count_words(ds)}")
    if following is not None:
        refine(ds, order[:top], following, force=forced())
        click.echo(f"wrote {following}")


@study.command()
@STORE
@click.option("--of", "text", required=True, metavar="TEXT", help="Metric, such as peak_force.")
@CASES
@CSV
def sensitivity(store: str, text: str, cases: tuple[str, ...], file: Path | None) -> None:
    """Show the share of the variance of a metric that each parameter of STORE explains, alone and with another."""
    from applications.studies.columns import depends_on_friction, feasible, value_of
    from applications.studies.shares import from_samples
    from applications.studies.space import DesignSpace

    (target,) = read_objectives((text,))
    ds = opened(store, cases, friction=depends_on_friction(every_design(store), target.expression))
    usable = feasible(ds)
    space = DesignSpace.of_dataset(ds)
    designs = {name: values[usable] for name, values in space.columns_of(ds).items()}
    tables = tuple(factor.name for factor in space.varied() if factor.kind == "category")
    shares = from_samples(designs, value_of(ds, target)[usable], tables)
    rows = share_rows(shares)
    show(rows, len(rows), file)
    for line in share_words(shares):
        click.echo(line)
    if space.assumption:
        click.echo(space.assumption)


@study.command()
@STORE
@click.option("--of", "text", required=True, metavar="TEXT", help="Metric, such as peak_force.")
@click.option("--between", "pair", required=True, nargs=2, metavar="ONE OTHER", help="The two parameters.")
@click.option("--parts", type=click.IntRange(2), default=6, show_default=True, help="Parts of each range, at most.")
@CSV
def interaction(store: str, text: str, pair: tuple[str, str], parts: int, file: Path | None) -> None:
    """Show the interaction of two parameters of STORE: the mean of a metric over parts of their ranges."""
    import numpy as np

    from applications.studies.columns import column, feasible, value_of
    from applications.studies.sensitivity import interaction as table

    ds, (target,) = every_design(store, pair), read_objectives((text,))
    usable = feasible(ds)
    first, second = (column(ds, name)[usable] for name in pair)
    effects = table(first, second, value_of(ds, target)[usable], parts)
    rows: TableRows = [(f"{pair[0]} \\ {pair[1]}", *numbers(effects.second))]
    rows += [(head, *numbers(means)) for head, means in zip(numbers(effects.first), effects.mean, strict=True)]
    show(rows, len(rows), file)
    largest = np.nanmax(np.abs(effects.effect)) if effects.effect.size else np.nan
    click.echo(f"from {int(usable.sum())} designs; the two together differ from their sum by {largest:.4g} at most")
