"""Bodies of the commands `limbsweep study ...` that compute more designs, by the kernels of a run in this process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import click
import numpy as np
import xarray as xr

from applications.commands.study_tables import (
    TableRows,
    number_of,
    numbers,
    opened,
    question_of,
    read_objectives,
    show,
    write_rows,
)
from applications.studies import screening, sensitivity
from applications.studies.columns import Objective, costs, depends_on_friction, feasible, refuse
from applications.studies.optimisation import optimise as search
from applications.studies.problem import DesignProblem
from pipeline.documents.dataset_names import STORED
from pipeline.sweep.stored import stored_sweep


def one_at_a_time(
    store: str, text: str, base: int | None, parts: int, stored: bool, cases: tuple[str, ...], file: Path | None
) -> None:
    """Vary one parameter of STORE after another over its swept range, from a base design."""
    ds, (target,) = opened(store, cases), read_objectives((text,))
    conditions = question_of(ds, cases=cases)
    start = int(_order(ds, target)[0]) if base is None else _place(ds, base)
    if stored:
        curves = screening.of_store(ds, target, start)
    else:
        problem = _problem(store, conditions.cases, friction=_has_friction(ds, target))
        curves = screening.effects(problem, target, problem.stored_design(ds, start), parts)
    rows: TableRows = list(curves.rows())
    show(rows, len(rows), None)
    if file is not None:
        write_rows(file, list(curves.points()))
    number, friction = number_of(ds, start)
    under = "" if friction is None else f" under friction set {friction}"
    if friction is None and not stored and problem.friction_names:
        under = " under its first friction set"
    click.echo(f"{target.text} is {curves.result:.6g} at the base, design {number}{under}")


def sobol(
    store: str, text: str, count: int, seed: int, cases: tuple[str, ...], values: tuple[str, ...], file: Path | None
) -> None:
    """Compute the share of each parameter of STORE in the variance of a metric, alone and with all its interactions."""
    problem, target = _sampled_problem(store, text, cases, values)
    indices = sensitivity.sobol(lambda x: problem.objective(x, target), problem.bounds, count, seed)
    rows: TableRows = [("parameter", "alone", "from", "to", "total", "from", "to")]
    for i in sorted(range(len(indices.names)), key=lambda i: -indices.total[i]):
        cells = (indices.first[i], *indices.first_bounds[i], indices.total[i], *indices.total_bounds[i])
        rows.append((indices.names[i], *(f"{cell:.3f}" for cell in cells)))
    show(rows, len(rows), file)
    click.echo(f"{count * (len(indices.names) + 2)} designs were computed; from and to bound 95 %")


def morris(
    store: str, text: str, count: int, seed: int, cases: tuple[str, ...], values: tuple[str, ...], file: Path | None
) -> None:
    """Compute elementary effects of each parameter of STORE on a metric, to find those without effect."""
    problem, target = _sampled_problem(store, text, cases, values)
    effects = screening.morris(lambda x: problem.objective(x, target), problem.bounds, count, seed)
    rows: TableRows = [("parameter", "mean size", "mean", "deviation")]
    for i in sorted(range(len(effects.names)), key=lambda i: -effects.mean_size[i]):
        cells = numbers([effects.mean_size[i], effects.mean[i], effects.deviation[i]])
        rows.append((effects.names[i], *cells))
    show(rows, len(rows), file)
    click.echo(f"{count * (len(effects.names) + 1)} designs were computed; effects are per whole range")


def _sampled_problem(
    store: str, text: str, cases: Sequence[str], values: Sequence[str]
) -> tuple[DesignProblem, Objective]:
    """Return a store's sweep as functions of its parameters, under all or some cases, and the objectives."""
    (target,), ds = read_objectives((text,)), opened(store, cases)
    friction = _has_friction(ds, target)
    return _problem(store, question_of(ds, cases=cases).cases, values, friction=friction), target


def _has_friction(ds: xr.Dataset, target: Objective) -> bool:
    """Return whether an objective differs between friction sets, which may be designs of their own."""
    return number_of(ds, 0)[1] is not None or depends_on_friction(ds, target.expression)


