"""Estimators of parameters from a regressor and forces: one table, pure functions, all with standard deviations.

`forces = matrix @ parameters + noise`, matrix (rows, parameter) of full rank, rows in turn of the actuators. Sources:
Swevers et al. 1997 and Gautier, Janot, Vandanjon 2013 for weights by actuator; Huber 1981 for reweighting; Golub and
Van Loan 1980 for total least squares; Rust 1972 for the covariances, which are those of the linear model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from robots.data_classes import dataclass
from robots.parameter_errors import nearest
from tasks.kernels.expression import Array

Actuators = int | Array
"""Number of actuators whose rows take turns; or the actuator's number of each row (rows,)."""
HUBER = 1.345
"""Residuals beyond this many standard deviations lose weight; 95 % efficient where the noise is normal."""
ITERATIONS = 50
SETTLED = 1e-10


@dataclass(frozen=True)
class Estimate:
    """Result of an estimator.

    values, deviations (parameter,): parameters and their standard deviations; condition: of the weighted matrix with
    columns of length one; noise: standard deviation of the residuals [N m or N]; iterations: steps taken; spread
    (actuator,): noise that rows were weighted by, where it is by actuator alone.
    """

    values: np.ndarray
    deviations: np.ndarray
    condition: float
    noise: float
    iterations: int = 1
    spread: np.ndarray | None = None


class Estimates(NamedTuple):
    """Estimates of several cases: the numbers of `Estimate`, with a case dim in front."""

    values: np.ndarray
    deviations: np.ndarray
    condition: np.ndarray
    noise: np.ndarray
    iterations: np.ndarray | int = 1
    spread: np.ndarray | None = None

    def case(self, number: int) -> Estimate:
        """Return the estimate of one case."""
        values, deviations, condition, noise, iterations, spread = self
        steps = int(np.broadcast_to(iterations, len(values))[number])
        of_actuators = None if spread is None else spread[number]
        return Estimate(
            values[number], deviations[number], float(condition[number]), float(noise[number]), steps, of_actuators
        )


def least_squares(matrix: np.ndarray, forces: np.ndarray, actuators: Actuators) -> Estimates:
    """Estimate by ordinary least squares."""
    return _solved(matrix, forces, np.ones(forces.shape))


def weighted(matrix: np.ndarray, forces: np.ndarray, actuators: Actuators) -> Estimates:
    """Estimate with rows weighted by the noise of their actuator, which a first pass of least squares finds."""
    first = least_squares(matrix, forces, actuators)
    spread = _by_actuator(forces - _product(matrix, first.values), actuators)
    result = _solved(matrix, forces, 1.0 / _on_rows(spread, forces, actuators))
    return _in_units_of_forces(result, matrix, forces)._replace(spread=spread)


def reweighted(matrix: np.ndarray, forces: np.ndarray, actuators: Actuators) -> Estimates:
    """Estimate with iterative weights: by actuator, and less for outlying rows (Huber), for gross errors."""
    result = least_squares(matrix, forces, actuators)
    steps, some = np.zeros(len(matrix), dtype=int), np.arange(len(matrix))
    for _ in range(ITERATIONS):
        part, sides = (matrix, forces) if len(some) == len(matrix) else (matrix[some], forces[some])
        before = result.values[some]
        residuals = sides - _product(part, before)
        spread = _on_rows(_by_actuator(residuals, actuators, robust=True), sides, actuators)
        far = np.abs(residuals) / spread
        weights = np.sqrt(np.minimum(1.0, HUBER / np.maximum(far, HUBER))) / spread
        now = _solved(part, sides, weights)
        for whole, of_part in zip(result[:4], now[:4], strict=True):
            whole[some] = of_part
        steps[some] += 1
        change = np.linalg.norm(now.values - before, axis=1)
        some = some[change > SETTLED * np.linalg.norm(now.values, axis=1)]
        if not len(some):
            break
    return _in_units_of_forces(result, matrix, forces)._replace(iterations=steps)


def total_least_squares(matrix: np.ndarray, forces: np.ndarray, actuators: Actuators) -> Estimates:
    """Estimate with errors in regressor and forces, columns scaled to the length of the forces' noise-free part."""
    first = least_squares(matrix, forces, actuators)
    sizes, size = np.linalg.norm(matrix, axis=1), np.linalg.norm(forces, axis=1)[:, None]
    size = np.where(size > 0.0, size, 1.0)
    whole = np.concatenate([matrix / sizes[:, None], (forces / size)[..., None]], axis=2)
    singular, right = np.linalg.svd(whole, full_matrices=False)[1:]
    last = right[:, -1]
    values = -last[:, :-1] / last[:, -1:] * size / sizes
    # first order in the noise the covariance is that of least squares, more noise by the norm of its factors
    grown = np.sqrt(1.0 + np.sum((values * sizes / size) ** 2, axis=1))[:, None]
    noise = singular[:, -1] * size[:, 0] / forces.shape[1] ** 0.5
    return Estimates(values, first.deviations * grown, first.condition, noise)


ESTIMATORS: Mapping[str, Callable[[np.ndarray, np.ndarray, Actuators], Estimates]] = {
    "least_squares": least_squares,
    "weighted": weighted,
    "reweighted": reweighted,
    "total_least_squares": total_least_squares,
}
"""Estimators by name, of matrices (case, row, parameter), forces (case, row): each case has the bits it has alone."""


