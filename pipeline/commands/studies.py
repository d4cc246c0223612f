"""The commands `limbsweep study ...`: tables on the screen, or CSV files, from a store."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    import numpy as np
    import xarray as xr

    from pipeline.study.columns import Objective
    from pipeline.study.problem import Problem

Rows = list[Sequence[str]]

STORE = click.argument("store")
OBJECTIVES = click.option(
    "--objective",
    "objectives",
    multiple=True,
    required=True,
    metavar="TEXT",
    help="Such as peak_force, 'max dexterity' or 'min friction_loss_sum / energy_sum'; one or more.",
)
WHERE = click.option("--where", "conditions", multiple=True, metavar="TEXT", help="Such as 'condition < 5'.")
CSV = click.option("--csv", "file", type=click.Path(path_type=Path), help="Write all rows to a new file, too.")
TOP = click.option("--top", type=click.IntRange(1), default=20, show_default=True, help="Rows on the screen.")


@click.group()
def study() -> None:
    """Which designs of a store are best, and what matters."""


@study.command()
@STORE
@OBJECTIVES
@WHERE
@TOP
@CSV
def pareto(store: str, objectives: tuple[str, ...], conditions: tuple[str, ...], top: int, file: Path | None) -> None:
    """The designs of STORE that no other beats in all objectives."""
    import numpy as np

    from pipeline.study.columns import costs, feasible
    from pipeline.study.pareto import front

    ds, wanted = _opened(store), _objectives(objectives)
    table, usable = costs(ds, wanted), feasible(ds, conditions)
    table[~usable] = np.nan
    chosen = np.flatnonzero(front(table))
    chosen = chosen[np.argsort(table[chosen, 0], kind="stable")]
    _show(_design_rows(ds, wanted, chosen), top, file)
    click.echo(f"{len(chosen)} on the front, of {int(usable.sum())} feasible designs of {ds.sizes['design']}")


@study.command()
@STORE
@OBJECTIVES
@click.option("--weight", "weights", multiple=True, type=float, help="One for each objective; default: all alike.")
@WHERE
@TOP
@CSV
@click.option("--refine", "following", type=click.Path(path_type=Path), help="Write the next sweep around the rows.")
def rank(
    store: str,
    objectives: tuple[str, ...],
    weights: tuple[float, ...],
    conditions: tuple[str, ...],
    top: int,
    file: Path | None,
    following: Path | None,
) -> None:
    """The designs of STORE in the order of their weighted objectives."""
    from pipeline.study import ranking
    from pipeline.study.refinement import refine

    ds, wanted = _opened(store), _objectives(objectives)
    order, scores = ranking.rank(ds, wanted, weights, conditions)
    _show(_design_rows(ds, wanted, order, ("score", [f"{score:.4g}" for score in scores])), top, file)
    click.echo(f"{len(order)} feasible designs of {ds.sizes['design']}")
    if following is not None:
        _written(following, lambda: refine(ds, order[:top], following))
        click.echo(f"wrote {following}")


@study.command()
@STORE
@click.option("--of", "text", required=True, metavar="TEXT", help="What varies: such as peak_force.")
@CSV
def sensitivity(store: str, text: str, file: Path | None) -> None:
    """How much of the variance of a metric each parameter of STORE explains, alone and with another."""
    from pipeline.study.columns import feasible, swept, value_of
    from pipeline.study.sensitivity import from_samples

    ds, (wanted,) = _opened(store), _objectives((text,))
    usable = feasible(ds)
    designs = {name: ds[name].values[usable] for name in swept(ds)}
    found = from_samples(designs, value_of(ds, wanted)[usable])
    rows: Rows = [("parameter", "alone", *(f"with {name}" for name in found.names))]
    for i in sorted(range(len(found.names)), key=lambda i: -found.first[i]):
        pairs = ["" if i == j else f"{value:.3f}" for j, value in enumerate(found.interaction[i])]
        rows.append((found.names[i], f"{found.first[i]:.3f}", *pairs))
    _show(rows, len(rows), file)
    click.echo(f"from {found.samples} designs; alone, all parameters explain {found.first.sum():.3f}")


@study.command()
@STORE
@click.option("--of", "text", required=True, metavar="TEXT", help="What is looked at: such as peak_force.")
@click.option("--between", "pair", required=True, nargs=2, metavar="ONE OTHER", help="The two parameters.")
@click.option("--parts", type=click.IntRange(2), default=6, show_default=True, help="Parts of each range, at most.")
@CSV
def interaction(store: str, text: str, pair: tuple[str, str], parts: int, file: Path | None) -> None:
    """How a metric of STORE goes along with two parameters: its mean over parts of their ranges."""
    import numpy as np

    from pipeline.study.columns import column, feasible, value_of
    from pipeline.study.sensitivity import interaction as table

    ds, (wanted,) = _opened(store), _objectives((text,))
    usable = feasible(ds)
    one, other = (column(ds, name)[usable] for name in pair)
    found = table(one, other, value_of(ds, wanted)[usable], parts)
    rows: Rows = [(f"{pair[0]} \\ {pair[1]}", *_numbers(found.second))]
    rows += [(head, *_numbers(means)) for head, means in zip(_numbers(found.first), found.mean, strict=True)]
    _show(rows, len(rows), file)
    largest = np.nanmax(np.abs(found.effect)) if found.effect.size else np.nan
    click.echo(f"from {int(usable.sum())} designs; the two together differ from their sum by {largest:.4g} at most")


@study.command(name="one-at-a-time")
@STORE
@click.option("--of", "text", required=True, metavar="TEXT", help="What is looked at: such as peak_force.")
@click.option("--base", type=click.IntRange(0), help="Number of the base design; default: the best.")
@click.option("--parts", type=click.IntRange(2), default=11, show_default=True, help="Values of each parameter.")
@click.option("--stored", is_flag=True, help="Compute nothing: read designs that differ in one parameter.")
@CSV
def one_at_a_time(store: str, text: str, base: int | None, parts: int, stored: bool, file: Path | None) -> None:
    """One parameter of STORE after another over its swept range, from a base design."""
    from pipeline.study import one_at_a_time as once

    ds, (wanted,) = _opened(store), _objectives((text,))
    chosen = _best(ds, wanted) if base is None else base
    if stored:
        found = once.of_store(ds, wanted, chosen)
    else:
        problem = _problem(store)
        found = once.effects(problem, wanted, _design(ds, chosen, problem.names), parts)
    rows: Rows = list(found.rows())
    _show(rows, len(rows), None)
    if file is not None:
        _csv(file, list(found.points()))
    click.echo(f"{wanted.text} is {found.result:.6g} at the base, design {chosen}")


def _best(ds: xr.Dataset, wanted: Objective) -> int:
    """The best feasible design, or the first where none is."""
    import numpy as np

    from pipeline.study.columns import costs, feasible

    found = np.where(feasible(ds), costs(ds, [wanted])[:, 0], np.inf)
    return int(np.argmin(np.nan_to_num(found, nan=np.inf)))


def _problem(store: str) -> Problem:
    """The sweep of a store as functions of its parameters."""
    from pipeline.recompute import stored_sweep
    from pipeline.study.problem import Problem

    return Problem.of(stored_sweep(store))


def _design(ds: xr.Dataset, number: int, names: Sequence[str]) -> dict[str, float]:
    from pipeline.study.columns import refuse

    if number >= ds.sizes["design"]:
        raise refuse("base", str(number), f"a design from 0 to {ds.sizes['design'] - 1}")
    return {name: float(ds[name].values[number]) for name in names}


def _opened(store: str) -> xr.Dataset:
    from storage import open_results

    return open_results(store, unfinished=True)


def _objectives(texts: Sequence[str]) -> list[Objective]:
    from pipeline.study.columns import objective

    return [objective(text) for text in texts]


def _design_rows(
    ds: xr.Dataset, wanted: Sequence[Objective], chosen: np.ndarray, more: tuple[str, list[str]] | None = None
) -> Rows:
    """A row for each chosen design: its number, objectives, swept parameters."""
    from pipeline.study.columns import swept, unit, value_of

    columns: list[tuple[str, list[str]]] = [("design", [str(i) for i in chosen])]
    columns += [more] if more else []
    for each in wanted:
        columns.append((_heading(each.text, unit(ds, each.text)), _numbers(value_of(ds, each)[chosen])))
    for name in swept(ds):
        columns.append((_heading(name, unit(ds, name)), _numbers(ds[name].values[chosen])))
    return [tuple(head for head, _ in columns), *zip(*(cells for _, cells in columns), strict=True)]


def _heading(name: str, unit: str) -> str:
    return f"{name} [{unit}]" if unit not in ("", "1") else name


def _numbers(values: np.ndarray) -> list[str]:
    return [f"{value:.6g}" for value in values]


def _show(rows: Rows, top: int, file: Path | None) -> None:
    """Print the first rows, and write all to a file where one is named."""
    from pipeline.commands.terminal import print_rows

    print_rows(rows[: top + 1])
    if file is not None:
        _csv(file, rows)


def _csv(file: Path, rows: Rows) -> None:
    def write() -> None:
        with file.open("x", encoding="utf-8", newline="") as stream:
            csv.writer(stream).writerows(rows)

    _written(file, write)
    click.echo(f"wrote {file}")


def _written(path: Path, write: Callable[[], Any]) -> None:
    from pipeline.commands.terminal import writing

    with writing(path):
        write()
