"""The commands `limbsweep study ...` that compute more designs, by the kernels of a run in this process."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipeline.commands.study_tables import CSV, TableRows, numbers, opened, read_objectives, show, write_rows
from pipeline.commands.terminal import STORE

if TYPE_CHECKING:
    import numpy as np
    import xarray as xr

    from pipeline.study.columns import Objective
    from pipeline.study.optimisation import Limit
    from pipeline.study.problem import DesignProblem

LIMIT = re.compile(r"\s*(\w+)\s*(<=|>=)\s*(\S+)\s*")


@click.command(name="one-at-a-time")
@STORE
@click.option("--of", "text", required=True, metavar="TEXT", help="What is looked at: such as peak_force.")
@click.option("--base", type=click.IntRange(0), help="Number of the base design; default: the best.")
@click.option(
    "--parts", type=click.IntRange(2, 10_000), default=11, show_default=True, help="Values of each parameter."
)
@click.option("--stored", is_flag=True, help="Compute nothing: read designs that differ in one parameter.")
@CSV
def one_at_a_time(store: str, text: str, base: int | None, parts: int, stored: bool, file: Path | None) -> None:
    """One parameter of STORE after another over its swept range, from a base design."""
    from pipeline.study import one_at_a_time as once

    ds, (wanted,) = opened(store), read_objectives((text,))
    chosen = int(_order(ds, wanted)[0]) if base is None else base
    if stored:
        curves = once.of_store(ds, wanted, chosen)
    else:
        problem = _problem(store)
        curves = once.effects(problem, wanted, _design(ds, chosen, problem.names), parts)
    rows: TableRows = list(curves.rows())
    show(rows, len(rows), None)
    if file is not None:
        write_rows(file, list(curves.points()))
    click.echo(f"{wanted.text} is {curves.result:.6g} at the base, design {chosen}")


@click.command()
@STORE
@click.option("--of", "text", required=True, metavar="TEXT", help="What varies: such as peak_force.")
@click.option("--count", type=click.IntRange(2), default=256, show_default=True, help="Samples, a power of two.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the samples.")
@CSV
def sobol(store: str, text: str, count: int, seed: int, file: Path | None) -> None:
    """Shares of the variance of a metric by each parameter of STORE, alone and with all its interactions."""
    from pipeline.study import sensitivity

    (wanted,), problem = read_objectives((text,)), _problem(store)
    indices = sensitivity.sobol(lambda x: problem.objective(x, wanted), problem.bounds, count, seed)
    rows: TableRows = [("parameter", "alone", "from", "to", "total", "from", "to")]
    for i in sorted(range(len(indices.names)), key=lambda i: -indices.total[i]):
        cells = (indices.first[i], *indices.first_bounds[i], indices.total[i], *indices.total_bounds[i])
        rows.append((indices.names[i], *(f"{cell:.3f}" for cell in cells)))
    show(rows, len(rows), file)
    click.echo(f"{count * (len(indices.names) + 2)} designs were computed; from and to bound 95 %")


@click.command()
@STORE
@click.option("--objective", "text", required=True, metavar="TEXT", help="A column, such as peak_force.")
@click.option("--limit", "limits", multiple=True, metavar="TEXT", help="Such as 'condition <= 6'; any number of them.")
@click.option("--starts", type=click.IntRange(1), default=4, show_default=True, help="Best designs to start from.")
@click.option("--threads", type=click.IntRange(1), default=1, show_default=True, help="Searches side by side.")
@CSV
def optimise(store: str, text: str, limits: tuple[str, ...], starts: int, threads: int, file: Path | None) -> None:
    """Better designs than the best of STORE within its swept ranges, by exact derivatives."""
    import numpy as np

    from pipeline.study.optimisation import optimise as search

    bounds = [_limit(limit) for limit in limits]
    ds, (wanted,), problem = opened(store), read_objectives((text,)), _problem(store)
    begins = np.array([list(_design(ds, int(k), problem.names).values()) for k in _order(ds, wanted)[:starts]])
    optima = search(problem, wanted.text, begins, bounds, threads=threads)
    rows: TableRows = [(wanted.text, "at the start", "limits", *problem.names)]
    for optimum in optima:
        verdict = "hold" if optimum.feasible else "do not hold"
        rows.append((*numbers([optimum.value, optimum.start]), verdict, *numbers(list(optimum.design.values()))))
    show(rows, len(rows), file)
    calls, seconds = sum(optimum.calls for optimum in optima), max(optimum.seconds for optimum in optima)
    click.echo(f"{calls} evaluations, {seconds:.2g} s at most")


def _limit(text: str) -> Limit:
    """Parse a limit. Raises InputError."""
    from pipeline.study.columns import refuse
    from pipeline.study.optimisation import Limit

    try:
        name, sign, bound = LIMIT.fullmatch(text).groups()  # type: ignore[union-attr]
        return Limit(name, float(bound), sign == ">=")
    except (AttributeError, ValueError):
        raise refuse("limit", repr(text), "a column, <= or >=, and a number", "Such as 'condition <= 6'.") from None


def _order(ds: xr.Dataset, wanted: Objective) -> np.ndarray:
    """Order all designs (design,): the best feasible one first, those that are not feasible last."""
    import numpy as np

    from pipeline.study.columns import costs, feasible

    order_costs = np.where(feasible(ds), costs(ds, [wanted])[:, 0], np.inf)
    return np.argsort(np.nan_to_num(order_costs, nan=np.inf, posinf=np.inf), kind="stable")


def _problem(store: str) -> DesignProblem:
    """Open the sweep of a store as functions of its parameters."""
    from pipeline.stores.recompute import stored_sweep
    from pipeline.study.problem import DesignProblem

    return DesignProblem.of(stored_sweep(store, plain=True))


def _design(ds: xr.Dataset, number: int, names: Sequence[str]) -> dict[str, float]:
    from pipeline.study.columns import refuse

    if number >= ds.sizes["design"]:
        raise refuse("base", str(number), f"a design from 0 to {ds.sizes['design'] - 1}")
    return {name: float(ds[name].values[number]) for name in names}


COMMANDS = (one_at_a_time, sobol, optimise)
"""What these add to the group `study`."""
