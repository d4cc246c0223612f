"""Failures of designs: shares of designs that fail or break a condition.

The shares are shown over two parameters, and over conditions.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from applications.report.data.designs import DesignColumn
from applications.report.data.results import Results
from applications.studies.columns import feasible
from robots.data_classes import dataclass

Array = NDArray[np.float64]

PARTS = 8
"""Parts of a parameter's range, where it has more values."""


@dataclass(frozen=True)
class FailureMap:
    """Shares of designs (row, column) that fail or break a condition, NaN without designs; texts of both axes."""

    across: DesignColumn
    up: DesignColumn
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    shares: Array


def failure_map(results: Results) -> FailureMap | None:
    """Return the map over the two parameters that change failures most; None if nothing fails, or everything."""
    table = results.designs
    fair = table.fair
    bad = ~table.meets[fair]
    named = all(len(label.texts) <= PARTS for label in table.labels)
    causes = list(table.choices if named else table.causes.values())
    if len(causes) < 2 or not bad.any() or bad.all():
        return None
    parts = [_parts(column, fair) for column in causes]
    spread = [_spread(bad, places, len(texts)) for places, texts in parts]
    first, second = (int(k) for k in np.argsort(-np.array(spread), kind="stable")[:2])
    (x, columns), (y, rows) = parts[first], parts[second]
    flat = y * len(columns) + x
    size = len(rows) * len(columns)
    count = np.bincount(flat, minlength=size).astype(float)
    failed = np.bincount(flat, weights=bad, minlength=size)
    with np.errstate(invalid="ignore"):
        shares = (failed / count).reshape(len(rows), len(columns))
    return FailureMap(causes[first], causes[second], columns, rows, shares)


def _parts(column: DesignColumn, fair: NDArray[np.bool_]) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Return the part of each of the designs in a mask (design,), and the names of the parts."""
    values = column.values[fair]
    if column.texts:
        return values.astype(np.int64), column.texts
    different = np.unique(column.values)
    if len(different) <= PARTS:
        return np.searchsorted(different, values), tuple(column.shown_in.text(x) for x in different)
    ends = np.linspace(different[0], different[-1], PARTS + 1)
    places = np.clip(np.searchsorted(ends, values, side="right") - 1, 0, PARTS - 1)
    unit = column.shown_in
    names = [f"{unit.number(low)} to {unit.text(high)}" for low, high in pairwise(ends)]
    return places, tuple(names)


def _spread(bad: NDArray[np.bool_], places: NDArray[np.int64], parts: int) -> float:
    """Compute the part of the variance of failing that the parts explain (sum of squares over designs)."""
    count = np.bincount(places, minlength=parts)
    shares = np.bincount(places, weights=bad, minlength=parts) / np.maximum(count, 1)
    return float((count * (shares - bad.mean()) ** 2).sum())


def broken_conditions(results: Results) -> tuple[tuple[str, int, int], ...]:
    """Return each condition with the number of designs without failed samples that break it, and it alone."""
    texts = results.question.where
    counts = np.zeros((len(texts), 2), np.int64)
    for dataset, table in results.parts() if texts else ():
        reads_failed = ["failed_samples >= 0"] if "failed_samples" in dataset else []
        broken = np.stack([table.good & ~feasible(dataset, [text, *reads_failed]) for text in texts])
        alone = broken & (broken.sum(axis=0) == 1)
        counts += np.stack([broken.sum(axis=1), alone.sum(axis=1)], axis=1)
    return tuple((text, int(every), int(alone)) for text, (every, alone) in zip(texts, counts, strict=True))
