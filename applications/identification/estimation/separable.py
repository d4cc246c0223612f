"""Parameters that forces are not linear in, such as Stribeck velocities: separable least squares.

For each trial of the nonlinear parameters the linear ones follow by least squares, so that the search is only over the
former. Source: Golub and Pereyra 1973, variable projection; derivatives of the projected residuals by differences.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import least_squares as search

from applications.identification.estimation import estimators
from robots.data_classes import dataclass
from tasks.kernels.expression import Array

SCAN = 24
"""Trials of each nonlinear parameter between its bounds before the search, which finds the nearest minimum only."""
STEP = 1e-6
"""Relative step of the differences for standard deviations."""


@dataclass(frozen=True)
class Separated:
    """Linear parameters as in `Estimate`, nonlinear ones with standard deviations, and whether the search converged."""

    linear: estimators.Estimate
    nonlinear: np.ndarray
    deviations: np.ndarray
    converged: bool


def separable(
    regressor: Callable[[np.ndarray], np.ndarray], forces: Array, start: Array, lower: Array, upper: Array
) -> Separated:
    """Fit both kinds of parameters; `regressor(nonlinear)` is the matrix (rows, linear) for trial values.

    start, lower, upper (nonlinear,): the first trial and bounds above zero; the search is over logarithms. Raises
    ValueError for bounds that do not hold the start.
    """
    start, lower, upper = (np.atleast_1d(np.asarray(x, dtype=float)) for x in (start, lower, upper))
    if not ((lower > 0) & (lower < start) & (start < upper)).all():
        raise ValueError(f"start: got {start} between {lower} and {upper}; expected 0 < lower < start < upper")
    forces = np.asarray(forces, dtype=float)

    def residuals(logarithms: np.ndarray) -> np.ndarray:
        matrix = regressor(np.exp(logarithms))
        sizes = np.maximum(np.linalg.norm(matrix, axis=0), np.finfo(float).tiny)
        q = np.linalg.qr(matrix / sizes)[0]
        return np.asarray(forces - q @ (q.T @ forces))

    bounds = np.log(lower), np.log(upper)
    first = _scanned(residuals, np.log(start), *bounds)
    found = search(residuals, first, bounds=bounds, x_scale=1.0, xtol=1e-14, ftol=1e-14, gtol=1e-14)
    nonlinear = np.exp(found.x)
    matrix = regressor(nonlinear)
    linear = estimators.estimate("least_squares", matrix, forces)
    slopes = [
        (regressor(nonlinear + unit) - regressor(nonlinear - unit)) @ linear.values / (2.0 * STEP * value)
        for value, unit in zip(nonlinear, np.diag(nonlinear * STEP), strict=True)
    ]
    # standard deviations of all together: each kind has to pay for not knowing the other
    whole = estimators.estimate(
        "least_squares", np.column_stack([matrix, *slopes]), forces + np.column_stack(slopes) @ nonlinear
    )
    count = matrix.shape[1]
    values = estimators.Estimate(linear.values, whole.deviations[:count], whole.condition, whole.noise)
    return Separated(values, nonlinear, whole.deviations[count:], bool(found.success))


def _scanned(residuals: Callable[[np.ndarray], np.ndarray], start: np.ndarray, low: Array, high: Array) -> np.ndarray:
    """Return the best of trials of one parameter after the other."""
    best = start.copy()
    for k in range(len(best)):
        trials = [
            best,
            *(np.where(np.arange(len(best)) == k, x, best) for x in np.linspace(low[k], high[k], SCAN)[1:-1]),
        ]
        sizes = [float(np.linalg.norm(residuals(trial))) for trial in trials]
        best = trials[int(np.argmin(sizes))]
    return best
