"""Objectives of designs, and by how much they violate conditions: what a search is told."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

from pipeline.study.columns import Array, Objective, by_case, condition, costs, judges_failures
from pipeline.sweep.axes.columns import CASE

EDGE = 1e-12
"""The least violation of a condition that does not hold, also at its very edge."""


def costs_and_violations(ds: xr.Dataset, objectives: Sequence[Objective], where: Sequence[str]) -> tuple[Array, Array]:
    """Costs (design, objective), to be small, and violations (design, 1 + condition), 0 where a condition is met.

    The first violation is that of designs with failed samples, or without a value. A condition counts by its margin,
    the worst over cases.
    """
    table = costs(ds, objectives)
    failed = np.where(np.isfinite(table).all(axis=1), 0.0, 1.0)
    if "failed_samples" in ds and not any(judges_failures(text) for text in where):
        samples = by_case(ds, "failed_samples").max(axis=1)
        failed = np.maximum(failed, samples / (1.0 + samples))
    return table, np.stack([failed, *(violation(ds, text) for text in where)], axis=1)


def violation(ds: xr.Dataset, text: str) -> Array:
    """By how much each design violates a condition (design,), from 0 to 1, in its worst case."""
    expression = condition(text)
    values = {name: by_case(ds, name) for name in expression.names}
    holds, margin = np.asarray(expression(values), dtype=bool), np.asarray(expression.margin(values), dtype=float)
    amount = np.where(holds, 0.0, np.where(np.isnan(margin), 1.0, np.maximum(-margin, EDGE)))
    return np.broadcast_to(amount, (ds.sizes["design"], ds.sizes.get(CASE, 1))).max(axis=1)