def estimate(method: str, matrix: ArrayLike, forces: ArrayLike, actuators: Actuators = 1) -> Estimate:
    """Return the parameters by the estimator of that name; rows in turn of the `actuators`. Raises ValueError."""
    return estimates(method, np.asarray(matrix)[None], np.asarray(forces)[None], actuators).case(0)


def estimates(method: str, matrix: np.ndarray, forces: np.ndarray, actuators: Actuators = 1) -> Estimates:
    """Return the parameters of several matrices (case, row, parameter) and forces (case, row), see `estimate`.

    Raises ValueError, and LinAlgError, where one of the cases has none.
    """
    if method not in ESTIMATORS:
        raise ValueError(f"method: got {method!r}; expected an estimator; {nearest(method, ESTIMATORS)}")
    matrix, forces = np.asarray(matrix, dtype=float), np.asarray(forces, dtype=float)
    fits = matrix.ndim == 3 and forces.shape == matrix.shape[:2]
    rows = forces.shape[-1]
    fits &= rows % actuators == 0 if isinstance(actuators, int) else np.shape(actuators) == (rows,)
    count = actuators if isinstance(actuators, int) else len(np.unique(actuators))
    if not fits or rows <= matrix.shape[2] or not (np.isfinite(matrix).all() and np.isfinite(forces).all()):
        raise ValueError(
            f"matrix, forces: got shapes {matrix.shape[1:]} and {forces.shape[1:]} with {count} actuators; expected "
            "finite (rows, parameter) and (rows,), more rows than parameters, as many for each actuator"
        )
    return ESTIMATORS[method](matrix, forces, actuators)


def condition_number(matrix: Array) -> float:
    """Return the condition number of a matrix with columns scaled to length one; infinite if a column is zero."""
    sizes = np.linalg.norm(matrix, axis=0)
    return float(np.linalg.cond(matrix / sizes)) if (sizes > 0).all() else np.inf


def residual_norm(matrix: Array, forces: Array, values: Array) -> float:
    """Compute the residual of predicted forces relative to the forces, for trajectories that were not used."""
    return float(np.linalg.norm(forces - matrix @ values) / np.linalg.norm(forces))


def _solved(matrix: np.ndarray, forces: np.ndarray, weights: np.ndarray) -> Estimates:
    """Estimate by least squares of weighted rows, each case by itself, by QR of columns of length one.

    The forces are a column more, so that Q is not needed.
    """
    scaled = matrix * weights[..., None]
    sizes = np.linalg.norm(scaled, axis=1)
    if not (sizes > 0).all():
        raise ValueError("matrix: got a column of zeros; expected base parameters that the data move; reduce it first")
    whole = np.concatenate([scaled / sizes[:, None], (forces * weights)[..., None]], axis=2)
    triangle = np.asarray(np.linalg.qr(whole, mode="r"))[:, : matrix.shape[2]]
    r, turned = np.split(triangle, [matrix.shape[2]], axis=2)
    values = np.linalg.solve(r, turned)[..., 0] / sizes
    noise = _noise((forces - _product(matrix, values)) * weights, matrix.shape[2])
    inverse = np.linalg.solve(r, np.broadcast_to(np.eye(r.shape[-1]), r.shape))
    deviations = noise[:, None] * np.linalg.norm(inverse, axis=2) / sizes
    return Estimates(values, deviations, np.linalg.cond(r), noise)


def _product(matrix: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Return the product of each matrix (case, row, column) with its vector (case, column)."""
    return np.asarray((matrix @ vectors[..., None])[..., 0])


def _noise(residuals: np.ndarray, parameters: int) -> np.ndarray:
    """Return the standard deviation of residuals (case, row) after so many parameters."""
    return np.asarray(np.sqrt(np.sum(residuals * residuals, axis=1) / (residuals.shape[1] - parameters)))


def _in_units_of_forces(result: Estimates, matrix: np.ndarray, forces: np.ndarray) -> Estimates:
    """Return the same with the noise in the units of the forces."""
    return result._replace(noise=_noise(forces - _product(matrix, result.values), matrix.shape[2]))


def _on_rows(spread: np.ndarray, forces: np.ndarray, actuators: Actuators) -> np.ndarray:
    """Return a number of each actuator (case, actuator) on each of its rows (case, row)."""
    if isinstance(actuators, int):
        return np.tile(spread, (1, forces.shape[1] // actuators))
    return spread[:, np.asarray(actuators)]


def _by_actuator(residuals: np.ndarray, actuators: Actuators, robust: bool = False) -> np.ndarray:
    """Return the standard deviations of the residuals (case, row) of each actuator (case, actuator), never zero.

    Robust ones are from the median.
    """
    if isinstance(actuators, int):
        turns = np.swapaxes(residuals.reshape(len(residuals), -1, actuators), 1, 2)
        columns = list(np.moveaxis(np.ascontiguousarray(turns), 1, 0))
    else:
        labels = np.asarray(actuators)
        columns = [np.ascontiguousarray(residuals[:, labels == k]) for k in range(labels.max() + 1)]
    rows = [_size(column, robust) if column.shape[1] else np.zeros(len(column)) for column in columns]
    floor = np.finfo(float).eps * np.maximum(np.abs(residuals).max(axis=1), 1.0)
    return np.maximum(np.stack(rows, axis=1), floor[:, None])


def _size(columns: np.ndarray, robust: bool) -> np.ndarray:
    """Return the standard deviation of each row of an array about zero; robust: from the median."""
    if robust:
        return np.asarray(np.median(np.abs(columns), axis=1) / 0.6745)
    return np.asarray(np.sqrt(np.mean(columns * columns, axis=1)))
