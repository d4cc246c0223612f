"""Bodies of the commands `limbsweep study sensitivity` and `interaction`, on the designs of a store."""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np

from applications.commands.study_tables import TableRows, every_design, numbers, opened, read_objectives, show
from applications.studies.columns import column, depends_on_friction, feasible, value_of
from applications.studies.sensitivity import interaction as interaction_table
from applications.studies.shares import Explained, from_samples
from applications.studies.space import DesignSpace


def sensitivity(store: str, text: str, cases: tuple[str, ...], file: Path | None) -> None:
    """Show the share of the variance of a metric that each parameter of STORE explains, alone and with another."""
    (target,) = read_objectives((text,))
    ds = opened(store, cases, friction=depends_on_friction(every_design(store), target.expression))
    usable = feasible(ds)
    space = DesignSpace.of_dataset(ds)
    designs = {name: values[usable] for name, values in space.columns_of(ds).items()}
    tables = tuple(factor.name for factor in space.varied() if factor.kind == "category")
    shares = from_samples(designs, value_of(ds, target)[usable], tables)
    rows = _share_rows(shares)
    show(rows, len(rows), file)
    for line in _share_words(shares):
        click.echo(line)
    if space.assumption:
        click.echo(space.assumption)


def interaction(store: str, text: str, pair: tuple[str, str], parts: int, file: Path | None) -> None:
    """Show the interaction of two parameters of STORE: the mean of a metric over parts of their ranges."""
    ds, (target,) = every_design(store, pair), read_objectives((text,))
    usable = feasible(ds)
    first, second = (column(ds, name)[usable] for name in pair)
    effects = interaction_table(first, second, value_of(ds, target)[usable], parts)
    rows: TableRows = [(f"{pair[0]} \\ {pair[1]}", *numbers(effects.second))]
    rows += [(head, *numbers(means)) for head, means in zip(numbers(effects.first), effects.mean, strict=True)]
    show(rows, len(rows), file)
    largest = np.nanmax(np.abs(effects.effect)) if effects.effect.size else np.nan
    click.echo(f"from {int(usable.sum())} designs; the two together differ from their sum by {largest:.4g} at most")


def _share_rows(shares: Explained) -> TableRows:
    """Make a row for each factor: its shares with their errors, then its interactions with each other factor."""
    columns = {"alone": (shares.first, shares.first_error), "total": (shares.total, shares.total_error)}
    if np.isfinite(shares.shapley).any():
        columns["Shapley"] = shares.shapley, shares.shapley_error
    pairs = () if shares.dependent else shares.names
    rows: TableRows = [
        ("parameter", *(head for name in columns for head in (name, "+-")), *(f"with {n}" for n in pairs))
    ]
    for i in np.argsort(-np.nan_to_num(shares.leading[0]), kind="stable"):
        cells = [f"{x[i]:.3f}" for column in columns.values() for x in column]
        is_clear = shares.interaction[i] > shares.interaction_error[i]
        with_others = (f"{shares.interaction[i, j]:.3f}" if is_clear[j] else "" for j, _ in enumerate(pairs))
        rows.append((shares.names[i], *cells, *with_others))
    return rows


def _share_words(shares: Explained) -> list[str]:
    """Describe shares in words: number of designs, unexplained share, and factors that depend on each other."""
    lines = [
        f"from {shares.samples} designs, by a polynomial that does not foretell {shares.unexplained:.1%} of the "
        "variance, which may belong to any parameter; a share that is not above its +- may be zero"
    ]
    if shares.dependent:
        pairs = ", ".join(f"{first} with {second}" for first, second in shares.dependent)
        lines.append(f"parameters depend on each other in these designs: {pairs}; shares alone overlap")
    return lines