def optimise(
    store: str,
    text: str | None,
    where: tuple[str, ...],
    cases: tuple[str, ...],
    constant: tuple[str, ...],
    starts: int,
    threads: int,
    file: Path | None,
) -> None:
    """Improve the best designs of STORE within its swept ranges, by exact derivatives.

    Conditions of the sweep on its designs hold, derived parameters follow, and the row of a table, such as a motor,
    stays as at each start.
    """
    ds = opened(store, cases)
    question = question_of(ds, (text,) if text else (), where, cases)
    target, problem = read_objectives(question.objectives)[0], _problem(store, question.cases)
    starts_of_search = [problem.stored_design(ds, int(k)) for k in _order(ds, target, question.where)[:starts]]
    if strange := [name for name in constant if name not in problem.names]:
        raise refuse(f"fix.{strange[0]}", "no such parameter", f"one of {', '.join(problem.names)}")
    stay = tuple(dict.fromkeys((*constant, *problem.rows_of_tables)))  # a motor stays, as it was at the start
    alike: dict[tuple[float, ...], list[int]] = {}  # starts with the same constants are searched side by side
    for k, start in enumerate(starts_of_search):
        alike.setdefault(tuple(start[name] for name in stay), []).append(k)
    optima = []
    for values, numbers_of_starts in alike.items():
        kept = dict(zip(stay, values, strict=True))
        same = problem.at(kept) if stay else problem
        begins = np.array([[starts_of_search[k][name] for name in same.names] for k in numbers_of_starts])
        for optimum in search(same, target, begins, question.where, threads=threads):
            optima.append(replace(optimum, design={**kept, **optimum.design}))
    optima.sort(key=lambda optimum: (not optimum.feasible, target.sign * optimum.value))
    heads, cells = _columns(problem, [optimum.design for optimum in optima])
    rows: TableRows = [(target.text, "at the start", "conditions", *heads)]
    for optimum, row in zip(optima, cells, strict=True):
        verdict = "hold" if optimum.feasible else "do not hold"
        rows.append((*numbers([optimum.value, optimum.start]), verdict, *row))
    show(rows, len(rows), file)
    calls, seconds = sum(optimum.calls for optimum in optima), max(optimum.seconds for optimum in optima)
    click.echo(f"{calls} evaluations, {seconds:.2g} s at most")


def _columns(problem: DesignProblem, found: Sequence[Mapping[str, float]]) -> tuple[list[str], list[list[str]]]:
    """Return heads and cells of designs: varied factors, for a table its label, then derived parameters."""
    points = np.array([[design[name] for name in problem.names] for design in found])
    table, space = problem.table(points), problem.space
    heads: list[str] = []
    for factor in (factor for factor in space.varied() if factor.name in problem.names):
        heads += [factor.name] if factor.name in factor.members else factor.members
    heads += space.of_kind("derived")
    every = problem.case_count
    columns = [
        list(map(str, space.labels(name, table[name][::every])))
        if name in space.texts
        else numbers(table[name][::every])
        for name in heads
    ]
    return heads, [list(row) for row in zip(*columns, strict=True)]


def _order(ds: xr.Dataset, target: Objective, where: Sequence[str] = ()) -> np.ndarray:
    """Order all designs (design,): best first, then designs that break a condition, then designs that fail."""
    order_costs = np.where(feasible(ds), costs(ds, [target])[:, 0], np.inf)
    order_costs = np.nan_to_num(order_costs, nan=np.inf, posinf=np.inf)
    return np.lexsort([order_costs, ~feasible(ds, where) & np.isfinite(order_costs), ~np.isfinite(order_costs)])


def _place(ds: xr.Dataset, number: int) -> int:
    """Return the index among the designs for a number in the store, under any case. Raises InputError."""
    if STORED not in ds.coords:
        return number
    places = np.flatnonzero((ds[STORED].values == number).any(axis=1))
    if not len(places):
        raise refuse("base", str(number), "the number of a design that has every case")
    return int(places[0])


def _problem(
    store: str, cases: Sequence[str] = (), values: Sequence[str] = (), *, friction: bool = False
) -> DesignProblem:
    """Open the sweep of a store as a problem over its parameters, under all operating cases or under selected ones.

    friction: swept parameters of friction vary like parameters of designs.
    """
    problem = DesignProblem.of(stored_sweep(store, plain=True), cases=cases, friction=friction)
    return problem.under(dict(map(_value, values)))


def _value(text: str) -> tuple[str, float]:
    """Split NAME=VALUE into a parameter and its value. Raises InputError."""
    name, _, number = text.partition("=")
    try:
        return name.strip(), float(number)
    except ValueError:
        raise refuse("case", repr(text), "a name, =, and a number", "Such as payload_mass=3.") from None
