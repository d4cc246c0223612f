"""Objectives over metrics of designs with their exact derivatives, for packages that differentiate programs."""

from __future__ import annotations

import numpy as np

from applications.studies.columns import Array, Objective, objective, refuse
from applications.studies.optimisation import check_derivatives, value_with_rates
from applications.studies.problem import DesignProblem

__all__ = ["DesignProblem", "Objective", "objective_of", "values_and_rates"]


def objective_of(problem: DesignProblem, wanted: Objective | str) -> Objective:
    """Return an objective that can be differentiated. Raises InputError for others."""
    target = objective(wanted) if isinstance(wanted, str) else wanted
    check_derivatives(problem, target, ())
    return target


def values_and_rates(problem: DesignProblem, wanted: Objective, designs: Array) -> tuple[Array, Array]:
    """Return the objective (*batch,) of designs (*batch, factor), and its derivatives (*batch, factor)."""
    table = np.asarray(designs, dtype=float)
    if table.shape[-1:] != (len(problem.names),):
        got, expected = (
            f"an array of shape {table.shape}",
            f"(*batch, {len(problem.names)}): {', '.join(problem.names)}",
        )
        raise refuse("designs", got, expected)
    parts = [value_with_rates(problem, wanted, row) for row in table.reshape(-1, table.shape[-1])]
    values, rates = np.array([value for value, _ in parts]), np.array([rate for _, rate in parts])
    return values.reshape(table.shape[:-1]), rates.reshape(table.shape)
