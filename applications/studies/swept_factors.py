"""Factors, operating cases, rules and conditions that the axes of a sweep declare."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from applications.studies.columns import Array, refuse
from applications.studies.factors import Choice, Continuous, Factor, table_factor
from pipeline.documents.report import sentence
from pipeline.sweep.axes.derived import DependentAxis, Derived, Filtered
from pipeline.sweep.axes.kinds import ArrayValues, Axis, Grid, Listed, Product, Sampled
from pipeline.sweep.tolerances.reader import Deviations
from robots.expressions.expression import ParsedExpression
from robots.parameter_errors import nearest

MAX_CASES = 10_000
"""Combinations of operating cases."""


class AxisFactors(NamedTuple):
    """Content of an axis: its factors, tables of cases (case,), rules of derived parameters, conditions on designs."""

    factors: tuple[Factor, ...]
    cases: tuple[dict[str, Array], ...]
    rules: tuple[tuple[str, ParsedExpression], ...]
    conditions: tuple[ParsedExpression, ...]


def axis_factors(section: str, axis: Axis, cases: Sequence[str] = ()) -> AxisFactors:
    """Return the factors of an axis, of which some are operating cases. Raises InputError for cases that it lacks."""
    base, rules, conditions = _unwrapped(axis)
    parts = [table for part in _parts(base) for table in _apart(part, cases)]
    _require_swept(cases, [name for part in parts for name in part.names])
    factors = tuple(factor for part in parts for factor in _factors(section, part, cases))
    tables = tuple(table for part in parts for table in _cases(part, cases))
    return AxisFactors(factors, tables, rules, conditions)


def _require_swept(cases: Sequence[str], varied: Sequence[str]) -> None:
    for name in cases:
        if name not in varied:
            hint = sentence(nearest(name, varied))
            raise refuse(f"cases.{name}", "no such parameter", "a parameter that is swept under design", hint)


def _unwrapped(axis: Axis) -> tuple[Axis, tuple[tuple[str, ParsedExpression], ...], tuple[ParsedExpression, ...]]:
    """Return the axis that others are made from, their rules of derived parameters, and their conditions."""
    rules: tuple[tuple[str, ParsedExpression], ...] = ()
    conditions: tuple[ParsedExpression, ...] = ()
    while isinstance(axis, DependentAxis):
        rules = axis.rules + rules if isinstance(axis, Derived) else rules
        conditions = axis.conditions + conditions if isinstance(axis, Filtered) else conditions
        axis = axis.base
    return axis, rules, conditions


def _parts(axis: Axis) -> tuple[Axis, ...]:
    return axis.parts if isinstance(axis, Product) else (axis,) if axis.names else ()


def _apart(part: Axis, cases: Sequence[str]) -> tuple[Axis, ...]:
    """Return a table of designs under all cases, as stores of searches have it, as two: of designs, and of cases."""
    sides = [[k for k, name in enumerate(part.names) if (name in cases) is inside] for inside in (False, True)]
    if not isinstance(part, Listed) or not all(sides):
        return (part,)
    values = np.stack([*part.values().values()], axis=1)
    firsts = [np.sort(np.unique(values[:, side], axis=0, return_index=True)[1]) for side in sides]
    if len(np.unique(values, axis=0)) != len(firsts[0]) * len(firsts[1]):
        return (part,)
    return tuple(_table(part, side, rows) for side, rows in zip(sides, firsts, strict=True))


def _table(part: Listed, columns: Sequence[int], rows: NDArray[np.intp]) -> Listed:
    """Return some rows of some columns of a table."""
    parts = []
    for k in columns:
        column = part.columns[k]
        numbers = column.take(rows.astype(np.int64))
        parts.append(
            replace(column, numbers=numbers)
            if isinstance(column, ArrayValues)
            else ArrayValues(np.asarray(numbers, dtype=float))
        )
    return Listed(tuple(part.names[k] for k in columns), tuple(parts))


def _factors(section: str, part: Axis, cases: Sequence[str]) -> Iterator[Factor]:
    """Give the factors of a part of an axis: each parameter of a grid or sample, the rows of a table."""
    if isinstance(part, Sampled):
        logs = part.log or (False,) * len(part.names)
        for row in zip(part.names, part.low, part.high, logs, strict=True):
            yield Factor(row[0], "free", section, (row[0],), Continuous(*row))
    elif isinstance(part, Grid):
        for name, column in zip(part.names, part.columns, strict=True):
            values = column.take(np.arange(column.size))
            yield Factor(
                name,
                "case" if name in cases else "free",
                section,
                (name,),
                Choice((name,), values[:, None], ordered=True),
            )
    elif isinstance(part, Deviations) or {*part.names} <= {*cases}:
        for name in part.names:
            yield Factor(name, "tolerance" if isinstance(part, Deviations) else "case", section, (name,))
    elif isinstance(part, Listed):
        rows = part.values()
        table = np.stack([rows[name] for name in part.names], axis=1)
        domain = Choice(part.names, table, ordered=False, texts=frozenset(part.texts))
        yield replace(table_factor(part.names, part.texts, section), domain=domain)


def _cases(part: Axis, cases: Sequence[str]) -> list[dict[str, Array]]:
    """Return tables of the values of operating cases in a part of an axis; values that go together are one table."""
    if isinstance(part, Grid):
        columns = zip(part.names, part.columns, strict=True)
        return [{name: column.take(np.arange(column.size))} for name, column in columns if name in cases]
    if {*part.names} <= {*cases}:
        return [part.values()]  # as deviations within tolerances do
    if inner := {*part.names} & {*cases}:
        hint = "Move it to the grid: all designs have all cases."
        raise refuse(f"cases.{min(inner)}", "a case that is no parameter of the grid", "cases in the grid", hint)
    return []


def combined(tables: Sequence[Mapping[str, Array]]) -> dict[str, Array]:
    """Return all combinations of the rows of tables of cases."""
    sizes = [len(next(iter(table.values()))) for table in tables]
    if (count := int(np.prod(sizes, dtype=float))) > MAX_CASES:
        raise refuse("cases", f"{count:,} combinations", f"at most {MAX_CASES:,}", "Take fewer values of them.")
    places = np.meshgrid(*(np.arange(size) for size in sizes), indexing="ij")
    pairs = zip(tables, places, strict=True)
    return {name: values[place.ravel()] for table, place in pairs for name, values in table.items()}
